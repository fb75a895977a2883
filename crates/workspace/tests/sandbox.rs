//! The gate's sandboxes: who gets which, what it keeps, and what happens where there is none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use chartroom_transport::{Keeper, SandboxSupport, SandboxTool};
use chartroom_workspace::gate::{NetworkSetting, SandboxMode, SandboxRules, SandboxSettings, SandboxState};
use chartroom_workspace::{CanonicalRoot, ChildKind, GateError, SpawnGate, SpawnRequest, TrustStore};
use tokio::io::AsyncReadExt;

/// Not below /tmp, which every sandbox may write.
struct Fixture {
    _folder: tempfile::TempDir,
    home: PathBuf,
    root: CanonicalRoot,
    gate: SpawnGate,
}

fn settings(rules: SandboxRules) -> SandboxSettings {
    let support = SandboxSupport::of_this_system();
    assert_eq!(support.landlock_refusal(), None, "these tests need landlock");
    SandboxSettings { rules, support, ..SandboxSettings::default() }
}

fn fixture(settings: SandboxSettings, variables: &[(&str, &str)]) -> Fixture {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = folder.path().canonicalize().unwrap();
    for (name, text) in [
        (".ssh/id_x", "PRIVATE"),
        (".bashrc", "old"),
        (".claude/login", "login"),
        ("other/notes", "NOTES"),
        ("data/token", "TOKEN"),
        ("project/a.txt", "code"),
    ] {
        fs::create_dir_all(home.join(name).parent().unwrap()).unwrap();
        fs::write(home.join(name), text).unwrap();
    }
    let root = CanonicalRoot::open(home.join("project")).unwrap();
    let trust = Arc::new(TrustStore::open(&home.join("data")).unwrap());
    trust.trust(&root).unwrap();
    let mut env: BTreeMap<OsString, OsString> =
        [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.clone().into())].into();
    env.extend(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let gate = SpawnGate::with_environment(keeper, trust, &home.join("data"), env).with_sandbox(settings);
    Fixture { _folder: folder, home, root, gate }
}

impl Fixture {
    fn request(&self, kind: ChildKind, script: &str) -> SpawnRequest {
        let mut request = SpawnRequest::new(&self.root, kind, "/bin/bash");
        request.label = "claude".to_owned();
        request.args = vec!["-c".into(), format!("exec 2>/dev/null; {script}").into()];
        request
    }

    async fn run(&self, kind: ChildKind, script: &str) -> String {
        let mut child = self.gate.spawn(self.request(kind, script)).unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        let exit = child.wait().await;
        assert!(exit.is_success(), "{exit} {out} {}", child.stderr_tail());
        out
    }
}

/// Tells which of the things that a repository would like to do came off.
const ATTEMPTS: &str = "grep -q PRIVATE ~/.ssh/id_x && echo key; grep -q TOKEN ~/data/token && echo token; \
    grep -q NOTES ~/other/notes && echo notes; (echo x > ~/other/notes) && echo other; \
    (echo x > ~/.bashrc) && echo bashrc; (echo x > ~/.cache/x) && echo cache; (echo x > ~/.claude/x) && echo own; \
    (echo x > a.txt) && echo project; (echo x > /tmp/chartroom-$$ && rm /tmp/chartroom-$$) && echo temp; true";

#[tokio::test]
async fn each_mode_keeps_an_agent_from_what_it_says() {
    for (mode, expected) in [
        (SandboxMode::Off, "key token notes other bashrc cache own project temp"),
        (SandboxMode::Workspace, "notes cache own project temp"),
        (SandboxMode::Strict, "own project temp"),
    ] {
        let mut tools = vec![SandboxTool::Landlock, SandboxTool::Bubblewrap];
        tools.truncate(if mode == SandboxMode::Off { 1 } else { 2 });
        for tool in tools {
            let rules = SandboxRules { agents: mode, tool: Some(tool), ..SandboxRules::default() };
            let fixture = fixture(settings(rules), &[]);
            fs::create_dir(fixture.home.join(".cache")).unwrap();
            let out = fixture.run(ChildKind::Agent, ATTEMPTS).await;
            assert_eq!(out.split_whitespace().collect::<Vec<_>>().join(" "), expected, "{mode:?} {tool:?}");
        }
    }
}

#[tokio::test]
async fn what_the_user_allows_is_allowed_and_our_own_data_never() {
    let fixture = fixture(SandboxSettings::default(), &[]);
    let home = &fixture.home;
    let rules = SandboxRules {
        agents: SandboxMode::Strict,
        allow_read: vec![home.join(".ssh"), home.join("data")],
        allow_write: vec![home.join("other")],
        ..SandboxRules::default()
    };
    let gate = SpawnGate::with_environment(
        Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] },
        fixture.gate.trust().clone(),
        &home.join("data"),
        [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.clone().into())].into(),
    );
    let fixture = Fixture { gate: gate.with_sandbox(settings(rules)), ..fixture };
    let out = fixture.run(ChildKind::Agent, ATTEMPTS).await;
    assert_eq!(
        out.split_whitespace().collect::<Vec<_>>(),
        ["key", "notes", "other", "own", "project", "temp"]
    );
}

#[tokio::test]
async fn the_network_is_what_the_user_says() {
    let listeners = [0, 0].map(|port| TcpListener::bind(("127.0.0.1", port)).unwrap());
    let [model, other] = [0, 1].map(|at| listeners[at].local_addr().unwrap().port());
    let script = format!(
        "for port in {model} {other}; do (exec 9<>/dev/tcp/127.0.0.1/$port) && echo $port; done; true"
    );
    let url = format!("http://127.0.0.1:{model}");
    for (mode, network, expected) in [
        (SandboxMode::Workspace, None, vec![model, other]),
        (SandboxMode::Workspace, Some(NetworkSetting::None), vec![]),
        (SandboxMode::Strict, None, vec![model]),
        (SandboxMode::Strict, Some(NetworkSetting::Ports(vec![other])), vec![other]),
        (SandboxMode::Strict, Some(NetworkSetting::All), vec![model, other]),
    ] {
        let rules = SandboxRules { agents: mode, network: network.clone(), ..SandboxRules::default() };
        let fixture = fixture(settings(rules), &[("ANTHROPIC_BASE_URL", &url)]);
        let out = fixture.run(ChildKind::Agent, &script).await;
        let reached: Vec<u16> = out.lines().map(|port| port.parse().unwrap()).collect();
        assert_eq!(reached, expected, "{mode:?} {network:?}");
    }
}

#[tokio::test]
async fn a_project_has_rules_of_its_own() {
    let strict = SandboxRules { agents: SandboxMode::Strict, ..SandboxRules::default() };
    let fixture = fixture(settings(SandboxRules::default()), &[]);
    let mut settings = settings(SandboxRules::default());
    settings.projects.insert(fixture.root.as_path().to_owned(), strict);
    let state = |root: &CanonicalRoot| {
        let trust = fixture.gate.trust().clone();
        let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
        SpawnGate::with_environment(keeper, trust, &fixture.home.join("data"), BTreeMap::new())
            .with_sandbox(settings.clone())
            .sandbox_state(root, ChildKind::Agent, "claude")
    };
    let in_force = SandboxState::InForce { mode: SandboxMode::Strict, tool: SandboxTool::Landlock };
    assert_eq!(state(&fixture.root), in_force);
    assert_eq!(state(&CanonicalRoot::open(fixture.home.join("other")).unwrap()), SandboxState::Off);
}

#[tokio::test]
async fn without_landlock_an_agent_is_not_started_and_a_language_server_by_default_runs_without() {
    let old = |landlock| SandboxSupport { landlock, ..SandboxSupport::default() };
    for support in [old(None), old(Some(2))] {
        let rules = SandboxRules { agents: SandboxMode::Workspace, ..SandboxRules::default() };
        let proven_servers = ["claude".to_owned()].into();
        let settings = SandboxSettings { rules, support, proven_servers, ..SandboxSettings::default() };
        let fixture = fixture(settings, &[]);
        let error = fixture.gate.spawn(fixture.request(ChildKind::Agent, "touch ran")).unwrap_err();
        assert!(matches!(&error, GateError::Sandbox { setting: "agents", .. }), "{error}");
        assert!(error.to_string().contains("landlock"), "{error}");
        let state = fixture.gate.sandbox_state(&fixture.root, ChildKind::LanguageServer, "claude");
        assert!(matches!(&state, SandboxState::OffBecause(reason) if reason.contains("landlock")), "{state}");
        assert_eq!(fixture.run(ChildKind::LanguageServer, "echo runs").await, "runs\n");
    }
    // Who asked for it by name is refused, a language server too.
    let rules = SandboxRules { language_servers: Some(SandboxMode::Workspace), ..SandboxRules::default() };
    let fixture = fixture(SandboxSettings { rules, ..SandboxSettings::default() }, &[]);
    let error = fixture.gate.spawn(fixture.request(ChildKind::LanguageServer, "touch ran")).unwrap_err();
    assert!(matches!(&error, GateError::Sandbox { setting: "languageServers", .. }), "{error}");
    assert!(!fixture.root.as_path().join("ran").exists());
}

#[tokio::test]
async fn a_language_server_is_confined_by_default_if_it_is_known_to_work_so() {
    let mut settings = settings(SandboxRules::default());
    settings.proven_servers = ["claude".to_owned()].into();
    let fixture = fixture(settings, &[]);
    let out = fixture.run(ChildKind::LanguageServer, ATTEMPTS).await;
    assert_eq!(out.split_whitespace().collect::<Vec<_>>(), ["notes", "cache", "project", "temp"]);
    let unknown = fixture.gate.sandbox_state(&fixture.root, ChildKind::LanguageServer, "my-server");
    assert_eq!(unknown, SandboxState::Off);
}
