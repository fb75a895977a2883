//! A temporary folder of a child's own, where it could not make files in the one that it would use.
//!
//! Landlock only grants. In a folder with something hidden below it, each entry that is there is granted, and nothing
//! new can be made beside them: a right to make files there would reach down to what is hidden. So when the
//! temporary folder is one of those (our data or the user's keys lie in it), or has the whole home in it, the child is
//! given a folder in there that is wholly its own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use chartroom_transport::ExitWatch;

use super::folders::Folders;
use crate::gate::ChildKind;

/// How its name begins, so that a sweep removes nothing else.
const PREFIX: &str = "chartroom-";

/// Removed when this is dropped; after a kill, by the next sweep.
#[derive(Debug)]
pub(in crate::gate) struct TemporaryFolder {
    folder: tempfile::TempDir,
}

impl TemporaryFolder {
    /// Makes one, if the child could not make files in the folder that its environment names.
    pub(super) fn if_needed(folders: &Folders<'_>, hidden: &[PathBuf]) -> io::Result<Option<Self>> {
        let in_use = folders.temporary_in_use();
        // One that is not there is the user's mistake, which the child's own words tell best.
        let Ok(real) = in_use.canonicalize() else { return Ok(None) };
        if folders.is_narrow(&real) && !has_below(&real, hidden) {
            return Ok(None);
        }
        let private = Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(&real)?;
        Ok(Some(TemporaryFolder { folder }))
    }

    pub(in crate::gate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Tells a child of it.
    pub(in crate::gate) fn announce(&self, kind: ChildKind, env: &mut BTreeMap<OsString, OsString>) {
        env.insert("TMPDIR".into(), self.path().into());
        // Go and Claude would look elsewhere.
        env.remove(OsStr::new("GOTMPDIR"));
        if kind == ChildKind::Agent {
            env.insert("CLAUDE_CODE_TMPDIR".into(), self.path().into());
        }
    }

    /// Keeps it until the child has ended. Must be called within a tokio runtime.
    pub(in crate::gate) fn keep_until(self, exit: ExitWatch) {
        tokio::spawn(async move {
            exit.wait().await;
            // It may hold much, and removing waits for the disk.
            tokio::task::spawn_blocking(move || {
                let path = self.path().to_owned();
                if let Err(error) = self.folder.close() {
                    tracing::warn!(path = %path.display(), %error, "a child's temporary folder cannot be removed");
                }
            });
        });
    }
}

/// Removes what a killed run has left, if the name is one of ours.
pub(in crate::gate) fn remove_left(path: &Path) {
    let is_ours = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    if !is_ours || !path.is_absolute() {
        return;
    }
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "a temporary folder of an older run cannot be removed");
        }
        Ok(()) | Err(_) => {}
    }
}

/// Whether something hidden lies below a folder, by its name or by where that leads.
fn has_below(folder: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|hidden| {
        hidden.starts_with(folder) || hidden.canonicalize().is_ok_and(|real| real.starts_with(folder))
    })
}
