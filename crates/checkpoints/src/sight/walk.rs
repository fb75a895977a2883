//! The stamps of a folder's entries: what tells that nobody wrote to them since.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::Metadata;
use std::ops::Bound;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::place::bytes;

/// A file of ignore rules.
const RULES: &str = ".gitignore";
/// More entries are not remembered: git looks at such a tree each time.
const MAX_ENTRIES: usize = 400_000;
/// A time of change is as exact as the kernel's clock ticks: what changed so shortly before a look may change once more
/// without a difference that the next look could see.
const TICK: Duration = Duration::from_millis(50);

/// What git passes over because it is ignored, below the top of the working tree; folders end with a slash.
#[derive(Debug, Default)]
pub(super) struct Passed(BTreeSet<Vec<u8>>);

impl Passed {
    /// Takes a list of git's. It names a folder with its contents if all of them are ignored, each for its own reason;
    /// such a folder is looked into, as git does.
    pub(super) fn of<'a>(listed: impl Iterator<Item = &'a [u8]>) -> Self {
        let listed: BTreeSet<&[u8]> = listed.collect();
        let is_looked_into = |path: &[u8]| {
            let mut after = listed.range::<[u8], _>((Bound::Excluded(path), Bound::Unbounded));
            path.ends_with(b"/") && after.next().is_some_and(|next| next.starts_with(path))
        };
        Self(listed.iter().filter(|path| !is_looked_into(path)).map(|path| path.to_vec()).collect())
    }
}

/// What a look at one entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    mode: u32,
    /// Of a folder it says nothing.
    size: u64,
    written: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            mode: found.mode(),
            size: if found.is_dir() { 0 } else { found.size() },
            written: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    fn at(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::of)
    }

    /// The time of change, which no program can set. One before 1970 is long ago.
    fn changed(&self) -> SystemTime {
        let (seconds, nanos) = self.changed;
        let since = Duration::new(u64::try_from(seconds).unwrap_or(0), u32::try_from(nanos).unwrap_or(0));
        UNIX_EPOCH + since
    }
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    stamp: Stamp,
    /// Files and links, by name.
    files: Vec<(OsString, Stamp)>,
}

impl Folder {
    fn is_unchanged(&self) -> bool {
        let mut path = self.path.clone();
        if Stamp::at(&path) != Some(self.stamp) {
            return false;
        }
        self.files.iter().all(|(name, stamp)| {
            path.push(name);
            let is_same = Stamp::at(&path) == Some(*stamp);
            path.pop();
            is_same
        })
    }
}

/// A look at everything below a folder that git does not pass over.
#[derive(Debug)]
pub(super) struct Walk {
    began: SystemTime,
    /// Where the paths of what is passed over begin.
    top: PathBuf,
    folders: Vec<Folder>,
    /// Files elsewhere that count, whether they are there or not.
    others: Vec<(PathBuf, Option<Stamp>)>,
}

impl Walk {
    /// Looks at all of it; `None` if that cannot be done or is too much to remember.
    pub(super) fn of(folder: &Path, top: &Path, others: Vec<PathBuf>, passed: &Passed) -> Option<Self> {
        let began = SystemTime::now();
        let others = others.into_iter().map(|path| {
            let stamp = Stamp::at(&path);
            (path, stamp)
        });
        let mut walk = Self { began, top: top.to_path_buf(), folders: Vec::new(), others: others.collect() };
        let mut waiting = vec![folder.to_path_buf()];
        let mut n_entries = 0;
        while let Some(path) = waiting.pop() {
            let (folder, below) = walk.folder(path, passed)?;
            n_entries += folder.files.len() + below.len();
            if n_entries > MAX_ENTRIES {
                return None;
            }
            walk.folders.push(folder);
            waiting.extend(below);
        }
        Some(walk)
    }

    /// Looks at one folder; returns it and those in it.
    fn folder(&self, path: PathBuf, passed: &Passed) -> Option<(Folder, Vec<PathBuf>)> {
        // Before its entries are read: one that comes meanwhile changes it.
        let stamp = Stamp::at(&path)?;
        let (mut files, mut below) = (Vec::new(), Vec::new());
        for entry in path.read_dir().ok()? {
            let entry = entry.ok()?;
            let kind = entry.file_type().ok()?;
            let (name, whole) = (entry.file_name(), entry.path());
            if name == ".git" || self.is_passed(&whole, kind.is_dir(), passed) {
                continue;
            }
            if kind.is_dir() {
                below.push(whole);
            } else if kind.is_file() || kind.is_symlink() {
                files.push((name, Stamp::at(&whole)?));
            }
        }
        files.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        below.sort_unstable();
        Some((Folder { path, stamp, files }, below))
    }

    /// Rules that are ignored themselves hold all the same.
    fn is_passed(&self, whole: &Path, is_folder: bool, passed: &Passed) -> bool {
        let below = whole.strip_prefix(&self.top).unwrap_or(whole);
        let mut key = bytes(below).to_vec();
        if is_folder {
            key.push(b'/');
        }
        passed.0.contains(&key) && (is_folder || whole.file_name().is_none_or(|name| name != RULES))
    }

    /// Leaves out what git passes over after all.
    pub(super) fn without(mut self, passed: &Passed) -> Self {
        let mut folders = std::mem::take(&mut self.folders);
        let is_below = |folder: &Folder| {
            folder
                .path
                .ancestors()
                .take_while(|above| **above != self.top)
                .any(|above| self.is_passed(above, true, passed))
        };
        folders.retain(|folder| !is_below(folder));
        for folder in &mut folders {
            folder.files.retain(|(name, _)| !self.is_passed(&folder.path.join(name), false, passed));
        }
        self.folders = folders;
        self
    }

    /// Takes these for not there, as the record that was made meanwhile does: one that is there is a change.
    pub(super) fn lacking(mut self, paths: &[PathBuf]) -> Self {
        self.others.retain(|(path, _)| !paths.contains(path));
        self.others.extend(paths.iter().map(|path| (path.clone(), None)));
        self
    }

    /// Whether a look now would find the same, and nothing could have been missed.
    pub(super) fn holds(&self) -> bool {
        self.is_settled() && self.is_unchanged()
    }

    fn is_settled(&self) -> bool {
        let Some(limit) = self.began.checked_sub(TICK) else { return false };
        let is_before = |stamp: &Stamp| stamp.changed() < limit;
        self.others.iter().all(|(_, stamp)| stamp.as_ref().is_none_or(is_before))
            && self.folders.iter().all(|folder| {
                is_before(&folder.stamp) && folder.files.iter().all(|(_, stamp)| is_before(stamp))
            })
    }

    fn is_unchanged(&self) -> bool {
        self.others.iter().all(|(path, stamp)| Stamp::at(path) == *stamp)
            && self.folders.iter().all(Folder::is_unchanged)
    }

    /// Whether git passes over the same as at an earlier look.
    pub(super) fn has_the_names_and_rules_of(&self, before: &Self) -> bool {
        self.others == before.others
            && self.folders.len() == before.folders.len()
            && self.folders.iter().zip(&before.folders).all(|(now, before)| {
                let is_same = |(now, before): (&(OsString, Stamp), &(OsString, Stamp))| {
                    now.0 == before.0 && (now.0 != RULES || now.1 == before.1)
                };
                now.path == before.path
                    && now.files.len() == before.files.len()
                    && now.files.iter().zip(&before.files).all(is_same)
            })
    }
}

#[cfg(test)]
mod tests;
