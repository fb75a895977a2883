//! What is looked at at all, and what a tool answers when it cannot look.

use std::time::Duration;

use chartroom_protocol::lsp::{CheckParams, CheckScope, FileText, Freshness, ServerOutcome};
use serde_json::json;

use crate::fake::{Behaviour, Rehearsal};
use crate::tools;

// BR-31, BR-32, BR-33, BR-87, REQ-BOUNDARY-010, REQ-BOUNDARY-020, REQ-BOUNDARY-030, REQ-PATH-010
#[tokio::test(start_paused = true)]
async fn nothing_starts_for_what_is_outside() {
    // EC-26, EC-27, EC-28, EC-50, EC-51.
    let rehearsal = Rehearsal::new(
        "//- node_modules/m/a.foo\nERR x\n//- src/a.foo\nERR x\n",
        &[("alpha", Behaviour::default())],
    );
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("evil.foo"), "ERR x").unwrap();
    std::os::unix::fs::symlink(outside.path(), rehearsal.project.path("link")).unwrap();
    let beside = format!("{}2/evil.foo", rehearsal.project.root().display());
    let backup = format!("{}-backup/file.foo", rehearsal.project.root().display());
    std::fs::create_dir_all(std::path::Path::new(&beside).parent().unwrap()).unwrap();
    std::fs::write(&beside, "ERR x").unwrap();
    for path in
        ["node_modules/m/a.foo", "link/evil.foo", "src/../../x.foo", "/etc/passwd.foo", &beside, &backup]
    {
        let found = rehearsal.orchestrator.check_file(path, Some("ERR x".to_owned())).await;
        assert_eq!(found, [], "{path}");
    }
    assert_eq!(rehearsal.fakes.n_launched(), 0);
    assert_eq!(rehearsal.orchestrator.check_file("src/../src/a.foo", None).await.len(), 1);
    std::fs::remove_dir_all(std::path::Path::new(&beside).parent().unwrap()).unwrap();
}

// BR-77, REQ-EXCL-020
#[tokio::test(start_paused = true)]
async fn an_edit_that_a_server_wants_is_refused_and_no_action_is_asked_for() {
    let rehearsal = Rehearsal::new("//- a.foo\nERR x\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    let answer =
        rehearsal.fakes.ask("alpha", "workspace/applyEdit", json!({ "edit": { "changes": {} } })).await;
    assert_eq!(answer["applied"], false, "{answer}");
    let seen = rehearsal.fakes.seen();
    assert!(!seen.iter().any(|what| what.contains("codeAction") || what.contains("Command")), "{seen:?}");
    assert_eq!(rehearsal.project.read("a.foo"), "ERR x\n");
}

// EC-36, EC-39, BR-10
#[tokio::test(start_paused = true)]
async fn bad_files_start_nothing() {
    let rehearsal =
        Rehearsal::new("//- dir.foo/x\nx\n//- a.xyz\nERR x\n", &[("alpha", Behaviour::default())]);
    std::fs::write(rehearsal.project.path("binary.foo"), b"ERR a\0b").unwrap();
    std::fs::write(rehearsal.project.path("latin.foo"), b"ERR \xe9").unwrap();
    std::fs::write(rehearsal.project.path("huge.foo"), vec![b'x'; 50 * 1024 * 1024]).unwrap();
    for path in ["dir.foo", "a.xyz", "binary.foo", "latin.foo", "huge.foo", "missing.foo"] {
        assert_eq!(rehearsal.check(path).await, Vec::<String>::new(), "{path}");
    }
    assert_eq!(rehearsal.fakes.n_launched(), 0);
}

fn check_of(files: &[&str], scope: CheckScope) -> CheckParams {
    let files = files.iter().map(|file| FileText { file_path: (*file).to_owned(), text: None });
    CheckParams { files: files.collect(), scope, ..CheckParams::default() }
}

// REQ-DIAG-045
#[tokio::test(start_paused = true)]
async fn a_write_that_concerns_no_server_tells_of_no_other_file() {
    let servers = [("alpha", Behaviour::default()), ("gamma", Behaviour::default())];
    let fixture = "//- old.foo\nERR old\n//- README.md\nx\n//- a.xyz\nx\n//- b.bar\nfine\n//- ok.foo\nfine\n";
    let rehearsal = Rehearsal::new(fixture, &servers);
    std::fs::write(rehearsal.project.path("binary.foo"), b"ERR a\0b").unwrap();
    rehearsal.check("old.foo").await;
    for (written, others) in [
        ("README.md", &[] as &[&str]),
        ("a.xyz", &[]),
        ("binary.foo", &[]),
        // Another server's file: it cannot have broken this one.
        ("b.bar", &[]),
        ("ok.foo", &["old.foo"]),
    ] {
        let response = rehearsal.orchestrator.check(check_of(&[written], CheckScope::Project)).await;
        let told: Vec<_> = response.others.iter().map(|file| file.file.as_str()).collect();
        assert_eq!(told, others, "{written}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_file_of_a_check_has_its_own_result() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::silent())];
    let fixture = "//- a.foo\nERR a\n//- b.bar\nfine\n//- c.xyz\nfine\n";
    let rehearsal = Rehearsal::new(fixture, &servers);
    let files = ["a.foo", "b.bar", "c.xyz"];
    let response = rehearsal.orchestrator.check(check_of(&files, CheckScope::Files)).await;
    let told: Vec<String> = response
        .files
        .iter()
        .map(|file| {
            let servers = file.servers.iter().map(|server| match &server.outcome {
                ServerOutcome::Answered { freshness: Freshness::Current, .. } => {
                    format!("{} current", server.id)
                }
                ServerOutcome::Answered { .. } => format!("{} late", server.id),
                ServerOutcome::Absent { status, .. } => format!("{} {}", server.id, status.as_str()),
            });
            let servers: Vec<String> = servers.collect();
            let refused = file.refused.as_deref().unwrap_or("checked");
            format!("{}: {} ({refused})", file.file, servers.join(", "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "a.foo: alpha current, beta late (checked)",
            "b.bar: gamma unavailable (checked)",
            "c.xyz:  (no language server knows this kind of file)",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn blanks_umlauts_and_crlf_are_no_trouble() {
    let rehearsal = Rehearsal::new("", &[("alpha", Behaviour::default())]);
    let lines = rehearsal.write("Größe und Maß/a b.foo", "fine\r\n  ERR ümlaut\r\n").await;
    assert_eq!(lines, ["ERROR [2:3] ümlaut"]);
}

async fn ask(rehearsal: &Rehearsal, tool: &str, arguments: serde_json::Value) -> (String, bool) {
    let answer = tools::call(&rehearsal.orchestrator, tool, arguments).await.unwrap();
    (answer.text.replace(&rehearsal.project.root().display().to_string(), "ROOT"), answer.is_error)
}

// EC-29, BR-34, BR-52, REQ-NAV-030, REQ-NAV-040
#[tokio::test(start_paused = true)]
async fn a_tool_refuses_what_is_outside() {
    let rehearsal = Rehearsal::new("//- a.foo\nx\n", &[("alpha", Behaviour::default())]);
    for tool in ["lsp_goto_definition", "lsp_find_references", "lsp_hover"] {
        let (text, is_error) =
            ask(&rehearsal, tool, json!({ "filePath": "/etc/passwd", "line": 1, "symbol": "root" })).await;
        assert!(is_error && text.starts_with("File is outside workspace boundary"), "{tool}: {text}");
    }
    for tool in ["lsp_document_symbols", "lsp_check"] {
        let (text, is_error) = ask(&rehearsal, tool, json!({ "filePath": "x/../../y.foo" })).await;
        assert!(is_error && text.starts_with("File is outside workspace boundary"), "{tool}: {text}");
    }
    assert_eq!(rehearsal.fakes.n_launched(), 0);
}

#[tokio::test(start_paused = true)]
async fn nothing_found_and_not_ready_are_told_apart() {
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", Behaviour::default())]);
    let place = json!({ "filePath": "a.foo", "line": 1, "symbol": "x" });
    assert_eq!(
        ask(&rehearsal, "lsp_find_references", place.clone()).await,
        ("No references found".into(), false)
    );
    assert_eq!(ask(&rehearsal, "lsp_hover", place.clone()).await, ("a fake".into(), false));
    assert_eq!(
        ask(&rehearsal, "lsp_workspace_symbols", json!({ "query": "q" })).await,
        ("No symbols found".into(), false)
    );

    let loading = Behaviour { loads_for: Some(Duration::from_secs(60)), ..Behaviour::default() };
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", loading)]);
    let (text, is_error) = ask(&rehearsal, "lsp_find_references", place.clone()).await;
    assert!(is_error && text.contains("still loading the project (Indexing)"), "{text}");

    let starting = Behaviour { ready_after: None, ..Behaviour::default() };
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", starting)]);
    let (text, is_error) = ask(&rehearsal, "lsp_find_references", place.clone()).await;
    assert!(is_error && text.contains("alpha is still starting"), "{text}");

    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[]);
    let (text, is_error) = ask(&rehearsal, "lsp_find_references", place).await;
    assert!(is_error && text.contains("alpha was not found"), "{text}");
    let (text, is_error) = ask(&rehearsal, "lsp_workspace_symbols", json!({ "query": "q" })).await;
    assert!(is_error && text.contains("no language server is running yet"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_registers_late_is_asked_until_it_takes_it_back() {
    let late = Behaviour { offers_late: true, ..Behaviour::default() };
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", late)]);
    let place = json!({ "filePath": "a.foo", "line": 1, "symbol": "x" });
    assert_eq!(ask(&rehearsal, "lsp_goto_definition", place.clone()).await, ("a.foo:1:5".into(), false));
    let symbols = ask(&rehearsal, "lsp_workspace_symbols", json!({ "query": "q" })).await;
    assert_eq!(symbols, ("No symbols found".into(), false));
    // What it never registered it still cannot do.
    let (text, is_error) = ask(&rehearsal, "lsp_hover", place.clone()).await;
    assert!(is_error && text.contains("alpha cannot answer this"), "{text}");
    let taken_back = json!({ "unregisterations": [{ "id": "d", "method": "textDocument/definition" }] });
    rehearsal.fakes.ask("alpha", "client/unregisterCapability", taken_back).await;
    let (text, is_error) = ask(&rehearsal, "lsp_goto_definition", place).await;
    assert!(is_error && text.contains("alpha cannot answer this"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_time_out_says_how_long_it_was_waited() {
    let silent = Behaviour { silent_about: Some("textDocument/hover"), ..Behaviour::default() };
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", silent)]);
    rehearsal.check("a.foo").await;
    let place = json!({ "filePath": "a.foo", "line": 1, "symbol": "x" });
    let (text, is_error) = ask(&rehearsal, "lsp_hover", place).await;
    assert!(is_error && text.contains("alpha did not answer textDocument/hover within 3000 ms"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_loads_for_a_while_is_waited_for() {
    let loading = Behaviour { loads_for: Some(Duration::from_secs(4)), ..Behaviour::default() };
    let rehearsal = Rehearsal::new("//- a.foo\nlet x\n", &[("alpha", loading)]);
    let place = json!({ "filePath": "a.foo", "line": 1, "symbol": "x" });
    assert_eq!(ask(&rehearsal, "lsp_find_references", place).await, ("No references found".into(), false));
}

// REQ-NAV-060
#[tokio::test(start_paused = true)]
async fn the_list_of_diagnostics_says_how_far_to_believe_it() {
    let servers = [("alpha", Behaviour::default()), ("beta", Behaviour::default())];
    let rehearsal = Rehearsal::new("//- b/z.foo\nERR y\n//- a.foo\nERR x\n", &servers);
    assert_eq!(ask(&rehearsal, "lsp_diagnostics", json!({})).await, ("No diagnostics".into(), false));
    rehearsal.check("b/z.foo").await;
    rehearsal.check("a.foo").await;
    rehearsal.fakes.kill("beta").await;
    let (text, _) = ask(&rehearsal, "lsp_diagnostics", json!({})).await;
    assert_eq!(
        text,
        "a.foo:1:1 x\nb/z.foo:1:1 y\n[alpha: current]\n[beta: broken, beta closed its connection (try: chartroom lsp restart beta)]"
    );
}

#[tokio::test(start_paused = true)]
async fn a_check_by_hand_shows_the_block_or_why_there_is_none() {
    let rehearsal =
        Rehearsal::new("//- a.foo\nERR x\n//- ok.foo\nfine\n", &[("alpha", Behaviour::default())]);
    let check = |file: &str| json!({ "filePath": file });
    let (text, is_error) = ask(&rehearsal, "lsp_check", check("a.foo")).await;
    assert_eq!(
        (text.as_str(), is_error),
        (
            "<diagnostics file=\"a.foo\">\nERROR [1:1] x\n</diagnostics>\n[beta: beta was not found (try: set lsp.servers.beta.command in your config to the program of this server)]",
            false
        )
    );
    let (text, is_error) = ask(&rehearsal, "lsp_check", check("ok.foo")).await;
    assert!(text.starts_with("No diagnostics in ok.foo (alpha)") && !is_error, "{text}");
    rehearsal.fakes.kill("alpha").await;
    let (text, is_error) = ask(&rehearsal, "lsp_check", check("a.foo")).await;
    assert!(is_error && text.contains("alpha closed its connection"), "{text}");
}
