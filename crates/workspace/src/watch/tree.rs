//! The files of a workspace as they were when somebody last looked, folder by folder.
//!
//! Everything is opened by descriptor below the root, and no link is followed. Caches and output that no server reads are
//! left out; what ignore files name is not: code generators write there. Of dependencies it is known which are there, and
//! nothing of what is in them: an installation is told by the packages that came and went.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use super::kernel::Kernel;
use super::{Change, Changes, Kind};
use crate::CanonicalRoot;
use crate::boundary::{self, Folder};
use crate::walk::DEFAULT_IGNORED;

/// Of a folder with more entries than this the rest is not remembered.
const MAX_ENTRIES: usize = 20_000;
/// More folders than this are not entered.
const MAX_FOLDERS: usize = 100_000;

/// What tells a file's content apart without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: (i128, i128),
    changed: (i128, i128),
    length: i128,
    inode: i128,
}

#[derive(Debug, Default)]
struct Listing {
    files: BTreeMap<OsString, Stamp>,
    folders: BTreeSet<OsString>,
}

/// What is remembered, by folders' paths from the root.
pub(super) struct Tree {
    root: CanonicalRoot,
    folders: BTreeMap<PathBuf, Listing>,
}

impl Tree {
    pub(super) fn new(root: CanonicalRoot) -> Self {
        Self { root, folders: BTreeMap::new() }
    }

    /// Takes in a folder with all that is in it, watched by the kernel if there is one: its files have come.
    pub(super) fn enter(
        &mut self,
        below: PathBuf,
        mut kernel: Option<&mut Kernel>,
        changes: &mut Changes,
    ) -> io::Result<()> {
        let mut waiting = vec![below];
        while let Some(below) = waiting.pop() {
            let look = look(&below);
            if look == Look::Nothing || self.folders.len() >= MAX_FOLDERS {
                continue;
            }
            let Some(top) = Folder::of(&self.root).ok().and_then(|root| root.below(&below).ok()) else {
                continue;
            };
            if look == Look::Name {
                self.come(&below);
                changes.add(self.absolute(&below), Kind::File, Change::Created);
                continue;
            }
            // Before it is listed: what comes after the listing is told.
            if let Some(kernel) = &mut kernel {
                kernel.watch(&below, &top)?;
            }
            let listing = list(&top, look);
            changes.add(self.absolute(&below), Kind::Folder, Change::Created);
            for name in listing.files.keys() {
                changes.add(self.absolute(&below.join(name)), Kind::File, Change::Created);
            }
            waiting.extend(listing.folders.iter().map(|name| below.join(name)));
            self.come(&below);
            self.folders.insert(below, listing);
        }
        Ok(())
    }

    /// Has a folder's parent know it.
    fn come(&mut self, below: &Path) {
        if let (Some(parent), Some(name)) = (below.parent(), below.file_name())
            && let Some(parent) = self.folders.get_mut(parent)
        {
            parent.folders.insert(name.to_owned());
        }
    }

    /// Forgets a folder with all that was in it: its files are gone.
    pub(super) fn leave(&mut self, below: &Path, mut kernel: Option<&mut Kernel>, changes: &mut Changes) {
        let gone: Vec<PathBuf> = self
            .folders
            .range(below.to_owned()..)
            .map(|(folder, _)| folder)
            .take_while(|folder| folder.starts_with(below))
            .cloned()
            .collect();
        for folder in gone {
            if let Some(kernel) = &mut kernel {
                kernel.forget(&folder);
            }
            changes.add(self.absolute(&folder), Kind::Folder, Change::Deleted);
            let listing = self.folders.remove(&folder).unwrap_or_default();
            let packages = listing.folders.iter().filter(|name| look(&folder.join(name)) == Look::Name);
            for name in listing.files.keys().chain(packages) {
                changes.add(self.absolute(&folder.join(name)), Kind::File, Change::Deleted);
            }
        }
        if let (Some(parent), Some(name)) = (below.parent(), below.file_name())
            && let Some(parent) = self.folders.get_mut(parent)
        {
            let was_there = parent.folders.remove(name);
            if was_there && look(below) == Look::Name {
                changes.add(self.absolute(below), Kind::File, Change::Deleted);
            }
        }
    }

    /// Looks at what has this name, of which the kernel says that something happened to it.
    pub(super) fn file(&mut self, below: &Path, name: &OsStr, changes: &mut Changes) {
        if boundary::is_temporary(name) {
            return;
        }
        let now = Folder::of(&self.root).ok().and_then(|root| root.below(below).ok()).and_then(|folder| {
            let stat = folder.stat(name).ok()?;
            is_told(&stat, look(below)).then(|| stamp(&stat))
        });
        let Some(listing) = self.folders.get_mut(below) else { return };
        let before = match now {
            Some(now) => listing.files.insert(name.to_owned(), now),
            None => listing.files.remove(name),
        };
        // The clock of a file system is coarse: two contents can have the same stamp. The kernel's word counts.
        let change = match (before, now) {
            (Some(_), Some(_)) => Change::Changed,
            (None, Some(_)) => Change::Created,
            (Some(_), None) => Change::Deleted,
            (None, None) => return,
        };
        changes.add(self.absolute(&below.join(name)), Kind::File, change);
    }

    /// Compares a folder with what was in it; returns its folders that were there before and are to be compared too.
    pub(super) fn compare(
        &mut self,
        below: &Path,
        mut kernel: Option<&mut Kernel>,
        changes: &mut Changes,
    ) -> io::Result<Vec<PathBuf>> {
        let Some(before) = self.folders.remove(below) else { return Ok(Vec::new()) };
        let top = Folder::of(&self.root).ok().and_then(|root| root.below(below).ok());
        let now = top.map(|top| list(&top, look(below))).unwrap_or_default();
        for (name, stamp) in &now.files {
            match before.files.get(name) {
                None => changes.add(self.absolute(&below.join(name)), Kind::File, Change::Created),
                Some(old) if old != stamp => {
                    changes.add(self.absolute(&below.join(name)), Kind::File, Change::Changed)
                }
                Some(_) => {}
            }
        }
        for name in before.files.keys().filter(|name| !now.files.contains_key(*name)) {
            changes.add(self.absolute(&below.join(name)), Kind::File, Change::Deleted);
        }
        let came: Vec<PathBuf> =
            now.folders.difference(&before.folders).map(|name| below.join(name)).collect();
        let went: Vec<PathBuf> =
            before.folders.difference(&now.folders).map(|name| below.join(name)).collect();
        let stayed = now.folders.intersection(&before.folders).map(|name| below.join(name)).collect();
        // Those that went are looked up in what was there.
        self.folders.insert(below.to_owned(), before);
        for folder in went {
            self.leave(&folder, kernel.as_deref_mut(), changes);
        }
        self.folders.insert(below.to_owned(), now);
        for folder in came {
            self.enter(folder, kernel.as_deref_mut(), changes)?;
        }
        Ok(stayed)
    }

    fn absolute(&self, below: &Path) -> PathBuf {
        self.root.as_path().join(below)
    }
}

/// What is known of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// All that is in it.
    Deep,
    /// The names in it: packages that are installed, and the way there.
    Names,
    /// That it is there.
    Name,
    Nothing,
}

/// How a folder is looked at, by its path.
fn look(below: &Path) -> Look {
    let mut names = below.iter().map(|name| name.to_str().unwrap_or_default());
    let Some(special) = names.find(|name| is_left_out(name)) else { return Look::Deep };
    let rest: Vec<&str> = names.collect();
    match (special, rest.as_slice()) {
        ("node_modules", []) => Look::Names,
        ("node_modules", [scope]) if scope.starts_with('@') => Look::Names,
        ("node_modules", [package]) if !package.starts_with('.') => Look::Name,
        ("node_modules", [scope, _]) if scope.starts_with('@') => Look::Name,
        (".venv" | "venv", [] | ["lib"]) => Look::Names,
        (".venv" | "venv", ["lib", python]) if python.starts_with("python") => Look::Names,
        (".venv" | "venv", ["lib", _, "site-packages"]) => Look::Names,
        (".venv" | "venv", ["lib", _, "site-packages", package]) if *package != "__pycache__" => Look::Name,
        _ => Look::Nothing,
    }
}

fn is_left_out(name: &str) -> bool {
    DEFAULT_IGNORED.iter().filter_map(|ignored| ignored.strip_suffix('/')).any(|ignored| name == ignored)
}

fn list(folder: &Folder, look: Look) -> Listing {
    let mut listing = Listing::default();
    let Ok(entries) = folder.read(Path::new("")) else { return listing };
    for entry in entries.filter_map(Result::ok).take(MAX_ENTRIES) {
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." || boundary::is_temporary(name) {
            continue;
        }
        if entry.file_type() == FileType::Directory {
            listing.folders.insert(name.to_owned());
            continue;
        }
        // One that went meanwhile is not there.
        let Ok(stat) = folder.stat(name) else { continue };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            listing.folders.insert(name.to_owned());
        } else if is_told(&stat, look) {
            listing.files.insert(name.to_owned(), stamp(&stat));
        }
    }
    listing
}

/// Whether a change of it is told: a file's, and a link's where packages are links.
fn is_told(stat: &Stat, look: Look) -> bool {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => true,
        FileType::Symlink => look == Look::Names,
        _ => false,
    }
}

fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        modified: (number(stat.st_mtime), number(stat.st_mtime_nsec)),
        changed: (number(stat.st_ctime), number(stat.st_ctime_nsec)),
        length: number(stat.st_size),
        inode: number(stat.st_ino),
    }
}

/// The fields have other types on other systems.
fn number(value: impl TryInto<i128>) -> i128 {
    value.try_into().unwrap_or(0)
}
