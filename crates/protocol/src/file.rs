//! A file as the page shows it: its text, the places that a name leads to, and who wrote its lines.

use serde::{Deserialize, Serialize};

/// Answer of `GET /api/project/{id}/file/whole`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct WholeFileResponse {
    /// Relative to the folder, with `/` between segments.
    pub path: String,
    /// What it is.
    pub kind: FileKind,
    /// How large it is.
    #[ts(type = "number")]
    pub bytes: u64,
    /// Its text, if it is one; of a file over the limit the first lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
    /// The text is only the beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub cut: bool,
}

/// What can be shown of a file.
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
#[serde(rename_all = "camelCase")]
pub enum FileKind {
    /// Lines.
    Text,
    /// A picture, by its first bytes.
    Image,
    /// Neither.
    Binary,
}

/// Answer of `GET /api/project/{id}/file/places`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FilePlacesResponse {
    /// In the order of their paths and lines.
    pub places: Vec<FilePlace>,
    /// Why there are none, or not all: what the language server said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub note: Option<String>,
}

/// One place that a name leads to.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FilePlace {
    /// Relative to the folder; absolute for a file outside of it, which cannot be opened here.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// The line itself, without what it begins with, if the file is in the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub text: Option<String>,
}

/// Answer of `GET /api/project/{id}/file/blame`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct BlameResponse {
    /// Runs of lines of one commit, from the first line to the last.
    pub runs: Vec<BlameRun>,
}

/// Lines that follow each other and came with one commit.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct BlameRun {
    /// The first of the lines, from 1.
    pub line: u32,
    /// How many.
    pub lines: u32,
    /// The commit; nothing for lines that are not committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub commit: Option<String>,
    /// Who wrote it.
    pub author: String,
    /// When, in seconds since 1970.
    #[ts(type = "number")]
    pub at: i64,
    /// The first line of its message.
    pub summary: String,
}
