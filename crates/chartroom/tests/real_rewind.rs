//! Back to before a message, with the real agents: what the shell changed comes back too, and the agent goes on without
//! what was said since. What an agent cannot do is told.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use serde_json::{Value, json};
use story::{Browser, Place, Server};

async fn turn(browser: &mut Browser, server: &Server, message: &str) -> String {
    let sent = browser.send(server, message).await;
    let turn_id = sent["turnId"].as_str().unwrap().to_owned();
    browser.until_ended(&turn_id).await;
    browser.until_idle().await;
    turn_id
}

/// What changed, as `status path`.
async fn changes(server: &Server, browser: &Browser, query: &str) -> Vec<String> {
    let answer = server.get(&format!("{}{query}", browser.path("changes"))).await;
    let words =
        |file: &Value| format!("{} {}", file["status"].as_str().unwrap(), file["path"].as_str().unwrap());
    answer["files"].as_array().unwrap().iter().map(words).collect()
}

/// What the model was told last.
fn last_request(place: &Place) -> String {
    place.api.requests().pop().unwrap().body.to_string()
}

#[tokio::test]
async fn claude_goes_back_to_before_a_message_with_its_files() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", Some("bypassPermissions")).await;
    turn(&mut browser, &server, "[[say:first]]").await;
    let command = json!({ "command": "echo by the shell >> README.md; mkdir new; echo x > new/file" });
    let second = turn(&mut browser, &server, &format!("[[tool:Bash:{command}]]")).await;
    turn(&mut browser, &server, "[[say:third]]").await;
    let touched = ["modified README.md", "added new/file"];
    assert_eq!(changes(&server, &browser, &format!("?scope=turn&turn={second}")).await, touched);
    assert_eq!(changes(&server, &browser, "").await, touched);
    assert_eq!(changes(&server, &browser, "?scope=turn").await, [""; 0]);

    let body = json!({ "before": second, "files": true, "conversation": true });
    let done = server.post(&browser.path("rewind"), body).await;
    assert_eq!(done["files"]["written"], json!(["README.md"]), "{done}");
    assert_eq!(done["files"]["removed"], json!(["new/file"]), "{done}");
    assert_eq!(std::fs::read_to_string(place.project.path("README.md")).unwrap(), "hello\n");
    assert!(!place.project.path("new").exists());

    let forked = done["session"].as_str().unwrap().to_owned();
    let mut back = server.follow(&forked).await;
    turn(&mut back, &server, "[[say:instead]]").await;
    let told = last_request(&place);
    assert!(told.contains("[[say:first]]") && told.contains("[[say:instead]]"), "{told}");
    assert!(!told.contains("by the shell") && !told.contains("[[say:third]]"), "{told}");

    // It is a session like others, also for the next server.
    server.stop().await;
    let server = Server::start(&place).await;
    let mut back = server.follow(&forked).await;
    turn(&mut back, &server, "[[say:after a restart]]").await;
    let told = last_request(&place);
    for (said, is_known) in [("first", true), ("instead", true), ("third", false), ("after a restart", true)]
    {
        assert_eq!(told.contains(&format!("[[say:{said}]]")), is_known, "{said}: {told}");
    }
    // The old one is put away with all that was said in it.
    let mut old = server.follow(&browser.session_id).await;
    turn(&mut old, &server, "[[say:on]]").await;
    let told = last_request(&place);
    assert!(told.contains("[[say:third]]") && !told.contains("[[say:instead]]"), "{told}");
    server.stop().await;
}

#[tokio::test]
async fn claude_goes_on_from_an_earlier_turn_in_a_session_of_its_own_also_when_that_sleeps_before_its_first_message()
 {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("claude-code", Some("acceptEdits")).await;
    let first = turn(&mut browser, &server, "[[say:first]]").await;
    turn(&mut browser, &server, "[[say:second]]").await;
    let at_first = server.post(&browser.path("fork"), json!({ "at": first })).await;
    let at_end = server.post(&browser.path("fork"), json!({})).await;
    // Nothing was said in them yet: Claude has kept nothing of them.
    server.stop().await;
    let server = Server::start(&place).await;
    for (forked, knows_second) in [(at_first, false), (at_end, true)] {
        let mut fork = server.follow(forked["session"].as_str().unwrap()).await;
        turn(&mut fork, &server, "[[say:beside]]").await;
        let told = last_request(&place);
        assert!(told.contains("[[say:first]]"), "{told}");
        assert_eq!(told.contains("[[say:second]]"), knows_second, "{told}");
    }
    server.stop().await;
}

#[tokio::test]
async fn what_codex_cannot_do_is_told_its_files_go_back_and_a_fork_is_handed_the_conversation_as_text() {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create("codex", Some("full-access")).await;
    let command = json!({ "cmd": "echo by the shell >> README.md" });
    let first = turn(&mut browser, &server, &format!("[[tool:exec_command:{command}]]")).await;
    assert_eq!(changes(&server, &browser, "").await, ["modified README.md"]);
    let body = json!({ "before": first, "files": true, "conversation": true });
    let done = server.post(&browser.path("rewind"), body).await;
    assert_eq!(done["session"], Value::Null, "{done}");
    assert_eq!(done["cannot"], "Codex cannot go on from an earlier point of a conversation");
    assert_eq!(std::fs::read_to_string(place.project.path("README.md")).unwrap(), "hello\n");
    // A fork is a new session that is handed the conversation as text.
    let fork = server.post(&browser.path("fork"), json!({})).await;
    assert_eq!(
        fork["cannot"],
        "Codex cannot go on from an earlier point of a conversation: the new session was handed it as text, in its first message"
    );
    let mut forked = server.follow(fork["session"].as_str().unwrap()).await;
    forked.until_idle().await;
    turn(&mut forked, &server, "[[say:on]]").await;
    let told = last_request(&place);
    assert!(told.contains("by the shell") && told.contains("[[say:on]]"), "{told}");
    server.stop().await;
}
