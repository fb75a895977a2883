//! `manage_index`: the one tool that changes an index.

use serde::{Deserialize, Serialize};

use super::{Compatibility, FreshnessDecision, Hints, IndexStatus, Warning};

/// What to do.
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
pub enum ManageAction {
    Create,
    Reindex,
    Sync,
    Status,
    Clear,
    Repair,
}

impl ManageAction {
    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Reindex => "reindex",
            Self::Sync => "sync",
            Self::Status => "status",
            Self::Clear => "clear",
            Self::Repair => "repair",
        }
    }
}

/// Input of `manage_index`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManageIndexParams {
    /// create, reindex, sync, status, clear or repair.
    pub action: ManageAction,
    /// The folder, absolute.
    #[schemars(length(min = 1))]
    pub path: String,
    /// create only: rebuild an index that is there.
    #[serde(default)]
    pub force: bool,
    /// reindex only: rebuild even if only ignore files changed.
    #[serde(default)]
    pub allow_unnecessary_reindex: bool,
    /// create only: more file extensions; kept for this codebase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub custom_extensions: Option<Vec<String>>,
    /// create only: more ignore patterns (gitignore syntax); kept for this codebase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ignore_patterns: Option<Vec<String>>,
    /// create, Zilliz Cloud only: a collection to drop when the collection limit is reached.
    #[schemars(length(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub zilliz_drop_collection: Option<String>,
}

impl ManageIndexParams {
    /// This action on this folder, everything else as by default.
    pub fn new(action: ManageAction, path: impl Into<String>) -> Self {
        Self {
            action,
            path: path.into(),
            force: false,
            allow_unnecessary_reindex: false,
            custom_extensions: None,
            ignore_patterns: None,
            zilliz_drop_collection: None,
        }
    }
}

/// Why a `manage_index` answer is not ok.
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
pub enum ManageReason {
    Indexing,
    NotIndexed,
    RequiresReindex,
    UnnecessaryReindexIgnoreOnly,
    PreflightUnknown,
    MutationInProgress,
    RuntimeOwnerConflict,
    NeedsCreate,
}

/// What was found before a reindex.
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
pub enum PreflightOutcome {
    ReindexRequired,
    ProbeFailed,
    ReindexUnnecessaryIgnoreOnly,
    Unknown,
}

/// How sure the preflight is.
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
pub enum Confidence {
    High,
    Low,
}

/// What was found before a reindex.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    pub outcome: PreflightOutcome,
    pub confidence: Confidence,
    pub probe_failed: bool,
}

/// How one part of a repair's proof came out.
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
pub enum ProofPart {
    Matched,
    Failed,
    Missing,
    Unproven,
    NotChecked,
}

/// What a repair could prove.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RepairProof {
    pub collection: ProofPart,
    pub snapshot: ProofPart,
    pub marker: ProofPart,
    pub fingerprint: ProofPart,
    pub payload: ProofPart,
    pub stale_remote_chunks: ProofPart,
    pub navigation: ProofPart,
}

/// Where a mutation is.
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
pub enum OperationPhase {
    Accepted,
    Scanning,
    Processing,
    Publishing,
    Completed,
    Failed,
    Blocked,
    Cancelled,
}

impl OperationPhase {
    /// Whether nothing more will happen.
    pub fn is_terminal(self) -> bool {
        match self {
            Self::Accepted | Self::Scanning | Self::Processing | Self::Publishing => false,
            Self::Completed | Self::Failed | Self::Blocked | Self::Cancelled => true,
        }
    }
}

/// A durable receipt of a mutation.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Operation {
    /// `run_<uuid>`.
    pub operation_id: String,
    pub action: ManageAction,
    pub root: String,
    pub generation: u64,
    pub accepted_at: String,
    pub phase: OperationPhase,
    pub transition_at: String,
    pub fingerprint: String,
    /// The pid of the process that does it.
    pub writer: u32,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub message: Option<String>,
}

/// Answer of `manage_index`.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ManageIndexResponse {
    /// `manage_index`.
    pub tool: String,
    /// 1.
    pub version: u32,
    pub action: ManageAction,
    pub path: String,
    pub status: IndexStatus,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<ManageReason>,
    pub message: String,
    pub human_text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hints: Option<Hints>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub preflight: Option<Preflight>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repair_proof: Option<RepairProof>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compatibility: Option<Compatibility>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub operation: Option<Operation>,
}
