//! `manage_index`: the one tool that changes an index.

use serde::{Deserialize, Serialize};

use super::{Compatibility, FreshnessDecision, Hints, IndexStatus, SkippedFiles, Warning};

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
    /// Builds the index of a folder.
    Create,
    /// Builds it anew, unless a sync would do.
    Reindex,
    /// Follows the changes of the folder.
    Sync,
    /// Tells its state; changes nothing.
    Status,
    /// Removes the index and stops tracking the folder.
    Clear,
    /// Compares the store with the folder and writes a new proof if they agree.
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
    /// What to do.
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
    /// A build runs.
    Indexing,
    /// No tracked codebase has this path.
    NotIndexed,
    /// The index cannot be used as it is.
    RequiresReindex,
    /// Only ignore files changed; a sync follows them.
    UnnecessaryReindexIgnoreOnly,
    /// It could not be found out whether a rebuild is needed.
    PreflightUnknown,
    /// Another process or call is changing this codebase.
    MutationInProgress,
    /// A live server on the same data folder is set up with another model.
    RuntimeOwnerConflict,
    /// There is nothing to repair.
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
    /// The index cannot be used as it is.
    ReindexRequired,
    /// git could not say which files changed.
    ProbeFailed,
    /// Every changed file is an ignore file.
    ReindexUnnecessaryIgnoreOnly,
    /// Nothing speaks for a rebuild or against it.
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
    /// Shown by what was read.
    High,
    /// Assumed, because something could not be read.
    Low,
}

/// What was found before a reindex.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Preflight {
    /// What was found.
    pub outcome: PreflightOutcome,
    /// How sure that is.
    pub confidence: Confidence,
    /// Whether git could not be asked.
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
    /// It holds.
    Matched,
    /// It was looked at and does not hold.
    Failed,
    /// It is not there.
    Missing,
    /// It could not be looked at.
    Unproven,
    /// An earlier part ended the repair.
    NotChecked,
}

/// What a repair could prove.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RepairProof {
    /// The store has a generation of this root.
    pub collection: ProofPart,
    /// The catalog has an entry that is searchable.
    pub snapshot: ProofPart,
    /// The completion marker holds.
    pub marker: ProofPart,
    /// It was made with this runtime's model and schema.
    pub fingerprint: ProofPart,
    /// Every file of the folder is stored with exactly its chunks.
    pub payload: ProofPart,
    /// Nothing else is stored.
    pub stale_remote_chunks: ProofPart,
    /// The call graph is there.
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
    /// It has the lease.
    Accepted,
    /// The folder is walked.
    Scanning,
    /// Files are cut into chunks and stored.
    Processing,
    /// The new generation replaces the old one.
    Publishing,
    /// Done, and proven.
    Completed,
    /// It ended with an error; the published generation is untouched.
    Failed,
    /// It was refused.
    Blocked,
    /// Its process ended, or it was called off.
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
    /// What is done.
    pub action: ManageAction,
    /// The canonical root.
    pub root: String,
    /// The generation that it writes.
    pub generation: u64,
    /// ISO 8601 UTC.
    pub accepted_at: String,
    /// Where it is.
    pub phase: OperationPhase,
    /// When it got there, ISO 8601 UTC.
    pub transition_at: String,
    /// What it indexes with.
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
    /// As asked.
    pub action: ManageAction,
    /// The canonical root.
    pub path: String,
    /// How it came out.
    pub status: IndexStatus,
    /// Why the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<ManageReason>,
    /// A sentence for programs' logs; the same as `humanText`.
    pub message: String,
    /// What a person or a model reads.
    pub human_text: String,
    /// What the caller should know beside the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<Warning>>")]
    pub warnings: Vec<Warning>,
    /// What a caller can do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hints: Option<Hints>,
    /// reindex only: what was found before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub preflight: Option<Preflight>,
    /// repair only: what could be proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub repair_proof: Option<RepairProof>,
    /// What the index was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub compatibility: Option<Compatibility>,
    /// sync only: what was found and done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness_decision: Option<FreshnessDecision>,
    /// The receipt of the last mutation, or of the one that was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub operation: Option<Operation>,
    /// status only: files that are in the folder and not in the index.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub skipped: Option<SkippedFiles>,
}
