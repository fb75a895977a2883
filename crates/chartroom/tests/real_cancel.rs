//! Cancels at random moments with the real agents: while a session loads, while a message is on its way, in mid-stream
//! and in mid-tool. One that is answered ends its turn, and the agent goes on.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;
use story::{Place, Server};

/// The longest that a turn runs before it is cancelled: enough for the first words and for the tool's start.
const LONGEST: Duration = Duration::from_millis(250);

/// Numbers without a pattern, the same in every run.
struct Numbers(u64);

impl Numbers {
    /// Returns the next one below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        // Marsaglia's xorshift.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// How many moments are tried with each agent; `CHARTROOM_CANCELS` asks for more.
fn n_moments() -> usize {
    std::env::var("CHARTROOM_CANCELS").ok().and_then(|number| number.parse().ok()).unwrap_or(20)
}

async fn cancelled_at_random_moments(cli_type: &str, mode: &str, tool: &str) {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(cli_type, Some(mode)).await;
    // None of these ends by itself.
    let work = ["[[gate:never]]".to_owned(), "[[hang]]".to_owned(), format!("[[tool:{tool}]]")];
    let mut numbers = Numbers(0x5eed_5eed_5eed_5eed);
    let mut lost = Vec::new();
    let mut n_loading = 0;
    for moment in 0..n_moments() {
        // Some messages find a session that has to be loaded first.
        let loads = moment > 0 && numbers.below(8) == 0;
        if loads {
            browser.post(&server, "kill", json!({})).await;
            browser.until("state dead").await;
            n_loading += 1;
        }
        let what = &work[usize::try_from(numbers.below(3)).unwrap()];
        let sent = browser.send(&server, what).await;
        let longest = u64::try_from(LONGEST.as_micros()).unwrap();
        tokio::time::sleep(Duration::from_micros(numbers.below(longest))).await;
        browser.post(&server, "cancel", json!({})).await;
        let end = browser.until_ended(sent["turnId"].as_str().unwrap()).await;
        browser.until("state ").await;
        if (end.as_str(), browser.last_line()) != ("cancelled", "state open") {
            lost.push(format!("{moment}: {what} loads {loads}: {end}, {}", browser.last_line()));
        }
    }
    eprintln!("{cli_type}: {} moments, {n_loading} of them with a load, lost {}", n_moments(), lost.len());
    assert_eq!(lost, [""; 0]);
    server.stop().await;
}

#[tokio::test]
async fn claude_loses_no_cancel() {
    let call = json!({"command": "true; exec sleep 1000", "description": "d"});
    cancelled_at_random_moments("claude-code", "bypassPermissions", &format!("Bash:{call}")).await;
}

#[tokio::test]
async fn codex_loses_no_cancel() {
    let call = json!({"cmd": "true; exec sleep 1000", "yield_time_ms": 60_000});
    cancelled_at_random_moments("codex", "full-access", &format!("exec_command:{call}")).await;
}

/// A message that is cancelled while its session loads never reaches the model, and the next one does.
async fn cancelled_while_loading(cli_type: &str, mode: &str, expected: Expect) {
    let place = Place::new().await;
    let server = Server::start(&place).await;
    let mut browser = server.create(cli_type, Some(mode)).await;
    browser.send(&server, "[[say:hello]]").await;
    browser.until_idle().await;
    browser.post(&server, "kill", json!({})).await;
    browser.until("state dead").await;
    browser.forget_the_beginning();
    let sent = browser.send(&server, "[[say:not this]]").await;
    browser.until("state loading").await;
    browser.post(&server, "cancel", json!({})).await;
    browser.until_ended(sent["turnId"].as_str().unwrap()).await;
    browser.until_idle().await;
    browser.send(&server, "[[say:but this]]").await;
    browser.until_idle().await;
    assert!(!place.api.saw("[[say:not this]]"), "the model was asked all the same");
    browser.saw(&expected);
    server.stop().await;
}

#[tokio::test]
async fn claude_does_not_get_a_message_that_was_cancelled_while_it_started() {
    cancelled_while_loading(
        "claude-code",
        "bypassPermissions",
        expect![[r#"
        > send, queued
        queue ["[[say:not this]]"]
        state loading
        > cancel
        user i2 "[[say:not this]]"
        turn 1 cancelled
        options model - mode -
        queue []
        state open
        > send
        user i3 "[[say:but this]]"
        state working
        turn 2 started claude-opus-5-5
        options model claude-opus-5-5 mode bypassPermissions
        create message i4
        complete message i4 "but this"
        turn 2 completed
        state open
    "#]],
    )
    .await;
}

#[tokio::test]
async fn codex_does_not_get_a_message_that_was_cancelled_while_it_started() {
    cancelled_while_loading(
        "codex",
        "full-access",
        expect![[r#"
        > send, queued
        queue ["[[say:not this]]"]
        state loading
        > cancel
        user i2 "[[say:not this]]"
        turn 1 cancelled
        options model gpt-5.4 mode auto
        options model gpt-5.4 mode full-access
        queue []
        state open
        > send
        user i3 "[[say:but this]]"
        state working
        turn 2 started gpt-5.4
        create message i4
        complete message i4 "but this"
        turn 2 completed
        state open
    "#]],
    )
    .await;
}
