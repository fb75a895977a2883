//! A project, a trust store, a gate and a service program, for the stories beside this file.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_lsp::{GateLauncher, Orchestrator, ServiceOptions, ServicePool};
use chartroom_protocol::lsp::LspSetting;
use chartroom_testkit::{fakes, project::Project};
use chartroom_transport::{Keeper, process};
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};
use tempfile::TempDir;

const SERVICE: &str = env!("CARGO_BIN_EXE_test-lsp-service");

pub(crate) struct Household {
    pub(crate) project: Project,
    pub(crate) root: CanonicalRoot,
    setting: LspSetting,
    gate: SpawnGate,
    data: TempDir,
}

impl Household {
    pub(crate) fn new(fixture: &str, setting: LspSetting) -> Self {
        let project = Project::new(fixture);
        let root = project.root().to_owned();
        Self::of(project, &root, setting, true)
    }

    pub(crate) fn untrusted(fixture: &str, setting: LspSetting) -> Self {
        let project = Project::new(fixture);
        let root = project.root().to_owned();
        Self::of(project, &root, setting, false)
    }

    /// Over a folder that someone else made.
    pub(crate) fn of_folder(folder: &Path, setting: LspSetting, trusted: bool) -> Self {
        Self::of(Project::new(""), folder, setting, trusted)
    }

    fn of(project: Project, folder: &Path, setting: LspSetting, trusted: bool) -> Self {
        let data = tempfile::tempdir().unwrap();
        let trust = Arc::new(TrustStore::open(data.path()).unwrap());
        let root = CanonicalRoot::open(folder).unwrap();
        if trusted {
            trust.trust(&root).unwrap();
        }
        let keeper = Keeper { program: fakes::keeper(), args: Vec::new() };
        let gate = SpawnGate::new(keeper, trust, data.path());
        Self { project, root, setting, gate, data }
    }

    /// An orchestrator in this process.
    pub(crate) fn orchestrator(&self) -> Arc<Orchestrator> {
        let config = self.setting.enabled().cloned().unwrap();
        let launcher = GateLauncher::new(self.gate.clone(), self.root.clone());
        Orchestrator::new(self.root.clone(), config, Arc::new(launcher))
    }

    pub(crate) fn pool(&self) -> ServicePool {
        self.pool_of(&[])
    }

    /// A pool whose service is started with other arguments.
    pub(crate) fn pool_of(&self, args: &[&str]) -> ServicePool {
        self.pool_with(PathBuf::from(SERVICE), args)
    }

    pub(crate) fn pool_without_program(&self) -> ServicePool {
        self.pool_with(PathBuf::from("/no/such/program"), &[])
    }

    /// A pool whose service is another program.
    pub(crate) fn pool_with(&self, program: PathBuf, args: &[&str]) -> ServicePool {
        ServicePool::new(ServiceOptions {
            gate: self.gate.clone(),
            setting: self.setting.clone(),
            data_dir: self.data.path().to_owned(),
            program,
            args: args.iter().map(OsString::from).collect(),
        })
    }

    /// The process of the one service that runs below this test.
    pub(crate) async fn service_pid(&self) -> u32 {
        let mut found = None;
        until(|| {
            found = below(std::process::id()).into_iter().find(|pid| {
                std::fs::read(format!("/proc/{pid}/cmdline"))
                    .is_ok_and(|line| line.starts_with(SERVICE.as_bytes()))
            });
            found.is_some()
        })
        .await;
        found.unwrap()
    }
}

/// Puts the service's program where there was none.
pub(crate) fn install_service(at: &Path) {
    std::os::unix::fs::symlink(SERVICE, at).unwrap();
}

fn below(pid: u32) -> Vec<u32> {
    process::descendants(pid).into_iter().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()).collect()
}

pub(crate) fn n_children(pid: u32) -> usize {
    below(pid)
        .into_iter()
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| line.starts_with(fakes::lsp().to_string_lossy().as_bytes()))
        })
        .count()
}

pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

pub(crate) async fn all_gone(pids: &[u32]) {
    until(|| pids.iter().all(|pid| !is_alive(*pid))).await;
}

#[expect(clippy::disallowed_methods, reason = "the test kills what the product must survive the death of")]
pub(crate) fn kill_9(pid: u32) {
    let status = std::process::Command::new("/bin/kill").args(["-9", &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// Waits for something that no signal tells, for at most a minute.
pub(crate) async fn until(mut what: impl FnMut() -> bool) {
    for _ in 0..6_000 {
        if what() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it did not happen within a minute");
}

/// Runs the service program with this bootstrap; returns its exit code and what it said.
#[expect(clippy::disallowed_methods, reason = "the test looks at the bare program")]
pub(crate) fn run_service(bootstrap: Option<&str>) -> (Option<i32>, String) {
    let mut command = std::process::Command::new(SERVICE);
    command.env_remove("LSP_BOOTSTRAP").stdin(std::process::Stdio::null());
    if let Some(bootstrap) = bootstrap {
        command.env("LSP_BOOTSTRAP", bootstrap);
    }
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
