//! One codebase as the catalog keeps it.

use chartroom_protocol::index::{FingerprintSource, IndexingProgress, Operation, ReindexReason, SyncStats};
use serde::{Deserialize, Serialize};

use chartroom_search::scan::LeftOut;
use chartroom_search::store::{Counts, Fingerprint};

/// What is known of a codebase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodebaseInfo {
    /// Its state and what belongs to that state.
    #[serde(flatten)]
    pub state: CodebaseState,
    /// RFC 3339.
    pub last_updated: String,
    /// What it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_fingerprint: Option<Fingerprint>,
    /// How the fingerprint is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint_source: Option<FingerprintSource>,
    /// Why it must be rebuilt; only in entries of an older format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reindex_reason: Option<ReindexReason>,
    /// What `create` was told, kept for every later scan.
    #[serde(default, skip_serializing_if = "CodebaseOptions::is_empty")]
    pub options: CodebaseOptions,
    /// Counts the changes of the ignore rules that the index followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_rules_version: Option<u64>,
    /// Stat of the root's ignore files at the last sync.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignore_control_signature: Option<String>,
    /// What the last build or sync met and left out.
    #[serde(default, skip_serializing_if = "LeftOut::is_empty")]
    pub left_out: LeftOut,
    /// The last mutation's receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<Operation>,
    /// How far the running mutation is, as of its last save.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<IndexingProgress>,
    /// The lease generation of the writer: of two versions of an entry the later writer's is true.
    #[serde(default)]
    pub lease_generation: u64,
}

/// The states a codebase can be in. Absence from the catalog is the sixth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum CodebaseState {
    /// A first build runs; there is nothing older that could answer.
    Indexing {
        /// 0..100.
        indexing_percentage: f64,
    },
    /// Built whole.
    Indexed {
        /// Files.
        indexed_files: u64,
        /// Chunks.
        total_chunks: u64,
        /// Whether the chunk limit cut it short.
        index_status: BuildStatus,
    },
    /// The last build failed and nothing older is there.
    #[serde(rename = "indexfailed")]
    IndexFailed {
        /// Why.
        error_message: String,
        /// How far it came.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        last_attempted_percentage: Option<f64>,
    },
    /// Built, then brought up to date.
    SyncCompleted {
        /// Files.
        added: u64,
        /// Files.
        removed: u64,
        /// Files.
        modified: u64,
        /// Their sum.
        total_changes: u64,
        /// Files after it.
        #[serde(default)]
        indexed_files: u64,
        /// Chunks after it.
        #[serde(default)]
        total_chunks: u64,
    },
    /// Came from an older format and cannot be used.
    RequiresReindex {
        /// Why.
        message: String,
    },
}

/// Whether a build covers everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BuildStatus {
    /// It does.
    Completed,
    /// The chunk limit was reached first.
    LimitReached,
}

/// What `create` was told about this codebase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodebaseOptions {
    /// With their dot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom_extensions: Vec<String>,
    /// Gitignore syntax.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore_patterns: Vec<String>,
}

impl CodebaseOptions {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl CodebaseState {
    /// The state after an explicit sync.
    pub fn synced(stats: SyncStats, counts: Counts) -> Self {
        Self::SyncCompleted {
            added: stats.added,
            removed: stats.removed,
            modified: stats.modified,
            total_changes: stats.added + stats.removed + stats.modified,
            indexed_files: counts.files,
            total_chunks: counts.chunks,
        }
    }

    /// As it stands in the file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Indexing { .. } => "indexing",
            Self::Indexed { .. } => "indexed",
            Self::IndexFailed { .. } => "indexfailed",
            Self::SyncCompleted { .. } => "sync_completed",
            Self::RequiresReindex { .. } => "requires_reindex",
        }
    }

    /// Whether the state says that there is something to search.
    pub fn is_searchable(&self) -> bool {
        match self {
            Self::Indexed { .. } | Self::SyncCompleted { .. } => true,
            Self::Indexing { .. } | Self::IndexFailed { .. } | Self::RequiresReindex { .. } => false,
        }
    }
}

impl CodebaseInfo {
    /// A fresh entry in this state.
    pub fn new(state: CodebaseState, now: &str) -> Self {
        Self {
            state,
            last_updated: now.into(),
            index_fingerprint: None,
            fingerprint_source: None,
            reindex_reason: None,
            options: CodebaseOptions::default(),
            ignore_rules_version: None,
            ignore_control_signature: None,
            left_out: LeftOut::default(),
            operation: None,
            progress: None,
            lease_generation: 0,
        }
    }

    /// The same codebase in another state: options, ignore fields and receipts are carried over.
    pub fn with_state(&self, state: CodebaseState, now: &str) -> Self {
        Self { state, last_updated: now.into(), ..self.clone() }
    }
}
