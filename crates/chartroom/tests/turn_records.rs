//! What a session did to the files, told by its turns, and the way back to before one. The agents are fakes that change
//! files as agents do; the server, git and the disk are real.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use std::path::PathBuf;

use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::ws::ServerFrame;
use fake_server::FakeServer;
use serde_json::{Value, json};

struct Story {
    server: FakeServer,
    session: String,
}

impl Story {
    async fn new() -> Self {
        let server = FakeServer::start().await;
        let session = server.create("claude-code").await;
        Self { server, session }
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

    /// Lets the agent do something in a turn.
    async fn turn(&self, message: &str, work: impl FnOnce(&Self)) -> TurnId {
        let turn_id = self.begin(message).await;
        work(self);
        self.end(&turn_id).await;
        turn_id
    }

    /// Returns when the agent has the message.
    async fn begin(&self, message: &str) -> TurnId {
        let body = json!({ "message": message });
        let (status, sent) = self.server.ask("POST", &self.route("send"), body).await;
        assert_eq!(status, 202, "{sent}");
        let agent = self.server.claude.agent(&SessionId(self.session.clone()));
        let turn_id = agent.next_turn().await;
        agent.start_turn(&turn_id).await;
        turn_id
    }

    /// Returns when the turn has ended and is recorded.
    async fn end(&self, turn_id: &TurnId) {
        let mut socket = self.server.connect().await;
        socket.subscribe(&self.session, None).await;
        let agent = self.server.claude.agent(&SessionId(self.session.clone()));
        agent.end_turn(turn_id, TurnStatus::Completed).await;
        socket.until(|frame| matches!(frame, ServerFrame::State { state: SessionState::Open, .. })).await;
        // Whoever asks waits for the record: what is written from here on is not of the turn.
        self.get("changes").await;
    }

    fn route(&self, what: &str) -> String {
        format!("/api/session/{}/{what}", self.session)
    }

    async fn get(&self, what: &str) -> (u16, Value) {
        self.server.ask("GET", &self.route(what), Value::Null).await
    }

    /// What changed, as `status path`.
    async fn changes(&self, query: &str) -> Vec<String> {
        let (status, answer) = self.get(&format!("changes{query}")).await;
        assert_eq!(status, 200, "{answer}");
        let files = answer["files"].as_array().unwrap().iter();
        files
            .map(|file| format!("{} {}", file["status"].as_str().unwrap(), file["path"].as_str().unwrap()))
            .collect()
    }

    async fn rewind(&self, body: Value) -> (u16, Value) {
        self.server.ask("POST", &self.route("rewind"), body).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_told_by_what_changed_in_it_and_a_session_by_all_its_turns() {
    let story = Story::new().await;
    story.write("kept.txt", "as it was\n");
    story.write("old.txt", "one\n");
    let first = story
        .turn("first", |story| {
            story.write("new.txt", "new\n");
            std::fs::remove_file(story.path("old.txt")).unwrap();
        })
        .await;
    story.write("mine.txt", "by the user, between two turns\n");
    story.turn("second", |story| story.write("new.txt", "newer\n")).await;

    assert_eq!(story.changes("?scope=turn").await, ["modified new.txt"]);
    assert_eq!(
        story.changes(&format!("?scope=turn&turn={first}")).await,
        ["added new.txt", "deleted old.txt"]
    );
    let whole = ["added mine.txt", "added new.txt", "deleted old.txt"];
    assert_eq!(story.changes("").await, whole);
    assert_eq!(story.changes("?scope=session").await, whole);
    let (_, answer) = story.get("changes?scope=turn&patch=true").await;
    let patch = answer["patch"].as_str().unwrap();
    assert!(patch.contains("-new\n+newer\n"), "{patch}");

    // While a turn runs, the files are as they are now.
    let third = story.begin("third").await;
    story.write("kept.txt", "not any more\n");
    assert_eq!(story.changes("?scope=turn").await, ["modified kept.txt"]);
    story.end(&third).await;
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_go_back_to_before_a_turn_and_that_is_undone() {
    let story = Story::new().await;
    story.write("a.txt", "one\n");
    // The agent writes at once: its message waited for the record.
    let first = story.turn("first", |story| story.write("a.txt", "two\n")).await;
    story.turn("second", |story| story.write("b.txt", "new\n")).await;

    let (status, tried) = story.rewind(json!({ "before": first, "files": true, "dryRun": true })).await;
    assert_eq!((status, &tried["files"]["written"]), (200, &json!(["a.txt"])), "{tried}");
    assert_eq!((story.read("a.txt"), story.read("b.txt")), ("two\n".to_owned(), "new\n".to_owned()));

    let (status, done) = story.rewind(json!({ "before": first, "files": true })).await;
    assert_eq!(status, 200, "{done}");
    assert_eq!(done["files"]["written"], json!(["a.txt"]));
    assert_eq!(done["files"]["removed"], json!(["b.txt"]));
    assert_eq!(done["files"]["conflicts"], json!([]));
    assert_eq!(story.read("a.txt"), "one\n");
    assert!(!story.path("b.txt").exists());

    let undo = json!({ "checkpoint": done["files"]["undo"] });
    let (status, undone) = story.server.ask("POST", &story.route("restore"), undo).await;
    assert_eq!((status, &undone["conflicts"]), (200, &json!([])), "{undone}");
    assert_eq!((story.read("a.txt"), story.read("b.txt")), ("two\n".to_owned(), "new\n".to_owned()));
    let (status, _) =
        story.server.ask("POST", &story.route("restore"), json!({ "checkpoint": "none" })).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_changed_since_is_not_overwritten_by_a_rewind() {
    let story = Story::new().await;
    story.write("a.txt", "one\n");
    story.write("b.txt", "one\n");
    let first = story
        .turn("first", |story| {
            story.write("a.txt", "by the agent\n");
            story.write("b.txt", "by the agent\n");
        })
        .await;
    story.write("b.txt", "by me\n");
    let (status, done) = story.rewind(json!({ "before": first, "files": true })).await;
    assert_eq!((status, &done["files"]["conflicts"]), (200, &json!(["b.txt"])), "{done}");
    assert_eq!((story.read("a.txt"), story.read("b.txt")), ("one\n".to_owned(), "by me\n".to_owned()));
    let (status, done) = story.rewind(json!({ "before": first, "files": true, "force": true })).await;
    assert_eq!((status, &done["files"]["written"]), (200, &json!(["b.txt"])), "{done}");
    assert_eq!(story.read("b.txt"), "one\n");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_recorded_is_told() {
    let story = Story::new().await;
    let (status, answer) = story.get("changes").await;
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("NOT_FOUND")), "no turn yet: {answer}");
    story.turn("first", |_| {}).await;
    assert_eq!(story.changes("").await, [""; 0]);
    for (query, expected) in [
        ("changes?scope=turn&turn=nobodys", 404),
        ("changes?scope=uncommitted", 404),
        ("changes?turn=nobodys", 400),
        ("changes?nonsense=1", 400),
    ] {
        let (status, answer) = story.get(query).await;
        assert_eq!(status, expected, "{query}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|text| !text.is_empty()), "{answer}");
    }
    for (body, expected) in [
        (json!({ "before": "nobodys", "files": true }), 404),
        (json!({ "before": "nobodys" }), 400),
        (json!({ "files": true }), 400),
        (json!({ "before": 1, "files": true }), 400),
    ] {
        assert_eq!(story.rewind(body.clone()).await.0, expected, "{body}");
    }
    let (status, _) = story.server.ask("GET", "/api/session/nobody/changes", Value::Null).await;
    assert_eq!(status, 404);
    story.server.stop().await;
}
