//! Files that are made beside those they replace: a kill in between leaves one. Where our folder is on another disk than the
//! user's they lie among the user's, so that a restore notes beforehand where that may be, and whoever takes the lock
//! next clears them away.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::place::{bytes, from_bytes};
use crate::record::replace;

/// The note: how their names begin, then each folder, separated by NUL.
const NOTE: &str = "restoring";
/// How the names of our own files begin while they are written.
const OURS: [&str; 2] = [".tmp", ".restored-"];

/// How the files of one restore are called until they are in their places.
pub(super) struct Strays {
    pub(super) prefix: String,
    store: PathBuf,
}

impl Strays {
    /// Notes where files are going to be put. Nothing is noted if all of it is on the disk of our own folder.
    pub(super) fn of<'a>(
        store: &Path,
        began: SystemTime,
        folders: impl Iterator<Item = &'a Path>,
    ) -> std::io::Result<Self> {
        let nanos = began.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let prefix = format!("{}{nanos:x}-", OURS[1]);
        let ours = store.metadata()?.dev();
        let elsewhere: BTreeSet<&Path> = folders.filter(|folder| disk_of(folder) != Some(ours)).collect();
        if !elsewhere.is_empty() {
            let mut text = prefix.clone().into_bytes();
            for folder in elsewhere {
                text.push(0);
                text.extend(bytes(folder));
            }
            replace(&store.join(NOTE), &text)?;
        }
        Ok(Self { prefix, store: store.to_path_buf() })
    }

    /// All of them are in their places.
    pub(super) fn settled(self) {
        remove_stray(&self.store.join(NOTE));
    }
}

/// The disk on which a folder lies, or is going to lie.
fn disk_of(folder: &Path) -> Option<u64> {
    folder.ancestors().find_map(|above| above.symlink_metadata().ok()).map(|found| found.dev())
}

/// Clears away what a kill has left, here and among the user's files. Whoever calls holds the lock.
pub(crate) fn clear_away(store: &Path) {
    for prefix in OURS {
        clear(store, prefix.as_bytes());
    }
    let note = store.join(NOTE);
    let Ok(text) = std::fs::read(&note) else { return };
    let mut fields = text.split(|byte| *byte == 0);
    let prefix = fields.next().unwrap_or_default();
    // Whatever the note has become: a file of the user's is not called so.
    if prefix.starts_with(OURS[1].as_bytes()) && prefix.len() > OURS[1].len() {
        for folder in fields {
            clear(&from_bytes(folder), prefix);
        }
    }
    remove_stray(&note);
}

fn clear(folder: &Path, prefix: &[u8]) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
        if is_file && OsStr::as_bytes(&entry.file_name()).starts_with(prefix) {
            remove_stray(&entry.path());
        }
    }
}

/// Removes a file of ours that may be gone already.
pub(crate) fn remove_stray(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!("{} cannot be removed: {error}", path.display());
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kill_left_is_cleared_away_and_nothing_of_the_users() {
        let (store, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // On one disk nothing is noted; a note is written as it would be on two.
        let strays = Strays::of(store.path(), SystemTime::now(), std::iter::once(user.path())).unwrap();
        assert!(!store.path().join(NOTE).exists());
        let mut note = strays.prefix.clone().into_bytes();
        note.push(0);
        note.extend(bytes(user.path()));
        std::fs::write(store.path().join(NOTE), note).unwrap();
        let left = [
            store.path().join(".tmpAbCdEf"),
            store.path().join(format!("{}x", strays.prefix)),
            user.path().join(format!("{}y", strays.prefix)),
        ];
        let kept = [
            store.path().join("records.jsonl"),
            user.path().join(".restored-by-hand"),
            user.path().join(".tmpAbCdEf"),
            user.path().join("a.txt"),
        ];
        for path in left.iter().chain(&kept) {
            std::fs::write(path, "x").unwrap();
        }
        clear_away(store.path());
        assert!(left.iter().all(|path| !path.exists()), "{left:?}");
        assert!(kept.iter().all(|path| path.exists()), "{kept:?}");
        assert!(!store.path().join(NOTE).exists());
    }

    #[test]
    fn a_note_that_makes_no_sense_clears_nothing() {
        let (store, user) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(user.path().join("a.txt"), "x").unwrap();
        for prefix in ["", ".restored-", "a"] {
            let mut note = prefix.as_bytes().to_vec();
            note.push(0);
            note.extend(bytes(user.path()));
            std::fs::write(store.path().join(NOTE), note).unwrap();
            clear_away(store.path());
            assert!(user.path().join("a.txt").exists(), "{prefix}");
        }
    }
}
