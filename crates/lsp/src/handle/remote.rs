//! The service of a root that another process hosts, seen from here.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chartroom_protocol::lsp::{CallToolAnswer, CallToolParams, ReadyParams, methods};
use chartroom_protocol::tool::ToolAnswer;
use chartroom_transport::{Framing, Handler, Peer, PeerOptions, RpcError, connect};
use chartroom_workspace::CanonicalRoot;
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::UNAVAILABLE;

/// How long the host may take to answer a new connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Why a host does not serve us.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConnectError {
    /// It ended; there will be another.
    Ending,
    /// It is there and does not answer: stopped, or not what it should be. The reason is for people.
    Silent(String),
}

/// Why a question got no answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RequestError {
    /// Whoever answered is gone: the next host can be asked.
    HostGone,
    /// The reason, for the log.
    Failed(String),
}

/// A connection to the host.
pub(super) struct RemoteService {
    peer: Peer,
    /// Why the service behind the host is not available, by the host's last answer.
    refusal: Mutex<Option<String>>,
}

/// Receives `lsp/ready`, with the root it is about.
struct FromHost {
    root: watch::Sender<Option<String>>,
}

impl Handler for FromHost {
    async fn notification(&self, method: String, params: Value) {
        if method == methods::READY {
            let params: Result<ReadyParams, _> = serde_json::from_value(params);
            // A host that does not say whom it serves serves somebody else.
            self.root.send_replace(Some(params.map(|params| params.workspace_root).unwrap_or_default()));
        }
    }
}

impl RemoteService {
    /// Connects to the host and waits until it says which root it serves.
    pub(super) async fn connect(stream: UnixStream, root: &CanonicalRoot) -> Result<Self, ConnectError> {
        let (read, write) = stream.into_split();
        let (sender, mut ready) = watch::channel(None);
        let options = PeerOptions::new("the language service's host", Framing::ContentLength);
        let peer = connect(read, write, options, FromHost { root: sender });
        let said = tokio::select! {
            said = tokio::time::timeout(CONNECT_LIMIT, ready.wait_for(Option::is_some)) => said,
            _reason = peer.closed() => return Err(ConnectError::Ending),
        };
        match said {
            Ok(Ok(said)) if *said == Some(root.to_string()) => {}
            Ok(Ok(said)) => {
                let said = said.clone().unwrap_or_default();
                return Err(ConnectError::Silent(format!("its host serves {said}")));
            }
            Ok(Err(_gone)) => return Err(ConnectError::Ending),
            Err(_elapsed) => {
                let limit = CONNECT_LIMIT.as_secs();
                return Err(ConnectError::Silent(format!(
                    "the process that hosts it did not answer within {limit} s"
                )));
            }
        }
        Ok(Self { peer, refusal: Mutex::default() })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.peer.is_closed()
    }

    /// Why the service behind the host is not available, if it said so.
    pub(super) fn refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) async fn ask(
        &self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, RequestError> {
        let answer = self.peer.request_timeout(method, params, patience).await;
        let refusal = match &answer {
            Err(RpcError::Response(error)) if error.code == UNAVAILABLE => Some(error.message.clone()),
            _ => None,
        };
        *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = refusal;
        answer.map_err(|error| match error {
            RpcError::Closed { .. } => RequestError::HostGone,
            error => RequestError::Failed(error.to_string()),
        })
    }

    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<ToolAnswer, RequestError> {
        let failed = |error: serde_json::Error| RequestError::Failed(error.to_string());
        let params = CallToolParams { name: name.to_owned(), arguments: arguments.clone() };
        let params = serde_json::to_value(params).map_err(failed)?;
        let answer = self.ask(methods::CALL_TOOL, &params, patience).await?;
        let CallToolAnswer { text, is_error } = serde_json::from_value(answer).map_err(failed)?;
        Ok(ToolAnswer { is_error, ..ToolAnswer::ok(text) })
    }

    /// Closes the connection; the service goes on for the others.
    pub(super) fn close(&self) {
        self.peer.close("we left");
    }
}
