//! Files that a build met and did not index, with the reason: what somebody may look for in vain.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Why a file is not indexed though no ignore rule names it.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// No language claims its name.
    UnknownKind,
    /// It holds bytes that no text has.
    Binary,
    /// It is text in UTF-16.
    Encoding,
    /// Its lines are too long to be written by a person.
    LongLines,
    /// It is over the limit for one file.
    TooLarge,
    /// A generator or a bundler wrote it.
    Generated,
    /// A package manager wrote it.
    Lockfile,
    /// It may hold keys or credentials.
    Secret,
}

impl SkipReason {
    /// In words that follow a number of files or a path.
    pub fn words(self) -> &'static str {
        match self {
            Self::UnknownKind => "of a kind that is not read",
            Self::Binary => "with bytes that no text has",
            Self::Encoding => "in UTF-16 (UTF-8 is read)",
            Self::LongLines => "with lines of more than 1,000 characters on average",
            Self::TooLarge => "over the size limit (1 MB of code, 400 KB of other text)",
            Self::Generated => "that a program wrote",
            Self::Lockfile => "that a package manager wrote",
            Self::Secret => "that may hold secrets",
        }
    }

    /// Whether somebody may expect such a file in the index: it looks like source by its name.
    fn is_surprising(self) -> bool {
        match self {
            Self::Binary | Self::Encoding | Self::LongLines | Self::TooLarge | Self::Generated => true,
            Self::UnknownKind | Self::Lockfile | Self::Secret => false,
        }
    }
}

/// One file that is not indexed.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SkippedFile {
    /// Path below the root.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// How many files are not indexed for one reason.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct SkippedCount {
    /// Why.
    pub reason: SkipReason,
    /// How many.
    pub count: u64,
}

/// The files that the last look at the whole folder met and did not index.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", default)]
pub struct SkippedFiles {
    /// All of them.
    pub total: u64,
    /// By reason.
    pub reasons: Vec<SkippedCount>,
    /// By path, at most [`Self::LISTED`]; only where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<SkippedFile>>")]
    pub files: Vec<SkippedFile>,
}

impl SkippedFiles {
    /// Files that are listed.
    pub const LISTED: usize = 10_000;
    /// Files of a reason that are named in a sentence.
    const NAMED: usize = 3;

    /// Counts and sorts.
    pub fn of(mut files: Vec<SkippedFile>) -> Self {
        let total = files.len() as u64;
        let mut counts: BTreeMap<SkipReason, u64> = BTreeMap::new();
        for file in &files {
            *counts.entry(file.reason).or_default() += 1;
        }
        let reasons = counts.into_iter().map(|(reason, count)| SkippedCount { reason, count }).collect();
        // What looks like source is named first, so that a limit cuts pictures and not code.
        files.sort_by(|left, right| {
            (!left.reason.is_surprising(), left).cmp(&(!right.reason.is_surprising(), right))
        });
        files.truncate(Self::LISTED);
        Self { total, reasons, files }
    }

    /// One sentence with the counts and the names that may surprise; none when nothing was skipped.
    pub fn sentence(&self) -> Option<String> {
        let parts: Vec<String> = self.reasons.iter().map(|count| self.part(count)).collect();
        let are = if self.total == 1 { "file is" } else { "files are" };
        (!parts.is_empty()).then(|| format!("{} {are} not indexed: {}.", self.total, parts.join("; ")))
    }

    fn part(&self, of: &SkippedCount) -> String {
        let words = format!("{} {}", of.count, of.reason.words());
        if !of.reason.is_surprising() {
            return words;
        }
        let names: Vec<&str> = self
            .files
            .iter()
            .filter(|file| file.reason == of.reason)
            .take(Self::NAMED)
            .map(|file| file.path.as_str())
            .collect();
        let more = if of.count > names.len() as u64 { ", …" } else { "" };
        if names.is_empty() { words } else { format!("{words}: {}{more}", names.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::{SkipReason, SkippedFile, SkippedFiles};

    fn file(path: &str, reason: SkipReason) -> SkippedFile {
        SkippedFile { path: path.into(), reason }
    }

    #[test]
    fn the_sentence_counts_every_reason_and_names_what_looks_like_source() {
        let skipped = SkippedFiles::of(vec![
            file("logo.png", SkipReason::UnknownKind),
            file("a.png", SkipReason::UnknownKind),
            file("data.sql", SkipReason::TooLarge),
            file("bundle.js", SkipReason::LongLines),
        ]);
        assert_eq!(
            skipped.sentence().unwrap(),
            "4 files are not indexed: 2 of a kind that is not read; 1 with lines of more than 1,000 characters on \
             average: bundle.js; 1 over the size limit (1 MB of code, 400 KB of other text): data.sql."
        );
        let paths: Vec<&str> = skipped.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["bundle.js", "data.sql", "a.png", "logo.png"]);
        assert_eq!(SkippedFiles::of(Vec::new()).sentence(), None);
    }

    #[test]
    fn a_long_list_is_cut_and_the_count_is_of_all() {
        let many = (0..SkippedFiles::LISTED + 5).map(|at| file(&format!("{at}.py"), SkipReason::Binary));
        let skipped = SkippedFiles::of(many.collect());
        assert_eq!(skipped.files.len(), SkippedFiles::LISTED);
        assert_eq!(skipped.total, SkippedFiles::LISTED as u64 + 5);
        assert!(skipped.sentence().unwrap().ends_with("0.py, 1.py, 10.py, …."));
    }
}
