//! The mutation tools: edit, write, apply_patch; write first, then append the diagnostics.
//!
//! A tool either changes everything it was asked to, atomically, or nothing, and says why. What the language
//! service adds follows the success message; its failures are never seen here.

mod disk;
mod feedback;
mod nearest;
mod patch;
mod replace;
mod text;
mod tools;

pub use feedback::{Baseline, Changed, Checker, NoChecker, feedback};
pub use tools::{Edits, all};

/// Why an edit was not made. Every message is for the model: what was looked for, and what is there instead.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    #[error("{0}")]
    Boundary(#[from] chartroom_workspace::BoundaryError),
    #[error("{path} does not exist")]
    Missing { path: String },
    #[error("{path} {reason}")]
    NotEditable { path: String, reason: String },
    #[error("the text was not found in {path}{nearest}")]
    NotFound { path: String, nearest: String },
    #[error(
        "the text occurs {count} times in {path} (lines {lines}); give more of its surroundings, or set replaceAll"
    )]
    Ambiguous { path: String, count: usize, lines: String },
    #[error("{0}")]
    Arguments(String),
    #[error("the patch is not readable: {0}")]
    Patch(String),
    #[error("{path} could not be written: {error}; nothing was changed")]
    Io { path: String, error: std::io::Error },
}
