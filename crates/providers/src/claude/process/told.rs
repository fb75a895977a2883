//! What hooks have told the agent about errors, until the result of the tool that it belongs to comes by.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use chartroom_protocol::ids::CallId;
use chartroom_protocol::lsp::ToldDiagnostics;
use serde_json::Value;

use crate::json::{optional_text, text};

/// Shared by those who answer hooks and the task that reads the results.
#[derive(Debug, Clone, Default)]
pub(super) struct Told(Arc<Mutex<BTreeMap<CallId, ToldDiagnostics>>>);

impl Told {
    /// Notes what an answer to a hook tells. Before the answer is written: the CLI prints the tool's result after it.
    pub(super) fn note(&self, request: &Value, response: &Value) {
        let context = optional_text(response, "/hookSpecificOutput/additionalContext");
        if let Some(told) = context.and_then(ToldDiagnostics::read) {
            let call_id = CallId::from(text(request, "/tool_use_id"));
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(call_id, told);
        }
    }

    /// Takes everything that was noted.
    pub(super) fn take(&self) -> BTreeMap<CallId, ToldDiagnostics> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
