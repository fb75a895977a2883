//! The lock of a folder's records, and what is cleared away when the one who had it before died with it.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::restore::{clear_away, remove_stray};
use crate::{CheckpointError, io};

/// There while somebody who has the lock may leave something half done: found by the next one, it tells of a death, or of
/// an act that was broken off.
const MARK: &str = "held";

/// The lock. Others wait until it is dropped.
pub(crate) struct Held {
    store: PathBuf,
    is_marked: bool,
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
        let is_marked = store.join(MARK).exists();
        if is_marked {
            clear_away(&store);
            for name in ["index.lock", "restore-index", "restore-index.lock"] {
                remove_stray(&store.join(name));
            }
            remove_locks(&store.join("git"));
        }
        Ok(Self { store, is_marked, _lock: lock })
    }

    /// Has the next one clear away what is left if this one dies. For whoever does more than to add lines to the list: a file
    /// that comes and goes for every turn would cost more than the rest of its record.
    pub(crate) fn mark(&mut self) {
        if std::mem::replace(&mut self.is_marked, true) {
            return;
        }
        if let Err(error) = File::create(self.store.join(MARK)) {
            // On a full disk: nothing will be recorded, and nothing half.
            tracing::debug!("the lock has no mark: {error}");
        }
    }

    /// Gives it back, with nothing left to clear away.
    pub(crate) fn done(self) {
        if self.is_marked {
            remove_stray(&self.store.join(MARK));
        }
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
        let marked = || {
            let mut held = Held::wait_for(store.to_path_buf()).unwrap();
            held.mark();
            held
        };
        marked().done();
        leave();
        marked().done();
        assert_eq!(are_there(), [true; 3], "nobody died: they may be somebody's");
        // One that leaves nothing half done may die.
        drop(Held::wait_for(store.to_path_buf()).unwrap());
        marked().done();
        assert_eq!(are_there(), [true; 3], "nothing was begun");
        // One that was killed, or dropped half way.
        drop(marked());
        assert_eq!(are_there(), [true; 3], "what is there when it begins is not its own");
        Held::wait_for(store.to_path_buf()).unwrap().done();
        assert_eq!(are_there(), [false; 3]);
        assert!(!store.join(MARK).exists());
    }
}
