//! `lsp_goto_definition`: where something is defined.

use super::places::{PlaceParams, joined, location_lines, place_params};
use super::{ToolAnswer, ToolSpec, schema};
use crate::orchestrator::{NotReady, Orchestrator};

pub(super) const NAME: &str = "lsp_goto_definition";

pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        description: "Find where the symbol at a place is defined. Answers path:line:col, one per line.",
        schema: schema::<PlaceParams>(),
    }
}

pub(super) async fn call(orchestrator: &Orchestrator, params: PlaceParams) -> Result<ToolAnswer, NotReady> {
    let (file, text) = orchestrator.source_file(&params.file_path)?;
    let place = params.place(&text)?;
    let asked = orchestrator
        .ask_about(
            &file,
            "the definition",
            |can| can.definition,
            "textDocument/definition",
            |client| place_params(client, &file, &text, place),
        )
        .await?;
    let lines = location_lines(orchestrator, &asked);
    Ok(ToolAnswer::ok(if lines.is_empty() { "No definition found".to_owned() } else { joined(lines) }))
}
