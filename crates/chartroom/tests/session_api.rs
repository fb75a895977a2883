//! The session routes through the real server, with fake agents.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use chartroom_protocol::context::{ContextCategory, ContextUse};
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;
use chartroom_protocol::ws::ServerFrame;
use chartroom_sessions::fake::Call;
use fake_server::FakeServer;
use serde_json::{Value, json};

const NOBODY: &str = "11111111-2222-3333-4444-555555555555";

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_else(|| panic!("not an error: {answer}"))
}

// TC-6.1a
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn create_returns_the_session_and_its_cli_type() {
    let server = FakeServer::start().await;
    for cli_type in ["claude-code", "codex"] {
        let body = json!({ "cliType": cli_type, "projectDir": server.project() });
        let (status, answer) = server.ask("POST", "/api/session/create", body).await;
        assert_eq!(status, 201);
        assert_eq!(answer, json!({ "sessionId": format!("{cli_type}-1"), "cliType": cli_type }));
    }
    server.stop().await;
}

// TC-6.1b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn create_with_an_unknown_cli_type_is_400() {
    let server = FakeServer::start().await;
    let body = json!({ "cliType": "gemini", "projectDir": server.project() });
    let (status, answer) = server.ask("POST", "/api/session/create", body).await;
    assert_eq!((status, code(&answer)), (400, "UNSUPPORTED_CLI_TYPE"));
    server.stop().await;
}

// TC-6.1c, TC-6.1d
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_is_one_projects_and_wants_to_know_which() {
    let server = FakeServer::start().await;
    let other = server.folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let root = chartroom_workspace::CanonicalRoot::open(&other).unwrap();
    server.app.projects().ensure(&root, true).await.unwrap();
    let mine = server.create("claude-code").await;
    let body = json!({ "cliType": "codex", "projectDir": other.display().to_string() });
    assert_eq!(server.ask("POST", "/api/session/create", body).await.0, 201);

    let projects = server.app.projects().list().await.unwrap();
    let project = projects.iter().find(|project| project.path == server.project()).unwrap();
    let path = format!("/api/session/list?projectId={}", project.project_id);
    let (status, answer) = server.ask("GET", &path, Value::Null).await;
    assert_eq!(status, 200);
    let sessions = answer["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1);
    for (field, expected) in [
        ("sessionId", json!(mine)),
        ("cliType", json!("claude-code")),
        ("projectId", json!(project.project_id)),
        ("state", json!("open")),
        ("title", json!("New session")),
    ] {
        assert_eq!(sessions[0][field], expected, "{field}");
    }

    for path in ["/api/session/list", "/api/session/list?projectId="] {
        let (status, answer) = server.ask("GET", path, Value::Null).await;
        assert_eq!((status, code(&answer)), (400, "PROJECT_ID_REQUIRED"));
    }
    server.stop().await;
}

// TC-6.1e
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_reaches_the_providers_load() {
    let server = FakeServer::start().await;
    let id = server.create("codex").await;
    assert_eq!(server.ask("POST", &format!("/api/session/{id}/kill"), json!({})).await.0, 200);
    let (status, answer) = server.ask("POST", &format!("/api/session/{id}/load"), json!({})).await;
    assert_eq!((status, answer), (200, json!({ "sessionId": id, "cliType": "codex" })));
    let loads: Vec<_> = server.codex.loads().into_iter().map(|(id, _)| id.to_string()).collect();
    assert_eq!(loads, std::slice::from_ref(&id));
    let (_, status) = server.ask("GET", &format!("/api/session/{id}/status"), Value::Null).await;
    assert_eq!((&status["state"], &status["isAlive"]), (&json!("open"), &json!(true)));
    server.stop().await;
}

// TC-6.1f, TC-6.2b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_route_of_an_unknown_session_is_404() {
    let server = FakeServer::start().await;
    let answer_body = json!({ "questionId": "q", "decision": "allow" });
    let queue_body = json!({ "action": "remove", "queuedId": "q" });
    for (method, route, body) in [
        ("POST", "load", json!({})),
        ("GET", "status", Value::Null),
        ("POST", "send", json!({ "message": "hello" })),
        ("POST", "cancel", json!({})),
        ("POST", "kill", json!({})),
        ("POST", "answer", answer_body),
        ("GET", "queue", Value::Null),
        ("POST", "queue", queue_body),
        ("POST", "model", json!({ "model": "m" })),
        ("POST", "mode", json!({ "mode": "m" })),
        ("POST", "title", json!({ "title": "t" })),
        ("POST", "archive", json!({ "archived": true })),
        ("GET", "options", Value::Null),
        ("GET", "context", Value::Null),
        ("GET", "history", Value::Null),
    ] {
        let (status, answer) = server.ask(method, &format!("/api/session/{NOBODY}/{route}"), body).await;
        assert_eq!((status, code(&answer)), (404, "SESSION_NOT_FOUND"), "{route}");
    }
    server.stop().await;
}

// TC-6.2a, TC-6.2d
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn send_reaches_the_provider_and_its_turn_id_is_everywhere() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let mut socket = server.connect().await;
    socket.subscribe(&id, None).await;
    let (status, sent) =
        server.ask("POST", &format!("/api/session/{id}/send"), json!({ "message": "hello" })).await;
    assert_eq!((status, &sent["queued"]), (202, &json!(false)));
    let agent = server.claude.agent(&SessionId::new(id.as_str()));
    let turn_id = agent.next_turn().await;
    assert_eq!(sent["turnId"], json!(turn_id));
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "i", UpsertStatus::Create, "hi").await;
    agent.text(&turn_id, "i", UpsertStatus::Complete, "hi there").await;
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
    let frames = socket
        .until(|frame| matches!(frame, ServerFrame::Turn { payload, .. } if payload.is_terminal()))
        .await;
    let mut n_of_turn = 0;
    for frame in frames {
        match frame {
            ServerFrame::Upsert { payload, .. } => {
                assert_eq!(payload.turn_id, turn_id);
                n_of_turn += 1;
            }
            ServerFrame::Turn { payload, .. } => {
                assert_eq!(*payload.turn_id(), turn_id);
                n_of_turn += 1;
            }
            _ => {}
        }
    }
    assert_eq!(n_of_turn, 5);
    server.stop().await;
}

// TC-6.2c
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancel_reaches_the_provider() {
    let server = FakeServer::start().await;
    let id = server.create("codex").await;
    server.ask("POST", &format!("/api/session/{id}/send"), json!({ "message": "hello" })).await;
    let agent = server.codex.agent(&SessionId::new(id.as_str()));
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    assert_eq!(server.ask("POST", &format!("/api/session/{id}/cancel"), json!({})).await, (200, json!({})));
    assert_eq!(agent.next_call().await, Call::Cancel);
    server.stop().await;
}

// TC-6.3a, TC-6.3b
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_tells_and_kill_ends_the_agent_and_leaves_the_list() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let status_path = format!("/api/session/{id}/status");
    let (status, answer) = server.ask("GET", &status_path, Value::Null).await;
    assert_eq!(status, 200);
    assert_eq!(
        answer,
        json!({ "sessionId": id, "cliType": "claude-code", "isAlive": true, "state": "open", "title": "New session" })
    );
    assert_eq!(server.ask("POST", &format!("/api/session/{id}/kill"), json!({})).await.0, 200);
    assert_eq!(server.claude.agent(&SessionId::new(id.as_str())).next_call().await, Call::Kill);
    let (_, answer) = server.ask("GET", &status_path, Value::Null).await;
    assert_eq!((&answer["isAlive"], &answer["state"]), (&json!(false), &json!("dead")));
    let path = format!("/api/session/list?projectId={}", server.project_id().await);
    assert_eq!(server.ask("GET", &path, Value::Null).await.1, json!({ "sessions": [] }));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bad_requests_are_answered_with_their_codes() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let send = format!("/api/session/{id}/send");
    let untrusted = server.folder.path().join("untrusted");
    std::fs::create_dir(&untrusted).unwrap();
    let create = |cli: &str, path: String| json!({ "cliType": cli, "projectDir": path });
    for (path, body, expected) in [
        (send.clone(), json!({ "message": "x".repeat(5 << 20) }), (413, "MESSAGE_TOO_LARGE")),
        (send.clone(), json!({ "message": "x".repeat(17 << 20) }), (413, "PAYLOAD_TOO_LARGE")),
        (send.clone(), json!({ "message": "" }), (400, "INVALID_REQUEST")),
        (send.clone(), json!({ "text": "hello" }), (400, "INVALID_REQUEST")),
        (
            "/api/session/create".to_owned(),
            create("claude-code", untrusted.display().to_string()),
            (403, "WORKSPACE_UNTRUSTED"),
        ),
        (
            "/api/session/create".to_owned(),
            create("claude-code", "/nowhere/at/all".to_owned()),
            (400, "INVALID_PATH"),
        ),
        (
            format!("/api/session/{id}/answer"),
            json!({ "questionId": "q", "decision": "allow" }),
            (404, "QUESTION_NOT_FOUND"),
        ),
        (
            format!("/api/session/{id}/queue"),
            json!({ "action": "remove", "queuedId": "q" }),
            (404, "QUEUED_MESSAGE_NOT_FOUND"),
        ),
    ] {
        let (status, answer) = server.ask("POST", &path, body).await;
        assert_eq!((status, code(&answer)), expected, "{path}");
    }
    server.claude.behave(|behaviour| behaviour.missing = true);
    let body = create("claude-code", server.project());
    let (status, answer) = server.ask("POST", "/api/session/create", body).await;
    assert_eq!((status, code(&answer)), (424, "AGENT_NOT_INSTALLED"));
    assert!(answer["error"]["message"].as_str().unwrap().contains("make fake"), "{answer}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_whose_folder_is_gone_is_said_so() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    server.ask("POST", &format!("/api/session/{id}/kill"), json!({})).await;
    std::fs::remove_dir(server.project()).unwrap();
    let (status, answer) =
        server.ask("POST", &format!("/api/session/{id}/send"), json!({ "message": "hello" })).await;
    assert_eq!((status, code(&answer)), (400, "INVALID_PATH"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_queue_and_history_answer() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let path = |route: &str| format!("/api/session/{id}/{route}");
    for (route, body) in [
        ("model", json!({ "model": "big" })),
        ("mode", json!({ "mode": "plan" })),
        ("title", json!({ "title": "A title" })),
        ("archive", json!({ "archived": true })),
    ] {
        assert_eq!(server.ask("POST", &path(route), body).await, (200, json!({})), "{route}");
    }
    let (_, options) = server.ask("GET", &path("options"), Value::Null).await;
    assert_eq!((&options["model"], &options["mode"]), (&json!("big"), &json!("plan")));
    for message in ["one", "two"] {
        server.ask("POST", &path("send"), json!({ "message": message })).await;
    }
    let (_, queue) = server.ask("GET", &path("queue"), Value::Null).await;
    assert_eq!(queue["messages"][0]["message"], "two");
    let queued_id = queue["messages"][0]["queuedId"].clone();
    let edit = json!({ "action": "edit", "queuedId": queued_id, "message": "2" });
    let (status, queue) = server.ask("POST", &path("queue"), edit).await;
    assert_eq!((status, &queue["messages"][0]["message"]), (200, &json!("2")));
    let (status, history) = server.ask("GET", &path("history"), Value::Null).await;
    assert_eq!((status, &history["type"]), (200, &json!("session:history")));
    assert_eq!(history["entries"][0]["content"], "one");
    let (_, status) = server.ask("GET", &path("status"), Value::Null).await;
    assert_eq!(status["state"], json!(SessionState::Working));
    assert_eq!(status["title"], "A title");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fills_the_context_is_told_by_an_agent_that_can_tell_and_runs() {
    let server = FakeServer::start().await;
    let id = server.create("claude-code").await;
    let context = format!("/api/session/{id}/context");
    assert_eq!(server.ask("GET", &context, Value::Null).await, (200, json!({ "status": "not_told" })));
    server.claude.behave(|behaviour| {
        behaviour.context_use = Some(ContextUse {
            total_tokens: 2000,
            max_tokens: 200_000,
            reserved_tokens: 33_000,
            categories: vec![ContextCategory { name: "Messages".to_owned(), tokens: 2000 }],
        });
    });
    let told = json!({ "status": "known", "context": {
        "totalTokens": 2000, "maxTokens": 200_000, "reservedTokens": 33_000,
        "categories": [{ "name": "Messages", "tokens": 2000 }],
    } });
    assert_eq!(server.ask("GET", &context, Value::Null).await, (200, told.clone()));
    // A turn does not stand in its way.
    server.ask("POST", &format!("/api/session/{id}/send"), json!({ "message": "hello" })).await;
    let agent = server.claude.agent(&SessionId::new(id.as_str()));
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    assert_eq!(server.ask("GET", &context, Value::Null).await, (200, told));
    // Nobody starts an agent only to ask it.
    server.ask("POST", &format!("/api/session/{id}/kill"), json!({})).await;
    assert_eq!(server.ask("GET", &context, Value::Null).await, (200, json!({ "status": "not_running" })));
    assert_eq!(server.claude.loads(), []);
    server.stop().await;
}
