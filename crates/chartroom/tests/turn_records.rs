//! What a session did to the files, told by its turns, and the way back to before one. The agents are fakes that change
//! files as agents do; the server, git and the disk are real.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use std::path::PathBuf;

use chartroom::data::ServerLock;
use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;
use chartroom_protocol::ws::ServerFrame;
use chartroom_sessions::fake::Call;
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
        let agent = self.server.claude.agent(&SessionId::new(self.session.clone()));
        let turn_id = agent.next_turn().await;
        agent.start_turn(&turn_id).await;
        turn_id
    }

    /// Returns when the turn has ended and is recorded.
    async fn end(&self, turn_id: &TurnId) {
        let mut socket = self.server.connect().await;
        socket.subscribe(&self.session, None).await;
        let agent = self.server.claude.agent(&SessionId::new(self.session.clone()));
        agent.end_turn(turn_id, TurnStatus::Completed).await;
        // A socket hears of other sessions too.
        let is_open = |frame: &ServerFrame| {
            matches!(frame, ServerFrame::State { session_id, state: SessionState::Open, .. }
                if session_id.as_str() == self.session)
        };
        socket.until(is_open).await;
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
async fn a_changed_file_is_compared_by_its_contents_with_as_much_around_as_is_asked_for() {
    let story = Story::new().await;
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    story.write("long.txt", &text);
    story.write("gone.txt", "bye");
    let turn = story
        .turn("first", |story| {
            story.write("long.txt", &text.replace("line 20\n", "line twenty\n"));
            std::fs::remove_file(story.path("gone.txt")).unwrap();
            story.write("new.gif", "GIF89a\0bytes");
        })
        .await;
    let (status, answer) = story.get("changes?scope=turn&versions=true").await;
    assert_eq!(status, 200, "{answer}");
    let file = |path: &str| answer["files"].as_array().unwrap().iter().find(|it| it["path"] == path).unwrap();
    let [before, after] = ["before", "after"].map(|side| file("long.txt")[side]["id"].as_str().unwrap());
    assert_eq!(file("long.txt")["after"]["mode"], "100644");
    let of = async |query: String| story.get(&format!("changes/file?{query}")).await;

    let (_, near) = of(format!("before={before}&after={after}")).await;
    let patch = near["patch"].as_str().unwrap();
    assert!(patch.starts_with("@@ -17,7 +17,7 @@"), "{patch}");
    assert!(patch.contains("\n-line 20\n+line twenty\n line 21\n"), "{patch}");
    let (_, whole) = of(format!("before={before}&after={after}&context=1000000")).await;
    assert!(whole["patch"].as_str().unwrap().starts_with("@@ -1,40 +1,40 @@\n line 1\n"), "{whole}");

    let gone = file("gone.txt")["before"]["id"].as_str().unwrap();
    assert_eq!(file("gone.txt").get("after"), None);
    let (_, deleted) = of(format!("before={gone}")).await;
    assert_eq!(deleted["patch"], "@@ -1,1 +0,0 @@\n-bye\n\\ No newline at end of file\n");

    let image = file("new.gif");
    assert_eq!((&image["binary"], image.get("before")), (&json!(true), None));
    let route = story.route(&format!("changes/content?content={}", image["after"]["id"].as_str().unwrap()));
    let bytes = story.server.ask("GET", &route, Value::Null).await;
    assert_eq!(bytes, (200, json!("GIF89a\0bytes")));

    // An id is an id: no option, no path, no name of a branch.
    for wrong in ["--output=/tmp/x", "HEAD", "..", "HEAD:long.txt", &"0".repeat(40)] {
        let query = format!("after={}", wrong.replace(':', "%3A"));
        assert_eq!(of(query).await.0, 404, "{wrong}");
        assert_eq!(story.get(&format!("changes/content?content={wrong}")).await.0, 404, "{wrong}");
    }
    let (_, scopes) = story.get("changes/scopes").await;
    assert_eq!(scopes, json!({ "turns": [turn], "repository": false, "branches": [] }));
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_in_which_nothing_changed_is_recorded_without_git() {
    let story = Story::new().await;
    story.write("a.txt", "one\n");
    story.turn("first", |story| story.write("b.txt", "new\n")).await;
    let stores = story.server.data().join("checkpoints");
    let store = std::fs::read_dir(stores).unwrap().next().unwrap().unwrap().path();
    let n_records = || std::fs::read_to_string(store.join("records.jsonl")).unwrap().lines().count();
    // Of a folder: when a name in it last came or went.
    let last_name = || store.metadata().unwrap().modified().unwrap();

    // git cannot say anything about our repository now. What changed a moment ago it must be asked about once more.
    let (head, away) = (store.join("git/HEAD"), store.join("git/away"));
    let mut without_git = 0;
    for _ in 0..200 {
        story.turn("nothing", |_| {}).await;
        std::fs::rename(&head, &away).unwrap();
        let (before, name_before) = (n_records(), last_name());
        story.turn("nothing", |_| {}).await;
        without_git = n_records() - before;
        std::fs::rename(&away, &head).unwrap();
        if without_git > 0 {
            assert_eq!(
                last_name(),
                name_before,
                "two lines were added to the list, and no file came or went"
            );
            break;
        }
    }
    assert_eq!(without_git, 2, "the records before and after a turn");

    // Nor is git asked to forget anything when a list is thinned out that holds one state alone: it would make a pack.
    let line =
        std::fs::read_to_string(store.join("records.jsonl")).unwrap().lines().last().unwrap().to_owned();
    std::fs::write(store.join("records.jsonl"), format!("{line}\n").repeat(640)).unwrap();
    story.turn("nothing", |_| {}).await;
    assert_eq!(n_records(), 501, "500 are kept, and the last one came after that");
    let packs = std::fs::read_dir(store.join("git/objects/pack")).map_or(0, Iterator::count);
    assert_eq!(packs, 0);

    // What is written is found all the same.
    let last = story.turn("last", |story| story.write("a.txt", "two\n")).await;
    assert_eq!(story.changes(&format!("?scope=turn&turn={last}")).await, ["modified a.txt"]);
    story.server.stop().await;
}

impl Story {
    /// Leaves the server's address where commands find it, as `chartroom serve` does; it stands while this is held.
    fn announced(&self) -> ServerLock {
        let data = self.server.app.data();
        data.write_private("token", fake_server::TOKEN).unwrap();
        let mut lock = data.lock_server().unwrap();
        lock.announce(&format!("http://{}", self.server.address)).unwrap();
        lock
    }

    /// Runs a command beside the server: its exit code, stdout and stderr.
    async fn command(&self, args: &[&str]) -> (i32, String, String) {
        #[expect(clippy::disallowed_methods, reason = "the program under test is started as a shell would")]
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_chartroom"));
        command.args(args).env_clear().env("PATH", "/usr/bin:/bin");
        command.env("HOME", self.server.folder.path()).env("CHARTROOM_HOME", self.server.app.data().path());
        let output = command.output().await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
    }

    async fn json_command(&self, args: &[&str]) -> (i32, Value) {
        let (code, stdout, stderr) = self.command(&[args, &["--json"]].concat()).await;
        (code, serde_json::from_str(&stdout).unwrap_or_else(|_| panic!("{args:?}: {stdout}{stderr}")))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rewind_command_takes_files_and_conversation_back() {
    let story = Story::new().await;
    story.server.claude.behave(|behaviour| behaviour.forks = true);
    let _lock = story.announced();
    story.write("a.txt", "one\n");
    let first = story.turn("first", |_| {}).await;
    let second = story.turn("second", |story| story.write("a.txt", "two\n")).await;

    let rewind = ["rewind", story.session.as_str(), "--before", second.as_str()];
    let (code, tried) = story.json_command(&[&rewind[..], &["--dry-run"]].concat()).await;
    assert_eq!((code, &tried["files"]["written"], &tried["session"]), (0, &json!(["a.txt"]), &Value::Null));
    assert_eq!(story.read("a.txt"), "two\n");

    let (code, done) = story.json_command(&rewind).await;
    assert_eq!((code, &done["files"]["written"], &done["cannot"]), (0, &json!(["a.txt"]), &Value::Null));
    assert_eq!(story.read("a.txt"), "one\n");
    let back = done["session"].as_str().unwrap();
    let (_, loaded) = story.server.claude.loads().pop().unwrap();
    let forked_from = loaded.provider_options.get("forkedFrom").unwrap();
    assert_eq!(forked_from, &json!({ "session": story.session, "before": second }), "{back}");

    // In words: what was done, and how it is undone.
    story.write("a.txt", "three\n");
    let (code, said, _) =
        story.command(&["rewind", &story.session, "--before", first.as_str(), "--files"]).await;
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("left alone, changed since by somebody else or in no record: a.txt"), "{said}");
    let forced = ["rewind", &story.session, "--before", first.as_str(), "--files", "--force"];
    let (code, said, _) = story.command(&forced).await;
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("written: a.txt\n") && said.contains("to undo this: "), "{said}");
    let (code, said, stderr) = story.command(&["rewind", &story.session, "--before", "nobodys"]).await;
    assert_eq!((code, said.as_str()), (3, ""), "{stderr}");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fork_command_goes_on_from_a_turn_in_a_session_of_its_own() {
    let story = Story::new().await;
    story.server.claude.behave(|behaviour| behaviour.forks = true);
    let _lock = story.announced();
    let first = story.turn("first", |_| {}).await;
    let second = story.turn("second", |_| {}).await;
    for (args, before) in [(vec!["--at", first.as_str()], json!(second)), (vec![], Value::Null)] {
        let (code, said, stderr) =
            story.command(&[&["fork", story.session.as_str()][..], &args[..]].concat()).await;
        assert_eq!((code, stderr.as_str()), (0, ""), "{said}");
        let (loaded, options) = story.server.claude.loads().pop().unwrap();
        assert_eq!(said, format!("{loaded}\n"));
        assert_eq!(options.provider_options.get("forkedFrom").unwrap()["before"], before);
    }
    let (code, stdout, stderr) = story.command(&["fork", "nobody"]).await;
    assert_eq!((code, stdout.as_str()), (3, ""), "{stderr}");
    story.server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_cannot_fork_is_handed_the_conversation_as_text_and_that_is_said() {
    let story = Story::new().await;
    let _lock = story.announced();
    let agent = story.server.claude.agent(&SessionId::new(story.session.clone()));
    let mut turns = Vec::new();
    for (message, answer) in [("what is it?", "a chart"), ("and that?", "a sextant")] {
        let turn_id = story.begin(message).await;
        agent.text(&turn_id, answer, UpsertStatus::Complete, answer).await;
        story.end(&turn_id).await;
        turns.push(turn_id);
    }
    let first = &turns[0];
    for (args, knows_second) in [(vec!["--at", first.as_str()], false), (vec![], true)] {
        let args = [&["fork", story.session.as_str()][..], &args[..]].concat();
        let (code, forked) = story.json_command(&args).await;
        assert_eq!(code, 1, "{forked}");
        let cannot = forked["cannot"].as_str().unwrap();
        assert!(cannot.contains("was handed it as text"), "{cannot}");
        let session = SessionId::new(forked["session"].as_str().unwrap().to_owned());
        assert_ne!(session.as_str(), story.session);
        let Call::Send { message, .. } = story.server.claude.agent(&session).next_call().await else {
            panic!("it was told something else first");
        };
        for (said, is_known) in [("what is it?", true), ("a chart", true), ("and that?", knows_second)] {
            assert_eq!(message.message.contains(said), is_known, "{said}: {}", message.message);
        }
    }
    let (code, _, stderr) = story.command(&["fork", &story.session, "--at", "nobodys"]).await;
    assert_eq!(code, 3, "{stderr}");
    story.server.stop().await;
}
