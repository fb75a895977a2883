//! Codex over codex-acp.

use std::path::PathBuf;
use std::time::Duration;

use chartroom_protocol::ids::QuestionId;
use chartroom_protocol::session::{AnswerParams, Decision};
use chartroom_providers::acp::{AcpConfig, AcpProvider};
use chartroom_sessions::{History, Provider, ProviderSession};
use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::tools;
use futures_util::StreamExt;
use serde_json::json;

use crate::stage::{Stage, lives, pid_of_tool, pids_of, send, until, until_said};

fn provider(stage: &Stage, api: &ModelApi) -> AcpProvider {
    provider_of(stage, api, tools::codex_acp(), &[])
}

fn provider_of(stage: &Stage, api: &ModelApi, program: PathBuf, variables: &[(&str, &str)]) -> AcpProvider {
    stage.home.write(
        ".codex/config.toml",
        &format!(
            r#"model = "gpt-5.4"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "{}"
env_key = "MOCK_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[feedback]
enabled = false
"#,
            api.openai_url()
        ),
    );
    let command = stage.command(program, &[&[("MOCK_API_KEY", "dummy")], variables].concat());
    let config = AcpConfig { command, warm_processes: Some(1), ..AcpConfig::codex() };
    AcpProvider::new(stage.gate.clone(), config)
}

async fn answer(session: &ProviderSession, asked: &[String], decision: Decision) {
    let id = asked.last().and_then(|line| line.split(' ').nth(1)).expect("a question has an id");
    let params = AnswerParams {
        question_id: QuestionId::from(id),
        decision,
        message: None,
        grant_id: None,
        answers: None,
    };
    session.handle.answer(params).await.expect("the question waits");
}

#[tokio::test]
async fn text_thinking_tools_and_the_way_back_to_an_old_session() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let provider = provider(&stage, &api);
    let mut options = stage.create();
    options.mode = Some("full-access".to_owned());
    let mut session = provider.create_session(options).await.expect("codex starts");
    send(&session, "t1", "[[say:hello there]]").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 gpt-5.4", "message \"hello there\"", "ended Completed"],
    );
    send(&session, "t2", "[[think]]").await;
    let lines = until(&mut session, "ended").await;
    assert!(lines[1].starts_with("thinking ") && lines[1].contains("Let me think about this."), "{lines:?}");
    assert_eq!(lines[2], "message \"I have thought.\"");
    send(&session, "t3", r#"[[tool:exec_command:{"cmd":"echo A"}]]"#).await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(
        lines[1..4],
        ["message \"I will use exec_command.\"", "call execute", "result execute \"A\\n\""]
    );
    send(&session, "t4", "[[patch:*** Begin Patch\n*** Add File: p.txt\n+line one\n*** End Patch\n]]").await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1], "call edit", "{lines:?}");
    assert_eq!(stage.project.read("p.txt"), "line one\n");
    send(&session, "t5", "[[err:400:1]]").await;
    assert_eq!(until(&mut session, "failed").await[1], "failed RESPONSE_ERROR: scripted 400");
    let id = session.session_id.clone();
    session.handle.kill().await;

    let found = provider.discover(stage.project.root()).await.expect("rollouts can be read");
    assert_eq!(found.iter().map(|found| &found.session_id).collect::<Vec<_>>(), [&id]);
    assert_eq!(found[0].first_message, "[[say:hello there]]");
    let mut session = provider.load_session(&id, stage.load()).await.expect("the session is there");
    let history = std::mem::replace(&mut session.history, History::empty());
    assert!(history.items.count().await >= 8);
    send(&session, "t6", "[[say:back again]]").await;
    assert_eq!(until(&mut session, "ended").await[1..], ["message \"back again\"", "ended Completed"]);
    session.handle.kill().await;
}

#[tokio::test]
async fn a_session_is_loaded_by_the_process_that_was_started_for_its_project() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let first = provider(&stage, &api);
    let mut session = first.create_session(stage.create()).await.expect("codex starts");
    send(&session, "t1", "[[say:hello there]]").await;
    until(&mut session, "ended").await;
    let id = session.session_id.clone();
    session.handle.kill().await;
    drop(first);

    let provider = provider(&stage, &api);
    provider.project_opened(stage.project.root());
    let limit = tokio::time::Instant::now() + Duration::from_secs(60);
    while pids_of(&stage, "codex-acp").is_empty() {
        assert!(tokio::time::Instant::now() < limit, "none was started ahead");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let ahead = pids_of(&stage, "codex-acp")[0];
    let mut session = provider.load_session(&id, stage.load()).await.expect("the session is there");
    let history = std::mem::replace(&mut session.history, History::empty());
    assert_eq!(history.items.count().await, 2);
    send(&session, "t2", "[[say:back again]]").await;
    assert_eq!(until(&mut session, "ended").await[1..], ["message \"back again\"", "ended Completed"]);
    assert!(lives(ahead));
    session.handle.kill().await;
    assert!(!lives(ahead), "the session ran in another process");
}

/// As `npm install -g` leaves it: a script for Node, which is not on this PATH.
#[tokio::test]
async fn codex_starts_without_the_script_that_npm_puts_before_it() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let script = tools::npm_bin("agents", "codex-acp");
    let provider = provider_of(&stage, &api, script, &[("PATH", "/nowhere")]);
    let mut session = provider.create_session(stage.create()).await.expect("codex starts");
    send(&session, "t1", "[[say:hello there]]").await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1..], ["message \"hello there\"", "ended Completed"]);
    session.handle.kill().await;
}

#[tokio::test]
async fn a_permission_is_allowed_and_denied_and_a_turn_cancelled() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let mut options = stage.create();
    options.mode = Some("auto".to_owned());
    let mut session = provider(&stage, &api).create_session(options).await.expect("codex starts");
    let escalate = |file: &str| {
        let call = json!({"cmd": format!("touch {file}"), "sandbox_permissions": "require_escalated", "justification": "need it"});
        format!("[[tool:exec_command:{call}]]")
    };
    send(&session, "t1", &escalate("yes.txt")).await;
    let asked = until(&mut session, "asks").await;
    assert_eq!(asked[1..3], ["message \"I will use exec_command.\"", "call execute"], "{asked:?}");
    answer(&session, &asked, Decision::Allow).await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1], "result execute \"\"", "{lines:?}");
    assert!(stage.project.path("yes.txt").exists());
    send(&session, "t2", &escalate("no.txt")).await;
    let asked = until(&mut session, "asks").await;
    answer(&session, &asked, Decision::Deny).await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines.last().map(String::as_str), Some("ended Cancelled"), "{lines:?}");
    assert!(!stage.project.path("no.txt").exists());
    send(&session, "t3", "[[gate:one]]").await;
    until_said(&mut session, "before").await;
    session.handle.cancel_turn(&"t3".into()).await.expect("codex takes a cancel");
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines.last().map(String::as_str), Some("ended Cancelled"), "{lines:?}");
    session.handle.kill().await;
}

#[tokio::test]
async fn a_kill_while_a_tool_runs_leaves_no_process() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let mut options = stage.create();
    options.mode = Some("full-access".to_owned());
    let session = provider(&stage, &api).create_session(options).await.expect("codex starts");
    let tool = pid_of_tool(|command| {
        let call =
            json!({"cmd": format!("setsid bash -c {}", shell_quoted(command)), "yield_time_ms": 60_000});
        format!("[[tool:exec_command:{call}]]")
    })
    .await;
    send(&session, "t1", &tool.prompt).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    session.handle.kill().await;
    assert!(!lives(pid), "the tool outlived the session");
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
