//! `code_actions`: what the servers offer to mend or to rework a line. One is made only when it is named by its id.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::lsp::{CheckScope, ProposeResponse, ProposedChange, Severity, fingerprint};
use chartroom_protocol::tool::ToolSpec;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout_at;

use super::workspace_edit;
use crate::client::{Client, Question, wire};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::position::{Place, nth_line, to_position};
use crate::{tools, uri};

pub(super) const NAME: &str = "code_actions";

/// More would only fill the model's window.
const MAX_LISTED: usize = 20;
/// How much of its fingerprint an action's id is.
const ID_LENGTH: usize = 6;

/// A line, and what to do there.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// Path of the file, absolute or relative to the workspace root.
    file_path: String,
    /// Line number, from 1.
    line: u32,
    /// Only this kind, e.g. `quickfix`, `refactor`, `source.organizeImports`.
    #[serde(default)]
    kind: Option<String>,
    /// The id of a listed action to apply.
    #[serde(default)]
    apply: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::changing(
        NAME,
        "List the fixes and refactorings that the language servers offer for a line, each with an id; or apply the one whose id is given, with the same arguments. Errors that the change brings are listed after it.",
        tools::schema::<Params>(),
    )
}

/// An action that a server offers.
struct Offer {
    id: String,
    client: Arc<Client>,
    action: Value,
}

impl Offer {
    fn title(&self) -> String {
        wire::shorten(self.action.get("title").and_then(Value::as_str).unwrap_or_default())
    }

    fn kind(&self) -> &str {
        self.action.get("kind").and_then(Value::as_str).unwrap_or("action")
    }

    /// A command without an edit is something that the server would do, not we.
    fn is_command(&self) -> bool {
        self.action.get("command").is_some()
            && self.action.get("edit").is_none()
            && self.action.get("data").is_none()
    }

    fn line(&self) -> String {
        let preferred = self.action.get("isPreferred").and_then(Value::as_bool).unwrap_or(false);
        let mark = if self.is_command() {
            " (cannot be applied here: a command of the server)"
        } else if preferred {
            " (preferred)"
        } else {
            ""
        };
        format!("[{}] {}: {}{mark}", self.id, self.kind(), self.title())
    }
}

pub(super) async fn propose(
    orchestrator: &Orchestrator,
    params: Params,
) -> Result<ProposeResponse, ToolError> {
    let (file, _) = orchestrator.source_file(&params.file_path)?;
    let offers = offers(orchestrator, &file, &params).await?;
    let Some(id) = &params.apply else {
        return Ok(ProposeResponse::Told { text: listed(&offers, params.line) });
    };
    let Some(offer) = offers.iter().find(|offer| offer.id == *id) else {
        return Err(ToolError::InvalidArguments(format!(
            "there is no action {id} for line {} now; {}",
            params.line,
            listed(&offers, params.line)
        )));
    };
    let edit = edit_of(orchestrator, offer).await?;
    let title = offer.title();
    let read = workspace_edit::read(orchestrator, &offer.client, &edit)
        .map_err(|why| ToolError::Unavailable(format!("`{title}` was not applied: {why}")))?;
    if read.steps.is_empty() {
        return Err(ToolError::Unavailable(format!("`{title}` would change nothing")));
    }
    let title = format!("Applied `{title}`");
    let (steps, confirm) = (read.steps, read.confirm);
    Ok(ProposeResponse::Change(ProposedChange { title, steps, confirm, scope: CheckScope::Files }))
}

fn listed(offers: &[Offer], line: u32) -> String {
    if offers.is_empty() {
        return format!("No actions for line {line}");
    }
    let mut lines: Vec<String> = offers.iter().take(MAX_LISTED).map(Offer::line).collect();
    let n_more = offers.len().saturating_sub(MAX_LISTED);
    if n_more > 0 {
        lines.push(format!("... and {n_more} more; give a `kind` to see them"));
    }
    lines.join("\n")
}

/// Asks every server of the file; it is checked first, so that they are asked about what is there now.
async fn offers(orchestrator: &Orchestrator, file: &Path, params: &Params) -> Result<Vec<Offer>, ToolError> {
    orchestrator.check_file(&file.to_string_lossy(), None).await;
    let (clients, reasons) = orchestrator.clients_of(file, Question::CodeActions).await;
    if clients.is_empty() {
        let reasons = if reasons.is_empty() {
            vec!["no language server knows this kind of file".to_owned()]
        } else {
            reasons
        };
        return Err(ToolError::Unavailable(format!(
            "the list of actions is not available: {}",
            reasons.join("; ")
        )));
    }
    let mut offers = Vec::new();
    let mut n_same: BTreeMap<String, usize> = BTreeMap::new();
    for client in clients {
        let question = question(&client, file, params)?;
        let deadline = orchestrator.deadline(false);
        let asked = orchestrator
            .ask_until_loaded(client.clone(), Question::CodeActions.method(), |_| question.clone(), deadline)
            .await?;
        for action in asked.answer.as_array().into_iter().flatten() {
            let kind = action.get("kind").and_then(Value::as_str).unwrap_or_default();
            let is_wanted = params.kind.as_deref().is_none_or(|wanted| kind.starts_with(wanted));
            if action.get("disabled").is_some() || !is_wanted {
                continue;
            }
            let title = action.get("title").and_then(Value::as_str).unwrap_or_default();
            let named = format!("{}\n{kind}\n{title}", client.server.id);
            let n = n_same.entry(named.clone()).or_default();
            *n += 1;
            let mut id = fingerprint(&format!("{named}\n{n}"));
            id.truncate(ID_LENGTH);
            offers.push(Offer { id, client: client.clone(), action: action.clone() });
        }
    }
    Ok(offers)
}

/// The whole line, with what this server has found on it.
fn question(client: &Client, file: &Path, params: &Params) -> Result<Value, ToolError> {
    let line = params.line.checked_sub(1);
    let text = client.text(file).unwrap_or_default();
    let content = line.and_then(|line| nth_line(&text, line));
    let (Some(line), Some(content)) = (line, content) else {
        return Err(ToolError::InvalidArguments(format!(
            "{} has no line {}; lines count from 1",
            params.file_path, params.line
        )));
    };
    let n_characters = u32::try_from(content.chars().count()).unwrap_or(u32::MAX);
    let encoding = client.capabilities.encoding;
    let at = |character: u32| to_position(Place { line: params.line, character }, encoding, &text);
    let n_indented = content.chars().take_while(|c| c.is_whitespace()).count();
    let first = u32::try_from(n_indented).unwrap_or(0).saturating_add(1);
    let diagnostics: Vec<Value> = client
        .held(file)
        .into_iter()
        .filter(|finding| (finding.range.start.line..=finding.range.end.line).contains(&line))
        .map(|finding| {
            let severity = match finding.severity {
                Severity::Error => 1,
                Severity::Warning => 2,
                Severity::Info => 3,
                Severity::Hint => 4,
            };
            json!({ "range": finding.range, "severity": severity, "message": finding.message, "code": finding.code, "source": finding.source })
        })
        .collect();
    let mut context = json!({ "diagnostics": diagnostics, "triggerKind": 1 });
    if let Some(kind) = &params.kind {
        context["only"] = json!([kind]);
    }
    let range = json!({ "start": at(first), "end": at(n_characters.saturating_add(1)) });
    Ok(json!({ "textDocument": { "uri": uri::of_path(file) }, "range": range, "context": context }))
}

/// Returns the edit of an action; some work it out only when they are asked.
async fn edit_of(orchestrator: &Orchestrator, offer: &Offer) -> Result<Value, ToolError> {
    let no_edit = || {
        let (title, id) = (offer.title(), &offer.client.server.id);
        ToolError::Unavailable(format!(
            "`{title}` is a command that {id} would run by itself; commands of servers are not run here"
        ))
    };
    if let Some(edit) = offer.action.get("edit").filter(|edit| !edit.is_null()) {
        return Ok(edit.clone());
    }
    if offer.is_command() {
        return Err(no_edit());
    }
    let deadline = orchestrator.deadline(false);
    let resolved = offer.client.ask("codeAction/resolve", offer.action.clone(), deadline);
    match timeout_at(deadline, resolved).await {
        Ok(Ok(resolved)) => resolved.get("edit").filter(|edit| !edit.is_null()).cloned().ok_or_else(no_edit),
        Ok(Err(error)) => {
            let reason = offer.client.gone().unwrap_or_else(|| error.to_string());
            Err(ToolError::Unavailable(format!("`{}` was not applied: {reason}", offer.title())))
        }
        Err(_elapsed) => {
            let id = &offer.client.server.id;
            Err(ToolError::Unavailable(format!(
                "`{}` was not applied: {id} did not answer in time",
                offer.title()
            )))
        }
    }
}
