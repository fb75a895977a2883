//! Several tries: one message to two to four sessions, each in a worktree of its own; one is kept.

use serde::{Deserialize, Serialize};

use crate::ids::{CliType, ProjectId, SessionId};
use crate::worktree::{BringHow, BringResponse, CommandRun, RemoveWorktreeResponse};

/// Body of `POST /api/project/{id}/tries`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StartTriesParams {
    /// What each of them is told.
    pub message: String,
    /// Who tries, two to four; the same agent may try more than once.
    pub agents: Vec<TryAgent>,
    /// What the branches begin with; made of the message if it is absent. The first try's is this with `-1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub branch: Option<String>,
    /// The branch, tag or commit that they begin with; the last commit if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
}

/// Who tries.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TryAgent {
    /// The agent.
    pub cli_type: CliType,
    /// The agent's own name of a model; its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub model: Option<String>,
    /// The agent's own id of a permission mode; its default when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<String>,
}

/// Several tries of one message.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Tries {
    /// Names them.
    pub tries_id: String,
    /// The project of the repository that they are of.
    pub project_id: ProjectId,
    /// What each was told.
    pub message: String,
    /// ISO 8601 UTC.
    pub created_at: String,
    /// The branch of the repository's folder, onto which one is kept unless another is named; absent of a detached HEAD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub onto: Option<String>,
    /// The command of the user's config that tests each; empty if there is none.
    pub test: Vec<String>,
    /// In the order in which they were asked for.
    pub tries: Vec<Try>,
    /// The name of the one that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept: Option<String>,
}

/// One of several tries.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Try {
    /// Its name, and its worktree's.
    pub name: String,
    /// Its branch.
    pub branch: String,
    /// Who tries.
    pub cli_type: CliType,
    /// Where it is.
    pub state: TryState,
    /// Why it failed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
    /// Its session, once it has begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session_id: Option<SessionId>,
    /// Its folder, once it is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// The set-up command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub preparing: Option<CommandRun>,
    /// The test command, if it was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub test: Option<CommandRun>,
    /// What it has changed; absent as long as nothing is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub size: Option<DiffSize>,
    /// What it has cost, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub cost_usd: Option<f64>,
    /// Tokens in and out, where the agent tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub tokens: Option<u64>,
    /// How long its turns took that have ended.
    #[ts(type = "number")]
    pub duration_ms: u64,
    /// What its removal left: the commit of its branch and the checkpoint of its files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub removed: Option<RemoveWorktreeResponse>,
}

/// Where a try is.
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
#[serde(rename_all = "snake_case")]
pub enum TryState {
    /// Its worktree is being made, or its agent started.
    Making,
    /// It did not come so far; what is there of it can be removed.
    Failed,
    /// Its agent rests.
    Open,
    /// Its agent works.
    Working,
    /// Its agent waits for a person.
    NeedsYou,
    /// Its agent has ended.
    Dead,
    /// Its worktree is gone.
    Removed,
}

/// How much differs.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DiffSize {
    /// Files.
    #[ts(type = "number")]
    pub files: u64,
    /// Lines that came.
    #[ts(type = "number")]
    pub added: u64,
    /// Lines that went.
    #[ts(type = "number")]
    pub removed: u64,
}

/// Answer of `GET /api/project/{id}/tries` and of `chartroom tries list --json`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TriesListResponse {
    /// The newest first.
    pub tries: Vec<Tries>,
}

/// Body of `POST /api/project/{id}/tries/{triesId}/test`.
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
pub struct TestTriesParams {
    /// The one that is tested; all of them if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub name: Option<String>,
}

/// Body of `POST /api/project/{id}/tries/{triesId}/keep`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeepTryParams {
    /// The one that is kept.
    pub name: String,
    /// How its work comes back; as uncommitted changes if it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub how: Option<BringHow>,
    /// The branch that it comes to; the one of the repository's folder if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub onto: Option<String>,
    /// Remove the others also when work would be lost; what is not committed is recorded first.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub force: bool,
}

/// What came of keeping one try, or of dropping all. Answer of `chartroom tries keep --json` and `drop --json` too.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct EndTriesResponse {
    /// Whether it was done. If not, nothing has changed.
    pub done: bool,
    /// What came of bringing the kept one's work back; absent if it was not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub brought: Option<BringResponse>,
    /// The others: what was removed, or what would be lost.
    pub others: Vec<EndedTry>,
}

/// One try that is not kept.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct EndedTry {
    /// Its name.
    pub name: String,
    /// What was removed with it, or would be lost.
    #[serde(flatten)]
    pub removed: RemoveWorktreeResponse,
}
