//! A quick look at files that others may have changed: shells, git, a person's editor.
//!
//! Looked at is what lies below the workspace's folder, from there down and without following any link, as everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{self, Folder};
use chartroom_workspace::watch::Change;

/// What tells a file's content apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    inode: u64,
}

impl Stamp {
    /// Looks at a file; nothing when it is gone, or when a link is in its place.
    fn of(workspace: &Workspace<'_>, path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        let metadata = workspace.folder.as_ref()?.metadata(workspace.root.relative(path)?).ok()?;
        if metadata.is_symlink() {
            return None;
        }
        Some(Self { modified: metadata.modified().ok(), length: metadata.len(), inode: metadata.ino() })
    }
}

/// The workspace's folder, held open for one look.
struct Workspace<'a> {
    root: &'a CanonicalRoot,
    folder: Option<Folder>,
}

impl<'a> Workspace<'a> {
    fn open(root: &'a CanonicalRoot) -> Self {
        Self { root, folder: Folder::of(root).ok() }
    }

    fn listing(&self, folder: &Path) -> (Option<Stamp>, BTreeSet<OsString>) {
        let names = || self.folder.as_ref()?.names(self.root.relative(folder)?, MAX_ENTRIES).ok();
        (Stamp::of(self, folder), names().into_iter().flatten().collect())
    }
}

/// What is remembered of the files and folders that matter to a server.
#[derive(Debug)]
pub(crate) struct DiskChanges {
    root: CanonicalRoot,
    files: BTreeMap<PathBuf, Option<Stamp>>,
    folders: BTreeMap<PathBuf, (Option<Stamp>, BTreeSet<OsString>)>,
}

/// A folder with more entries than this is not listed: nobody edits there.
const MAX_ENTRIES: usize = 5_000;

impl DiskChanges {
    /// Knows nothing yet of what lies below the root.
    pub(crate) fn new(root: CanonicalRoot) -> Self {
        Self { root, files: BTreeMap::new(), folders: BTreeMap::new() }
    }

    /// Remembers a file as it is now, without calling it changed: we have just told the server ourselves.
    pub(crate) fn note(&mut self, file: &Path) {
        let workspace = Workspace::open(&self.root);
        self.files.insert(file.to_owned(), Stamp::of(&workspace, file));
        if let Some(folder) = file.parent() {
            let (_, names) =
                self.folders.entry(folder.to_owned()).or_insert_with(|| workspace.listing(folder));
            if let Some(name) = file.file_name() {
                names.insert(name.to_owned());
            }
        }
    }

    /// When a file was last written, as the file system says; nothing when it is gone.
    pub(crate) fn modified(&self, file: &Path) -> Option<SystemTime> {
        Stamp::of(&Workspace::open(&self.root), file)?.modified
    }

    /// Forgets a file.
    pub(crate) fn forget(&mut self, file: &Path) {
        self.files.remove(file);
    }

    /// Looks again at every remembered file, and for new files beside them that `matters`.
    pub(crate) fn changes(&mut self, matters: impl Fn(&Path) -> bool) -> Vec<(PathBuf, Change)> {
        let workspace = Workspace::open(&self.root);
        let mut changes = BTreeMap::new();
        for (file, stamp) in &mut self.files {
            let now = Stamp::of(&workspace, file);
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
            if Stamp::of(&workspace, folder) == *stamp {
                continue;
            }
            let (now, listed) = workspace.listing(folder);
            for name in listed.difference(names) {
                let file = folder.join(name);
                if matters(&file) && boundary::inside(&self.root, &file).is_ok_and(|file| file.is_file()) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> (tempfile::TempDir, CanonicalRoot) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("root")).unwrap();
        let root = CanonicalRoot::open(folder.path().join("root")).unwrap();
        (folder, root)
    }

    fn is_typescript(file: &Path) -> bool {
        file.extension().is_some_and(|extension| extension == "ts")
    }

    #[test]
    fn what_a_shell_created_changed_and_deleted_is_seen_once() {
        let (_folder, root) = workspace();
        let path = |name: &str| root.as_path().join(name);
        for name in ["a.ts", "b.ts", "c.ts"] {
            std::fs::write(path(name), "1").unwrap();
        }
        let mut disk_changes = DiskChanges::new(root.clone());
        disk_changes.note(&path("a.ts"));
        disk_changes.note(&path("b.ts"));
        assert_eq!(disk_changes.changes(is_typescript), []);

        std::fs::write(path("a.ts"), "longer").unwrap();
        std::fs::remove_file(path("b.ts")).unwrap();
        std::fs::remove_file(path("c.ts")).unwrap();
        std::fs::write(path("new.ts"), "1").unwrap();
        std::fs::write(path("new.txt"), "1").unwrap();
        assert_eq!(
            disk_changes.changes(is_typescript),
            [
                (path("a.ts"), Change::Changed),
                (path("b.ts"), Change::Deleted),
                (path("c.ts"), Change::Deleted),
                (path("new.ts"), Change::Created),
            ]
        );
        assert_eq!(disk_changes.changes(is_typescript), []);
    }

    /// What a link leads to is not looked at, whether the file or a folder above it was swapped for one.
    #[test]
    fn a_link_in_the_place_of_a_file_or_its_folder_is_no_file() {
        use std::os::unix::fs::symlink;
        let (folder, root) = workspace();
        let path = |name: &str| root.as_path().join(name);
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        for name in ["outside/a.ts", "outside/secret.ts", "outside/b.ts"] {
            std::fs::write(folder.path().join(name), "1").unwrap();
        }
        std::fs::create_dir(path("sub")).unwrap();
        std::fs::write(path("a.ts"), "1").unwrap();
        std::fs::write(path("sub/b.ts"), "1").unwrap();
        let mut disk_changes = DiskChanges::new(root.clone());
        disk_changes.note(&path("a.ts"));
        disk_changes.note(&path("sub/b.ts"));

        std::fs::remove_file(path("a.ts")).unwrap();
        symlink(folder.path().join("outside/a.ts"), path("a.ts")).unwrap();
        symlink("/dev/zero", path("zero.ts")).unwrap();
        std::fs::remove_dir_all(path("sub")).unwrap();
        symlink(folder.path().join("outside"), path("sub")).unwrap();
        assert_eq!(
            disk_changes.changes(is_typescript),
            [(path("a.ts"), Change::Deleted), (path("sub/b.ts"), Change::Deleted)]
        );
        assert_eq!(disk_changes.changes(is_typescript), []);
    }
}
