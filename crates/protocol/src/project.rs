//! Projects: folders that the user added, and whether they are trusted.

use serde::{Deserialize, Serialize};

use crate::ids::ProjectId;

/// Body of `POST /api/project`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddProjectParams {
    /// An existing folder, absolute; links are resolved.
    pub path: String,
}

/// A folder that the user added.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    /// Names it in every request; it stays the same while the project is kept.
    pub project_id: ProjectId,
    /// The canonical path.
    pub path: String,
    /// The last segment of the path.
    pub name: String,
    /// Whether agents and language servers may be started in it.
    pub trusted: bool,
    /// The folder is gone (an unmounted disk, say); the project is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub missing: bool,
    /// The sandbox of its agents, e.g. `workspace (landlock)`; absent when they have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sandbox: Option<String>,
    /// What it is, if it is a worktree of our making.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub worktree: Option<ProjectWorktree>,
}

/// Which worktree a project is.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ProjectWorktree {
    /// Its name, by which it is brought back and removed.
    pub name: String,
    /// Its branch.
    pub branch: String,
    /// The folder of the repository that it was made of: its sessions are listed there.
    pub repository: String,
    /// It is gone; what was said in it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub removed: bool,
}

/// Answer of `GET /api/project`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ProjectListResponse {
    /// By name, then by path.
    pub projects: Vec<Project>,
}

/// Trusts or revokes. The person at the page was shown this real path; it must equal the project's.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustParams {
    /// The canonical path that the person was shown.
    pub real_path: String,
    /// False takes the trust back.
    pub trusted: bool,
}

/// The lines of a file around a place.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileLinesResponse {
    /// Relative to the project, with `/` between segments.
    pub path: String,
    /// The number of the first of the lines, from 1.
    #[ts(type = "number")]
    pub first_line: usize,
    /// Without their line breaks.
    pub lines: Vec<String>,
    /// How many lines the file has.
    #[ts(type = "number")]
    pub total_lines: usize,
}

/// Folders for whoever adds a project by its path.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FolderListResponse {
    /// The user's home, which `~` stands for.
    pub home: String,
    /// Absolute paths, by name.
    pub folders: Vec<String>,
    /// More folders match than are listed.
    pub truncated: bool,
}

/// Files for the composer's `@` completion, best match first.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileListResponse {
    /// Relative to the project, with `/` between segments.
    pub files: Vec<String>,
    /// More files match than are listed.
    pub truncated: bool,
}
