//! From a result to its surroundings: symbols that can be asked about, and ready-to-run calls where they cannot.

use serde::{Deserialize, Serialize};

use super::{Span, ToolHint};

/// A symbol, named so that `call_graph` can be asked about it.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SymbolRef {
    /// Relative to the root.
    pub file: String,
    /// As search and outline give it.
    pub symbol_id: String,
    /// The symbol as the outline writes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_label: Option<String>,
    /// Where it is defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub span: Option<Span>,
}

/// Why a result cannot be asked for its calls.
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
pub enum CallGraphUnsupported {
    /// The result is no symbol.
    MissingSymbol,
    /// Calls are not known for this language.
    UnsupportedLanguage,
}

/// Whether `call_graph` can be asked about a result, and how.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CallGraphHint {
    /// Whether it can be asked about.
    pub supported: bool,
    /// With `supported`: what to ask with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub symbol_ref: Option<SymbolRef>,
    /// Without `supported`: why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<CallGraphUnsupported>,
}

impl CallGraphHint {
    /// It can.
    pub fn supported(symbol_ref: SymbolRef) -> Self {
        Self { supported: true, symbol_ref: Some(symbol_ref), reason: None }
    }

    /// It cannot.
    pub fn unsupported(reason: CallGraphUnsupported) -> Self {
        Self { supported: false, symbol_ref: None, reason: Some(reason) }
    }
}

/// Ready-to-run calls for a result that the graph cannot help with.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NavigationFallback {
    /// Always [`NavigationFallback::MESSAGE`].
    pub message: String,
    /// Where the result is.
    pub context: NavigationContext,
    /// Reads the result's lines.
    pub read_span: ToolHint,
    /// Lists the symbols around it, where the file has symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub file_outline_window: Option<ToolHint>,
}

impl NavigationFallback {
    /// The message every fallback carries.
    pub const MESSAGE: &'static str =
        "Call graph not available for this result; use readSpan or fileOutlineWindow to navigate.";
}

/// Where a result is.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct NavigationContext {
    /// The canonical root.
    pub codebase_root: String,
    /// Relative to that root.
    pub relative_file: String,
    /// The two joined.
    pub absolute_path: String,
}
