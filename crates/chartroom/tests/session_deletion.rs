//! Deleting for good, over HTTP.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::turn::TurnStatus;
use chartroom_protocol::upsert::UpsertStatus;
use chartroom_protocol::ws::ServerFrame;
use chartroom_sessions::DiscoveredSession;
use chartroom_sessions::fake::Call;
use fake_server::FakeServer;
use serde_json::{Value, json};

/// Has one answer said in a session.
async fn talk(server: &FakeServer, id: &str, words: &str) {
    let body = json!({ "message": words });
    assert_eq!(server.ask("POST", &format!("/api/session/{id}/send"), body).await.0, 202);
    let agent = server.claude.agent(&SessionId::new(id));
    let turn_id = agent.next_turn().await;
    agent.start_turn(&turn_id).await;
    agent.text(&turn_id, "answer", UpsertStatus::Complete, words).await;
    agent.end_turn(&turn_id, TurnStatus::Completed).await;
}

async fn listed(server: &FakeServer, project_id: &str) -> Vec<String> {
    let path = format!("/api/session/list?projectId={project_id}&archived=true");
    let (status, answer) = server.ask("GET", &path, Value::Null).await;
    assert_eq!(status, 200, "{answer}");
    let sessions = answer["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["sessionId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deleted_session_answers_404_everywhere_and_leaves_every_list() {
    let server = FakeServer::start().await;
    let project_id = server.project_id().await;
    let (gone, stays) = (server.create("claude-code").await, server.create("claude-code").await);
    let mut follower = server.connect().await;
    follower.subscribe(&gone, None).await;
    let mut lister = server.connect().await;
    talk(&server, &gone, "secret words").await;
    follower.until(|frame| matches!(frame, ServerFrame::Turn { payload, .. } if payload.is_terminal())).await;

    let path = format!("/api/session/{gone}");
    assert_eq!(server.ask("DELETE", &path, Value::Null).await.0, 204);
    let agent = server.claude.agent(&SessionId::new(gone.as_str()));
    assert_eq!(agent.next_call().await, Call::Kill);
    let is_gone = |frame: &ServerFrame| matches!(frame, ServerFrame::Removed { session_id } if session_id.as_str() == gone);
    follower.until(is_gone).await;
    lister.until(is_gone).await;
    assert_eq!(listed(&server, &project_id).await, [stays.as_str()]);
    for (method, route, body) in [
        ("GET", "/status", Value::Null),
        ("GET", "/history", Value::Null),
        ("POST", "/load", json!({})),
        ("POST", "/send", json!({ "message": "again" })),
        ("DELETE", "", Value::Null),
    ] {
        let (status, answer) = server.ask(method, &format!("{path}{route}"), body).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (404, &json!("SESSION_NOT_FOUND")),
            "{method} {route}"
        );
    }
    let subscribe = json!({ "type": "subscribe", "requestId": "late", "sessionId": gone });
    lister.send(subscribe).await;
    assert!(lister.answer("late").await.is_err());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_the_agent_still_has_is_not_listed_again_after_its_deletion() {
    let server = FakeServer::start().await;
    let project_id = server.project_id().await;
    let found = SessionId::new("from-the-terminal");
    server.claude.discovers(vec![DiscoveredSession {
        session_id: found.clone(),
        first_message: "from the terminal".to_owned(),
        last_activity: "2026-01-02T00:00:00.000Z".to_owned(),
    }]);
    assert_eq!(listed(&server, &project_id).await, [found.as_str()]);
    assert_eq!(server.ask("DELETE", &format!("/api/session/{found}"), Value::Null).await.0, 204);
    assert_eq!(listed(&server, &project_id).await, [] as [&str; 0]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_project_is_removed_with_its_sessions_only_when_that_is_asked_for() {
    let server = FakeServer::start().await;
    let project_id = server.project_id().await;
    let id = server.create("claude-code").await;
    talk(&server, &id, "hello").await;
    let path = format!("/api/project/{project_id}");
    let (status, answer) = server.ask("DELETE", &format!("{path}?sessions=burn"), Value::Null).await;
    assert_eq!(status, 400, "{answer}");

    // Kept: the project comes back with what was said in it.
    assert_eq!(server.ask("DELETE", &path, Value::Null).await.0, 204);
    let (status, added) = server.ask("POST", "/api/project", json!({ "path": server.project() })).await;
    assert!(status == 200 || status == 201, "{added}");
    let again = added["projectId"].as_str().unwrap().to_owned();
    assert_eq!(listed(&server, &again).await, [id.as_str()]);

    let path = format!("/api/project/{again}?sessions=delete");
    assert_eq!(server.ask("DELETE", &path, Value::Null).await.0, 204);
    assert_eq!(server.ask("GET", &format!("/api/session/{id}/status"), Value::Null).await.0, 404);
    let (status, answer) = server.ask("DELETE", &path, Value::Null).await;
    assert_eq!((status, &answer["error"]["code"]), (404, &json!("NOT_FOUND")));
    server.stop().await;
}
