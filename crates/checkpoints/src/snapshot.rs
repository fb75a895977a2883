//! The working tree as it is now, as a tree of our repository.
//!
//! Our index remembers what each file looked like when it was recorded, and a note which tree that was, so that a tree in
//! which nothing changed costs one look at each file and no more.

pub(crate) mod tracked;

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::tracked::Tracked;
use crate::git::{Git, Question, owned};
use crate::place::{bytes, from_bytes};
use crate::record::replace;
use crate::{CheckpointError, MAX_FILE_BYTES, io};

/// A file that is not recorded, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Below the top of the working tree.
    pub path: String,
    /// Why.
    pub reason: Reason,
}

impl LeftOut {
    /// Whether this is the path, or a folder above it. Bytes that are no text count as equal.
    pub fn covers(&self, path: &Path) -> bool {
        let path = path.to_string_lossy();
        let below = path.strip_prefix(self.path.trim_end_matches('/'));
        below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }
}

/// Why a file is not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It has more than [`MAX_FILE_BYTES`].
    TooLarge,
    /// It may not be read.
    Unreadable,
    /// It is a repository of its own.
    Repository,
}

/// What the working tree is.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Snapshot {
    /// The tree object.
    pub(crate) tree: String,
    pub(crate) left_out: Vec<LeftOut>,
    /// The commit that holds the tree, if one does already.
    pub(crate) commit: Option<String>,
    /// What our index looked like when it was this tree.
    index: Option<String>,
}

/// The note of the newest [`Snapshot`].
const NOTE: &str = "snapshot.json";

/// What is done about one path.
enum Fate {
    Record,
    Forget,
    LeaveOut(Reason),
}

/// Records what is there now. Whoever calls holds the store's lock.
pub(crate) async fn take(git: &Git) -> Result<Snapshot, CheckpointError> {
    match look(git).await {
        // The user's repository may have thrown away what our index has borrowed from it.
        Err(CheckpointError::Git { .. }) if forget(git)? => look(git).await,
        looked => looked,
    }
}

/// Forgets what is known of the files, so that each is read anew. Returns whether anything was known.
pub(crate) fn forget(git: &Git) -> Result<bool, CheckpointError> {
    let mut was_known = false;
    for name in ["index", tracked::SEEN, NOTE] {
        match std::fs::remove_file(git.store.as_path().join(name)) {
            Ok(()) => was_known = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(io("beginning our index anew")(error)),
        }
    }
    Ok(was_known)
}

async fn look(git: &Git) -> Result<Snapshot, CheckpointError> {
    // What was left out is in no index, so that it is listed as new each time.
    let mut left_out = Vec::new();
    let (mut recorded, mut forgotten) = (Vec::new(), Vec::new());
    let mut tracked = Tracked::of(git).await?;
    for (path, is_new) in &changed(git, &tracked).await? {
        let fate = fate(git.place.top(), path);
        tracked.note(path, matches!(fate, Fate::Record));
        match fate {
            Fate::Record => push(&mut recorded, path),
            Fate::Forget if *is_new => {}
            Fate::Forget => push(&mut forgotten, path),
            Fate::LeaveOut(reason) => {
                if !is_new {
                    push(&mut forgotten, path);
                }
                left_out.push(LeftOut { path: path.to_string_lossy().into_owned(), reason });
            }
        }
    }
    left_out.sort();
    left_out.dedup();
    if recorded.is_empty()
        && forgotten.is_empty()
        && let Some(newest) = newest(git)
    {
        tracked.write(git)?;
        let is_told = newest.left_out == left_out;
        let snapshot = Snapshot { left_out, ..newest };
        if !is_told {
            note(git, &snapshot)?;
        }
        return Ok(snapshot);
    }
    if !forgotten.is_empty() {
        update(git, &["update-index", "--force-remove", "-z", "--stdin"], forgotten).await?;
    }
    if !recorded.is_empty() {
        update(git, &["update-index", "--add", "--remove", "-z", "--stdin"], recorded).await?;
    }
    let tree = git.line(&["write-tree"], b"").await?;
    // After our index: what a death in between leaves is looked at again.
    tracked.write(git)?;
    let index = git.store.as_path().join("index");
    let commit = last(git).filter(|last| last.tree == tree).and_then(|last| last.commit);
    let snapshot = Snapshot { tree, left_out, commit, index: stamp(&index) };
    note(git, &snapshot)?;
    Ok(snapshot)
}

/// The newest snapshot, if our index is still what it was made of.
pub(crate) fn newest(git: &Git) -> Option<Snapshot> {
    let index = git.store.as_path().join("index");
    last(git).filter(|last| last.index.is_some() && last.index == stamp(&index))
}

/// The newest snapshot. A note that cannot be read costs a look at everything, and no more.
fn last(git: &Git) -> Option<Snapshot> {
    serde_json::from_slice(&std::fs::read(git.store.as_path().join(NOTE)).ok()?).ok()
}

/// Remembers a snapshot as the newest.
pub(crate) fn note(git: &Git, snapshot: &Snapshot) -> Result<(), CheckpointError> {
    let text = serde_json::to_vec(snapshot).unwrap_or_default();
    replace(&git.store.as_path().join(NOTE), &text).map_err(io("noting what the tree is"))
}

async fn update(git: &Git, arguments: &[&str], input: Vec<u8>) -> Result<(), CheckpointError> {
    git.run(Question { arguments: owned(arguments), input, index: None }).await.map(drop)
}

/// The files that may differ from what our index has, and whether it lacks them: changed, gone, new, and those that are
/// ignored and all the same in the user's repository.
async fn changed(git: &Git, tracked: &Tracked) -> Result<BTreeMap<PathBuf, bool>, CheckpointError> {
    let mut arguments = owned(&["ls-files", "-t", "-z", "-m", "-d", "-o", "--exclude-standard", "--"]);
    arguments.push(git.place.below_top().into());
    let listed = git.run(Question { arguments, input: Vec::new(), index: None }).await?;
    // Each begins with a letter that says how it differs, and a space.
    let mut changed: BTreeMap<PathBuf, bool> = fields(&listed)
        .filter_map(|line| Some((from_bytes(line.get(2..)?), line.first() == Some(&b'?'))))
        .collect();
    changed.extend(tracked.to_look_at(git.place.top()).map(|path| (path, false)));
    Ok(changed)
}

fn fields(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// What tells that a file was not written since.
fn stamp(index: &Path) -> Option<String> {
    let found = index.metadata().ok()?;
    Some(format!("{} {} {} {}", found.ino(), found.len(), found.mtime(), found.mtime_nsec()))
}

fn fate(top: &Path, path: &Path) -> Fate {
    if bytes(path).ends_with(b"/") {
        // git names a folder only if it is a repository.
        return Fate::LeaveOut(Reason::Repository);
    }
    if is_behind_a_link(top, path) {
        return Fate::Forget;
    }
    let whole = top.join(path);
    match whole.symlink_metadata() {
        Ok(found) if found.is_symlink() => Fate::Record,
        Ok(found) if found.is_file() => file_fate(&whole, &found),
        Ok(_) | Err(_) => Fate::Forget,
    }
}

fn file_fate(whole: &Path, found: &Metadata) -> Fate {
    if found.len() > MAX_FILE_BYTES {
        return Fate::LeaveOut(Reason::TooLarge);
    }
    match std::fs::File::open(whole) {
        Ok(_) => Fate::Record,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Fate::Forget,
        Err(_) => Fate::LeaveOut(Reason::Unreadable),
    }
}

/// Whether a folder above a file is a link: the file is not of this tree then.
pub(crate) fn is_behind_a_link(top: &Path, path: &Path) -> bool {
    let mut whole = top.to_path_buf();
    let Some(parent) = path.parent() else { return false };
    parent.components().any(|component| match component {
        Component::Normal(name) => {
            whole.push(name);
            whole.symlink_metadata().is_ok_and(|found| found.is_symlink())
        }
        _ => false,
    })
}

fn push(list: &mut Vec<u8>, path: &Path) {
    list.extend_from_slice(bytes(path));
    list.push(0);
}
