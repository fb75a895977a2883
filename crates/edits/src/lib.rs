//! The mutation tools: edit, write, apply_patch, and what a language server proposes; write first, then append the
//! diagnostics.
//!
//! A tool either changes everything it was asked to, atomically, or nothing, and says why. What the language
//! service adds follows the success message; its failures are never seen here.

#![warn(missing_docs)]
#![allow(unexpected_cfgs, reason = "cargo-fuzz sets `fuzzing`: its targets reach what is private")]

mod disk;
mod feedback;
#[cfg(fuzzing)]
pub mod fuzzing;
mod locks;
mod nearest;
mod patch;
mod replace;
mod text;
mod tools;

pub use feedback::{Baseline, Changed, Checker, NoChecker, feedback};
pub use locks::FileLocks;
pub use tools::{Edits, Proposer, SymbolEdits, all};

/// Why an edit was not made. Every message is for the model: what was looked for, and what is there instead.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The path is outside the workspace, or is no file of it.
    #[error("{0}")]
    Boundary(#[from] chartroom_workspace::BoundaryError),
    /// There is no such file.
    #[error("{path} does not exist")]
    Missing {
        /// As the caller named it.
        path: String,
    },
    /// The path is a folder, or the file is read-only, binary, too large or not UTF-8.
    #[error("{path} {reason}")]
    NotEditable {
        /// As the caller named it.
        path: String,
        /// Which of these.
        reason: String,
    },
    /// The text to replace is not in the file.
    #[error("the text was not found in {path}{nearest}")]
    NotFound {
        /// As the caller named it.
        path: String,
        /// The lines that are most like it.
        nearest: String,
    },
    /// The text to replace is in the file more than once.
    #[error(
        "the text occurs {count} times in {path} (lines {lines}); give more of its surroundings, or set replaceAll"
    )]
    Ambiguous {
        /// As the caller named it.
        path: String,
        /// How often.
        count: usize,
        /// On which lines.
        lines: String,
    },
    /// Programs run or obey the file by themselves, and no person has agreed to the change.
    #[error(
        "{path} was not changed: programs run or obey what is in {name} by themselves, so a person must agree first, and {reason}. Use your own tool for writing files, which asks them"
    )]
    NeedsConsent {
        /// As the caller named it.
        path: String,
        /// The name for which it counts as such.
        name: &'static str,
        /// Why there is no consent, as the end of a sentence.
        reason: String,
    },
    /// The arguments do not have the tool's shape.
    #[error("{0}")]
    Arguments(String),
    /// The patch cannot be read, or does not fit the files.
    #[error("the patch is not readable: {0}")]
    Patch(String),
    /// A program that knows nothing of us changed the file between our reading and our writing.
    #[error("{path} was changed by another program while it was edited; nothing was changed, read it again")]
    ChangedMeanwhile {
        /// As the caller named it.
        path: String,
    },
    /// The change was worked out on a text that is no longer there.
    #[error("{path} has changed since the language server looked at it; nothing was changed, ask again")]
    ChangedSince {
        /// As people say it.
        path: String,
    },
    /// What a language server proposed is not made.
    #[error("nothing was changed: {0}")]
    Proposal(String),
    /// Another process has been at one of the files all the time.
    #[error(
        "another process of Chartroom is still changing one of these files; nothing was changed, try again"
    )]
    Locked,
    /// We are ending.
    #[error("the change was not made: {0}")]
    Stopped(String),
    /// The file could not be read or written; nothing was changed.
    #[error("{path} could not be written: {error}; nothing was changed")]
    Io {
        /// As the caller named it.
        path: String,
        /// What the system said.
        error: std::io::Error,
    },
}
