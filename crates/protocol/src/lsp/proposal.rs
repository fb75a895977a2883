//! A change that a language server has worked out and that the edit tools make: nothing is written on its way.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::{Deserialize, Serialize};

use super::CheckScope;

/// `lsp/propose`: what came of a question for a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum ProposeResponse {
    /// A change that can be made.
    Change(ProposedChange),
    /// An answer that needs no change.
    Told {
        /// What the model reads.
        text: String,
    },
    /// No change.
    Refused {
        /// Why, and what to do instead.
        reason: String,
    },
}

/// A change of several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedChange {
    /// What it does, as it is told when it is done.
    pub title: String,
    /// Its parts, in order: a later one finds what the earlier ones left.
    pub steps: Vec<ProposedStep>,
    /// What the server wants to be looked at before it is made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirm: Vec<String>,
    /// Which files are worth a look afterwards.
    pub scope: CheckScope,
}

/// One file's part of a change. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum ProposedStep {
    /// Parts of a text are replaced.
    Edit {
        /// The file.
        file: String,
        /// The [`fingerprint`] of the text that the places count in.
        base: String,
        /// By place, without overlaps.
        edits: Vec<ProposedEdit>,
    },
    /// An empty file is made.
    Create {
        /// The file.
        file: String,
        /// What is there is replaced.
        overwrite: bool,
        /// What is there stays as it is.
        ignore_if_exists: bool,
    },
    /// A file gets another name.
    Rename {
        /// The file.
        from: String,
        /// Its new path.
        to: String,
        /// What is there is replaced.
        overwrite: bool,
        /// If something is there, nothing happens.
        ignore_if_exists: bool,
    },
    /// A file is removed.
    Delete {
        /// The file.
        file: String,
        /// It need not be there.
        ignore_if_not_exists: bool,
    },
}

/// A part of a text and what stands there instead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProposedEdit {
    /// In bytes, in a text without its byte order mark.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What stands there then.
    pub new_text: String,
}

/// Tells one text from another, in every process of one version of ours.
pub fn fingerprint(text: &str) -> String {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
