//! `lsp_find_references`: where something is used.

use super::places::{PlaceParams, ask_at, joined, location_lines};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Orchestrator, ToolError};

pub(super) const NAME: &str = "lsp_find_references";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Find every use of the symbol at a place, its declaration included. Answers path:line:col, one per line.",
        schema::<PlaceParams>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: PlaceParams) -> Result<ToolAnswer, ToolError> {
    let with_declaration = Some(serde_json::json!({ "includeDeclaration": true }));
    let asked =
        ask_at(orchestrator, &params, "the list of references", Question::References, with_declaration)
            .await?;
    let lines = location_lines(orchestrator, &asked);
    let text = if lines.is_empty() { "No references found".to_owned() } else { joined(lines) };
    Ok(ToolAnswer::ok(asked.mark(text)))
}
