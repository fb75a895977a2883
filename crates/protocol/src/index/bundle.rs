//! One bundle of code: the answer of a search that has a budget.

use serde::{Deserialize, Serialize};

use super::Span;

/// How sure an answer is.
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
pub enum SearchConfidence {
    /// What was asked for is most likely in the first file.
    High,
    /// It may be in one of the first files.
    Medium,
    /// A guess.
    Low,
}

impl SearchConfidence {
    /// As it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// The best pieces of the best files, as many as the budget holds.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Bundle {
    /// How sure it is.
    pub confidence: SearchConfidence,
    /// What to do when that is low, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(optional, as = "Option<Vec<String>>")]
    pub advice: Vec<String>,
    /// The best first.
    pub files: Vec<BundleFile>,
    /// Results for which there was no room.
    pub n_left_out: u32,
}

/// What a bundle has of one file.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct BundleFile {
    /// Relative to the root.
    pub file: String,
    /// By their lines.
    pub pieces: Vec<BundlePiece>,
}

/// Lines that follow each other.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct BundlePiece {
    /// Their numbers.
    pub span: Span,
    /// The definitions that were found in them, as the outline writes them.
    pub symbols: Vec<String>,
    /// Which words of the query stand where.
    pub why: String,
    /// The lines.
    pub text: String,
}
