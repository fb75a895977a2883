//! Messages that wait, with the real agents: they are delivered without anybody asking when an agent or the server has
//! died, and wait for a person where a person has stopped them.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use std::process::Command;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use story::{Browser, Place, Server};

/// Has the agent in the middle of a turn with two messages waiting behind it.
async fn with_a_queue(place: &Place, server: &Server, cli_type: &str) -> Browser {
    let mut browser = server.create(cli_type, None).await;
    // An agent keeps a conversation in which it has ended a turn.
    browser.send(server, "[[say:first]]").await;
    browser.until_idle().await;
    browser.send(server, "[[gate:one]]").await;
    place.api.reached("one").await;
    browser.until_said("before").await;
    for message in ["[[say:second]]", "[[say:third]]"] {
        browser.send(server, message).await;
        browser.until("queue").await;
    }
    browser
}

/// kill -9 of everything that is not ours below the server: the agent, not its keeper.
#[expect(clippy::disallowed_methods, reason = "the kill of a shell")]
fn kill_the_agent(server: &Server, name: &str) {
    let is_agent = |pid: &u32| {
        let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        program.file_name().is_some_and(|file| file.to_string_lossy().starts_with(name))
    };
    let pids: Vec<u32> = server.descendants().into_iter().filter(is_agent).collect();
    assert!(!pids.is_empty(), "an agent runs");
    for pid in pids {
        assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    }
}

async fn goes_on_after_a_crash(cli_type: &str, program: &str, expected: &Expect) {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = with_a_queue(&place, &server, cli_type).await;
    kill_the_agent(&server, program);
    browser.until("state loading").await;
    let crash = browser.story();
    assert!(crash.contains("turn 1 failed PROCESS_CRASH"), "{crash}");
    assert!(crash.ends_with("it is started again for the messages that wait)"), "{crash}");
    browser.until_idle().await;
    browser.saw(expected);
    server.stop().await;
}

#[tokio::test]
async fn claudes_queue_goes_on_by_itself_after_a_crash() {
    goes_on_after_a_crash(
        "claude-code",
        "claude",
        &expect![[r#"
        options model - mode -
        user i4 "[[say:second]]"
        queue ["[[say:third]]"]
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i5
        complete message i5 "second"
        turn 2 completed
        user i6 "[[say:third]]"
        queue []
        turn 3 started claude-opus-5-5
        create message i7
        complete message i7 "third"
        turn 3 completed
        state open
    "#]],
    )
    .await;
}

#[tokio::test]
async fn codexs_queue_goes_on_by_itself_after_a_crash() {
    goes_on_after_a_crash(
        "codex",
        "codex-acp",
        &expect![[r#"
        user i4 "[[say:second]]"
        queue ["[[say:third]]"]
        state working
        turn 2 started gpt-5.4
        create message i5
        complete message i5 "second"
        turn 2 completed
        user i6 "[[say:third]]"
        queue []
        turn 3 started gpt-5.4
        create message i7
        complete message i7 "third"
        turn 3 completed
        state open
    "#]],
    )
    .await;
}

/// Kills the server with messages waiting; the next one delivers them before anybody looks.
async fn goes_on_after_a_restart(cli_type: &str) {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let browser = with_a_queue(&place, &server, cli_type).await;
    let id = browser.session_id.clone();
    server.die().await;
    place.api.open("one");
    let server = Server::start(&place).await;
    // Nobody has asked for the session; the model is asked all the same.
    let told = async {
        while !place.api.saw("[[say:third]]") {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(180), told).await.expect("the queue goes on");
    let mut browser = server.follow(&id).await;
    if server.get(&browser.path("status")).await["state"] != "open" {
        browser.until_idle().await;
    }
    let history = server.get(&browser.path("history")).await;
    let said = |entry: &Value| entry["content"].as_str().unwrap_or_default().to_owned();
    let said: Vec<String> = history["entries"].as_array().unwrap().iter().map(said).collect();
    assert_eq!(said[said.len() - 4..], ["[[say:second]]", "second", "[[say:third]]", "third"], "{said:?}");
    server.stop().await;
}

#[tokio::test]
async fn claudes_queue_goes_on_by_itself_after_a_restart() {
    goes_on_after_a_restart("claude-code").await;
}

#[tokio::test]
async fn codexs_queue_goes_on_by_itself_after_a_restart() {
    goes_on_after_a_restart("codex").await;
}

#[tokio::test]
async fn the_queue_of_a_session_that_was_ended_waits_for_a_load() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = with_a_queue(&place, &server, "claude-code").await;
    browser.post(&server, "kill", json!({})).await;
    browser.until("state dead").await;
    let ended = browser.story();
    let held = r#"queue ["[[say:second]]", "[[say:third]]"] held: you have ended this session"#;
    assert!(ended.contains(held), "{ended}");
    browser.post(&server, "load", json!({})).await;
    browser.until_idle().await;
    browser.saw(&expect![[r#"
        > load
        queue ["[[say:second]]", "[[say:third]]"]
        state loading
        options model - mode -
        user i4 "[[say:second]]"
        queue ["[[say:third]]"]
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode default
        create message i5
        complete message i5 "second"
        turn 2 completed
        user i6 "[[say:third]]"
        queue []
        turn 3 started claude-opus-5-5
        create message i7
        complete message i7 "third"
        turn 3 completed
        state open
    "#]]);
    server.stop().await;
}
