//! `lsp_diagnostics`: every known diagnostic and how far each server can be believed, or those of a folder, looked at now.

use chartroom_protocol::lsp::{Diagnostic, Freshness, ServerState, ServerStatus};
use schemars::JsonSchema;
use serde::Deserialize;

use super::places::joined;
use super::{ToolAnswer, ToolSpec, schema};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::render::escape;

mod folder;

pub(super) use folder::FOLDER_LIMIT;

pub(super) const NAME: &str = "lsp_diagnostics";

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Params {
    /// A folder or file to check now, absolute or relative to the workspace root.
    #[serde(default)]
    path: Option<String>,
}

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "List the diagnostics of all files that are known to have some, and say per language server whether that is current. With a path: check the files of that folder now.",
        schema::<Params>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, params: Params) -> Result<ToolAnswer, ToolError> {
    match params.path {
        Some(path) => folder::check(orchestrator, &path).await,
        None => Ok(known(orchestrator).await),
    }
}

async fn known(orchestrator: &Orchestrator) -> ToolAnswer {
    orchestrator.refresh_known().await;
    let mut lines = Vec::new();
    for diagnostics in orchestrator.diagnostics().values() {
        lines.extend(diagnostics.iter().map(line));
    }
    let mut text = if lines.is_empty() { "No diagnostics".to_owned() } else { joined(lines) };
    for status in orchestrator.status() {
        if let Some(line) = doubt_about(&status) {
            text.push('\n');
            text.push_str(&line);
        }
    }
    ToolAnswer::ok(text)
}

fn line(diagnostic: &Diagnostic) -> String {
    let Diagnostic { file, line, character, message, .. } = diagnostic;
    format!("{file}:{line}:{character} {}", escape(message))
}

/// Says how far a server that matters here can be believed.
fn doubt_about(status: &ServerStatus) -> Option<String> {
    let id = &status.id;
    let reason = status.reason.as_deref().unwrap_or_default();
    let hint = status.hint.as_deref().map(|hint| format!(" (try: {hint})")).unwrap_or_default();
    match (status.status, status.freshness) {
        (ServerState::Active, Some(Freshness::Current) | None) if !reason.is_empty() => {
            Some(format!("[{id}: current; it says: {}]", escape(reason)))
        }
        (ServerState::Active, Some(Freshness::Current) | None) => Some(format!("[{id}: current]")),
        (ServerState::Active, Some(Freshness::Failed)) => {
            Some(format!("[{id}: cannot load the project: {}]", escape(reason)))
        }
        (ServerState::Active, Some(Freshness::Loading)) => Some(format!("[{id}: still loading, {reason}]")),
        (ServerState::Active, Some(Freshness::TimedOut)) => Some(format!("[{id}: the last check timed out]")),
        (ServerState::Starting, _) => Some(format!("[{id}: starting]")),
        (ServerState::Broken, _) => Some(format!("[{id}: broken, {reason}{hint}]")),
        // The others were not needed for any file so far.
        (
            ServerState::Disabled | ServerState::Unavailable | ServerState::Idle | ServerState::Untrusted,
            _,
        ) => None,
    }
}
