//! The one way to change the catalog: under its lock, merged with what is on disk, by temp and rename.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::entry::CodebaseInfo;
use super::load::CatalogDoc;

use super::merge::{Preferred, preferred};
use super::{Damage, read_doc};
use crate::file_lock::{self, FileLock, LockError};

/// Changes the catalog. The lifecycle has the only one.
#[derive(Debug)]
pub(crate) struct CatalogWriter {
    path: PathBuf,
    /// What could not be saved yet. It is merged with the disk at the next save.
    pending: Mutex<BTreeMap<String, Pending>>,
}

#[derive(Debug)]
enum Pending {
    Set(Box<CodebaseInfo>),
    Remove,
}

/// Why a change is not on disk. It stays pending.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SaveError {
    /// Another process kept the lock for too long.
    #[error("the catalog is busy: {0}")]
    Busy(#[from] LockError),
    /// The file could not be written.
    #[error("the catalog cannot be written: {path}: {source}", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The file cannot be read, so that writing it would lose what is in it.
    #[error("{0}")]
    Unreadable(String),
}

/// A damaged file that was moved out of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quarantined {
    pub(crate) to: PathBuf,
    pub(crate) reason: String,
}

impl CatalogWriter {
    pub(crate) fn new(data: &Path) -> Self {
        Self { path: data.join("codebases.json"), pending: Mutex::default() }
    }

    /// Sets an entry and saves.
    pub(crate) fn set(&self, root: &str, info: CodebaseInfo) -> Result<(), SaveError> {
        self.change(root, Pending::Set(Box::new(info)))
    }

    /// Removes an entry and saves: an explicit `clear` or `prune`.
    pub(crate) fn remove(&self, root: &str) -> Result<(), SaveError> {
        self.change(root, Pending::Remove)
    }

    /// Forgets what could not be saved for a root: the operation that wanted it has failed and said so.
    pub(crate) fn abandon(&self, root: &str) {
        self.pending().remove(root);
    }

    /// Adds to what is pending and merges all of it into the file. The mutex is held to the end, so that a change of
    /// another thread is either in this save or in its own, never between them.
    fn change(&self, root: &str, change: Pending) -> Result<(), SaveError> {
        let mut pending = self.pending();
        pending.insert(root.to_owned(), change);
        let _lock = self.lock()?;
        let mut doc = match read_doc(&self.path) {
            Ok(doc) => doc.unwrap_or_default(),
            Err(Damage::Malformed { reason, .. }) => {
                // The start-up recovery runs before any mutation; damage in between is set aside here, and the
                // entries come back from the markers at the next reconcile.
                let quarantined = self.set_aside(reason)?;
                tracing::error!(to = %quarantined.to.display(), reason = quarantined.reason, "the catalog was damaged and is set aside");
                CatalogDoc::default()
            }
            Err(error @ Damage::Unreadable { .. }) => return Err(SaveError::Unreadable(error.to_string())),
        };
        let now = jiff::Timestamp::now();
        for (root, change) in &*pending {
            match change {
                Pending::Remove => {
                    doc.codebases.remove(root);
                    doc.unreadable.remove(root);
                }
                Pending::Set(local) => {
                    let keep_disk = doc
                        .codebases
                        .get(root)
                        .is_some_and(|disk| preferred(disk, local, now) == Preferred::Disk);
                    if !keep_disk {
                        doc.unreadable.remove(root);
                        doc.codebases.insert(root.clone(), (**local).clone());
                    }
                }
            }
        }
        self.write(&doc.to_bytes(&now.to_string()))?;
        pending.clear();
        Ok(())
    }

    /// Moves a damaged file out of the way, so that the next save starts afresh.
    pub(crate) fn quarantine_if_damaged(&self) -> Result<Option<Quarantined>, SaveError> {
        match read_doc(&self.path) {
            Ok(_) => return Ok(None),
            Err(error @ Damage::Unreadable { .. }) => return Err(SaveError::Unreadable(error.to_string())),
            Err(Damage::Malformed { .. }) => {}
        }
        let _lock = self.lock()?;
        // Another process may have mended it while this one waited.
        match read_doc(&self.path) {
            Err(Damage::Malformed { reason, .. }) => self.set_aside(reason).map(Some),
            Ok(_) | Err(Damage::Unreadable { .. }) => Ok(None),
        }
    }

    fn set_aside(&self, reason: String) -> Result<Quarantined, SaveError> {
        let to = self.sibling("corrupt", ".json");
        fs::rename(&self.path, &to).map_err(|source| SaveError::Write { path: to.clone(), source })?;
        Ok(Quarantined { to, reason })
    }

    fn lock(&self) -> Result<FileLock, LockError> {
        FileLock::acquire(&self.path.with_extension("json.lock"), file_lock::WAIT)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), SaveError> {
        let temporary = self.sibling("tmp", "");
        let written = (|| {
            let mut file = File::create(&temporary)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&temporary, &self.path)
        })();
        written.map_err(|source| {
            if let Err(error) = fs::remove_file(&temporary) {
                tracing::debug!(%error, "a temporary catalog could not be removed");
            }
            SaveError::Write { path: self.path.clone(), source }
        })
    }

    fn sibling(&self, kind: &str, suffix: &str) -> PathBuf {
        let pid = std::process::id();
        let milliseconds = jiff::Timestamp::now().as_millisecond();
        let random = uuid::Uuid::new_v4().simple();
        self.path.with_file_name(format!("codebases.json.{kind}-{pid}-{milliseconds}-{random}{suffix}"))
    }

    fn pending(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
