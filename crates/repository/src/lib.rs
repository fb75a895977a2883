//! The user's own git, on their word: worktrees of our making, and what is kept or undone of what agents did.
//!
//! Everything here changes a repository of the user's, so it is refused in a folder that they have not trusted; where it is
//! trusted, hooks and filters run as they would in a terminal. What would destroy something is recorded first
//! (`chartroom_checkpoints`), and the answer names the record.

mod git;
pub mod keep;
pub mod undo;
pub mod worktrees;

pub use git::Said;

use chartroom_checkpoints::CheckpointError;
use chartroom_workspace::git::GitError;
use chartroom_workspace::{GateError, TrustError};

/// Why something could not be done with a repository.
#[derive(Debug, thiserror::Error)]
pub enum RepositoryError {
    /// The folder is in no repository, is not trusted, or git could not be asked.
    #[error(transparent)]
    Repository(#[from] GitError),
    /// A program could not be started.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The state before could not be recorded, so nothing was done.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A worktree could not be trusted.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// git ended with an error.
    #[error("git {command} failed: {message}")]
    Failed {
        /// Its first argument.
        command: String,
        /// What it said.
        message: String,
    },
    /// There is no such thing; the sentence says what there is.
    #[error("{0}")]
    NotFound(String),
    /// It makes no sense here; the sentence says why and what to do.
    #[error("{0}")]
    Refused(String),
    /// The disk does not do what is needed.
    #[error("{what}: {error}")]
    Io {
        /// What was done.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> RepositoryError {
    let what = what.into();
    move |error| RepositoryError::Io { what, error }
}
