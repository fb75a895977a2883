//! The hostile repository's agent vectors: hooks, `.mcp.json`, `.codex`, planted programs.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::error::ErrorCode;
use chartroom_providers::acp::{AcpConfig, AcpProvider};
use chartroom_providers::claude::{ClaudeConfig, ClaudeProvider};
use chartroom_providers::launch::AgentCommand;
use chartroom_sessions::{CreateOptions, LoadOptions, Provider};
use chartroom_testkit::hostile::Hostile;
use chartroom_testkit::model_api::ModelApi;
use chartroom_testkit::{fakes, tools};
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};
use serde_json::Map;

use crate::stage::{send, until};

fn create(project_dir: &Path) -> CreateOptions {
    CreateOptions {
        project_dir: project_dir.to_path_buf(),
        model: None,
        mode: None,
        provider_options: Map::new(),
    }
}

#[tokio::test]
async fn no_agent_starts_untrusted_and_no_vector_fires_but_all_are_live_when_trusted() {
    let api = ModelApi::start().await;
    let hostile = Hostile::new();
    let home = tempfile::tempdir().expect("a temporary folder");
    let data = tempfile::tempdir().expect("a temporary folder");
    let trust = Arc::new(TrustStore::open(data.path()).expect("a new store opens"));
    let keeper = Keeper { program: fakes::keeper(), args: Vec::new() };
    let environment = BTreeMap::from([
        ("PATH".into(), hostile.careless_path().into()),
        ("HOME".into(), home.path().into()),
    ]);
    let gate = SpawnGate::with_environment(keeper, Arc::clone(&trust), data.path(), environment);
    let root = CanonicalRoot::open(hostile.root()).expect("the repository is there");

    // Found on a careless PATH, and by their real paths: neither starts.
    let url = api.anthropic_url();
    let mut claude = AgentCommand::claude();
    claude.env = [
        ("HOME", home.path().to_str().unwrap_or_default()),
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "sk-ant-dummy"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
    ]
    .map(|(name, value)| (name.into(), value.into()))
    .into();
    let installed = AgentCommand { program: Some(tools::claude()), ..claude.clone() };
    let codex =
        AgentCommand { program: Some(tools::codex_acp()), env: claude.env.clone(), ..AgentCommand::codex() };
    let config = |command| ClaudeConfig { command, warm_processes: Some(1), ..ClaudeConfig::default() };
    let providers: [Box<dyn Provider>; 3] = [
        Box::new(ClaudeProvider::new(gate.clone(), config(claude))),
        Box::new(ClaudeProvider::new(gate.clone(), config(installed.clone()))),
        Box::new(AcpProvider::new(gate.clone(), AcpConfig { command: codex, ..AcpConfig::codex() })),
    ];
    for provider in &providers {
        provider.project_opened(root.as_path());
        let error = provider.create_session(create(root.as_path())).await.err().expect("nobody trusts it");
        assert_eq!(error.code, ErrorCode::WorkspaceUntrusted);
        let load = LoadOptions {
            project_dir: root.as_path().to_path_buf(),
            model: None,
            mode: None,
            provider_options: Map::new(),
            unused: false,
        };
        let loaded = provider.load_session(&"11111111-2222-4333-8444-555555555555".into(), load).await;
        assert!(loaded.is_err());
        provider.discover(root.as_path()).await.expect("looking runs nothing");
        provider.agent();
    }
    assert_eq!(hostile.markers(), Default::default(), "an untrusted repository ran its code");

    // The same repository, trusted: its vectors are live, which proves the test.
    trust.trust(&root).expect("a folder can be trusted");
    let config = ClaudeConfig { command: installed, warm_processes: Some(0), ..ClaudeConfig::default() };
    let provider = ClaudeProvider::new(gate, config);
    let mut session = provider.create_session(create(root.as_path())).await.expect("claude starts");
    send(&session, "11111111-0000-4000-8000-000000000001", "[[say:hello]]").await;
    until(&mut session, "ended").await;
    session.handle.kill().await;
    let markers = hostile.markers();
    for vector in ["claude-session-start", "claude-user-prompt-submit"] {
        assert!(markers.contains(vector), "{vector} did not fire: {markers:?}");
    }
}
