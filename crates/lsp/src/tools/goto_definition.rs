//! `lsp_goto_definition`: where something is defined.

use super::places::{PlaceParams, ask_at, joined, location_lines};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Orchestrator, ToolError};

pub(super) const NAME: &str = "lsp_goto_definition";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Find where the symbol at a place is defined. Answers path:line:col, one per line.",
        schema::<PlaceParams>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: PlaceParams) -> Result<ToolAnswer, ToolError> {
    let asked = ask_at(orchestrator, &params, "the definition", Question::Definition, None).await?;
    let lines = location_lines(orchestrator, &asked);
    Ok(ToolAnswer::ok(if lines.is_empty() { "No definition found".to_owned() } else { joined(lines) }))
}
