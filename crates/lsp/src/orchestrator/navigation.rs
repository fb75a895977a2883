//! Questions about code: the right server for a file, asked when it is ready, and never an empty list for "not yet".

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::lsp::ServerState;
use chartroom_transport::RpcError;
use chartroom_workspace::limits::CHECKED_FILE;
use chartroom_workspace::{boundary, walk};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Orchestrator;
use super::choice::whole;
use super::slot::NoClient;
use crate::client::{Client, Question, is_overtaken, wire};
use crate::content;
use crate::registry::When;
use crate::render::escape;

/// What a server answers from an index of the whole project.
const OF_ALL_FILES: [&str; 5] = [
    "textDocument/references",
    "workspace/symbol",
    "textDocument/implementation",
    "textDocument/prepareCallHierarchy",
    "textDocument/rename",
];
/// What waiting for an index leaves of the deadline.
const INDEX_LEAVES: Duration = Duration::from_millis(500);

/// How long a server that was interrupted is left alone before it is asked again.
const AGAIN: Duration = Duration::from_millis(50);

/// An answer, and who gave it.
pub(crate) struct Asked {
    pub(crate) client: Arc<Client>,
    pub(crate) answer: Value,
    /// The server has not looked at the whole project yet, so that there may be more.
    pub(crate) is_partial: bool,
}

impl Asked {
    /// Adds that there may be more, where there may.
    pub(crate) fn mark(&self, text: String) -> String {
        if !self.is_partial {
            return text;
        }
        format!(
            "{text}\n[{} is still indexing the project: there may be more; ask again in a moment]",
            self.client.server.id
        )
    }
}

/// Why a tool gives no answer; one sentence for the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ToolError {
    /// The call has to be corrected: asking again would not help.
    #[error("{0}")]
    InvalidArguments(String),
    /// No server can answer now.
    #[error("{0}")]
    Unavailable(String),
}

impl Orchestrator {
    /// Resolves a tool's path: inside the workspace, source, a readable text.
    pub(crate) fn source_file(&self, path: &str) -> Result<(PathBuf, Arc<str>), ToolError> {
        let file = boundary::inside_source(&self.root, Path::new(path)).map_err(|error| {
            ToolError::InvalidArguments(format!("File is outside workspace boundary: {error}"))
        })?;
        let text = content::read_inside(&file)
            .map_err(|reason| ToolError::InvalidArguments(format!("{path}: {reason}")))?;
        Ok((file.name(), text))
    }

    /// Returns the files at or below a place that a server knows, by path: those that nobody has asked to ignore.
    pub(crate) async fn checkable_below(&self, place: &Path) -> Vec<PathBuf> {
        let (root, below) = (self.root.clone(), place.to_owned());
        // A large folder takes a while to walk; nobody else waits for it.
        let walked = tokio::task::spawn_blocking(move || {
            if below.is_file() {
                return vec![below];
            }
            let options = walk::WalkOptions { max_file_size: Some(CHECKED_FILE), ..Default::default() };
            let files = walk::files(&root, &options).filter_map(|event| match event {
                walk::WalkEvent::File(file) => Some(file.path),
                _ => None,
            });
            files.filter(|file| file.starts_with(&below)).collect::<Vec<_>>()
        });
        let mut files = walked.await.unwrap_or_default();
        files.retain(|file| !self.servers_of(file).is_empty());
        files
    }

    /// Returns a path for people: relative inside the workspace, absolute outside.
    pub(crate) fn display(&self, file: &Path) -> String {
        self.root.relative(file).unwrap_or(file).to_string_lossy().into_owned()
    }

    /// Starts a server for the project of the first file that it would serve, and waits a moment until it is there. False when
    /// there is no such server; what keeps one from starting is in its status.
    pub async fn start(&self, id: &str) -> bool {
        let Some(server) = self.registry.get(id).filter(|server| server.enabled) else { return false };
        let files = self.checkable_below(self.root.as_path()).await;
        let of_file = |file: &PathBuf| {
            self.servers_of(file).into_iter().find(|(server, _)| server.id == id).map(|(_, project)| project)
        };
        let project = files.iter().find_map(of_file).unwrap_or_else(|| whole(self.root.as_path()));
        if let Ok(slot) = self.slot(server, &project) {
            drop(slot.ready(self.deadline(true)).await);
        }
        true
    }

    /// Asks the server of a file that can answer this. Waits for its start within the deadline of a first touch.
    pub(crate) async fn ask_about(
        &self,
        file: &Path,
        what: &str,
        question: Question,
        params: impl Fn(&Client) -> Value,
    ) -> Result<Asked, ToolError> {
        let mut reasons = Vec::new();
        let mut servers = self.servers_of(file);
        // Linters last: they cannot answer, and need not be started for a question.
        servers.sort_by_key(|(server, _)| server.when == When::InMarkedProject);
        for (server, project) in servers {
            let slot = match self.slot(server, &project) {
                Ok(slot) => slot,
                Err(absent) => {
                    reasons.push(explain(&server.id, &absent.reason, absent.hint.as_deref()));
                    continue;
                }
            };
            let deadline = self.deadline(slot.is_first_touch());
            match slot.ready(deadline).await {
                Err(NoClient::Starting) => {
                    reasons.push(format!("{} is still starting; ask again in a moment", server.id));
                }
                Err(NoClient::Absent(absent)) => {
                    reasons.push(explain(&server.id, &absent.reason, absent.hint.as_deref()));
                }
                Ok(client) if client.will_answer(question, deadline).await => {
                    return self.ask_client(client, file, question.method(), &params, deadline).await;
                }
                Ok(_) => reasons.push(format!("{} cannot answer this", server.id)),
            }
        }
        if reasons.is_empty() {
            reasons.push("no language server knows this kind of file".to_owned());
        }
        Err(ToolError::Unavailable(format!("{what} is not available: {}", reasons.join("; "))))
    }

    /// Returns the servers of a file that can answer this, started and with the file open, and why the others cannot.
    pub(crate) async fn clients_of(
        &self,
        file: &Path,
        question: Question,
    ) -> (Vec<Arc<Client>>, Vec<String>) {
        let (mut clients, mut reasons) = (Vec::new(), Vec::new());
        for (server, project) in self.servers_of(file) {
            let ready = match self.slot(server, &project) {
                Ok(slot) => slot.ready(self.deadline(slot.is_first_touch())).await,
                Err(absent) => Err(NoClient::Absent(absent)),
            };
            match ready {
                Err(NoClient::Starting) => {
                    reasons.push(format!("{} is still starting; ask again in a moment", server.id));
                }
                Err(NoClient::Absent(absent)) => {
                    reasons.push(explain(&server.id, &absent.reason, absent.hint.as_deref()));
                }
                Ok(client) if client.will_answer(question, self.deadline(false)).await => {
                    clients.push(client)
                }
                Ok(_) => reasons.push(format!("{} cannot answer this", server.id)),
            }
        }
        (clients, reasons)
    }

    async fn ask_client(
        &self,
        client: Arc<Client>,
        file: &Path,
        method: &str,
        params: impl Fn(&Client) -> Value,
        deadline: Instant,
    ) -> Result<Asked, ToolError> {
        let prepared = timeout_at(deadline, async {
            self.sweep().await;
            client.send_disk_changes().await?;
            client.open_from_disk(file).await
        });
        let id = client.server.id.clone();
        match prepared.await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return Err(ToolError::Unavailable(format!("{id} is not available: {error}"))),
            Err(_elapsed) => {
                return Err(ToolError::Unavailable(format!("{id} did not take the file in time; ask again")));
            }
        }
        self.ask_until_loaded(client, method, params, deadline).await
    }

    /// Asks until the answer is not empty, or the server has loaded the project, or the time is up.
    pub(crate) async fn ask_until_loaded(
        &self,
        client: Arc<Client>,
        method: &str,
        params: impl Fn(&Client) -> Value,
        deadline: Instant,
    ) -> Result<Asked, ToolError> {
        let id = client.server.id.clone();
        let is_of_all = OF_ALL_FILES.contains(&method);
        // A part of the deadline is left for the answer itself.
        let is_partial = is_of_all && !client.indexed(deadline - INDEX_LEAVES).await;
        loop {
            let was_loading = client.is_loading();
            let answer = match client.ask(method, params(&client), deadline).await {
                Ok(answer) => answer,
                // It is taking something in, and says nothing when it has.
                Err(error) if is_overtaken(&error) && Instant::now() + AGAIN < deadline => {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                // Some refuse what they do not know yet.
                Err(RpcError::Response(_)) if was_loading && client.loaded(deadline).await => continue,
                Err(error) => {
                    let reason = client.gone().unwrap_or_else(|| match (&error, client.activity().0) {
                        (RpcError::Response(refusal), _) => {
                            format!("{id} refuses: {}", wire::shorten(&refusal.message))
                        }
                        (_, Some(activity)) => format!("{id} is busy ({activity}); ask again in a moment"),
                        (_, None) => format!("{id} did not answer: {error}"),
                    });
                    return Err(ToolError::Unavailable(reason));
                }
            };
            if is_empty(&answer)
                && let Some(error) = client.load_error()
            {
                let error = escape(&error);
                return Err(ToolError::Unavailable(format!("{id} cannot load the project: {error}")));
            }
            if !is_empty(&answer) || !was_loading {
                return Ok(Asked { client, answer, is_partial });
            }
            if !client.loaded(deadline).await {
                let activity = client.activity().0.unwrap_or_else(|| "loading".to_owned());
                return Err(ToolError::Unavailable(format!(
                    "{id} is still loading the project ({activity}), so an empty answer would mean nothing; \
                     ask again in a moment"
                )));
            }
        }
    }

    /// Returns the running clients that can answer about the whole workspace; starts none.
    pub(crate) fn running(&self, question: Question) -> Vec<Arc<Client>> {
        self.clients().into_iter().filter(|client| client.answers(question)).collect()
    }

    /// Waits for servers that are just starting, within the deadline.
    pub(crate) async fn started(&self) {
        let slots: Vec<_> = self.slots().values().cloned().collect();
        let deadline = self.deadline(true);
        futures_util::future::join_all(slots.iter().map(|slot| slot.ready(deadline))).await;
    }

    pub(crate) fn deadline(&self, first_touch: bool) -> Instant {
        let ms = if first_touch { self.config.first_touch_timeout } else { self.config.diagnostic_timeout };
        Instant::now() + Duration::from_millis(ms)
    }

    /// Says in one line per server why none of them can answer, for tools that need one running.
    pub(crate) fn why_none_runs(&self) -> String {
        let broken: Vec<String> = self
            .status()
            .into_iter()
            .filter(|status| matches!(status.status, ServerState::Broken | ServerState::Starting))
            .map(|status| explain(&status.id, &status.reason.unwrap_or_default(), status.hint.as_deref()))
            .collect();
        if broken.is_empty() {
            "no language server is running yet: it starts with the first file that is checked or asked about \
             (lsp_check, lsp_document_symbols)"
                .to_owned()
        } else {
            broken.join("; ")
        }
    }
}

/// One server's reason, and what mends it.
pub(crate) fn explain(id: &str, reason: &str, hint: Option<&str>) -> String {
    let reason = if reason.starts_with(id) { reason.to_owned() } else { format!("{id}: {reason}") };
    match hint {
        Some(hint) => format!("{reason} (try: {hint})"),
        None => reason,
    }
}

/// Tells whether a server's answer holds nothing.
fn is_empty(answer: &Value) -> bool {
    match answer {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
