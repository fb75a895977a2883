//! The acts of a sequence: what persons, agents and we do, and what must hold after each.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::future::Future;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::Poll;

use chartroom_checkpoints::{CheckpointError, Kind, Records, Wanted};
use chartroom_protocol::changes::Restored;
use chartroom_protocol::keep::{CommitParams, KeepParams, KeepResponse, SwitchParams, TurnOf};
use chartroom_protocol::worktree::{BringHow, BringParams};
use chartroom_repository::{RepositoryError, keep, worktrees};

pub use super::files::Edit;
use super::files::{Held, Tree, name, tree};
use super::world::{Recorded, World};

/// How work comes back from a worktree.
#[derive(Debug, Clone, Copy)]
pub enum How {
    Merge,
    Squash,
    Rebase,
    Apply,
}

#[derive(Debug, Clone)]
pub enum Act {
    /// By a person.
    Edits(Vec<Edit>),
    /// By an agent, with the records around them.
    Turn(Vec<Edit>),
    Make,
    /// By the user's own git.
    Commit,
    KeepCommit,
    Stage(usize),
    Unstage(usize),
    RevertFile(usize),
    RevertAll,
    RevertHunk(usize),
    RevertTurn(usize),
    Rewind(usize, bool),
    /// Of the newest act that named a record.
    Undo,
    Restore(usize, bool),
    Switch(usize),
    /// With work in it, committed or not.
    WorktreeAdd(Vec<Edit>, bool),
    WorktreeBring(How),
    WorktreeRemove(bool),
    /// Cut off after so many steps, as by a kill.
    Killed(Box<Act>, usize),
}

/// Runs a future for so many steps and drops it then. Nothing if it did not come to its end.
async fn cut<T>(future: impl Future<Output = T>, steps: Option<usize>) -> Option<T> {
    let mut future = pin!(future);
    let mut left = steps;
    std::future::poll_fn(move |context| {
        if left == Some(0) {
            return Poll::Ready(None);
        }
        left = left.map(|left| left - 1);
        future.as_mut().poll(context).map(Some)
    })
    .await
}

impl Act {
    /// What of the user's repository it may change.
    fn may_change(&self) -> &'static [&'static str] {
        match self {
            Act::Stage(_) | Act::Unstage(_) | Act::RevertFile(_) | Act::RevertAll => &["index", "objects/"],
            Act::KeepCommit => &["index", "objects/", "refs/heads/", "logs/", "COMMIT_EDITMSG"],
            Act::Switch(_) => &["index", "HEAD", "refs/heads/", "logs/"],
            Act::WorktreeAdd(..) => {
                &["worktrees", "objects/", "refs/heads/w", "logs/", "COMMIT_EDITMSG", "packed-refs"]
            }
            Act::WorktreeBring(_) => {
                &["index", "objects/", "refs/heads/", "logs/", "ORIG_HEAD", "worktrees/", "AUTO_MERGE"]
            }
            // git deletes a branch in both places where one may be noted.
            Act::WorktreeRemove(_) => &["worktrees", "refs/heads/w", "logs/refs/heads/w", "packed-refs"],
            // Not ours: the user did it.
            Act::Commit => &[""],
            Act::Killed(act, _) => act.may_change(),
            Act::Edits(_)
            | Act::Turn(_)
            | Act::Make
            | Act::RevertHunk(_)
            | Act::RevertTurn(_)
            | Act::Rewind(..)
            | Act::Undo
            | Act::Restore(..) => &[],
        }
    }

    /// Does it, and looks at what must hold.
    pub async fn run(&self, world: &mut World) -> Result<(), String> {
        let git_before = world.dot_git();
        match self {
            Act::Edits(edits) => {
                let root = world.root();
                world.edit(root.as_path(), edits);
            }
            Act::Commit => world.commit(world.root().as_path()),
            Act::Killed(act, steps) => act.ours(world, Some(*steps)).await?,
            act => act.ours(world, None).await?,
        }
        check_git(&git_before, &world.dot_git(), self.may_change())
    }

    /// What we do. With a number of steps it may be cut off.
    async fn ours(&self, world: &mut World, steps: Option<usize>) -> Result<(), String> {
        let root = world.root();
        let before = Before::of(world);
        let gate = world.bench.gate.clone();
        match self {
            Act::Turn(edits) => {
                let turn = format!("t{}", world.turns.len());
                let Some(first) = cut(world.bench.turn(Kind::Before, &turn), steps).await else {
                    return before.after_a_kill(world).await;
                };
                let first = world.recorded(first);
                world.turns.push((turn.clone(), first));
                world.edit(root.as_path(), edits);
                let last = world.bench.turn(Kind::After, &turn).await;
                world.recorded(last);
                Ok(())
            }
            Act::Make => match cut(world.bench.make(), steps).await {
                Some(made) => {
                    world.recorded(made);
                    before.is_untouched(world)
                }
                None => before.after_a_kill(world).await,
            },
            Act::KeepCommit => {
                let params = CommitParams { message: Some("kept".to_owned()), amend: false, all: true };
                let done = cut(keep::commit(&gate, &root, &params), steps).await;
                let Some(done) = done else { return before.after_a_kill(world).await };
                let undo = done.map_err(|error| error.to_string())?.undo;
                before.is_untouched(world)?;
                before.named(world, undo.as_deref()).await
            }
            Act::Stage(_) | Act::Unstage(_) => {
                let params = paths(self.path());
                let done = match self {
                    Act::Stage(_) => cut(keep::stage(&gate, &root, &params), steps).await,
                    _ => cut(keep::unstage(&gate, &root, &params), steps).await,
                };
                if done.is_none() {
                    return before.after_a_kill(world).await;
                }
                before.is_untouched(world)
            }
            Act::RevertFile(_) => before.revert(world, paths(self.path()), steps).await,
            Act::RevertAll => before.revert(world, KeepParams::default(), steps).await,
            Act::RevertHunk(which) => {
                let Some(patch) = hunk(root.as_path(), *which) else { return Ok(()) };
                before.revert(world, KeepParams { patch: Some(patch), ..KeepParams::default() }, steps).await
            }
            Act::RevertTurn(which) => {
                let Some((turn, _)) = world.turns.get(which % world.turns.len().max(1)) else {
                    return Ok(());
                };
                let turn = Some(TurnOf { session: "s".to_owned(), turn: Some(turn.as_str().into()) });
                before.revert(world, KeepParams { turn, ..KeepParams::default() }, steps).await
            }
            Act::Rewind(which, force) => {
                let turn = world.turns.get(which % world.turns.len().max(1)).cloned();
                let Some((_, target)) = turn else { return Ok(()) };
                before.restore(world, &target, *force, steps).await
            }
            Act::Undo => {
                let undo = world.undo.take();
                let target =
                    world.records.iter().find(|it| Some(&it.checkpoint.id) == undo.as_ref()).cloned();
                let Some(target) = target else { return Ok(()) };
                before.restore(world, &target, true, steps).await
            }
            Act::Restore(which, force) => {
                let target = world.records.get(which % world.records.len().max(1)).cloned();
                let Some(target) = target else { return Ok(()) };
                before.restore(world, &target, *force, steps).await
            }
            Act::Switch(which) => {
                let create = which % 2 == 0 || world.bench.git(&["branch", "--list", "other"]).is_empty();
                let branch = if create { format!("b{which}") } else { "other".to_owned() };
                let params = SwitchParams { branch, create, from: None };
                let done = cut(keep::switch(&gate, &root, &params), steps).await;
                let Some(done) = done else { return before.after_a_kill(world).await };
                // A branch of that name may be there already.
                let undo = done.ok().and_then(|done| done.undo);
                before.changed(world, undo.as_deref()).await
            }
            Act::WorktreeAdd(edits, commits) => before.add(world, edits, *commits, steps).await,
            Act::WorktreeBring(how) => before.bring(world, *how, steps).await,
            Act::WorktreeRemove(force) => before.remove(world, *force, steps).await,
            Act::Edits(_) | Act::Commit | Act::Killed(..) => self.by_others(world),
        }
    }

    fn by_others(&self, world: &mut World) -> Result<(), String> {
        match self {
            Act::Edits(edits) => {
                let root = world.root();
                world.edit(root.as_path(), edits);
            }
            _ => world.commit(world.root().as_path()),
        }
        Ok(())
    }

    fn path(&self) -> PathBuf {
        match self {
            Act::Stage(which) | Act::Unstage(which) | Act::RevertFile(which) => name(*which),
            _ => PathBuf::from("a.txt"),
        }
    }
}

fn paths(path: PathBuf) -> KeepParams {
    KeepParams { paths: vec![path.to_string_lossy().into_owned()], ..KeepParams::default() }
}

/// The first hunk of a changed file, as the page would send it.
fn hunk(root: &Path, which: usize) -> Option<String> {
    let diff = chartroom_testkit::hostile::git(
        root,
        &["-c", "diff.autoRefreshIndex=false", "diff", "-U1", "--no-renames", "HEAD"],
    );
    let text = String::from_utf8(diff.stdout).ok()?;
    let files: Vec<&str> = text.split("diff --git ").filter(|file| file.contains("\n@@ ")).collect();
    let file = files.get(which % files.len().max(1))?;
    let (head, hunks) = file.split_once("\n@@ ")?;
    let first = hunks.split("\n@@ ").next()?;
    Some(format!("diff --git {head}\n@@ {}\n", first.trim_end_matches('\n')))
}

/// What there was before an act of ours.
struct Before {
    tree: Tree,
    ignored: BTreeSet<PathBuf>,
    known: Option<Tree>,
}

impl Before {
    fn of(world: &World) -> Self {
        let root = world.root();
        Self { tree: world.tree(), ignored: world.ignored(root.as_path()), known: world.known.clone() }
    }

    fn is_untouched(&self, world: &World) -> Result<(), String> {
        match differing(&self.tree, &world.tree()) {
            differs if differs.is_empty() => Ok(()),
            differs => Err(format!("nothing should have changed, and did: {differs:?}")),
        }
    }

    /// The act named a record of the state before.
    async fn named(&self, world: &mut World, undo: Option<&str>) -> Result<(), String> {
        let undo = undo.ok_or("no record is named")?;
        world.undo_of(undo, &self.tree, &self.ignored).await;
        world.known = None;
        Ok(())
    }

    /// The act may have changed files: what it changed is in the record that it named.
    async fn changed(&self, world: &mut World, undo: Option<&str>) -> Result<(), String> {
        let after = world.tree();
        world.owes((&self.tree, &after), &undo.map(str::to_owned).into_iter().collect::<Vec<_>>())?;
        if let Some(undo) = undo {
            self.named(world, Some(undo)).await?;
        }
        // Some acts record the state after them too.
        world.known = None;
        Ok(())
    }

    /// After a kill each file is as it was, or what the act changed is in the newest record.
    async fn after_a_kill(&self, world: &mut World) -> Result<(), String> {
        are_gone(world.bench.folder.path()).await;
        take_locks_away(&world.bench.path(".git"));
        world.known = None;
        let after = world.tree();
        if differing(&self.tree, &after).is_empty() {
            return Ok(());
        }
        let newest = world.newest(&world.bench.records().await);
        world.owes((&self.tree, &after), &newest)
    }

    async fn revert(
        &self,
        world: &mut World,
        params: KeepParams,
        steps: Option<usize>,
    ) -> Result<(), String> {
        let (gate, root) = (world.bench.gate.clone(), world.root());
        let done = cut(keep::revert(&gate, &root, &params), steps).await;
        let Some(done) = done else { return self.after_a_kill(world).await };
        match done {
            Ok(KeepResponse { done: true, undo, .. }) => {
                self.changed(world, undo.as_deref()).await?;
                match params == KeepParams::default() {
                    true => self.is_all_taken_back(world),
                    false => Ok(()),
                }
            }
            Ok(KeepResponse { reason, undo, .. }) => {
                reason.ok_or("it was not done, and no reason is told")?;
                self.changed(world, undo.as_deref()).await
            }
            Err(RepositoryError::Checkpoint(CheckpointError::NoTurn { .. })) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// All that is left is what was ignored: the rules that said so may be among what was taken back.
    fn is_all_taken_back(&self, world: &World) -> Result<(), String> {
        let status =
            ["--no-optional-locks", "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"];
        let told = chartroom_testkit::hostile::git(world.root().as_path(), &status).stdout;
        let left = told.split(|byte| *byte == 0).filter_map(|line| line.get(3..));
        let left = left.map(|path| PathBuf::from(OsString::from_vec(path.to_vec())));
        match { left }.find(|path| !self.ignored.contains(path)) {
            Some(path) => Err(format!("taken back, but for {}", path.display())),
            None => Ok(()),
        }
    }

    async fn restore(
        &self,
        world: &mut World,
        target: &Recorded,
        force: bool,
        steps: Option<usize>,
    ) -> Result<(), String> {
        let records: Records = world.bench.records().await;
        let wanted = Wanted { force, ..Wanted::default() };
        let done = cut(records.restore(&target.checkpoint, &wanted), steps).await;
        let Some(done) = done else { return self.after_a_kill(world).await };
        let restored = done.map_err(|error| error.to_string())?;
        let after = world.tree();
        world.owes((&self.tree, &after), &restored.undo.clone().into_iter().collect::<Vec<_>>())?;
        self.is_restored(world, target, force, (&restored, &after))?;
        let undo = restored.undo.ok_or("a restore named no record")?;
        world.undo_of(&undo, &self.tree, &self.ignored).await;
        world.known = Some(after);
        Ok(())
    }

    /// Each file is what the record says, or is named as a conflict and as it was.
    fn is_restored(
        &self,
        world: &World,
        target: &Recorded,
        force: bool,
        (restored, after): (&Restored, &Tree),
    ) -> Result<(), String> {
        let conflicts: BTreeSet<&str> = restored.conflicts.iter().map(String::as_str).collect();
        let all: BTreeSet<&PathBuf> = self.tree.keys().chain(target.whole.keys()).collect();
        let others = if force { BTreeSet::new() } else { self.changed_by_persons(world, target) };
        for path in all {
            let (was, wanted, is) = (self.tree.get(path), target.whole.get(path), after.get(path));
            let is_conflict = conflicts.contains(path.to_string_lossy().as_ref());
            let is_open = |held: Option<&Held>, ignored: &BTreeSet<PathBuf>| {
                matches!(held, Some(Held::Large(_))) || ignored.contains(path)
            };
            // What is in no record for sure may stay as it is.
            let may_stay = is_open(was, &self.ignored) || is_open(wanted, &target.ignored);
            let must_stay = is_conflict || (others.contains(path) && was != wanted);
            // What was ignored then is in no record, and goes if it is in this one.
            let may_go = target.ignored.contains(path) && is.is_none();
            let is_right =
                if must_stay { is == was } else { is == wanted || may_go || (may_stay && is == was) };
            if !is_right {
                return Err(format!(
                    "restoring {}: {} was {was:?}, is {is:?}, the record has {wanted:?} (conflict: {is_conflict})",
                    target.checkpoint.id,
                    path.display()
                ));
            }
        }
        Ok(())
    }

    /// What persons changed since the newest known state, and between turns.
    fn changed_by_persons(&self, world: &World, target: &Recorded) -> BTreeSet<PathBuf> {
        let mut changed = BTreeSet::new();
        if !world.has_later(&target.checkpoint) {
            return changed;
        }
        if let Some(known) = &self.known {
            changed.extend(differing(known, &self.tree));
        }
        if target.checkpoint.words().session.is_some() {
            for (before, after) in world.gaps_after(&target.checkpoint) {
                changed.extend(differing(before, after));
            }
        }
        changed
    }

    async fn add(
        &self,
        world: &mut World,
        edits: &[Edit],
        commits: bool,
        steps: Option<usize>,
    ) -> Result<(), String> {
        if world.worktree.is_some() {
            return Ok(());
        }
        world.n_worktrees += 1;
        let branch = format!("w{}", world.n_worktrees);
        let Some(added) = cut(world.bench.try_add(&branch, None), steps).await else {
            self.after_a_kill(world).await?;
            self.is_untouched(world)?;
            // What was half made is listed, and can be removed.
            let gate = world.bench.gate.clone();
            if worktrees::list(&gate, None).iter().any(|record| record.name == branch) {
                let record = world.bench.record(&branch);
                let removed =
                    worktrees::remove(&gate, &record, true).await.map_err(|error| error.to_string())?;
                return if removed.removed { Ok(()) } else { Err(format!("it stays: {removed:?}")) };
            }
            return Ok(());
        };
        let path = PathBuf::from(added.map_err(|error| error.to_string())?.worktree.path);
        world.worktree = Some(branch);
        world.edit(&path, edits);
        if commits {
            world.commit(&path);
        }
        self.is_untouched(world)
    }

    async fn bring(&self, world: &mut World, how: How, steps: Option<usize>) -> Result<(), String> {
        let Some((record, path)) = world.worktree() else { return Ok(()) };
        let how = match how {
            How::Merge => BringHow::Merge,
            How::Squash => BringHow::Squash,
            How::Rebase => BringHow::Rebase,
            How::Apply => BringHow::Apply,
        };
        let work = tree(&path);
        let params = BringParams { onto: "main".to_owned(), how };
        let gate = world.bench.gate.clone();
        let done = cut(worktrees::bring(&gate, &record, &params), steps).await;
        let Some(done) = done else { return self.after_a_kill(world).await };
        if tree(&path) != work {
            return Err("bringing changed the worktree itself".to_owned());
        }
        match done {
            Ok(done) if done.brought => self.changed(world, done.undo.as_deref()).await,
            Ok(done) => {
                done.reason.ok_or("it was not brought, and no reason is told")?;
                world.known = None;
                self.is_untouched(world)
            }
            // The branch is checked out nowhere.
            Err(RepositoryError::Refused(_)) => self.is_untouched(world),
            Err(error) => Err(error.to_string()),
        }
    }

    async fn remove(&self, world: &mut World, force: bool, steps: Option<usize>) -> Result<(), String> {
        let Some((record, path)) = world.worktree() else { return Ok(()) };
        let ignored = world.ignored(&path);
        let mut work = tree(&path);
        // What is ignored goes with the folder, as it does with git.
        work.retain(|path, _| !ignored.contains(path));
        let gate = world.bench.gate.clone();
        let done = cut(worktrees::remove(&gate, &record, force), steps).await;
        self.is_untouched(world)?;
        match done {
            None => {
                are_gone(world.bench.folder.path()).await;
                take_locks_away(&world.bench.path(".git"));
                let left = tree(&path);
                work.retain(|path, held| left.get(path) != Some(held));
                if worktrees::list(&gate, None).is_empty() {
                    world.worktree = None;
                }
            }
            Some(Ok(done)) if done.removed => world.worktree = None,
            Some(Ok(_)) | Some(Err(RepositoryError::Refused(_))) => {
                return if tree(&path).len() >= work.len() {
                    Ok(())
                } else {
                    Err("it lost files".to_owned())
                };
            }
            Some(Err(error)) => return Err(error.to_string()),
        }
        world.owes_somewhere(work);
        Ok(())
    }
}

fn differing(one: &Tree, other: &Tree) -> BTreeSet<PathBuf> {
    let all = one.keys().chain(other.keys());
    all.filter(|path| one.get(*path) != other.get(*path)).cloned().collect()
}

/// Nothing in the user's repository changes but what was asked for, and no object ever goes.
fn check_git(
    before: &BTreeMap<OsString, Vec<u8>>,
    after: &BTreeMap<OsString, Vec<u8>>,
    may_change: &[&str],
) -> Result<(), String> {
    for path in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(path), after.get(path));
        let text = path.to_string_lossy();
        let may = may_change.iter().any(|may| text.starts_with(may));
        if was != is && (!may || (text.starts_with("objects/") && was.is_some())) {
            return Err(format!("{text} of the user's repository has changed"));
        }
    }
    Ok(())
}

/// Waits until nothing runs any more that a cut-off act has started.
async fn are_gone(folder: &Path) {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = folder.canonicalize().unwrap();
    let needle = folder.as_os_str().as_bytes();
    let is_ours = |process: &Path| {
        let environ = std::fs::read(process.join("environ")).unwrap_or_default();
        process.file_name().is_some_and(|name| name != std::process::id().to_string().as_str())
            && environ.windows(needle.len()).any(|window| window == needle)
    };
    loop {
        let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        if !processes.filter(|path| path.join("environ").exists()).any(|process| is_ours(&process)) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}

/// As the user does whose git was killed, and as git tells them.
fn take_locks_away(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            take_locks_away(&path);
        } else if path.extension().is_some_and(|end| end == "lock") {
            std::fs::remove_file(path).unwrap();
        }
    }
}
