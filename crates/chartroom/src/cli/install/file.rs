//! A config file of another program: read whole, written whole, never half.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use chartroom_workspace::boundary::ReadError;
use chartroom_workspace::regular;

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

/// No client keeps more than this in its config.
const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// Reads `path`; a missing file is none.
pub(super) fn read(path: &Path) -> Result<Option<String>, String> {
    let unread =
        |error: &dyn std::fmt::Display| format!("{} cannot be read ({error}); mend it", path.display());
    match regular::read(path, MOST_BYTES) {
        Ok((bytes, _)) => String::from_utf8(bytes).map(Some).map_err(|error| unread(&error.utf8_error())),
        Err(ReadError::Missing) => Ok(None),
        Err(error) => Err(unread(&error)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_or_has_no_end_is_refused_and_a_missing_one_is_none() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.json"), "{}").unwrap();
        std::fs::write(folder.path().join("latin"), b"\xff").unwrap();
        std::os::unix::fs::symlink("/dev/zero", folder.path().join("endless")).unwrap();
        let said = |name: &str| read(&folder.path().join(name));
        assert_eq!(said("config.json"), Ok(Some("{}".to_owned())));
        assert_eq!(said("none"), Ok(None));
        for (name, why) in [("endless", "not a regular file"), (".", "a folder"), ("latin", "utf-8")] {
            assert!(matches!(said(name), Err(error) if error.contains(why)), "{name}");
        }
    }
}
