//! Projects: folders that the user added, and whether they are trusted.

use serde::{Deserialize, Serialize};

use crate::ids::ProjectId;

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AddProjectParams {
    pub path: String,
}

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub project_id: ProjectId,
    /// The canonical path.
    pub path: String,
    pub name: String,
    pub trusted: bool,
    /// The folder is gone (an unmounted disk, say); the project is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub missing: bool,
}

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ProjectListResponse {
    pub projects: Vec<Project>,
}

/// Trusts or revokes. The person at the page was shown this real path; it must equal the project's.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrustParams {
    pub real_path: String,
    pub trusted: bool,
}

/// Files for the composer's `@` completion, best match first.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileListResponse {
    pub files: Vec<String>,
    pub truncated: bool,
}
