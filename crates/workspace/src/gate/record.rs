//! A record of every keeper that runs, so that a later run can end what a crash left behind.
//!
//! Keepers end by themselves when their owner dies; the sweep is for one that was stopped or hung at that
//! moment. A pid alone proves nothing: it counts only together with the start time.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chartroom_transport::{Child, process};
use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use super::descent::LivingChild;
use super::sandbox::remove_left;

/// How long a keeper that is told to end gets before it is killed together with all below it.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    label: String,
    keeper: Process,
    owner: Process,
    /// A folder that goes with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    temporary: Option<PathBuf>,
}

/// A process that cannot be mistaken for a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Process {
    pid: u32,
    start_time: u64,
}

impl Process {
    pub(super) fn of(pid: u32) -> Option<Self> {
        process::start_time(pid).map(|start_time| Process { pid, start_time })
    }

    pub(super) fn pid(self) -> u32 {
        self.pid
    }

    fn is_alive(self) -> bool {
        Process::of(self.pid) == Some(self)
    }
}

/// What a sweep found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// The children that an older run had left, by label. They are gone now.
    pub ended: Vec<String>,
    /// How many records were of children that had ended already.
    pub stale: usize,
}

/// Records a child for as long as it lives. Failing to is logged: it only weakens the sweep.
pub(super) fn keep(data_dir: &Path, child: &Child, temporary: Option<&Path>) {
    let pids = (Process::of(child.keeper_pid()), Process::of(std::process::id()));
    let (Some(keeper), Some(owner)) = pids else { return };
    let label = child.label().to_owned();
    let record = Record { label, keeper, owner, temporary: temporary.map(Path::to_owned) };
    match write(data_dir, &record) {
        Ok(path) => {
            let exit = child.exit_watch();
            tokio::spawn(async move {
                exit.wait().await;
                if let Err(error) = std::fs::remove_file(&path) {
                    tracing::debug!(path = %path.display(), %error, "the record of a child was gone already");
                }
            });
        }
        Err(error) => tracing::warn!(label = record.label, %error, "a child could not be recorded"),
    }
}

/// The children that other processes of ours keep at this moment, by label, each with its keeper.
pub(super) fn of_others(data_dir: &Path) -> Vec<(String, u32)> {
    let own = std::process::id();
    let entries = std::fs::read_dir(run_dir(data_dir)).into_iter().flatten().flatten();
    let records =
        entries.filter_map(|entry| serde_json::from_slice::<Record>(&std::fs::read(entry.path()).ok()?).ok());
    let mut children: Vec<(String, u32)> = records
        .filter(|record| record.owner.pid != own && record.owner.is_alive() && record.keeper.is_alive())
        .map(|record| (record.label, record.keeper.pid))
        .collect();
    children.sort();
    children
}

/// Ends what an older run has left behind. Call it once, at start, before anything is spawned.
pub fn sweep(data_dir: &Path) -> SweepReport {
    let mut report = SweepReport::default();
    for path in paths(data_dir) {
        let record = read(&path);
        let temporary = record.as_ref().and_then(|record| record.temporary.clone());
        match record {
            Some(record) if record.owner.is_alive() => continue,
            Some(record) if record.keeper.is_alive() => {
                end(record.keeper);
                tracing::info!(label = record.label, "ended what an older run had left behind");
                report.ended.push(record.label);
            }
            Some(_) | None => report.stale += 1,
        }
        if let Some(temporary) = temporary {
            remove_left(&temporary);
        }
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "a stale record cannot be removed");
        }
    }
    report
}

/// Returns the children of this data folder that run now.
pub(super) fn living(data_dir: &Path) -> impl Iterator<Item = LivingChild> {
    let records = paths(data_dir).into_iter().filter_map(|path| read(&path));
    let living = records.filter(|record| record.keeper.is_alive());
    living.map(|record| LivingChild { label: record.label, keeper: record.keeper })
}

/// Returns the label of the child that a process keeps, if it keeps one.
pub(super) fn label(data_dir: &Path, keeper: Process) -> Option<String> {
    let record = read(&path(data_dir, keeper))?;
    (record.keeper == keeper).then_some(record.label)
}

fn path(data_dir: &Path, keeper: Process) -> PathBuf {
    run_dir(data_dir).join(format!("{}-{}.json", keeper.pid, keeper.start_time))
}

fn paths(data_dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(run_dir(data_dir))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

fn run_dir(data_dir: &Path) -> PathBuf {
    data_dir.join("run")
}

fn write(data_dir: &Path, record: &Record) -> std::io::Result<PathBuf> {
    let folder = run_dir(data_dir);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let path = path(data_dir, record.keeper);
    let mut temporary = tempfile::Builder::new().prefix(".record-").tempfile_in(&folder)?;
    temporary.write_all(&serde_json::to_vec(record)?)?;
    temporary.persist(&path)?;
    Ok(path)
}

/// Asks a keeper to end all below it; if it does not, does it in its place.
fn end(keeper: Process) {
    let Some(pid) = i32::try_from(keeper.pid).ok().and_then(Pid::from_raw) else { return };
    // It may end at any moment now, so that failing signals mean nothing.
    rustix::process::kill_process(pid, Signal::TERM).ok();
    rustix::process::kill_process(pid, Signal::CONT).ok();
    if gone_within(keeper, pid, GRACE) {
        return;
    }
    let below = process::descendants(keeper.pid);
    for pid in std::iter::once(pid).chain(below) {
        rustix::process::kill_process(pid, Signal::KILL).ok();
    }
    if !gone_within(keeper, pid, GRACE) {
        tracing::warn!(pid = keeper.pid, "a keeper of an older run cannot be ended");
    }
}

fn gone_within(process: Process, pid: Pid, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    while process.is_alive() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        wait_for_end(pid, left.min(Duration::from_millis(100)));
    }
    true
}

/// Waits until a process ends, or for the given time.
#[cfg(target_os = "linux")]
fn wait_for_end(pid: Pid, patience: Duration) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::PidfdFlags;
    let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    let mut fds = [PollFd::new(&pidfd, PollFlags::IN)];
    let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(patience.subsec_nanos()) };
    // Interrupted or not, the caller looks again.
    poll(&mut fds, Some(&timeout)).ok();
}

/// Without `/proc` nothing is ever recorded, so that there is nothing to wait for.
#[cfg(not(target_os = "linux"))]
fn wait_for_end(_pid: Pid, _patience: Duration) {}
