//! The one file walker: every file of a workspace that nobody has asked to ignore.
//!
//! Nested `.gitignore`, `.chartroomignore`, `.ignore`, `.git/info/exclude` and the user's global excludes count; they
//! are read within limits by `walk::ignoring`. Symbolic links are not followed and every folder is opened by descriptor
//! below the root, so that a walk ends and stays inside. What could not be read is an event, not silence: an index
//! that misses a folder must know that it does.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Stat};

use self::ignoring::{FolderRules, OwnRules, Reader, Verdict};
use crate::CanonicalRoot;
use crate::boundary::{self, Folder, Inside};

mod ignoring;
mod single;

pub use single::file_at;

/// Paths that are longer cannot be named to the system, nor to any other program.
const LONGEST_PATH: usize = 4096;

/// Folders that hold no source of the project, in any language.
pub const DEFAULT_IGNORED: &[&str] = &[
    ".git/",
    ".hg/",
    ".svn/",
    ".jj/",
    "node_modules/",
    "bower_components/",
    ".venv/",
    "venv/",
    ".tox/",
    ".nox/",
    "__pycache__/",
    "__pypackages__/",
    "site-packages/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".gradle/",
    ".next/",
    ".nuxt/",
    ".svelte-kit/",
    ".turbo/",
    ".parcel-cache/",
    ".terraform/",
    "target/",
    ".DS_Store",
];

/// What to walk.
#[derive(Clone, Debug)]
pub struct WalkOptions {
    /// Whether [`DEFAULT_IGNORED`] counts.
    pub default_ignores: bool,
    /// More patterns to ignore, as in a `.gitignore` at the root.
    pub ignore_patterns: Vec<String>,
    /// Larger files are reported and not offered.
    pub max_file_size: Option<u64>,
    /// Whether files and folders whose name begins with a dot are walked.
    pub hidden: bool,
    /// A folder with more entries is reported and not entered: they are held at once, to be sorted.
    pub max_entries: usize,
}

impl Default for WalkOptions {
    fn default() -> Self {
        WalkOptions {
            default_ignores: true,
            ignore_patterns: Vec::new(),
            max_file_size: Some(1024 * 1024),
            hidden: true,
            max_entries: 200_000,
        }
    }
}

/// One thing met on a walk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WalkEvent {
    /// A file to look at.
    File(WalkedFile),
    /// A file that is larger than asked for.
    TooLarge {
        /// Relative to the root.
        relative: String,
        /// In bytes.
        size: u64,
    },
    /// A folder or file that could not be looked at: what is in it is unknown.
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// A file or folder whose name is not UTF-8 and cannot be spoken of in JSON. A folder is not entered.
    NotUtf8 {
        /// The path, as far as it can be shown.
        path: PathBuf,
    },
    /// A line of an ignore file that is not a pattern.
    BadPattern {
        /// Which pattern, and why.
        error: String,
    },
    /// An ignore file that does not count: no regular file of the workspace, or beyond the limits.
    IgnoreFileLeftOut {
        /// Relative to the root.
        relative: String,
        /// Why its patterns do not count.
        reason: String,
    },
}

/// A regular file inside the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalkedFile {
    /// The absolute path.
    pub path: PathBuf,
    /// From the root, with `/`.
    pub relative: String,
    /// In bytes.
    pub size: u64,
    /// Nanoseconds since 1970, 0 where the file system does not know.
    pub modified: u128,
    /// When its inode was last changed, likewise.
    pub changed: u128,
}

impl WalkedFile {
    /// The file as something that can be opened.
    pub fn inside(&self, root: &CanonicalRoot) -> Inside {
        Inside::new(root, PathBuf::from(&self.relative))
    }
}

/// Walks a workspace, depth first, by name.
pub fn files(root: &CanonicalRoot, options: &WalkOptions) -> impl Iterator<Item = WalkEvent> + Send + use<> {
    Walk::new(root, options).filter_map(|met| match met {
        Met::Event(event) => Some(event),
        Met::Folder(_) => None,
    })
}

/// Returns the root and every folder below it that a walk with these options enters and can read.
pub fn folders(root: &CanonicalRoot, options: &WalkOptions) -> impl Iterator<Item = PathBuf> + Send + use<> {
    let mut walk = Walk::new(root, options);
    walk.only_folders = true;
    walk.filter_map(|met| match met {
        Met::Folder(path) => Some(path),
        Met::Event(_) => None,
    })
}

/// What the walk gives out.
enum Met {
    Event(WalkEvent),
    /// A folder that was entered.
    Folder(PathBuf),
}

/// Something in a folder that is still to come.
enum Item {
    Event(WalkEvent),
    Folder(String),
}

/// A folder that the walk is in.
struct Frame {
    /// From the root.
    below: PathBuf,
    rules: FolderRules,
    items: std::vec::IntoIter<Item>,
}

struct Walk {
    root: CanonicalRoot,
    /// Held open, so that all of one walk sees the same root.
    folder: Option<Folder>,
    max_file_size: Option<u64>,
    hidden: bool,
    max_entries: usize,
    only_folders: bool,
    own: OwnRules,
    reader: Reader,
    frames: Vec<Frame>,
    /// What is to be given out before the walk goes on, last first.
    ready: Vec<Met>,
}

impl Walk {
    fn new(root: &CanonicalRoot, options: &WalkOptions) -> Self {
        let mut walk = Walk::empty(root, options);
        let bad_patterns = std::mem::take(&mut walk.ready);
        match Folder::of(root) {
            Ok(folder) => {
                walk.folder = Some(folder);
                walk.enter(PathBuf::new());
            }
            Err(error) => walk.ready.push(Met::Event(unreadable(root.as_path(), &error))),
        }
        walk.ready.extend(bad_patterns);
        walk
    }

    /// A walk that is in no folder yet; what is wrong with the patterns is ready.
    fn empty(root: &CanonicalRoot, options: &WalkOptions) -> Self {
        let (own, bad_patterns) = OwnRules::new(root, options);
        let told = bad_patterns.into_iter().rev().map(|error| Met::Event(WalkEvent::BadPattern { error }));
        Walk {
            root: root.clone(),
            folder: None,
            max_file_size: options.max_file_size,
            hidden: options.hidden,
            max_entries: options.max_entries,
            only_folders: false,
            own,
            reader: Reader::default(),
            frames: Vec::new(),
            ready: told.collect(),
        }
    }

    /// Reads a folder and puts it on the stack.
    fn enter(&mut self, below: PathBuf) {
        let Some(root_folder) = &self.folder else { return };
        let path = join(self.root.as_path(), &below);
        let opened = if path.as_os_str().len() >= LONGEST_PATH {
            Err(rustix::io::Errno::NAMETOOLONG.into())
        } else {
            root_folder.read(&below)
        };
        let mut dir = match opened {
            Ok(dir) => dir,
            Err(error) => return self.ready.push(Met::Event(unreadable(&path, &error))),
        };
        let mut entries: Vec<(OsString, FileType)> = Vec::new();
        let mut events = Vec::new();
        while let Some(entry) = dir.read() {
            match entry {
                Ok(entry) => {
                    let name = OsStr::from_bytes(entry.file_name().to_bytes());
                    if name != "." && name != ".." && !boundary::is_temporary(name) {
                        entries.push((name.to_owned(), entry.file_type()));
                    }
                    if entries.len() > self.max_entries {
                        let error = format!("it has more than {} entries", self.max_entries);
                        return self.ready.push(Met::Event(WalkEvent::Unreadable { path, error }));
                    }
                }
                Err(error) => {
                    events.push(unreadable(&path, &error.into()));
                    break;
                }
            }
        }
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        let names: Vec<&OsStr> = entries.iter().map(|(name, _)| name.as_os_str()).collect();
        let n_live = self.frames.iter().map(|frame| frame.rules.n_patterns()).sum();
        let rules = self.reader.rules_of(&self.root, &below, &names, n_live, &mut events);
        self.frames.push(Frame { below, rules, items: Vec::new().into_iter() });

        let mut items: Vec<Item> = Vec::new();
        for (name, kind) in entries {
            items.extend(self.item(&dir, &path, &name, kind));
        }
        if let Some(frame) = self.frames.last_mut() {
            frame.items = items.into_iter();
        }
        self.ready.extend(events.into_iter().rev().map(Met::Event));
        self.ready.push(Met::Folder(path));
    }

    /// What comes of an entry of the folder on top of the stack.
    fn item(&self, dir: &Dir, folder: &Path, name: &OsStr, kind: FileType) -> Option<Item> {
        let mut stat: Option<Stat> = None;
        let mut kind = kind;
        if kind == FileType::Unknown {
            stat = stat_of(dir, name).ok();
            kind = FileType::from_raw_mode(stat?.st_mode);
        }
        if self.only_folders && kind != FileType::Directory {
            return None;
        }
        let path = folder.join(name);
        if self.is_ignored(&path, name, kind == FileType::Directory) {
            return None;
        }
        let Some(name_text) = name.to_str() else {
            // A folder that cannot be named is not entered: nothing below it could be named either.
            return Some(Item::Event(WalkEvent::NotUtf8 { path }));
        };
        match kind {
            FileType::Directory => Some(Item::Folder(name_text.to_owned())),
            FileType::RegularFile => {
                let stat = match stat.map_or_else(|| stat_of(dir, name), Ok) {
                    Ok(stat) => stat,
                    Err(error) => return Some(Item::Event(unreadable(&path, &error))),
                };
                // Another kind of thing was put in its place meanwhile.
                if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
                    return None;
                }
                let relative = self.root.relative(&path).and_then(Path::to_str)?.to_owned();
                Some(Item::Event(self.file(path, relative, &stat)))
            }
            _ => None,
        }
    }

    fn file(&self, path: PathBuf, relative: String, stat: &Stat) -> WalkEvent {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        match self.max_file_size {
            Some(max) if size > max => WalkEvent::TooLarge { relative, size },
            _ => {
                let modified = nanoseconds(stat.st_mtime, stat.st_mtime_nsec);
                let changed = nanoseconds(stat.st_ctime, stat.st_ctime_nsec);
                WalkEvent::File(WalkedFile { path, relative, size, modified, changed })
            }
        }
    }

    fn is_ignored(&self, path: &Path, name: &OsStr, is_dir: bool) -> bool {
        let rules = self.frames.iter().rev().map(|frame| &frame.rules);
        let said = match ignoring::verdict(rules, self.own.global(), path, is_dir) {
            Verdict::Ignored => true,
            Verdict::Wanted => false,
            Verdict::Unsaid => !self.hidden && name.as_bytes().starts_with(b"."),
        };
        said || self.own.ignores(path, is_dir)
    }
}

impl Iterator for Walk {
    type Item = Met;

    fn next(&mut self) -> Option<Met> {
        loop {
            if let Some(met) = self.ready.pop() {
                return Some(met);
            }
            let frame = self.frames.last_mut()?;
            match frame.items.next() {
                Some(Item::Event(event)) => return Some(Met::Event(event)),
                Some(Item::Folder(name)) => {
                    let below = frame.below.join(name);
                    self.enter(below);
                }
                None => {
                    self.frames.pop();
                }
            }
        }
    }
}

fn stat_of(dir: &Dir, name: &OsStr) -> std::io::Result<Stat> {
    Ok(rustix::fs::statat(dir.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

/// The fields have other types on other systems.
fn nanoseconds(seconds: impl TryInto<u128>, rest: impl TryInto<u128>) -> u128 {
    seconds.try_into().unwrap_or(0) * 1_000_000_000 + rest.try_into().unwrap_or(0)
}

/// Joins without the slash at the end that an empty path would leave.
fn join(root: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { root.to_path_buf() } else { root.join(below) }
}

fn unreadable(path: &Path, error: &std::io::Error) -> WalkEvent {
    WalkEvent::Unreadable { path: path.to_path_buf(), error: format!("{}: {error}", path.display()) }
}
