//! Makes the tree what a record says: each file is replaced at once or not at all, and what somebody else changed
//! meanwhile is left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chartroom_protocol::changes::Restored;

use crate::changes;
use crate::git::{Git, Question, owned};
use crate::place::from_bytes;
use crate::record::{Checkpoint, Kind};
use crate::snapshot::is_behind_a_link;
use crate::{CheckpointError, io};

/// How many files are read from our repository at once.
const CHUNK: usize = 64;

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

struct Entry {
    mode: u32,
    object: String,
}

pub(crate) async fn run(act: Act<'_>, wanted: &Wanted) -> Result<Restored, CheckpointError> {
    let top = act.git.place.top();
    let others = if wanted.force { BTreeSet::new() } else { changed_by_others(&act).await? };
    let mut conflicts = Vec::new();
    let (mut writes, mut removals) = (Vec::new(), Vec::new());
    for (is_there, path) in changes::names(act.git, (&act.now, &act.target.commit)).await? {
        if !wanted.paths.is_empty() && !wanted.paths.iter().any(|wanted| path.starts_with(wanted)) {
            continue;
        }
        // Before a file is written, what is to go is gone: a link above it may be among that.
        let is_elsewhere = !is_there && is_behind_a_link(top, &path);
        let is_newer = !wanted.force && !wanted.dry_run && is_newer(&top.join(&path), act.began);
        if others.contains(&path) || is_elsewhere || is_newer {
            conflicts.push(path);
        } else if is_there {
            writes.push(path);
        } else {
            removals.push(path);
        }
    }
    if !wanted.dry_run {
        for path in &removals {
            remove(act.git.place.folder.as_path(), &top.join(path))?;
        }
        let (left, in_the_way): (Vec<_>, Vec<_>) = writes.into_iter().partition(|path| is_free(top, path));
        writes = left;
        conflicts.extend(in_the_way);
        write(act.git, &act.target.commit, &writes).await?;
    }
    let text = |paths: Vec<PathBuf>| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    conflicts.sort();
    Ok(Restored {
        checkpoint: act.target.id.clone(),
        undo: None,
        written: text(writes),
        removed: text(removals),
        conflicts: text(conflicts),
    })
}

/// What was changed by nobody whose work is recorded. When the record is the newest one, all that differs from it is what
/// is to be undone. Otherwise what differs from the last known state was changed since by somebody else; and of a
/// session, what was changed between its turns.
async fn changed_by_others(act: &Act<'_>) -> Result<BTreeSet<PathBuf>, CheckpointError> {
    let mut others = BTreeSet::new();
    let recorded: Vec<&Checkpoint> = act.later.iter().filter(|it| it.words.kind != Kind::Undo).collect();
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

/// Whether a file was changed after this act began.
fn is_newer(path: &Path, began: SystemTime) -> bool {
    let Ok(found) = path.symlink_metadata() else { return false };
    let changed = u64::try_from(found.ctime()).unwrap_or(0);
    let nanos = u32::try_from(found.ctime_nsec()).unwrap_or(0);
    UNIX_EPOCH + Duration::new(changed, nanos) > began
}

/// Whether a file can be put there: no folder is in its place, and no file or link in the place of a folder above it.
fn is_free(top: &Path, path: &Path) -> bool {
    let whole = top.join(path);
    if is_behind_a_link(top, path) || whole.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return false;
    }
    let mut above = whole.ancestors().skip(1);
    let nearest = above.find_map(|above| above.symlink_metadata().ok());
    nearest.is_some_and(|found| found.is_dir())
}

/// Removes a file, and the folders that are empty then.
fn remove(folder: &Path, whole: &Path) -> Result<(), CheckpointError> {
    match std::fs::remove_file(whole) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(CheckpointError::Io { what: format!("removing {}", whole.display()), error });
        }
        _ => {}
    }
    let above = whole.ancestors().skip(1).take_while(|above| *above != folder && above.starts_with(folder));
    for above in above {
        if std::fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

async fn write(git: &Git, commit: &str, paths: &[PathBuf]) -> Result<(), CheckpointError> {
    if paths.is_empty() {
        return Ok(());
    }
    let entries = entries(git, commit).await?;
    let nonsense = |command: &str| CheckpointError::Nonsense { command: command.to_owned() };
    for chunk in paths.chunks(CHUNK) {
        let found: Vec<(&PathBuf, &Entry)> =
            chunk.iter().filter_map(|path| Some((path, entries.get(path)?))).collect();
        let input: String = found.iter().map(|(_, entry)| format!("{}\n", entry.object)).collect();
        let question =
            Question { arguments: owned(&["cat-file", "--batch"]), input: input.into_bytes(), index: None };
        let answer = git.run(question).await?;
        let mut rest = answer.as_slice();
        for (path, entry) in found {
            let content = object(&mut rest).ok_or_else(|| nonsense("cat-file"))?;
            let whole = git.place.top().join(path);
            put(git, &whole, entry.mode, content).map_err(io(format!("writing {}", whole.display())))?;
        }
    }
    Ok(())
}

async fn entries(git: &Git, commit: &str) -> Result<BTreeMap<PathBuf, Entry>, CheckpointError> {
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

/// Takes one object off git's answer: `id type size LF content LF`.
fn object<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let head = std::str::from_utf8(&rest[..end]).ok()?;
    let size: usize = head.rsplit(' ').next()?.parse().ok()?;
    let content = rest.get(end + 1..end + 1 + size)?;
    *rest = rest.get(end + 2 + size..)?;
    Some(content)
}

/// Puts a file in its place at once. It keeps the permissions that it had, but for who may run it.
fn put(git: &Git, whole: &Path, mode: u32, content: &[u8]) -> std::io::Result<()> {
    let parent = whole.parent().unwrap_or(whole);
    std::fs::create_dir_all(parent)?;
    let make = |folder: &Path| -> std::io::Result<tempfile::TempPath> {
        let builder = tempfile::Builder::new().prefix(".restored-").to_owned();
        if mode == 0o120_000 {
            use std::os::unix::ffi::OsStrExt as _;
            let target = std::ffi::OsStr::from_bytes(content);
            let link = builder.make_in(folder, |path| std::os::unix::fs::symlink(target, path))?;
            return Ok(link.into_temp_path());
        }
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(content)?;
        let existing = whole.symlink_metadata().ok().filter(|found| found.is_file());
        let read = existing.map_or(0o644, |found| found.mode() & 0o666);
        let run = if mode & 0o111 != 0 { (read & 0o444) >> 2 } else { 0 };
        file.as_file().set_permissions(Permissions::from_mode(read | run))?;
        Ok(file.into_temp_path())
    };
    // In our own folder if that is on the same disk: a death in between leaves nothing in the user's.
    match make(git.store.as_path())?.persist(whole) {
        Err(failed) if failed.error.kind() == std::io::ErrorKind::CrossesDevices => {
            make(parent)?.persist(whole).map_err(|failed| failed.error)
        }
        done => done.map_err(|failed| failed.error),
    }
}
