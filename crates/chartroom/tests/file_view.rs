//! Files of a project as the page shows them, through the real server.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/fake_server.rs"]
mod fake_server;

use chartroom_testkit::hostile::git;
use fake_server::FakeServer;
use serde_json::{Value, json};

async fn ask(server: &FakeServer, route: &str) -> (u16, Value) {
    let project_id = server.project_id().await;
    server.ask("GET", &format!("/api/project/{project_id}/file/{route}"), Value::Null).await
}

fn code(answer: &Value) -> &str {
    answer["error"]["code"].as_str().unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_read_for_a_project_and_for_a_session_and_nothing_outside_of_them() {
    let server = FakeServer::start().await;
    std::fs::write(format!("{}/a b.ts", server.project()), "let a = 1\n").unwrap();
    let expected = json!({ "path": "a b.ts", "kind": "text", "bytes": 10, "text": "let a = 1\n" });
    assert_eq!(ask(&server, "whole?path=a%20b.ts").await, (200, expected.clone()));
    let session_id = server.create("codex").await;
    assert_eq!(ask(&server, &format!("whole?path=a%20b.ts&sessionId={session_id}")).await, (200, expected));
    for route in ["whole?path=..%2Fdata%2Ftoken", "whole?path=%2Fetc%2Fpasswd", "blame?path=..%2Fx"] {
        let (status, answer) = ask(&server, route).await;
        assert_eq!((status, code(&answer)), (400, "INVALID_PATH"), "{route}");
    }
    let (status, answer) = ask(&server, "places?path=..%2Fx&line=1&column=1").await;
    assert_eq!((status, code(&answer)), (400, "INVALID_PATH"));
    let (status, answer) = ask(&server, "whole?path=a&sessionId=none").await;
    assert_eq!((status, code(&answer)), (404, "SESSION_NOT_FOUND"));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_a_name_leads_is_a_note_when_no_server_knows_the_language() {
    let server = FakeServer::start().await;
    std::fs::write(format!("{}/a.unheard", server.project()), "thing\n").unwrap();
    let (status, answer) = ask(&server, "places?path=a.unheard&line=1&column=1&of=references").await;
    assert_eq!((status, &answer["places"]), (200, &json!([])), "{answer}");
    assert!(answer["note"].as_str().is_some_and(|note| !note.is_empty()), "{answer}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_wrote_a_line_is_told_in_a_trusted_folder_only() {
    let server = FakeServer::start().await;
    let project = std::path::PathBuf::from(server.project());
    let (status, answer) = ask(&server, "blame?path=a.ts").await;
    assert_eq!((status, code(&answer)), (404, "NOT_FOUND"), "no repository yet: {answer}");
    std::fs::write(project.join("a.ts"), "let a = 1\n").unwrap();
    for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "--message", "begin"]] {
        assert!(git(&project, args).status.success());
    }
    let (status, answer) = ask(&server, "blame?path=a.ts").await;
    let run = &answer["runs"][0];
    assert_eq!((status, &run["line"], &run["summary"]), (200, &json!(1), &json!("begin")), "{answer}");
    server.app.gate().trust().revoke(&project).unwrap();
    let (status, answer) = ask(&server, "blame?path=a.ts").await;
    assert_eq!((status, code(&answer)), (403, "WORKSPACE_UNTRUSTED"), "{answer}");
    server.stop().await;
}
