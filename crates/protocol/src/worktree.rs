//! Worktrees of our making: made, listed, brought back, removed.

use serde::{Deserialize, Serialize};

/// A worktree of our making.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Worktree {
    /// Its name, by which it is brought back and removed.
    pub name: String,
    /// Its folder.
    pub path: String,
    /// Its branch.
    pub branch: String,
    /// The commit that it began with.
    pub base: String,
    /// The folder of the repository that it was made of.
    pub repository: String,
    /// The set-up command of the user's config, while it runs and after; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub preparing: Option<CommandRun>,
}

/// A command of the user's config, as far as it has come.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CommandRun {
    /// The command, word by word.
    pub command: Vec<String>,
    /// Where it is.
    pub state: RunState,
    /// What it has said, the end of it if that is much.
    pub output: String,
    /// How long it took, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub duration_ms: Option<u64>,
}

/// Where a command of the user's config is.
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
pub enum RunState {
    /// It runs.
    Running,
    /// It ended well.
    Passed,
    /// It did not end well, or could not be started.
    Failed,
    /// Whoever ran it is gone before it ended.
    Interrupted,
}

/// Body of `POST /api/project/{id}/worktree`, and what a new session's own worktree is to be.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddWorktreeParams {
    /// The new branch.
    pub branch: String,
    /// The branch, tag or commit that it begins with; the last commit if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub from: Option<String>,
}

/// What came of a new worktree. Answer of `chartroom worktree add --json` too.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct AddWorktreeResponse {
    /// The worktree.
    #[serde(flatten)]
    pub worktree: Worktree,
    /// The files that the user's config names and that were copied into it.
    pub copied: Vec<String>,
    /// What the set-up command of the user's config said, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub setup: Option<CommandOutput>,
}

/// What a command said.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CommandOutput {
    /// The command, word by word.
    pub command: Vec<String>,
    /// Whether it ended well.
    pub ok: bool,
    /// What it said, and how it ended if that was not well.
    pub output: String,
}

/// Answer of `GET /api/project/{id}/worktree` and of `chartroom worktree list --json`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeListResponse {
    /// By name.
    pub worktrees: Vec<Worktree>,
}

/// How the work of a worktree comes to a branch.
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
pub enum BringHow {
    /// With a commit that joins both.
    Merge,
    /// As one commit.
    Squash,
    /// Commit by commit.
    Rebase,
    /// As changes that are not committed, what is not committed in the worktree among them.
    Apply,
}

/// Body of `POST /api/project/{id}/worktree/{name}/bring`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BringParams {
    /// The branch that it comes to.
    pub onto: String,
    /// How.
    pub how: BringHow,
}

/// What came of bringing a worktree's work to a branch. Answer of `chartroom worktree bring --json` too.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct BringResponse {
    /// Whether it was done. If not, nothing has changed.
    pub brought: bool,
    /// What the branch is now; absent when nothing was committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// What the branch was before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub before: Option<String>,
    /// Files that both have changed, each in its own way.
    pub conflicts: Vec<String>,
    /// Why it was not done, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The checkpoint of the branch's folder before it, if its files changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
}

/// What came of removing a worktree. Answer of `chartroom worktree remove --json` too.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RemoveWorktreeResponse {
    /// Whether it was removed. If not, nothing has changed.
    pub removed: bool,
    /// Files that are not committed and that were not brought back.
    pub uncommitted: Vec<String>,
    /// Commits that no other branch has and that were not brought back.
    pub commits: Vec<String>,
    /// What its branch was; the branch is removed with it.
    pub commit: String,
    /// The checkpoint of its files, if any of them would have been lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub undo: Option<String>,
}
