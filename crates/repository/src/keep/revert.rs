//! Takes changes back: files to the last commit, hunks, or what a turn of a session did.

use std::path::{Path, PathBuf};

use chartroom_checkpoints::{Checkpoint, Records};
use chartroom_protocol::keep::{KeepParams, KeepResponse};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::{NO_TEXT, done, is_no_text, named, not_done, recorded, wanted};
use crate::git::{Git, Question, Runs, path};
use crate::undo::{self, Act};
use crate::{RepositoryError, io};

/// Takes back what is meant. All of it is recorded first; what does not fit any more leaves everything as it is.
pub async fn revert(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &KeepParams,
) -> Result<KeepResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let patch = match (&params.patch, &params.turn) {
        (Some(_), Some(_)) => {
            return Err(RepositoryError::Refused("say either a patch or a turn".to_owned()));
        }
        (Some(patch), None) if is_no_text(patch) => return Ok(not_done(NO_TEXT)),
        (Some(patch), None) => Some(patch.clone().into_bytes()),
        (None, Some(of)) => {
            let records = Records::of(gate, folder).await?;
            let paths =
                if params.paths.is_empty() { Vec::new() } else { wanted(&git, folder, &params.paths)? };
            let turn = of.turn.as_ref().map(ToString::to_string);
            Some(records.turn_patch(&of.session, turn.as_deref(), &paths).await?)
        }
        (None, None) => None,
    };
    let (records, before) = recorded(gate, git.top()).await?;
    // What is staged goes back too where whole files do; in the middle of a merge that cannot be told.
    let staged = match patch {
        Some(_) => None,
        None => git.line_if_any(&["write-tree"]).await?,
    };
    let part = if params.patch.is_some() { "a part of " } else { "" };
    let done = match patch {
        Some(patch) => hunks(&git, patch, &before).await?,
        None => files(&git, &wanted(&git, folder, &params.paths)?, (&records, &before)).await?,
    };
    if done.done {
        let act = |paths: &[PathBuf]| {
            let staged = staged.filter(|_| !paths.is_empty());
            Act { what: format!("reverted {part}{}", named(paths)), staged, ..Act::default() }
        };
        undo::note_files(gate, folder, &records, &before, act).await?;
    }
    Ok(done)
}

async fn hunks(git: &Git, patch: Vec<u8>, before: &Checkpoint) -> Result<KeepResponse, RepositoryError> {
    if patch.is_empty() {
        return Ok(done(None));
    }
    // All of it or nothing.
    let mut question = Question::new(Runs::Hooks, &["apply", "--reverse", "--whitespace=nowarn", "-"]);
    question.input = patch;
    let said = git.run(question).await?;
    Ok(if said.ok { done(Some(before.id.clone())) } else { not_done(said.text()) })
}

async fn files(
    git: &Git,
    wanted: &[PathBuf],
    (records, before): (&Records, &Checkpoint),
) -> Result<KeepResponse, RepositoryError> {
    let is_meant =
        |path: &Path| wanted.iter().any(|wanted| wanted == Path::new(".") || path.starts_with(wanted));
    let list = async |question: &[&str]| -> Result<Vec<PathBuf>, RepositoryError> {
        let answer = git.ask(question).await?;
        let paths = answer.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(path);
        Ok(paths.filter(|path| is_meant(path)).collect())
    };
    // What a merge has left for the user to settle is known to the index alone.
    let conflicted = list(&["diff", "--name-only", "--diff-filter=U", "-z"]).await?;
    if let Some(path) = conflicted.first() {
        return Ok(not_done(format!(
            "{} is in conflict: settle it first, or end the merge with git",
            path.display()
        )));
    }
    let has_commit = git.commit("HEAD").await?.is_some();
    let changed = match has_commit {
        true => {
            list(&["diff", "--name-only", "--no-renames", "-z", "--ignore-submodules=all", "HEAD"]).await?
        }
        false => list(&["ls-files", "-z", "--cached"]).await?,
    };
    let untracked = list(&["ls-files", "-z", "--others", "--exclude-standard"]).await?;
    let touched: Vec<&Path> = changed.iter().chain(&untracked).map(PathBuf::as_path).collect();
    if let Some(path) = records.not_held(before, &touched).await? {
        return Ok(not_done(format!(
            "{} could not be recorded (it is too large, unreadable, ignored, or a repository), so that taking it back \
             could not be undone",
            path.display()
        )));
    }
    if !changed.is_empty() {
        let command: &[&str] = match has_commit {
            true => &["restore", "--source=HEAD", "--staged", "--worktree"],
            false => &["rm", "--cached", "--quiet", "-r"],
        };
        let said = git.act_on(command, &changed).await?;
        if !said.ok {
            // Some of them may have changed before it failed.
            return Ok(KeepResponse { undo: Some(before.id.clone()), ..not_done(said.text()) });
        }
    }
    // Before the first commit nothing is there to go back to but nothing.
    let gone = if has_commit { untracked } else { [untracked, changed].concat() };
    for path in gone {
        let whole = git.top().as_path().join(&path);
        match std::fs::remove_file(&whole) {
            // A folder is a repository of its own.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound && !whole.is_dir() => {
                return Err(io(format!("removing {}", path.display()))(error));
            }
            _ => {}
        }
        for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
            if std::fs::remove_dir(git.top().as_path().join(above)).is_err() {
                break;
            }
        }
    }
    Ok(done(Some(before.id.clone())))
}
