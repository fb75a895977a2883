//! The folder a user has opened, by its real path.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An existing folder by its absolute path without symbolic links.
///
/// It is a fact of the moment it was made: whoever acts on the folder later checks again, as the boundary and
/// the trust store do.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CanonicalRoot(Arc<Path>);

/// Why a folder cannot be a root.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// The folder is not there or may not be read.
    #[error("{} cannot be opened: {error}", path.display())]
    Unreadable {
        /// As it was given.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// It is a file.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// As it was given.
        path: PathBuf,
    },
}

impl CanonicalRoot {
    /// Resolves every symbolic link of `path`, which must be an existing folder.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RootError> {
        let path = path.as_ref();
        let unreadable = |error| RootError::Unreadable { path: path.to_path_buf(), error };
        let real = path.canonicalize().map_err(unreadable)?;
        if !real.metadata().map_err(unreadable)?.is_dir() {
            return Err(RootError::NotAFolder { path: real });
        }
        Ok(CanonicalRoot(real.into()))
    }

    /// The absolute path, without symbolic links.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The path of a file below this root as the user says it: relative, with `/`. `None` if it is not below.
    pub fn relative<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.strip_prefix(self.as_path()).ok()
    }
}

impl AsRef<Path> for CanonicalRoot {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for CanonicalRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

impl fmt::Debug for CanonicalRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalRoot({})", self.0.display())
    }
}
