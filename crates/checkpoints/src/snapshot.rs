//! The working tree as it is now, as a tree of our repository.
//!
//! Our index remembers what each file looked like when it was recorded, and a note which tree that was, so that a tree in
//! which nothing changed costs one look at each file and no more.

use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

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
    // What was left out is in no index, so that it is listed as new each time.
    let mut left_out = Vec::new();
    let (mut recorded, mut forgotten) = (Vec::new(), Vec::new());
    for (path, is_new) in &changed(git).await? {
        match fate(git.place.top(), path) {
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
    let index = git.store.as_path().join("index");
    let last = last(git);
    if recorded.is_empty()
        && forgotten.is_empty()
        && let Some(last) = &last
        && last.index.is_some()
        && last.index == stamp(&index)
    {
        return Ok(Snapshot { left_out, ..last.clone() });
    }
    if !forgotten.is_empty() {
        update(git, &["update-index", "--force-remove", "-z", "--stdin"], forgotten).await?;
    }
    if !recorded.is_empty() {
        update(git, &["update-index", "--add", "--remove", "-z", "--stdin"], recorded).await?;
    }
    let tree = git.line(&["write-tree"], b"").await?;
    let commit = last.filter(|last| last.tree == tree).and_then(|last| last.commit);
    let snapshot = Snapshot { tree, left_out, commit, index: stamp(&index) };
    note(git, &snapshot)?;
    Ok(snapshot)
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
async fn changed(git: &Git) -> Result<BTreeMap<PathBuf, bool>, CheckpointError> {
    let below = git.place.below_top();
    let mut arguments = owned(&["ls-files", "-t", "-z", "-m", "-d", "-o", "--exclude-standard", "--"]);
    arguments.push(below.clone().into());
    let listed = git.run(Question { arguments, input: Vec::new(), index: None }).await?;
    // Each begins with a letter that says how it differs, and a space.
    let mut changed: BTreeMap<PathBuf, bool> = fields(&listed)
        .filter_map(|line| Some((from_bytes(line.get(2..)?), line.first() == Some(&b'?'))))
        .collect();
    if let Some(repository) = &git.place.repository
        && let Some(stamp) = stamp(&repository.git_dir.join("index"))
    {
        let seen = git.store.as_path().join("seen-index");
        if std::fs::read_to_string(&seen).ok().as_deref() != Some(&stamp) {
            let mut arguments = owned(&["ls-files", "-z", "-c", "-i", "--exclude-standard", "--"]);
            arguments.push(below.into());
            let index = repository.git_dir.join("index");
            let question = Question { arguments, input: Vec::new(), index: Some(&index) };
            match git.run(question).await {
                Ok(tracked) => changed.extend(fields(&tracked).map(|path| (from_bytes(path), false))),
                // An index in parts cannot be read from elsewhere: what is ignored is left out then.
                Err(error) => tracing::debug!("the user's index was not read: {error}"),
            }
            std::fs::write(&seen, stamp).map_err(io("noting which index was seen"))?;
        }
    }
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
