//! How fresh an answer is, and what was done about it.

use serde::{Deserialize, Serialize};

/// What the freshness check did.
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
pub enum FreshnessMode {
    /// A sync ran to its end.
    Synced,
    /// The last sync is young enough.
    SkippedRecent,
    /// A sync was already running; its result is ours too.
    Coalesced,
    /// A rebuild is running; the published generation answers.
    SkippedIndexing,
    /// The index must be rebuilt first.
    SkippedRequiresReindex,
    /// The folder is not there (an unmounted disk, say).
    SkippedMissingPath,
    /// The folder has suddenly no files, or far fewer (a mount without its disk, say); the index is kept as it was.
    SkippedVanishedFiles,
    /// The ignore rules changed and the index follows them now.
    ReconciledIgnoreChange,
    /// The ignore rules changed but could not be followed.
    IgnoreReloadFailed,
    /// A sync was tried and failed; the index answers as it was.
    SyncFailed,
}

/// Files by what happened to them.
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
#[serde(rename_all = "camelCase")]
pub struct SyncStats {
    /// New files.
    pub added: u64,
    /// Files that are gone or ignored now.
    pub removed: u64,
    /// Files with other content.
    pub modified: u64,
}

/// What was found and done about changes since the last sync.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FreshnessDecision {
    /// What the check did.
    pub mode: FreshnessMode,
    /// ISO 8601 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checked_at: Option<String>,
    /// How old the last sync may be before another is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub threshold_ms: Option<u64>,
    /// When the index last equalled the folder, ISO 8601 UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_sync_at: Option<String>,
    /// How long ago that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub age_ms: Option<u64>,
    /// What the sync found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stats: Option<SyncStats>,
    /// Counts the changes of the ignore rules that the index followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ignore_rules_version: Option<u64>,
    /// After a change of the ignore rules: files removed because they are gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub deleted_files: Option<u64>,
    /// After a change of the ignore rules: files removed because of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub newly_ignored_files: Option<u64>,
    /// After a change of the ignore rules: files that came back in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub added_files: Option<u64>,
    /// How long the sync took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration_ms: Option<u64>,
    /// Why the sync or the new rules failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error_message: Option<String>,
    /// Whether a plain sync was made when the new rules could not be followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fallback_sync_executed: Option<bool>,
    /// What that plain sync found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fallback_stats: Option<SyncStats>,
    /// What a team shares of this codebase, and how this folder differs from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub team: Option<TeamOverlay>,
}

/// An answer is always of this folder; this says how much of it is not in what the team shares.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TeamOverlay {
    /// The name of the shared index.
    pub project: String,
    /// The generation of it that this folder was compared with.
    pub generation: u64,
    /// When that one was completed, ISO 8601 UTC.
    pub completed_at: String,
    /// Files that are new, other or gone in this folder.
    pub overlaid_files: u64,
}

impl FreshnessDecision {
    /// A decision that carries nothing but its mode.
    pub fn of(mode: FreshnessMode) -> Self {
        Self {
            mode,
            checked_at: None,
            threshold_ms: None,
            last_sync_at: None,
            age_ms: None,
            stats: None,
            ignore_rules_version: None,
            deleted_files: None,
            newly_ignored_files: None,
            added_files: None,
            duration_ms: None,
            error_message: None,
            fallback_sync_executed: None,
            fallback_stats: None,
            team: None,
        }
    }
}
