//! Makes the tree what a record says: each file is replaced at once or not at all, and what somebody else changed
//! meanwhile, or what no record holds, is left alone.

mod files;
mod strays;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use chartroom_protocol::changes::Restored;

use self::files::{is_free, is_newer, object, put, remove};
use self::strays::Strays;
pub(crate) use self::strays::{clear_away, remove_stray};
use crate::changes::{self, Became};
use crate::git::{Git, Question, owned};
use crate::place::from_bytes;
use crate::record::{Checkpoint, Kind};
use crate::snapshot::is_behind_a_link;
use crate::{CheckpointError, MAX_FILE_BYTES, io};

/// How many bytes are read from our repository at once: at least one file, whatever it has.
const CHUNK: u64 = 2 * MAX_FILE_BYTES;
/// How many files of those that cannot be brought back are named.
const NAMED: usize = 5;

/// What of a record is wanted.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// These files and folders, below the top of the working tree; all, if there are none.
    pub paths: Vec<PathBuf>,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Replace what somebody else changed too.
    pub force: bool,
}

/// All that is known when it begins.
pub(crate) struct Act<'a> {
    pub(crate) git: &'a Git,
    pub(crate) target: &'a Checkpoint,
    /// The records that came after it.
    pub(crate) later: Vec<Checkpoint>,
    /// The state that was recorded or made last before this act.
    pub(crate) known: Option<String>,
    pub(crate) now: String,
    pub(crate) began: SystemTime,
}

/// What is going to be done. Nothing has changed yet.
pub(crate) struct Plan {
    writes: Vec<Write>,
    removals: Vec<PathBuf>,
    conflicts: Vec<PathBuf>,
}

/// A file that is to be put in its place.
struct Write {
    path: PathBuf,
    /// Whether there is none to be replaced.
    is_new: bool,
    mode: u32,
    object: String,
    size: u64,
}

pub(crate) struct Entry {
    mode: u32,
    object: String,
}

impl Act<'_> {
    /// Looks at everything, and finds out whether all that is needed is there.
    pub(crate) async fn plan(&self, wanted: &Wanted) -> Result<Plan, CheckpointError> {
        let top = self.git.place.top();
        let others = if wanted.force { BTreeSet::new() } else { changed_by_others(self).await? };
        let (mut writes, mut removals, mut conflicts) = (Vec::new(), Vec::new(), Vec::new());
        for (became, path) in changes::names(self.git, (&self.now, &self.target.commit)).await? {
            if !wanted.paths.is_empty() && !wanted.paths.iter().any(|wanted| path.starts_with(wanted)) {
                continue;
            }
            let whole = top.join(&path);
            let is_behind_a_link = is_behind_a_link(top, &path);
            let is_unknown = match became {
                // It is there, and the record of the present state does not have it: it is ignored, too large, or unreadable.
                Became::New => {
                    !is_behind_a_link && whole.symlink_metadata().is_ok_and(|found| !found.is_dir())
                }
                // The record says nothing of it, not that it was not there.
                Became::Gone => self.target.left_out.iter().any(|left_out| left_out.covers(&path)),
                Became::Another => false,
            };
            // Before a file is written, what is to go is gone: a link above it may be among that.
            let is_elsewhere = became == Became::Gone && is_behind_a_link;
            let is_newer = !wanted.dry_run && is_newer(&whole, self.began);
            match became {
                _ if others.contains(&path) || is_unknown || is_elsewhere || is_newer => conflicts.push(path),
                Became::Gone => removals.push(path),
                Became::New | Became::Another => writes.push((path, became == Became::New)),
            }
        }
        let writes = self.contents(writes).await?;
        Ok(Plan { writes, removals, conflicts })
    }

    /// Finds the contents that are to be written; refuses if one is not there any more.
    async fn contents(&self, paths: Vec<(PathBuf, bool)>) -> Result<Vec<Write>, CheckpointError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let entries = entries(self.git, &self.target.commit).await?;
        let found: Vec<(PathBuf, bool, &Entry)> = paths
            .into_iter()
            .filter_map(|(path, is_new)| entries.get(&path).map(|entry| (path, is_new, entry)))
            .collect();
        let input: String = found.iter().map(|(_, _, entry)| format!("{}\n", entry.object)).collect();
        let arguments = owned(&["cat-file", "--batch-check=%(objectsize)"]);
        let answer = self.git.run(Question { arguments, input: input.into_bytes(), index: None }).await?;
        let sizes = String::from_utf8_lossy(&answer).into_owned();
        let (mut writes, mut lost) = (Vec::new(), Vec::new());
        for ((path, is_new, entry), size) in found.into_iter().zip(sizes.lines()) {
            match size.parse() {
                Ok(size) => {
                    let object = entry.object.clone();
                    writes.push(Write { path, is_new, mode: entry.mode, object, size });
                }
                Err(_) => lost.push(path),
            }
        }
        match lost.is_empty() {
            true => Ok(writes),
            false => Err(CheckpointError::Lost { id: self.target.id.clone(), files: named(&lost) }),
        }
    }

    /// Does what is planned. A file that has changed since the plan is left alone.
    pub(crate) async fn carry_out(&self, plan: Plan) -> Result<Restored, CheckpointError> {
        let top = self.git.place.top();
        let Plan { writes, removals, mut conflicts } = plan;
        let mut removed = Vec::new();
        for path in removals {
            let whole = top.join(&path);
            if is_newer(&whole, self.began) {
                conflicts.push(path);
            } else {
                remove(self.git.place.folder.as_path(), &whole)?;
                removed.push(path);
            }
        }
        let (free, in_the_way): (Vec<_>, Vec<_>) =
            writes.into_iter().partition(|write| is_free(top, &write.path));
        conflicts.extend(in_the_way.into_iter().map(|write| write.path));
        let (written, changed) = self.write(free).await?;
        conflicts.extend(changed);
        Ok(self.told(written, removed, conflicts))
    }

    /// Tells what would be done.
    pub(crate) fn promise(&self, plan: Plan) -> Restored {
        let Plan { writes, removals, conflicts } = plan;
        self.told(writes.into_iter().map(|write| write.path).collect(), removals, conflicts)
    }

    fn told(&self, written: Vec<PathBuf>, removed: Vec<PathBuf>, mut conflicts: Vec<PathBuf>) -> Restored {
        let text =
            |paths: Vec<PathBuf>| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        conflicts.sort();
        Restored {
            checkpoint: self.target.id.clone(),
            undo: None,
            written: text(written),
            removed: text(removed),
            conflicts: text(conflicts),
        }
    }

    /// Puts files in their places; returns those, and those that have changed meanwhile.
    async fn write(&self, writes: Vec<Write>) -> Result<(Vec<PathBuf>, Vec<PathBuf>), CheckpointError> {
        let (mut written, mut changed) = (Vec::new(), Vec::new());
        let top = self.git.place.top();
        let folders: Vec<PathBuf> =
            writes.iter().filter_map(|write| Some(top.join(write.path.parent()?))).collect();
        let strays = Strays::of(self.git.store.as_path(), self.began, folders.iter().map(PathBuf::as_path))
            .map_err(io("noting where files are put"))?;
        let mut waiting = writes.as_slice();
        while !waiting.is_empty() {
            let mut bytes = 0;
            let fits = waiting.iter().take_while(|write| {
                bytes += write.size;
                bytes <= CHUNK
            });
            let (chunk, rest) = waiting.split_at(fits.count().max(1));
            waiting = rest;
            let input: String = chunk.iter().map(|write| format!("{}\n", write.object)).collect();
            let arguments = owned(&["cat-file", "--batch"]);
            let answer = self.git.run(Question { arguments, input: input.into_bytes(), index: None }).await?;
            let mut rest = answer.as_slice();
            for write in chunk {
                let nonsense = || CheckpointError::Nonsense { command: "cat-file".to_owned() };
                let content = object(&mut rest).ok_or_else(nonsense)?;
                let whole = top.join(&write.path);
                let is_taken = write.is_new && whole.symlink_metadata().is_ok();
                if is_taken || is_newer(&whole, self.began) {
                    changed.push(write.path.clone());
                    continue;
                }
                put((self.git, &strays.prefix), &whole, write.mode, content)
                    .map_err(io(format!("writing {}", whole.display())))?;
                written.push(write.path.clone());
            }
        }
        strays.settled();
        Ok((written, changed))
    }
}

/// The first of them, and how many more there are.
fn named(paths: &[PathBuf]) -> String {
    let first: Vec<String> = paths.iter().take(NAMED).map(|path| path.display().to_string()).collect();
    match paths.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// What was changed by nobody whose work is recorded. When the record is the newest one, all that differs from it is what
/// is to be undone. Otherwise what differs from the last known state was changed since by somebody else; and of a
/// session, what was changed between its turns.
async fn changed_by_others(act: &Act<'_>) -> Result<BTreeSet<PathBuf>, CheckpointError> {
    let mut others = BTreeSet::new();
    let recorded: Vec<&Checkpoint> = act.later.iter().filter(|it| it.words.kind.is_known()).collect();
    if recorded.is_empty() {
        return Ok(others);
    }
    let mut gaps: Vec<(&str, &str)> = Vec::new();
    if let Some(known) = &act.known {
        gaps.push((known, &act.now));
    }
    if act.target.words.session.is_some() {
        for pair in recorded.windows(2) {
            if let [before, after] = pair
                && after.words.kind == Kind::Before
            {
                gaps.push((&before.commit, &after.commit));
            }
        }
    }
    for gap in gaps {
        others.extend(changes::names(act.git, gap).await?.into_iter().map(|(_, path)| path));
    }
    Ok(others)
}

pub(crate) async fn entries(git: &Git, commit: &str) -> Result<BTreeMap<PathBuf, Entry>, CheckpointError> {
    let listed = git.ask(&["ls-tree", "-r", "-z", "--full-tree", commit]).await?;
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let mut words = std::str::from_utf8(&line[..tab]).ok()?.split(' ');
        let mode = u32::from_str_radix(words.next()?, 8).ok()?;
        let object = words.nth(1)?.to_owned();
        Some((from_bytes(&line[tab + 1..]), Entry { mode, object }))
    };
    Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
}
