//! `lsp_find_references`: where something is used.

use super::places::{PlaceParams, joined, location_lines, place_params};
use super::{ToolAnswer, ToolSpec, schema};
use crate::orchestrator::{NotReady, Orchestrator};

pub(super) const NAME: &str = "lsp_find_references";

pub(super) fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME,
        description: "Find every use of the symbol at a place, its declaration included. Answers path:line:col, one per line.",
        schema: schema::<PlaceParams>(),
    }
}

pub(super) async fn call(orchestrator: &Orchestrator, params: PlaceParams) -> Result<ToolAnswer, NotReady> {
    let (file, text) = orchestrator.source_file(&params.file_path)?;
    let place = params.place(&text)?;
    let asked = orchestrator
        .ask_about(
            &file,
            "the list of references",
            |can| can.references,
            "textDocument/references",
            |client| {
                let mut params = place_params(client, &file, &text, place);
                params["context"] = serde_json::json!({ "includeDeclaration": true });
                params
            },
        )
        .await?;
    let lines = location_lines(orchestrator, &asked);
    Ok(ToolAnswer::ok(if lines.is_empty() { "No references found".to_owned() } else { joined(lines) }))
}
