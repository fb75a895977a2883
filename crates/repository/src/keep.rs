//! Keep or undo: what of the working tree is staged, taken back, committed, pushed. Before files change they are recorded,
//! and where a file cannot be recorded nothing is done to it.

mod commit;
mod pull_request;
mod revert;
mod stage;
mod status;

pub use commit::{commit, push, switch};
pub use pull_request::pull_request;
pub use revert::revert;
pub use stage::{stage, unstage};
pub use status::{staged, status};

use std::path::{Path, PathBuf};

use chartroom_checkpoints::{Checkpoint, Kind, Records, Words};
use chartroom_protocol::keep::KeepResponse;
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use crate::RepositoryError;
use crate::git::Git;

/// Records the files of a repository before they change.
async fn recorded(gate: &SpawnGate, top: &CanonicalRoot) -> Result<(Records, Checkpoint), RepositoryError> {
    let records = Records::of(gate, top).await?;
    let before = records.make(|| Words { kind: Kind::Undo, ..Words::default() }).await?;
    Ok((records, before))
}

/// Some files in a few words.
fn named(paths: &[PathBuf]) -> String {
    match paths {
        [only] => only.display().to_string(),
        _ => format!("{} files", paths.len()),
    }
}

fn done(undo: Option<String>) -> KeepResponse {
    KeepResponse { done: true, reason: None, undo }
}

fn not_done(reason: impl Into<String>) -> KeepResponse {
    KeepResponse { done: false, reason: Some(reason.into()), undo: None }
}

/// Why a patch that came as text is not taken.
const NO_TEXT: &str =
    "the patch has bytes that are no text, and would put others in their place; name the file instead";

/// Whether something in it was replaced because it was no text.
fn is_no_text(patch: &str) -> bool {
    patch.contains(char::REPLACEMENT_CHARACTER)
}

/// The wanted files and folders below the top; all of the folder if none is named.
fn wanted(git: &Git, folder: &CanonicalRoot, paths: &[String]) -> Result<Vec<PathBuf>, RepositoryError> {
    use std::path::Component;
    let is_below = |path: &PathBuf| {
        !path.as_os_str().is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
    };
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    match paths.iter().find(|path| !is_below(path)) {
        Some(path) => Err(RepositoryError::Refused(format!(
            "{} is no path below the top of the repository",
            path.display()
        ))),
        None if paths.is_empty() => {
            let below = folder.as_path().strip_prefix(git.top().as_path()).unwrap_or(Path::new(""));
            Ok(vec![if below.as_os_str().is_empty() { PathBuf::from(".") } else { below.to_path_buf() }])
        }
        None => Ok(paths),
    }
}
