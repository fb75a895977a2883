//! Conversations that go on in a terminal, with the real agents: what was said there is on the page when the session is
//! opened or loaded again, once, in its order.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/outside.rs"]
mod outside;
#[path = "common/story.rs"]
mod story;

use expect_test::{Expect, expect};
use serde_json::json;
use story::{Place, Server};

/// Has turns here and in a terminal by turns, in the same words too, and loads the session in between: without a new
/// server and with one.
async fn here_and_outside(cli_type: &str, expected: &Expect) {
    let place = Place::new().await;
    let outside = async |id: &str, message: &str| match cli_type {
        "codex" => outside::codex(&place, Some(id), message).await,
        _ => outside::claude(&place, Some(id), message).await,
    };
    let server = Server::start(&place).await;
    let mut browser = server.create(cli_type, None).await;
    let id = browser.session_id.clone();
    for message in ["[[say:one]]", "[[say:here]]"] {
        browser.send(&server, message).await;
        browser.until_idle().await;
    }
    browser.post(&server, "kill", json!({})).await;
    browser.until("state dead").await;
    assert_eq!(outside(&id, "[[say:here]]").await, id);
    outside(&id, "[[say:outside]]").await;
    browser.post(&server, "load", json!({})).await;
    browser.until_idle().await;
    browser.send(&server, "[[say:here]]").await;
    browser.until_idle().await;
    server.stop().await;

    outside(&id, "[[say:last]]").await;
    let server = Server::start(&place).await;
    // The second load finds nothing that is not there.
    for _ in 0..2 {
        server.post(&format!("/api/session/{id}/load"), json!({})).await;
        server.post(&format!("/api/session/{id}/kill"), json!({})).await;
    }
    server.follow(&id).await.saw(expected);
    server.stop().await;
}

// TC-7.3a
#[tokio::test]
async fn what_was_said_to_claude_in_a_terminal_is_there_after_a_load() {
    here_and_outside(
        "claude-code",
        &expect![[r#"
        history
        | user i0 "[[say:one]]"
        | complete message i1 "one"
        | user i2 "[[say:here]]"
        | complete message i3 "here"
        | user i4 "[[say:here]]"
        | complete message i5 "here"
        | user i6 "[[say:outside]]"
        | complete message i7 "outside"
        | user i8 "[[say:here]]"
        | complete message i9 "here"
        | user i10 "[[say:last]]"
        | complete message i11 "last"
        | turn 0 started claude-opus-5-5
        | turn 0 completed
        | turn 1 started claude-opus-5-5
        | turn 1 completed
        | turn 4 started claude-opus-5-5
        | turn 4 completed
        title "[[say:one]]"
        options model - mode -
        queue []
        state dead
    "#]],
    )
    .await;
}

// TC-7.3b
#[tokio::test]
async fn what_was_said_to_codex_in_a_terminal_is_there_after_a_load() {
    here_and_outside(
        "codex",
        &expect![[r#"
        history
        | user i0 "[[say:one]]"
        | complete message i1 "one"
        | user i2 "[[say:here]]"
        | complete message i3 "here"
        | user i4 "[[say:here]]"
        | complete message i5 "here"
        | user i6 "[[say:outside]]"
        | complete message i7 "outside"
        | user i8 "[[say:here]]"
        | complete message i9 "here"
        | user i10 "[[say:last]]"
        | complete message i11 "last"
        | turn 0 started gpt-5.4
        | turn 0 completed
        | turn 1 started gpt-5.4
        | turn 1 completed
        | turn 4 started gpt-5.4
        | turn 4 completed
        title "[[say:one]]"
        options model gpt-5.4 mode read-only
        queue []
        state dead
    "#]],
    )
    .await;
}

/// Opens a session that this server never had and returns what a page shows then.
async fn made_outside(cli_type: &str, expected: &Expect) {
    let place = Place::new().await;
    let outside = async |id: Option<&str>, message: &str| match cli_type {
        "codex" => outside::codex(&place, id, message).await,
        _ => outside::claude(&place, id, message).await,
    };
    let id = outside(None, "[[say:from the terminal]]").await;
    outside(Some(&id), "[[say:and again]]").await;
    let server = Server::start(&place).await;
    let projects = server.get("/api/project").await;
    let project = projects["projects"][0]["projectId"].as_str().unwrap();
    let list = server.get(&format!("/api/session/list?projectId={project}")).await;
    let found = &list["sessions"][0];
    assert_eq!(
        (&found["sessionId"], &found["cliType"], &found["discovered"]),
        (&json!(id), &json!(cli_type), &json!(true)),
        "{list}"
    );
    server.post(&format!("/api/session/{id}/load"), json!({})).await;
    let mut browser = server.follow(&id).await;
    browser.send(&server, "[[say:here]]").await;
    browser.until_idle().await;
    browser.saw(expected);
    assert!(place.api.requests().last().is_some_and(|last| last.body.to_string().contains("and again")));
    server.stop().await;
}

// TC-8.3b
#[tokio::test]
async fn a_claude_session_that_this_server_never_had_opens_with_its_history() {
    made_outside(
        "claude-code",
        &expect![[r#"
        history
        | user i0 "[[say:from the terminal]]"
        | complete message i1 "from the terminal"
        | user i2 "[[say:and again]]"
        | complete message i3 "and again"
        title "[[say:from the terminal]]"
        options model - mode -
        queue []
        state open
        > send
        user i4 "[[say:here]]"
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i5
        complete message i5 "here"
        turn 2 completed
        state open
    "#]],
    )
    .await;
}

// TC-8.3b
#[tokio::test]
async fn a_codex_session_that_this_server_never_had_opens_with_its_history() {
    made_outside(
        "codex",
        &expect![[r#"
        history
        | user i0 "[[say:from the terminal]]"
        | complete message i1 "from the terminal"
        | user i2 "[[say:and again]]"
        | complete message i3 "and again"
        title "[[say:from the terminal]]"
        options model gpt-5.4 mode read-only
        queue []
        state open
        > send
        user i4 "[[say:here]]"
        state working
        turn 2 started gpt-5.4
        create message i5
        complete message i5 "here"
        turn 2 completed
        state open
    "#]],
    )
    .await;
}
