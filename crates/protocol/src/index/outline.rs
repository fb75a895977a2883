//! `file_outline`: the symbols of one file.

use serde::{Deserialize, Serialize};

use super::{CallGraphHint, Compatibility, Hints, IndexStatus, IndexingProgress, NonOkReason, Span, Warning};

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
    #[serde(default)]
    pub resolve_mode: ResolveMode,
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id_exact: Option<String>,
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label_exact: Option<String>,
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
    pub symbol_id: String,
    pub symbol_label: String,
    pub kind: String,
    pub span: Span,
    pub call_graph_hint: CallGraphHint,
}

/// Symbols by start, end, label, id.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Outline {
    pub symbols: Vec<OutlineSymbol>,
}

/// Answer of `file_outline`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileOutlineResponse {
    pub status: IndexStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    pub file: String,
    pub outline: Option<Outline>,
    pub has_more: bool,
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
}
