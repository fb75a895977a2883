//! `read_file`: lines of a file inside a tracked codebase, by range or by symbol.

use serde::{Deserialize, Serialize};

use super::{Hints, IndexStatus, NonOkReason, Outline, Span, Warning};

/// Text, or text with the outline beside it.
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
pub enum ReadMode {
    /// The lines alone.
    #[default]
    Plain,
    /// The lines and the symbols in them.
    Annotated,
}

/// A symbol to open: by id, by label, or by its first line.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSymbol {
    /// As search and outline give it.
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id: Option<String>,
    /// The symbol as the outline writes it.
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    /// The symbol's first line, 1-based.
    #[serde(rename = "start_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub start_line: Option<u32>,
    /// The symbol's last line, 1-based.
    #[serde(rename = "end_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end_line: Option<u32>,
}

/// Input of `read_file`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadFileParams {
    /// The file, absolute, inside a tracked codebase.
    #[schemars(length(min = 1))]
    pub path: String,
    /// First line, 1-based.
    #[serde(rename = "start_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub start_line: Option<u32>,
    /// Last line, inclusive.
    #[serde(rename = "end_line")]
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub end_line: Option<u32>,
    /// Text, or text with the outline beside it.
    #[serde(default)]
    pub mode: ReadMode,
    /// Opens a symbol instead of a range.
    #[serde(rename = "open_symbol")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub open_symbol: Option<OpenSymbol>,
}

impl ReadFileParams {
    /// How many lines are given when nobody says.
    pub const MAX_LINES: u32 = 1000;
}

/// Structured answer of `read_file`. A plain read's text is `content` itself.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ReadFileResponse {
    /// Whether the symbol could be opened; a range always can.
    pub status: IndexStatus,
    /// Why not, because of the index's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    /// As asked.
    pub path: String,
    /// As asked, or the default.
    pub mode: ReadMode,
    /// The lines; absent when a symbol could not be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub content: Option<String>,
    /// The lines that `content` holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub span: Option<Span>,
    /// How many lines the file has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub total_lines: Option<u32>,
    /// The range was longer than is given at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub truncated: bool,
    /// Relative to the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file: Option<String>,
    /// `annotated` only: how the outline came out. The content is there either way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub outline_status: Option<IndexStatus>,
    /// `annotated` only: the symbols of these lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub outline: Option<Outline>,
    /// The symbols that a label could mean, when it is ambiguous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub matches: Option<Outline>,
    /// `annotated` only: more symbols exist than are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub has_more: Option<bool>,
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
}
