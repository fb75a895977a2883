//! Agents that nobody needs, with the real ones: their processes end, and the next message is answered with all that was
//! said before, in the very frames that an agent would have sent that had been there all the time.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use serde_json::json;
use story::{Place, Server, until_gone};

/// Returns the processes of the agent below a server.
fn agents(server: &Server, program: &str) -> Vec<u32> {
    let is_agent = |pid: &u32| {
        let file = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(program))
    };
    server.descendants().into_iter().filter(is_agent).collect()
}

/// Has two turns and returns what a page saw, with the agent asleep between them or awake.
async fn two_turns(cli_type: &str, mode: &str, program: &str, sleeps: bool) -> String {
    let place = Place::new().await;
    // A few seconds, or never.
    let idle = if sleeps { "0.05" } else { "0" };
    let config = format!("[sessions]\nidleMinutes = {idle}\n{}", place.config(0));
    let server = Server::start_with(&place, &config, &[]).await;
    let mut browser = server.create(cli_type, Some(mode)).await;
    browser.send(&server, "[[say:first]]").await;
    browser.until_said("first").await;
    let agents = agents(&server, program);
    assert!(!agents.is_empty(), "{program} answers");
    browser.until_idle().await;
    if sleeps {
        until_gone(&agents).await;
    }
    let status = server.get(&browser.path("status")).await;
    assert_eq!((&status["state"], &status["isAlive"]), (&json!("open"), &json!(true)), "{status}");
    browser.send(&server, "[[say:second]]").await;
    browser.until_idle().await;
    let last = place.api.requests().pop().unwrap();
    assert!(last.body.to_string().contains("[[say:first]]"), "the model sees what was said before");
    let seen = browser.story();
    server.stop().await;
    seen
}

#[tokio::test]
async fn claude_sleeps_and_wakes_without_a_difference_on_the_page() {
    let asleep = two_turns("claude-code", "acceptEdits", "claude", true).await;
    assert_eq!(asleep, two_turns("claude-code", "acceptEdits", "claude", false).await);
    assert!(asleep.contains("complete message i3 \"second\""), "{asleep}");
}

#[tokio::test]
async fn codex_sleeps_and_wakes_without_a_difference_on_the_page() {
    let asleep = two_turns("codex", "full-access", "codex-acp", true).await;
    assert_eq!(asleep, two_turns("codex", "full-access", "codex-acp", false).await);
    assert!(asleep.contains("complete message i3 \"second\""), "{asleep}");
}
