//! Makes a worktree: a folder below the data folder, on a new branch, prepared as the user's config says.

use std::path::{Component, Path, PathBuf};

use chartroom_protocol::worktree::{
    AddWorktreeParams, AddWorktreeResponse, CommandOutput, CommandRun, RunState,
};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::record::{self, Record};
use super::run::{Command, run};
use crate::git::{Git, texts};
use crate::{RepositoryError, io};

/// What the user's config wants of a new worktree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Files and folders below the top of the repository that git does not bring along.
    pub copy: Vec<PathBuf>,
    /// A command that is run in it, word by word; none if it is empty.
    pub setup: Vec<String>,
}

/// Makes a worktree of the repository that a trusted folder is in. What the set-up command says is told; a worktree whose
/// set-up failed stays.
pub async fn add(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &AddWorktreeParams,
    preparation: &Preparation,
) -> Result<AddWorktreeResponse, RepositoryError> {
    add_for(gate, folder, params, preparation, None).await
}

/// The same, with a word about what it is made for: whoever cleans up after a death knows by it what is theirs.
pub async fn add_for(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &AddWorktreeParams,
    preparation: &Preparation,
    made_for: Option<String>,
) -> Result<AddWorktreeResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let base = begin(&git, params).await?;
    let name = record::name_of(&params.branch);
    let path = record::folder_of(gate, git.top().as_path(), &git.repository.common)?.join(&name);
    if path.symlink_metadata().is_ok() || record::list(gate, None).iter().any(|other| other.path == path) {
        let known = format!("there is a worktree {name} already; remove it first, or choose another branch");
        return Err(RepositoryError::Refused(known));
    }
    let mut record = Record {
        name,
        path,
        branch: params.branch.clone(),
        base,
        repository: origin(gate, git.top()),
        common: git.repository.common.clone(),
        copied: Vec::new(),
        half_made: true,
        brought: None,
        made_for,
    };
    record.unbury()?;
    // First: what a death leaves half made is listed then, and can be removed.
    record.write()?;
    let root = match make(&git, &record).await {
        Ok(root) => root,
        Err(error) => {
            discard(&git, &record).await;
            return Err(error);
        }
    };
    record.half_made = false;
    record.copied = copy(git.top(), &root, &preparation.copy)?;
    record.write()?;
    let setup = match preparation.setup.is_empty() {
        true => None,
        false => {
            let CommandRun { command, state, output, .. } =
                run(gate, &record, Command::SetUp, &preparation.setup).await;
            Some(CommandOutput { command, ok: state == RunState::Passed, output })
        }
    };
    Ok(AddWorktreeResponse { worktree: record.told(), copied: texts(&record.copied), setup })
}

/// Checks the new branch's name and returns the commit that it begins with.
async fn begin(git: &Git, params: &AddWorktreeParams) -> Result<String, RepositoryError> {
    let branch = &params.branch;
    let is_name = git.line_if_any(&["check-ref-format", "--branch", branch]).await?;
    if is_name.as_ref() != Some(branch) {
        return Err(RepositoryError::Refused(format!("{branch:?} cannot be the name of a branch")));
    }
    if git.commit(&format!("refs/heads/{branch}")).await?.is_some() {
        let known = format!("the branch {branch} is there already; choose another name");
        return Err(RepositoryError::Refused(known));
    }
    match &params.from {
        Some(from) => git.commit(from).await?.ok_or_else(|| {
            RepositoryError::NotFound(format!("the repository has no branch, tag or commit {from}"))
        }),
        None => git.commit("HEAD").await?.ok_or_else(|| {
            let none =
                "the repository has no commit yet, and a worktree begins with one: commit something first";
            RepositoryError::Refused(none.to_owned())
        }),
    }
}

/// Returns the branch that is checked out around a folder; none of a detached HEAD.
pub async fn branch_of(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<Option<String>, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    git.line_if_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await
}

/// The folder that the user trusts: of a worktree of our making, the one that it was made of.
fn origin(gate: &SpawnGate, top: &CanonicalRoot) -> PathBuf {
    gate.trust().made_of(top).unwrap_or_else(|| top.as_path().to_owned())
}

async fn make(git: &Git, record: &Record) -> Result<CanonicalRoot, RepositoryError> {
    let path = record.path.to_string_lossy();
    let added = git
        .act(&["worktree", "add", "--quiet", "--no-track", "-b", &record.branch, "--", &path, &record.base])
        .await?;
    if !added.ok {
        return Err(RepositoryError::Failed { command: "worktree add".to_owned(), message: added.text() });
    }
    let open =
        |path: &Path| CanonicalRoot::open(path).map_err(|error| RepositoryError::Refused(error.to_string()));
    let root = open(&record.path)?;
    git.gate.trust().trust_worktree(&root, &open(&record.repository)?, &open(&record.common)?)?;
    Ok(root)
}

/// Takes back what was half made. Its branch has no work yet.
async fn discard(git: &Git, record: &Record) {
    let path = record.path.to_string_lossy();
    for arguments in [
        &["worktree", "remove", "--force", "--force", "--", &path][..],
        &["worktree", "prune"],
        &["branch", "-q", "-D", "--", &record.branch],
    ] {
        if let Err(error) = git.act(arguments).await {
            tracing::warn!("a worktree that was half made is not wholly taken back: {error}");
        }
    }
    if let Err(error) = record.remove() {
        tracing::warn!("a worktree that was half made is still listed: {error}");
    }
}

/// Copies what the user named and git did not bring. What is not there, or leads out of the repository, is left out.
fn copy(
    from: &CanonicalRoot,
    to: &CanonicalRoot,
    names: &[PathBuf],
) -> Result<Vec<PathBuf>, RepositoryError> {
    let mut copied = Vec::new();
    let mut waiting: Vec<PathBuf> = names.iter().rev().cloned().collect();
    while let Some(name) = waiting.pop() {
        let is_below = name.components().all(|part| matches!(part, Component::Normal(_)));
        let (source, target) = (from.as_path().join(&name), to.as_path().join(&name));
        let Ok(found) = source.symlink_metadata() else { continue };
        let is_inside = source.canonicalize().is_ok_and(|real| real.starts_with(from.as_path()));
        if !is_below || !is_inside {
            continue;
        }
        if found.is_dir() {
            let entries = std::fs::read_dir(&source).map_err(io(format!("reading {}", source.display())))?;
            let mut below: Vec<PathBuf> = entries.flatten().map(|it| name.join(it.file_name())).collect();
            below.sort();
            waiting.extend(below.into_iter().rev());
        } else if found.is_file() && target.symlink_metadata().is_err() {
            let put = || {
                std::fs::create_dir_all(target.parent().unwrap_or(&target))?;
                std::fs::copy(&source, &target)
            };
            put().map_err(io(format!("copying {}", name.display())))?;
            copied.push(name);
        }
    }
    Ok(copied)
}
