//! What the answers share: statuses, reasons, ready-to-run hints, warnings, compatibility.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ManageAction, NoiseMitigation};

/// The status of an answer. There are no others.
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
pub enum IndexStatus {
    Ok,
    NotReady,
    NotIndexed,
    RequiresReindex,
    /// `manage_index` only: refused for now, nothing was changed.
    Blocked,
    /// `manage_index` only: it was tried and failed.
    Error,
    /// Outline and graph only: no such file or symbol.
    NotFound,
    /// Outline and graph only: no symbols for this kind of file.
    Unsupported,
    /// Outline only: more than one symbol has this label.
    Ambiguous,
}

/// Why a read tool's answer is not ok because of the index's state.
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
pub enum NonOkReason {
    Indexing,
    RequiresReindex,
    NotIndexed,
    /// `call_graph` only.
    MissingSymbol,
    /// `call_graph` only.
    UnsupportedLanguage,
    /// `call_graph` only: the graph's own data is missing; search still works.
    MissingSidecar,
}

/// Why a completion proof does not hold.
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
pub enum ProofReason {
    MissingMarkerDoc,
    InvalidMarkerKind,
    InvalidPayload,
    PathMismatch,
    FingerprintMismatch,
    ProbeFailed,
}

impl ProofReason {
    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingMarkerDoc => "missing_marker_doc",
            Self::InvalidMarkerKind => "invalid_marker_kind",
            Self::InvalidPayload => "invalid_payload",
            Self::PathMismatch => "path_mismatch",
            Self::FingerprintMismatch => "fingerprint_mismatch",
            Self::ProbeFailed => "probe_failed",
        }
    }
}

/// Lines of a file, 1-based, inclusive.
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
pub struct Span {
    pub start_line: u32,
    pub end_line: u32,
}

/// A tool call that is ready to run.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ManageHint {
    /// `manage_index`.
    pub tool: String,
    pub args: ManageHintArgs,
}

/// The arguments of a [`ManageHint`].
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ManageHintArgs {
    pub action: ManageAction,
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub force: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub allow_unnecessary_reindex: Option<bool>,
}

impl ManageHint {
    /// `manage_index` with this action on this root.
    pub fn new(action: ManageAction, path: &str) -> Self {
        Self {
            tool: "manage_index".into(),
            args: ManageHintArgs { action, path: path.into(), force: None, allow_unnecessary_reindex: None },
        }
    }
}

/// Any ready-to-run tool call.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ToolHint {
    pub tool: String,
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub args: Value,
}

/// The catalog says indexed, the store has no proof of it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct StaleLocal {
    pub completion_proof: ProofReason,
    pub recommended_action: ManageHint,
}

/// A proof that could not be checked. It says nothing about the index.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DebugProofCheck {
    pub ok: bool,
    pub reason: ProofReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub detail: Option<String>,
}

/// How an unfinished index will prove itself.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DebugIndexing {
    /// `marker_doc`.
    pub completion_proof: String,
}

/// Who is changing this codebase right now.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ActiveMutation {
    pub action: String,
    pub generation: u64,
    pub pid: u32,
    pub acquired_at: String,
    pub operation_id: String,
}

impl ActiveMutation {
    /// Tells whether an index is being built, from nothing or anew.
    pub fn is_build(&self) -> bool {
        matches!(self.action.as_str(), "create" | "reindex")
    }
}

/// A live runtime on the same data folder that is set up differently.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RuntimeOwner {
    pub pid: u32,
    pub started_at: String,
    pub version: String,
    pub fingerprint: String,
}

/// What a caller can do next, and what was found on the way.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
    Default,
)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// 1, in search answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub create: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reindex: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sync: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub clear: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub override_reindex: Option<ManageHint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stale_local: Option<StaleLocal>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_proof_check: Option<DebugProofCheck>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_indexing: Option<DebugIndexing>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexing: Option<IndexingProgress>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retry_after_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub active_mutation: Option<ActiveMutation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub runtime_owners: Option<Vec<RuntimeOwner>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub noise_mitigation: Option<NoiseMitigation>,
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_search: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub supported_extensions: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub supported_languages: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub next_steps: Option<Vec<ToolHint>>,
}

impl Hints {
    /// `None` when there is nothing to say, so that an envelope has no empty object.
    pub fn some(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

/// How far a run is.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct IndexingProgress {
    /// 0..100, one decimal.
    pub progress_pct: f64,
    pub last_updated: String,
    pub phase: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files_done: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files_total: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chunks: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chunks_per_second: Option<f64>,
}

/// What the index was made with and what this runtime is.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Compatibility {
    /// `provider/model/dimension/store/schema`.
    pub runtime_fingerprint: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexed_fingerprint: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fingerprint_source: Option<FingerprintSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reindex_reason: Option<ReindexReason>,
    pub status_at_check: String,
}

/// How the catalog came to know a fingerprint.
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
pub enum FingerprintSource {
    Verified,
    AssumedV2,
}

/// Why an index cannot be used as it is.
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
pub enum ReindexReason {
    LegacyUnverifiedFingerprint,
    FingerprintMismatch,
    MissingFingerprint,
}

/// How much a warning matters.
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
pub enum WarningSeverity {
    Info,
    Warning,
}

/// Something the caller should know beside the answer.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// `SEARCH_DIRTY_WORKTREE_NOT_SYNCED`, `REINDEX_PREFLIGHT_UNKNOWN`, ….
    pub code: String,
    pub severity: WarningSeverity,
    /// Whether the answer should not be relied on.
    pub blocks_use: bool,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub action: Option<String>,
}

impl Warning {
    /// A warning that does not block the use of the answer.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            severity: WarningSeverity::Warning,
            blocks_use: false,
            message: message.into(),
            action: None,
        }
    }
}

/// A symbol, named so that `call_graph` can be asked about it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SymbolRef {
    /// Relative to the root.
    pub file: String,
    pub symbol_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub span: Option<Span>,
}

/// Why a result cannot be asked for its calls.
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
pub enum CallGraphUnsupported {
    MissingSymbol,
    UnsupportedLanguage,
}

/// Whether `call_graph` can be asked about a result, and how.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallGraphHint {
    pub supported: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_ref: Option<SymbolRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<CallGraphUnsupported>,
}

impl CallGraphHint {
    /// It can.
    pub fn supported(symbol_ref: SymbolRef) -> Self {
        Self { supported: true, symbol_ref: Some(symbol_ref), reason: None }
    }

    /// It cannot.
    pub fn unsupported(reason: CallGraphUnsupported) -> Self {
        Self { supported: false, symbol_ref: None, reason: Some(reason) }
    }
}

/// Ready-to-run calls for a result that the graph cannot help with.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NavigationFallback {
    pub message: String,
    pub context: NavigationContext,
    pub read_span: ToolHint,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file_outline_window: Option<ToolHint>,
}

impl NavigationFallback {
    /// The message every fallback carries.
    pub const MESSAGE: &'static str =
        "Call graph not available for this result; use readSpan or fileOutlineWindow to navigate.";
}

/// Where a result is.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NavigationContext {
    pub codebase_root: String,
    pub relative_file: String,
    pub absolute_path: String,
}
