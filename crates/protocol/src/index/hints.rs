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
    /// Answered.
    Ok,
    /// The index is being built; ask again later.
    NotReady,
    /// There is no index that encloses the path.
    NotIndexed,
    /// There is one that this runtime cannot use.
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
    /// The first build has not ended.
    Indexing,
    /// The index was made with another model or schema, or has no proof.
    RequiresReindex,
    /// No tracked codebase encloses the path.
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
    /// The store has no completion marker.
    MissingMarkerDoc,
    /// The marker is of a kind that this version does not know.
    InvalidMarkerKind,
    /// The marker's content cannot be read or does not agree with the store.
    InvalidPayload,
    /// The marker is about another root.
    PathMismatch,
    /// The marker was made with another model or schema.
    FingerprintMismatch,
    /// The store could not be asked; it says nothing about the index.
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
    /// The first line.
    pub start_line: u32,
    /// The last line.
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
    /// Complete: the call needs nothing else.
    pub args: ManageHintArgs,
}

/// The arguments of a [`ManageHint`].
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ManageHintArgs {
    /// What it would do.
    pub action: ManageAction,
    /// The root it would do it to.
    pub path: String,
    /// With create: rebuild an index that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub force: Option<bool>,
    /// With reindex: rebuild although a sync would do.
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
    /// The tool's name.
    pub tool: String,
    /// Its arguments, complete.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub args: Value,
}

/// The catalog says indexed, the store has no proof of it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct StaleLocal {
    /// Why the proof does not hold.
    pub completion_proof: ProofReason,
    /// The call that mends it.
    pub recommended_action: ManageHint,
}

/// A proof that could not be checked. It says nothing about the index.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DebugProofCheck {
    /// Always false; a proof that holds is not told.
    pub ok: bool,
    /// `probe_failed`.
    pub reason: ProofReason,
    /// The store's own words.
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
    /// The action that runs, as `manage_index` names it.
    pub action: String,
    /// The generation that it writes.
    pub generation: u64,
    /// The process that holds the lease.
    pub pid: u32,
    /// When it began, ISO 8601 UTC.
    pub acquired_at: String,
    /// Names its receipt.
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
    /// Its process.
    pub pid: u32,
    /// ISO 8601 UTC.
    pub started_at: String,
    /// The version of its binary.
    pub version: String,
    /// What it would index with.
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
    /// Builds an index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub create: Option<ManageHint>,
    /// Builds the index anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reindex: Option<ManageHint>,
    /// Tells how far a build is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub status: Option<ManageHint>,
    /// Follows the changes of the folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sync: Option<ManageHint>,
    /// Removes the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub clear: Option<ManageHint>,
    /// Rebuilds although a sync would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub override_reindex: Option<ManageHint>,
    /// The catalog says indexed, and the store has no proof of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stale_local: Option<StaleLocal>,
    /// The proof could not be checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_proof_check: Option<DebugProofCheck>,
    /// How the running build will prove itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_indexing: Option<DebugIndexing>,
    /// How far the running build is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexing: Option<IndexingProgress>,
    /// When asking again makes sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub retry_after_ms: Option<u64>,
    /// Who is changing this codebase right now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub active_mutation: Option<ActiveMutation>,
    /// Who else uses the data folder with another setup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub runtime_owners: Option<Vec<RuntimeOwner>>,
    /// Most of the top results are not code that runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub noise_mitigation: Option<NoiseMitigation>,
    /// How the ranking came about; only with `debug`.
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub debug_search: Option<Value>,
    /// The file endings that have symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub supported_extensions: Option<Vec<String>>,
    /// The languages that have calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub supported_languages: Option<Vec<String>>,
    /// Calls that fit the answer, the best first.
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
    /// ISO 8601 UTC.
    pub last_updated: String,
    /// What the build is doing.
    pub phase: Option<String>,
    /// Files that are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files_done: Option<u64>,
    /// Files that will be stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub files_total: Option<u64>,
    /// Chunks that are stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub chunks: Option<u64>,
    /// Since the build began.
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
    /// What the index was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub indexed_fingerprint: Option<String>,
    /// How that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fingerprint_source: Option<FingerprintSource>,
    /// Why the index cannot be used, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reindex_reason: Option<ReindexReason>,
    /// The catalog's state when this was looked at, or `not_found`.
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
    /// Written by the build itself.
    Verified,
    /// Taken over from a catalog that did not record it.
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
    /// An old catalog's entry, which says indexed without saying with what.
    LegacyUnverifiedFingerprint,
    /// Made with another model or schema.
    FingerprintMismatch,
    /// The entry does not say what it was made with.
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
    /// Good to know.
    Info,
    /// It may change what the answer is worth.
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
    /// How much it matters.
    pub severity: WarningSeverity,
    /// Whether the answer should not be relied on.
    pub blocks_use: bool,
    /// A sentence for people.
    pub message: String,
    /// What to do about it.
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
