//! The parent half: what the rest of Chartroom holds. Safe to call in every state; a dead service is a value.
//!
//! One service per workspace root is shared by all its users in this process and ends with the last of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use chartroom_protocol::lsp::{
    Bootstrap, CheckFileParams, CheckParams, CheckResponse, CheckScope, Diagnostic, DiagnosticsAfterParams,
    DiagnosticsResponse, FileText, LspConfig, LspSetting, LspStatusResponse, RestartParams, ServerStatus,
    methods,
};
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::watch;

use crate::metrics;
use crate::render;
use crate::tools::ToolAnswer;

mod connection;

use connection::Connection;

/// What a caller waits beyond the service's own deadline before it gives up on the service.
const SLACK: Duration = Duration::from_secs(5);

/// How services are started: everything that a pool needs once.
#[derive(Clone)]
pub struct ServiceOptions {
    pub gate: SpawnGate,
    pub setting: LspSetting,
    /// Where the trust store is.
    pub data_dir: PathBuf,
    /// Our own program and what makes it the service, e.g. `["lsp-service"]`.
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

/// The services of this process, one per root.
#[derive(Clone)]
pub struct ServicePool {
    options: Arc<ServiceOptions>,
    services: Arc<Mutex<BTreeMap<CanonicalRoot, Weak<Shared>>>>,
}

impl ServicePool {
    pub fn new(options: ServiceOptions) -> Self {
        Self { options: Arc::new(options), services: Arc::default() }
    }

    /// The user's setting that every service gets.
    pub fn setting(&self) -> &LspSetting {
        &self.options.setting
    }

    /// Returns a handle to the root's service. Nothing is started yet.
    pub fn service(&self, root: &CanonicalRoot) -> LspHandle {
        let mut services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.retain(|_, service| service.strong_count() > 0);
        if let Some(shared) = services.get(root).and_then(Weak::upgrade) {
            return LspHandle { shared };
        }
        let shared = Arc::new(Shared {
            root: root.clone(),
            options: self.options.clone(),
            state: watch::Sender::new(State::NeverStarted),
            starting: tokio::sync::Mutex::default(),
        });
        services.insert(root.clone(), Arc::downgrade(&shared));
        LspHandle { shared }
    }

    /// Returns the handles of all services that somebody holds, by root.
    pub fn all(&self) -> Vec<LspHandle> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.values().filter_map(Weak::upgrade).map(|shared| LspHandle { shared }).collect()
    }
}

/// A handle to the language service of one root. Cheap to clone; the service ends with the last one.
#[derive(Clone)]
pub struct LspHandle {
    shared: Arc<Shared>,
}

struct Shared {
    root: CanonicalRoot,
    options: Arc<ServiceOptions>,
    state: watch::Sender<State>,
    /// Held while the service starts, so that it starts once.
    starting: tokio::sync::Mutex<()>,
}

/// Dead is for good: only an explicit restart by the user begins anew.
#[derive(Clone)]
enum State {
    NeverStarted,
    Alive(Arc<Connection>),
    Dead(String),
}

impl LspHandle {
    pub fn root(&self) -> &CanonicalRoot {
        &self.shared.root
    }

    /// The config, unless the service is switched off.
    pub fn config(&self) -> Option<&LspConfig> {
        self.shared.options.setting.enabled()
    }

    /// Tells whether the service runs.
    pub fn is_alive(&self) -> bool {
        matches!(&*self.shared.state.borrow(), State::Alive(connection) if !connection.is_closed())
    }

    /// Starts the service if it never was. Returns whether it is alive.
    pub async fn start(&self) -> bool {
        self.connection().await.is_some()
    }

    /// Returns the single line that says why there is no service, or nothing when there is one.
    pub fn unavailable(&self) -> Option<String> {
        if self.config().is_none() {
            return Some(render::DISABLED.to_owned());
        }
        match &*self.shared.state.borrow() {
            State::Dead(reason) => Some(render::unavailable(reason)),
            State::Alive(connection) => connection.why_closed().map(|reason| render::unavailable(&reason)),
            State::NeverStarted => None,
        }
    }

    /// Checks one file; nothing when there is no service.
    pub async fn check_file(&self, file: &str, text: Option<String>) -> Vec<Diagnostic> {
        let params = CheckFileParams { file_path: file.to_owned(), text };
        self.ask(methods::CHECK_FILE, &params, self.patience()).await.unwrap_or_default()
    }

    /// Checks files under one deadline; nothing when there is no service.
    pub async fn check(&self, params: &CheckParams) -> Option<CheckResponse> {
        self.ask(methods::CHECK, params, self.patience()).await
    }

    /// Checks files as they are on the disk.
    pub async fn check_paths(&self, files: Vec<String>, scope: CheckScope) -> Option<CheckResponse> {
        let files = files.into_iter().map(|file_path| FileText { file_path, text: None }).collect();
        self.check(&CheckParams { files, scope, removed: Vec::new() }).await
    }

    /// Every known diagnostic; nothing when there is no service.
    pub async fn all_diagnostics(&self) -> DiagnosticsResponse {
        self.ask(methods::DIAGNOSTICS, &Value::Null, SLACK).await.unwrap_or_default()
    }

    /// Every known diagnostic, once the epoch has passed `after`.
    pub async fn all_diagnostics_after(&self, after: u64, wait: Duration) -> DiagnosticsResponse {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let params = DiagnosticsAfterParams { after_epoch: after, wait_ms };
        self.ask(methods::DIAGNOSTICS_AFTER, &params, wait.saturating_add(SLACK)).await.unwrap_or_default()
    }

    /// The service's own count of checks; it is not mirrored here. 0 when there is no service.
    pub async fn diagnostic_epoch(&self) -> u64 {
        self.ask(methods::GET_DIAGNOSTIC_EPOCH, &Value::Null, SLACK).await.unwrap_or_default()
    }

    /// Every server, or why there is no service.
    pub async fn status(&self) -> LspStatusResponse {
        let servers: Option<Vec<ServerStatus>> = self.ask(methods::STATUS, &Value::Null, SLACK).await;
        LspStatusResponse {
            root: self.shared.root.to_string(),
            unavailable: match &servers {
                Some(_) => None,
                None => {
                    self.unavailable().or_else(|| Some(render::unavailable("the service does not answer")))
                }
            },
            servers: servers.unwrap_or_default(),
        }
    }

    /// The service's counters, if it runs; it is not started for them.
    pub async fn metrics(&self) -> Option<metrics::Snapshot> {
        if !self.is_alive() {
            return None;
        }
        self.ask(methods::METRICS, &Value::Null, SLACK).await
    }

    /// Restarts one server or all, by the user's own act. A dead service starts anew.
    pub async fn restart(&self, id: Option<&str>) -> bool {
        self.shared.state.send_if_modified(|state| {
            let dead = match state {
                State::Dead(_) => true,
                State::Alive(connection) => connection.is_closed(),
                State::NeverStarted => false,
            };
            if dead {
                *state = State::NeverStarted;
            }
            dead
        });
        let params = RestartParams { id: id.map(str::to_owned) };
        self.ask::<usize>(methods::RESTART, &params, Duration::from_secs(30)).await.is_some()
    }

    /// Tells whether the navigation tools are there: the service runs and they are not switched off.
    pub async fn has_tools(&self) -> bool {
        self.config().is_some_and(|config| config.navigation_tools) && self.start().await
    }

    /// Calls a tool of the service over MCP.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> ToolAnswer {
        let Some(connection) = self.connection().await else {
            let why = self.unavailable().unwrap_or_else(|| render::unavailable("it is not running"));
            return ToolAnswer::error(why);
        };
        connection.call_tool(name, arguments, self.patience()).await
    }

    /// Ends the service: asks, waits a moment, kills. It is dead then.
    pub async fn shutdown(&self) {
        let connection = match &*self.shared.state.borrow() {
            State::Alive(connection) => Some(connection.clone()),
            State::NeverStarted | State::Dead(_) => None,
        };
        self.shared.state.send_replace(State::Dead("it was shut down".to_owned()));
        if let Some(connection) = connection {
            connection.shutdown().await;
        }
    }

    /// How long a check may take at the most: the longer of the service's own deadlines, and some slack.
    fn patience(&self) -> Duration {
        let config = self.config().cloned().unwrap_or_default();
        Duration::from_millis(config.first_touch_timeout.max(config.diagnostic_timeout)).saturating_add(SLACK)
    }

    /// Asks the service; whatever goes wrong is nothing, and a line in the debug log.
    async fn ask<T: DeserializeOwned>(
        &self,
        method: &str,
        params: &impl Serialize,
        patience: Duration,
    ) -> Option<T> {
        let connection = self.connection().await?;
        let answer = connection.ask(method, params, patience).await;
        match answer.and_then(|value| serde_json::from_value(value).map_err(|error| error.to_string())) {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::debug!(method, error, "the language service did not answer");
                None
            }
        }
    }

    /// Returns the connection, starting the service if it never was; nothing when it is dead or off.
    async fn connection(&self) -> Option<Arc<Connection>> {
        let config = self.config()?;
        let _turn = self.shared.starting.lock().await;
        if let State::Alive(connection) = &*self.shared.state.borrow()
            && !connection.is_closed()
        {
            return Some(connection.clone());
        }
        if !self.is_start_due() {
            return None;
        }
        let bootstrap = Bootstrap {
            workspace_root: self.shared.root.to_string(),
            config: config.clone(),
            data_dir: self.shared.options.data_dir.to_string_lossy().into_owned(),
        };
        match Connection::start(&self.shared.options, &self.shared.root, &bootstrap).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                self.shared.state.send_replace(State::Alive(connection.clone()));
                Some(connection)
            }
            Err(reason) => {
                tracing::debug!(root = %self.shared.root, reason, "the language service did not start");
                self.shared.state.send_replace(State::Dead(reason));
                None
            }
        }
    }

    /// Makes a closed connection a death; true only for a service that never was.
    fn is_start_due(&self) -> bool {
        let reason = match &*self.shared.state.borrow() {
            State::NeverStarted => return true,
            State::Dead(_) => return false,
            State::Alive(connection) => connection.why_closed(),
        };
        let reason = reason.unwrap_or_else(|| "it closed its connection".to_owned());
        tracing::debug!(root = %self.shared.root, reason, "the language service died");
        self.shared.state.send_replace(State::Dead(reason));
        false
    }
}
