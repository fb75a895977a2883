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
        ("TMPDIR".into(), home.path().into()),
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
        Box::new(AcpProvider::new(
            gate.clone(),
            AcpConfig { command: codex, warm_processes: Some(1), ..AcpConfig::codex() },
        )),
    ];
    // Where Codex was used before, it would be started ahead.
    std::fs::create_dir_all(home.path().join(".codex/sessions")).expect("a folder can be made");
    for provider in &providers {
        provider.project_opened(root.as_path());
        let error = provider.create_session(create(root.as_path())).await.err().expect("nobody trusts it");
        assert_eq!(error.code, ErrorCode::WorkspaceUntrusted);
        let load = LoadOptions {
            project_dir: root.as_path().to_path_buf(),
            model: None,
            mode: None,
            provider_options: Map::new(),
            may_be_unkept: false,
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
    let provider = ClaudeProvider::new(gate.clone(), config);
    let mut session = provider.create_session(create(root.as_path())).await.expect("claude starts");
    // A tool that needs no permission, so that its hook comes to its turn.
    let read = serde_json::json!({"file_path": root.as_path().join("index.ts")});
    send(&session, "11111111-0000-4000-8000-000000000001", &format!("[[tool:Read:{read}]]")).await;
    until(&mut session, "ended").await;
    session.handle.kill().await;
    // Every vector but the status line, which only the terminal shows.
    let fired: Vec<String> = hostile
        .markers()
        .into_iter()
        .filter(|marker| marker.starts_with("claude") || marker == "mcp-json")
        .collect();
    assert_eq!(
        fired,
        [
            "claude-api-key-helper",
            "claude-pre-tool-use",
            "claude-session-start",
            "claude-stop",
            "claude-user-prompt-submit",
            "mcp-json"
        ],
    );

    // Codex reads a project's `.codex` only where its own user config trusts the project too: our trust alone makes
    // nothing of it live. With Codex's own trust its server is started; its `notify` is not run by codex-acp.
    hostile.clear_markers();
    let codex_home = home.path().join(".codex");
    std::fs::create_dir_all(&codex_home).expect("a folder can be made");
    let model = format!(
        "model = \"gpt-5.4\"\nmodel_provider = \"mock\"\ncheck_for_update_on_startup = false\n\
         [model_providers.mock]\nname = \"mock\"\nbase_url = \"{}\"\nenv_key = \"MOCK_API_KEY\"\n\
         wire_api = \"responses\"\n[analytics]\nenabled = false\n[feedback]\nenabled = false\n",
        api.openai_url()
    );
    let codexs_own_trust = format!("{model}[projects.{:?}]\ntrust_level = \"trusted\"\n", root.as_path());
    for (config, live) in [(model, &[][..]), (codexs_own_trust, &["codex-mcp"][..])] {
        std::fs::write(codex_home.join("config.toml"), config).expect("a file can be written");
        let mut command = AgentCommand { program: Some(tools::codex_acp()), ..AgentCommand::codex() };
        command.env = [
            ("HOME", home.path().as_os_str()),
            ("CODEX_HOME", codex_home.as_os_str()),
            ("MOCK_API_KEY", std::ffi::OsStr::new("dummy")),
        ]
        .map(|(name, value)| (name.into(), value.into()))
        .into();
        let provider = AcpProvider::new(gate.clone(), AcpConfig { command, ..AcpConfig::codex() });
        let mut session = provider.create_session(create(root.as_path())).await.expect("codex starts");
        send(&session, "11111111-0000-4000-8000-000000000002", "[[say:hello]]").await;
        until(&mut session, "ended").await;
        session.handle.kill().await;
        let fired: Vec<String> =
            hostile.markers().into_iter().filter(|marker| marker.starts_with("codex-")).collect();
        assert_eq!(fired, live);
    }
}
