//! A real workspace with real language servers, for the stories beside this file.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_lsp::{GateLauncher, Orchestrator, render, tools};
use chartroom_protocol::lsp::{
    CheckParams, CheckScope, FileText, Freshness, LspConfig, ServerOutcome, ServerState,
};
use chartroom_testkit::{fakes, project::Project, tools as test_tools};
use chartroom_transport::{Keeper, SandboxSupport};
use chartroom_workspace::gate::{SandboxMode, SandboxRules, SandboxSettings};
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};
use serde_json::Value;
use tempfile::TempDir;

/// A trusted project with an orchestrator over real programs.
pub(crate) struct Stage {
    pub(crate) project: Project,
    pub(crate) orchestrator: Arc<Orchestrator>,
    root: CanonicalRoot,
    trust: Arc<TrustStore>,
    _data: TempDir,
}

impl Stage {
    /// `modules` are npm sets (`ts7`) whose packages the project has.
    pub(crate) fn new(fixture: &str, modules: &[&str]) -> Self {
        Self::with_config(fixture, modules, "{}")
    }

    pub(crate) fn with_config(fixture: &str, modules: &[&str], config: &str) -> Self {
        let stage = Self::untrusted(fixture, modules, config);
        stage.be_trusted();
        stage
    }

    /// A project that is not trusted yet.
    pub(crate) fn untrusted(fixture: &str, modules: &[&str], config: &str) -> Self {
        let project = project_with(fixture, modules);
        let root = project.root().to_owned();
        Self::over(project, &root, config)
    }

    /// For a server that wants a folder among the user's settings, which its sandbox does not let it make: here it is
    /// there, as it is for a user who ran the same tools before, whatever the machine's own home has.
    pub(crate) fn with_settings_folder(fixture: &str, modules: &[&str], name: &str) -> Self {
        let project = project_with(fixture, modules);
        let root = project.root().to_owned();
        let data = tempfile::tempdir().unwrap();
        let scratch = data.path().join("scratch");
        let settings = scratch.join("settings");
        std::fs::create_dir_all(settings.join(name)).unwrap();
        let variables = [("TMPDIR", scratch), ("XDG_CONFIG_HOME", settings)];
        let stage = Self::placed(project, &root, "{}", (data, &variables));
        stage.be_trusted();
        stage
    }

    pub(crate) fn be_trusted(&self) {
        self.trust.trust(&self.root).unwrap();
    }

    /// Over a folder that someone else made.
    pub(crate) fn of_folder(folder: &Path) -> Self {
        let stage = Self::over(Project::new(""), folder, "{}");
        stage.be_trusted();
        stage
    }

    fn over(project: Project, folder: &Path, config: &str) -> Self {
        let data = tempfile::tempdir().unwrap();
        // A server that is killed leaves its scratch files: here they go with the test.
        let scratch = data.path().join("scratch");
        std::fs::create_dir_all(&scratch).unwrap();
        Self::placed(project, folder, config, (data, &[("TMPDIR", scratch)]))
    }

    /// With the data folder and the variables of the test's choice.
    pub(crate) fn placed(
        project: Project,
        folder: &Path,
        config: &str,
        (data, variables): (TempDir, &[(&str, PathBuf)]),
    ) -> Self {
        let given: Value = serde_json::from_str(config).unwrap();
        let mut config: LspConfig = serde_json::from_value(given.clone()).unwrap();
        // The machine that runs this may be busy with everything else; a story about the limits says its own.
        if given.get("firstTouchTimeout").is_none() {
            config.first_touch_timeout = 240_000;
        }
        if given.get("diagnosticTimeout").is_none() {
            config.diagnostic_timeout = 120_000;
        }
        let trust = Arc::new(TrustStore::open(data.path()).unwrap());
        let root = CanonicalRoot::open(folder).unwrap();
        let keeper = Keeper { program: fakes::keeper(), args: Vec::new() };
        let mut env = environment(folder);
        env.extend(variables.iter().map(|(name, value)| ((*name).into(), value.into())));
        let gate =
            SpawnGate::with_environment(keeper, trust.clone(), data.path(), env).with_sandbox(sandbox());
        let launcher = Arc::new(GateLauncher::new(gate, root.clone()));
        let orchestrator = Orchestrator::new(root.clone(), config, launcher);
        Self { project, orchestrator, root, trust, _data: data }
    }

    /// Writes a file and returns its diagnostics as lines.
    pub(crate) async fn write(&self, file: &str, text: &str) -> Vec<String> {
        self.project.write(file, text);
        self.check(file).await
    }

    /// A server that did not answer does not count when it is said whether a file is clean: that is told apart here.
    pub(crate) async fn check(&self, file: &str) -> Vec<String> {
        let files = vec![FileText { file_path: file.to_owned(), text: None }];
        let response = self.orchestrator.check(CheckParams { files, ..CheckParams::default() }).await;
        for server in &response.servers {
            if let ServerOutcome::Answered { freshness, .. } = &server.outcome {
                assert_eq!(*freshness, Freshness::Current, "{}", server.id);
            } else if let ServerOutcome::Absent { status: ServerState::Broken, reason, .. } = &server.outcome
            {
                panic!("{} is broken: {reason:?}", server.id);
            }
        }
        response.files.iter().flat_map(|file| &file.diagnostics).map(render::line).collect()
    }

    /// Writes a file and returns the other files that are broken then.
    pub(crate) async fn write_and_look_around(&self, file: &str, text: &str) -> Vec<String> {
        self.project.write(file, text);
        let files = vec![FileText { file_path: file.to_owned(), text: None }];
        let params = CheckParams { files, scope: CheckScope::Project, ..CheckParams::default() };
        self.orchestrator.check(params).await.others.into_iter().map(|file| file.file).collect()
    }

    /// Runs a command in the project as a shell does, beside all our tools, to its end.
    #[expect(clippy::disallowed_methods, reason = "what others do goes through no gate of ours")]
    pub(crate) fn shell(&self, script: &str) {
        let mut command = std::process::Command::new("sh");
        command.args(["-e", "-c", script]).current_dir(self.root.as_path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self._data.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub(crate) async fn ask(&self, tool: &str, arguments: Value) -> String {
        let answer = tools::call(&self.orchestrator, tool, arguments).await.unwrap();
        assert!(!answer.is_error, "{tool}: {}", answer.text);
        answer.text
    }

    /// What a tool answers, an error or not, and how long that took.
    pub(crate) async fn told(&self, tool: &str, arguments: Value) -> (String, std::time::Duration) {
        let began = std::time::Instant::now();
        let answer = tools::call(&self.orchestrator, tool, arguments).await.unwrap();
        (answer.text, began.elapsed())
    }

    /// The ids and roots of the servers that run.
    pub(crate) fn running(&self) -> Vec<(String, String, u32)> {
        self.orchestrator
            .status()
            .into_iter()
            .filter(|row| row.status == ServerState::Active)
            .map(|row| (row.id, row.root.unwrap(), row.server_pid.unwrap()))
            .collect()
    }

    /// Breaks a file and mends it, twenty times in a row: what is mended is never reported.
    pub(crate) async fn never_stale(
        &self,
        file: &str,
        broken: impl Fn(usize) -> String,
        fine: impl Fn(usize) -> String,
    ) {
        for round in 0..20 {
            let lines = self.write(file, &broken(round)).await;
            assert!(!lines.is_empty(), "round {round}: the error was not reported");
            let lines = self.write(file, &fine(round)).await;
            assert_eq!(lines, Vec::<String>::new(), "round {round}: mended, and still reported");
        }
    }

    /// Ends the servers; none of their processes is left.
    pub(crate) async fn end(self) {
        let pids: Vec<u32> = self.running().into_iter().map(|(_, _, pid)| pid).collect();
        self.orchestrator.shutdown().await;
        for pid in pids {
            assert!(!Path::new(&format!("/proc/{pid}/stat")).exists() || is_zombie(pid), "{pid} is left");
        }
    }
}

/// Every story runs in the sandbox that is the default: a server that cannot live in it fails here.
fn sandbox() -> SandboxSettings {
    let rules = SandboxRules { language_servers: Some(SandboxMode::Workspace), ..SandboxRules::default() };
    SandboxSettings { rules, support: SandboxSupport::of_this_system(), ..SandboxSettings::default() }
}

fn is_zombie(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "))
}

/// The packages of an npm set of the test tools.
pub(crate) fn npm_set(set: &str) -> PathBuf {
    let from = test_tools::dir().join(set).join("node_modules");
    assert!(from.is_dir(), "run `cargo xtask tools` to install {}", from.display());
    from
}

fn project_with(fixture: &str, modules: &[&str]) -> Project {
    let project = Project::new(fixture);
    for set in modules {
        // Real folders with links in them: several sets can be laid over each other, and a project's own
        // `node_modules/.bin` is found.
        link_all(&npm_set(set), &project.path("node_modules"));
    }
    project
}

fn link_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (name, path) = (entry.file_name(), entry.path());
        let is_scope = name.to_string_lossy().starts_with('@') || name == ".bin";
        if is_scope && path.is_dir() {
            link_all(&path, &to.join(&name));
        } else if !to.join(&name).exists() {
            std::os::unix::fs::symlink(path.canonicalize().unwrap(), to.join(&name)).unwrap();
        }
    }
}

/// The environment of a careless user, whose PATH leads into the workspace before it leads anywhere else.
fn environment(folder: &Path) -> BTreeMap<OsString, OsString> {
    let mut env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    // What a test run sets for itself is not the user's environment.
    env.retain(|name, _| !name.to_string_lossy().starts_with("CARGO_") || name == "CARGO_HOME");
    let mut path: Vec<PathBuf> =
        vec!["".into(), ".".into(), folder.to_owned(), test_tools::dir().join("py/bin")];
    path.push(test_tools::dir().join("languages-py/bin"));
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    env.insert("PATH".into(), std::env::join_paths(path).unwrap());
    env
}
