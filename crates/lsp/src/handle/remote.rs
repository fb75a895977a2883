//! The service of a root that another process hosts, seen from here.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chartroom_protocol::lsp::methods;
use chartroom_protocol::tool::ToolAnswer;
use chartroom_transport::{Framing, Handler, Peer, PeerOptions, RpcError, connect};
use chartroom_workspace::CanonicalRoot;
use serde_json::{Value, json};
use tokio::net::UnixStream;
use tokio::sync::watch;

use super::{CALL_TOOL, UNAVAILABLE};

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
            let root = params.get("workspaceRoot").and_then(Value::as_str).unwrap_or_default().to_owned();
            self.root.send_replace(Some(root));
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
        let params = json!({ "name": name, "arguments": arguments });
        let answer = self.ask(CALL_TOOL, &params, patience).await?;
        let text = answer.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(ToolAnswer {
            is_error: answer.get("isError") != Some(&Value::Bool(false)),
            ..ToolAnswer::ok(text)
        })
    }

    /// Closes the connection; the service goes on for the others.
    pub(super) fn close(&self) {
        self.peer.close("we left");
    }
}
