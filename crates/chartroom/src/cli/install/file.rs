//! A config file of another program: read whole, written whole, never half.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A file before and after.
#[derive(Debug)]
pub(super) struct Change {
    /// Links resolved, so that a linked dotfile stays a link.
    pub(super) path: PathBuf,
    /// What is done to it, for the report.
    pub(super) what: String,
    before: Option<String>,
    after: String,
}

/// Reads `path`; a missing file is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{} cannot be read ({error}); mend its permissions", path.display())),
    }
}

impl Change {
    pub(super) fn new(path: &Path, what: &str, before: Option<String>, after: String) -> Self {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Self { path, what: what.to_owned(), before, after }
    }

    pub(super) fn is_needed(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    pub(super) fn write(&self) -> Result<(), String> {
        if !self.is_needed() {
            return Ok(());
        }
        let write = || -> std::io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::Builder::new().prefix(".chartroom").tempfile_in(folder)?;
            // The client's own choice of who may read it stays; a new file is the user's alone.
            if let Ok(metadata) = self.path.metadata() {
                file.as_file().set_permissions(metadata.permissions())?;
            }
            file.write_all(self.after.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| {
            format!("{} cannot be written ({error}); mend its permissions", self.path.display())
        })
    }
}
