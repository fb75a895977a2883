//! A lock file between processes: create-exclusive, waits a little, never spins, broken only when its owner is dead.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::process;

/// How long a lock is waited for.
pub(crate) const WAIT: Duration = Duration::from_millis(2000);
/// How often it is tried.
const RETRY: Duration = Duration::from_millis(25);
/// A lock younger than this is never broken.
const BREAKABLE_AFTER: Duration = Duration::from_millis(30_000);
/// A lock that does not say whose it is was not made by us; an older program may be writing it.
const NAMELESS_BREAKABLE_AFTER: Duration = Duration::from_secs(300);

/// A lock file that is ours until dropped.
#[derive(Debug)]
pub(crate) struct FileLock {
    path: PathBuf,
    content: String,
}

/// Why a lock was not obtained.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Somebody else holds it.
    #[error("{} is held by {holder}", path.display())]
    Held { path: PathBuf, holder: String },
    /// The file cannot be made at all.
    #[error("{} cannot be locked: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    pid: u32,
    #[serde(default)]
    process_start: Option<String>,
    acquired_at: String,
    /// Tells two holders in one process apart, so that nobody removes another's lock.
    #[serde(default)]
    token: String,
}

impl FileLock {
    /// Takes the lock at `path`, waiting up to `wait`. Blocks: call it from a blocking thread.
    pub(crate) fn acquire(path: &Path, wait: Duration) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_path_buf(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(io)?;
        }
        let me = process::current();
        let record = Record {
            pid: me.pid,
            process_start: me.start.clone(),
            acquired_at: jiff::Timestamp::now().to_string(),
            token: uuid::Uuid::new_v4().to_string(),
        };
        let content = serde_json::to_string(&record).expect("a record of plain fields serialises");
        let deadline = Instant::now() + wait;
        loop {
            match create_whole(path, &content) {
                Ok(()) => return Ok(Self { path: path.to_path_buf(), content }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(io(error)),
            }
            if is_breakable(path) && break_lock(path).is_ok() {
                continue;
            }
            if Instant::now() >= deadline {
                return Err(LockError::Held { path: path.to_path_buf(), holder: holder(path) });
            }
            #[allow(
                clippy::disallowed_methods,
                reason = "another process's file gives no signal; 25 ms between tries"
            )]
            std::thread::sleep(RETRY);
        }
    }
}

/// Makes the lock with its content in one step, or fails because there is one: a process that is killed at any moment
/// leaves no lock that does not say whose it was.
fn create_whole(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(content.as_bytes())?;
    file.persist_noclobber(path).map(drop).map_err(|error| error.error)
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Only if it is still ours: somebody may have broken it while this process was stopped.
        let ours = fs::read_to_string(&self.path).is_ok_and(|text| text == self.content);
        if ours && let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a lock file could not be removed");
        }
    }
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
}

fn holder(path: &Path) -> String {
    read(path).map_or_else(|| "an unknown process".into(), |record| format!("process {}", record.pid))
}

/// Whether the lock is old enough and its owner is gone.
fn is_breakable(path: &Path) -> bool {
    let Ok(modified) = fs::metadata(path).and_then(|metadata| metadata.modified()) else {
        return false;
    };
    let age = SystemTime::now().duration_since(modified).unwrap_or_default();
    match read(path) {
        // A dead owner cannot come back, so its lock needs no grace; the spec's 30 s are for pids that may be reused,
        // and the start time tells those apart.
        Some(Record { pid, process_start: Some(start), .. }) => !process::is_alive(pid, Some(&start)),
        Some(Record { pid, process_start: None, .. }) => {
            age >= BREAKABLE_AFTER && !process::is_alive(pid, None)
        }
        None => age >= NAMELESS_BREAKABLE_AFTER,
    }
}

/// Removes a dead lock. Breakers take turns under a kernel lock and look again, so that nobody removes the lock that
/// the breaker before him has just taken.
fn break_lock(path: &Path) -> io::Result<()> {
    let guard =
        OpenOptions::new().create(true).truncate(false).write(true).open(path.with_extension("breaker"))?;
    rustix::fs::flock(&guard, rustix::fs::FlockOperation::LockExclusive)?;
    if is_breakable(path) {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn write(path: &Path, content: &str, age: Duration) {
        fs::write(path, content).unwrap();
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
    }

    #[track_caller]
    fn check(content: &str, age_s: u64, obtained: bool) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        write(&path, content, Duration::from_secs(age_s));
        assert_eq!(FileLock::acquire(&path, Duration::ZERO).is_ok(), obtained, "{content} {age_s}");
    }

    #[test]
    fn a_lock_is_broken_only_when_its_owner_is_dead_and_it_is_old() {
        let live = std::process::id();
        // No process has this pid: Linux counts to at most 2^22.
        let dead = 99_999_999;
        check(&format!(r#"{{"pid":{live},"acquiredAt":"x"}}"#), 3600, false);
        check(&format!(r#"{{"pid":{dead},"acquiredAt":"x"}}"#), 29, false);
        check(&format!(r#"{{"pid":{dead},"acquiredAt":"x"}}"#), 31, true);
        check(&format!(r#"{{"pid":{dead},"processStart":"1","acquiredAt":"x"}}"#), 0, true);
        check(&format!(r#"{{"pid":{live},"processStart":"another","acquiredAt":"x"}}"#), 0, true);
        check("", 31, false);
        check("", 301, true);
    }

    #[test]
    fn a_held_lock_is_told_and_a_dropped_one_is_free() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        let lock = FileLock::acquire(&path, Duration::ZERO).unwrap();
        assert!(matches!(FileLock::acquire(&path, Duration::from_millis(30)), Err(LockError::Held { .. })));
        drop(lock);
        assert!(FileLock::acquire(&path, Duration::ZERO).is_ok());
        assert!(!path.exists());
    }
}
