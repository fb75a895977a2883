//! One change of a file at a time: in this process, and in all processes of the user that share the data folder.
//!
//! A change reads, works out and writes. Two of them at once on one file would lose one, so that each holds the locks
//! of its files from before the first read until after the last write. The lock files lie in the data folder, never
//! in the user's tree. There is a fixed number of them, chosen by the hash of a file's path: nothing has to be removed,
//! and two files that share one only wait for each other for a moment.

use std::collections::BTreeSet;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chartroom_workspace::boundary::Inside;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// How many lock files there are.
const N_LOCKS: usize = 256;
/// Another process's change takes milliseconds; one that was stopped in its middle must not stop everybody.
const LIMIT: Duration = Duration::from_secs(30);
/// How often a lock that another process has is tried again.
const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// The locks of all files that this user edits. Cheap to clone; clones share what they hold.
#[derive(Debug, Clone)]
pub struct FileLocks {
    folder: Arc<Path>,
    /// Callers of this process wait here, without a thread each.
    turns: Arc<[Arc<Mutex<()>>]>,
}

/// A process's turn at some files: no other task of it is at them.
pub(crate) struct Turn {
    folder: Arc<Path>,
    numbers: BTreeSet<usize>,
    turns: Vec<OwnedMutexGuard<()>>,
}

/// Held while files are read and written. The system lets go of it however the process ends.
pub(crate) struct Locked {
    _files: Vec<File>,
    _turns: Vec<OwnedMutexGuard<()>>,
}

/// Why the locks were not had.
#[derive(Debug)]
pub(crate) enum LockError {
    /// Another process has one of them and does not let go.
    Held,
    /// The lock files cannot be made or opened.
    Io(io::Error),
}

impl FileLocks {
    /// Returns the locks that lie in this folder, which is made when it is needed.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let turns = (0..N_LOCKS).map(|_| Arc::default()).collect();
        Self { folder: folder.into().into(), turns }
    }

    /// Waits until no other task of this process is at these files.
    pub(crate) async fn turn(&self, files: &[Inside]) -> Turn {
        let numbers: BTreeSet<usize> = files.iter().map(number_of).collect();
        let mut turns = Vec::with_capacity(numbers.len());
        // Everybody takes them in the same order, so that no two wait for each other.
        for turn in numbers.iter().filter_map(|number| self.turns.get(*number)) {
            turns.push(turn.clone().lock_owned().await);
        }
        Turn { folder: self.folder.clone(), numbers, turns }
    }
}

impl Turn {
    /// Waits until no other process is at these files. Blocks the thread.
    pub(crate) fn lock(self) -> Result<Locked, LockError> {
        let limit = Instant::now() + LIMIT;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder).map_err(LockError::Io)?;
        let files = self.numbers.iter().map(|number| lock(&self.folder.join(format!("{number:02x}")), limit));
        Ok(Locked { _files: files.collect::<Result<_, _>>()?, _turns: self.turns })
    }
}

fn number_of(file: &Inside) -> usize {
    let mut hasher = DefaultHasher::new();
    file.name().hash(&mut hasher);
    usize::try_from(hasher.finish() % N_LOCKS as u64).unwrap_or(0)
}

#[expect(
    clippy::disallowed_methods,
    reason = "no signal says that another process lets go; this thread may block"
)]
fn lock(path: &Path, limit: Instant) -> Result<File, LockError> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = file.map_err(LockError::Io)?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(LockError::Io(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= limit => return Err(LockError::Held),
            Err(TryLockError::WouldBlock) => std::thread::sleep(RETRY_INTERVAL),
        }
    }
}

#[cfg(test)]
mod tests {
    use chartroom_workspace::CanonicalRoot;

    use super::*;

    fn files(names: &[&str]) -> (tempfile::TempDir, Vec<Inside>) {
        let folder = tempfile::tempdir().unwrap();
        let root = CanonicalRoot::open(folder.path()).unwrap();
        let files = names.iter().map(|name| Inside::below(&root, name).unwrap()).collect();
        (folder, files)
    }

    #[tokio::test]
    async fn a_file_is_one_tasks_and_one_process_at_a_time() {
        let (folder, files) = files(&["a"]);
        let data = folder.path().join("data/locks");
        let (ours, others) = (FileLocks::in_folder(&data), FileLocks::in_folder(&data));
        let held = ours.turn(&files).await.lock().unwrap_or_else(|error| panic!("{error:?}"));
        let second = ours.turn(&files);
        tokio::pin!(second);
        let polled_once = tokio::time::timeout(Duration::ZERO, &mut second).await;
        assert!(polled_once.is_err(), "a task of this process waits");
        // Another process has no part in our turns; it meets the file itself.
        let path = data.join(format!("{:02x}", number_of(&files[0])));
        assert!(matches!(lock(&path, Instant::now()), Err(LockError::Held)));
        drop(held);
        drop(second.await);
        assert!(others.turn(&files).await.lock().is_ok());
    }

    #[tokio::test]
    async fn a_folder_that_cannot_be_made_is_told_as_such() {
        let (folder, files) = files(&["a", "b"]);
        std::fs::write(folder.path().join("data"), "").unwrap();
        let locks = FileLocks::in_folder(folder.path().join("data/locks"));
        assert!(matches!(locks.turn(&files).await.lock(), Err(LockError::Io(_))));
    }
}
