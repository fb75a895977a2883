//! `rename_symbol`: a symbol and everything that names it.

use std::sync::Arc;

use chartroom_protocol::lsp::{CheckScope, ProposeResponse, ProposedChange};
use chartroom_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout_at;

use super::workspace_edit;
use crate::client::{Client, Question};
use crate::orchestrator::{Asked, Orchestrator, ToolError};
use crate::position::{Place, to_position};
use crate::tools::places::PlaceParams;
use crate::{tools, uri};

pub(super) const NAME: &str = "rename_symbol";

/// More files are not opened to be sure of their texts; servers keep no more than twice as many.
const MAX_OPENED: usize = 50;

/// A place and a name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Path of the file, absolute or relative to the workspace root.
    file_path: String,
    /// Line number, from 1.
    #[serde(default)]
    line: Option<u32>,
    /// With `line`: the name on that line. Without: the path of a symbol of the file, e.g. `Class/method`.
    symbol: String,
    new_name: String,
    /// Only say what would change.
    #[serde(default)]
    #[expect(dead_code, reason = "whoever makes the change reads it")]
    preview: bool,
    /// The id of a preview: make exactly that change, or none.
    #[serde(default)]
    #[expect(dead_code, reason = "whoever makes the change reads it")]
    preview_id: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::changing(
        NAME,
        "Rename a symbol and every use of it, in all files or none. Errors that the change brings are listed after it.",
        tools::schema::<Params>(),
    )
}

pub(super) async fn propose(
    orchestrator: &Orchestrator,
    params: Params,
) -> Result<ProposeResponse, ToolError> {
    let Params { file_path, line, symbol, new_name, .. } = params;
    let new_name = new_name.trim();
    let old_name = symbol.rsplit(['/', '.']).next().unwrap_or(&symbol).to_owned();
    if new_name.is_empty() || new_name == old_name {
        return Err(ToolError::InvalidArguments("newName is the name that it has, or empty".to_owned()));
    }
    let (file, text) = orchestrator.source_file(&file_path)?;
    let place = PlaceParams { file_path, line, character: None, symbol: Some(symbol) };
    let place = place.find(orchestrator, &file, &text).await?;
    // A server that has checked the file has loaded what it belongs to; before that some find nothing, or refuse.
    orchestrator.check_file(&file.to_string_lossy(), None).await;
    let asked_of = |client: &Client| asked(client, &uri::of_path(&file), place, &text, new_name);
    let first = orchestrator.ask_about(&file, "rename", Question::Rename, asked_of).await?;
    let Asked { client, answer, is_partial } = again(orchestrator, first, asked_of).await?;
    let id = &client.server.id;
    if is_partial {
        return Err(ToolError::Unavailable(format!(
            "{id} has not looked at the whole project yet, so a rename could miss some uses; ask again in a moment"
        )));
    }
    let refused =
        |why: &str| ToolError::Unavailable(format!("{id} proposed a rename that was not made: {why}"));
    let read = workspace_edit::read(orchestrator, &client, &answer).map_err(|why| refused(&why))?;
    if read.steps.is_empty() {
        let Place { line, .. } = place;
        return Err(ToolError::Unavailable(format!(
            "{id} finds nothing to rename to `{new_name}` on line {line}"
        )));
    }
    let title = format!("Renamed {old_name} to {new_name}");
    let (steps, confirm) = (read.steps, read.confirm);
    Ok(ProposeResponse::Change(ProposedChange { title, steps, confirm, scope: CheckScope::Files }))
}

fn asked(client: &Client, uri: &str, place: Place, text: &str, new_name: &str) -> Value {
    let position = to_position(place, client.capabilities.encoding, text);
    json!({ "textDocument": { "uri": uri }, "position": position, "newName": new_name })
}

/// Asks once more with the whole project loaded and every file open that would be changed: a server that has not loaded
/// all of it misses uses, and of a file that is not open nobody knows which text its places count in.
async fn again(
    orchestrator: &Orchestrator,
    first: Asked,
    asked_of: impl Fn(&Client) -> Value,
) -> Result<Asked, ToolError> {
    let client: Arc<Client> = first.client.clone();
    let deadline = orchestrator.deadline(true);
    let was_loading = client.is_loading();
    if !client.loaded(deadline).await {
        let activity = client.activity().0.unwrap_or_else(|| "loading".to_owned());
        let id = &client.server.id;
        return Err(ToolError::Unavailable(format!(
            "{id} is still loading the project ({activity}), so a rename could miss some uses; ask again in a moment"
        )));
    }
    let files = workspace_edit::files(&first.answer);
    let unopened: Vec<_> = files.iter().filter(|file| !client.is_open(file)).collect();
    if (unopened.is_empty() && !was_loading) || files.len() > MAX_OPENED {
        return Ok(first);
    }
    for file in unopened {
        // What cannot be opened is told when the edit is read.
        drop(timeout_at(deadline, client.open_from_disk(file)).await);
    }
    orchestrator.ask_until_loaded(client, Question::Rename.method(), asked_of, deadline).await
}
