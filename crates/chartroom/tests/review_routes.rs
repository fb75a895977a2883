//! Keep or undo, and comments, over HTTP: the server, git and the disk are real, the agent is a fake.

#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]

#[path = "common/fake_server.rs"]
mod fake_server;

use std::path::PathBuf;
use std::process::Command;

use fake_server::FakeServer;
use serde_json::{Value, json};

struct Story {
    server: FakeServer,
    project_id: String,
}

impl Story {
    /// A project that is a repository with one commit of `a.txt`.
    async fn new() -> Self {
        let server = FakeServer::start().await;
        let project_id = server.project_id().await;
        let story = Self { server, project_id };
        story.write("a.txt", "one\ntwo\n");
        story.git(&["init", "-q", "-b", "main"]);
        story.git(&["config", "user.name", "U"]);
        story.git(&["config", "user.email", "u@example.org"]);
        story.git(&["add", "-A"]);
        story.git(&["commit", "-q", "-m", "first"]);
        story
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(self.server.project()).join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let done = Command::new("git").args(args).current_dir(self.server.project()).output().unwrap();
        assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    }

    /// Does something with the repository; it must be answered.
    async fn act(&self, what: &str, body: Value) -> Value {
        let route = format!("/api/project/{}/git/{what}", self.project_id);
        let (status, answer) = self.server.ask("POST", &route, body).await;
        assert_eq!(status, 200, "{what}: {answer}");
        answer
    }

    /// Each file that differs, with what is said of it.
    async fn files(&self) -> Vec<String> {
        let route = format!("/api/project/{}/git", self.project_id);
        let (status, answer) = self.server.ask("GET", &route, Value::Null).await;
        assert_eq!(status, 200, "{answer}");
        let said = |file: &Value| {
            let words =
                ["staged", "unstaged", "untracked"].into_iter().filter(|word| file[word] == json!(true));
            format!("{} {}", file["path"].as_str().unwrap(), words.collect::<Vec<_>>().join("+"))
        };
        answer["files"].as_array().unwrap().iter().map(said).collect()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_are_staged_committed_and_taken_back_over_http_and_that_is_undone() {
    let story = Story::new().await;
    story.write("a.txt", "one\nchanged\n");
    story.write("b.txt", "new\n");
    story.act("stage", json!({ "paths": ["a.txt"] })).await;
    assert_eq!(story.files().await, ["a.txt staged", "b.txt unstaged+untracked"]);
    story.act("unstage", json!({ "paths": ["a.txt"] })).await;
    story.act("stage", json!({ "paths": ["a.txt"] })).await;
    let committed = story.act("commit", json!({ "message": "the second" })).await;
    assert_eq!(
        (&committed["committed"], committed["commit"].as_str()),
        (&json!(true), Some(&*story.git(&["rev-parse", "HEAD"])))
    );
    assert_eq!(story.git(&["log", "-1", "--format=%an %s"]), "U the second");

    story.write("a.txt", "not wanted\n");
    let back = story.act("revert", json!({ "paths": ["a.txt"] })).await;
    assert_eq!((&back["done"], story.read("a.txt").as_str()), (&json!(true), "one\nchanged\n"));
    let session = story.server.create("claude-code").await;
    let undo = json!({ "checkpoint": back["undo"], "force": true });
    let (status, restored) = story.server.ask("POST", &format!("/api/session/{session}/restore"), undo).await;
    assert_eq!((status, story.read("a.txt").as_str()), (200, "not wanted\n"), "{restored}");

    let switched = story.act("switch", json!({ "branch": "side", "create": true })).await;
    assert_eq!(
        (&switched["done"], story.git(&["branch", "--show-current"])),
        (&json!(true), "side".to_owned())
    );
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_done_is_listed_and_undone_over_http_and_nothing_else_is_touched() {
    let story = Story::new().await;
    let session = story.server.create("claude-code").await;
    let route = format!("/api/session/{session}/undo");
    story.write("a.txt", "one\nnot wanted\n");
    let of_session = format!("revert?sessionId={session}");
    story.act(&of_session, json!({ "paths": ["a.txt"] })).await;
    story.write("later.txt", "later\n");
    let (status, listed) = story.server.ask("GET", &route, Value::Null).await;
    assert_eq!((status, &listed["acts"][0]["what"]), (200, &json!("reverted a.txt")), "{listed}");
    let act = json!({ "act": listed["acts"][0]["act"] });
    let (status, undone) = story.server.ask("POST", &route, act.clone()).await;
    assert_eq!((status, &undone["done"]), (200, &json!(true)), "{undone}");
    assert_eq!(
        (story.read("a.txt").as_str(), story.read("later.txt").as_str()),
        ("one\nnot wanted\n", "later\n")
    );
    // Once is enough.
    let (status, _) = story.server.ask("POST", &route, act).await;
    assert_eq!(status, 404);
    let (status, _) = story.server.ask("POST", &route, json!({ "checkpoint": "c" })).await;
    assert_eq!(status, 400);
    let (status, _) = story.server.ask("GET", "/api/session/nobody/undo", Value::Null).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_changed_since_a_person_looked_is_told_and_each_session_has_its_own_look() {
    let story = Story::new().await;
    let session = story.server.create("claude-code").await;
    let route = |what: &str| format!("/api/session/{session}/changes{what}");
    let (status, _) = story.server.ask("GET", &route("?scope=looked"), Value::Null).await;
    assert_eq!(status, 404);
    story.write("a.txt", "seen\n");
    let (status, scopes) = story.server.ask("POST", &route("/looked"), json!({})).await;
    assert!(status == 200 && scopes["lookedAt"].is_u64(), "{scopes}");
    let files = async || {
        let (status, changes) = story.server.ask("GET", &route("?scope=looked"), Value::Null).await;
        assert_eq!(status, 200, "{changes}");
        let paths = changes["files"].as_array().unwrap().iter().map(|file| file["path"].clone());
        paths.collect::<Vec<_>>()
    };
    assert_eq!(files().await, Vec::<Value>::new());
    story.write("b.txt", "new\n");
    assert_eq!(files().await, [json!("b.txt")]);
    let other = story.server.create("claude-code").await;
    let scopes = format!("/api/session/{other}/changes/scopes");
    let (_, scopes) = story.server.ask("GET", &scopes, Value::Null).await;
    assert_eq!(scopes["lookedAt"], Value::Null, "{scopes}");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lines_of_very_many_files_are_counted_when_there_is_time() {
    let story = Story::new().await;
    let session = story.server.create("claude-code").await;
    let ask = async |how: &str| {
        let route = format!("/api/session/{session}/changes?scope=uncommitted&versions=true{how}");
        let (status, changes) = story.server.ask("GET", &route, Value::Null).await;
        assert_eq!(status, 200, "{changes}");
        let files = changes["files"].as_array().unwrap();
        (files.len(), files[0]["added"].clone(), changes["uncounted"].clone())
    };
    story.write("file0", "one\n");
    assert_eq!(ask("&quick=true").await, (1, json!(1), Value::Null));
    (1..=500).for_each(|n| story.write(&format!("file{n}"), "one\n"));
    assert_eq!(ask("&quick=true").await, (501, json!(0), json!(true)));
    assert_eq!(ask("").await, (501, json!(1), Value::Null));
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_done_with_a_repository_is_said() {
    let story = Story::new().await;
    let route = |what: &str| format!("/api/project/{}/git/{what}", story.project_id);
    for (what, body) in [
        ("stage", json!({ "paths": ["../outside"] })),
        ("stage", json!({ "files": ["a.txt"] })),
        ("commit", json!({ "message": 3 })),
        ("switch", json!({})),
    ] {
        let (status, answer) = story.server.ask("POST", &route(what), body.clone()).await;
        assert_eq!(status, 400, "{what} {body}: {answer}");
    }
    let nothing = story.act("commit", json!({ "message": "nothing is staged" })).await;
    assert_eq!(nothing["committed"], json!(false), "{nothing}");
    let (status, _) = story.server.ask("GET", "/api/project/nobody/git", Value::Null).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_and_viewed_files_are_kept_changed_and_forgotten_over_http() {
    let story = Story::new().await;
    let session = story.server.create("claude-code").await;
    let route = format!("/api/session/{session}/review");
    let comment = |state: &str| {
        json!({ "commentId": "c1", "path": "a.txt", "side": "after", "firstLine": 2, "lastLine": 2,
            "quote": "two", "text": "why?", "state": state })
    };
    let post =
        async |what: &str, body: Value| story.server.ask("POST", &format!("{route}/{what}"), body).await;
    assert_eq!(post("comment", comment("open")).await.0, 200);
    let (status, review) = post("comment", comment("sent")).await;
    assert_eq!((status, &review["comments"]), (200, &json!([comment("sent")])));
    let (_, review) = post("viewed", json!({ "path": "a.txt", "content": "abc" })).await;
    assert_eq!(review["viewed"], json!({ "a.txt": "abc" }));
    let (status, review) = story.server.ask("GET", &route, Value::Null).await;
    assert_eq!((status, review["comments"].as_array().unwrap().len()), (200, 1));

    let mut no_lines = comment("open");
    no_lines["firstLine"] = json!(0);
    let mut too_long = comment("open");
    too_long["text"] = json!("a".repeat(100_000));
    for bad in [no_lines, too_long, json!({ "commentId": "c2" }), json!([])] {
        let (status, answer) = post("comment", bad).await;
        assert_eq!(status, 400, "{answer}");
    }
    let (status, _) = story.server.ask("GET", "/api/session/nobody/review", Value::Null).await;
    assert_eq!(status, 404);
    let (_, review) = story.server.ask("DELETE", &format!("{route}/comment/c1"), Value::Null).await;
    assert_eq!(review["comments"], json!([]));
    let (_, review) = post("viewed", json!({ "path": "a.txt" })).await;
    assert_eq!(review["viewed"], json!({}));
    story.server.stop().await;
}
