//! Of which repository a linked worktree is: its text is mostly the same, and so are its vectors.

use std::path::{Path, PathBuf};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;

/// How much of a `.git` is read: one path.
const MAX_POINTER: u64 = 8192;

/// Returns the folder of the repository that a linked worktree belongs to, by what its `.git` says. No process is started,
/// and nothing but vectors of text that the worktree has itself is taken from there: who forges a `.git` gains nothing.
pub(super) fn main_of(root: &Path) -> Option<PathBuf> {
    let root = CanonicalRoot::open(root).ok()?;
    let git_dir = CanonicalRoot::open(pointer(&root, ".git")?.strip_prefix("gitdir:")?.trim()).ok()?;
    let common = git_dir.as_path().join(pointer(&git_dir, "commondir")?.trim()).canonicalize().ok()?;
    let main = common.parent().filter(|_| common.ends_with(".git"))?;
    (main != root.as_path()).then(|| main.to_owned())
}

fn pointer(folder: &CanonicalRoot, name: &str) -> Option<String> {
    let (bytes, _metadata) = Inside::below(folder, name)?.read(MAX_POINTER).ok()?;
    String::from_utf8(bytes).ok()
}
