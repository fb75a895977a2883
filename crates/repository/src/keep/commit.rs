//! Commits, switches branches and pushes, as the user would: hooks run, with their name and their keys.

use std::io::Write as _;
use std::path::Path;

use chartroom_protocol::keep::{ActResponse, CommitParams, CommitResponse, SwitchParams};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::{recorded, status, wanted};
use crate::git::{Git, Question, Runs, Said};
use crate::undo::{self, Act, Head, Place};
use crate::{RepositoryError, io};

/// Commits what is staged, or replaces the last commit with it.
pub async fn commit(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &CommitParams,
) -> Result<CommitResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let message = params.message.as_deref().filter(|message| !message.trim().is_empty());
    if message.is_none() && !params.amend {
        return Err(RepositoryError::Refused("a commit needs a message".to_owned()));
    }
    let before = git.commit("HEAD").await?;
    if before.is_none() && params.amend {
        return Err(RepositoryError::Refused("there is no commit yet that could be amended".to_owned()));
    }
    let (records, checkpoint) = recorded(gate, git.top()).await?;
    // The end of a merge has a second parent, which no undo would bring back.
    let is_plain = status::in_progress(&git).is_none();
    let index = git.repository.git_dir.join("index");
    let staged = std::fs::read(&index).ok();
    if params.all {
        let mut add = Question::new(Runs::Hooks, &["add", "--all", "--"]);
        add.arguments.extend(wanted(&git, folder, &[])?.into_iter().map(Into::into));
        git.must(add).await?;
    }
    let mut arguments = vec!["commit", "--quiet"];
    if params.amend {
        arguments.push("--amend");
    }
    arguments.extend(if message.is_some() { ["--file=-"] } else { ["--no-edit"] });
    let mut question = Question::new(Runs::Hooks, &arguments);
    question.input = message.unwrap_or_default().as_bytes().to_vec();
    let said = git.run(question).await?;
    if !said.ok && params.all {
        // What was staged before is staged now: the commit did not come about.
        put_back(&index, staged).map_err(io("putting the index back"))?;
    }
    let commit = git.commit("HEAD").await?;
    if said.ok
        && is_plain
        && let Some(after) = commit.clone()
    {
        let verb = if params.amend { "amended" } else { "committed" };
        let subject = git.line(&["log", "-1", "--format=%s", &after]).await?;
        let head = Head::Committed { before: before.clone(), after };
        let act =
            |_: &[_]| Act { what: format!("{verb} “{subject}”"), head: Some(head), ..Act::default() };
        undo::note_files(gate, folder, &records, &checkpoint, act).await?;
    }
    Ok(CommitResponse { committed: said.ok, commit, before, output: said.text(), undo: Some(checkpoint.id) })
}

/// Puts the index back at once, under git's own lock: a git of the user's may run.
fn put_back(index: &Path, staged: Option<Vec<u8>>) -> std::io::Result<()> {
    let Some(staged) = staged else { return std::fs::remove_file(index) };
    let lock = index.with_extension("lock");
    let mut file = std::fs::File::options().write(true).create_new(true).open(&lock)?;
    let put = file.write_all(&staged).and_then(|()| std::fs::rename(&lock, index));
    if put.is_err() {
        std::fs::remove_file(&lock)?;
    }
    put
}

/// Switches to a branch, which is made first if that is asked for.
pub async fn switch(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &SwitchParams,
) -> Result<ActResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let branch = &params.branch;
    if git.line_if_any(&["check-ref-format", "--branch", branch]).await?.as_ref() != Some(branch) {
        return Err(RepositoryError::Refused(format!("{branch:?} cannot be the name of a branch")));
    }
    let from = match &params.from {
        Some(_) if !params.create => {
            return Err(RepositoryError::Refused("only a new branch begins somewhere".to_owned()));
        }
        Some(from) => Some(git.commit(from).await?.ok_or_else(|| {
            RepositoryError::NotFound(format!("the repository has no branch, tag or commit {from}"))
        })?),
        None => None,
    };
    if !params.create && git.commit(&format!("refs/heads/{branch}")).await?.is_none() {
        return Err(RepositoryError::NotFound(format!("the repository has no branch {branch}")));
    }
    let (_, checkpoint) = recorded(gate, git.top()).await?;
    let here = git.line_if_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
    let before = match (&here, git.commit("HEAD").await?) {
        (Some(branch), Some(_)) => Some(Place::Branch(branch.clone())),
        (None, Some(commit)) => Some(Place::Commit(commit)),
        // Before the first commit there is no branch to go back to.
        (_, None) => None,
    };
    // What is ignored is in no record, and git would write over it.
    let mut arguments = vec!["switch", "--quiet", "--no-overwrite-ignore"];
    arguments.extend(if params.create { vec!["--no-track", "--create"] } else { vec!["--no-guess"] });
    arguments.push(branch);
    arguments.extend(from.as_deref());
    let said = git.act(&arguments).await?;
    if said.ok
        && let Some(before) = before
    {
        let made = if params.create { git.commit("HEAD").await? } else { None };
        let what = match &here {
            Some(from) => format!("switched from {from} to {branch}"),
            None => format!("switched to {branch}"),
        };
        let head = Some(Head::Switched { before, after: branch.clone(), made });
        undo::note(gate, folder, Act { what, head, ..Act::default() })?;
    }
    Ok(told(said, Some(checkpoint.id)))
}

/// Pushes the branch to the remote that it follows, or to the only one there is. Nothing is forced.
pub async fn push(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<ActResponse, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    let branch = branch(&git).await?;
    let remote = remote(&git, &branch).await?;
    Ok(told(git.act(&["push", "--set-upstream", &remote, &format!("refs/heads/{branch}")]).await?, None))
}

/// The branch that is checked out.
pub(super) async fn branch(git: &Git) -> Result<String, RepositoryError> {
    let branch = git.line_if_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
    branch.ok_or_else(|| RepositoryError::Refused("no branch is checked out; make one first".to_owned()))
}

/// The remote that a branch is pushed to.
pub(super) async fn remote(git: &Git, branch: &str) -> Result<String, RepositoryError> {
    let keys = [
        format!("branch.{branch}.pushRemote"),
        "remote.pushDefault".to_owned(),
        format!("branch.{branch}.remote"),
    ];
    for key in keys {
        if let Some(remote) = git.line_if_any(&["config", "--get", &key]).await? {
            return Ok(remote);
        }
    }
    let remotes = git.line(&["remote"]).await?;
    let mut remotes: Vec<&str> = remotes.lines().collect();
    if remotes.contains(&"origin") {
        return Ok("origin".to_owned());
    }
    match (remotes.pop(), remotes.is_empty()) {
        (Some(only), true) => Ok(only.to_owned()),
        (Some(_), false) => Err(RepositoryError::Refused(
            "there are several remotes and none is the branch's own; push once with git".to_owned(),
        )),
        (None, _) => Err(RepositoryError::Refused(
            "the repository has no remote; add one with `git remote add`".to_owned(),
        )),
    }
}

fn told(said: Said, undo: Option<String>) -> ActResponse {
    ActResponse { done: said.ok, output: said.text(), undo }
}
