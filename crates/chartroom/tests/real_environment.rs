//! The real agents find the variables of the server's own environment, as in a terminal, and never our token.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/story.rs"]
mod story;

use expect_test::expect;
use serde_json::json;
use story::{Place, Server};

/// What the tool of an agent prints: two variables of the user, and ours.
const PRINT: &str =
    "echo llm=$MY_COMPANY_LLM_KEY region=$AWS_REGION secret=$AWS_SECRET_ACCESS_KEY ours=$CHARTROOM_TOKEN.";

#[tokio::test]
async fn a_tool_of_claude_sees_the_users_variables_and_not_our_token() {
    let place = Place::new().await;
    // A key of the agent's own section wins over the server's environment.
    let config = place
        .config(0)
        .replace("[agents.claude-code.env]", "[agents.claude-code.env]\nAWS_REGION = \"of-the-config\"");
    let variables = [("MY_COMPANY_LLM_KEY", "free"), ("AWS_REGION", "eu"), ("AWS_SECRET_ACCESS_KEY", "aws")];
    let server = Server::start_with(&place, &config, &variables).await;
    let mut browser = server.create("claude-code", Some("bypassPermissions")).await;
    let call = json!({"command": PRINT, "description": "d"});
    browser.send(&server, &format!("[[tool:Bash:{call}]]")).await;
    browser.until_idle().await;
    assert!(place.api.saw("llm=free region=of-the-config secret=aws ours=."));
    server.stop().await;
}

#[tokio::test]
async fn codex_finds_the_key_that_its_own_config_names() {
    let place = Place::new().await;
    let codex = place.home.read(".codex/config.toml").replace("MOCK_API_KEY", "MY_COMPANY_LLM_KEY");
    place.home.write(".codex/config.toml", &codex);
    let config = place.config(0).replace("MOCK_API_KEY = \"dummy\"\n", "");
    let server = Server::start_with(&place, &config, &[("MY_COMPANY_LLM_KEY", "free")]).await;
    let mut browser = server.create("codex", None).await;
    browser.send(&server, "[[say:hello there]]").await;
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
    "#]]);
    server.stop().await;
}
