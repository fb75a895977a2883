//! A search as it is asked and as it is answered.

use std::collections::BTreeSet;
use std::sync::Arc;

use chartroom_protocol::index::{
    GroupBy, NoiseMitigation, RankingMode, ResultMode, SearchAsk, SearchResult, SearchScope,
};
use thiserror::Error;

use crate::history::HistoryWords;
use crate::store::StoreError;

/// A search after its gates.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The canonical root, for `navigationFallback`'s absolute paths.
    pub root: String,
    /// Only files below this folder of the root (with `/`, no trailing one).
    pub below: Option<String>,
    /// As typed, operators included.
    pub query: String,
    /// What it is for.
    pub ask: SearchAsk,
    /// Which kinds of files.
    pub scope: SearchScope,
    /// Groups or chunks.
    pub result_mode: ResultMode,
    /// What a group is.
    pub group_by: GroupBy,
    /// Whether changed files go first.
    pub ranking_mode: RankingMode,
    /// Files that differ from HEAD (relative); empty when unknown.
    pub changed_files: BTreeSet<String>,
    /// What the commits of the repository say; none where there is no repository, or git may not be run.
    pub history: Option<Arc<HistoryWords>>,
    /// At most so many results.
    pub limit: usize,
    /// Fill `debug`.
    pub debug: bool,
    /// For staleness buckets, milliseconds since 1970.
    pub now_ms: i64,
}

/// What a search found.
#[derive(Debug, Clone, Default)]
pub struct SearchOutcome {
    /// Best first.
    pub results: Vec<SearchResult>,
    /// Codes with text, e.g. `FILTER_MUST_UNSATISFIED`, `SEARCH_PASS_FAILED:primary - …`.
    pub warnings: Vec<String>,
    /// Told when the top results are mostly noise.
    pub noise_mitigation: Option<NoiseMitigation>,
    /// Of a ranking by file, how far the first is ahead of the second: 0 they are equal, 1 there is no other. How often the
    /// first is right at which lead is measured (docs/search-quality.md).
    pub lead: Option<f64>,
    /// `hints.debugSearch` when asked.
    pub debug: Option<serde_json::Value>,
}

/// Why a search found nothing to say.
#[derive(Debug, Error)]
pub enum SearchError {
    /// Every pass failed.
    #[error("every search pass failed: {0}")]
    AllPassesFailed(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
