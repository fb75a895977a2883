//! Stages and unstages: files, or hunks as a patch. The files themselves stay as they are.

use chartroom_protocol::keep::{KeepParams, KeepResponse};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::{NO_TEXT, done, is_no_text, not_done, wanted};
use crate::RepositoryError;
use crate::git::{Git, Question, Runs};

/// Stages what is meant.
pub async fn stage(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &KeepParams,
) -> Result<KeepResponse, RepositoryError> {
    run(gate, folder, params, (&["apply", "--cached", "--whitespace=nowarn", "-"], &["add", "--all"])).await
}

/// Takes what is meant out of the next commit.
pub async fn unstage(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &KeepParams,
) -> Result<KeepResponse, RepositoryError> {
    let patch = &["apply", "--cached", "--reverse", "--whitespace=nowarn", "-"];
    run(gate, folder, params, (patch, &["reset", "--quiet"])).await
}

async fn run(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    params: &KeepParams,
    (hunks, files): (&[&str], &[&str]),
) -> Result<KeepResponse, RepositoryError> {
    if params.turn.is_some() {
        return Err(RepositoryError::Refused(
            "a turn can be reverted, not staged: name its files".to_owned(),
        ));
    }
    let git = Git::around(gate, folder).await?;
    if params.patch.as_deref().is_some_and(is_no_text) {
        return Ok(not_done(NO_TEXT));
    }
    let said = match &params.patch {
        Some(patch) => {
            let mut question = Question::new(Runs::Hooks, hunks);
            question.input = patch.clone().into_bytes();
            git.run(question).await?
        }
        None => git.act_on(files, &wanted(&git, folder, &params.paths)?).await?,
    };
    Ok(if said.ok { done(None) } else { not_done(said.text()) })
}
