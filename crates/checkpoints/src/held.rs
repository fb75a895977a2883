//! The lock of a folder's records, and what is cleared away when the one who had it before died with it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::restore::{clear_away, remove_stray};
use crate::{CheckpointError, io};

/// There while somebody has the lock: found by the next one, it tells of a death, or of an act that was broken off.
const MARK: &str = "held";

/// The lock. Others wait until it is dropped.
pub(crate) struct Held {
    store: PathBuf,
    /// The system gives the lock back with it.
    _lock: File,
}

impl Held {
    /// Waits for the lock, and clears away what a holder that was killed has left.
    pub(crate) fn wait_for(store: PathBuf) -> Result<Self, CheckpointError> {
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(store.join("lock"))
            .map_err(io("opening the lock"))?;
        lock.lock().map_err(io("waiting for the lock"))?;
        if store.join(MARK).exists() {
            clear_away(&store);
            for name in ["index.lock", "restore-index", "restore-index.lock"] {
                remove_stray(&store.join(name));
            }
            remove_locks(&store.join("git"));
        } else if let Err(error) = File::create(store.join(MARK)) {
            // On a full disk: nothing will be recorded, and nothing half.
            tracing::debug!("the lock has no mark: {error}");
        }
        Ok(Self { store, _lock: lock })
    }

    /// Gives it back, with nothing left to clear away.
    pub(crate) fn done(self) {
        remove_stray(&self.store.join(MARK));
    }
}

/// Takes away the locks of references of ours that a git was killed with: it would wait for nobody.
fn remove_locks(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let (path, is_folder) = (entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir()));
        if is_folder && entry.file_name() != "objects" {
            remove_locks(&path);
        } else if !is_folder && path.extension().is_some_and(|end| end == "lock") {
            remove_stray(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_holder_that_died_has_left_is_cleared_away_and_a_living_ones_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path();
        let references = store.join("git/refs/checkpoints");
        std::fs::create_dir_all(&references).unwrap();
        let left =
            [references.join("1234.lock"), store.join("git/packed-refs.lock"), store.join("index.lock")];
        let leave = || left.iter().for_each(|path| std::fs::write(path, "").unwrap());
        let are_there = || left.each_ref().map(|path| path.exists());
        Held::wait_for(store.to_path_buf()).unwrap().done();
        leave();
        Held::wait_for(store.to_path_buf()).unwrap().done();
        assert_eq!(are_there(), [true; 3], "nobody died: they may be somebody's");
        // One that was killed, or dropped half way.
        drop(Held::wait_for(store.to_path_buf()).unwrap());
        assert_eq!(are_there(), [true; 3], "what is there when it begins is not its own");
        Held::wait_for(store.to_path_buf()).unwrap().done();
        assert_eq!(are_there(), [false; 3]);
        assert!(!store.join(MARK).exists());
    }
}
