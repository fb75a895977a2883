//! `lsp_goto_definition`: where something, its type or its implementations are defined.

use schemars::JsonSchema;
use serde::Deserialize;

use super::places::{PlaceParams, ask_at, joined, location_lines};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Orchestrator, ToolError};

pub(super) const NAME: &str = "lsp_goto_definition";

/// A place, and what is wanted of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Path of the file, absolute or relative to the workspace root.
    file_path: String,
    /// Line number, from 1.
    #[serde(default)]
    line: Option<u32>,
    /// Column, from 1, when there is no `symbol`.
    #[serde(default)]
    character: Option<u32>,
    /// With `line`: the text on that line. Without: the path of a symbol of the file, e.g. `Class/method`.
    #[serde(default)]
    symbol: Option<String>,
    #[serde(default)]
    of: Of,
}

/// What is looked for.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Of {
    #[default]
    Symbol,
    Type,
    Implementations,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Find where the symbol at a place, its type, or its implementations are defined. Answers path:line:col, one per line.",
        schema::<Params>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: Params) -> Result<ToolAnswer, ToolError> {
    let Params { file_path, line, character, symbol, of } = params;
    let place = PlaceParams { file_path, line, character, symbol };
    let (what, question, nothing) = match of {
        Of::Symbol => ("the definition", Question::Definition, "No definition found"),
        Of::Type => ("the type's definition", Question::TypeDefinition, "No type definition found"),
        Of::Implementations => {
            ("the list of implementations", Question::Implementation, "No implementations found")
        }
    };
    let asked = ask_at(orchestrator, &place, what, question, None).await?;
    let lines = location_lines(orchestrator, &asked);
    Ok(ToolAnswer::ok(if lines.is_empty() { nothing.to_owned() } else { joined(lines) }))
}
