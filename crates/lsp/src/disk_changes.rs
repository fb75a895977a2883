//! A quick look at files that others may have changed: shells, git, a person's editor.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// What tells a file's content apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Stamp {
    /// Looks at a file; nothing when it is gone.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Self { modified: metadata.modified().ok(), length: metadata.len(), inode: metadata.ino() })
    }
}

/// How a file differs from when we last looked; the number is the protocol's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Created = 1,
    Changed = 2,
    Deleted = 3,
}

/// What is remembered of the files and folders that matter to a server.
#[derive(Debug, Default)]
pub(crate) struct DiskChanges {
    files: BTreeMap<PathBuf, Option<Stamp>>,
    folders: BTreeMap<PathBuf, (Option<Stamp>, BTreeSet<OsString>)>,
}

/// A folder with more entries than this is not listed: nobody edits there.
const MAX_ENTRIES: usize = 5_000;

impl DiskChanges {
    /// Remembers a file as it is now, without calling it changed: we have just told the server ourselves.
    pub(crate) fn note(&mut self, file: &Path) {
        self.files.insert(file.to_owned(), Stamp::of(file));
        if let Some(folder) = file.parent() {
            let (_, names) = self.folders.entry(folder.to_owned()).or_insert_with(|| listing(folder));
            if let Some(name) = file.file_name() {
                names.insert(name.to_owned());
            }
        }
    }

    /// Forgets a file.
    pub(crate) fn forget(&mut self, file: &Path) {
        self.files.remove(file);
    }

    /// Looks again at every remembered file, and for new files beside them that `matters`.
    pub(crate) fn changes(&mut self, matters: impl Fn(&Path) -> bool) -> Vec<(PathBuf, Change)> {
        let mut changes = BTreeMap::new();
        for (file, stamp) in &mut self.files {
            let now = Stamp::of(file);
            if now == *stamp {
                continue;
            }
            let change = match (&stamp, &now) {
                (None, _) => Change::Created,
                (_, None) => Change::Deleted,
                _ => Change::Changed,
            };
            *stamp = now;
            changes.insert(file.clone(), change);
        }
        for (folder, (stamp, names)) in &mut self.folders {
            // A folder's time changes when an entry comes or goes.
            if Stamp::of(folder) == *stamp {
                continue;
            }
            let (now, listed) = listing(folder);
            for name in listed.difference(names) {
                let file = folder.join(name);
                if matters(&file) && file.is_file() {
                    changes.entry(file).or_insert(Change::Created);
                }
            }
            for name in names.difference(&listed) {
                let file = folder.join(name);
                if matters(&file) {
                    changes.entry(file).or_insert(Change::Deleted);
                }
            }
            *stamp = now;
            *names = listed;
        }
        changes.into_iter().collect()
    }
}

fn listing(folder: &Path) -> (Option<Stamp>, BTreeSet<OsString>) {
    let stamp = Stamp::of(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    (stamp, entries.take(MAX_ENTRIES).map(|entry| entry.file_name()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_created_changed_and_deleted_is_seen_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["a.ts", "b.ts", "c.ts"] {
            std::fs::write(path(name), "1").unwrap();
        }
        let mut disk_changes = DiskChanges::default();
        disk_changes.note(&path("a.ts"));
        disk_changes.note(&path("b.ts"));
        let matters = |file: &Path| file.extension().is_some_and(|extension| extension == "ts");
        assert_eq!(disk_changes.changes(matters), []);

        std::fs::write(path("a.ts"), "longer").unwrap();
        std::fs::remove_file(path("b.ts")).unwrap();
        std::fs::remove_file(path("c.ts")).unwrap();
        std::fs::write(path("new.ts"), "1").unwrap();
        std::fs::write(path("new.txt"), "1").unwrap();
        assert_eq!(
            disk_changes.changes(matters),
            [
                (path("a.ts"), Change::Changed),
                (path("b.ts"), Change::Deleted),
                (path("c.ts"), Change::Deleted),
                (path("new.ts"), Change::Created),
            ]
        );
        assert_eq!(disk_changes.changes(matters), []);
    }
}
