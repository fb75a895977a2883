//! What we answer a server: every request gets an answer, every notification is taken in order.

use std::path::PathBuf;

use chartroom_transport::{Handler, ResponseError};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::initialize::Question;
use super::owner::Event;
use super::said;
use super::watched::FileWatcher;
use super::wire::{self, Publish};
use crate::registry::{Quirks, section};
use crate::uri;

/// The half of a client that its server talks to: what it says goes to the owner, in order.
pub(crate) struct FromServer {
    pub(super) events: mpsc::Sender<Event>,
    pub(super) settings: Value,
    pub(super) root: PathBuf,
    pub(super) quirks: Quirks,
}

impl FromServer {
    async fn tell(&self, event: Event) {
        // An owner that is gone wants to know nothing more.
        self.events.send(event).await.ok();
    }

    async fn register(&self, params: &Value) {
        for registration in params.get("registrations").and_then(Value::as_array).into_iter().flatten() {
            let method = registration.get("method").and_then(Value::as_str);
            let id = registration.get("id").and_then(Value::as_str);
            let (Some(method), Some(id)) = (method, id) else { continue };
            let registered = if method == "textDocument/diagnostic" {
                let identifier = registration.pointer("/registerOptions/identifier").and_then(Value::as_str);
                Event::Registered { id: id.to_owned(), identifier: identifier.map(str::to_owned) }
            } else if method == "workspace/didChangeWatchedFiles" {
                let options = registration.get("registerOptions").unwrap_or(&Value::Null);
                Event::Watches { id: id.to_owned(), watchers: FileWatcher::read(options) }
            } else if let Some(question) = Question::of_method(method) {
                Event::Offered { id: id.to_owned(), question }
            } else {
                continue;
            };
            self.tell(registered).await;
        }
    }

    async fn unregister(&self, params: &Value) {
        // The protocol itself has this spelling.
        let list = params.get("unregisterations").or_else(|| params.get("unregistrations"));
        for registration in list.and_then(Value::as_array).into_iter().flatten() {
            if let Some(id) = registration.get("id").and_then(Value::as_str) {
                self.tell(Event::Unregistered { id: id.to_owned() }).await;
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

    async fn publish(&self, params: Value) {
        // What it answers is better than these (see the quirks).
        if self.quirks.tsserver_requests || self.quirks.answers_pull {
            return;
        }
        let Ok(publish) = serde_json::from_value::<Publish>(params) else { return };
        let Some(file) = uri::to_path(&publish.uri) else { return };
        let findings = wire::findings(&publish.diagnostics);
        let (version, at) = (publish.version, Instant::now());
        self.tell(Event::Published { file, version, findings, at }).await;
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
                self.register(&params).await;
                Ok(Value::Null)
            }
            "client/unregisterCapability" => {
                self.unregister(&params).await;
                Ok(Value::Null)
            }
            "workspace/diagnostic/refresh" => {
                self.tell(Event::Refresh).await;
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
            "textDocument/publishDiagnostics" => self.publish(params).await,
            "$/progress" => self.tell(Event::Progress { params, at: Instant::now() }).await,
            "experimental/serverStatus" => {
                self.tell(Event::Status { params, at: Instant::now() }).await;
            }
            // Solidity's: whether it had a compiler to look with. Without one it publishes that there is nothing wrong.
            "custom/validation-job-status" => {
                let params = said::health_of_validation(&params);
                self.tell(Event::Status { params, at: Instant::now() }).await;
            }
            "window/logMessage" | "window/showMessage" => {
                let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
                tracing::debug!(target: "chartroom::language_server", "{}", wire::shorten(message));
                // Servers log without end; only what they call an error may be wanted.
                if params.get("type").and_then(Value::as_u64) == Some(said::ERROR) {
                    self.tell(Event::Message { params, at: Instant::now() }).await;
                }
            }
            _ => {}
        }
    }
}
