//! `search_codebase`: what it takes and what it answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Bundle, CallGraphHint, Compatibility, Detail, FreshnessDecision, Hints, IndexStatus, IndexingProgress,
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

/// What a search is for.
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
pub enum SearchAsk {
    /// As the query looks.
    #[default]
    Find,
    /// Where to edit: files and symbols.
    Edit,
    /// One thing: definition, callers, tests, docs.
    Explain,
}

/// What a result is to the thing that is explained.
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
pub enum ResultRole {
    /// It is the thing.
    Definition,
    /// It calls the thing.
    Caller,
    /// It tests the thing.
    Test,
    /// It is written about the thing.
    Document,
}

impl ResultRole {
    /// The word that an answer says.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Definition => "definition",
            Self::Caller => "caller",
            Self::Test => "test",
            Self::Document => "document",
        }
    }
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
    /// What it is for.
    #[serde(default)]
    pub ask: SearchAsk,
    /// Which kinds of files are searched.
    #[serde(default)]
    pub scope: SearchScope,
    /// Groups or single chunks.
    #[serde(default)]
    pub result_mode: ResultMode,
    /// What a group is.
    #[serde(default)]
    pub group_by: GroupBy,
    /// Whether files with uncommitted changes are preferred.
    #[serde(default)]
    pub ranking_mode: RankingMode,
    /// At most so many results (1..50).
    #[schemars(range(min = 1, max = 50))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// Answer with one bundle of code of about so many tokens.
    #[schemars(range(min = 200, max = 20000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<u32>,
    /// How much it says.
    #[serde(default)]
    pub detail: Detail,
    /// Adds hints.debugSearch.
    #[serde(default)]
    pub debug: bool,
}

impl SearchCodebaseParams {
    /// How many results are given when nobody says.
    pub const DEFAULT_LIMIT: u32 = 25;
    /// The most that are given.
    pub const MAX_LIMIT: u32 = 50;
    /// What a bundle may take, in tokens.
    pub const BUDGET: std::ops::RangeInclusive<u32> = 200..=20_000;
}

/// Answer of `search_codebase`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SearchCodebaseResponse {
    /// Whether the index could answer.
    pub status: IndexStatus,
    /// Why not, when the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    /// As asked.
    pub path: String,
    /// The root that answers or has to be repaired; absent when none encloses the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    /// As asked.
    pub query: String,
    /// As asked, or the default.
    pub scope: SearchScope,
    /// As asked, or the default.
    pub group_by: GroupBy,
    /// The most results that were wanted.
    pub limit: u32,
    /// As asked, or the default.
    pub result_mode: ResultMode,
    /// What was done about changes since the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
    /// What the caller should know beside the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    /// A sentence for people, when the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
    /// What a caller can do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hints: Option<Hints>,
    /// How far a running build is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexing: Option<IndexingProgress>,
    /// What the index was made with, when that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compatibility: Option<Compatibility>,
    /// The best first.
    pub results: Vec<SearchResult>,
    /// The same as one bundle of code, when there is a budget for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub bundle: Option<Bundle>,
}

/// One result: a group of chunks or a chunk.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "lists of results are short, and raw chunks need no second box")]
pub enum SearchResult {
    /// With `resultMode: grouped`.
    Group(Box<SearchGroup>),
    /// With `resultMode: raw`.
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
    /// The lines of the symbol, or from the first chunk to the last where there is none.
    pub span: Span,
    /// The language of the file.
    pub language: String,
    /// The symbol that it is, if it is one.
    pub symbol_id: Option<String>,
    /// The symbol as the outline writes it.
    pub symbol_label: Option<String>,
    /// With `ask: explain`, what it is to the thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub role: Option<ResultRole>,
    /// Only comparable within one answer.
    pub score: f64,
    /// When these lines were stored, ISO 8601 UTC.
    pub indexed_at: Option<String>,
    /// How long ago that was.
    pub staleness_bucket: StalenessBucket,
    /// How many chunks became this one result.
    pub collapsed_chunk_count: u32,
    /// Whether its calls are known.
    pub call_graph_hint: CallGraphHint,
    /// Ready calls for a result whose calls are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub navigation_fallback: Option<NavigationFallback>,
    /// What was found of it, at most 4000 characters.
    pub preview: String,
    /// The line that the preview begins with.
    #[serde(default)]
    pub preview_line: u32,
    /// How its score came about; only with `debug`.
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
    /// Its lines.
    pub span: Span,
    /// The language of the file.
    pub language: String,
    /// Its text.
    pub content: String,
    /// Only comparable within one answer.
    pub score: f64,
    /// When it was stored, ISO 8601 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexed_at: Option<String>,
    /// How long ago that was.
    pub staleness_bucket: StalenessBucket,
    /// The symbol that it lies in, if it lies in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id: Option<String>,
    /// The symbol as the outline writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    /// How its score came about; only with `debug`.
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
    /// How many results were looked at.
    pub top_k: u32,
    /// What they are.
    pub ratios: NoiseRatios,
    /// The scope that leaves the noise out.
    pub recommended_scope: SearchScope,
    /// For `.chartroomignore`, in gitignore syntax.
    pub suggested_ignore_patterns: Vec<String>,
    /// After this long a changed ignore file counts.
    pub debounce_ms: u64,
    /// A sentence for people.
    pub next_step: String,
}

/// Shares of the top results, two decimals.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NoiseRatios {
    /// Test files.
    pub tests: f64,
    /// Fixtures of tests.
    pub fixtures: f64,
    /// Documentation.
    pub docs: f64,
    /// Generated files.
    pub generated: f64,
    /// Code that runs.
    pub runtime: f64,
}
