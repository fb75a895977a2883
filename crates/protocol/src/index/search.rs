//! `search_codebase`: what it takes and what it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    CallGraphHint, Compatibility, FreshnessDecision, Hints, IndexStatus, IndexingProgress,
    NavigationFallback, NonOkReason, Span, Warning,
};

/// Which kinds of files are searched.
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
#[serde(rename_all = "snake_case")]
pub enum SearchScope {
    /// Code that runs: no docs, no tests.
    #[default]
    Runtime,
    /// Everything.
    Mixed,
    /// Docs and tests only.
    Docs,
}

/// Groups or single chunks.
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
#[serde(rename_all = "snake_case")]
pub enum ResultMode {
    /// Chunks of one symbol or file as one result.
    #[default]
    Grouped,
    /// Every chunk by itself.
    Raw,
}

/// What a group is.
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
#[serde(rename_all = "snake_case")]
pub enum GroupBy {
    /// One result per symbol.
    #[default]
    Symbol,
    /// One result per file.
    File,
}

/// Whether files with uncommitted changes are preferred.
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
#[serde(rename_all = "snake_case")]
pub enum RankingMode {
    /// No preference.
    Default,
    /// Changed files are boosted when they are few.
    #[default]
    AutoChangedFirst,
}

/// Input of `search_codebase`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SearchCodebaseParams {
    /// An indexed folder, or a folder inside one (then only that folder is searched).
    #[schemars(length(min = 1))]
    pub path: String,
    /// Words or identifiers; operators lang: path: -path: must: exclude: at the start.
    #[schemars(length(min = 1))]
    pub query: String,
    #[serde(default)]
    pub scope: SearchScope,
    #[serde(default)]
    pub result_mode: ResultMode,
    #[serde(default)]
    pub group_by: GroupBy,
    #[serde(default)]
    pub ranking_mode: RankingMode,
    /// At most so many results (1..50).
    #[schemars(range(min = 1, max = 50))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Adds hints.debugSearch.
    #[serde(default)]
    pub debug: bool,
}

impl SearchCodebaseParams {
    /// How many results are given when nobody says.
    pub const DEFAULT_LIMIT: u32 = 25;
    /// The most that are given.
    pub const MAX_LIMIT: u32 = 50;
}

/// Answer of `search_codebase`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SearchCodebaseResponse {
    pub status: IndexStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    /// As asked.
    pub path: String,
    /// The root that answers or has to be repaired; absent when none encloses the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    pub query: String,
    pub scope: SearchScope,
    pub group_by: GroupBy,
    pub limit: u32,
    pub result_mode: ResultMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hints: Option<Hints>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexing: Option<IndexingProgress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compatibility: Option<Compatibility>,
    pub results: Vec<SearchResult>,
}

/// One result: a group of chunks or a chunk.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "lists of results are short, and raw chunks need no second box")]
pub enum SearchResult {
    Group(Box<SearchGroup>),
    Chunk(SearchChunk),
}

/// How old what a result shows is.
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
pub enum StalenessBucket {
    /// At most 30 minutes.
    Fresh,
    /// At most 24 hours.
    Aging,
    /// Older.
    Stale,
    /// Not known.
    Unknown,
}

/// Chunks of one symbol, file or neighbourhood.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SearchGroup {
    /// The symbol's id, or `grp_` and a hash of file and span.
    pub group_id: String,
    /// Relative to the root.
    pub file: String,
    pub span: Span,
    pub language: String,
    pub symbol_id: Option<String>,
    pub symbol_label: Option<String>,
    pub score: f64,
    pub indexed_at: Option<String>,
    pub staleness_bucket: StalenessBucket,
    pub collapsed_chunk_count: u32,
    pub call_graph_hint: CallGraphHint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub navigation_fallback: Option<NavigationFallback>,
    /// At most 4000 characters.
    pub preview: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub debug: Option<Value>,
}

/// One chunk.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SearchChunk {
    /// Relative to the root.
    pub file: String,
    pub span: Span,
    pub language: String,
    pub content: String,
    pub score: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexed_at: Option<String>,
    pub staleness_bucket: StalenessBucket,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    pub debug: Option<Value>,
}

/// Told when most of the top results are tests, fixtures, docs or generated files.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NoiseMitigation {
    /// `top_results_noise_dominant`.
    pub reason: String,
    pub top_k: u32,
    pub ratios: NoiseRatios,
    pub recommended_scope: SearchScope,
    pub suggested_ignore_patterns: Vec<String>,
    pub debounce_ms: u64,
    pub next_step: String,
}

/// Shares of the top results, two decimals.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NoiseRatios {
    pub tests: f64,
    pub fixtures: f64,
    pub docs: f64,
    pub generated: f64,
    pub runtime: f64,
}
