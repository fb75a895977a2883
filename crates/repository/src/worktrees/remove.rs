//! Removes a worktree with its branch, unless work would be lost.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use chartroom_checkpoints::{LeftOut, Records, Words};
use chartroom_protocol::worktree::RemoveWorktreeResponse;
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::record::Record;
use crate::RepositoryError;
use crate::git::{Git, texts};
use crate::io;

/// Removes a worktree. Where something in it is neither on another branch nor was brought back, nothing happens without
/// `force`; with it, what is not committed is recorded first.
pub async fn remove(
    gate: &SpawnGate,
    record: &Record,
    force: bool,
) -> Result<RemoveWorktreeResponse, RepositoryError> {
    let Looked { main, root, has_branch, mut told } = look(gate, record).await?;
    let loses = !told.uncommitted.is_empty() || !told.commits.is_empty();
    if loses && !force {
        return Ok(told);
    }
    // One that is half made is not looked into by the user's git: it may not be trusted yet.
    if let Some(root) = root.filter(|_| record.half_made || !told.uncommitted.is_empty()) {
        let label = Some(format!("worktree {}, removed", record.name));
        let made = Records::of(gate, &root).await?.make(|| Words { label, ..Words::default() }).await?;
        let is_work =
            |left_out: &&LeftOut| told.uncommitted.iter().any(|path| left_out.covers(Path::new(path)));
        if let Some(left_out) = made.left_out.iter().find(is_work) {
            return Err(RepositoryError::Refused(format!(
                "{} in the worktree cannot be recorded, so that it would be lost; move it away first",
                left_out.path
            )));
        }
        told.undo = Some(made.id);
    }
    take_away(&main, record).await?;
    if has_branch {
        // It may be checked out elsewhere by now: then it is not ours to remove.
        let deleted = main.act(&["branch", "--quiet", "-D", "--", &record.branch]).await?;
        if !deleted.ok {
            tracing::info!("the branch {} stays: {}", record.branch, deleted.text());
        }
    }
    gate.trust().revoke(&record.path)?;
    record.bury()?;
    told.removed = true;
    Ok(told)
}

/// Tells what would be lost with a worktree, and changes nothing.
pub async fn would_lose(
    gate: &SpawnGate,
    record: &Record,
) -> Result<RemoveWorktreeResponse, RepositoryError> {
    Ok(look(gate, record).await?.told)
}

/// What there is of a worktree.
struct Looked {
    main: Git,
    /// Its folder, if it is there.
    root: Option<CanonicalRoot>,
    has_branch: bool,
    told: RemoveWorktreeResponse,
}

async fn look(gate: &SpawnGate, record: &Record) -> Result<Looked, RepositoryError> {
    let repository = CanonicalRoot::open(&record.repository).map_err(|error| {
        RepositoryError::NotFound(format!("the repository of the worktree {}: {error}", record.name))
    })?;
    let main = Git::around(gate, &repository).await?;
    let root = CanonicalRoot::open(&record.path).ok().filter(|root| root.as_path().join(".git").exists());
    let worktree = match &root {
        Some(root) if !record.half_made => Some(Git::around(gate, root).await?),
        Some(_) | None => None,
    };
    let branch = main.commit(&format!("refs/heads/{}", record.branch)).await?;
    let head = match &worktree {
        Some(git) => git.commit("HEAD").await?,
        None => None,
    };
    let uncommitted = match &worktree {
        Some(git) => uncommitted(git, main.top().as_path(), record, head.as_deref()).await?,
        None => Vec::new(),
    };
    let commits = alone(&main, record, [branch.as_deref(), head.as_deref()]).await?;
    let told = RemoveWorktreeResponse {
        removed: false,
        uncommitted: texts(&uncommitted),
        commits,
        commit: head.or(branch.clone()).unwrap_or_else(|| record.base.clone()),
        undo: None,
    };
    Ok(Looked { main, root, has_branch: branch.is_some(), told })
}

async fn take_away(main: &Git, record: &Record) -> Result<(), RepositoryError> {
    let path = record.path.to_string_lossy();
    let removed = main.act(&["worktree", "remove", "--force", "--force", "--", &path]).await?;
    if !removed.ok {
        // Half made, or git's own note of it is gone.
        match std::fs::remove_dir_all(&record.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io(format!("removing {path}"))(error));
            }
            _ => {}
        }
        unlock_half_made(record);
        main.act(&["worktree", "prune"]).await?;
    }
    Ok(())
}

/// While git makes a worktree it locks its own note of it, and one that is killed leaves that lock: nothing would ever clear
/// the note away. Taken away is the lock of this worktree alone.
fn unlock_half_made(record: &Record) {
    let notes = record.common.join("worktrees");
    let dot_git = record.path.join(".git");
    for note in notes.read_dir().into_iter().flatten().flatten() {
        let lock = note.path().join("locked");
        let is_making = std::fs::read(&lock).is_ok_and(|why| why.trim_ascii() == b"initializing");
        let is_of_this = match std::fs::read(note.path().join("gitdir")) {
            Ok(leads_to) => leads_to.trim_ascii_end() == dot_git.as_os_str().as_bytes(),
            // Killed before it was written; git names the note after the folder.
            Err(_) => record.path.file_name() == Some(note.file_name().as_os_str()),
        };
        if is_making
            && is_of_this
            && let Err(error) = std::fs::remove_file(&lock)
        {
            tracing::warn!("{} cannot be removed: {error}", lock.display());
        }
    }
}

/// The work that is not committed, but for what was brought back as it is.
async fn uncommitted(
    git: &Git,
    main: &Path,
    record: &Record,
    head: Option<&str>,
) -> Result<Vec<PathBuf>, RepositoryError> {
    let mut files = open_work(git, main, record).await?;
    if !files.is_empty()
        && let Some(brought) = &record.brought
        && head == Some(brought.commit.as_str())
        && let Some(tree) = &brought.tree
        && *tree == git.work_tree().await?
    {
        files.clear();
    }
    Ok(files)
}

/// What is not committed, but for copies that are as they came.
pub(super) async fn open_work(
    git: &Git,
    main: &Path,
    record: &Record,
) -> Result<Vec<PathBuf>, RepositoryError> {
    let mut files = git.uncommitted().await?;
    let is_copy = |path: &PathBuf| {
        record.copied.contains(path)
            && std::fs::read(main.join(path)).ok() == std::fs::read(record.path.join(path)).ok()
    };
    files.retain(|path| !is_copy(path));
    Ok(files)
}

/// The commits that nobody else has.
async fn alone(main: &Git, record: &Record, tips: [Option<&str>; 2]) -> Result<Vec<String>, RepositoryError> {
    let brought = record.brought.as_ref().map(|brought| brought.commit.as_str());
    let tips: Vec<&str> = tips.into_iter().flatten().filter(|tip| Some(*tip) != brought).collect();
    if tips.is_empty() {
        return Ok(Vec::new());
    }
    let own = format!("--exclude={}", record.branch);
    let mut arguments = vec!["rev-list"];
    arguments.extend(&tips);
    arguments.extend(["--not", own.as_str(), "--branches", "--remotes", "--tags"]);
    arguments.extend(brought);
    let listed = main.line(&arguments).await?;
    Ok(listed.lines().map(str::to_owned).collect())
}
