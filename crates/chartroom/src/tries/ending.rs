//! Keeps one of several tries, or none: the others' worktrees go, unless work would be lost and nobody has said so twice.

use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::tries::{EndTriesResponse, EndedTry, KeepTryParams, Tries, Try, TryState};
use chartroom_protocol::worktree::{BringHow, BringParams};
use chartroom_repository::{RepositoryError, worktrees};
use chartroom_workspace::CanonicalRoot;

use super::book::What;
use super::{TriesError, read, record};
use crate::app::{App, taken_away};

/// Brings the work of one back and removes the others. Where work would be lost, or does not fit, nothing has changed.
pub(crate) async fn keep(
    app: &App,
    project_id: &ProjectId,
    tries_id: &str,
    params: &KeepTryParams,
) -> Result<EndTriesResponse, TriesError> {
    let tries = read(app, project_id, tries_id)?;
    if let Some(kept) = &tries.kept {
        return Err(TriesError::Invalid(format!("{kept} was kept already")));
    }
    let Some(chosen) = tries.tries.iter().find(|one| one.name == params.name) else {
        return Err(TriesError::Invalid(format!("there is no try {} among them", params.name)));
    };
    let root = app.projects().root(project_id).await?;
    let end = Ending { app, tries: &tries, root: &root };
    let others: Vec<&Try> = tries.tries.iter().filter(|one| one.name != chosen.name).collect();
    end.are_made()?;
    let onto = match &params.onto {
        Some(onto) => onto.clone(),
        None => worktrees::branch_of(app.gate(), &root).await?.ok_or_else(|| {
            TriesError::Invalid("no branch is checked out in the project: say onto which it comes".to_owned())
        })?,
    };
    let work = record(app, &root, tries_id, chosen)?;
    let lost = end.lost(&others).await?;
    if !params.force && lost.iter().any(loses) {
        return Ok(EndTriesResponse { done: false, brought: None, others: lost });
    }
    if let Some(session_id) = &chosen.session_id {
        app.sessions().check_rests(session_id).await?;
    }
    let how = params.how.unwrap_or(BringHow::Apply);
    let brought = worktrees::bring(app.gate(), &work, &BringParams { onto, how }).await?;
    if !brought.brought {
        return Ok(EndTriesResponse { done: false, brought: Some(brought), others: lost });
    }
    // Before anything is removed: who comes back after a death finds what was kept, and the rest to be dropped.
    app.tries().keep(tries_id, &chosen.name)?;
    let others = end.remove(&others).await?;
    app.projects().tell_changed();
    Ok(EndTriesResponse { done: true, brought: Some(brought), others })
}

/// Removes them all, or after one was kept what is left of the others, and forgets them.
pub(crate) async fn drop_all(
    app: &App,
    project_id: &ProjectId,
    tries_id: &str,
    force: bool,
) -> Result<EndTriesResponse, TriesError> {
    let tries = read(app, project_id, tries_id)?;
    let root = app.projects().root(project_id).await?;
    let end = Ending { app, tries: &tries, root: &root };
    end.are_made()?;
    let others: Vec<&Try> = tries.tries.iter().filter(|one| tries.kept.as_ref() != Some(&one.name)).collect();
    let lost = end.lost(&others).await?;
    if !force && lost.iter().any(loses) {
        return Ok(EndTriesResponse { done: false, brought: None, others: lost });
    }
    let others = end.remove(&others).await?;
    app.tries().forget(tries_id)?;
    app.projects().tell_changed();
    Ok(EndTriesResponse { done: true, brought: None, others })
}

fn loses(one: &EndedTry) -> bool {
    !one.removed.uncommitted.is_empty() || !one.removed.commits.is_empty()
}

struct Ending<'a> {
    app: &'a App,
    tries: &'a Tries,
    root: &'a CanonicalRoot,
}

impl Ending<'_> {
    /// What is being made cannot be removed yet.
    fn are_made(&self) -> Result<(), TriesError> {
        let is_made = |one: &Try| self.app.tries().is_doing(What::Making, &self.tries.tries_id, &one.name);
        match self.tries.tries.iter().any(is_made) {
            true => {
                Err(TriesError::Invalid("they are still being made; wait until they have begun".to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Tells what would be lost with each; what is gone already is not told.
    async fn lost(&self, others: &[&Try]) -> Result<Vec<EndedTry>, TriesError> {
        let mut lost = Vec::new();
        for one in others {
            if let Some(record) = self.record(one)? {
                self.app.turns_are_recorded(&record.path).await;
                let removed = worktrees::would_lose(self.app.gate(), &record).await?;
                lost.push(EndedTry { name: one.name.clone(), removed });
            }
        }
        Ok(lost)
    }

    async fn remove(&self, others: &[&Try]) -> Result<Vec<EndedTry>, TriesError> {
        let mut ended = Vec::new();
        for one in others {
            let Some(record) = self.record(one)? else { continue };
            let removed = taken_away(self.app, &record, true).await?;
            let noted = removed.clone();
            self.app.tries().change(&self.tries.tries_id, &one.name, |one| {
                one.state = TryState::Removed;
                one.removed = Some(noted);
            })?;
            ended.push(EndedTry { name: one.name.clone(), removed });
        }
        Ok(ended)
    }

    /// The worktree of one of them, if there is any of it.
    fn record(&self, one: &Try) -> Result<Option<worktrees::Record>, TriesError> {
        match record(self.app, self.root, &self.tries.tries_id, one) {
            Err(TriesError::Repository(RepositoryError::NotFound(_))) => Ok(None),
            found => found.map(Some),
        }
    }
}
