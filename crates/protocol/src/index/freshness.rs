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
    pub added: u64,
    pub removed: u64,
    pub modified: u64,
}

/// What was found and done about changes since the last sync.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FreshnessDecision {
    pub mode: FreshnessMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub checked_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub threshold_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_sync_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub age_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub stats: Option<SyncStats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub ignore_rules_version: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub deleted_files: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub newly_ignored_files: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub added_files: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fallback_sync_executed: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub fallback_stats: Option<SyncStats>,
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
        }
    }
}
