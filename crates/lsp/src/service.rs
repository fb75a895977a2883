//! The child half: what `chartroom lsp-service` is. One orchestrator behind two channels.
//!
//! Diagnostics go over stdin and stdout as Content-Length JSON-RPC, tools over a second pair of pipes as MCP. The
//! process ends when its stdin closes or it is told to; its servers end with it.

use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::lsp::{
    Bootstrap, CallToolParams, CheckFileParams, CheckParams, DiagnosticsAfterParams, RestartParams, methods,
};
use chartroom_transport::{Framing, Handler, Peer, PeerOptions, ResponseError, connect};
use chartroom_workspace::CanonicalRoot;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use crate::launch::Launch;
use crate::mcp::ToolServer;
use crate::orchestrator::Orchestrator;
use crate::proposals;

mod mcp;
pub mod process;

/// The variable that holds the [`Bootstrap`].
pub const BOOTSTRAP: &str = "LSP_BOOTSTRAP";

/// Reads and validates the bootstrap; the error is for stderr, and the exit code is then 1.
pub fn bootstrap(value: Option<&str>) -> Result<(Bootstrap, CanonicalRoot), String> {
    let value = value.ok_or_else(|| format!("{BOOTSTRAP} is not set"))?;
    let bootstrap: Bootstrap =
        serde_json::from_str(value).map_err(|error| format!("{BOOTSTRAP} is not valid: {error}"))?;
    if bootstrap.workspace_root.is_empty() {
        return Err(format!("{BOOTSTRAP} is not valid: workspaceRoot is empty"));
    }
    let root = CanonicalRoot::open(&bootstrap.workspace_root)
        .map_err(|error| format!("{BOOTSTRAP} is not valid: workspaceRoot: {error}"))?;
    Ok((bootstrap, root))
}

/// Serves until stdin closes or `lsp/shutdown` was answered, then ends every server.
pub async fn run(
    root: CanonicalRoot,
    bootstrap: Bootstrap,
    launch: Arc<dyn Launch>,
    rpc: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
    tools: Option<(impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static)>,
) {
    let navigation_tools = bootstrap.config.navigation_tools;
    let orchestrator = Orchestrator::new(root, bootstrap.config, launch);
    let housekeeping = tokio::spawn(Orchestrator::run_housekeeping(Arc::downgrade(&orchestrator)));
    let stopping = Arc::new(Notify::new());
    let handler = Requests { orchestrator: orchestrator.clone(), stopping: stopping.clone() };
    let peer = connect(rpc.0, rpc.1, PeerOptions::new("chartroom", Framing::ContentLength), handler);
    let tools = tools.filter(|_| navigation_tools).map(|(read, write)| {
        let server = ToolServer::new(orchestrator.clone());
        tokio::spawn(async move {
            match rmcp::serve_server(server, (read, write)).await {
                Ok(running) => drop(running.waiting().await),
                Err(error) => tracing::debug!(%error, "nobody speaks MCP to the service"),
            }
        })
    });
    serve(&peer, &stopping).await;
    orchestrator.shutdown().await;
    housekeeping.abort();
    if let Some(tools) = tools {
        tools.abort();
    }
}

async fn serve(peer: &Peer, stopping: &Notify) {
    if let Err(error) = peer.notify(methods::READY, Value::Null).await {
        tracing::debug!(%error, "nobody waits for the service");
        return;
    }
    tokio::select! {
        reason = peer.closed() => tracing::debug!(reason, "the service's input closed"),
        () = stopping.notified() => {
            // The answer to the shutdown is on its way; the other side closes when it has it.
            drop(tokio::time::timeout(Duration::from_millis(500), peer.closed()).await);
        }
    }
}

struct Requests {
    orchestrator: Arc<Orchestrator>,
    stopping: Arc<Notify>,
}

impl Handler for Requests {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        let orchestrator = &self.orchestrator;
        match method.as_str() {
            methods::CHECK => answer(&orchestrator.check(read::<CheckParams>(params)?).await),
            methods::CHECK_FILE => {
                let params: CheckFileParams = read(params)?;
                answer(&orchestrator.check_file(&params.file_path, params.text).await)
            }
            methods::DIAGNOSTICS => answer(&orchestrator.diagnostics()),
            methods::DIAGNOSTICS_AFTER => {
                let params: DiagnosticsAfterParams = read(params)?;
                let wait = Duration::from_millis(params.wait_ms);
                answer(&orchestrator.diagnostics_after(params.after_epoch, wait).await)
            }
            methods::GET_DIAGNOSTIC_EPOCH => answer(&orchestrator.epoch()),
            methods::STATUS => answer(&orchestrator.status()),
            methods::START => {
                let params: RestartParams = read(params)?;
                answer(&orchestrator.start(params.id.as_deref().unwrap_or_default()).await)
            }
            methods::PROPOSE => {
                let CallToolParams { name, arguments } = read(params)?;
                answer(&proposals::propose(orchestrator, &name, arguments).await)
            }
            methods::METRICS => answer(&orchestrator.metrics().snapshot()),
            methods::RESTART => {
                let params: RestartParams = read(params)?;
                answer(&orchestrator.restart(params.id.as_deref()).await)
            }
            methods::SHUTDOWN => {
                orchestrator.shutdown().await;
                self.stopping.notify_one();
                Ok(Value::Null)
            }
            _ => Err(ResponseError::method_not_found(&method)),
        }
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, ResponseError> {
    serde_json::from_value(params).map_err(|error| ResponseError::invalid_params(error.to_string()))
}

fn answer<T: Serialize>(value: &T) -> Result<Value, ResponseError> {
    serde_json::to_value(value).map_err(|error| ResponseError::internal(error.to_string()))
}
