//! `chartroom index`, `search`, `outline` and `calls`: one JSON document each, and the exit codes of the manual: 0 done,
//! 1 a non-ok answer, 2 wrong usage, 3 it could not be done.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;

use program::{Home, Server, finish, wait_until};
use serde_json::Value;

struct Story {
    home: Home,
    project: String,
}

impl Story {
    fn new() -> Self {
        let home = Home::new();
        std::fs::create_dir(home.path().join("shop")).unwrap();
        home.write("shop/a.py", "def alpha(x):\n    return beta(x)\n\n\ndef beta(y):\n    return y\n");
        let project = home.path().join("shop").display().to_string();
        Self { home, project }
    }

    /// Runs with `--json`: the exit code and the one document.
    #[track_caller]
    fn json(&self, args: &[&str]) -> (i32, Value) {
        let (code, stdout, stderr) = finish(self.home.command(args).arg("--json").output().unwrap());
        let document = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{args:?}: {error}: {code} {stdout}\n{stderr}"));
        assert_eq!(stderr, "", "{args:?}");
        (code, document)
    }

    #[track_caller]
    fn check(&self, args: &[&str], code: i32, status: &str) -> Value {
        let (got, document) = self.json(args);
        assert_eq!((got, document["status"].as_str()), (code, Some(status)), "{args:?}: {document}");
        document
    }

    fn index(&self, action: &str, code: i32, status: &str) -> Value {
        let document = self.check(&["index", action, &self.project], code, status);
        assert_eq!(document["action"], action);
        assert_eq!(document["path"], self.project);
        document
    }
}

// INDEX-MANAGE-ok, INDEX-MANAGE-not_indexed, INDEX-MANAGE-blocked
#[test]
fn the_index_commands_follow_a_folder_through_its_life() {
    let story = Story::new();
    for action in ["sync", "status", "clear"] {
        story.index(action, 1, "not_indexed");
    }
    story.index("repair", 1, "blocked");
    assert_eq!(story.json(&["index", "list"]).1["total"], 0);

    let created = story.index("create", 0, "ok");
    assert_eq!(created["operation"]["phase"], "completed", "create waits for the end: {created}");
    assert_eq!(story.index("create", 1, "blocked")["reason"], Value::Null);
    assert_eq!(story.check(&["index", "create", &story.project, "--force"], 0, "ok")["action"], "create");
    story.home.write("shop/b.py", "def gamma():\n    pass\n");
    let synced = story.index("sync", 0, "ok");
    assert_eq!(synced["freshnessDecision"]["stats"]["added"], 1, "{synced}");
    let reindexed = story.index("reindex", 0, "ok");
    assert_eq!(reindexed["operation"]["phase"], "completed", "{reindexed}");
    let status = story.index("status", 0, "ok");
    assert!(status["message"].as_str().unwrap().contains("2 files"), "{status}");
    story.index("repair", 0, "ok");
    let (code, list) = story.json(&["index", "list"]);
    assert_eq!((code, list["total"].as_u64()), (0, Some(1)), "{list}");
    let (code, text, _) = story.home.run(&["index", "list"]);
    assert_eq!(
        (code, text),
        (0, format!("## Codebases\n\n### Ready\n- `{}`\n\nTotal tracked: 1\n", story.project))
    );
    story.index("clear", 0, "ok");
    story.index("status", 1, "not_indexed");
}

#[test]
fn search_outline_and_calls_answer_with_the_tools_envelopes() {
    let story = Story::new();
    let file = format!("{}/a.py", story.project);
    story.check(&["search", "alpha", "--path", &story.project], 1, "not_indexed");
    story.check(&["outline", &file], 1, "not_indexed");
    story.check(&["calls", &file, "beta"], 1, "not_indexed");
    let found =
        story.check(&["search", "alpha", "--path", &story.project, "--create", "--limit", "1"], 0, "ok");
    assert_eq!(found["results"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["results"][0]["file"], "a.py");
    let scoped = story.check(&["search", "alpha", "--path", &story.project, "--scope", "docs"], 0, "ok");
    assert_eq!((&scoped["scope"], scoped["results"].as_array().unwrap().len()), (&Value::from("docs"), 0));

    let outline = story.check(&["outline", &file], 0, "ok");
    assert_eq!(outline["outline"]["symbols"].as_array().unwrap().len(), 2, "{outline}");
    let graph = story.check(&["calls", &file, "beta", "--direction", "callers", "--depth", "2"], 0, "ok");
    assert_eq!(
        (&graph["direction"], graph["edges"].as_array().unwrap().len()),
        (&Value::from("callers"), 1),
        "{graph}"
    );
    story.check(&["calls", &file, "nobody"], 1, "not_found");

    // The same for people.
    let (code, text, _) = story.home.run(&["outline", &file]);
    assert_eq!(
        (code, text.as_str()),
        (0, "     1-2      function alpha(x)\n     5-6      function beta(y)\n")
    );
    let (code, text, _) = story.home.run(&["calls", &file, "beta", "--direction", "callers"]);
    assert_eq!(code, 0);
    assert!(text.starts_with("function alpha(x) (a.py:1) -> function beta(y) (a.py:5)  at a.py:2"), "{text}");
    let (code, text, _) =
        story.home.run(&["search", "gamma_of_nobody", "--path", &story.project, "--scope", "docs"]);
    assert_eq!((code, text.as_str()), (0, "nothing found\n"));
}

#[test]
fn calls_say_how_many_there_are_give_the_rest_and_list_who_can_be_meant() {
    let story = Story::new();
    let callers: String = (0..30).map(|at| format!("def caller_{at}():\n    target()\n\n")).collect();
    story.home.write("shop/many.py", &format!("def target(): pass\n\n{callers}"));
    story.home.write(
        "shop/two.py",
        "class One:\n    def run(self): pass\n\nclass Two:\n    def run(self): pass\n\ndef start(thing):\n    thing.run()\n",
    );
    story.index("create", 0, "ok");
    let many = format!("{}/many.py", story.project);
    let (code, text, _) = story.home.run(&["calls", &many, "target", "--direction", "callers"]);
    assert_eq!((code, text.lines().count()), (0, 21), "{text}");
    assert!(text.ends_with("20 of 30; offset 20 gives the next\n"), "{text}");
    let (_, text, _) =
        story.home.run(&["calls", &many, "target", "--direction", "callers", "--offset", "20"]);
    assert_eq!(text.lines().count(), 11, "{text}");
    assert!(text.ends_with("10 of 30\n"), "{text}");

    let two = format!("{}/two.py", story.project);
    let (code, text, _) = story.home.run(&["calls", &two, "run"]);
    assert_eq!(code, 1, "{text}");
    let ids: Vec<&str> = text.split_whitespace().filter(|word| word.starts_with("sym_")).collect();
    assert_eq!(ids.len(), 2, "{text}");
    assert!(text.contains("method One.run(self)") && text.contains("method Two.run(self)"), "{text}");
    // What cannot be decided is listed, not left out.
    let (code, text, _) = story.home.run(&["calls", &two, ids[0], "--direction", "callers"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("function start(thing)") && text.contains("perhaps"), "{text}");
}

#[test]
fn what_cannot_be_done_is_3_and_wrong_usage_is_2() {
    let story = Story::new();
    for args in [
        &["index", "explode", "."][..],
        &["index"],
        &["search"],
        &["search", "x", "--limit", "0"],
        &["search", "x", "--scope", "all"],
        &["outline"],
        &["calls", "a.py"],
        &["calls", "a.py", "b", "--depth", "4"],
        &["calls", "a.py", "b", "--direction", "up"],
    ] {
        let (code, stdout, stderr) = story.home.run(args);
        assert_eq!((code, stdout.as_str()), (2, ""), "{args:?}: {stderr}");
    }
    for args in [
        &["search", " ", "--path", &story.project][..],
        &["search", "x", "--path", "/no/such/folder"],
        &["outline", "/no/such/file.py"],
        &["calls", "/no/such/file.py", "x"],
        &["index", "create", &story.project, "--no-wait"],
    ] {
        for json in [&["--json"][..], &[]] {
            let (code, stdout, stderr) = finish(story.home.command(args).args(json).output().unwrap());
            assert_eq!((code, stdout.as_str()), (3, ""), "{args:?}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "one sentence: {stderr}");
        }
    }
}

#[test]
fn a_missing_path_is_3_in_every_command_and_a_folder_is_no_file() {
    let story = Story::new();
    let missing = story.home.path().join("nowhere").display().to_string();
    let missing = missing.as_str();
    for args in [
        &["index", "create", missing][..],
        &["index", "reindex", missing],
        &["index", "sync", missing],
        &["index", "status", missing],
        &["index", "clear", missing],
        &["index", "repair", missing],
        &["search", "x", "--path", missing],
        &["outline", missing],
        &["calls", missing, "x"],
        &["check", missing],
        &["trust", missing, "--yes"],
        &["lsp", "status", "--root", missing],
        &["mcp", "--root", missing],
        &["serve", missing],
    ] {
        let (code, stdout, stderr) = story.home.run(args);
        assert_eq!((code, stdout.as_str()), (3, ""), "{args:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args:?}, one sentence: {stderr}");
    }
    for args in [&["outline", &story.project][..], &["calls", &story.project, "alpha"]] {
        let (code, _, stderr) = story.home.run(args);
        assert_eq!(code, 2, "{args:?}: {stderr}");
        assert!(stderr.contains("is a folder; name one file in it"), "{stderr}");
    }
    let (code, _, stderr) = story.home.run(&["explode"]);
    assert_eq!(code, 2, "{stderr}");
    assert!(stderr.contains("there is no command and no folder 'explode'"), "{stderr}");
}

/// Runs the command that stands in an answer, as a shell would read it.
#[track_caller]
fn run_hint(story: &Story, said: &str) -> (i32, String) {
    let hint = said
        .split('`')
        .find(|part| part.starts_with("chartroom "))
        .or_else(|| said.lines().find_map(|line| line.strip_prefix("Try: ")))
        .unwrap_or_else(|| panic!("no command in: {said}"));
    let args: Vec<&str> = hint.split_whitespace().skip(1).collect();
    let (code, stdout, stderr) = story.home.run(&args);
    (code, format!("{stdout}{stderr}"))
}

#[test]
fn every_hint_is_a_command_that_mends_what_it_stands_beside() {
    let story = Story::new();
    let project = story.project.clone();
    let search = || story.home.run(&["search", "alpha", "--path", &project]);
    // Not indexed.
    let (code, said, _) = search();
    assert_eq!(code, 1, "{said}");
    assert_eq!(run_hint(&story, &said).0, 0, "{said}");
    assert_eq!(search().0, 0);
    // It is there already.
    let (code, said, _) = story.home.run(&["index", "create", &project]);
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("manage_index") && !said.contains("action="), "{said}");
    assert_eq!(run_hint(&story, &said).0, 0, "{said}");
    // Made with other settings.
    std::fs::create_dir_all(story.home.path().join(".config/chartroom")).unwrap();
    story.home.write(".config/chartroom/config.toml", "[index]\nembedding = { provider = \"none\" }\n");
    let (code, said, _) = search();
    assert_eq!(code, 1, "{said}");
    assert!(!said.contains("manage_index"), "{said}");
    assert_eq!(run_hint(&story, &said).0, 0, "{said}");
    assert_eq!(search().0, 0);
    // Nothing to repair.
    story.index("clear", 0, "ok");
    let (code, said, _) = story.home.run(&["index", "repair", &project]);
    assert_eq!(code, 1, "{said}");
    assert_eq!(run_hint(&story, &said).0, 0, "{said}");
}

#[test]
fn a_query_may_begin_with_minus_and_slips_and_omissions_are_told() {
    let story = Story::new();
    story.home.write("shop/test_a.py", "def test_alpha():\n    assert alpha(1)\n");
    story.index("create", 0, "ok");
    let search = |query: &str, more: &[&str]| {
        let (code, text, stderr) = finish(
            story.home.command(&["search", query, "--path", &story.project]).args(more).output().unwrap(),
        );
        assert_eq!(code, 0, "{query}: {text}{stderr}");
        text
    };
    let text = search("-path:b.py alpha", &[]);
    assert!(text.starts_with("Code that runs; --scope mixed has tests and docs too.\n"), "{text}");
    assert!(text.contains("a.py:1"), "{text}");
    assert!(!search("-path:a.py alpha", &["--scope", "mixed"]).contains("\na.py:"));
    assert!(!search("alpha", &["--scope", "mixed"]).contains("--scope mixed"));
    assert!(search("langg:python alpha", &[]).contains("did you mean lang:?"));
    assert!(search("lang:pyhton alpha", &[]).contains("did you mean lang:python?"));
}

#[test]
fn files_that_are_not_indexed_are_counted_listed_and_explained() {
    let story = Story::new();
    story.home.write("shop/logo.png", "x");
    story.home.write("shop/.env", "KEY=1\n");
    story.home.write("shop/one_line.js", &"a=1;".repeat(3_000));
    story.home.write("shop/large.py", &"value = 1\n".repeat(110_000));
    std::fs::write(story.home.path().join("shop/wide.py"), b"\xff\xfed\0e\0f\0").unwrap();
    std::fs::write(story.home.path().join("shop/blob.py"), b"a\0b").unwrap();
    story.index("create", 0, "ok");
    let check = |n_large: u64| {
        let status = story.index("status", 0, "ok");
        let reasons: Vec<(&str, u64)> = status["skipped"]["reasons"]
            .as_array()
            .unwrap_or_else(|| panic!("{status}"))
            .iter()
            .map(|row| (row["reason"].as_str().unwrap(), row["count"].as_u64().unwrap()))
            .collect();
        let expected = [
            ("unknown_kind", 1),
            ("binary", 1),
            ("encoding", 1),
            ("long_lines", 1),
            ("too_large", n_large),
            ("secret", 1),
        ];
        assert_eq!(reasons, expected);
        assert_eq!(status["skipped"]["total"], 5 + n_large);
        assert_eq!(status["skipped"]["files"], Value::Null, "they are listed only when asked for");
    };
    check(1);

    // A sync counts again, and a read does not.
    story.home.write("shop/larger.py", &"value = 2\n".repeat(120_000));
    check(1);
    story.index("sync", 0, "ok");
    check(2);
    std::fs::remove_file(story.home.path().join("shop/larger.py")).unwrap();
    story.index("sync", 0, "ok");
    check(1);

    let said = story.home.run(&["index", "status", &story.project]).1;
    assert!(said.contains("6 files are not indexed: 1 of a kind that is not read; "), "{said}");
    assert!(said.contains("average: one_line.js; "), "{said}");
    let (code, listed) = run_hint(&story, &said);
    assert_eq!(code, 0, "{listed}");
    for line in [
        "logo.png\tof a kind that is not read\n",
        "blob.py\twith bytes that no text has\n",
        "wide.py\tin UTF-16 (UTF-8 is read)\n",
        "one_line.js\twith lines of more than 1,000 characters on average\n",
        "large.py\tover the size limit (1 MB of code, 400 KB of other text)\n",
        ".env\tthat may hold secrets\n",
    ] {
        assert!(listed.contains(line), "{line}: {listed}");
    }
    let (code, document) = story.json(&["index", "status", "--skipped", &story.project]);
    assert_eq!((code, document["skipped"]["files"].as_array().unwrap().len()), (0, 6), "{document}");
    assert_eq!(document["skipped"]["files"][0]["path"], "blob.py", "what looks like source comes first");

    for (file, why) in [
        ("one_line.js", "It is a file with lines of more than 1,000 characters"),
        ("large.py", "It is a file over the size limit"),
        ("wide.py", "It is a file in UTF-16"),
        ("blob.py", "It is a file with bytes that no text has"),
    ] {
        let path = format!("{}/{file}", story.project);
        let (code, said, _) = story.home.run(&["outline", &path]);
        assert!(code == 0 && said.contains(why), "{file}: {code} {said}");
    }
    story.home.write("shop/late.py", "def late():\n    pass\n");
    let (_, said, _) = story.home.run(&["outline", &format!("{}/late.py", story.project)]);
    let (code, _) = run_hint(&story, &said);
    assert_eq!(code, 0, "{said}");
    let (_, said, _) = story.home.run(&["outline", &format!("{}/late.py", story.project)]);
    assert!(said.contains("late"), "the hint mends it: {said}");
}

#[test]
fn each_index_command_shows_only_its_own_flags() {
    let story = Story::new();
    for (action, own) in
        [("create", true), ("reindex", true), ("sync", false), ("status", false), ("clear", false)]
    {
        let (_, help, _) = story.home.run(&["index", action, "--help"]);
        for flag in ["--force", "--extension", "--no-wait"] {
            assert_eq!(help.contains(flag), own, "{action} {flag}: {help}");
        }
    }
}

#[test]
fn no_wait_hands_the_build_to_the_running_server_and_to_nobody_else() {
    let story = Story::new();
    let (code, _, stderr) = story.home.run(&["index", "create", &story.project, "--no-wait"]);
    assert_eq!(
        (code, stderr.as_str()),
        (
            3,
            "chartroom: --no-wait needs a running Chartroom that builds the index; start one with `chartroom serve`, or leave --no-wait away\n"
        )
    );
    assert_eq!(story.json(&["index", "list"]).1["total"], 0, "nothing was begun");

    let server: Server = story.home.serve(&[]);
    let answer = story.check(&["index", "create", &story.project, "--no-wait"], 0, "ok");
    assert_eq!(answer["operation"]["writer"], server.child.id(), "the server builds: {answer}");
    wait_until("the server's build ends", || story.json(&["index", "status", &story.project]).0 == 0);
    let (code, answer) = story.json(&["index", "create", &story.project, "--no-wait"]);
    assert_eq!((code, answer["status"].as_str()), (1, Some("blocked")), "{answer}");
    assert_eq!(server.stop().0, 0);
}
