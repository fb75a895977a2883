//! `lsp_diagnostics`: every known diagnostic, and how far each server can be believed.

use chartroom_protocol::lsp::{Freshness, ServerState, ServerStatus};

use super::places::joined;
use super::{Nothing, ToolAnswer, ToolSpec, schema};
use crate::orchestrator::{Orchestrator, ToolError};
use crate::render::escape;

pub(super) const NAME: &str = "lsp_diagnostics";

pub(super) fn spec() -> ToolSpec {
    ToolSpec::reading(
        NAME,
        "List the diagnostics of all files that are known to have some, and say per language server whether that is current.",
        schema::<Nothing>(),
    )
}

pub(super) async fn call(orchestrator: &Orchestrator, _: Nothing) -> Result<ToolAnswer, ToolError> {
    orchestrator.refresh_known().await;
    let mut lines = Vec::new();
    for (file, diagnostics) in orchestrator.diagnostics() {
        for diagnostic in diagnostics {
            let message = escape(&diagnostic.message);
            lines.push(format!("{file}:{}:{} {message}", diagnostic.line, diagnostic.character));
        }
    }
    let mut text = if lines.is_empty() { "No diagnostics".to_owned() } else { joined(lines) };
    for status in orchestrator.status() {
        if let Some(line) = doubt_about(&status) {
            text.push('\n');
            text.push_str(&line);
        }
    }
    Ok(ToolAnswer::ok(text))
}

/// Says how far a server that matters here can be believed.
fn doubt_about(status: &ServerStatus) -> Option<String> {
    let id = &status.id;
    let reason = status.reason.as_deref().unwrap_or_default();
    let hint = status.hint.as_deref().map(|hint| format!(" (try: {hint})")).unwrap_or_default();
    match (status.status, status.freshness) {
        (ServerState::Active, Some(Freshness::Current) | None) => Some(format!("[{id}: current]")),
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
