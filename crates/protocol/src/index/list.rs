//! `list_codebases`: every tracked codebase by its state.

use serde::{Deserialize, Serialize};

/// Input of `list_codebases`: nothing.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
    Default,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListCodebasesParams {}

/// The heading a codebase is listed under, in this order.
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
    PartialOrd,
    Ord,
)]
#[serde(rename_all = "snake_case")]
pub enum CodebaseBucket {
    /// Searchable.
    Ready,
    /// The first build runs.
    Indexing,
    /// This runtime cannot use it as it is.
    RequiresReindex,
    /// The last build failed.
    Failed,
}

/// One tracked codebase.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ListedCodebase {
    /// The canonical root.
    pub path: String,
    /// The heading it stands under.
    pub bucket: CodebaseBucket,
    /// Why it is in this bucket, for `requires_reindex` and `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// 0..100, while it is being built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub progress_pct: Option<f64>,
    /// The folder is not there now (an unmounted disk, say); the entry is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub missing: bool,
    /// Files in the published generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexed_files: Option<u64>,
    /// Chunks in the published generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub total_chunks: Option<u64>,
    /// ISO 8601 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_updated: Option<String>,
}

/// Structured answer of `list_codebases`; the text is made from it.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ListCodebasesResponse {
    /// By bucket, then by path.
    pub codebases: Vec<ListedCodebase>,
    /// How many there are.
    pub total: u64,
    /// The catalog was damaged and set aside, say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub notices: Vec<String>,
}
