//! The folder that is recorded, and the user's repository around it, found by its look alone: no program is started.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use chartroom_workspace::CanonicalRoot;

/// How much of a small file of a repository is read.
const MAX_POINTER: u64 = 4096;
/// How much of the list of packed references is read.
const MAX_PACKED: u64 = 64 << 20;
/// How many branches are listed at most.
const MAX_BRANCHES: usize = 2_000;
/// How many references may name one another.
const MAX_HOPS: usize = 8;

/// A folder, and the repository that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The folder that is recorded.
    pub folder: CanonicalRoot,
    pub(crate) repository: Option<Repository>,
}

/// The user's repository, which is only read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Repository {
    /// Where its working tree begins; ignore rules count from there.
    pub(crate) top: PathBuf,
    /// Its own files: HEAD and the index.
    pub(crate) git_dir: PathBuf,
    /// What all its worktrees share: objects and references.
    pub(crate) common: PathBuf,
}

impl Place {
    /// Looks for the repository around a folder.
    pub fn around(folder: &CanonicalRoot) -> Self {
        let repository = folder.as_path().ancestors().find_map(Repository::at);
        Self { folder: folder.clone(), repository }
    }

    /// Where the working tree begins, as our git is told.
    pub(crate) fn top(&self) -> &Path {
        self.repository.as_ref().map_or(self.folder.as_path(), |repository| &repository.top)
    }

    /// The recorded folder below the top, for git; `.` is all of it.
    pub(crate) fn below_top(&self) -> PathBuf {
        match self.folder.as_path().strip_prefix(self.top()) {
            Ok(below) if !below.as_os_str().is_empty() => below.to_path_buf(),
            _ => PathBuf::from("."),
        }
    }
}

impl Repository {
    fn at(top: &Path) -> Option<Self> {
        let dot_git = top.join(".git");
        let git_dir = if dot_git.metadata().ok()?.is_dir() {
            dot_git
        } else {
            let pointer = read(&dot_git, MAX_POINTER)?;
            top.join(path(pointer.strip_prefix(b"gitdir:")?))
        };
        if !git_dir.join("HEAD").exists() {
            return None;
        }
        let common = match read(&git_dir.join("commondir"), MAX_POINTER) {
            Some(pointer) => git_dir.join(path(&pointer)),
            None => git_dir.clone(),
        };
        Some(Self { top: top.to_path_buf(), git_dir, common: common.canonicalize().unwrap_or(common) })
    }

    /// Returns the commit that a name stands for: `HEAD`, a branch, a remote's branch, a tag, or a whole commit id.
    pub(crate) fn commit(&self, name: &str) -> Option<String> {
        if is_id(name) {
            return Some(name.to_owned());
        }
        let places = ["", "refs/heads/", "refs/remotes/", "refs/tags/"];
        places.iter().find_map(|prefix| self.follow(&format!("{prefix}{name}")))
    }

    fn follow(&self, name: &str) -> Option<String> {
        let mut name = name.to_owned();
        for _ in 0..MAX_HOPS {
            if name.split('/').any(|part| part == ".." || part.is_empty()) {
                return None;
            }
            let own = read(&self.git_dir.join(&name), MAX_POINTER);
            let Some(text) = own.or_else(|| read(&self.common.join(&name), MAX_POINTER)) else {
                return self.packed(&name);
            };
            let text = String::from_utf8(text).ok()?;
            let text = text.trim();
            match text.strip_prefix("ref:") {
                Some(other) => name = other.trim().to_owned(),
                None => return is_id(text).then(|| text.to_owned()),
            }
        }
        None
    }

    fn packed(&self, name: &str) -> Option<String> {
        let packed = String::from_utf8(read(&self.common.join("packed-refs"), MAX_PACKED)?).ok()?;
        let line = packed.lines().find(|line| line.split_once(' ').is_some_and(|(_, of)| of == name))?;
        line.split_once(' ').map(|(id, _)| id.to_owned()).filter(|id| is_id(id))
    }

    /// Returns the branch that is checked out, if one is.
    pub(crate) fn head_branch(&self) -> Option<String> {
        let head = String::from_utf8(read(&self.git_dir.join("HEAD"), MAX_POINTER)?).ok()?;
        head.trim().strip_prefix("ref:")?.trim().strip_prefix("refs/heads/").map(str::to_owned)
    }

    /// Returns its own branches by name, [`MAX_BRANCHES`] at most.
    pub(crate) fn branches(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        let packed = read(&self.common.join("packed-refs"), MAX_PACKED).unwrap_or_default();
        for line in String::from_utf8_lossy(&packed).lines() {
            let name = line.split_once(' ').and_then(|(_, name)| name.strip_prefix("refs/heads/"));
            names.extend(name.map(str::to_owned));
        }
        let heads = self.common.join("refs/heads");
        let mut folders = vec![heads.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                match entry.file_type() {
                    // A link to a folder is not followed: it could lead in a circle.
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(_) => {
                        let path = entry.path();
                        let name = path.strip_prefix(&heads).ok().and_then(Path::to_str);
                        names.extend(name.filter(|name| !name.ends_with(".lock")).map(str::to_owned));
                    }
                    Err(_) => {}
                }
                if names.len() + folders.len() > MAX_BRANCHES {
                    return names.into_iter().take(MAX_BRANCHES).collect();
                }
            }
        }
        names.into_iter().collect()
    }

    /// Whether its objects have names of 64 digits.
    pub(crate) fn is_sha256(&self) -> bool {
        let config = read(&self.common.join("config"), MAX_PACKED).unwrap_or_default();
        String::from_utf8_lossy(&config).lines().any(|line| {
            let line: String = line.to_lowercase().split_whitespace().collect();
            line == "objectformat=sha256"
        })
    }
}

pub(crate) fn is_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn read(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    // A pipe in its place would not end.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.trim_ascii().to_vec()))
}

/// A path as git takes it on a line that ends with NUL.
pub(crate) fn bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

/// A path of git's answer.
pub(crate) fn from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
