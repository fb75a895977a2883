//! What agents and people did to a working tree: records of it ("checkpoints"), what differs, the way back.

use serde::{Deserialize, Serialize};

use crate::ids::{SessionId, TurnId};

/// What differs between two states of a working tree. Answer of `GET /api/session/{id}/changes`, `chartroom changes
/// --json` and `chartroom checkpoint diff --json`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct Changes {
    /// What was compared: a checkpoint, or a commit.
    pub base: String,
    /// With what: a checkpoint, or `working tree`.
    pub head: String,
    /// By path.
    pub files: Vec<ChangedFile>,
    /// As git writes it, when it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub patch: Option<String>,
    /// The lines of so many files were not counted: `added`, `removed` and `binary` say nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub uncounted: bool,
}

/// A file that differs.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ChangedFile {
    /// Below the top of the working tree; bytes that are no text are replaced.
    pub path: String,
    /// What happened to it.
    pub status: FileStatus,
    /// What it was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
    /// Lines that came.
    pub added: u64,
    /// Lines that went.
    pub removed: u64,
    /// Whether it has no lines.
    pub binary: bool,
    /// What it was, when versions were asked for and there was a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<FileVersion>,
    /// What it is, when versions were asked for and there is a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub after: Option<FileVersion>,
}

/// A content that a file had, and what kind of file it was.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct FileVersion {
    /// The id of the content: the same bytes have the same.
    pub id: String,
    /// As git writes it: `100644`, `100755`, `120000` of a link, `160000` of a submodule.
    pub mode: String,
}

/// How two versions of a file differ. Answer of `GET /api/session/{id}/changes/file`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct FilePatch {
    /// Hunks as git writes them, each from its `@@` on.
    pub patch: String,
    /// Whether it is longer than anybody would read, and was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub truncated: bool,
}

/// What a session's files can be compared with. Answer of `GET /api/session/{id}/changes/scopes`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ScopesResponse {
    /// The turns that were recorded, the first one first.
    pub turns: Vec<TurnId>,
    /// Whether there is a repository, and so a last commit.
    pub repository: bool,
    /// The branch that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<String>,
    /// The repository's own branches, by name.
    pub branches: Vec<String>,
    /// When a person last looked at what the session changed, in milliseconds since 1970.
    #[serde(default, rename = "lookedAt", skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub looked_at: Option<u64>,
}

/// What happened to a file.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum FileStatus {
    /// It is new.
    Added,
    /// Its content or its mode is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It has another name.
    Renamed,
    /// It is new, and the user's repository does not know it.
    Untracked,
}

/// What a restore did. Answer of `chartroom checkpoint restore --json`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct Restored {
    /// What the tree is now.
    pub checkpoint: String,
    /// What it was before; absent of a dry run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
    /// Files that were written.
    pub written: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files that somebody else changed, or that something stands in the way of: they are as they were.
    pub conflicts: Vec<String>,
}

/// Body of `POST /api/session/{id}/restore`: make the files what a checkpoint says.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreParams {
    /// Its id, or the beginning of it; the `undo` of a restore takes that restore back.
    pub checkpoint: String,
    /// These files and folders below the top of the working tree; all if there are none.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Replace files too that somebody else changed since.
    #[serde(default)]
    pub force: bool,
}

/// Body of `POST /api/session/{id}/rewind`: back to before a turn.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RewindParams {
    /// The turn that is undone, with all after it.
    pub before: TurnId,
    /// Make the files what they were.
    #[serde(default)]
    pub files: bool,
    /// Go on without what was said since, in a session of its own. The old one is archived: it is the way back.
    #[serde(default)]
    pub conversation: bool,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
    /// Replace files too that somebody else changed since.
    #[serde(default)]
    pub force: bool,
}

/// What a rewind did.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct RewindResponse {
    /// What happened to the files, if they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files: Option<Restored>,
    /// The session in which the conversation goes on, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<SessionId>,
    /// What the session's agent cannot do, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cannot: Option<String>,
}

/// Body of `POST /api/session/{id}/fork`: go on from a turn in a session of its own.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Default,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ForkParams {
    /// The last turn that the new session knows of; the last one of all if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<TurnId>,
}

/// What came of a fork.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ForkResponse {
    /// The new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<SessionId>,
    /// What the session's agent cannot do, in words, and what was done instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cannot: Option<String>,
}
