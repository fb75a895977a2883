//! `lsp_workspace_symbols`: where a name is defined, anywhere.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::places::{joined, place_in};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Orchestrator, ToolError};
use crate::position::{Place, Position};
use crate::uri;

pub(super) const NAME: &str = "lsp_workspace_symbols";

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// The name, or a part of it.
    query: String,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "Find symbols by name in the whole workspace, in the languages whose server runs. Answers `name - path:line:col`.",
        schema::<Params>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: Params) -> Result<ToolAnswer, ToolError> {
    orchestrator.started().await;
    let clients = orchestrator.running(Question::WorkspaceSymbols);
    if clients.is_empty() {
        return Err(ToolError::Unavailable(orchestrator.why_none_runs()));
    }
    let deadline = orchestrator.deadline(false);
    orchestrator.tell_what_others_did(deadline).await;
    let query = json!({ "query": params.query });
    let answers = futures_util::future::join_all(clients.into_iter().map(|client| {
        orchestrator.ask_until_loaded(client, "workspace/symbol", |_| query.clone(), deadline)
    }))
    .await;
    let mut lines = Vec::new();
    let mut notes = Vec::new();
    let mut reasons = Vec::new();
    for answer in answers {
        match answer {
            Err(error) => reasons.push(error.to_string()),
            Ok(asked) => {
                notes.push(asked.mark(String::new()));
                for symbol in asked.answer.as_array().into_iter().flatten() {
                    let name = symbol.get("name").and_then(Value::as_str);
                    let file = symbol.pointer("/location/uri").and_then(Value::as_str).and_then(uri::to_path);
                    let start = symbol.pointer("/location/range/start");
                    let start =
                        start.and_then(|start| serde_json::from_value::<Position>(start.clone()).ok());
                    if let (Some(name), Some(file)) = (name, file) {
                        let start = start.unwrap_or(Position { line: 0, character: 0 });
                        let Place { line, character } = place_in(orchestrator, &asked.client, &file, start);
                        let path = orchestrator.display(&file);
                        lines.push(format!("{} - {path}:{line}:{character}", crate::render::one_line(name)));
                    }
                }
            }
        }
    }
    if lines.is_empty() && !reasons.is_empty() {
        return Err(ToolError::Unavailable(reasons.join("; ")));
    }
    lines.sort();
    lines.dedup();
    let text = if lines.is_empty() { "No symbols found".to_owned() } else { joined(lines) };
    Ok(ToolAnswer::ok(text + &notes.concat()))
}
