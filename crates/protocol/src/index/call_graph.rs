//! `call_graph`: who calls a symbol and whom it calls.

use serde::{Deserialize, Serialize};

use super::{
    Compatibility, FreshnessDecision, Hints, IndexStatus, IndexingProgress, NonOkReason, Span, SymbolRef,
    Warning,
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
    Callers,
    Callees,
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
    pub symbol_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    pub file: String,
    pub language: String,
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
    Call,
    Import,
    Dynamic,
}

/// Where a call stands.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallSite {
    pub file: String,
    pub start_line: u32,
}

/// A relation between two symbols.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallEdge {
    pub src_symbol_id: String,
    pub dst_symbol_id: String,
    pub kind: CallKind,
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
    UnresolvedEdge,
    DynamicEdge,
    MissingSymbolMetadata,
}

/// Something the graph does not know.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallNote {
    pub r#type: CallNoteType,
    pub file: String,
    pub start_line: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_id: Option<String>,
    pub detail: String,
}

/// The graph as a whole.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct GraphSummary {
    pub built_at: Option<String>,
    pub node_count: u64,
    pub edge_count: u64,
}

/// Answer of `call_graph`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallGraphResponse {
    pub status: IndexStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<NonOkReason>,
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub codebase_path: Option<String>,
    pub symbol_ref: SymbolRef,
    pub supported: bool,
    pub direction: CallDirection,
    pub depth: u32,
    pub limit: u32,
    pub nodes: Vec<CallNode>,
    pub edges: Vec<CallEdge>,
    pub notes: Vec<CallNote>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    pub notes_truncated: bool,
    pub total_note_count: u64,
    pub returned_note_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sidecar: Option<GraphSummary>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
}
