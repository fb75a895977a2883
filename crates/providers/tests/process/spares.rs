//! ACP agents that are started ahead of a session, with `fake-acp`.

use std::path::Path;
use std::time::Duration;

use chartroom_protocol::ids::SessionId;
use chartroom_providers::acp::{AcpConfig, AcpProvider};
use chartroom_sessions::{Provider, ProviderSession};
use chartroom_testkit::fakes;

use crate::stage::{Stage, lives, send, timeouts, until};

/// Codex' place is the home, the fake its program.
fn provider(stage: &Stage, n_warm: usize) -> AcpProvider {
    let home = stage.home.root();
    std::fs::create_dir_all(home.join(".codex/sessions")).expect("a home takes a folder");
    let log = home.join("log");
    let log = log.to_str().expect("a path of letters");
    let command =
        stage.command(fakes::acp(), &[("FAKE_ACP_LOG", log), ("CODEX_HOME", codex_home(home).as_str())]);
    let config =
        AcpConfig { command, timeouts: timeouts(), warm_processes: Some(n_warm), ..AcpConfig::codex() };
    AcpProvider::new(stage.gate.clone(), config)
}

fn codex_home(home: &Path) -> String {
    home.join(".codex").display().to_string()
}

/// What the agents were asked, with numbers for their processes in the order of their first words.
fn log(stage: &Stage) -> Vec<String> {
    let pids = pids(stage);
    let number =
        |pid: &str| pids.iter().position(|known| known.to_string() == pid).expect("it is in the log");
    let text = std::fs::read_to_string(stage.home.root().join("log")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(method, pid)| format!("{method} {}", number(pid))).collect()
}

fn pids(stage: &Stage) -> Vec<u32> {
    let text = std::fs::read_to_string(stage.home.root().join("log")).unwrap_or_default();
    let mut pids: Vec<u32> = Vec::new();
    for pid in text.lines().filter_map(|line| line.split_once(' ')?.1.parse().ok()) {
        if !pids.contains(&pid) {
            pids.push(pid);
        }
    }
    pids
}

async fn wait(what: &str, is_so: impl Fn() -> bool) {
    let limit = tokio::time::Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(tokio::time::Instant::now() < limit, "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn load(stage: &Stage, provider: &AcpProvider) -> ProviderSession {
    let loaded = provider.load_session(&SessionId::from("fake-session-1"), stage.load()).await;
    loaded.expect("the session is there")
}

#[tokio::test]
async fn a_session_gets_the_process_that_was_started_when_its_project_was_opened() {
    let stage = Stage::new();
    let provider = provider(&stage, 1);
    provider.project_opened(stage.project.root());
    let mut session = load(&stage, &provider).await;
    assert_eq!(log(&stage), ["initialize 0", "session/load 0"]);
    send(&session, "t1", "hello").await;
    assert_eq!(
        until(&mut session, "ended").await,
        ["started t1 fake-model", "message \"hello\"", "ended Completed"]
    );
    // The next one, at once, is not given the same.
    let other = provider.create_session(stage.create()).await.expect("the fake starts");
    assert!(session.handle.is_alive() && other.handle.is_alive());
    assert_eq!(log(&stage)[2..], ["session/prompt 0", "initialize 1", "session/new 1"]);
}

#[tokio::test]
async fn another_login_or_other_settings_are_not_missed() {
    for file in ["auth.json", "config.toml"] {
        let stage = Stage::new();
        let provider = provider(&stage, 1);
        provider.project_opened(stage.project.root());
        wait("one is started", || !pids(&stage).is_empty()).await;
        std::fs::write(stage.home.root().join(".codex").join(file), "{}").expect("a home takes a file");
        let session = load(&stage, &provider).await;
        assert!(session.handle.is_alive());
        assert_eq!(log(&stage), ["initialize 0", "initialize 1", "session/load 1"], "{file}");
        let old = pids(&stage)[0];
        wait("the old one is ended", || !lives(old)).await;
    }
}

#[tokio::test]
async fn a_process_that_died_while_it_waited_is_replaced() {
    let stage = Stage::new();
    let provider = provider(&stage, 1);
    provider.project_opened(stage.project.root());
    wait("one is started", || !pids(&stage).is_empty()).await;
    let pid = i32::try_from(pids(&stage)[0]).ok().and_then(rustix::process::Pid::from_raw).expect("a pid");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
    let session = load(&stage, &provider).await;
    assert!(session.handle.is_alive());
    assert_eq!(log(&stage).last().map(String::as_str), Some("session/load 1"));
}

#[tokio::test]
async fn a_provider_that_goes_leaves_no_process_that_waits() {
    let stage = Stage::new();
    let provider = provider(&stage, 1);
    provider.project_opened(stage.project.root());
    wait("one is started", || !pids(&stage).is_empty()).await;
    let pid = pids(&stage)[0];
    assert!(lives(pid));
    drop(provider);
    wait("it is ended", || !lives(pid)).await;
}

#[tokio::test]
async fn nothing_is_started_ahead_for_who_never_used_codex_or_wants_none() {
    for (used, n_warm) in [(false, 2), (true, 0)] {
        let stage = Stage::new();
        let provider = provider(&stage, n_warm);
        if !used {
            std::fs::remove_dir(stage.home.root().join(".codex/sessions")).expect("it was made");
        }
        provider.project_opened(stage.project.root());
        let session = provider.create_session(stage.create()).await.expect("the fake starts");
        assert!(session.handle.is_alive());
        assert_eq!(log(&stage), ["initialize 0", "session/new 0"]);
    }
}

#[tokio::test]
async fn a_refusal_of_the_agent_is_told_and_not_asked_of_another() {
    let stage = Stage::new();
    let provider = provider(&stage, 1);
    provider.project_opened(stage.project.root());
    let loaded = provider.load_session(&SessionId::from("no-such"), stage.load()).await;
    let error = loaded.err().expect("there is none");
    assert_eq!(error.code, chartroom_protocol::error::ErrorCode::SessionNotFound);
    assert_eq!(log(&stage), ["initialize 0", "session/load 0"]);
}
