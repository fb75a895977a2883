//! Who may change a codebase: one mutation per canonical root, on this machine, across processes.
//!
//! A lease has no expiry by the clock. It is taken over only when its owner is gone: the process is dead, or another
//! process has its pid, or the operation of this very process has ended. A slow run is therefore never failed by
//! another server, however slow it is.

mod owners;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use chartroom_protocol::index::{ActiveMutation, ManageAction};
use serde::{Deserialize, Serialize};

use crate::file_lock::{FileLock, LockError, WAIT};
use crate::process;

pub(crate) use owners::{Owner, Owners};

/// The operations of this process that run now: an entry of our own pid that is not here has ended.
static LIVE: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// The mutation leases of a data folder.
#[derive(Debug, Clone)]
pub(crate) struct Leases {
    folder: PathBuf,
}

/// The right to change one codebase, until dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    path: PathBuf,
    record: Record,
}

/// Why a lease was not given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeaseError {
    /// Somebody who is alive has it.
    #[error("another {action} of this codebase is running in process {pid}", action = .0.action, pid = .0.pid)]
    Held(Box<ActiveMutation>),
    /// The lease folder cannot be used.
    #[error("the mutation lease cannot be written: {0}")]
    Io(String),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    canonical_root: String,
    generation: u64,
    operation_id: String,
    action: String,
    owner_id: String,
    pid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process_start_time: Option<String>,
    acquired_at: String,
    /// A released record stays, so that the next generation is greater.
    #[serde(default)]
    released: bool,
}

impl Leases {
    pub(crate) fn new(data: &Path) -> Self {
        Self { folder: data.join("runtime").join("mutation-leases") }
    }

    /// Takes the lease of a root for an operation. Blocks at most for the guard's wait.
    pub(crate) fn acquire(
        &self,
        root: &str,
        action: ManageAction,
        operation_id: &str,
    ) -> Result<Lease, LeaseError> {
        let path = self.path_of(root);
        let _guard = FileLock::acquire(&path.with_extension("lock"), WAIT).map_err(|error| match error {
            LockError::Held { .. } | LockError::Io { .. } => LeaseError::Io(error.to_string()),
        })?;
        let previous = read(&path).map_err(|error| LeaseError::Io(error.to_string()))?;
        if let Some(record) = previous.as_ref().filter(|record| record.is_held()) {
            return Err(LeaseError::Held(Box::new(record.to_active())));
        }
        let me = process::current();
        let record = Record {
            canonical_root: root.into(),
            generation: previous.map_or(0, |record| record.generation) + 1,
            operation_id: operation_id.into(),
            action: action.as_str().into(),
            owner_id: format!("{}:{}", me.pid, me.start.as_deref().unwrap_or("unknown")),
            pid: me.pid,
            process_start_time: me.start.clone(),
            acquired_at: jiff::Timestamp::now().to_string(),
            released: false,
        };
        live().insert(operation_id.to_owned());
        if let Err(error) = write(&path, &record) {
            live().remove(operation_id);
            return Err(LeaseError::Io(error.to_string()));
        }
        Ok(Lease { path, record })
    }

    /// Who is changing this root now. Reads only.
    pub(crate) fn active(&self, root: &str) -> Option<ActiveMutation> {
        let record = read(&self.path_of(root)).ok().flatten()?;
        record.is_held().then(|| record.to_active())
    }

    fn path_of(&self, root: &str) -> PathBuf {
        self.folder.join(format!("{}.json", blake3::hash(root.as_bytes()).to_hex()))
    }
}

impl Lease {
    /// Monotonic per root.
    pub(crate) fn generation(&self) -> u64 {
        self.record.generation
    }

    /// The operation it was taken for.
    pub(crate) fn operation_id(&self) -> &str {
        &self.record.operation_id
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        live().remove(&self.record.operation_id);
        // Only if it is still ours; and if it cannot be written, the missing entry in LIVE or our death frees it.
        let ours = read(&self.path).ok().flatten().is_some_and(|record| {
            record.generation == self.record.generation && record.owner_id == self.record.owner_id
        });
        if ours && let Err(error) = write(&self.path, &Record { released: true, ..self.record.clone() }) {
            tracing::warn!(%error, root = self.record.canonical_root, "a mutation lease could not be marked as released");
        }
    }
}

impl Record {
    fn is_held(&self) -> bool {
        if self.released {
            return false;
        }
        let me = process::current();
        if self.pid == me.pid && self.process_start_time == me.start {
            return live().contains(&self.operation_id);
        }
        process::is_alive(self.pid, self.process_start_time.as_deref())
    }

    fn to_active(&self) -> ActiveMutation {
        ActiveMutation {
            action: self.action.clone(),
            generation: self.generation,
            pid: self.pid,
            acquired_at: self.acquired_at.clone(),
            operation_id: self.operation_id.clone(),
        }
    }
}

fn live() -> MutexGuard<'static, HashSet<String>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A damaged record counts as none: writing is by rename, so that only a hand from outside can damage it.
fn read(path: &Path) -> io::Result<Option<Record>> {
    match fs::read(path) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, record: &Record) -> io::Result<()> {
    let bytes = serde_json::to_vec(record)?;
    let temporary = path.with_extension(format!("tmp-{}", uuid::Uuid::new_v4().simple()));
    fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        if let Err(error) = fs::remove_file(&temporary) {
            tracing::debug!(%error, "a temporary lease could not be removed");
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_mutation_is_told_who_has_the_lease() {
        let dir = tempfile::tempdir().unwrap();
        let leases = Leases::new(dir.path());
        let lease = leases.acquire("/repo", ManageAction::Create, "run_a").unwrap();
        let Err(LeaseError::Held(active)) = leases.acquire("/repo", ManageAction::Sync, "run_b") else {
            panic!("the lease is held");
        };
        assert_eq!((active.action.as_str(), active.operation_id.as_str()), ("create", "run_a"));
        assert_eq!(active.pid, std::process::id());
        assert!(leases.acquire("/other", ManageAction::Sync, "run_c").is_ok(), "another root is free");
        assert!(leases.active("/repo").is_some());
        drop(lease);
        assert!(leases.active("/repo").is_none());
    }

    #[test]
    fn the_generation_grows_with_every_lease() {
        let dir = tempfile::tempdir().unwrap();
        let leases = Leases::new(dir.path());
        for generation in 1..4 {
            let lease = leases.acquire("/repo", ManageAction::Sync, &format!("run_g{generation}")).unwrap();
            assert_eq!(lease.generation(), generation);
        }
    }

    /// Writes a lease as another process would have left it.
    fn plant(leases: &Leases, pid: u32, start: Option<&str>, acquired_at: &str) {
        fs::create_dir_all(&leases.folder).unwrap();
        let record = Record {
            canonical_root: "/repo".into(),
            generation: 7,
            operation_id: "run_planted".into(),
            action: "reindex".into(),
            owner_id: "x".into(),
            pid,
            process_start_time: start.map(Into::into),
            acquired_at: acquired_at.into(),
            released: false,
        };
        write(&leases.path_of("/repo"), &record).unwrap();
    }

    #[test]
    fn a_dead_owner_is_taken_over_and_a_live_one_never_however_old() {
        let dir = tempfile::tempdir().unwrap();
        let leases = Leases::new(dir.path());
        let parent = std::os::unix::process::parent_id();

        plant(&leases, parent, None, "1970-01-01T00:00:00Z");
        assert!(matches!(leases.acquire("/repo", ManageAction::Sync, "run_1"), Err(LeaseError::Held(_))));

        plant(&leases, 99_999_999, None, "2999-01-01T00:00:00Z");
        assert_eq!(leases.acquire("/repo", ManageAction::Sync, "run_2").unwrap().generation(), 8);

        plant(&leases, parent, Some("another boot:1"), "2999-01-01T00:00:00Z");
        assert!(leases.acquire("/repo", ManageAction::Sync, "run_3").is_ok(), "same pid, another process");
    }

    #[test]
    fn a_damaged_lease_does_not_lock_a_codebase_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let leases = Leases::new(dir.path());
        fs::create_dir_all(&leases.folder).unwrap();
        fs::write(leases.path_of("/repo"), b"{").unwrap();
        assert!(leases.acquire("/repo", ManageAction::Sync, "run_d").is_ok());
    }
}
