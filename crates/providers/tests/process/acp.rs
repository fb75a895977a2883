//! The ACP provider with `fake-acp`.

use std::time::Duration;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{QuestionId, SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, Decision};
use chartroom_protocol::stream::Origin;
use chartroom_protocol::upsert::UpsertBody;
use chartroom_providers::Timeouts;
use chartroom_providers::acp::{AcpConfig, AcpProvider};
use chartroom_sessions::{History, KnownBy, Provider, ProviderOutput, ProviderSession};
use chartroom_testkit::fakes;
use futures_util::StreamExt;

use crate::stage::{Stage, lives, message, send, timeouts, until};

fn provider(stage: &Stage, variables: &[(&str, &str)]) -> AcpProvider {
    let config =
        AcpConfig { timeouts: timeouts(), ..AcpConfig::agent(stage.command(fakes::acp(), variables)) };
    AcpProvider::new(stage.gate.clone(), config)
}

async fn session(stage: &Stage) -> ProviderSession {
    provider(stage, &[]).create_session(stage.create()).await.expect("the fake starts")
}

// TC-2.1c
#[tokio::test]
async fn the_codex_provider_satisfies_the_interface() {
    let stage = Stage::new();
    let provider: Box<dyn Provider> = Box::new(AcpProvider::new(stage.gate, AcpConfig::codex()));
    assert_eq!(provider.cli_type().as_str(), "codex");
}

// TC-4.1a
#[tokio::test]
async fn create_runs_session_new_and_returns_a_session() {
    let stage = Stage::new();
    let session = session(&stage).await;
    assert_eq!(session.session_id.as_str(), "fake-session-1");
    assert!(session.handle.is_alive());
}

// TC-4.1b
#[tokio::test]
async fn load_replays_the_history() {
    let stage = Stage::new();
    let id = SessionId::from("fake-session-1");
    let mut session =
        provider(&stage, &[]).load_session(&id, stage.load()).await.expect("the session is there");
    let history = std::mem::replace(&mut session.history, History::empty());
    let KnownBy::Words(turns) = &history.turns else { panic!("ACP has no ids") };
    let told: Vec<_> = turns.iter().map(|turn| (turn.message.as_str(), turn.answer.as_str())).collect();
    assert_eq!(told, [("hello there", "general"), ("again", "kenobi")]);
    let items: Vec<_> = history.items.collect().await;
    let printed: Vec<String> = items
        .iter()
        .map(|item| match &item.body {
            UpsertBody::Message { content, origin: Origin::User, .. } => format!("user {content}"),
            UpsertBody::Message { content, .. } => format!("agent {content}"),
            UpsertBody::Thinking { content, .. } => format!("thinking {content}"),
            UpsertBody::ToolCall { tool_name, tool_output, .. } => {
                format!("{tool_name} -> {}", tool_output.as_deref().unwrap_or("?"))
            }
        })
        .collect();
    assert_eq!(
        printed,
        ["user hello there", "agent general", "exec_command -> a b", "user again", "agent kenobi"]
    );
    assert_eq!(items[0].turn_id.as_str(), "fake-session-1:history:1");
    assert_eq!(items[4].turn_id.as_str(), "fake-session-1:history:2");
    send(&session, "t1", "hello").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 fake-model", "message \"hello\"", "ended Completed"]
    );
}

#[tokio::test]
async fn a_history_that_nobody_wants_is_passed_over_and_the_session_goes_on() {
    let stage = Stage::new();
    let loaded = provider(&stage, &[]).load_session(&SessionId::from("fake-session-1"), stage.load()).await;
    let mut session = loaded.expect("the session is there");
    drop(std::mem::replace(&mut session.history, History::empty()));
    send(&session, "t1", "hello").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 fake-model", "message \"hello\"", "ended Completed"]
    );
}

#[tokio::test]
async fn loading_an_unknown_session_is_not_found() {
    let stage = Stage::new();
    let loaded = provider(&stage, &[]).load_session(&SessionId::from("no-such"), stage.load()).await;
    assert_eq!(loaded.err().expect("there is none").code, ErrorCode::SessionNotFound);
}

// TC-4.1c
#[tokio::test]
async fn send_runs_session_prompt_and_returns_before_the_turn_ends() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "slow").await;
    assert_eq!(until(&mut session, "started").await, ["started t1 fake-model"]);
    session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes a cancel");
    assert_eq!(until(&mut session, "ended").await, ["stopped \"before \"", "ended Cancelled"]);
    send(&session, "t2", "tool").await;
    assert_eq!(
        until(&mut session, "ended").await,
        [
            "started t2 fake-model",
            "call execute",
            "result execute \"A\"",
            "message \"the tool said A\"",
            "ended Completed"
        ],
    );
}

#[tokio::test]
async fn text_that_comes_again_after_a_retry_is_said_once() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "retry").await;
    assert_eq!(until(&mut session, "ended").await[1], "message \"one two three\"");
}

#[tokio::test]
async fn a_failed_prompt_fails_the_turn_and_the_session_goes_on() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "failing").await;
    assert_eq!(
        until(&mut session, "failed").await,
        ["started t1 fake-model", "failed RESPONSE_ERROR: Internal error"]
    );
    send(&session, "t2", "hello").await;
    until(&mut session, "ended").await;
}

#[tokio::test]
async fn a_permission_is_asked_and_answered() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    // The fake ends the turn as cancelled when it is denied something.
    for (turn, decision, said) in
        [("t1", Decision::Allow, "message \"yes\""), ("t2", Decision::Deny, "stopped \"no\"")]
    {
        send(&session, turn, "permission").await;
        let asked = until(&mut session, "asks").await;
        let question_id = asked.last().and_then(|line| line.split(' ').nth(1)).expect("a question has an id");
        let params = AnswerParams {
            question_id: QuestionId::from(question_id),
            decision,
            message: None,
            grant_id: None,
            answers: None,
        };
        session.handle.answer(params.clone()).await.expect("it waits");
        let late = session.handle.answer(params).await.expect_err("it was answered");
        assert_eq!(late.code, ErrorCode::QuestionNotFound);
        assert_eq!(asked[1], "call execute");
        let lines = until(&mut session, "ended").await;
        assert!(lines.iter().any(|line| line == said), "{lines:?}");
    }
}

#[tokio::test]
async fn cancelling_answers_a_pending_permission() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "permission").await;
    until(&mut session, "asks").await;
    session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes a cancel");
    let lines = until(&mut session, "ended").await;
    assert!(lines[0].starts_with("closed "), "{lines:?}");
    assert_eq!(lines[1..], ["stopped \"cancelled\"", "stopped execute", "ended Cancelled"]);
}

#[tokio::test]
async fn kill_ends_the_whole_tree_although_the_agent_ignores_a_closed_stdin() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "orphan").await;
    let pid = loop {
        if let ProviderOutput::Upsert(upsert) = session.outputs.recv().await.expect("the turn goes on")
            && let UpsertBody::Message { content, .. } = upsert.body
        {
            break content.trim().strip_prefix("pid ").expect("a pid").parse().expect("a number");
        }
    };
    assert!(lives(pid));
    session.handle.kill().await;
    assert!(!session.handle.is_alive());
    assert!(!lives(pid), "the agent's own child outlived it");
    let error =
        session.handle.send_message(&TurnId::from("t2"), message("hello")).await.expect_err("it is dead");
    assert_eq!(error.code, ErrorCode::ProcessCrash);
}

#[tokio::test]
async fn a_crash_in_mid_turn_fails_the_turn_and_loses_no_text() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "crash").await;
    let message = "fake-agent exited with status 3: fake acp crashed on purpose";
    assert_eq!(
        until(&mut session, "closed").await,
        [
            "started t1 fake-model".to_owned(),
            "broken \"half a \"".to_owned(),
            format!("failed PROCESS_CRASH: {message}"),
            format!("exited {message}"),
            "closed".to_owned(),
        ],
    );
}

#[tokio::test]
async fn garbage_and_a_message_of_50_mb_do_not_disturb_the_turn() {
    let stage = Stage::new();
    let provider = provider(&stage, &[("FAKE_ACP", "garbage")]);
    let mut session = provider.create_session(stage.create()).await.expect("the fake starts");
    send(&session, "t1", "longline").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 fake-model", "message \"after the long line\"", "ended Completed"],
    );
}

#[tokio::test]
async fn an_agent_that_exits_or_never_answers_fails_the_creation() {
    let stage = Stage::new();
    let error = provider(&stage, &[("FAKE_ACP", "exit")]).create_session(stage.create()).await.err();
    let error = error.expect("the fake does not start");
    assert_eq!(error.code, ErrorCode::SessionCreateFailed);
    assert!(error.message.ends_with("fake acp cannot start today"), "{}", error.message);

    let short = Duration::from_millis(300);
    let timeouts = Timeouts { ready: short, answer: short, end: short };
    let command = stage.command(fakes::acp(), &[("FAKE_ACP", "mute")]);
    let provider = AcpProvider::new(stage.gate.clone(), AcpConfig { timeouts, ..AcpConfig::agent(command) });
    let error = provider.create_session(stage.create()).await.err().expect("the fake never answers");
    assert_eq!(error.code, ErrorCode::SessionCreateFailed);
    assert!(error.message.contains("did not answer"), "{}", error.message);
}

#[tokio::test]
async fn model_and_mode_are_told_to_the_agent() {
    let stage = Stage::new();
    let session = session(&stage).await;
    session.handle.set_model("fake-model").await.expect("the fake takes a model");
    session.handle.set_mode("read-only").await.expect("the fake takes a mode");
    // ACP has no question for it.
    assert_eq!(session.handle.context_use().await.expect("it is not even asked"), None);
}

#[tokio::test]
async fn an_agent_never_starts_in_an_untrusted_folder() {
    let stage = Stage::untrusted();
    let error = provider(&stage, &[]).create_session(stage.create()).await.err().expect("nobody trusts it");
    assert_eq!(error.code, ErrorCode::WorkspaceUntrusted);
}
