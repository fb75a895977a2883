//! The Claude provider with `fake-claude`.

use std::collections::BTreeMap;
use std::time::Duration;

use chartroom_protocol::context::{ContextCategory, ContextUse};
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{QuestionId, SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, Decision};
use chartroom_providers::Timeouts;
use chartroom_providers::claude::{ClaudeConfig, ClaudeProvider};
use chartroom_sessions::{Provider, ProviderSession};
use chartroom_testkit::fakes;
use chartroom_testkit::project::Project;
use futures_util::StreamExt;

use crate::stage::{Stage, lives, message, pids_of, send, timeouts, until};

fn provider(stage: &Stage, variables: &[(&str, &str)]) -> ClaudeProvider {
    let command = stage.command(fakes::claude(), variables);
    let config =
        ClaudeConfig { command, timeouts: timeouts(), warm_processes: Some(0), ..ClaudeConfig::default() };
    ClaudeProvider::new(stage.gate.clone(), config)
}

async fn session(stage: &Stage) -> ProviderSession {
    provider(stage, &[]).create_session(stage.create()).await.expect("the fake starts")
}

fn answer(decision: Decision, note: Option<&str>) -> AnswerParams {
    AnswerParams {
        question_id: QuestionId::from("ask-1"),
        decision,
        message: note.map(str::to_owned),
        grant_id: None,
        answers: None,
    }
}

// TC-2.1b
#[tokio::test]
async fn the_claude_provider_satisfies_the_interface() {
    let stage = Stage::new();
    let provider: Box<dyn Provider> = Box::new(provider(&stage, &[]));
    assert_eq!(provider.cli_type().as_str(), "fake");
}

// TC-3.1a
#[tokio::test]
async fn create_starts_a_process_that_stays() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    assert!(session.handle.is_alive());
    assert_eq!(session.session_id.as_str().len(), 36);
    send(&session, "t1", "hello").await;
    until(&mut session, "ended").await;
    assert!(session.handle.is_alive());
}

// TC-3.1b
#[tokio::test]
async fn load_resumes_and_brings_the_history() {
    let stage = Stage::new();
    let id = SessionId::from("11111111-2222-4333-8444-555555555555");
    let slug: String = stage
        .project
        .root()
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let line = r#"{"type":"user","uuid":"u1","timestamp":"2026-11-15T12:00:00.000Z","message":{"content":"earlier"}}"#;
    stage.home.write(&format!(".claude/projects/{slug}/{id}.jsonl"), line);
    let mut session =
        provider(&stage, &[]).load_session(&id, stage.load()).await.expect("the session is there");
    assert_eq!(session.session_id, id);
    let history: Vec<_> =
        std::mem::replace(&mut session.history, chartroom_sessions::History::empty()).items.collect().await;
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].item_id.as_str(), "u1");
    send(&session, "t1", "self").await;
    let lines = until(&mut session, "ended").await;
    assert_eq!((lines.len(), &*lines[0], &*lines[2]), (3, "started t1 fake-model", "ended Completed"));
    assert!(lines[1].contains(&format!(" --resume {id}")), "{lines:?}");
}

#[tokio::test]
async fn loading_an_unknown_session_is_said_before_a_process_starts() {
    let stage = Stage::new();
    let error = provider(&stage, &[("FAKE_CLAUDE", "mute")])
        .load_session(&SessionId::from("99999999-2222-4333-8444-555555555555"), stage.load())
        .await
        .err()
        .expect("there is no such session");
    assert_eq!(error.code, ErrorCode::SessionNotFound);
}

// TC-3.1c
#[tokio::test]
async fn a_cli_that_exits_at_once_fails_the_creation_with_its_last_words() {
    let stage = Stage::new();
    let error = provider(&stage, &[("FAKE_CLAUDE", "exit")]).create_session(stage.create()).await.err();
    let error = error.expect("the fake does not start");
    assert_eq!(error.code, ErrorCode::SessionCreateFailed);
    assert_eq!(error.message, "claude exited with status 1: fake claude cannot start today");
}

// TC-3.1c
#[tokio::test]
async fn a_missing_folder_and_a_missing_cli_are_told_apart() {
    let stage = Stage::new();
    let mut options = stage.create();
    options.project_dir = stage.project.path("gone");
    let error = provider(&stage, &[]).create_session(options).await.err().expect("there is no folder");
    assert_eq!(error.code, ErrorCode::InvalidPath);

    let command = stage.command(stage.project.path("no-such-claude"), &[]);
    let config = ClaudeConfig { command, ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    let error = provider.create_session(stage.create()).await.err().expect("there is no program");
    assert_eq!(error.code, ErrorCode::AgentNotInstalled);
    assert!(error.message.contains("install it with `npm install -g fake-agent`"), "{}", error.message);
}

#[tokio::test]
async fn a_cli_that_never_answers_is_ended_and_the_creation_fails() {
    let stage = Stage::new();
    let command = stage.command(fakes::claude(), &[("FAKE_CLAUDE", "mute")]);
    let short = Duration::from_millis(300);
    let timeouts = Timeouts { ready: short, answer: short, end: short };
    let config = ClaudeConfig { command, timeouts, warm_processes: Some(0), ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    let error = provider.create_session(stage.create()).await.err().expect("the fake never answers");
    assert_eq!(error.code, ErrorCode::SessionCreateFailed);
    assert!(error.message.contains("did not answer"), "{}", error.message);
}

#[tokio::test]
async fn an_agent_never_starts_in_an_untrusted_folder() {
    let stage = Stage::untrusted();
    let error = provider(&stage, &[]).create_session(stage.create()).await.err().expect("nobody trusts it");
    assert_eq!(error.code, ErrorCode::WorkspaceUntrusted);
}

// TC-3.2a
#[tokio::test]
async fn a_message_is_delivered_and_send_returns_before_the_turn_ends() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    // The fake keeps this turn open until it is interrupted: send has returned all the same.
    send(&session, "t1", "slow").await;
    assert_eq!(until(&mut session, "started").await, ["started t1 fake-model"]);
    session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes an interrupt");
    until(&mut session, "ended").await;
}

// TC-3.2b
#[tokio::test]
async fn messages_follow_one_another_on_one_process() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    // The process says its number, and is asked for it twice.
    let mut said = Vec::new();
    for turn in ["t1", "t2"] {
        send(&session, turn, "self").await;
        let lines = until(&mut session, "ended").await;
        let started = format!("started {turn} fake-model");
        assert_eq!((lines.len(), &lines[0], &*lines[2]), (3, &started, "ended Completed"));
        said.push(lines[1].clone());
    }
    assert!(said[0].starts_with("message \"process "), "{said:?}");
    assert_eq!(said[0], said[1]);
}

// TC-3.2c
#[tokio::test]
async fn a_dead_process_takes_no_message() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    session.handle.kill().await;
    until(&mut session, "closed").await;
    let error =
        session.handle.send_message(&TurnId::from("t1"), message("hello")).await.expect_err("it is dead");
    assert_eq!(error.code, ErrorCode::ProcessCrash);
}

// TC-3.4a
#[tokio::test]
async fn cancel_interrupts_the_turn_and_the_session_goes_on() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "slow").await;
    until(&mut session, "started").await;
    session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes an interrupt");
    assert_eq!(until(&mut session, "ended").await, ["stopped \"before \"", "ended Cancelled"]);
    send(&session, "t2", "hello").await;
    assert_eq!(until(&mut session, "ended").await.last().map(String::as_str), Some("ended Completed"));
    // Without a turn there is nothing to interrupt.
    session.handle.cancel_turn(&"t2".into()).await.expect("an idle cancel is fine");
}

#[tokio::test]
async fn an_interrupt_that_comes_before_claude_has_begun_with_the_turn_is_repeated() {
    let stage = Stage::new();
    for mode in ["", "old"] {
        let provider = provider(&stage, &[("FAKE_CLAUDE", mode)]);
        let mut session = provider.create_session(stage.create()).await.expect("the fake starts");
        send(&session, "t1", "late").await;
        session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes an interrupt");
        assert_eq!(
            until(&mut session, "ended").await,
            ["started t1 fake-model", "stopped \"before \"", "ended Cancelled"],
            "{mode}"
        );
    }
}

// TC-3.4b, TC-3.4c, NFR-RELIABILITY-2
#[tokio::test]
async fn kill_ends_the_whole_tree_and_is_alive_follows() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    assert!(session.handle.is_alive());
    send(&session, "t1", "orphan").await;
    let pid = orphan(&mut session).await;
    assert!(lives(pid));
    session.handle.kill().await;
    assert!(!session.handle.is_alive());
    assert!(!lives(pid), "the agent's own child outlived it");
    let rest = until(&mut session, "closed").await;
    assert_eq!(rest[rest.len() - 3..], ["ended Cancelled", "exited the session was ended", "closed"]);
}

#[tokio::test]
async fn dropping_the_handle_ends_the_whole_tree() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "orphan").await;
    let pid = orphan(&mut session).await;
    let ProviderSession { handle, outputs, .. } = session;
    drop(handle);
    let mut outputs = outputs;
    while outputs.recv().await.is_some() {}
    assert!(!lives(pid), "the agent's own child outlived it");
}

/// Waits for the first words of an "orphan" turn, which name the process.
async fn orphan(session: &mut ProviderSession) -> u32 {
    use chartroom_protocol::upsert::UpsertBody;
    use chartroom_sessions::ProviderOutput;
    loop {
        let output = session.outputs.recv().await.expect("the turn goes on");
        if let ProviderOutput::Upsert(upsert) = output
            && let UpsertBody::Message { content, .. } = upsert.body
        {
            let pid = content.trim().strip_prefix("pid ").expect("the fake names the process");
            return pid.parse().expect("a process id");
        }
    }
}

#[tokio::test]
async fn a_crash_in_mid_turn_fails_the_turn_and_loses_no_text() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "crash").await;
    let message = "claude exited with status 3: fake claude crashed on purpose";
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
    assert!(!session.handle.is_alive());
}

#[tokio::test]
async fn garbage_and_a_line_of_50_mb_do_not_disturb_the_turn() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "garbage").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 fake-model", "message \"still here\"", "ended Completed"]
    );
    send(&session, "t2", "longline").await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[0], "started t2 fake-model");
    assert_eq!(lines[1], "note claude printed a line of 52 MB, which was left out");
    assert_eq!(lines[2..], ["message \"after the long line\"", "ended Completed"]);
}

#[tokio::test]
async fn a_message_of_5_mb_arrives_whole() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    let long = "word ".repeat(1_000_000);
    send(&session, "t1", &long).await;
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1].len(), format!("message {long:?}").len());
}

#[tokio::test]
async fn an_interrupt_that_is_not_answered_says_so() {
    let stage = Stage::new();
    let command = stage.command(fakes::claude(), &[]);
    let timeouts =
        Timeouts { answer: Duration::from_millis(200), end: Duration::from_millis(200), ..timeouts() };
    let config = ClaudeConfig { command, timeouts, warm_processes: Some(0), ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    let session = provider.create_session(stage.create()).await.expect("the fake starts");
    send(&session, "t1", "silent").await;
    let error = session.handle.cancel_turn(&"t1".into()).await.expect_err("the fake is silent");
    assert_eq!(error.code, ErrorCode::InterruptFailed);
    // And it can still be ended.
    session.handle.kill().await;
    assert!(!session.handle.is_alive());
}

#[tokio::test]
async fn a_permission_is_asked_and_answered_once() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "permission").await;
    assert_eq!(until(&mut session, "asks").await, ["started t1 fake-model", "call Bash", "asks ask-1 Bash"]);
    session.handle.answer(answer(Decision::Allow, None)).await.expect("it waits");
    // The second tab comes too late.
    let late = session.handle.answer(answer(Decision::Deny, None)).await.expect_err("it was answered");
    assert_eq!(late.code, ErrorCode::QuestionNotFound);
    assert_eq!(
        until(&mut session, "ended").await,
        ["closed ask-1", "result Bash \"done\"", "message \"allowed\"", "ended Completed"],
    );
    send(&session, "t2", "permission").await;
    until(&mut session, "asks").await;
    session.handle.answer(answer(Decision::Deny, Some("use b"))).await.expect("it waits");
    assert_eq!(
        until(&mut session, "ended").await,
        [
            "closed ask-1",
            "result Bash \"The user refused this: use b\" failed",
            "message \"denied\"",
            "ended Completed"
        ],
    );
}

#[tokio::test]
async fn a_question_is_answered_with_the_chosen_labels() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "question").await;
    until(&mut session, "asks ask-1 Which db?").await;
    let mut params = answer(Decision::Allow, None);
    params.answers = Some(BTreeMap::from([("Which db?".to_owned(), "PG".to_owned())]));
    session.handle.answer(params).await.expect("it waits");
    let lines = until(&mut session, "ended").await;
    assert_eq!(lines[1], format!("result AskUserQuestion {:?}", r#"{"Which db?":"PG"}"#));
}

#[tokio::test]
async fn an_interrupt_withdraws_a_pending_question() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "withdrawn").await;
    until(&mut session, "asks").await;
    session.handle.cancel_turn(&"t1".into()).await.expect("the fake takes an interrupt");
    let lines = until(&mut session, "ended").await;
    assert!(lines.contains(&"closed ask-1".to_owned()), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("ended Cancelled"));
}

#[tokio::test]
async fn a_turn_of_the_agents_own_has_an_id_of_ours() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    send(&session, "t1", "agent").await;
    until(&mut session, "ended").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started own fake-model", "message \"nobody asked\"", "ended Completed"]
    );
}

#[tokio::test]
async fn model_and_mode_are_told_to_the_process() {
    let stage = Stage::new();
    let session = session(&stage).await;
    session.handle.set_model("other").await.expect("the fake takes a model");
    session.handle.set_mode("plan").await.expect("the fake takes a mode");
}

#[tokio::test]
async fn what_fills_the_context_is_asked_of_the_process() {
    let stage = Stage::new();
    let mut session = session(&stage).await;
    let used = |name: &str, tokens| ContextCategory { name: name.to_owned(), tokens };
    let told = Some(ContextUse {
        total_tokens: 2000,
        max_tokens: 200_000,
        reserved_tokens: 33_000,
        categories: vec![used("System prompt", 900), used("Messages", 1100)],
    });
    assert_eq!(session.handle.context_use().await.expect("the fake tells"), told);
    // In the middle of a turn too.
    send(&session, "t1", "slow").await;
    until(&mut session, "started").await;
    assert_eq!(session.handle.context_use().await.expect("the fake tells"), told);
}

#[tokio::test]
async fn a_process_that_does_not_tell_what_fills_its_context_is_not_waited_for_for_ever() {
    let stage = Stage::new();
    let command = stage.command(fakes::claude(), &[]);
    let short = Duration::from_millis(200);
    let timeouts = Timeouts { answer: short, end: short, ..timeouts() };
    let config = ClaudeConfig { command, timeouts, warm_processes: Some(0), ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    let session = provider.create_session(stage.create()).await.expect("the fake starts");
    send(&session, "t1", "silent").await;
    let error = session.handle.context_use().await.expect_err("the fake never answers");
    assert_eq!(error.code, ErrorCode::ProtocolError);
    assert_eq!(error.message, "claude did not answer get_context_usage within 0.2 s");
    session.handle.kill().await;
    let error = session.handle.context_use().await.expect_err("the fake is gone");
    assert_eq!(error.code, ErrorCode::ProcessCrash);
}

#[tokio::test]
async fn a_warm_process_is_handed_out_once() {
    let stage = Stage::new();
    let command = stage.command(fakes::claude(), &[]);
    let config =
        ClaudeConfig { command, timeouts: timeouts(), warm_processes: Some(1), ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    provider.project_opened(stage.project.root());
    let mut ids = Vec::new();
    for turn in ["t1", "t2", "t3"] {
        let mut session = provider.create_session(stage.create()).await.expect("the fake starts");
        send(&session, turn, "hello").await;
        until(&mut session, "ended").await;
        ids.push(session.session_id.clone());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3, "a process was used for two conversations");
}

#[tokio::test]
async fn a_warm_process_that_nobody_takes_is_let_go() {
    let stage = Stage::new();
    let command = stage.command(fakes::claude(), &[]);
    let config = ClaudeConfig {
        command,
        timeouts: timeouts(),
        warm_processes: Some(1),
        warm_idle: Some(Duration::from_millis(500)),
        ..ClaudeConfig::default()
    };
    let provider = ClaudeProvider::new(stage.gate.clone(), config);
    provider.project_opened(stage.project.root());
    // The pool tells nobody what it does.
    for n_wanted in [1, 0] {
        let came = async {
            while pids_of(&stage, "fake-claude").len() != n_wanted {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let limit = Duration::from_secs(60);
        tokio::time::timeout(limit, came).await.unwrap_or_else(|_| panic!("{n_wanted} processes"));
    }
    let session = provider.create_session(stage.create()).await.expect("the fake starts");
    assert!(session.handle.is_alive());
}

#[tokio::test]
async fn the_agent_is_shown_as_found_or_missing() {
    let stage = Stage::new();
    let found = provider(&stage, &[]).agent();
    assert_eq!(found.path.as_deref(), fakes::claude().to_str());
    let nowhere = Project::new("");
    let command = stage.command(nowhere.path("claude"), &[]);
    let missing =
        ClaudeProvider::new(stage.gate.clone(), ClaudeConfig { command, ..ClaudeConfig::default() }).agent();
    assert_eq!(missing.path, None);
    assert_eq!(missing.install, "npm install -g fake-agent");
    assert!(stage.data_dir().is_dir());
}
