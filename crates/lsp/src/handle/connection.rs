//! A running service process: its pipes, its end.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chartroom_protocol::lsp::{Bootstrap, methods};
use chartroom_protocol::tool::ToolAnswer;
use chartroom_transport::{Child, Framing, Handler, Peer, PeerOptions, connect};
use chartroom_workspace::{CanonicalRoot, ChildKind, SpawnRequest};
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;

use super::ServiceOptions;
use crate::service::BOOTSTRAP;

/// How long the service may take to say that it is ready.
const READY_LIMIT: Duration = Duration::from_secs(10);
/// How long a service may take to end by itself.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// How long the exit of a service whose pipes are closed is waited for.
const EXIT_LIMIT: Duration = Duration::from_secs(2);

/// A service that said it is ready. Dropping it ends the process and its servers.
pub(super) struct Connection {
    peer: Peer,
    tools: Option<RunningService<RoleClient, ()>>,
    child: Mutex<Option<Child>>,
}

/// Receives `lsp/ready`.
struct FromService {
    ready: watch::Sender<bool>,
}

impl Handler for FromService {
    async fn notification(&self, method: String, _params: Value) {
        if method == methods::READY {
            self.ready.send_replace(true);
        }
    }
}

impl Connection {
    /// Starts the service and waits until it reports that it is ready. The error is the reason, for people.
    pub(super) async fn start(
        options: &ServiceOptions,
        root: &CanonicalRoot,
        bootstrap: &Bootstrap,
    ) -> Result<Self, String> {
        let json = serde_json::to_string(bootstrap).map_err(|error| format!("bootstrap: {error}"))?;
        let mut request = SpawnRequest::new(root, ChildKind::Service, &options.program);
        request.label = "language service".to_owned();
        request.args = options.args.clone();
        // Not in the workspace: nothing in it may influence a process of ours.
        request.cwd = options.data_dir.clone();
        request.env = [(BOOTSTRAP.into(), json.into())].into();
        request.extra_pipes = true;
        let mut child =
            options.gate.spawn(request).map_err(|error| format!("service startup failed: {error}"))?;
        let (Some(stdin), Some(stdout), Some((to_tools, from_tools))) =
            (child.stdin.take(), child.stdout.take(), child.extra.take())
        else {
            return Err("service startup failed: it has no pipes".to_owned());
        };
        let (ready, mut is_ready) = watch::channel(false);
        let mut peer_options = PeerOptions::new("language service", Framing::ContentLength);
        peer_options.cancel_method = Some("$/cancelRequest");
        let peer = connect(stdout, stdin, peer_options, FromService { ready });
        let said = tokio::select! {
            said = tokio::time::timeout(READY_LIMIT, is_ready.wait_for(|ready| *ready)) => {
                matches!(said, Ok(Ok(_)))
            }
            _reason = peer.closed() => false,
        };
        if !said {
            let exit = tokio::time::timeout(Duration::from_secs(1), child.wait()).await;
            let how = match exit {
                Ok(exit) => format!("the service {exit}"),
                Err(_elapsed) => format!("no lsp/ready within {} s", READY_LIMIT.as_secs()),
            };
            let stderr = child.stderr_tail();
            child.end(Duration::from_millis(500)).await;
            let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).map(str::to_owned);
            let last = last.map(|line| format!(" ({})", line.trim())).unwrap_or_default();
            return Err(format!("service startup failed: {how}{last}"));
        }
        let tools = if bootstrap.config.navigation_tools {
            match tokio::time::timeout(READY_LIMIT, rmcp::serve_client((), (from_tools, to_tools))).await {
                Ok(Ok(tools)) => Some(tools),
                Ok(Err(error)) => {
                    tracing::debug!(%error, "the service does not speak MCP");
                    None
                }
                Err(_elapsed) => None,
            }
        } else {
            None
        };
        Ok(Self { peer, tools, child: Mutex::new(Some(child)) })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    /// Returns how the service ended, or nothing while it lives.
    pub(super) fn why_closed(&self) -> Option<String> {
        if !self.peer.is_closed() {
            return None;
        }
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let exit = child.as_ref().and_then(|child| child.exit_watch().exit());
        Some(exit.map_or_else(|| "the service is gone".to_owned(), |exit| format!("the service {exit}")))
    }

    /// Returns how the service ended. Its pipes close a moment before its exit is known.
    pub(super) async fn how_it_ended(&self) -> String {
        let watch = {
            let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            child.as_ref().map(Child::exit_watch)
        };
        if let Some(watch) = watch {
            // Elapsed: it closed its pipes and lives on, or its keeper is gone too.
            drop(tokio::time::timeout(EXIT_LIMIT, watch.wait()).await);
        }
        self.why_closed().unwrap_or_else(|| "the service closed its connection".to_owned())
    }

    pub(super) async fn ask(
        &self,
        method: &str,
        params: &impl Serialize,
        patience: Duration,
    ) -> Result<Value, String> {
        self.peer.request_timeout(method, params, patience).await.map_err(|error| error.to_string())
    }

    pub(super) async fn call_tool(&self, name: &str, arguments: Value, patience: Duration) -> ToolAnswer {
        let Some(tools) = &self.tools else {
            return ToolAnswer::error("the navigation tools are switched off");
        };
        let mut params = CallToolRequestParams::new(name.to_owned());
        params.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        };
        match tokio::time::timeout(patience, tools.peer().call_tool(params)).await {
            Ok(Ok(result)) => {
                let text: Vec<&str> = result
                    .content
                    .iter()
                    .filter_map(|block| block.as_text())
                    .map(|text| text.text.as_str())
                    .collect();
                ToolAnswer { is_error: result.is_error.unwrap_or(false), ..ToolAnswer::ok(text.join("\n")) }
            }
            Ok(Err(error)) => {
                let why = self.why_closed().unwrap_or_else(|| error.to_string());
                ToolAnswer::error(format!("the language service did not answer: {why}"))
            }
            Err(_elapsed) => ToolAnswer::error("the language service did not answer in time; ask again"),
        }
    }

    /// Asks the service to end, waits for it, then ends what is left.
    pub(super) async fn shutdown(&self) {
        if let Err(error) = self.peer.request_timeout(methods::SHUTDOWN, Value::Null, SHUTDOWN_GRACE).await {
            tracing::debug!(%error, "the language service did not shut down by itself");
        }
        self.peer.close("it was shut down");
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(child) = child
            && tokio::time::timeout(Duration::from_secs(1), child.wait()).await.is_err()
        {
            child.end(SHUTDOWN_GRACE).await;
        }
    }
}
