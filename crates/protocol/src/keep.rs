//! Keep or undo: what of the working tree is staged, taken back, committed, pushed.

use serde::{Deserialize, Serialize};

use crate::ids::TurnId;

/// How a project's repository stands. Answer of `GET /api/project/{id}/git`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryStatus {
    /// The branch; absent while HEAD is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<String>,
    /// The last commit; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub head: Option<String>,
    /// The branch of a remote that it follows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub upstream: Option<String>,
    /// Commits that the remote's does not have.
    pub ahead: u64,
    /// Commits that only the remote's has.
    pub behind: u64,
    /// A merge, rebase or the like that is not finished, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub in_progress: Option<String>,
    /// The files that differ, by path.
    pub files: Vec<StatusFile>,
    /// The local branches, by name.
    pub branches: Vec<String>,
}

/// A file that differs from the last commit or from what is staged.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct StatusFile {
    /// Below the top of the repository; bytes that are no text are replaced.
    pub path: String,
    /// It, or a part of it, is staged.
    pub staged: bool,
    /// It, or a part of it, is not.
    pub unstaged: bool,
    /// The repository does not know it.
    pub untracked: bool,
    /// A merge has left it for the user to settle.
    pub conflicted: bool,
}

/// What is meant: whole files, or hunks of one. Body of `stage`, `unstage` and `revert` below `/api/project/{id}/git`.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeepParams {
    /// Files and folders below the top of the repository; with neither these nor hunks, everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub paths: Vec<String>,
    /// Hunks as a patch, as `git diff` writes it; nothing else is touched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub patch: Option<String>,
    /// Of `revert`: what this turn of a session changed, in `paths` if some are named, and nothing that came later in the
    /// same place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnOf>,
}

/// A turn of a session.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnOf {
    /// The session.
    pub session: String,
    /// Its turn; all of them if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub turn: Option<TurnId>,
}

/// What came of it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct KeepResponse {
    /// Whether it was done. If not, nothing has changed.
    pub done: bool,
    /// Why not, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The checkpoint of the files before, if files were changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
}

/// Body of `POST /api/project/{id}/git/commit`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitParams {
    /// What the commit says; of an amended one the old words if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
    /// Replace the last commit.
    #[serde(default)]
    pub amend: bool,
    /// Stage everything first.
    #[serde(default)]
    pub all: bool,
}

/// What came of a commit.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CommitResponse {
    /// Whether there is a new commit. If not, nothing has changed.
    pub committed: bool,
    /// The last commit now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// What it was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// What git and the hooks said.
    pub output: String,
    /// The checkpoint of the files before: hooks may change them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
}

/// Body of `POST /api/project/{id}/git/switch`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SwitchParams {
    /// The branch.
    pub branch: String,
    /// Make it first.
    #[serde(default)]
    pub create: bool,
    /// What a new one begins with; the last commit if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
}

/// What git said of an act, and whether it was done.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ActResponse {
    /// Whether it was done.
    pub done: bool,
    /// What git and the hooks said.
    pub output: String,
    /// The checkpoint of the files before, if files may have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
}

/// Body of `POST /api/project/{id}/git/pull-request`.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PullRequestParams {
    /// Its title; the forge's own program makes one of the commits if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub title: Option<String>,
    /// What it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub body: Option<String>,
    /// The branch that it is for; the forge's default if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub base: Option<String>,
}

/// What came of a pull request.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct PullRequestResponse {
    /// Whether the forge's program has made one.
    pub made: bool,
    /// Its address, or the forge's page on which one is made by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// What the forge's program said.
    pub output: String,
}
