//! The parent half: what the rest of Chartroom holds. Safe to call in every state; a dead service is a value.
//!
//! One service per workspace root is shared by all its users, in this process and in the user's others (`link`).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use chartroom_protocol::lsp::{
    CallToolAnswer, CallToolParams, CheckFileParams, CheckParams, CheckResponse, Diagnostic,
    DiagnosticsAfterParams, DiagnosticsResponse, LspConfig, LspMetrics, LspSetting, LspStatusResponse,
    ProposeResponse, RestartParams, ServerStatus, methods,
};
use chartroom_protocol::tool::ToolAnswer;
use chartroom_transport::ResponseError;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{render, tools};

mod connection;
mod host;
mod link;
mod place;
mod remote;

use link::{Link, Shared, State};
use remote::RequestError;

/// What a caller waits beyond the service's own deadline before it gives up on the service.
const SLACK: Duration = Duration::from_secs(5);
/// How many questions of a server a proposed change takes.
const PROPOSAL_QUESTIONS: u32 = 4;
/// What the service's answer at its own deadline may take to reach us.
const ANSWER_ON_ITS_WAY: Duration = Duration::from_millis(250);
/// How long a restart may take.
const RESTART_LIMIT: Duration = Duration::from_secs(30);
/// What a host waits for its service when a guest asks; the guest itself gives up earlier, and then the host does too.
const GUEST_LIMIT: Duration = Duration::from_secs(600);
/// How many hosts are asked one after the other: each may end in mid-answer.
const HOSTS: usize = 4;

/// The error of a host whose service is dead or off; the message says why.
const UNAVAILABLE: i64 = -32_001;

/// How services are started: everything that a pool needs once.
#[derive(Clone)]
pub struct ServiceOptions {
    /// What every process is started through.
    pub gate: SpawnGate,
    /// The user's `lsp` setting.
    pub setting: LspSetting,
    /// Where the trust store is.
    pub data_dir: PathBuf,
    /// Our own program and what makes it the service, e.g. `["lsp-service"]`.
    pub program: PathBuf,
    /// What makes our program the service.
    pub args: Vec<OsString>,
}

/// The services that this process uses, one per root.
#[derive(Clone)]
pub struct ServicePool {
    options: Arc<ServiceOptions>,
    services: Arc<Mutex<BTreeMap<CanonicalRoot, Weak<Shared>>>>,
}

impl ServicePool {
    /// Returns a pool; no service is started yet.
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
        let shared = Arc::new(Shared::new(root.clone(), self.options.clone()));
        services.insert(root.clone(), Arc::downgrade(&shared));
        LspHandle { shared }
    }

    /// Returns the handles of all services that somebody holds, by root.
    pub fn all(&self) -> Vec<LspHandle> {
        let services = self.services.lock().unwrap_or_else(PoisonError::into_inner);
        services.values().filter_map(Weak::upgrade).map(|shared| LspHandle { shared }).collect()
    }
}

/// A handle to the language service of one root. Cheap to clone; the service ends with its host's last one.
#[derive(Clone)]
pub struct LspHandle {
    shared: Arc<Shared>,
}

impl LspHandle {
    /// Returns the workspace that the service is for.
    pub fn root(&self) -> &CanonicalRoot {
        &self.shared.root
    }

    /// The config, unless the service is switched off.
    pub fn config(&self) -> Option<&LspConfig> {
        self.shared.options.setting.enabled()
    }

    /// Tells whether the service runs.
    pub fn is_alive(&self) -> bool {
        match &*self.shared.state.borrow() {
            State::Linked(link) => !link.is_closed() && link.unavailable().is_none(),
            State::NeverStarted | State::Dead(_) => false,
        }
    }

    /// Starts the service if it never was. Returns whether it is alive.
    pub async fn start(&self) -> bool {
        match self.link().await {
            None => false,
            Some(Link::Own(_)) => true,
            // The host is there; whether its service is, it says when it is asked.
            Some(Link::Remote(_)) => {
                self.ask::<u64>(methods::GET_DIAGNOSTIC_EPOCH, &Value::Null, SLACK).await.is_some()
            }
        }
    }

    /// Returns the single line that says why there is no service, or nothing when there is one.
    pub fn unavailable(&self) -> Option<String> {
        if self.config().is_none() {
            return Some(render::DISABLED.to_owned());
        }
        match &*self.shared.state.borrow() {
            State::Dead(reason) => Some(render::unavailable(reason)),
            State::Linked(link) => link.unavailable(),
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
        let Some(wished) = params.patience_ms else { return self.check_for_edit(params).await };
        let wished = Duration::from_millis(wished).saturating_add(SLACK);
        self.ask(methods::CHECK, params, self.patience().max(wished)).await
    }

    /// Checks for somebody who waits with an edit: never longer than the user's own time-outs, whatever hangs. A service
    /// that has not answered is given no more than the shorter one until it does.
    async fn check_for_edit(&self, params: &CheckParams) -> Option<CheckResponse> {
        let config = self.config()?;
        let first_touch = config.first_touch_timeout.max(config.diagnostic_timeout);
        let hangs = self.shared.hangs.load(Ordering::Relaxed);
        let limit = Duration::from_millis(if hangs { config.diagnostic_timeout } else { first_touch });
        let limit = limit.saturating_add(ANSWER_ON_ITS_WAY);
        let began = Instant::now();
        let asked = async {
            // Its start goes on when this edit has stopped waiting for it.
            let handle = self.clone();
            if tokio::spawn(async move { handle.link().await.is_some() }).await.unwrap_or(false) {
                self.ask(methods::CHECK, params, limit).await
            } else {
                None
            }
        };
        let answer = tokio::time::timeout(limit, asked).await.ok().flatten();
        self.shared.hangs.store(answer.is_none() && began.elapsed() >= limit, Ordering::Relaxed);
        answer
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
    pub async fn metrics(&self) -> Option<LspMetrics> {
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
                State::Linked(link) => link.is_closed(),
                State::NeverStarted => false,
            };
            if dead {
                *state = State::NeverStarted;
            }
            dead
        });
        let params = RestartParams { id: id.map(str::to_owned) };
        self.ask::<usize>(methods::RESTART, &params, RESTART_LIMIT).await.is_some()
    }

    /// Starts one server now, by the user's own act, instead of with the first file of its language. False when there is no
    /// such server, or no service.
    pub async fn start_server(&self, id: &str) -> bool {
        let params = RestartParams { id: Some(id.to_owned()) };
        self.ask::<bool>(methods::START, &params, self.patience()).await.unwrap_or(false)
    }

    /// Tells whether the navigation tools are there: the service runs and they are not switched off.
    pub async fn has_tools(&self) -> bool {
        self.config().is_some_and(|config| config.navigation_tools) && self.start().await
    }

    /// Calls a tool of the service over MCP.
    pub async fn call_tool(&self, name: &str, arguments: Value) -> ToolAnswer {
        let patience = self.patience().saturating_add(tools::extra_time(name));
        for _host in 0..HOSTS {
            let Some(link) = self.link().await else { break };
            match link.call_tool(name, &arguments, patience).await {
                Ok(answer) => return answer,
                Err(RequestError::HostGone) => {}
                Err(RequestError::Failed(error)) => {
                    tracing::debug!(name, error, "the language service did not answer");
                    let why = self.unavailable();
                    let why = why.unwrap_or_else(|| format!("the language service did not answer: {error}"));
                    return ToolAnswer::error(why);
                }
            }
        }
        let why = self.unavailable().unwrap_or_else(|| render::unavailable("it is not running"));
        ToolAnswer::error(why)
    }

    /// Asks a language server for a change, which is not made. The error says why there is no answer.
    pub async fn propose(&self, name: &str, arguments: Value) -> Result<ProposeResponse, String> {
        let why = || self.unavailable().unwrap_or_else(|| render::unavailable("it does not answer"));
        let params = CallToolParams { name: name.to_owned(), arguments };
        let params = serde_json::to_value(params).map_err(|error| error.to_string())?;
        // It asks more than once: for the symbols, for the change, for what uses it.
        let patience = self.patience().saturating_mul(PROPOSAL_QUESTIONS);
        let answer = self.ask_any_host(methods::PROPOSE, &params, patience).await.ok_or_else(why)?;
        let answer = answer.map_err(|error| {
            self.unavailable().unwrap_or_else(|| format!("the language service did not answer: {error}"))
        })?;
        serde_json::from_value(answer).map_err(|error| error.to_string())
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
        let answer = match serde_json::to_value(params) {
            Ok(params) => self.ask_any_host(method, &params, patience).await?,
            Err(error) => Err(error.to_string()),
        };
        match answer.and_then(|value| serde_json::from_value(value).map_err(|error| error.to_string())) {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::debug!(method, error, "the language service did not answer");
                None
            }
        }
    }

    /// Asks whoever hosts the service, and the next one when that one ends meanwhile; nothing when there is none.
    async fn ask_any_host(
        &self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Option<Result<Value, String>> {
        for _host in 0..HOSTS {
            match self.link().await?.ask(method, params, patience).await {
                Ok(answer) => return Some(Ok(answer)),
                Err(RequestError::Failed(error)) => return Some(Err(error)),
                Err(RequestError::HostGone) => {
                    tracing::debug!(method, "the host ended; the next one is asked")
                }
            }
        }
        Some(Err("one host after the other ended".to_owned()))
    }

    /// Answers a guest from another process. It may use everything, and end nothing.
    async fn answer_guest(&self, method: &str, params: Value) -> Result<Value, ResponseError> {
        let answer = match method {
            methods::RESTART => {
                let params: RestartParams = read_params(params)?;
                self.restart(params.id.as_deref()).await.then(|| Ok(json!(1)))
            }
            methods::CALL_TOOL => {
                let CallToolParams { name, arguments } = read_params(params)?;
                let answer = self.call_tool(&name, arguments).await;
                let answer = CallToolAnswer { text: answer.text, is_error: answer.is_error };
                Some(serde_json::to_value(answer).map_err(|error| error.to_string()))
            }
            methods::CHECK
            | methods::CHECK_FILE
            | methods::DIAGNOSTICS
            | methods::DIAGNOSTICS_AFTER
            | methods::GET_DIAGNOSTIC_EPOCH
            | methods::STATUS
            | methods::PROPOSE
            | methods::START
            | methods::METRICS => self.ask_any_host(method, &params, GUEST_LIMIT).await,
            _ => return Err(ResponseError::method_not_found(method)),
        };
        match answer {
            Some(Ok(value)) => Ok(value),
            // The service may have died of this very question; then that is the answer.
            Some(Err(error)) => Err(match self.unavailable() {
                Some(why) => ResponseError::new(UNAVAILABLE, why),
                None => ResponseError::internal(error),
            }),
            None => {
                let why = self.unavailable().unwrap_or_else(|| render::unavailable("it does not answer"));
                Err(ResponseError::new(UNAVAILABLE, why))
            }
        }
    }
}

fn read_params<T: DeserializeOwned>(params: Value) -> Result<T, ResponseError> {
    serde_json::from_value(params).map_err(|error| ResponseError::invalid_params(error.to_string()))
}
