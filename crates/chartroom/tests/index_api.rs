//! `/api/index/…`: every route with good input, bad input, a folder nobody tracks, and a stranger.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/door.rs"]
mod door;

use axum::http::StatusCode;
use door::{HOST, TestDoor};
use serde_json::{Value, json};

/// A door and a project that was never trusted: indexing starts no process, so that it needs no trust.
struct Story {
    test: TestDoor,
    project: std::path::PathBuf,
}

impl Story {
    fn new() -> Self {
        let test = TestDoor::open();
        let project = test.home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(
            project.join("a.py"),
            "def alpha(x):\n    return beta(x)\n\n\ndef beta(y):\n    return y\n",
        )
        .unwrap();
        Self { test, project }
    }

    fn path(&self) -> &str {
        self.project.to_str().unwrap()
    }

    /// A request that is answered with 200, whatever the envelope says.
    async fn ask(&self, route: &str, body: Value) -> Value {
        let method = if body.is_null() { "GET" } else { "POST" };
        let answer = self.test.ask(method, route, body.clone()).await;
        assert_eq!(answer.status, StatusCode::OK, "{route} {body}: {}", answer.text);
        answer.json()
    }

    async fn manage(&self, action: &str) -> Value {
        self.ask("/api/index/manage", json!({"action": action, "path": self.path()})).await
    }

    async fn create(&self) {
        assert_eq!(self.manage("create").await["status"], "ok");
        self.test.app.index().wait(self.path()).await;
        assert_eq!(self.manage("status").await["status"], "ok");
    }

    /// A request that makes no sense, refused in words.
    async fn refused(&self, route: &str, body: Value, says: &str) {
        let answer = self.test.ask("POST", route, body.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{route} {body}: {}", answer.text);
        assert_eq!(answer.code(), "INVALID_REQUEST", "{route} {body}");
        let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(says), "{route} {body}: {message}");
    }
}

const POSTS: [&str; 5] =
    ["/api/index/manage", "/api/index/search", "/api/index/outline", "/api/index/calls", "/api/index/read"];

// INDEX-READ-ok
#[tokio::test(flavor = "multi_thread")]
async fn every_route_answers_for_an_indexed_folder() {
    let story = Story::new();
    assert_eq!(story.ask("/api/index", Value::Null).await["total"], 0);
    assert_eq!(story.ask("/api/index/team", Value::Null).await, json!({}), "this machine alone");
    story.create().await;
    let listed = story.ask("/api/index", Value::Null).await;
    assert_eq!(
        (&listed["total"], &listed["codebases"][0]["bucket"]),
        (&json!(1), &json!("ready")),
        "{listed}"
    );
    assert_eq!(listed["codebases"][0]["path"], story.path());

    let found = story.ask("/api/index/search", json!({"path": story.path(), "query": "alpha"})).await;
    assert_eq!((&found["status"], &found["results"][0]["file"]), (&json!("ok"), &json!("a.py")), "{found}");
    let outline = story.ask("/api/index/outline", json!({"path": story.path(), "file": "a.py"})).await;
    assert_eq!(outline["status"], "ok", "{outline}");
    let symbols = outline["outline"]["symbols"].as_array().unwrap();
    let labels: Vec<_> = symbols.iter().map(|symbol| symbol["symbolLabel"].as_str().unwrap()).collect();
    assert_eq!(labels, ["function alpha(x)", "function beta(y)"], "{outline}");
    let symbol = symbols[1]["callGraphHint"]["symbolRef"].clone();
    let body = json!({"path": story.path(), "symbolRef": symbol, "direction": "callers"});
    let graph = story.ask("/api/index/calls", body).await;
    assert_eq!(
        (&graph["status"], &graph["edges"][0]["site"]["startLine"]),
        (&json!("ok"), &json!(2)),
        "{graph}"
    );
    let file = story.project.join("a.py");
    let read = story.ask("/api/index/read", json!({"path": file, "start_line": 5, "end_line": 6})).await;
    assert_eq!(
        (&read["status"], &read["content"]),
        (&json!("ok"), &json!("def beta(y):\n    return y")),
        "{read}"
    );

    std::fs::write(story.project.join("b.py"), "def gamma():\n    pass\n").unwrap();
    let synced = story.manage("sync").await;
    assert_eq!(
        (&synced["status"], &synced["freshnessDecision"]["stats"]["added"]),
        (&json!("ok"), &json!(1))
    );
    assert_eq!(story.manage("reindex").await["status"], "ok");
    story.test.app.index().wait(story.path()).await;
    assert_eq!(story.manage("repair").await["status"], "ok");
    assert_eq!(story.manage("create").await["status"], "blocked", "already indexed");
    assert_eq!(story.manage("clear").await["status"], "ok");
    assert_eq!(story.ask("/api/index", Value::Null).await["total"], 0);
}

// INDEX-MANAGE-REASON-not_indexed, INDEX-MANAGE-REASON-needs_create, INDEX-READ-not_indexed,
// INDEX-READ-REASON-not_indexed
#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_nobody_tracks_is_an_answer_and_a_path_that_is_not_there_is_none() {
    let story = Story::new();
    let (path, file) = (story.path(), story.project.join("a.py"));
    for action in ["sync", "status", "clear"] {
        let answer = story.manage(action).await;
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("not_indexed"), &json!("not_indexed")),
            "{answer}"
        );
    }
    let answer = story.manage("repair").await;
    assert_eq!(
        (&answer["status"], &answer["reason"]),
        (&json!("blocked"), &json!("needs_create")),
        "{answer}"
    );
    let symbol = json!({"file": "a.py", "symbolId": "sym_x"});
    for (route, body) in [
        ("/api/index/search", json!({"path": path, "query": "alpha"})),
        ("/api/index/outline", json!({"path": path, "file": "a.py"})),
        ("/api/index/calls", json!({"path": path, "symbolRef": symbol})),
    ] {
        let answer = story.ask(route, body).await;
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("not_indexed"), &json!("not_indexed")),
            "{answer}"
        );
        assert_eq!(answer["hints"]["create"]["args"], json!({"action": "create", "path": path}), "{answer}");
    }
    story.refused("/api/index/read", json!({"path": file}), "is not inside a tracked codebase").await;

    let gone = "/no/such/folder";
    let answer = story.ask("/api/index/manage", json!({"action": "create", "path": gone})).await;
    assert_eq!(
        (&answer["status"], &answer["message"]),
        (&json!("error"), &json!("Path '/no/such/folder' does not exist."))
    );
    for (route, body) in [
        ("/api/index/search", json!({"path": gone, "query": "alpha"})),
        ("/api/index/outline", json!({"path": gone, "file": "a.py"})),
        ("/api/index/calls", json!({"path": gone, "symbolRef": symbol})),
    ] {
        story.refused(route, body, "'/no/such/folder' cannot be opened").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_input_is_refused_in_words_and_changes_nothing() {
    let story = Story::new();
    story.create().await;
    let path = story.path();
    let symbol = |id: &str| json!({"file": "a.py", "symbolId": id});
    for (route, body, says) in [
        ("/api/index/manage", json!({"action": "explode", "path": path}), "explode"),
        ("/api/index/manage", json!({"action": "create"}), "path"),
        ("/api/index/search", json!({"path": path}), "query"),
        ("/api/index/search", json!({"path": path, "query": "  "}), "The query is empty"),
        ("/api/index/search", json!({"path": path, "query": "x".repeat(20_001)}), "longer than 20000"),
        ("/api/index/search", json!({"path": path, "query": "x", "limit": 0}), "between 1 and 50"),
        ("/api/index/search", json!({"path": path, "query": "x", "scope": "all"}), "all"),
        ("/api/index/outline", json!({"path": path, "file": "../outside.py"}), "is outside of codebase"),
        ("/api/index/outline", json!({"path": path, "file": "a.py", "start_line": 0}), "count from 1"),
        (
            "/api/index/outline",
            json!({"path": path, "file": "a.py", "resolveMode": "exact"}),
            "needs symbolIdExact",
        ),
        ("/api/index/calls", json!({"path": path, "symbolRef": symbol("")}), "invalid_symbol_ref"),
        (
            "/api/index/calls",
            json!({"path": path, "symbolRef": symbol("sym_x"), "depth": 4}),
            "between 1 and 3",
        ),
        ("/api/index/read", json!({"path": "/etc/passwd"}), "is not inside a tracked codebase"),
        (
            "/api/index/read",
            json!({"path": format!("{path}/../../../etc/passwd")}),
            "is not inside a tracked codebase",
        ),
        ("/api/index/read", json!({"path": path}), "is not a file"),
        (
            "/api/index/read",
            json!({"path": format!("{path}/a.py"), "start_line": 3, "end_line": 2}),
            "is after",
        ),
    ] {
        story.refused(route, body, says).await;
    }
    for route in POSTS {
        let headers = [
            ("host", HOST),
            ("authorization", &format!("Bearer {}", door::TOKEN)),
            ("content-type", "application/json"),
        ];
        let answer = story.test.send("POST", route, &headers, "{\"path\": ").await;
        assert_eq!(
            (answer.status, answer.code().as_str()),
            (StatusCode::BAD_REQUEST, "INVALID_REQUEST"),
            "{route}"
        );
    }
    assert_eq!(story.manage("status").await["status"], "ok");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_gets_nothing_from_any_route() {
    let story = Story::new();
    let gets = std::iter::once(("GET", "/api/index"));
    for (method, route) in gets.chain(POSTS.map(|route| ("POST", route))) {
        let body = json!({"action": "clear", "path": story.path(), "query": "x", "file": "a.py"}).to_string();
        for headers in [
            vec![("host", HOST), ("content-type", "application/json")],
            vec![
                ("host", HOST),
                ("content-type", "application/json"),
                ("authorization", "Bearer wrong-token-0123456789"),
            ],
        ] {
            let answer = story.test.send(method, route, &headers, &body).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{method} {route}: {}", answer.text);
        }
    }
}
