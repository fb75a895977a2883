//! What we answer a server: every request gets an answer, every notification is taken in order.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chartroom_transport::{Handler, ResponseError};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use super::state::State;
use super::wire::{self, Publish};
use crate::registry::{Quirks, section};
use crate::uri;

/// The half of a client that its server talks to.
pub(crate) struct FromServer {
    pub(crate) state: Arc<Mutex<State>>,
    /// Rises with every event, so that waiting collections look again.
    pub(crate) events: watch::Sender<u64>,
    pub(crate) settings: Value,
    pub(crate) root: PathBuf,
    pub(crate) quirks: Quirks,
}

impl FromServer {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        self.events.send_modify(|n_events| *n_events += 1);
    }

    fn register(&self, params: &Value) {
        for registration in params.get("registrations").and_then(Value::as_array).into_iter().flatten() {
            let method = registration.get("method").and_then(Value::as_str);
            let id = registration.get("id").and_then(Value::as_str);
            if let (Some("textDocument/diagnostic"), Some(id)) = (method, id) {
                let identifier = registration
                    .pointer("/registerOptions/identifier")
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                self.change(|state| {
                    state.pull_registrations.insert(id.to_owned(), identifier);
                });
            }
        }
    }

    fn unregister(&self, params: &Value) {
        // The protocol itself has this spelling.
        let list = params.get("unregisterations").or_else(|| params.get("unregistrations"));
        for registration in list.and_then(Value::as_array).into_iter().flatten() {
            if let Some(id) = registration.get("id").and_then(Value::as_str) {
                self.change(|state| {
                    state.pull_registrations.remove(id);
                });
            }
        }
    }

    fn configuration(&self, params: &Value) -> Value {
        let items = params.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items
            .iter()
            .map(|item| section(&self.settings, item.get("section").and_then(Value::as_str)).clone())
            .collect()
    }

    fn publish(&self, params: Value) {
        // The command's own answer is better than these (see the quirk).
        if self.quirks.tsserver_requests {
            return;
        }
        let Ok(publish) = serde_json::from_value::<Publish>(params) else { return };
        let Some(file) = uri::to_path(&publish.uri) else { return };
        let findings = wire::findings(&publish.diagnostics);
        self.change(|state| {
            if !state.publish(file, publish.version, findings, Instant::now()) {
                tracing::debug!(uri = publish.uri, version = publish.version, "an old push was dropped");
            }
        });
    }
}

impl Handler for FromServer {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        match method.as_str() {
            "workspace/configuration" => Ok(self.configuration(&params)),
            "workspace/workspaceFolders" => {
                let name =
                    self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                Ok(json!([{ "uri": uri::of_path(&self.root), "name": name }]))
            }
            "client/registerCapability" => {
                self.register(&params);
                Ok(Value::Null)
            }
            "client/unregisterCapability" => {
                self.unregister(&params);
                Ok(Value::Null)
            }
            "workspace/diagnostic/refresh" => {
                self.change(|state| state.n_refreshes += 1);
                Ok(Value::Null)
            }
            "window/workDoneProgress/create"
            | "window/showMessageRequest"
            | "workspace/semanticTokens/refresh"
            | "workspace/codeLens/refresh"
            | "workspace/inlayHint/refresh"
            | "workspace/foldingRange/refresh" => Ok(Value::Null),
            // We write files, servers do not.
            "workspace/applyEdit" => {
                Ok(json!({ "applied": false, "failureReason": "chartroom does not apply edits of a server" }))
            }
            "window/showDocument" => Ok(json!({ "success": false })),
            _ => Err(ResponseError::method_not_found(&method)),
        }
    }

    async fn notification(&self, method: String, params: Value) {
        match method.as_str() {
            "textDocument/publishDiagnostics" => self.publish(params),
            "$/progress" => {
                self.change(|state| state.progress(&params, self.quirks.check_on_save, Instant::now()))
            }
            "experimental/serverStatus" => {
                let quiescent = params.get("quiescent").and_then(Value::as_bool).unwrap_or(true);
                self.change(|state| state.not_quiescent = !quiescent);
            }
            "window/logMessage" | "window/showMessage" => {
                let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
                tracing::debug!(target: "chartroom::language_server", "{}", wire::shorten(message));
            }
            _ => {}
        }
    }
}
