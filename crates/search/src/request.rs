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
    /// What the caller should know beside the results, each once.
    pub warnings: Vec<SearchWarning>,
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

/// What a caller should know of a question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchWarning {
    /// No result has every word of `must:`.
    MustUnsatisfied,
    /// There are operators and no words.
    OnlyOperators,
    /// A pattern of `path:` or `-path:` is none.
    BadPattern {
        /// As it was typed.
        pattern: String,
        /// Why.
        reason: String,
    },
    /// The embedder did not answer: words alone did.
    NoVectors {
        /// Why.
        reason: String,
    },
}

impl SearchWarning {
    /// Its name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::MustUnsatisfied => "FILTER_MUST_UNSATISFIED",
            Self::OnlyOperators => "QUERY_ONLY_OPERATORS",
            Self::BadPattern { .. } => "SEARCH_BAD_PATTERN",
            Self::NoVectors { .. } => "SEARCH_PASS_FAILED:dense",
        }
    }

    /// A sentence for people.
    pub fn message(&self) -> String {
        match self {
            Self::MustUnsatisfied => "no result has every must: term".to_owned(),
            Self::OnlyOperators => "the query has operators and no words to look for; add some".to_owned(),
            Self::BadPattern { pattern, reason } => format!("{pattern}: {reason}"),
            Self::NoVectors { reason } => {
                format!("dense semantic search pass failed; results may be degraded. ({reason})")
            }
        }
    }
}
