//! `edit_symbol`: a definition is replaced, gets a neighbour, or goes when nothing uses it.

use std::path::Path;

use chartroom_protocol::lsp::{
    CheckScope, ProposeResponse, ProposedChange, ProposedEdit, ProposedStep, fingerprint,
};
use chartroom_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::symbol_text::{Change, Place, change};
use crate::client::{Question, wire};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::position::{Position, to_offset, to_position};
use crate::symbols::{self, Symbol};
use crate::tools::places::{name_of, place_in, symbols_of};
use crate::{tools, uri};

pub(super) const NAME: &str = "edit_symbol";

/// How many uses an error lists.
const MAX_USES: usize = 10;

/// A symbol, and what becomes of it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Path of the file, absolute or relative to the workspace root.
    file_path: String,
    /// The path of a symbol of the file, e.g. `Class/method`.
    symbol: String,
    /// A line of the symbol, from 1, when several have this path.
    #[serde(default)]
    line: Option<u32>,
    action: Action,
    /// The whole new definition, or what is inserted.
    #[serde(default)]
    text: Option<String>,
    /// Only say what would change.
    #[serde(default)]
    #[expect(dead_code, reason = "whoever makes the change reads it")]
    preview: bool,
}

/// What is done; a symbol is deleted only when nothing uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Replace,
    InsertBefore,
    InsertAfter,
    Delete,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::changing(
        NAME,
        "Replace a function, method or type by name, insert text before or after it, or delete it when nothing uses it. Its comment stays unless the new text begins with one. Errors that the change brings are listed after it.",
        tools::schema::<Params>(),
    )
}

pub(super) async fn propose(
    orchestrator: &Orchestrator,
    params: Params,
) -> Result<ProposeResponse, ToolError> {
    let (file, _) = orchestrator.source_file(&params.file_path)?;
    let text = params.text.as_deref().filter(|text| !text.trim().is_empty());
    let what = match (params.action, text) {
        (Action::Delete, _) => Change::Delete,
        (_, None) => return Err(ToolError::InvalidArguments("give the `text`".to_owned())),
        (Action::Replace, Some(text)) => Change::Replace(text),
        (Action::InsertBefore, Some(text)) => Change::InsertBefore(text),
        (Action::InsertAfter, Some(text)) => Change::InsertAfter(text),
    };
    let (client, symbols) = symbols_of(orchestrator, &file).await?;
    let symbol = symbols::find(&symbols, &params.symbol, params.line).map_err(ToolError::InvalidArguments)?;
    let moved = || ToolError::Unavailable("the file changed while it was looked at; ask again".to_owned());
    let base = client.text(&file).ok_or_else(moved)?;
    let offset =
        |position: Position| to_offset(position, client.capabilities.encoding, &base).ok_or_else(moved);
    let (start, end) = (offset(symbol.range.start)?, offset(symbol.range.end)?);
    let encoding = client.capabilities.encoding;
    let name = to_position(name_of(symbol, encoding, &base), encoding, &base);
    let name_at = offset(name)?;
    if start > end || name_at < start {
        return Err(moved());
    }
    if params.action == Action::Delete {
        refuse_when_used(orchestrator, &file, symbol, name).await?;
    }
    let place = Place { text: &base, range: start..end, name_at, name: symbol.name() };
    let (range, new_text) = change(&place, what);
    let shown = symbol.shown();
    let title = match params.action {
        Action::Replace => format!("Replaced {shown}"),
        Action::InsertBefore => format!("Inserted before {shown}"),
        Action::InsertAfter => format!("Inserted after {shown}"),
        Action::Delete => format!("Deleted {shown}, which nothing used"),
    };
    let edits = vec![ProposedEdit { start: range.start, end: range.end, new_text }];
    let file = file.to_string_lossy().into_owned();
    let steps = vec![ProposedStep::Edit { file, base: fingerprint(&base), edits }];
    let (confirm, scope) = (Vec::new(), CheckScope::Project);
    Ok(ProposeResponse::Change(ProposedChange { title, steps, confirm, scope }))
}

/// Asks for the uses of a symbol; those inside of itself do not count.
async fn refuse_when_used(
    orchestrator: &Orchestrator,
    file: &Path,
    symbol: &Symbol,
    name: Position,
) -> Result<(), ToolError> {
    let uri = uri::of_path(file);
    let question = json!({
        "textDocument": { "uri": uri },
        "position": name,
        "context": { "includeDeclaration": false },
    });
    let what = "the list of uses";
    // A server that has checked the file has loaded what it belongs to; before that some find no use.
    orchestrator.check_file(&file.to_string_lossy(), None).await;
    let asked = orchestrator.ask_about(file, what, Question::References, |_| question.clone()).await?;
    if !asked.client.loaded(orchestrator.deadline(true)).await {
        let id = &asked.client.server.id;
        return Err(ToolError::Unavailable(format!(
            "{id} is still loading the project, so that it may not know every use of it; ask again in a moment"
        )));
    }
    let asked = orchestrator.ask_about(file, what, Question::References, |_| question.clone()).await?;
    if asked.is_partial {
        let id = &asked.client.server.id;
        return Err(ToolError::Unavailable(format!(
            "{id} has not looked at the whole project yet, so that it may not know every use of it; ask again in a moment"
        )));
    }
    let mut uses: Vec<String> = wire::locations(&asked.answer)
        .into_iter()
        .filter_map(|found| {
            let of = uri::to_path(&found.uri)?;
            let is_own =
                of == file && found.position >= symbol.range.start && found.position < symbol.range.end;
            let place = place_in(orchestrator, &asked.client, &of, found.position);
            (!is_own).then(|| format!("{}:{}:{}", orchestrator.display(&of), place.line, place.character))
        })
        .collect();
    uses.sort();
    uses.dedup();
    if uses.is_empty() {
        return Ok(());
    }
    let n_more = uses.len().saturating_sub(MAX_USES);
    let (n_uses, places) = (uses.len(), if uses.len() == 1 { "place" } else { "places" });
    uses.truncate(MAX_USES);
    if n_more > 0 {
        uses.push(format!("... and {n_more} more (lsp_find_references lists them)"));
    }
    Err(ToolError::Unavailable(format!(
        "{} was not deleted: it is used in {n_uses} {places}: {}",
        symbol.shown(),
        uses.join(", ")
    )))
}
