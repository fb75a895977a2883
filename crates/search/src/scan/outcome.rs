//! What a scan is asked and what it found.

use chartroom_protocol::index::SkippedFile;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::store::FileStamp;

/// What belongs to a codebase besides the built-in rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanOptions {
    /// Extra extensions, with their dot.
    pub custom_extensions: Vec<String>,
    /// Extra ignore patterns, gitignore syntax.
    pub ignore_patterns: Vec<String>,
    /// Hash every file even if its stat is unchanged.
    pub full_hash: bool,
    /// Do not look into files that are new: who takes them in reads them and refuses what is no text. A first build reads
    /// every file once that way, not twice.
    pub new_by_name: bool,
}

/// A file that has to be (re)indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScannedFile {
    /// Path below the root, with `/`.
    pub rel_path: String,
    /// As seen, without a hash where the file was not read; the caller stores the stamp of what it read.
    pub stamp: FileStamp,
    /// The codebase asks for its extension explicitly.
    pub custom: bool,
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
    /// Files that no rule ignores and that are not for the index, in no order. Those that are new and were not read are
    /// judged by who takes them in.
    pub skipped: Vec<SkippedFile>,
}

/// What a scan met and left out though no rule ignores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LeftOut {
    /// Folders that cannot be read, sorted; the first few.
    pub unreadable_folders: Vec<String>,
    /// Files that cannot be read.
    pub unreadable_files: u64,
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
