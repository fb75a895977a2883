//! The real codex-acp (0.16.0) through HTTP and WebSocket, against the scripted model API: every frame of every story,
//! in order (`common/browser.rs` says in which form). Codex has no tool that asks a person a question: what there is
//! are its permissions.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::json;
use story::{Place, Server, SleepingTool, lives};

const FULL_ACCESS: Option<&str> = Some("full-access");

#[tokio::test]
async fn tc_8_2a_create_send_and_stream_with_thinking() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", None).await;
    browser.send(&server, "[[say:hello there]]").await;
    browser.until_idle().await;
    browser.send(&server, "[[think]]").await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode read-only
        queue []
        state open
        > send
        user i0 "[[say:hello there]]"
        title "[[say:hello there]]"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "hello there"
        turn 0 completed
        state open
        > send
        user i2 "[[think]]"
        state working
        turn 1 started gpt-5.4
        create thinking i3
        complete thinking i3 "\n\nLet me think about this."
        create message i4
        complete message i4 "I have thought."
        turn 1 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn tc_8_2b_tools_with_permission_and_parallel() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", Some("auto")).await;
    let escalate = |file: &str| {
        let call = json!({"cmd": format!("touch {file}"), "sandbox_permissions": "require_escalated", "justification": "j"});
        format!("[[tool:exec_command:{call}]]")
    };
    browser.send(&server, &escalate("yes.txt")).await;
    browser.until_asked().await;
    browser.answer(&server, json!({"decision": "allow"})).await;
    browser.until_idle().await;
    assert!(place.project.path("yes.txt").exists());
    browser.send(&server, &escalate("no.txt")).await;
    browser.until_asked().await;
    browser.answer(&server, json!({"decision": "deny"})).await;
    browser.until_idle().await;
    assert!(!place.project.path("no.txt").exists());
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode auto
        queue []
        state open
        > send
        user i0 "[[tool:exec_command:{\"cmd\":\"touch yes.txt\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"j\"}]]"
        title "[[tool:exec_command:{\"cmd\":\"touch"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "I will use exec_command."
        create tool execute i2
        question q0 execute
        state needs_you
        > answer allow
        question q0 closed
        state working
        complete tool execute i2 -> ""
        create message i3
        complete message i3 "Done. The tool said: Chunk ID: _"
        turn 0 completed
        state open
        > send
        user i4 "[[tool:exec_command:{\"cmd\":\"touch no.txt\",\"sandbox_permissions\":\"require_escalated\",\"justification\":\"j\"}]]"
        state working
        turn 1 started gpt-5.4
        create message i5
        complete message i5 "I will use exec_command."
        create tool execute i6
        question q1 execute
        state needs_you
        > answer deny
        question q1 closed
        state working
        complete tool execute i6 !> "no result: the turn ended first"
        turn 1 cancelled
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn parallel_tools_each_complete_their_own_card() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    let tools = json!([["exec_command", {"cmd": "echo A"}], ["exec_command", {"cmd": "echo B"}]]);
    browser.send(&server, &format!("[[tools:{tools}]]")).await;
    browser.until_idle().await;
    // Codex begins calls that it got at once in whichever order its own tasks come to it.
    browser.unordered(" tool execute ").saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "[[tools:[[\"exec_command\",{\"cmd\":\"echo A\"}],[\"exec_command\",{\"cmd\":\"echo B\"}]]]]"
        title "[[tools:[[\"exec_command\",{\"cmd\":\"echo"
        state working
        turn 0 started gpt-5.4
        complete tool execute -> "A\n"
        complete tool execute -> "B\n"
        create tool execute
        create tool execute
        create message i3
        complete message i3 "Done. The tool said: Chunk ID: _"
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn an_interrupt_ends_a_stream_and_a_running_tool_and_a_message_waits_its_turn() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    browser.send(&server, "[[say:second]]").await;
    browser.until("queue").await;
    browser.post(&server, "cancel", json!({})).await;
    browser.until_idle().await;
    let tool = SleepingTool::new().await;
    let call = json!({"cmd": tool.command, "yield_time_ms": 60_000});
    browser.send(&server, &format!("please [[tool:exec_command:{call}]]")).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    browser.until("create tool").await;
    browser.post(&server, "cancel", json!({})).await;
    browser.until_idle().await;
    browser.post(&server, "kill", json!({})).await;
    browser.until("state dead").await;
    assert!(!lives(pid), "the tool outlived the session");
    browser.without("exec_command:{", "the call").saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "[[gate:one]]"
        title "[[gate:one]]"
        state working
        turn 0 started gpt-5.4
        create message i1
        > send, queued
        queue ["[[say:second]]"]
        > cancel
        complete message i1 "before "
        turn 0 cancelled
        user i2 "[[say:second]]"
        queue []
        turn 1 started gpt-5.4
        create message i3
        complete message i3 "second"
        turn 1 completed
        state open
        > send
        user i4 "please [[tool:the call
        state working
        turn 2 started gpt-5.4
        create message i5
        complete message i5 "I will use exec_command."
        create tool execute i6
        > cancel
        complete tool execute i6 !> "no result: the turn ended first"
        turn 2 cancelled
        state open
        > kill
        state dead
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn api_errors_fail_the_turn_or_are_retried_and_nothing_is_said_twice() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", None).await;
    for message in ["[[err:400]]", "[[err:529:1]]", "[[midfail]]"] {
        browser.send(&server, message).await;
        browser.until_idle().await;
    }
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode read-only
        queue []
        state open
        > send
        user i0 "[[err:400]]"
        title "[[err:400]]"
        state working
        turn 0 started gpt-5.4
        turn 0 failed RESPONSE_ERROR: scripted 400
        state open
        > send
        user i1 "[[err:529:1]]"
        state working
        turn 1 started gpt-5.4
        create message i2
        complete message i2 "It works again."
        turn 1 completed
        state open
        > send
        user i3 "[[midfail]]"
        state working
        turn 2 started gpt-5.4
        create message i4
        complete message i4 "partial answer then"
        create message i5
        complete message i5 "It works again."
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn tc_7_3b_a_session_comes_back_after_a_restart_with_its_history() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    browser.send(&server, "[[say:first answer]]").await;
    browser.until_idle().await;
    browser.send(&server, r#"[[tool:exec_command:{"cmd":"echo A"}]]"#).await;
    browser.until_idle().await;
    let id = browser.session_id.clone();
    server.stop().await;

    let server = Server::start(&place).await;
    let mut browser = server.follow(&id).await;
    let loaded = browser.post(&server, "load", json!({})).await;
    assert_eq!(loaded, json!({"sessionId": id, "cliType": "codex"}));
    browser.until_idle().await;
    browser.send(&server, "[[say:third]]").await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        | user i0 "[[say:first answer]]"
        | complete message i1 "first answer"
        | user i2 "[[tool:exec_command:{\"cmd\":\"echo A\"}]]"
        | complete message i3 "I will use exec_command."
        | complete tool execute i4 -> "A\n"
        | complete message i5 "Done. The tool said: Chunk ID: _"
        | turn 0 started gpt-5.4
        | turn 0 completed
        | turn 1 started gpt-5.4
        | turn 1 completed
        title "[[say:first answer]]"
        queue []
        state open
        > load
        state loading
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        state open
        > send
        user i6 "[[say:third]]"
        state working
        turn 2 started gpt-5.4
        create message i7
        complete message i7 "third"
        turn 2 completed
        state open
    "#]]);
    assert!(place.api.requests().last().is_some_and(|last| last.body.to_string().contains("first answer")));
    server.stop().await;
}

#[tokio::test]
async fn a_session_without_a_message_comes_back_after_a_restart() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let id = server.create("codex", None).await.session_id;
    server.stop().await;
    let server = Server::start(&place).await;
    let mut browser = server.follow(&id).await;
    browser.send(&server, "[[say:at last]]").await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        queue []
        state open
        > send, queued
        queue ["[[say:at last]]"]
        state loading
        options model gpt-5.4 mode read-only
        user i0 "[[say:at last]]"
        title "[[say:at last]]"
        queue []
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "at last"
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn kill_and_server_exit_leave_no_process_of_the_agents_tree() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    let tool = SleepingTool::new().await;
    let command = format!("setsid bash -c '{}'", tool.command);
    let call = json!({"cmd": command, "yield_time_ms": 60_000});
    browser.send(&server, &format!("please [[tool:exec_command:{call}]]")).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    let agents = server.descendants();
    assert!(agents.contains(&pid), "{agents:?}");
    server.stop().await;
    assert_eq!(agents.into_iter().filter(|pid| lives(*pid)).collect::<Vec<_>>(), [0; 0]);
}
