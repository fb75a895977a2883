//! A config file of another program: read whole, written whole, never half.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use chartroom_workspace::boundary::ReadError;
use chartroom_workspace::regular;

use super::record::{Inserted, Record, inserted};

/// A file before and after.
#[derive(Debug)]
pub(super) struct Change {
    /// Links resolved, so that a linked dotfile stays a link.
    pub(super) path: PathBuf,
    /// What is done to it, for the report.
    pub(super) what: String,
    before: Option<String>,
    /// Without one the file goes.
    after: Option<String>,
    /// What the file is without what an earlier install put in, if that is known.
    without_ours: Option<String>,
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
        Self { path: real(path), what: what.to_owned(), before, after: Some(after), without_ours: None }
    }

    /// The file goes, because an install made it and nothing else is in it.
    pub(super) fn removal(path: &Path, what: &str, before: Option<String>) -> Self {
        Self { path: real(path), what: what.to_owned(), before, after: None, without_ours: None }
    }

    /// An install over an older one: what counts as put in is the difference to `text`.
    pub(super) fn over(mut self, text: Option<String>) -> Self {
        self.without_ours = text;
        self
    }

    pub(super) fn is_needed(&self) -> bool {
        match &self.after {
            Some(after) => self.before.as_deref().unwrap_or_default() != after,
            None => true,
        }
    }

    /// Writes the file, and remembers what was put into it.
    pub(super) fn write(&self, record: &mut Record) -> Result<(), String> {
        if !self.is_needed() {
            return Ok(());
        }
        let Some(after) = &self.after else { return self.remove(record) };
        let made_file = self.before.is_none();
        let made_folder = made_file && self.path.parent().is_some_and(|folder| !folder.exists());
        let earlier = record.of(&self.path).cloned();
        let base = self.without_ours.as_deref().or(self.before.as_deref()).unwrap_or_default();
        let put = inserted(base, after).map(|text| Inserted {
            text,
            made_file: made_file || earlier.as_ref().is_some_and(|earlier| earlier.made_file),
            made_folder: made_folder || earlier.as_ref().is_some_and(|earlier| earlier.made_folder),
        });
        record.set(&self.path, put);
        let write = || -> std::io::Result<()> {
            let folder = self.path.parent().unwrap_or(Path::new("/"));
            std::fs::create_dir_all(folder)?;
            let mut file = tempfile::Builder::new().prefix(".chartroom").tempfile_in(folder)?;
            // The client's own choice of who may read it stays; a new file is the user's alone.
            if let Ok(metadata) = self.path.metadata() {
                file.as_file().set_permissions(metadata.permissions())?;
            }
            file.write_all(after.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&self.path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|error| {
            format!("{} cannot be written ({error}); mend its permissions", self.path.display())
        })
    }

    fn remove(&self, record: &mut Record) -> Result<(), String> {
        std::fs::remove_file(&self.path)
            .map_err(|error| format!("{} cannot be removed ({error})", self.path.display()))?;
        if let Some(folder) = self.path.parent()
            && record.of(&self.path).is_some_and(|put| put.made_folder)
            && let Err(error) = std::fs::remove_dir(folder)
        {
            tracing::debug!("{} stays: {error}", folder.display());
        }
        record.set(&self.path, None);
        Ok(())
    }
}

/// Links resolved, so that a linked dotfile stays a link.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The file's text without what an earlier install put in, when that stands there as it was written.
pub(super) fn without_ours(path: &Path, text: &str, record: &Record) -> Option<String> {
    record.of(&real(path)).and_then(|put| put.taken_out(text))
}

/// Whether an earlier install made the file.
pub(super) fn was_made(path: &Path, record: &Record) -> bool {
    record.of(&real(path)).is_some_and(|put| put.made_file)
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
