//! `lsp_document_symbols`: what a file defines.

use std::path::Path;

use serde_json::{Value, json};

use super::places::{joined, place_in};
use super::{FileParams, ToolAnswer, ToolSpec, schema};
use crate::client::{Client, Question};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::position::{Place, Range};
use crate::symbols::MAX_DEPTH;
use crate::uri;

pub(super) const NAME: &str = "lsp_document_symbols";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "List what a file defines: functions, types, members. Answers `name - line:col`, nested ones indented.",
        schema::<FileParams>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: FileParams) -> Result<ToolAnswer, ToolError> {
    let (file, _) = orchestrator.source_file(&params.file_path)?;
    let document = json!({ "textDocument": { "uri": uri::of_path(&file) } });
    let asked = orchestrator
        .ask_about(&file, "the list of symbols", Question::DocumentSymbols, |_| document.clone())
        .await?;
    let mut lines = Vec::new();
    for symbol in asked.answer.as_array().into_iter().flatten() {
        push(orchestrator, &asked.client, &file, symbol, 0, &mut lines);
    }
    Ok(ToolAnswer::ok(if lines.is_empty() { "No symbols found".to_owned() } else { joined(lines) }))
}

fn push(
    orchestrator: &Orchestrator,
    client: &Client,
    file: &Path,
    symbol: &Value,
    depth: usize,
    lines: &mut Vec<String>,
) {
    let name = symbol.get("name").and_then(Value::as_str);
    // Nested symbols, or the flat form of older servers.
    let range = symbol.get("selectionRange").or_else(|| symbol.pointer("/location/range"));
    let range = range.and_then(|range| serde_json::from_value::<Range>(range.clone()).ok());
    if let (Some(name), Some(range)) = (name, range) {
        let Place { line, character } = place_in(orchestrator, client, file, range.start);
        let name = crate::render::one_line(name);
        lines.push(format!("{}{name} - {line}:{character}", "  ".repeat(depth)));
    }
    if depth < MAX_DEPTH {
        for child in symbol.get("children").and_then(Value::as_array).into_iter().flatten() {
            push(orchestrator, client, file, child, depth + 1, lines);
        }
    }
}
