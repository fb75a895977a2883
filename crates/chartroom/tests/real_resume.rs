//! The server is stopped and started again, with the real agents: what a page saw before, what it gets when it comes
//! back, and what a new one gets, frame by frame (`common/browser.rs` says in which form). `real_restart.rs` has the
//! stories in which it is killed.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::json;
use story::{Browser, Place, Server};

// TC-7.3a
#[tokio::test]
async fn a_session_comes_back_after_a_restart_with_its_history() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", Some("bypassPermissions")).await;
    browser.send(&server, "[[say:first answer]]").await;
    browser.until_idle().await;
    browser.send(&server, r#"[[tool:Bash:{"command":"echo A","description":"d"}]]"#).await;
    browser.until_idle().await;
    let (id, seen) = (browser.session_id.clone(), browser.last_seq());
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
        > send
        user i0 "[[say:first answer]]"
        title "[[say:first answer]]"
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i1
        complete message i1 "first answer"
        turn 0 completed
        state open
        > send
        user i2 "[[tool:Bash:{\"command\":\"echo A\",\"description\":\"d\"}]]"
        state working
        turn 1 started claude-opus-5-5
        create message i3
        complete message i3 "I will use Bash."
        create tool Bash i4
        complete tool Bash i4 {"command":"echo A","description":"d"} -> "A"
        create message i5
        complete message i5 "Done. The tool said: A"
        turn 1 completed
        state open
    "#]]);
    server.stop().await;

    let server = Server::start(&place).await;
    // A page that was there before has missed nothing; a new one gets everything.
    Browser::open(&server, &id, Some(seen)).await.saw(&expect![[r#"
        title "[[say:first answer]]"
        queue []
        state open
    "#]]);
    let mut browser = server.follow(&id).await;
    let loaded = browser.post(&server, "load", json!({})).await;
    assert_eq!(loaded, json!({"sessionId": id, "cliType": "claude-code"}));
    browser.until_idle().await;
    browser.send(&server, "[[say:third]]").await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        history
        | user i0 "[[say:first answer]]"
        | complete message i1 "first answer"
        | user i2 "[[tool:Bash:{\"command\":\"echo A\",\"description\":\"d\"}]]"
        | complete message i3 "I will use Bash."
        | complete tool Bash i4 {"command":"echo A","description":"d"} -> "A"
        | complete message i5 "Done. The tool said: A"
        | turn 0 started claude-opus-5-5
        | turn 0 completed
        | turn 1 started claude-opus-5-5
        | turn 1 completed
        title "[[say:first answer]]"
        queue []
        state open
        > load
        state loading
        options model - mode -
        state open
        > send
        user i6 "[[say:third]]"
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i7
        complete message i7 "third"
        turn 2 completed
        state open
    "#]]);
    assert!(place.api.requests().last().is_some_and(|last| last.body.to_string().contains("first answer")));
    server.stop().await;
}

// TC-7.3b
#[tokio::test]
async fn a_codex_session_comes_back_after_a_restart_with_its_history() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", Some("full-access")).await;
    browser.send(&server, "[[say:first answer]]").await;
    browser.until_idle().await;
    browser.send(&server, r#"[[tool:exec_command:{"cmd":"echo A"}]]"#).await;
    browser.until_idle().await;
    let (id, seen) = (browser.session_id.clone(), browser.last_seq());
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i0 "[[say:first answer]]"
        title "[[say:first answer]]"
        state working
        turn 0 started gpt-5.4
        create message i1
        complete message i1 "first answer"
        turn 0 completed
        state open
        > send
        user i2 "[[tool:exec_command:{\"cmd\":\"echo A\"}]]"
        state working
        turn 1 started gpt-5.4
        create message i3
        complete message i3 "I will use exec_command."
        create tool execute i4
        complete tool execute i4 {"command":"echo A","cwd":"$PROJECT"} -> "A\n"
        create message i5
        complete message i5 "Done. The tool said: Chunk ID: _"
        turn 1 completed
        state open
    "#]]);
    server.stop().await;

    let server = Server::start(&place).await;
    // A page that was there before has missed nothing; a new one gets everything.
    Browser::open(&server, &id, Some(seen)).await.saw(&expect![[r#"
        title "[[say:first answer]]"
        queue []
        state open
    "#]]);
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
        | complete tool execute i4 {"command":"echo A","cwd":"$PROJECT"} -> "A\n"
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
async fn a_claude_session_without_a_message_comes_back_after_a_restart() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", None).await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model - mode -
        queue []
        state open
    "#]]);
    let id = browser.session_id.clone();
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
        options model - mode -
        user i0 "[[say:at last]]"
        title "[[say:at last]]"
        queue []
        state working
        turn 0 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i1
        complete message i1 "at last"
        turn 0 completed
        state open
    "#]]);
    server.stop().await;
}

#[tokio::test]
async fn a_codex_session_without_a_message_comes_back_after_a_restart() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", None).await;
    browser.saw(&expect![[r#"
        history
        title "New session"
        options model gpt-5.4 mode read-only
        queue []
        state open
    "#]]);
    let id = browser.session_id.clone();
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
