//! Records of a working tree (docs/checkpoints.md) of django's size, beside `git status` in the same tree: both look at every
//! file. The command is a process with git below it; the server remembers what it saw and asks git when something changed.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_checkpoints::{Records, Sight, Words};
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};

use crate::index::sources;
use crate::measurement::{Measurement, median_ms};
use crate::server::program_command;

const ROUNDS: usize = 21;

pub(crate) fn run() -> anyhow::Result<Vec<Measurement>> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let project = folder.path().canonicalize()?.join("django");
    succeeds(program_command(Path::new("cp")).arg("-r").arg(sources()?).arg(&project))?;
    for arguments in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        succeeds(git(&project).args(arguments))?;
    }
    let listed = git(&project).args(["ls-files"]).output()?;
    let n_files = String::from_utf8_lossy(&listed.stdout).lines().count();
    let program = std::env::current_exe().context("finding this program")?.with_file_name("chartroom");
    let make = || {
        let mut command = program_command(&program);
        command.args(["checkpoint", "make"]).current_dir(&project).env_clear();
        command.env("HOME", folder.path()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("CHARTROOM_HOME", folder.path().join("data"));
        command
    };
    let server = Server::new(folder.path(), &project, &program)?;
    let (mut status, mut command, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    let (mut status_changed, mut command_changed, mut seen_changed) = (Vec::new(), Vec::new(), Vec::new());
    // The first record reads every file; it is not what a turn costs.
    let first = timed(|| succeeds(&mut make()))?;
    for _ in 0..2 {
        server.make()?;
    }
    for _ in 0..ROUNDS {
        status.push(timed(|| succeeds(git(&project).args(["status", "--porcelain"])))?);
        command.push(timed(|| succeeds(&mut make()))?);
        seen.push(timed(|| server.make())?);
    }
    for round in 0..ROUNDS {
        let change =
            |what: &str| std::fs::write(project.join("django/shortcuts.py"), format!("# {what} {round}\n"));
        change("status")?;
        status_changed.push(timed(|| succeeds(git(&project).args(["status", "--porcelain"])))?);
        change("command")?;
        command_changed.push(timed(|| succeeds(&mut make()))?);
        change("server")?;
        seen_changed.push(timed(|| server.make())?);
    }
    let row = |what: &str, ours: &mut [Duration], theirs: &mut [Duration]| {
        Measurement::new(&format!("records, {n_files} files: {what}"), median_ms(ours), "ms")
            .beside("git status", median_ms(theirs))
    };
    Ok(vec![
        row("`checkpoint make`, nothing changed", &mut command, &mut status).aim("2×"),
        row("a turn's record, nothing changed", &mut seen, &mut status).aim("2×"),
        row("`checkpoint make`, one file changed", &mut command_changed, &mut status_changed),
        row("a turn's record, one file changed", &mut seen_changed, &mut status_changed),
        row("`checkpoint make`, the first one", &mut [first], &mut status),
    ])
}

/// Records as the server makes them: in a process that goes on, with a memory of what it saw.
struct Server {
    runtime: tokio::runtime::Runtime,
    gate: SpawnGate,
    project: CanonicalRoot,
    sight: Sight,
}

impl Server {
    fn new(folder: &Path, project: &Path, program: &Path) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let data = folder.join("data of the server");
        let keeper = Keeper { program: program.to_path_buf(), args: vec!["keeper".into()] };
        let environment =
            [("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()), ("HOME".into(), folder.into())];
        let trust = Arc::new(TrustStore::open(&data)?);
        let gate = SpawnGate::with_environment(keeper, trust, &data, environment.into());
        Ok(Self { runtime, gate, project: CanonicalRoot::open(project)?, sight: Sight::default() })
    }

    /// What `crates/chartroom/src/app/recorder.rs` does for a turn.
    fn make(&self) -> anyhow::Result<()> {
        self.runtime.block_on(async {
            let records = Records::of(&self.gate, &self.project).await?.seen_by(&self.sight);
            records.make(Words::default).await?;
            Ok(())
        })
    }
}

fn git(project: &Path) -> Command {
    let mut command = program_command(Path::new("git"));
    command
        .args(["-c", "user.name=U", "-c", "user.email=u@example.org"])
        .current_dir(project)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent");
    command
}

fn succeeds(command: &mut Command) -> anyhow::Result<()> {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().context("starting it")?;
    anyhow::ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}
