//! The tools whose changes a language server works out: rename, edits of a symbol, code actions.

use chartroom_lsp::mcp::Consent;
use chartroom_lsp::{LspHandle, proposals};
use chartroom_protocol::lsp::{ProposeResponse, ProposedChange};
use chartroom_protocol::tool::{ToolAnswer, ToolSpec};
use serde_json::Value;

use super::plan::Request;
use super::{Edits, proposed};
use crate::EditError;
use crate::feedback::Checker;

/// Whoever asks language servers for changes.
pub trait Proposer: Send + Sync {
    /// Works out a change that a tool was asked for. The error says why there is no answer.
    fn propose(
        &self,
        name: &str,
        arguments: Value,
    ) -> impl Future<Output = Result<ProposeResponse, String>> + Send;
}

impl Proposer for LspHandle {
    async fn propose(&self, name: &str, arguments: Value) -> Result<ProposeResponse, String> {
        LspHandle::propose(self, name, arguments).await
    }
}

/// These tools of one workspace.
#[derive(Debug, Clone)]
pub struct SymbolEdits<C> {
    edits: Edits<C>,
}

impl<C: Checker + Proposer> SymbolEdits<C> {
    /// Returns the tools that write as `edits` do.
    pub fn new(edits: Edits<C>) -> Self {
        Self { edits }
    }

    /// Returns the tools, by name.
    pub fn all() -> &'static [ToolSpec] {
        proposals::all()
    }

    /// Calls a tool by name; nothing when there is no such tool. `consent` is asked before a file is changed that programs
    /// run by themselves.
    pub async fn call(&self, name: &str, arguments: Value, consent: &dyn Consent) -> Option<ToolAnswer> {
        if !Self::all().iter().any(|tool| tool.name == name) {
            return None;
        }
        let only_looks = proposals::only_looks(name, &arguments);
        let expected = arguments.get("previewId").and_then(Value::as_str).map(str::to_owned);
        let change = match self.edits.checker.propose(name, arguments).await {
            Ok(ProposeResponse::Change(change)) => change,
            Ok(ProposeResponse::Told { text }) => return Some(ToolAnswer::ok(text)),
            Ok(ProposeResponse::Refused { reason }) | Err(reason) => return Some(ToolAnswer::error(reason)),
        };
        let result =
            if only_looks { self.preview(change).await } else { self.make(change, expected, consent).await };
        Some(match result {
            Ok(text) => ToolAnswer::ok(text),
            Err(error) => ToolAnswer::error(error.to_string()),
        })
    }

    async fn preview(&self, change: ProposedChange) -> Result<String, EditError> {
        let root = self.edits.root.clone();
        let told = tokio::task::spawn_blocking(move || proposed::preview(&root, &change)).await;
        told.unwrap_or_else(|error| Err(EditError::Stopped(error.to_string())))
    }

    async fn make(
        &self,
        change: ProposedChange,
        expected: Option<String>,
        consent: &dyn Consent,
    ) -> Result<String, EditError> {
        match expected {
            Some(expected) if expected != proposed::id(&change) => {
                return Err(EditError::Proposal(format!(
                    "since the preview {expected} files have changed, and so would the change; look at a new preview"
                )));
            }
            None if !change.confirm.is_empty() => {
                let labels = change.confirm.join("; ");
                let preview = self.preview(change).await?;
                return Err(EditError::Proposal(format!(
                    "the language server wants it to be looked at first ({labels}).\n{preview}"
                )));
            }
            Some(_) | None => {}
        }
        self.edits.change(Request::Proposed(change), consent).await
    }
}

#[cfg(test)]
mod tests;
