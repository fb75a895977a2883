//! Records of a working tree ("checkpoints"), kept outside of the user's repository.
//!
//! Each folder has a git repository of ours in the data folder, with its own index and objects; the objects of the user's
//! repository are read as alternates, so that what is committed there is not stored twice. Nothing in the user's `.git` is
//! written, and nothing that a repository names is run: our repository has its own config and its own attributes, by
//! which every file is recorded byte for byte. A folder that is no repository works the same way.
//!
//! What is ignored is not recorded, unless the user's repository has it all the same; so are files over
//! [`MAX_FILE_BYTES`], files that cannot be read, and repositories inside the folder. What was left out is told.

mod changes;
mod content;
mod git;
mod held;
mod place;
mod record;
mod records;
mod restore;
mod scope;
mod sight;
mod snapshot;
mod undo;

pub use changes::Detail;
pub use git::version_of;
pub use place::Place;
pub use record::{Checkpoint, Kind, Words};
pub use records::Records;
pub use restore::Wanted;
pub use scope::Scope;
pub use sight::Sight;
pub use snapshot::{LeftOut, Reason};

use chartroom_workspace::GateError;

/// Files of more bytes are not recorded.
pub const MAX_FILE_BYTES: u64 = 16 << 20;

/// Before it, git has not all of the options that are used.
pub const OLDEST_GIT: (u32, u32) = (2, 31);

/// Why something could not be recorded, compared or restored.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// git could not be started.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// git ended with an error.
    #[error("git {command} failed: {message}")]
    Git {
        /// Its first argument.
        command: String,
        /// What it said.
        message: String,
    },
    /// git answered something that is not understood.
    #[error("git {command} answered something that is not understood")]
    Nonsense {
        /// Its first argument.
        command: String,
    },
    /// The disk does not do what is needed.
    #[error("{what}: {error}")]
    Io {
        /// What was done.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
    /// No record has this id.
    #[error("there is no checkpoint {id}; `chartroom checkpoint list` shows those there are")]
    Unknown {
        /// As it was given.
        id: String,
    },
    /// More than one record begins with this id.
    #[error("{id} is the beginning of more than one checkpoint; give more of it")]
    Ambiguous {
        /// As it was given.
        id: String,
    },
    /// The folder is in no repository, and the question needs one.
    #[error("{folder} is in no git repository; compare it with a checkpoint instead")]
    NoRepository {
        /// The folder.
        folder: String,
    },
    /// The repository has no such branch or commit.
    #[error("the repository has no branch, tag or commit {name}")]
    NoSuchRef {
        /// As it was given.
        name: String,
    },
    /// Neither our repository nor the user's has this content.
    #[error("there is no content {id}: it was thinned out, or never recorded")]
    NoContent {
        /// As it was given.
        id: String,
    },
    /// A content is larger than is shown.
    #[error("content {id} has {bytes} bytes, and at most {MAX_FILE_BYTES} are shown")]
    TooLarge {
        /// The content.
        id: String,
        /// How large it is.
        bytes: u64,
    },
    /// Contents of the record were in the user's repository alone, which has thrown them away.
    #[error(
        "checkpoint {id} cannot bring back {files}: the content was in your repository alone, which has thrown it away \
         (`git gc`); nothing was changed. The others come back with `--path`"
    )]
    Lost {
        /// The record.
        id: String,
        /// Which files.
        files: String,
    },
    /// A restore stopped after it had begun to change files.
    #[error(
        "the restore stopped half way: {why}. Each file is whole; restore again to finish, or go back: \
         chartroom checkpoint restore {undo} --force"
    )]
    Stopped {
        /// The record of the state before.
        undo: String,
        /// What happened.
        why: Box<CheckpointError>,
    },
    /// git cannot do what is needed.
    #[error("{version} is too old to keep records; install git {}.{} or later", OLDEST_GIT.0, OLDEST_GIT.1)]
    TooOld {
        /// What it calls itself.
        version: String,
    },
    /// The turn has no records.
    #[error(
        "there is no checkpoint of turn {turn}: it was not recorded, or so long ago that it was thinned out"
    )]
    NoTurn {
        /// The turn.
        turn: String,
    },
    /// Nobody has looked at what the session changed, or so long ago that the record is gone.
    #[error(
        "nobody has looked at the changes of session {session} yet, or so long ago that it was thinned out"
    )]
    NeverLooked {
        /// The session.
        session: String,
    },
    /// The session has no records.
    #[error("there is no checkpoint of session {session} in {folder}")]
    NoSession {
        /// The session.
        session: String,
        /// The folder.
        folder: String,
    },
}

pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> CheckpointError {
    let what = what.into();
    move |error| CheckpointError::Io { what, error }
}
