//! One finding of a language server, as every reader of ours sees it.

use serde::{Deserialize, Serialize};

/// A diagnostic: positions are 1-based characters, the message is one line, as the server said it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// Relative to the workspace root, with `/` between segments.
    pub file: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, counted in characters and not in UTF-16 units.
    pub character: u32,
    /// How bad it is.
    pub severity: Severity,
    /// One line. It is escaped where a text for a model is made of it.
    pub message: String,
    /// The server's code, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub code: Option<Code>,
    /// Who says it, e.g. `ts` or `rustc`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub source: Option<String>,
}

/// A diagnostic's code; servers send numbers (TypeScript) or strings (Rust, ESLint).
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
#[serde(untagged)]
pub enum Code {
    /// E.g. TypeScript's `2322`.
    Number(#[ts(type = "number")] i64),
    /// E.g. Rust's `E0308`.
    Text(String),
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// How bad it is; the order is the protocol's own, the worst first.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The code does not compile or cannot work.
    Error,
    /// It compiles and is probably wrong.
    Warning,
    /// Worth knowing.
    Info,
    /// A suggestion of style.
    Hint,
}

impl Severity {
    /// Every severity, the worst first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Info, Self::Hint];

    /// Returns the word of the text form: `ERROR`, `WARNING`, `INFO`, `HINT`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "ERROR",
            Self::Warning => "WARNING",
            Self::Info => "INFO",
            Self::Hint => "HINT",
        }
    }
}

impl std::str::FromStr for Severity {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "error" => Ok(Self::Error),
            "warning" => Ok(Self::Warning),
            "info" => Ok(Self::Info),
            "hint" => Ok(Self::Hint),
            other => Err(format!("unknown severity `{other}`: use error, warning, info or hint")),
        }
    }
}
