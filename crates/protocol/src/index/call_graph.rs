//! `call_graph`: who calls a symbol and whom it calls.

use serde::{Deserialize, Serialize};

use super::{
    Compatibility, Detail, FreshnessDecision, Hints, IndexStatus, IndexingProgress, NonOkReason, Span,
    SymbolRef, Warning,
};

/// Which edges to follow.
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
pub enum CallDirection {
    /// Who calls the symbol.
    Callers,
    /// Whom the symbol calls.
    Callees,
    /// Either way.
    #[default]
    #[serde(alias = "bidirectional")]
    Both,
}

/// Input of `call_graph`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallGraphParams {
    /// An indexed folder, or a folder inside one.
    #[schemars(length(min = 1))]
    pub path: String,
    /// The symbol, as search and outline give it.
    pub symbol_ref: SymbolRef,
    /// Which edges to follow.
    #[serde(default)]
    pub direction: CallDirection,
    /// 1..3; 1 when absent.
    #[schemars(range(min = 1, max = 3))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub depth: Option<u32>,
    /// At most so many edges; 20 when absent.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
    /// How much it says.
    #[serde(default)]
    pub detail: Detail,
    /// Leaves out so many edges at the beginning: the rest of an answer that was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub offset: Option<u32>,
}

impl CallGraphParams {
    /// How many edges are given when nobody says.
    pub const DEFAULT_LIMIT: u32 = 20;
    /// How deep it goes at most.
    pub const MAX_DEPTH: u32 = 3;
    /// The most notes an answer carries.
    pub const MAX_NOTES: usize = 200;
}

/// A symbol of the graph.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallNode {
    /// Names it in edges, and in another question.
    pub symbol_id: String,
    /// The symbol as the outline writes it; absent for a whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    /// Relative to the root.
    pub file: String,
    /// The language of the file.
    pub language: String,
    /// Where the symbol is defined.
    pub span: Span,
}

/// What kind of relation an edge is.
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
pub enum CallKind {
    /// A call that resolves to one symbol.
    Call,
    /// A file takes a symbol of another.
    Import,
    /// One of several symbols that the call may reach.
    Dynamic,
    /// A type extends or implements another.
    Implements,
}

/// Where a call stands.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallSite {
    /// Relative to the root.
    pub file: String,
    /// 1-based.
    pub start_line: u32,
}

/// A relation between two symbols.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallEdge {
    /// The symbol that calls.
    pub src_symbol_id: String,
    /// The symbol that is called.
    pub dst_symbol_id: String,
    /// How the two are related.
    pub kind: CallKind,
    /// Where the caller names the other.
    pub site: CallSite,
    /// 0..1.
    pub confidence: f64,
}

/// What kind of gap a note tells of.
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
pub enum CallNoteType {
    /// No symbol of the index has the name that is called.
    UnresolvedEdge,
    /// Several symbols have it, and the text does not say which is meant.
    DynamicEdge,
    /// The caller or the callee has no symbol of its own.
    MissingSymbolMetadata,
}

/// Something the graph does not know.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallNote {
    /// What kind of gap it is.
    pub r#type: CallNoteType,
    /// Relative to the root.
    pub file: String,
    /// 1-based.
    pub start_line: u32,
    /// The symbol that it is about, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id: Option<String>,
    /// A sentence for people.
    pub detail: String,
}

/// The graph as a whole.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct GraphSummary {
    /// ISO 8601 UTC.
    pub built_at: Option<String>,
    /// Symbols in the whole graph.
    pub node_count: u64,
    /// Relations in the whole graph.
    pub edge_count: u64,
}

/// Answer of `call_graph`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallGraphResponse {
    /// Whether the graph could answer.
    pub status: IndexStatus,
    /// Why not, when the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    /// As asked.
    pub path: String,
    /// The root that answers; absent when none encloses the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    /// The symbol that was asked about.
    pub symbol_ref: SymbolRef,
    /// Whether calls are known for this language.
    pub supported: bool,
    /// As asked, or the default.
    pub direction: CallDirection,
    /// How many calls away was looked.
    pub depth: u32,
    /// The most edges that were wanted.
    pub limit: u32,
    /// Every symbol that an edge names, by file, line, label, id.
    pub nodes: Vec<CallNode>,
    /// The sure ones of a symbol first, then in a fixed order, cut at the limit.
    pub edges: Vec<CallEdge>,
    /// How many edges there are; `offset` asks for those that are not given.
    #[serde(default)]
    pub total_edge_count: u64,
    /// How many of them were left out at the beginning, as asked.
    #[serde(default)]
    pub offset: u32,
    /// What the graph does not know about these symbols.
    pub notes: Vec<CallNote>,
    /// What the caller should know beside the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    /// More notes exist than are given.
    pub notes_truncated: bool,
    /// How many notes there are.
    pub total_note_count: u64,
    /// How many of them are given.
    pub returned_note_count: u64,
    /// The whole graph that this is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sidecar: Option<GraphSummary>,
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
    /// What was done about changes since the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
}
