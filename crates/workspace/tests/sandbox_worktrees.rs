//! A confined agent in a worktree of our making: it commits there, and gets at nothing that its repository runs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on must fail")]
#![allow(clippy::disallowed_methods, reason = "the user's git is started as a shell would")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use chartroom_transport::{Keeper, SandboxSupport, SandboxTool};
use chartroom_workspace::gate::{NetworkSetting, SandboxMode, SandboxRules, SandboxSettings};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnGate, SpawnRequest, TrustStore};
use tokio::io::AsyncReadExt;

/// Not below /tmp, which every sandbox may write.
struct Fixture {
    _folder: tempfile::TempDir,
    project: PathBuf,
    worktree: CanonicalRoot,
    gate: SpawnGate,
}

fn git(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(args).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin");
    let output = command.env("HOME", "/nonexistent").output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn fixture(mode: SandboxMode, tool: SandboxTool) -> Fixture {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = folder.path().canonicalize().unwrap();
    let (project, data) = (home.join("project"), home.join("data"));
    let worktree = data.join("worktrees/project/work");
    for made in [&project, worktree.parent().unwrap()] {
        std::fs::create_dir_all(made).unwrap();
    }
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["config", "user.name", "U"]);
    git(&project, &["config", "user.email", "u@example.org"]);
    std::fs::write(project.join("a.txt"), "one\n").unwrap();
    git(&project, &["add", "-A"]);
    git(&project, &["commit", "-q", "-m", "first"]);
    git(&project, &["worktree", "add", "-q", "-b", "work", worktree.to_str().unwrap()]);
    let trust = Arc::new(TrustStore::open(&data).unwrap());
    let [root, worktree, common] =
        [&project, &worktree, &project.join(".git")].map(|path| CanonicalRoot::open(path).unwrap());
    trust.trust(&root).unwrap();
    trust.trust_worktree(&worktree, &root, &common).unwrap();
    let env: BTreeMap<OsString, OsString> =
        [("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.into())].into();
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let rules = SandboxRules {
        agents: mode,
        tool: Some(tool),
        network: Some(NetworkSetting::All),
        ..SandboxRules::default()
    };
    let support = SandboxSupport::of_this_system();
    let settings = SandboxSettings { rules, support, ..SandboxSettings::default() };
    let gate = SpawnGate::with_environment(keeper, trust, &data, env).with_sandbox(settings);
    Fixture { _folder: folder, project, worktree, gate }
}

impl Fixture {
    async fn run(&self, kind: ChildKind, script: &str) -> String {
        let mut request = SpawnRequest::new(&self.worktree, kind, "/bin/bash");
        request.label = "claude".to_owned();
        request.args = vec!["-c".into(), format!("exec 2>/dev/null; {script}").into()];
        let mut child = self.gate.spawn(request).unwrap();
        let mut out = String::new();
        child.stdout.take().unwrap().read_to_string(&mut out).await.unwrap();
        child.wait().await;
        out.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What the user's repository would run, or believe.
    fn attempts(&self) -> String {
        let common = self.project.join(".git");
        let put = |path: &str| format!("(echo x >> {0}/{path}) && echo {path};", common.display());
        let [hook, config, head, info, packed] =
            ["hooks/pre-commit", "config", "HEAD", "info/attributes", "packed-refs"].map(put);
        format!(
            "{hook}{config}{head}{info}{packed} git config core.fsmonitor ./x && echo set; \
             (echo x >> {project}/a.txt) && echo main; mv {common}/hooks {common}/h && echo moved; \
             ln -s /tmp {common}/objects/../modules && echo linked; true",
            project = self.project.display(),
            common = common.display(),
        )
    }
}

const COMMIT: &str = "echo two > b.txt && git add b.txt && git commit -q -m work && echo committed";

#[tokio::test]
async fn a_confined_agent_commits_in_its_worktree_and_writes_neither_hooks_nor_config() {
    let tools = match SandboxSupport::of_this_system().bubblewrap {
        Some(_) => vec![SandboxTool::Landlock, SandboxTool::Bubblewrap],
        None => vec![SandboxTool::Landlock],
    };
    for tool in tools {
        for mode in [SandboxMode::Workspace, SandboxMode::Strict] {
            let it = fixture(mode, tool);
            assert_eq!(it.run(ChildKind::Agent, COMMIT).await, "committed", "{mode:?} {tool:?}");
            assert_eq!(git(&it.project, &["log", "--format=%s", "work"]), "work\nfirst");
            assert_eq!(git(&it.project, &["fsck", "--strict", "--no-dangling"]), "");
            assert_eq!(it.run(ChildKind::Agent, &it.attempts()).await, "", "{mode:?} {tool:?}");
            assert_eq!(git(&it.project, &["status", "--porcelain"]), "");
            // Tests run what it wrote: in its sandbox, and without the repository.
            assert_eq!(it.run(ChildKind::Test, COMMIT).await, "", "{mode:?} {tool:?}");
            assert_eq!(it.run(ChildKind::Test, &it.attempts()).await, "", "{mode:?} {tool:?}");
        }
    }
}

#[tokio::test]
async fn a_worktree_with_a_config_of_its_own_is_not_committed_in() {
    let it = fixture(SandboxMode::Workspace, SandboxTool::Landlock);
    git(&it.project, &["config", "extensions.worktreeConfig", "true"]);
    let own = it.project.join(".git/worktrees/work/config.worktree");
    let script = format!("{COMMIT}; (echo x > {}) && echo config", own.display());
    assert_eq!(it.run(ChildKind::Agent, &script).await, "");
    assert!(!own.exists());
}

#[tokio::test]
async fn a_worktree_that_names_another_repository_is_not_trusted_and_opens_nothing() {
    let it = fixture(SandboxMode::Workspace, SandboxTool::Landlock);
    let script = "git_dir=$(git rev-parse --absolute-git-dir); mkdir fake; echo $PWD/fake > $git_dir/commondir && echo forged";
    assert_eq!(it.run(ChildKind::Agent, script).await, "forged");
    assert!(!it.gate.is_trusted(&it.worktree));
    let request = SpawnRequest::new(&it.worktree, ChildKind::Agent, "/bin/bash");
    assert!(it.gate.spawn(request).is_err(), "nothing is started there any more");
}
