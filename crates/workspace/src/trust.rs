//! Which workspaces the user trusts: a private file outside of all of them.
//!
//! A folder is known by its canonical path together with device, inode and birth time, so that a folder put in
//! its place is a stranger. Nothing is inherited from parents or git worktrees; a worktree that we made ourselves of a
//! trusted repository has a record of its own. The file is read at every check, so that what another process revoked
//! counts at once.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::CanonicalRoot;
use crate::boundary::Folder;

mod file;
mod worktree;

use file::TrustFile;
pub use worktree::{GitFolders, WorktreeOf};

/// Why trust could not be changed or listed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The store could not be read or written.
    #[error("the trust store {} cannot be used: {error}; check the folder's owner and mode", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The folder contains our own data folder: who may write it could trust anything.
    #[error("{root} cannot be trusted: it contains Chartroom's own data folder {}, so that anything in it could trust itself; move the data folder with CHARTROOM_HOME or open a folder below", data.display())]
    HoldsStore {
        /// The folder.
        root: CanonicalRoot,
        /// The data folder inside it.
        data: PathBuf,
    },
    /// The path cannot be written down.
    #[error("{root} cannot be trusted: its path is not UTF-8; rename it")]
    NotUtf8 {
        /// The folder.
        root: CanonicalRoot,
    },
    /// It is no worktree of that repository, or the repository is not trusted.
    #[error("{root} cannot be trusted: it is no worktree of a trusted repository at {of}")]
    NoWorktree {
        /// The folder.
        root: CanonicalRoot,
        /// The folder of the repository.
        of: CanonicalRoot,
    },
    /// The folder is not there.
    #[error("{root} cannot be trusted: it is gone or was replaced while being asked")]
    Gone {
        /// The folder.
        root: CanonicalRoot,
    },
}

/// A folder the user trusts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrustedRoot {
    /// The canonical path that was shown to the user.
    pub path: PathBuf,
    /// Which folder that was: another one under the same path is not trusted.
    #[serde(flatten)]
    pub identity: Identity,
    /// Seconds since 1970.
    pub trusted_at: u64,
    /// It is a worktree of our making: it is trusted only as long as this holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_of: Option<WorktreeOf>,
}

/// What makes a folder that folder and not another at the same path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The folder's number in it.
    pub inode: u64,
    /// Nanoseconds since 1970, where the file system knows: inode numbers are given out again.
    #[serde(default)]
    pub born: Option<u64>,
}

impl Identity {
    /// Returns what is at `path` now, if that is a folder and no link.
    fn of(path: &Path) -> Option<Self> {
        Self::read(&path.symlink_metadata().ok()?)
    }

    fn read(metadata: &Metadata) -> Option<Self> {
        let born = metadata.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        metadata.is_dir().then(|| Identity {
            device: metadata.dev(),
            inode: metadata.ino(),
            born: born.and_then(|born| u64::try_from(born.as_nanos()).ok()),
        })
    }
}

/// The user's decisions about trust.
#[derive(Debug)]
pub struct TrustStore {
    file: TrustFile,
    revocations: broadcast::Sender<PathBuf>,
}

impl TrustStore {
    /// Opens the store in the data folder, which is made private (0700). A missing file trusts nothing.
    pub fn open(data_dir: &Path) -> Result<Self, TrustError> {
        let file = TrustFile::open(data_dir)?;
        // A reader that falls behind is told so and looks at everything: nothing is lost when this is full.
        Ok(TrustStore { file, revocations: broadcast::Sender::new(64) })
    }

    /// Whether the user trusts the folder that is at this path now. Any doubt is a no.
    pub fn is_trusted(&self, root: &CanonicalRoot) -> bool {
        current_identity(root).is_some_and(|identity| self.knows(root, &identity))
    }

    /// Whether the user trusts this very folder, held open, under the root's path. Any doubt is a no.
    pub(crate) fn is_trusted_folder(&self, root: &CanonicalRoot, folder: &Folder) -> bool {
        let identity = folder.own_metadata().ok().and_then(|metadata| Identity::read(&metadata));
        identity.is_some_and(|identity| self.knows(root, &identity))
    }

    fn knows(&self, root: &CanonicalRoot, identity: &Identity) -> bool {
        match self.file.read() {
            Ok(trusted) => trusted.iter().any(|entry| {
                entry.path == root.as_path()
                    && entry.identity == *identity
                    && entry.worktree_of.as_ref().is_none_or(|of| of.holds(root, &trusted))
            }),
            Err(error) => {
                tracing::warn!(%error, "the trust store cannot be read; nothing is trusted");
                false
            }
        }
    }

    /// Trusts the folder that is at this path now. To be called only after an act of the user.
    pub fn trust(&self, root: &CanonicalRoot) -> Result<(), TrustError> {
        self.record(root, None)
    }

    /// Trusts a worktree that we have just made ourselves of a repository around a folder that the user trusts, whose shared
    /// files are in `common`. It is trusted as long as that folder is, and as long as it belongs to that repository.
    pub fn trust_worktree(
        &self,
        root: &CanonicalRoot,
        of: &CanonicalRoot,
        common: &CanonicalRoot,
    ) -> Result<(), TrustError> {
        let gone = |root: &CanonicalRoot| TrustError::Gone { root: root.clone() };
        let worktree_of = WorktreeOf::now(of, common).ok_or_else(|| gone(of))?;
        let all = self.file.read()?;
        if !worktree_of.holds(root, &all) {
            return Err(TrustError::NoWorktree { root: root.clone(), of: of.clone() });
        }
        self.record(root, Some(worktree_of))
    }

    /// Returns the folder that a worktree of our making was made of.
    pub fn made_of(&self, root: &CanonicalRoot) -> Option<PathBuf> {
        let all = self.file.read().ok()?;
        let entry = all.into_iter().find(|entry| entry.path == root.as_path())?;
        entry.worktree_of.map(|of| of.path)
    }

    /// Returns where git keeps what belongs to a worktree of our making, if it is trusted as one.
    pub(crate) fn git_of_worktree(&self, root: &CanonicalRoot) -> Option<GitFolders> {
        let all = self.file.read().ok()?;
        let entry = all.iter().find(|entry| entry.path == root.as_path())?;
        let of = entry.worktree_of.as_ref()?;
        (current_identity(root)? == entry.identity && of.holds(root, &all)).then(|| of.git_folders(root))?
    }

    fn record(&self, root: &CanonicalRoot, worktree_of: Option<WorktreeOf>) -> Result<(), TrustError> {
        if self.file.folder().starts_with(root.as_path()) {
            let data = self.file.folder().to_path_buf();
            return Err(TrustError::HoldsStore { root: root.clone(), data });
        }
        if root.as_path().to_str().is_none() {
            return Err(TrustError::NotUtf8 { root: root.clone() });
        }
        let identity = current_identity(root).ok_or_else(|| TrustError::Gone { root: root.clone() })?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let entry =
            TrustedRoot { path: root.as_path().to_path_buf(), identity, trusted_at: now, worktree_of };
        self.file.change(|trusted| {
            trusted.retain(|other| other.path != entry.path);
            trusted.push(entry);
            trusted.sort_by(|a, b| a.path.cmp(&b.path));
        })
    }

    /// Takes trust back. Returns whether there was any. The path need not exist any more. On a full disk this succeeds
    /// too, if need be by trusting nothing any more.
    pub fn revoke(&self, path: &Path) -> Result<bool, TrustError> {
        let found = self.file.remove(|entry| entry.path == path)?;
        // Nobody may be listening; the file has it anyway.
        self.revocations.send(path.to_path_buf()).ok();
        Ok(found)
    }

    /// Returns what is trusted, by path. Entries whose folder was replaced are listed too, and trusted no more.
    pub fn list(&self) -> Result<Vec<TrustedRoot>, TrustError> {
        self.file.read()
    }

    /// Receives every revocation made through this store. Those of other processes are seen at the next check.
    pub fn subscribe(&self) -> broadcast::Receiver<PathBuf> {
        self.revocations.subscribe()
    }
}

/// The identity of the folder at the root's path, provided that no link has crept into that path.
fn current_identity(root: &CanonicalRoot) -> Option<Identity> {
    let real = root.as_path().canonicalize().ok()?;
    if real == root.as_path() { Identity::of(root.as_path()) } else { None }
}
