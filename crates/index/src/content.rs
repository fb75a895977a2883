//! What the state half asks of the content half, as plain data.
//!
//! The functions themselves live in their own rooms, with these signatures:
//!
//! ```text
//! chunk::parse_file_with(parser: &dyn Parser, rel_path: &str, text: &str) -> ParsedFile never fails, never hangs
//! manifest::scan(root: &Path, previous: &Manifest, options: &ScanOptions) -> Result<Scan, ScanError>
//! rank::search(reader: &dyn GenerationReader, embedder: &dyn Embedder, request: &SearchRequest) -> Result<SearchOutcome, SearchError>
//! embed::from_config(config: &protocol::index::EmbeddingConfig) -> Result<Box<dyn Embedder>, EmbedError>
//! embedded::EmbeddedStore::open(data: &Path) -> Result<EmbeddedStore, StoreError>   files below <data>/index/
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use chartroom_protocol::index::{
    GroupBy, NoiseMitigation, RankingMode, ResultMode, SearchResult, SearchScope,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::embed::Embedder;
use crate::parser::Parser;
use crate::store::{Chunk, FileStamp, GenerationReader, Manifest, StoreError, Symbol};

/// A file taken apart. The chunks carry their content hashes; vectors are made by the caller.
#[derive(Debug, Clone)]
pub struct ParsedFile {
    /// The pieces, by start line.
    pub chunks: Vec<Chunk>,
    /// The definitions, by start line.
    pub symbols: Vec<Symbol>,
    /// Goes to [`crate::store::FileRecord::graph`] unread.
    pub graph: serde_json::Value,
    /// The parser failed on it: there are no symbols, though its language has some.
    pub unparsed: bool,
}

/// What belongs to a codebase besides the built-in rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// Extra extensions, with their dot.
    pub custom_extensions: Vec<String>,
    /// Extra ignore patterns, gitignore syntax.
    pub ignore_patterns: Vec<String>,
    /// Hash every file even if its stat is unchanged.
    pub full_hash: bool,
}

/// A file that has to be (re)indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// Path below the root, with `/`.
    pub rel_path: String,
    /// As seen; the caller hashes again what it reads and stores the stamp of what it read.
    pub stamp: FileStamp,
}

/// How the folder differs from the manifest. All lists are sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Not in the manifest.
    pub added: Vec<ScannedFile>,
    /// Other bytes than in the manifest.
    pub modified: Vec<ScannedFile>,
    /// In the manifest, no longer there (or ignored now). Never below an unscanned prefix.
    pub removed: Vec<String>,
    /// Same bytes, other stat.
    pub touched: Vec<ScannedFile>,
    /// Directories that could not be read, sorted, segment-safe.
    pub unscanned: Vec<String>,
    /// Files whose bytes were hashed.
    pub hashed: u64,
    /// What somebody may miss.
    pub left_out: LeftOut,
}

/// What a scan met and left out though no rule ignores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeftOut {
    /// Folders that cannot be read, sorted; the first few.
    pub unreadable_folders: Vec<String>,
    /// Files that cannot be read.
    pub unreadable_files: u64,
    /// Files of a known kind that are larger than what is indexed.
    pub too_large: u64,
    /// Files and folders whose names are not UTF-8.
    pub not_utf8: u64,
    /// Ignore files that do not count, with the reason; the first few.
    pub ignore_files: Vec<String>,
    /// Files that the parser failed on, sorted: they are there by lines, without symbols.
    pub unparsed: Vec<String>,
}

impl LeftOut {
    /// Folders and files that are named.
    pub const NAMED: usize = 10;

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a folder could not be scanned at all.
#[derive(Debug, Error)]
pub enum ScanError {
    /// The root is not there.
    #[error("{0} is not there")]
    Missing(String),
    /// The root cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// Which.
        path: String,
        /// Why.
        reason: String,
    },
}

/// A search after its gates.
#[derive(Debug, Clone)]
pub struct SearchRequest {
    /// The canonical root, for `navigationFallback`'s absolute paths.
    pub root: String,
    /// Only files below this folder of the root (with `/`, no trailing one).
    pub below: Option<String>,
    /// As typed, operators included.
    pub query: String,
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

/// The content half's functions, handed over as values, so that a test of the state can use simpler ones.
#[derive(Clone, Copy)]
pub struct Content {
    /// `chunk::parse_file_with`.
    pub parse_file: fn(&dyn Parser, &str, &str) -> ParsedFile,
    /// `chunk::embedded_text`.
    pub embedded_text: fn(&Chunk) -> String,
    /// `manifest::scan`.
    pub scan: fn(&Path, &Manifest, &ScanOptions) -> Result<Scan, ScanError>,
    /// `rank::search`.
    pub search:
        fn(&dyn GenerationReader, &dyn Embedder, &SearchRequest) -> Result<SearchOutcome, SearchError>,
    /// Extensions with symbols, with their dot, sorted.
    pub symbol_extensions: fn() -> Vec<String>,
}

impl Content {
    /// The content half itself.
    pub fn real() -> Self {
        Self {
            parse_file: crate::chunk::parse_file_with,
            embedded_text: crate::chunk::embedded_text,
            scan: crate::manifest::scan,
            search: crate::rank::search,
            symbol_extensions: crate::symbols::Language::symbol_extensions,
        }
    }
}
