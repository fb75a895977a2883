//! What others did on the disk, and which server hears of it.

use chartroom_protocol::lsp::{CheckParams, CheckScope, FileText};
use serde_json::{Value, json};

use crate::fake::{Behaviour, Rehearsal};
use crate::tools;

/// The changes on the disk that the servers were told of since the last question.
fn told(rehearsal: &Rehearsal) -> Vec<String> {
    let seen = std::mem::take(&mut *rehearsal.fakes.seen.lock().unwrap());
    seen.into_iter().filter(|what| what.contains(" watched ")).collect()
}

async fn register(rehearsal: &Rehearsal, watchers: Value) {
    let registration = json!({
        "id": "w", "method": "workspace/didChangeWatchedFiles", "registerOptions": { "watchers": watchers },
    });
    rehearsal
        .fakes
        .ask("alpha", "client/registerCapability", json!({ "registrations": [registration] }))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_server_hears_of_what_it_registered_for_until_it_takes_it_back() {
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n//- x.cfg\n1\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    register(&rehearsal, json!([{ "globPattern": "**/*.cfg", "kind": 6 }])).await;
    told(&rehearsal);
    // Its own language always, in folders that nobody has looked at before; other files as it asked, without "created".
    rehearsal.project.write("deep/new/b.foo", "fine");
    rehearsal.project.write("deep/y.cfg", "1");
    rehearsal.project.write("x.cfg", "22");
    rehearsal.project.write("x.txt", "1");
    rehearsal.check("a.foo").await;
    assert_eq!(told(&rehearsal), ["alpha watched b.foo 1", "alpha watched x.cfg 2"]);
    rehearsal.check("a.foo").await;
    assert_eq!(told(&rehearsal), [] as [&str; 0], "once");
    std::fs::remove_dir_all(rehearsal.project.path("deep")).unwrap();
    rehearsal.check("a.foo").await;
    assert_eq!(told(&rehearsal), ["alpha watched b.foo 3", "alpha watched y.cfg 3"]);
    // The same id again takes the place of what it was.
    register(&rehearsal, json!([{ "globPattern": "**/*.txt" }])).await;
    rehearsal.project.write("x.cfg", "333");
    rehearsal.project.write("x.txt", "22");
    rehearsal.check("a.foo").await;
    assert_eq!(told(&rehearsal), ["alpha watched x.txt 2"]);
    let taken_back =
        json!({ "unregisterations": [{ "id": "w", "method": "workspace/didChangeWatchedFiles" }] });
    rehearsal.fakes.ask("alpha", "client/unregisterCapability", taken_back).await;
    rehearsal.project.write("x.txt", "333");
    rehearsal.check("a.foo").await;
    assert_eq!(told(&rehearsal), [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_question_about_the_whole_workspace_comes_after_what_others_did() {
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    told(&rehearsal);
    rehearsal.project.write("deep/b.foo", "fine");
    let answer = tools::call(&rehearsal.orchestrator, "lsp_workspace_symbols", json!({ "query": "b" })).await;
    assert!(!answer.unwrap().is_error);
    let seen = rehearsal.fakes.seen();
    let at = |what: &str| seen.iter().position(|seen| seen.starts_with(what));
    assert!(
        at("alpha watched b.foo 1").is_some() && at("alpha watched") < at("alpha workspace/symbol"),
        "{seen:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_branch_of_thousands_of_files_is_one_message() {
    let rehearsal = Rehearsal::new("//- a.foo\nfine\n", &[("alpha", Behaviour::default())]);
    rehearsal.check("a.foo").await;
    told(&rehearsal);
    let n_before = rehearsal.fakes.n_watched_messages("alpha");
    for n in 0..2_000 {
        rehearsal.project.write(&format!("branch/{}/{n}.foo", n % 20), "fine");
    }
    rehearsal.check("a.foo").await;
    assert_eq!(rehearsal.fakes.n_watched_messages("alpha"), n_before + 1);
    assert_eq!(told(&rehearsal).len(), 2_000);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_another_root_hears_of_a_write_and_looks_at_what_imports_the_file() {
    let fixture = "//- one/foo.toml\n\n//- one/core.foo\nfine\n//- two/foo.toml\n\n//- two/first.foo\nfine\n//- two/web.foo\nimport core ERR broken\n//- two/other.foo\nERR other\n";
    let rehearsal = Rehearsal::new(fixture, &[("alpha", Behaviour::default())]);
    rehearsal.check("one/core.foo").await;
    rehearsal.check("two/first.foo").await;
    told(&rehearsal);
    rehearsal.project.write("one/core.foo", "changed");
    let files = vec![FileText { file_path: "one/core.foo".to_owned(), text: None }];
    let params = CheckParams { files, scope: CheckScope::Project, ..CheckParams::default() };
    let response = rehearsal.orchestrator.check(params).await;
    let others: Vec<&str> = response.others.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(others, ["two/web.foo"]);
    assert_eq!(told(&rehearsal), ["alpha watched core.foo 2"; 2], "one of its own root, one of the other");
}
