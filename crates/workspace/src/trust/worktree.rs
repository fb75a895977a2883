//! Why a worktree of our making is trusted: because of the repository that it was made of, as long as that is so.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Identity, TrustedRoot, current_identity};
use crate::CanonicalRoot;

/// How much of a worktree's `.git` is read: one path.
const MAX_POINTER: u64 = 8192;

/// The repository that a worktree was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorktreeOf {
    /// The folder that the user trusts.
    pub path: PathBuf,
    /// Which folder that was.
    #[serde(flatten)]
    pub identity: Identity,
    /// What the repository's worktrees share.
    pub common: Common,
}

/// The folder that a repository's worktrees share: its identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Common {
    /// Where it is.
    pub path: PathBuf,
    /// Which folder that is.
    #[serde(flatten)]
    pub identity: Identity,
}

impl WorktreeOf {
    /// Returns what is there now.
    pub(super) fn now(of: &CanonicalRoot, common: &CanonicalRoot) -> Option<Self> {
        let shared = Common { path: common.as_path().to_owned(), identity: current_identity(common)? };
        Some(Self { path: of.as_path().to_owned(), identity: current_identity(of)?, common: shared })
    }

    /// Whether all of it is still so: the user trusts that very folder, the repository is that very one, and the worktree
    /// belongs to it. Any doubt is a no.
    pub(super) fn holds(&self, worktree: &CanonicalRoot, trusted: &[TrustedRoot]) -> bool {
        let is_same = |path: &Path, identity: &Identity| Identity::of(path).as_ref() == Some(identity);
        // A worktree is no reason to trust another one.
        let is_trusted = trusted.iter().any(|entry| {
            entry.worktree_of.is_none() && entry.path == self.path && entry.identity == self.identity
        });
        is_trusted
            && is_same(&self.path, &self.identity)
            && is_same(&self.common.path, &self.common.identity)
            && self.common.path.canonicalize().is_ok_and(|real| real == self.common.path)
            && self.owns(worktree)
    }

    /// Where git keeps what belongs to a worktree of which all of this holds.
    pub(super) fn git_folders(&self, worktree: &CanonicalRoot) -> Option<GitFolders> {
        let own = pointer(&worktree.as_path().join(".git"), b"gitdir:")?;
        Some(GitFolders { own, common: self.common.path.clone() })
    }

    /// Whether a worktree's `.git` leads to this repository, and the repository's own note back to the worktree.
    fn owns(&self, worktree: &CanonicalRoot) -> bool {
        let Some(git_dir) = pointer(&worktree.as_path().join(".git"), b"gitdir:") else { return false };
        let Ok(below) = git_dir.strip_prefix(self.common.path.join("worktrees")) else { return false };
        let mut names = below.components();
        if !matches!((names.next(), names.next()), (Some(Component::Normal(_)), None)) {
            return false;
        }
        // Each of them could have been made a link that leads elsewhere.
        git_dir.canonicalize().is_ok_and(|real| real == git_dir)
            && pointer(&git_dir.join("gitdir"), b"")
                .is_some_and(|back| back == worktree.as_path().join(".git"))
            && pointer(&git_dir.join("commondir"), b"").is_some_and(|common| {
                git_dir.join(common).canonicalize().is_ok_and(|real| real == self.common.path)
            })
    }
}

/// Where git keeps what belongs to a worktree: both are outside of its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolders {
    /// Its own: the index and HEAD.
    pub own: PathBuf,
    /// What it shares: objects, references, config, hooks.
    pub common: PathBuf,
}

impl GitFolders {
    /// What a commit in the worktree writes. Neither config nor hooks are among it: where a worktree has a config of its
    /// own, which lies beside its index, there is nothing.
    pub fn written_by_a_commit(&self) -> Vec<PathBuf> {
        // git reads this setting from this file alone. A file that cannot be read may say anything.
        let has_own_config = std::fs::read(self.common.join("config"))
            .map_or(true, |text| text.to_ascii_lowercase().windows(14).any(|word| word == b"worktreeconfig"));
        if has_own_config {
            return Vec::new();
        }
        let shared = ["objects", "refs", "logs"].map(|name| self.common.join(name));
        [self.own.clone()].into_iter().chain(shared).collect()
    }
}

/// Reads a file of one path, which begins with a word.
fn pointer(file: &Path, word: &[u8]) -> Option<PathBuf> {
    let flags = rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK).bits();
    let file = OpenOptions::new().read(true).custom_flags(i32::try_from(flags).ok()?).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = Vec::new();
    file.take(MAX_POINTER).read_to_end(&mut text).ok()?;
    let path = text.strip_prefix(word)?.trim_ascii();
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}
