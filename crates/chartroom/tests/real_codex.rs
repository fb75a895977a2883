//! The real codex-acp (0.16.0) through HTTP and WebSocket, against the scripted model API.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use serde_json::json;
use story::{Place, Server, SleepingTool, lives};

fn started(number: usize) -> String {
    format!("turn {number} started gpt-5.4")
}

#[tokio::test]
async fn tc_8_2a_create_send_and_stream_with_thinking() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", None).await;
    assert_eq!(browser.until("history").await, ["history"]);
    browser.send(&server, "[[say:hello there]]").await;
    assert_eq!(
        browser.until_end(0).await,
        [
            "user \"[[say:hello there]]\"",
            &started(0),
            "create message",
            "complete message \"hello there\"",
            "turn 0 completed",
        ],
    );
    browser.send(&server, "[[think]]").await;
    assert_eq!(
        browser.until_end(1).await[1..],
        [
            &started(1),
            "create thinking",
            "complete thinking \"\\n\\nLet me think about this.\"",
            "create message",
            "complete message \"I have thought.\"",
            "turn 1 completed",
        ],
    );
    server.stop().await;
}

#[tokio::test]
async fn tc_8_2b_tools_with_permission_and_parallel() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", Some("auto")).await;
    browser.until("history").await;
    let escalate = |file: &str| {
        let call = json!({"cmd": format!("touch {file}"), "sandbox_permissions": "require_escalated", "justification": "j"});
        format!("[[tool:exec_command:{call}]]")
    };
    browser.send(&server, &escalate("yes.txt")).await;
    let (question, lines) = browser.until_asked().await;
    assert_eq!(
        lines[1..],
        [
            &started(0),
            "create message",
            "complete message \"I will use exec_command.\"",
            "create tool execute",
            "question execute",
        ],
    );
    server.post(&browser.path("answer"), json!({"questionId": question, "decision": "allow"})).await;
    let lines = browser.until_end(0).await;
    assert_eq!(lines[..3], ["question closed", "complete tool execute -> \"\"", "create message"]);
    assert!(place.project.path("yes.txt").exists());

    browser.send(&server, &escalate("no.txt")).await;
    let (question, _) = browser.until_asked().await;
    server.post(&browser.path("answer"), json!({"questionId": question, "decision": "deny"})).await;
    assert_eq!(
        browser.until_end(1).await,
        [
            "question closed",
            "complete tool execute !> \"no result: the turn ended first\"",
            "turn 1 cancelled"
        ],
    );
    assert!(!place.project.path("no.txt").exists());

    server.post(&browser.path("mode"), json!({"mode": "full-access"})).await;
    let tools = json!([["exec_command", {"cmd": "echo A"}], ["exec_command", {"cmd": "echo B"}]]);
    browser.send(&server, &format!("[[tools:{tools}]]")).await;
    let lines = browser.until_end(2).await;
    let n_created = lines.iter().filter(|line| *line == "create tool execute").count();
    let mut results: Vec<&String> = lines.iter().filter(|line| line.starts_with("complete tool")).collect();
    results.sort();
    assert_eq!(n_created, 2, "{lines:?}");
    assert_eq!(results, ["complete tool execute -> \"A\\n\"", "complete tool execute -> \"B\\n\""]);
    server.stop().await;
}

#[tokio::test]
async fn an_interrupt_ends_a_stream_and_a_running_tool_and_a_message_waits_its_turn() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", Some("full-access")).await;
    browser.until("history").await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    let sent = browser.send(&server, "[[say:second]]").await;
    assert_eq!(sent["queued"], true);
    browser.until("queue").await;
    server.post(&browser.path("cancel"), json!({})).await;
    assert_eq!(browser.until_end(0).await, ["complete message \"before \"", "turn 0 cancelled"]);
    let lines = browser.until_end(1).await;
    assert!(lines.contains(&"complete message \"second\"".to_owned()), "{lines:?}");

    let tool = SleepingTool::new().await;
    let call = json!({"cmd": tool.command, "yield_time_ms": 60_000});
    browser.send(&server, &format!("[[tool:exec_command:{call}]]")).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    server.post(&browser.path("cancel"), json!({})).await;
    let lines = browser.until_end(2).await;
    assert_eq!(lines.last().map(String::as_str), Some("turn 2 cancelled"), "{lines:?}");
    server.post(&browser.path("kill"), json!({})).await;
    assert!(!lives(pid), "the tool outlived the session");
    server.stop().await;
}

#[tokio::test]
async fn api_errors_fail_the_turn_or_are_retried_and_nothing_is_said_twice() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", None).await;
    browser.until("history").await;
    browser.send(&server, "[[err:400]]").await;
    assert_eq!(browser.until_end(0).await[1..], [&started(0), "turn 0 failed RESPONSE_ERROR: scripted 400"]);
    browser.send(&server, "[[midfail]]").await;
    let lines = browser.until_end(1).await;
    assert_eq!(lines.last().map(String::as_str), Some("turn 1 completed"), "{lines:?}");
    let n_partial = lines.iter().filter(|line| line.contains("partial answer then")).count();
    assert_eq!(n_partial, 1, "{lines:?}");
    server.stop().await;
}

#[tokio::test]
async fn tc_7_3b_a_session_comes_back_after_a_restart_with_its_history() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", Some("full-access")).await;
    browser.until("history").await;
    browser.send(&server, "[[say:first answer]]").await;
    browser.until_end(0).await;
    browser.send(&server, r#"[[tool:exec_command:{"cmd":"echo A"}]]"#).await;
    browser.until_end(1).await;
    let id = browser.session_id.clone();
    server.stop().await;

    let server = Server::start(&place).await;
    server.post(&format!("/api/session/{id}/load"), json!({})).await;
    let mut browser = server.follow(&id).await;
    let history = browser.until("history").await.remove(0);
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "history",
            "user \"[[say:first answer]]\"",
            "complete message \"first answer\"",
            "user \"[[tool:exec_command:{\\\"cmd\\\":\\\"echo A\\\"}]]\"",
            "complete message \"I will use exec_command.\"",
            "complete tool execute -> \"A\\n\"",
        ],
    );
    browser.send(&server, "[[say:third]]").await;
    assert_eq!(browser.until_end(0).await[3], "complete message \"third\"");
    server.stop().await;
}

#[tokio::test]
async fn kill_and_server_exit_leave_no_process_of_the_agents_tree() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "codex", Some("full-access")).await;
    browser.until("history").await;
    let tool = SleepingTool::new().await;
    let command = format!("setsid bash -c '{}'", tool.command);
    browser
        .send(&server, &format!("[[tool:exec_command:{}]]", json!({"cmd": command, "yield_time_ms": 60_000})))
        .await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    server.stop().await;
    assert!(!lives(pid), "the tool outlived the server");
}
