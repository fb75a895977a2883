//! The files that sequences are about, what lies in a folder, and what persons and agents do to it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use chartroom_checkpoints::MAX_FILE_BYTES;

/// What lies at a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    File {
        runs: bool,
        bytes: Vec<u8>,
    },
    Link(Vec<u8>),
    /// A file of more bytes than are recorded; they are all zeros.
    Large(u64),
}

pub type Tree = BTreeMap<PathBuf, Held>;

/// Names that meet: files where folders are, names that differ in case, bytes that are no text, what is ignored at times.
const NAMES: &[&[u8]] = &[
    b"a.txt",
    b"d/one",
    b"d/two",
    b"d/deep/three",
    b"d/deep",
    b"e/one",
    b"Case",
    b"case",
    b"odd\n\xff\"name",
    b"x.tmp",
    b"e/y.tmp",
    b"d",
];
const RULES: &[&str] = &["", "*.tmp\n", "e/\n", "*.tmp\nCase\n"];

pub fn name(which: usize) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(NAMES[which % NAMES.len()]))
}

/// Reads a folder without its repository.
pub fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    gather(root, root, &mut tree);
    tree
}

fn gather(folder: &Path, root: &Path, tree: &mut Tree) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.file_name() == Some(OsStr::new(".git")) {
            continue;
        }
        let found = path.symlink_metadata().unwrap();
        if found.is_dir() {
            gather(&path, root, tree);
            continue;
        }
        let held = if found.is_symlink() {
            Held::Link(std::fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec())
        } else if found.len() > MAX_FILE_BYTES {
            Held::Large(found.len())
        } else {
            let runs = found.permissions().mode() & 0o100 != 0;
            Held::File { runs, bytes: std::fs::read(&path).unwrap() }
        };
        tree.insert(path.strip_prefix(root).unwrap().to_path_buf(), held);
    }
}

/// Every file of a repository's own folder, byte for byte.
pub fn bytes_of(folder: &Path) -> BTreeMap<OsString, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![folder.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().as_os_str().to_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

/// What a person or an agent does to a file.
#[derive(Debug, Clone)]
pub enum Edit {
    Write(usize),
    /// One line of it becomes another.
    Line(usize, usize),
    Remove(usize),
    RemoveFolder(usize),
    Link(usize),
    Mode(usize),
    /// To more than is recorded.
    Grow(usize),
    Ignore(usize),
}

impl Edit {
    /// Does it, with words that nobody has written before. What cannot be done (a folder is in the way) is not.
    pub fn run(&self, root: &Path, words: &str) {
        match self {
            Edit::Write(which) => put(&root.join(name(*which)), lines(words).as_bytes()),
            Edit::Line(which, line) => {
                let path = root.join(name(*which));
                let before = match std::fs::read(&path) {
                    Ok(before) if before.len() < 10_000 && !path.is_symlink() => before,
                    _ => lines("begun ").into_bytes(),
                };
                let mut all: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
                let changed = format!("{words}changed\n");
                let n_lines = all.len();
                if let Some(line) = all.get_mut(line % n_lines.max(1)) {
                    *line = changed.as_bytes();
                }
                put(&path, &all.concat());
            }
            Edit::Remove(which) => drop(std::fs::remove_file(root.join(name(*which)))),
            Edit::RemoveFolder(which) => {
                let path = name(*which);
                if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                    drop(std::fs::remove_dir_all(root.join(folder)));
                }
            }
            Edit::Link(which) => {
                let path = root.join(name(*which));
                drop(std::fs::remove_file(&path));
                if make_folder(&path) {
                    let targets =
                        ["/nonexistent/".to_owned() + words.trim(), "../e".to_owned(), "d".to_owned()];
                    drop(symlink(&targets[which % targets.len()], &path));
                }
            }
            Edit::Mode(which) => {
                let path = root.join(name(*which));
                if path.is_file() && !path.is_symlink() {
                    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
            Edit::Grow(which) => {
                let path = root.join(name(*which));
                if path.is_file() && !path.is_symlink() {
                    let file = std::fs::File::create(&path).unwrap();
                    file.set_len(MAX_FILE_BYTES + 1 + *which as u64).unwrap();
                }
            }
            Edit::Ignore(which) => put(&root.join(".gitignore"), RULES[which % RULES.len()].as_bytes()),
        }
    }
}

/// So many lines that a change at the beginning and one at the end are two hunks.
fn lines(words: &str) -> String {
    (0..12).map(|n| format!("{words}line {n}\n")).collect()
}

/// Writes a file as editors do: another one in its place. A link is not followed.
fn put(path: &Path, bytes: &[u8]) {
    if path.is_dir() && !path.is_symlink() || !make_folder(path) {
        return;
    }
    drop(std::fs::remove_file(path));
    std::fs::write(path, bytes).unwrap();
}

/// Makes the folder of a file, unless a file or a link is in the way.
fn make_folder(path: &Path) -> bool {
    let folder = path.parent().unwrap();
    let is_link = path.ancestors().skip(1).any(|above| above.is_symlink());
    !is_link && std::fs::create_dir_all(folder).is_ok()
}
