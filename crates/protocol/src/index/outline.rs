//! `file_outline`: the symbols of one file.

use serde::{Deserialize, Serialize};

use super::{
    CallGraphHint, Compatibility, Detail, Hints, IndexStatus, IndexingProgress, NonOkReason, Span, Warning,
};

/// The whole outline or one symbol.
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
    Default,
)]
#[serde(rename_all = "snake_case")]
pub enum ResolveMode {
    /// Every symbol of the file, or of the window.
    #[default]
    Outline,
    /// Needs `symbolIdExact` or `symbolLabelExact`.
    Exact,
}

/// Input of `file_outline`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileOutlineParams {
    /// An indexed folder, or a folder inside one.
    #[schemars(length(min = 1))]
    pub path: String,
    /// The file, relative to the indexed folder.
    #[schemars(length(min = 1))]
    pub file: String,
    /// Only symbols that overlap this window, 1-based.
    #[serde(rename = "start_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub start_line: Option<u32>,
    /// Only symbols that overlap this window, 1-based.
    #[serde(rename = "end_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end_line: Option<u32>,
    /// At most so many symbols; 500 when absent.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit_symbols: Option<u32>,
    /// The whole outline or one symbol.
    #[serde(default)]
    pub resolve_mode: ResolveMode,
    /// exact only: the symbol's id.
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id_exact: Option<String>,
    /// exact only: the symbol's label.
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label_exact: Option<String>,
    /// How much it says.
    #[serde(default)]
    pub detail: Detail,
}

impl FileOutlineParams {
    /// How many symbols are given when nobody says.
    pub const DEFAULT_LIMIT: u32 = 500;
}

/// One symbol.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct OutlineSymbol {
    /// Names it in other questions.
    pub symbol_id: String,
    /// E.g. `method Store.open(path)`.
    pub symbol_label: String,
    /// function, method, class, ….
    pub kind: String,
    /// Its definition, from the first line to the last.
    pub span: Span,
    /// Whether its calls are known.
    pub call_graph_hint: CallGraphHint,
}

/// Symbols by start, end, label, id.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    /// In the order of the file.
    pub symbols: Vec<OutlineSymbol>,
}

/// Answer of `file_outline`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileOutlineResponse {
    /// Whether the outline could be given.
    pub status: IndexStatus,
    /// Why not, because of the index's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    /// As asked.
    pub path: String,
    /// The root that answers; absent when none encloses the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    /// As asked.
    pub file: String,
    /// The symbols; null when the status is not `ok`.
    pub outline: Option<Outline>,
    /// More symbols exist than the limit lets through.
    pub has_more: bool,
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
}
