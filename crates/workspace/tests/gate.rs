//! The spawn gate: what a child is given, what it is refused, and when it is ended.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::{ChildSpec, Exit, Keeper, process, spawn};
use chartroom_workspace::gate::{SweepReport, child_above, sweep};
use chartroom_workspace::{
    CanonicalRoot, ChildKind, GateError, ProgramQuery, ProgramSource, SpawnGate, SpawnRequest, TrustStore,
};
use rustix::process::{Pid, Signal};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

const LIMIT: Duration = Duration::from_secs(60);

struct Fixture {
    folder: tempfile::TempDir,
    root: CanonicalRoot,
    gate: SpawnGate,
}

fn keeper() -> Keeper {
    Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] }
}

fn fixture(env: &[(&str, &str)]) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("project/sub")).unwrap();
    let root = CanonicalRoot::open(folder.path().join("project")).unwrap();
    let data = folder.path().join("data");
    let trust = Arc::new(TrustStore::open(&data).unwrap());
    let path = format!(".::bin:{root}/bin:{}:/usr/bin:/bin", folder.path().join("tools").display());
    let mut parent: BTreeMap<OsString, OsString> =
        env.iter().map(|(name, value)| (name.into(), value.into())).collect();
    parent.entry("PATH".into()).or_insert(path.into());
    let gate = SpawnGate::with_environment(keeper(), trust, &data, parent);
    Fixture { folder, root, gate }
}

impl Fixture {
    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn trusted(self) -> Self {
        self.gate.trust().trust(&self.root).unwrap();
        self
    }

    fn program(&self, path: &str) -> PathBuf {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn shell(&self, kind: ChildKind, script: &str) -> SpawnRequest {
        let mut request = SpawnRequest::new(&self.root, kind, "/bin/sh");
        request.args = vec!["-c".into(), script.into()];
        request
    }

    async fn output(&self, request: SpawnRequest) -> String {
        let mut child = self.gate.spawn(request).unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        child.wait().await;
        out
    }

    /// What a child of a kind finds in its environment.
    async fn env_of(&self, request: SpawnRequest) -> BTreeMap<String, String> {
        let set_by_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
        self.output(request)
            .await
            .lines()
            .filter_map(|line| line.split_once('='))
            .filter(|(name, _)| !set_by_the_shell.contains(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }
}

#[tokio::test]
async fn what_other_processes_of_ours_keep_is_known_and_what_is_gone_is_not() {
    let fixture = fixture(&[]).trusted();
    let process = |pid: u32| serde_json::json!({ "pid": pid, "startTime": process::start_time(pid) });
    let (own, parent) = (std::process::id(), std::os::unix::process::parent_id());
    let gone = serde_json::json!({ "pid": parent, "startTime": 1 });
    let write = |name: &str, label: &str, keeper: serde_json::Value, owner: serde_json::Value| {
        let record = serde_json::json!({ "label": label, "keeper": keeper, "owner": owner });
        fs::create_dir_all(fixture.data().join("run")).unwrap();
        fs::write(fixture.data().join("run").join(name), record.to_string()).unwrap();
    };
    write("1.json", "gopls", process(own), process(parent));
    write("2.json", "ours", process(own), process(own));
    write("3.json", "left", process(own), gone);
    fs::write(fixture.data().join("run/4.json"), "no record").unwrap();
    assert_eq!(fixture.gate.children_of_others(), [("gopls".to_owned(), own)]);
}

/// An installation is for no workspace: trusted or not, none is a place for it.
#[tokio::test]
async fn an_installer_runs_in_the_folder_of_installed_servers_and_nowhere_else() {
    let fixture =
        fixture(&[("NPM_CONFIG_REGISTRY", "x"), ("CHARTROOM_TOKEN", "token"), ("SECRET", "s")]).trusted();
    let request = fixture.shell(ChildKind::Installer, "env");
    assert!(matches!(fixture.gate.spawn(request), Err(GateError::Untrusted { .. })));
    let folder = fixture.data().join("language-servers/x");
    fs::create_dir_all(&folder).unwrap();
    let own = CanonicalRoot::open(fixture.data().join("language-servers")).unwrap();
    let in_own = |cwd: &Path| SpawnRequest {
        args: vec!["-c".into(), "env".into()],
        cwd: cwd.to_owned(),
        ..SpawnRequest::new(&own, ChildKind::Installer, "/bin/sh")
    };
    let outside = fixture.root.as_path().to_owned();
    assert!(matches!(fixture.gate.spawn(in_own(&outside)), Err(GateError::Untrusted { .. })));
    let env = fixture.env_of(in_own(&own.as_path().join("x"))).await;
    assert_eq!(env.get("NPM_CONFIG_REGISTRY").map(String::as_str), Some("x"));
    assert!(!env.contains_key("CHARTROOM_TOKEN") && !env.contains_key("SECRET"), "{env:?}");
    // What is installed there is still none of a language server's business to start in.
    let request = SpawnRequest { kind: ChildKind::LanguageServer, ..in_own(own.as_path()) };
    assert!(matches!(fixture.gate.spawn(request), Err(GateError::Untrusted { .. })));
}

#[tokio::test]
async fn an_untrusted_agent_is_refused_with_the_command_that_mends_it() {
    let fixture = fixture(&[]);
    let error = fixture.gate.spawn(fixture.shell(ChildKind::Agent, "true")).unwrap_err();
    let mend = format!("chartroom trust {}", fixture.root);
    assert_eq!(error.mending_command(), Some(mend.clone()));
    assert_eq!(
        error.to_string(),
        format!("{} is not trusted: sh runs a workspace's hooks; to trust it, run `{mend}`", fixture.root)
    );
    fixture.gate.trust().trust(&fixture.root).unwrap();
    assert_eq!(
        fixture.gate.spawn(fixture.shell(ChildKind::Agent, "true")).unwrap().wait().await,
        Exit::Code(0)
    );
}

#[test]
fn the_command_that_mends_is_fit_for_a_shell() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it's a $(folder)");
    fs::create_dir(&path).unwrap();
    let root = CanonicalRoot::open(&path).unwrap();
    let error = GateError::Untrusted { root: root.clone(), what: String::new() };
    let expected = format!("chartroom trust '{}'", root.to_string().replace('\'', r"'\''"));
    assert_eq!(error.mending_command(), Some(expected));
}

#[tokio::test]
async fn an_agent_gets_the_environment_of_a_terminal_without_our_token_and_what_the_config_sets_wins() {
    let fixture = fixture(&[
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/me"),
        ("GEMINI_API_KEY", "gemini"),
        ("AZURE_OPENAI_ENDPOINT", "https://azure"),
        ("AWS_SECRET_ACCESS_KEY", "aws"),
        ("MY_COMPANY_LLM_KEY", "mine"),
        ("NODE_OPTIONS", "--max-old-space-size=4096"),
        ("CHARTROOM_HOME", "/data"),
        ("CHARTROOM_TOKEN", "token"),
        // What an agent that started us has set for its own children.
        ("CLAUDECODE", "1"),
        ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ])
    .trusted();
    let mut request = fixture.shell(ChildKind::Agent, "env");
    request.env = [
        ("MY_COMPANY_LLM_KEY".into(), "of the config".into()),
        ("CLAUDE_CODE_ENTRYPOINT".into(), "of the config".into()),
        ("CHARTROOM_TOKEN".into(), "token".into()),
    ]
    .into();
    let expected = [
        ("AWS_SECRET_ACCESS_KEY", "aws"),
        ("AZURE_OPENAI_ENDPOINT", "https://azure"),
        ("CLAUDE_CODE_ENTRYPOINT", "of the config"),
        ("GEMINI_API_KEY", "gemini"),
        ("HOME", "/home/me"),
        ("MY_COMPANY_LLM_KEY", "of the config"),
        ("NODE_OPTIONS", "--max-old-space-size=4096"),
        ("PATH", "/usr/bin:/bin"),
    ];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    assert_eq!(fixture.env_of(request).await, expected.into());
}

#[tokio::test]
async fn an_agent_s_working_folder_variable_is_its_own() {
    let fixture =
        fixture(&[("PWD", "/elsewhere"), ("OLDPWD", "/before"), ("_", "/usr/bin/chartroom")]).trusted();
    let mut request = SpawnRequest::new(&fixture.root, ChildKind::Agent, "/usr/bin/env");
    request.label = "env".into();
    let out = fixture.output(request).await;
    let names: Vec<&str> =
        out.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    assert_eq!(names, ["PATH"], "{out}");
}

#[tokio::test]
async fn each_other_kind_of_child_gets_its_own_part_of_the_environment_and_never_the_token() {
    let fixture = fixture(&[
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/home/me"),
        ("LC_TIME", "C"),
        ("ANTHROPIC_API_KEY", "key"),
        ("CLAUDE_CONFIG_DIR", "/c"),
        ("OPENAI_API_KEY", "key"),
        ("CODEX_HOME", "/x"),
        ("https_proxy", "http://p"),
        ("SSH_AUTH_SOCK", "/s"),
        ("CARGO_HOME", "/cargo"),
        ("GOFLAGS", "-mod=mod"),
        ("NODE_OPTIONS", "--require=/evil.js"),
        ("LD_PRELOAD", "/nonexistent.so"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("GIT_DIR", "/elsewhere"),
        // Names that begin as those of a language server's own settings do.
        ("CARGO_REGISTRY_TOKEN", "secret"),
        ("CARGO_REGISTRIES_MINE_TOKEN", "secret"),
        ("RUSTUP_TOKEN", "secret"),
        ("GOOGLE_API_KEY", "secret"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/secret"),
        ("CGO_SECRET", "secret"),
        ("PKG_CONFIG_SECRET", "secret"),
        ("XDG_SECRET", "secret"),
        ("MY_TOOL", "mine"),
        ("CHARTROOM_TOKEN", "token"),
    ])
    .trusted();
    let names = |kind| {
        let request = fixture.shell(kind, "env");
        let fixture = &fixture;
        async move { fixture.env_of(request).await.into_keys().collect::<Vec<_>>().join(" ") }
    };
    assert_eq!(names(ChildKind::LanguageServer).await, "CARGO_HOME GOFLAGS HOME LC_TIME PATH https_proxy");
    assert_eq!(names(ChildKind::Service).await, "CARGO_HOME GOFLAGS HOME LC_TIME PATH https_proxy");
    assert_eq!(names(ChildKind::Git).await, "HOME LC_TIME PATH");
    // The user's config may name more, and our own code may set some; the token is for nobody.
    let mut request = fixture.shell(ChildKind::LanguageServer, "env");
    request.pass_env = vec!["MY_TOOL".into(), "CHARTROOM_TOKEN".into()];
    request.env = [("EXTRA".into(), "1".into()), ("CHARTROOM_TOKEN".into(), "token".into())].into();
    let env = fixture.env_of(request).await;
    let names: Vec<&str> = env.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        ["CARGO_HOME", "EXTRA", "GOFLAGS", "HOME", "LC_TIME", "MY_TOOL", "PATH", "https_proxy"]
    );
}

#[tokio::test]
async fn the_path_of_a_child_has_no_empty_relative_or_foreign_entry() {
    let fixture = fixture(&[]).trusted();
    fs::create_dir_all(fixture.folder.path().join("tools")).unwrap();
    let tools = fixture.folder.path().join("tools").display().to_string();
    let path_of = |kind| {
        let request = fixture.shell(kind, "env");
        let fixture = &fixture;
        async move { fixture.env_of(request).await.remove("PATH").unwrap() }
    };
    assert_eq!(path_of(ChildKind::LanguageServer).await, format!("{tools}:/usr/bin:/bin"));
    assert_eq!(path_of(ChildKind::Agent).await, format!("{}/bin:{tools}:/usr/bin:/bin", fixture.root));
    // Once the folder of an entry is a workspace that the gate has heard of, it is dropped, link or not.
    let other = CanonicalRoot::open(&tools).unwrap();
    fixture.gate.add_root(&other);
    assert_eq!(path_of(ChildKind::Agent).await, format!("{}/bin:/usr/bin:/bin", fixture.root));
}

#[tokio::test]
async fn a_program_comes_from_the_config_then_the_project_then_path() {
    let fixture = fixture(&[]).trusted();
    let on_path = fixture.program("tools/server");
    let query = ProgramQuery::of_project("server");
    let resolve = |query: &ProgramQuery| {
        let found = fixture.gate.resolve_program(&fixture.root, query).unwrap();
        (found.path, found.source)
    };
    assert_eq!(resolve(&query), (on_path.clone(), ProgramSource::Path));
    let in_venv = fixture.program("project/.venv/bin/server");
    assert_eq!(resolve(&query), (in_venv, ProgramSource::Project));
    let in_node = fixture.program("project/node_modules/.bin/server");
    assert_eq!(resolve(&query), (in_node.clone(), ProgramSource::Project));
    let nearer = fixture.program("project/sub/node_modules/.bin/server");
    let near = ProgramQuery { near: Some(fixture.root.as_path().join("sub")), ..query.clone() };
    assert_eq!(resolve(&near), (nearer, ProgramSource::Project));
    let configured = fixture.program("mine/server");
    assert_eq!(
        resolve(&query.clone().configured(Some(configured.clone()))),
        (configured, ProgramSource::Config)
    );
    assert_eq!(
        resolve(&query.clone().configured(Some("server".into()))),
        (on_path.clone(), ProgramSource::Config)
    );
    // An agent does not come from the project.
    assert_eq!(resolve(&ProgramQuery::on_path("server")), (on_path.clone(), ProgramSource::Path));
    // Nothing comes from the project once trust is gone.
    fixture.gate.trust().revoke(fixture.root.as_path()).unwrap();
    assert_eq!(resolve(&query), (on_path, ProgramSource::Path));
    let error = fixture.gate.resolve_program(&fixture.root, &query.configured(Some(in_node)));
    assert!(matches!(error, Err(GateError::Untrusted { .. })), "{error:?}");
}

#[tokio::test]
async fn what_cannot_be_executed_is_not_found() {
    let fixture = fixture(&[]).trusted();
    let program = fixture.program("tools/plain");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o644)).unwrap();
    fs::create_dir_all(fixture.folder.path().join("tools/folder")).unwrap();
    symlink("nowhere", fixture.folder.path().join("tools/dangling")).unwrap();
    for name in ["plain", "folder", "dangling", "absent", "../tools/plain", ""] {
        let found = fixture.gate.resolve_program(&fixture.root, &ProgramQuery::on_path(name));
        assert!(matches!(found, Err(GateError::NotFound { .. })), "{name}: {found:?}");
    }
    let configured = |path: &Path| ProgramQuery::default().configured(Some(path.into()));
    let found = fixture.gate.resolve_program(&fixture.root, &configured(&program));
    assert!(matches!(found, Err(GateError::NotExecutable { .. })), "{found:?}");
    for relative in ["./server", "bin/server", "../server"] {
        let found = fixture.gate.resolve_program(&fixture.root, &configured(Path::new(relative)));
        assert!(matches!(found, Err(GateError::RelativeProgram { .. })), "{relative}: {found:?}");
        let spawned = fixture.gate.spawn(SpawnRequest::new(&fixture.root, ChildKind::Agent, relative));
        assert!(matches!(spawned, Err(GateError::RelativeProgram { .. })), "{relative}");
    }
}

/// Revokes by `revoke`, and finds a stubborn child and its daemon gone. The limit is the product's: 5 s, but a
/// loaded machine is forgiven.
async fn check_revocation_ends_children(revoke: impl FnOnce(&Fixture)) {
    let fixture = fixture(&[]).trusted();
    let script = "trap '' TERM; setsid sh -c 'echo $$; exec sleep 1000' & echo $$; wait; sleep 1000";
    let mut child = fixture.gate.spawn(fixture.shell(ChildKind::Agent, script)).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut pids = Vec::new();
    while pids.len() < 2 {
        pids.push(lines.next_line().await.unwrap().unwrap().parse::<u32>().unwrap());
    }
    revoke(&fixture);
    let exit = tokio::time::timeout(LIMIT, child.wait()).await.expect("the child is ended");
    assert_eq!(exit, Exit::Signal(9));
    assert!(pids.iter().all(|pid| process::start_time(*pid).is_none()));
}

#[tokio::test]
async fn revoking_trust_ends_the_workspace_s_children() {
    check_revocation_ends_children(|fixture| {
        fixture.gate.trust().revoke(fixture.root.as_path()).unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_revocation_by_another_process_ends_them_too() {
    check_revocation_ends_children(|fixture| {
        TrustStore::open(&fixture.data()).unwrap().revoke(fixture.root.as_path()).unwrap();
    })
    .await;
}

#[tokio::test]
async fn replacing_the_folder_ends_them_too() {
    check_revocation_ends_children(|fixture| {
        fs::rename(fixture.root.as_path(), fixture.folder.path().join("aside")).unwrap();
        fs::create_dir(fixture.root.as_path()).unwrap();
    })
    .await;
}

#[tokio::test]
async fn the_children_of_another_workspace_and_a_service_without_trust_live_on() {
    let fixture = fixture(&[]).trusted();
    fs::create_dir(fixture.folder.path().join("other")).unwrap();
    let other = CanonicalRoot::open(fixture.folder.path().join("other")).unwrap();
    fixture.gate.trust().trust(&other).unwrap();
    let mut of_other = SpawnRequest::new(&other, ChildKind::Agent, "/bin/sh");
    of_other.args = vec!["-c".into(), "sleep 1000".into()];
    let other_child = fixture.gate.spawn(of_other).unwrap();
    let doomed = fixture.gate.spawn(fixture.shell(ChildKind::Agent, "sleep 1000")).unwrap();
    let other_pid = other_child.started().await.unwrap();
    fixture.gate.trust().revoke(fixture.root.as_path()).unwrap();
    tokio::time::timeout(LIMIT, doomed.wait()).await.expect("the child is ended");
    assert!(process::start_time(other_pid).is_some());
    assert_eq!(other_child.exit_watch().exit(), None);
}

fn records(fixture: &Fixture) -> usize {
    fs::read_dir(fixture.data().join("run")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_child_is_recorded_while_it_lives() {
    let fixture = fixture(&[]).trusted();
    let child = fixture.gate.spawn(fixture.shell(ChildKind::Agent, "sleep 1000")).unwrap();
    assert_eq!(records(&fixture), 1);
    // Its owner, this process, is alive: the sweep of another server leaves it alone.
    assert_eq!(sweep(&fixture.data()), SweepReport::default());
    assert!(process::start_time(child.started().await.unwrap()).is_some());
    child.end(Duration::ZERO).await;
    let removed = async {
        while records(&fixture) > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(LIMIT, removed).await.expect("the record is removed");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn what_runs_below_a_child_is_known_also_as_a_daemon() {
    let fixture = fixture(&[]).trusted();
    assert!(!fixture.gate.has_children());
    // Its parent has ended, and it has a session of its own.
    let script = "(setsid sleep 1000 & echo $!); sleep 1000";
    let mut child = fixture.gate.spawn(fixture.shell(ChildKind::Agent, script)).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).await.unwrap();
    let daemon: u32 = line.trim().parse().unwrap();
    let label = Some(child.label().to_owned());
    for pid in [daemon, child.started().await.unwrap()] {
        assert_eq!(fixture.gate.child_above(pid), label);
        assert_eq!(child_above(&fixture.data(), pid), label, "another process knows it by its record");
        assert!(fixture.gate.below_children().contains(&pid));
    }
    assert_eq!(fixture.gate.child_above(std::process::id()), None);
    // Whoever runs as the user can remove the record; the gate does not need it for its own.
    fs::remove_dir_all(fixture.data().join("run")).unwrap();
    assert_eq!((fixture.gate.child_above(daemon), child_above(&fixture.data(), daemon)), (label, None));
    child.end(Duration::ZERO).await;
    assert!(!fixture.gate.has_children() && fixture.gate.child_above(daemon).is_none());
}

#[tokio::test]
async fn the_sweep_ends_what_an_older_run_has_left() {
    let fixture = fixture(&[]);
    // A keeper that was stopped when its owner died, so that it could not do its work.
    let spec = ChildSpec {
        label: "old".into(),
        program: "/bin/sh".into(),
        args: vec!["-c".into(), "trap '' TERM; sleep 1000".into()],
        cwd: "/".into(),
        env: BTreeMap::new(),
        folder: None,
        extra_pipes: false,
        terminal: None,
        sandbox: None,
    };
    let child = spawn(&keeper(), spec).unwrap();
    let pid = child.started().await.unwrap();
    let keeper_pid = child.keeper_pid();
    rustix::process::kill_process(Pid::from_raw(i32::try_from(keeper_pid).unwrap()).unwrap(), Signal::STOP)
        .unwrap();
    let record = |keeper_start: u64| {
        serde_json::json!({
            "label": "old",
            "keeper": {"pid": keeper_pid, "startTime": keeper_start},
            "owner": {"pid": 1, "startTime": u64::MAX},
        })
        .to_string()
    };
    let write = |name: &str, text: &str| {
        fs::create_dir_all(fixture.data().join("run")).unwrap();
        fs::write(fixture.data().join("run").join(name), text).unwrap();
    };
    // Another start time is another process, and a damaged record is nobody.
    write("other.json", &record(1));
    write("damaged.json", "{");
    assert_eq!(sweep(&fixture.data()), SweepReport { ended: vec![], stale: 2 });
    assert!(process::start_time(pid).is_some());
    write("old.json", &record(process::start_time(keeper_pid).unwrap()));
    let data = fixture.data();
    let report = tokio::task::spawn_blocking(move || sweep(&data)).await.unwrap();
    assert_eq!(report, SweepReport { ended: vec!["old".into()], stale: 0 });
    assert_eq!((process::start_time(pid), records(&fixture)), (None, 0));
    drop(child);
}
