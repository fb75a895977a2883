//! Claude Code.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use chartroom_protocol::ids::QuestionId;
use chartroom_protocol::session::{AnswerParams, Decision};
use chartroom_providers::agent_tools::{AgentTools, ToolUse};
use chartroom_providers::claude::{ClaudeConfig, ClaudeProvider};
use chartroom_sessions::{Provider, ProviderSession};
use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::tools;
use serde_json::{Value, json};

use crate::stage::{Stage, lives, pid_of_tool, send, until, until_said};

fn config(stage: &Stage, api: &ModelApi) -> ClaudeConfig {
    let url = api.anthropic_url();
    let command = stage.command(
        tools::claude(),
        &[
            ("ANTHROPIC_BASE_URL", &url),
            ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ],
    );
    ClaudeConfig { command, warm_processes: Some(0), ..ClaudeConfig::default() }
}

async fn session(stage: &Stage, api: &ModelApi) -> ProviderSession {
    let provider = ClaudeProvider::new(stage.gate.clone(), config(stage, api));
    provider.create_session(stage.create()).await.expect("claude starts")
}

async fn answer(session: &ProviderSession, asked: &[String], decision: Decision, note: Option<&str>) {
    let id = asked.last().and_then(|line| line.split(' ').nth(1)).expect("a question has an id");
    let params = AnswerParams {
        question_id: QuestionId::from(id),
        decision,
        message: note.map(str::to_owned),
        grant_id: None,
        answers: None,
    };
    session.handle.answer(params).await.expect("the question waits");
}

fn without_ids(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .map(|line| {
            let mut words: Vec<&str> = line.split(' ').collect();
            if matches!(words[0], "asks" | "closed") && words.len() > 1 {
                words[1] = "q";
            }
            words.join(" ")
        })
        .collect()
}

#[tokio::test]
async fn text_thinking_and_tools_on_one_process() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let mut session = session(&stage, &api).await;
    send(&session, "11111111-0000-4000-8000-000000000001", "[[say:hello there]]").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started own claude-opus-5-5", "message \"hello there\"", "ended Completed"],
    );
    send(&session, "11111111-0000-4000-8000-000000000002", "[[think]]").await;
    assert_eq!(
        until(&mut session, "ended").await[1..],
        ["thinking \"Let me think about this.\"", "message \"I have thought.\"", "ended Completed"],
    );
    send(&session, "11111111-0000-4000-8000-000000000003", r#"[[tool:Read:{"file_path":"README.md"}]]"#)
        .await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1..3], ["message \"I will use Read.\"", "call Read"]);
    assert!(lines[3].starts_with("result Read "), "{lines:?}");
    session.handle.kill().await;
}

#[tokio::test]
async fn a_permission_is_allowed_and_denied() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let mut session = session(&stage, &api).await;
    let write = format!(
        r#"[[tool:Write:{{"file_path":"{}","content":"x\n"}}]]"#,
        stage.project.path("b.txt").display()
    );
    send(&session, "11111111-0000-4000-8000-000000000001", &write).await;
    let asked = until(&mut session, "asks").await;
    assert_eq!(asked.last().and_then(|line| line.split(' ').nth(2)), Some("Write"));
    answer(&session, &asked, Decision::Allow, None).await;
    let lines = without_ids(&until(&mut session, "ended").await);
    assert_eq!(lines[0], "closed q");
    assert!(lines[1].starts_with("result Write "), "{lines:?}");
    assert_eq!(stage.project.read("b.txt"), "x\n");

    let touch = r#"[[tool:Bash:{"command":"touch c.txt","description":"d"}]]"#;
    send(&session, "11111111-0000-4000-8000-000000000002", touch).await;
    let asked = until(&mut session, "asks").await;
    answer(&session, &asked, Decision::Deny, Some("not now")).await;
    let lines = without_ids(&until(&mut session, "ended").await);
    assert_eq!(
        lines,
        [
            "closed q",
            "result Bash \"The user refused this: not now\" failed",
            "message \"Done. The tool said: The user refused this: not now\"",
            "ended Completed"
        ],
    );
    assert!(!stage.project.path("c.txt").exists());
    session.handle.kill().await;
}

#[tokio::test]
async fn a_kill_while_a_tool_runs_leaves_no_process() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let provider = ClaudeProvider::new(stage.gate.clone(), config(&stage, &api));
    let mut session = provider.create_session(stage.create()).await.expect("claude starts");
    let tool =
        pid_of_tool(|command| format!("[[tool:Bash:{}]]", json!({"command": command, "description": "d"})))
            .await;
    send(&session, "11111111-0000-4000-8000-000000000001", &tool.prompt).await;
    let asked = until(&mut session, "asks").await;
    answer(&session, &asked, Decision::Allow, None).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    session.handle.kill().await;
    assert!(!lives(pid), "the tool outlived the session");
}

#[tokio::test]
async fn an_interrupt_ends_a_stream_and_a_tool() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let mut session = session(&stage, &api).await;
    send(&session, "11111111-0000-4000-8000-000000000001", "[[gate:one]]").await;
    until_said(&mut session, "before").await;
    session
        .handle
        .cancel_turn(&"11111111-0000-4000-8000-000000000001".into())
        .await
        .expect("claude takes an interrupt");
    assert_eq!(until(&mut session, "ended").await, ["stopped \"before \"", "ended Cancelled"]);

    let tool =
        pid_of_tool(|command| format!("[[tool:Bash:{}]]", json!({"command": command, "description": "d"})))
            .await;
    send(&session, "11111111-0000-4000-8000-000000000002", &tool.prompt).await;
    let asked = until(&mut session, "asks").await;
    answer(&session, &asked, Decision::Allow, None).await;
    let pid = tool.pid().await;
    assert!(lives(pid));
    session
        .handle
        .cancel_turn(&"11111111-0000-4000-8000-000000000002".into())
        .await
        .expect("claude takes an interrupt");
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines.last().map(String::as_str), Some("ended Cancelled"), "{lines:?}");
    session.handle.kill().await;
}

/// A board that notes what it was asked.
#[derive(Default)]
struct Board {
    asked: Mutex<Vec<String>>,
}

#[async_trait]
impl AgentTools for Board {
    fn mcp_servers(&self) -> Vec<String> {
        vec!["board".to_owned()]
    }

    async fn mcp_message(&self, server: &str, message: Value) -> Option<Value> {
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        self.asked.lock().expect("nobody panics here").push(format!("{server} {method}"));
        let result = match method.as_str() {
            "initialize" => json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "board", "version": "1"}}),
            "tools/list" => {
                json!({"tools": [{"name": "tasks", "description": "d", "inputSchema": {"type": "object"}}]})
            }
            "tools/call" => json!({"content": [{"type": "text", "text": "3 tasks"}]}),
            _ => return None,
        };
        Some(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
    }

    async fn after_tool(&self, use_of_tool: ToolUse) -> Option<String> {
        self.asked.lock().expect("nobody panics here").push(format!("after {}", use_of_tool.tool_name));
        Some("COMPILER SAYS: all is well".to_owned())
    }
}

#[tokio::test]
async fn the_agent_has_the_tools_that_it_is_given() {
    let (stage, api) = (Stage::new(), ModelApi::start().await);
    let board = Arc::new(Board::default());
    let shared = Arc::clone(&board);
    let mut config = config(&stage, &api);
    config.agent_tools = Some(Arc::new(move |_: &Path| Some(Arc::clone(&shared) as Arc<dyn AgentTools>)));
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    let mut options = stage.create();
    options.mode = Some("acceptEdits".to_owned());
    let mut session = provider.create_session(options).await.expect("claude starts");
    let write = format!(
        r#"[[tool:Write:{{"file_path":"{}","content":"x\n"}}]]"#,
        stage.project.path("b.txt").display()
    );
    send(&session, "11111111-0000-4000-8000-000000000001", &write).await;
    until(&mut session, "ended").await;
    assert!(api.saw("COMPILER SAYS: all is well"), "the model did not see the diagnostics after the edit");
    send(&session, "11111111-0000-4000-8000-000000000002", "[[tool:mcp__board__tasks:{}]]").await;
    let mut lines = until(&mut session, "").await;
    while !lines.last().is_some_and(|line| line.starts_with("asks") || line.starts_with("ended")) {
        lines.extend(until(&mut session, "").await);
    }
    if lines.last().is_some_and(|line| line.starts_with("asks")) {
        answer(&session, &lines, Decision::Allow, None).await;
        lines.extend(until(&mut session, "ended").await);
    }
    assert!(lines.iter().any(|line| line.contains("3 tasks")), "{lines:?}");
    let asked = board.asked.lock().expect("nobody panics here").join("\n");
    assert!(asked.contains("board tools/call") && asked.contains("after Write"), "{asked}");
    session.handle.kill().await;
}
