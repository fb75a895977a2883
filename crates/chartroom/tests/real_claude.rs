//! The real Claude Code (2.1.325) through HTTP and WebSocket, against the scripted model API.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use serde_json::json;
use story::{Place, Server, SleepingTool, lives};

const MODEL: &str = "claude-opus-5-5";

fn started(number: usize) -> String {
    format!("turn {number} started {MODEL}")
}

#[tokio::test]
async fn tc_8_1a_create_send_and_stream_with_thinking() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", None).await;
    assert_eq!(browser.until("history").await, ["history"]);
    let sent = browser.send(&server, "[[say:hello there]]").await;
    assert_eq!(sent["queued"], false);
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
        browser.until_end(1).await,
        [
            "user \"[[think]]\"",
            &started(1),
            "create thinking",
            "complete thinking \"Let me think about this.\"",
            "create message",
            "complete message \"I have thought.\"",
            "turn 1 completed",
        ],
    );
    server.stop().await;
}

#[tokio::test]
async fn tc_8_1b_a_tool_is_allowed_and_denied() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", None).await;
    browser.until("history").await;
    let file = place.project.path("b.txt");
    browser.send(&server, &format!("[[tool:Write:{}]]", json!({"file_path": file, "content": "x\n"}))).await;
    let (question, lines) = browser.until_asked().await;
    assert_eq!(
        lines[1..],
        [
            &started(0),
            "create message",
            "complete message \"I will use Write.\"",
            "create tool Write",
            "question Write",
        ],
    );
    let (_, status) = server.ask("GET", &browser.path("status"), json!(null)).await;
    assert_eq!(status["state"], "needs_you");
    server.post(&browser.path("answer"), json!({"questionId": question, "decision": "allow"})).await;
    // The second tab comes too late.
    let late = server
        .ask("POST", &browser.path("answer"), json!({"questionId": question, "decision": "deny"}))
        .await;
    assert_eq!((late.0, &late.1["error"]["code"]), (404, &json!("QUESTION_NOT_FOUND")));
    let said = format!(
        "File created successfully at: {} (file state is current in your context — no need to Read it back)",
        file.display()
    );
    assert_eq!(
        browser.until_end(0).await,
        [
            "question closed".to_owned(),
            format!("complete tool Write -> {said:?}"),
            "create message".to_owned(),
            format!("complete message {:?}", format!("Done. The tool said: {said}")),
            "turn 0 completed".to_owned(),
        ],
    );
    assert_eq!(place.project.read("b.txt"), "x\n");

    browser.send(&server, r#"[[tool:Bash:{"command":"touch c.txt","description":"d"}]]"#).await;
    let (question, _) = browser.until_asked().await;
    let denial = json!({"questionId": question, "decision": "deny", "message": "not now"});
    server.post(&browser.path("answer"), denial).await;
    assert_eq!(
        browser.until_end(1).await,
        [
            "question closed",
            "complete tool Bash !> \"not now\"",
            "create message",
            "complete message \"Done. The tool said: not now\"",
            "turn 1 completed",
        ],
    );
    assert!(!place.project.path("c.txt").exists());
    server.stop().await;
}

#[tokio::test]
async fn parallel_tools_each_complete_their_own_card() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", Some("bypassPermissions")).await;
    browser.until("history").await;
    // The second waits for the first, so that the order of their results is known.
    let tools = json!([
        ["Bash", {"command": "echo A; touch a.done", "description": "a"}],
        ["Bash", {"command": "until [ -e a.done ]; do sleep 0.05; done; echo B", "description": "b"}],
    ]);
    browser.send(&server, &format!("[[tools:{tools}]]")).await;
    assert_eq!(
        browser.until_end(0).await[1..],
        [
            &started(0),
            "create tool Bash",
            "create tool Bash",
            "complete tool Bash -> \"A\"",
            "complete tool Bash -> \"B\"",
            "create message",
            "complete message \"Done. The tool said: B\"",
            "turn 0 completed",
        ],
    );
    server.stop().await;
}

#[tokio::test]
async fn a_question_is_answered_with_a_choice() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", None).await;
    browser.until("history").await;
    let question = json!({"questions": [{"question": "Which db?", "header": "DB", "multiSelect": false,
        "options": [{"label": "PG", "description": "p"}, {"label": "SQLite", "description": "s"}]}]});
    browser.send(&server, &format!("[[tool:AskUserQuestion:{question}]]")).await;
    let (question, lines) = browser.until_asked().await;
    assert_eq!(lines.last().map(String::as_str), Some("question Which db?"));
    let answer = json!({"questionId": question, "decision": "allow", "answers": {"Which db?": "PG"}});
    server.post(&browser.path("answer"), answer).await;
    let lines = browser.until_end(0).await;
    assert_eq!(lines[0], "question closed");
    assert!(
        lines[1].starts_with("complete tool AskUserQuestion -> ") && lines[1].contains("PG"),
        "{lines:?}"
    );
    assert!(place.api.saw("\"Which db?\"=\"PG\""), "the model did not see the answer");
    server.stop().await;
}

#[tokio::test]
async fn tc_8_1c_an_interrupt_ends_a_stream_and_a_running_tool() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", Some("bypassPermissions")).await;
    browser.until("history").await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    server.post(&browser.path("cancel"), json!({})).await;
    assert_eq!(browser.until_end(0).await, ["complete message \"before \"", "turn 0 cancelled"]);

    let tool = SleepingTool::new().await;
    browser
        .send(&server, &format!("[[tool:Bash:{}]]", json!({"command": tool.command, "description": "d"})))
        .await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    server.post(&browser.path("cancel"), json!({})).await;
    let lines = browser.until_end(1).await;
    let n = lines.len();
    assert!(lines[n - 2].starts_with("complete tool Bash !> "), "{lines:?}");
    browser.send(&server, "[[say:still here]]").await;
    assert_eq!(browser.until_end(2).await[3], "complete message \"still here\"");
    server.stop().await;
}

#[tokio::test]
async fn a_message_during_a_turn_waits_and_is_delivered_after_it() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", None).await;
    browser.until("history").await;
    browser.send(&server, "[[gate:one]]").await;
    browser.until_said("before").await;
    let sent = browser.send(&server, "[[say:second]]").await;
    assert_eq!(sent["queued"], true);
    assert_eq!(browser.until("queue").await, ["queue [\"[[say:second]]\"]"]);
    place.api.open("one");
    assert_eq!(browser.until_end(0).await, ["complete message \"before after\"", "turn 0 completed"]);
    let lines = browser.until_end(1).await;
    let lines: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| !line.starts_with("queue")).collect();
    let started = started(1);
    assert_eq!(
        lines,
        [
            "user \"[[say:second]]\"",
            started.as_str(),
            "create message",
            "complete message \"second\"",
            "turn 1 completed"
        ],
    );
    server.stop().await;
}

#[tokio::test]
async fn api_errors_fail_the_turn_or_are_retried_and_the_session_goes_on() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", None).await;
    browser.until("history").await;
    browser.send(&server, "[[err:400]]").await;
    assert_eq!(
        browser.until_end(0).await[1..],
        [&started(0), "turn 0 failed RESPONSE_ERROR: API Error: 400 scripted 400"],
    );
    browser.send(&server, "[[err:529:1]]").await;
    assert_eq!(
        browser.until_end(1).await[1..],
        [&started(1), "create message", "complete message \"It works again.\"", "turn 1 completed"],
    );
    let retried =
        browser.states.iter().any(|state| state.starts_with("working (API overloaded (529), retry 1 of 2"));
    assert!(retried, "{:?}", browser.states);
    browser.send(&server, "[[midfail]]").await;
    assert_eq!(
        browser.until_end(2).await[1..],
        [
            &started(2),
            "error message \"partial answer then\"",
            "complete message \"It works again.\"",
            "turn 2 completed",
        ],
    );
    server.stop().await;
}

#[tokio::test]
async fn tc_7_3a_a_session_comes_back_after_a_restart_with_its_history() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(&place, "claude-code", Some("bypassPermissions")).await;
    browser.until("history").await;
    browser.send(&server, "[[say:first answer]]").await;
    browser.until_end(0).await;
    browser.send(&server, r#"[[tool:Bash:{"command":"echo A","description":"d"}]]"#).await;
    browser.until_end(1).await;
    let id = browser.session_id.clone();
    server.stop().await;

    let server = Server::start(&place).await;
    let loaded = server.post(&format!("/api/session/{id}/load"), json!({})).await;
    assert_eq!(loaded, json!({"sessionId": id, "cliType": "claude-code"}));
    let mut browser = server.follow(&id).await;
    assert_eq!(
        browser.until("history").await,
        ["history\n\
            user \"[[say:first answer]]\"\n\
            complete message \"first answer\"\n\
            user \"[[tool:Bash:{\\\"command\\\":\\\"echo A\\\",\\\"description\\\":\\\"d\\\"}]]\"\n\
            complete message \"I will use Bash.\"\n\
            complete tool Bash -> \"A\"\n\
            complete message \"Done. The tool said: A\""],
    );
    browser.send(&server, "[[say:third]]").await;
    assert_eq!(browser.until_end(0).await[3], "complete message \"third\"");
    assert!(place.api.requests().last().is_some_and(|last| last.body.to_string().contains("first answer")));
    server.stop().await;
}

#[tokio::test]
async fn kill_and_server_exit_leave_no_process_of_the_agents_tree() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut pids = Vec::new();
    let mut browsers = Vec::new();
    for _ in 0..2 {
        let mut browser = server.create(&place, "claude-code", Some("bypassPermissions")).await;
        browser.until("history").await;
        let tool = SleepingTool::new().await;
        let call = json!({"command": tool.command, "description": "d"});
        browser.send(&server, &format!("[[tool:Bash:{call}]]")).await;
        pids.push(tool.pid().await);
        browsers.push(browser);
    }
    assert!(pids.iter().all(|pid| lives(*pid)));
    server.post(&browsers[0].path("kill"), json!({})).await;
    assert!(!lives(pids[0]), "the tool outlived the kill");
    assert!(lives(pids[1]), "the other session's tool was killed too");
    browsers[0].until_end(0).await;
    server.stop().await;
    assert!(!lives(pids[1]), "the tool outlived the server");
}

#[tokio::test]
async fn a_warm_process_answers_a_new_session() {
    let place = Place::new().await;
    let server = Server::start_warm(&place, 1).await;
    for _ in 0..2 {
        let mut browser = server.create(&place, "claude-code", None).await;
        browser.until("history").await;
        browser.send(&server, "[[say:hello]]").await;
        assert_eq!(browser.until_end(0).await[3], "complete message \"hello\"");
    }
    server.stop().await;
}
