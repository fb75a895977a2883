//! The real codex-acp (0.16.0) through HTTP and WebSocket, against the scripted model API: every frame of every story,
//! in order (`common/browser.rs` says in which form). Codex has no tool that asks a person a question: what there is
//! are its permissions.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::json;
use story::{Place, Server, SleepingTool, lives, until_gone};

const FULL_ACCESS: Option<&str> = Some("full-access");

// TC-8.2a, TC-7.1b
#[tokio::test]
async fn create_send_and_stream_with_thinking() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", None).await;
    browser.send(&server, "[[say:hello there]]").await;
    browser.until_idle().await;
    // Half of an answer is on the page while the model has not said the other half: it waits at a gate for that.
    browser.send(&server, "[[gate:half]]").await;
    browser.until_said("before").await;
    place.api.open("half");
    browser.until_idle().await;
    browser.send(&server, "[[think]]").await;
    browser.until_idle().await;
    // ACP has no question for it.
    assert_eq!(server.get(&browser.path("context")).await, json!({"status": "not_told"}));
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
        user i2 "[[gate:half]]"
        state working
        turn 1 started gpt-5.4
        create message i3
        complete message i3 "before after"
        turn 1 completed
        state open
        > send
        user i4 "[[think]]"
        state working
        turn 2 started gpt-5.4
        create thinking i5
        complete thinking i5 "\n\nLet me think about this."
        create message i6
        complete message i6 "I have thought."
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn our_tools_that_edit_are_at_the_end_of_a_socket() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    let call = json!({ "filePath": "made.txt", "content": "made by our tool\n" });
    browser.send(&server, &format!("[[tool:mcp__chartroom/write_file:{call}]]")).await;
    browser.until_idle().await;
    assert_eq!(place.project.read("made.txt"), "made by our tool\n");
    server.stop().await;
}

// TC-8.2b, TC-7.1c
#[tokio::test]
async fn tools_with_permission_and_parallel() {
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
        question q0 execute {"command":["/bin/bash","-lc","touch yes.txt"],"cwd":"$PROJECT","reason":"j"}
        state needs_you
        > answer allow
        question q0 closed
        state working
        complete tool execute i2 {"command":"touch yes.txt","cwd":"$PROJECT"} -> ""
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
        question q1 execute {"command":["/bin/bash","-lc","touch no.txt"],"cwd":"$PROJECT","reason":"j"}
        state needs_you
        > answer deny
        question q1 closed
        state working
        stopped tool execute i6 {"command":"touch no.txt","cwd":"$PROJECT"}
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
        complete tool execute {"command":"echo A","cwd":"$PROJECT"} -> "A\n"
        complete tool execute {"command":"echo B","cwd":"$PROJECT"} -> "B\n"
        create tool execute
        create tool execute
        create message i3
        complete message i3 "Done. The tool said: Chunk ID: _"
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

// TC-5.4d, TC-5.4e
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
        stopped message i1 "before "
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
        stopped tool execute i6 {"command":"echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000","cwd":"$PROJECT"}
        turn 2 cancelled
        state open
        > kill
        state dead
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn a_message_during_a_turn_waits_and_is_delivered_after_it() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", None).await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    browser.send(&server, "[[say:second]]").await;
    browser.until("queue").await;
    place.api.open("one");
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode read-only
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
        complete message i1 "before after"
        turn 0 completed
        user i2 "[[say:second]]"
        queue []
        turn 1 started gpt-5.4
        create message i3
        complete message i3 "second"
        turn 1 completed
        state open
    "#]]);
    server.stop().await;
}

// TC-5.4a
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
        error message i4 "partial answer then": the stream broke off here; the agent asked again
        create message i5
        complete message i5 "It works again."
        turn 2 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn kill_and_server_exit_leave_no_process_of_the_agents_tree() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut pids = Vec::new();
    let mut browsers = Vec::new();
    for _ in 0..2 {
        let mut browser = server.create("codex", FULL_ACCESS).await;
        let tool = SleepingTool::in_its_own_session().await;
        let call = json!({"cmd": tool.command, "yield_time_ms": 60_000});
        browser.send(&server, &format!("please [[tool:exec_command:{call}]]")).await;
        pids.push(tool.pid().await);
        browser.until("create tool").await;
        browsers.push(browser);
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    let browser = &mut browsers[0];
    browser.post(&server, "kill", json!({})).await;
    assert!(!lives(pids[0]), "the tool outlived the kill");
    assert!(lives(pids[1]), "the other session's tool was killed too");
    browser.until("state dead").await;
    browser.without("exec_command:{", "the call").saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "please [[tool:the call
        title "please [[tool:the call
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "I will use exec_command."
        create tool execute i2
        > kill
        error tool execute i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","cwd":"$PROJECT"}: the session was ended
        turn 0 failed PROCESS_CRASH: the session was ended
        state dead
    "#]]);
    // Another page sees the same, and so does everybody after a load.
    let mut second = server.follow(&browser.session_id).await;
    second.without("exec_command:{", "the call").saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use exec_command."
        | error tool execute i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","cwd":"$PROJECT"}: the session was ended
        | turn 0 started gpt-5.4
        | turn 0 failed PROCESS_CRASH: the session was ended
        title "please [[tool:the call
        options model gpt-5.4 mode full-access
        queue []
        state dead
    "#]]);
    second.post(&server, "load", json!({})).await;
    second.until_idle().await;
    let mut third = server.follow(&browser.session_id).await;
    third.without("exec_command:{", "the call").saw(&expect![[r#"
        history
        | user i0 "please [[tool:the call
        | complete message i1 "I will use exec_command."
        | error tool execute i2 {"command":"setsid --wait bash -c 'echo $$ > /dev/tcp/127.0.0.1/_; exec sleep 1000'","cwd":"$PROJECT"}: the session was ended
        | turn 0 started gpt-5.4
        | turn 0 failed PROCESS_CRASH: the session was ended
        title "please [[tool:the call
        options model gpt-5.4 mode full-access
        queue []
        state open
    "#]]);
    let agents = server.descendants();
    assert!(agents.contains(&pids[1]), "{agents:?}");
    server.stop().await;
    assert_eq!(agents.into_iter().filter(|pid| lives(*pid)).collect::<Vec<_>>(), [0; 0]);
}

/// The processes of Codex below a server.
fn agents(server: &Server) -> Vec<u32> {
    let is_agent = |pid: &u32| {
        let file = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with("codex-acp"))
    };
    server.descendants().into_iter().filter(is_agent).collect()
}

#[tokio::test]
async fn a_session_is_loaded_by_the_agent_that_was_started_ahead() {
    let place = Place::new().await;
    let server = Server::start_warm(&place, 1).await;
    let mut browser = server.create("codex", FULL_ACCESS).await;
    browser.send(&server, "[[say:hello]]").await;
    browser.until_idle().await;
    server.post(&browser.path("kill"), json!({})).await;
    // It has ended, and its successor in the pool has started.
    let ahead = loop {
        if let [ahead] = agents(&server)[..] {
            break ahead;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    };
    browser.post(&server, "load", json!({})).await;
    browser.until_idle().await;
    browser.send(&server, "[[say:again]]").await;
    browser.until_idle().await;
    let last = place.api.requests().pop().unwrap().body.to_string();
    assert!(last.contains("[[say:hello]]"), "the model sees what was said before: {last}");
    assert!(lives(ahead));
    server.post(&browser.path("kill"), json!({})).await;
    // It was the session's own.
    until_gone(&[ahead]).await;
    server.stop().await;
}
