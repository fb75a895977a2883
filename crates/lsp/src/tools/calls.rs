//! `lsp_calls`: who calls a function, and what it calls.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::places::{PlaceParams, ask_at, joined, place_in};
use super::{ToolAnswer, ToolSpec, schema};
use crate::client::Question;
use crate::orchestrator::{Asked, Orchestrator, ToolError};
use crate::position::{Place, Position, Range};
use crate::uri;

pub(super) const NAME: &str = "lsp_calls";

/// A server that answers with more functions than this for one place is asked about the first ones only.
const MAX_ITEMS: usize = 10;

/// A place, and a direction.
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
    direction: Direction,
}

/// Which way the calls go.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Incoming,
    Outgoing,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "List who calls the function at a place (incoming: `caller - path:line:col` of each call) or what it calls (outgoing: `callee - path:line:col` of its definition).",
        schema::<Params>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: Params) -> Result<ToolAnswer, ToolError> {
    let Params { file_path, line, character, symbol, direction } = params;
    let place = PlaceParams { file_path, line, character, symbol };
    let prepared = ask_at(orchestrator, &place, "the call hierarchy", Question::Calls, None).await?;
    let items: Vec<&Value> = prepared.answer.as_array().into_iter().flatten().take(MAX_ITEMS).collect();
    if items.is_empty() {
        let id = &prepared.client.server.id;
        return Ok(ToolAnswer::ok(format!("No function stands there, as {id} sees it")));
    }
    let (method, nothing) = match direction {
        Direction::Incoming => ("callHierarchy/incomingCalls", "No callers found"),
        Direction::Outgoing => ("callHierarchy/outgoingCalls", "It calls nothing"),
    };
    let mut lines = Vec::new();
    for item in items {
        let client = prepared.client.clone();
        let deadline = orchestrator.deadline(false);
        let asked =
            orchestrator.ask_until_loaded(client, method, |_| json!({ "item": item }), deadline).await?;
        for found in asked.answer.as_array().into_iter().flatten() {
            match direction {
                Direction::Incoming => incoming(orchestrator, &asked, found, &mut lines),
                Direction::Outgoing => lines.extend(line_of(orchestrator, &asked, found.get("to"), None)),
            }
        }
    }
    lines.sort();
    lines.dedup();
    Ok(ToolAnswer::ok(if lines.is_empty() { nothing.to_owned() } else { joined(lines) }))
}

/// A line for each place from which a function calls.
fn incoming(orchestrator: &Orchestrator, asked: &Asked, found: &Value, lines: &mut Vec<String>) {
    let ranges = found.get("fromRanges").and_then(Value::as_array);
    let places = ranges.into_iter().flatten();
    let places = places.filter_map(|range| serde_json::from_value::<Range>(range.clone()).ok());
    for range in places {
        lines.extend(line_of(orchestrator, asked, found.get("from"), Some(range.start)));
    }
}

/// `name - path:line:col`, at the item's own name unless a place is given.
fn line_of(
    orchestrator: &Orchestrator,
    asked: &Asked,
    item: Option<&Value>,
    place: Option<Position>,
) -> Option<String> {
    let item = item?;
    let name = crate::render::one_line(item.get("name")?.as_str()?);
    let file = uri::to_path(item.get("uri")?.as_str()?)?;
    let own = item.pointer("/selectionRange/start");
    let own = || own.and_then(|start| serde_json::from_value::<Position>(start.clone()).ok());
    let position = place.or_else(own)?;
    let Place { line, character } = place_in(orchestrator, &asked.client, &file, position);
    Some(format!("{name} - {}:{line}:{character}", orchestrator.display(&file)))
}
