//! Several tries: one message to two to four sessions, each in a worktree of its own; they are compared, one is kept.

mod book;
mod ending;
mod live;
mod start;

use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::tries::{TestTriesParams, Tries, Try, TryState};
use chartroom_repository::{RepositoryError, worktrees};
use chartroom_sessions::ProviderError;
use chartroom_workspace::CanonicalRoot;

use crate::app::{App, worktrees as settings_of};
use crate::projects::ProjectError;
use book::What;

pub(crate) use book::Book;
pub(crate) use ending::{drop_all, keep};
pub(crate) use start::start;

/// What was asked of several tries and cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TriesError {
    /// It makes no sense.
    #[error("{0}")]
    Invalid(String),
    /// There are none of that id.
    #[error("there are no tries {0}; list the project's to see their ids")]
    NotFound(String),
    /// The folder is not trusted.
    #[error("{0} is not trusted, and agents run programs: trust it first")]
    Untrusted(CanonicalRoot),
    /// The repository refused.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The agent refused.
    #[error(transparent)]
    Agent(#[from] ProviderError),
    /// The project refused.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// They cannot be written down.
    #[error("writing the tries down: {0}")]
    Io(std::io::Error),
}

/// Lists the tries of a project as they are now, the newest first.
pub(crate) async fn list(app: &App, project_id: &ProjectId) -> Result<Vec<Tries>, TriesError> {
    app.projects().root(project_id).await?;
    let mut all = Vec::new();
    for tries in app.tries().of_project(project_id) {
        all.push(live::filled(app, tries).await);
    }
    Ok(all)
}

/// Returns one of them as it is now.
pub(crate) async fn one(app: &App, project_id: &ProjectId, tries_id: &str) -> Result<Tries, TriesError> {
    Ok(live::filled(app, read(app, project_id, tries_id)?).await)
}

/// Begins to test them with the command of the user's config. Those that are being tested go on.
pub(crate) async fn test(
    app: &App,
    project_id: &ProjectId,
    tries_id: &str,
    params: &TestTriesParams,
) -> Result<Tries, TriesError> {
    let tries = read(app, project_id, tries_id)?;
    let root = app.projects().root(project_id).await?;
    let words = settings_of::test(&app.config().tries, root.as_path());
    if words.is_empty() {
        return Err(TriesError::Invalid(
            "no command tests them: set `test` of [tries] in your config, e.g. test = [\"npm\", \"test\"]"
                .to_owned(),
        ));
    }
    if let Some(name) = &params.name
        && !tries.tries.iter().any(|one| one.name == *name)
    {
        return Err(TriesError::Invalid(format!("there is no try {name} among them")));
    }
    let is_meant = |one: &&Try| params.name.as_ref().is_none_or(|name| one.name == *name);
    for one in tries.tries.iter().filter(is_meant).filter(|one| has_work(one)) {
        let record = record(app, &root, tries_id, one)?;
        let (app, words) = (app.clone(), words.clone());
        let (tries_id, name) = (tries_id.to_owned(), one.name.clone());
        // Before anybody looks: who asks next is told that it runs.
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let testing = async move {
            let Some(_busy) = app.tries().begin(What::Testing, &tries_id, &name) else { return };
            begun.send(()).ok();
            worktrees::run(app.gate(), &record, worktrees::Command::Test, &words).await;
        };
        // Bounded by the command's own limit; a revocation or the end of the server ends it.
        drop(tokio::spawn(testing));
        has_begun.await.ok();
    }
    one(app, project_id, tries_id).await
}

fn has_work(one: &Try) -> bool {
    one.path.is_some() && one.state != TryState::Removed
}

fn read(app: &App, project_id: &ProjectId, tries_id: &str) -> Result<Tries, TriesError> {
    let tries = app.tries().read(tries_id)?;
    match tries.project_id == *project_id {
        true => Ok(tries),
        false => Err(TriesError::NotFound(tries_id.to_owned())),
    }
}

/// The worktree of a try.
fn record(
    app: &App,
    root: &CanonicalRoot,
    tries_id: &str,
    one: &Try,
) -> Result<worktrees::Record, TriesError> {
    let found = worktrees::list(app.gate(), Some(root)).into_iter();
    // One of that name may be somebody else's: then this one has not begun.
    let is_own = |record: &worktrees::Record| record.made_for.as_deref() == Some(tries_id);
    let mut found = found.filter(|record| record.name == one.name && is_own(record));
    found.next().ok_or_else(|| {
        TriesError::Repository(RepositoryError::NotFound(format!("the worktree {} is gone", one.name)))
    })
}
