//! One JSON-RPC 2.0 peer, the same for language servers, ACP agents and our own service processes.
//!
//! Requests go both ways. A peer that closes, for whatever reason, fails everything that is pending with that
//! reason; nothing that the other side sends can make it panic or wait for ever.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::codec::{DEFAULT_MAX_MESSAGE, Framing};

mod connection;
mod incoming;
mod message;
mod outgoing;

use connection::Connection;
pub use message::{ResponseError, codes};

/// How long the other side's notifications may wait for our handler before the connection is given up.
const STALLED: Duration = Duration::from_secs(60);

/// How a peer behaves; [`PeerOptions::new`] is right for most.
#[derive(Clone, Debug)]
pub struct PeerOptions {
    /// What the other side is called in the log.
    pub label: String,
    /// How messages are told apart.
    pub framing: Framing,
    /// Messages longer than this are dropped and logged.
    pub max_message: usize,
    /// How long [`Peer::request`] waits for its answer; `None` waits until the peer closes.
    pub request_timeout: Option<Duration>,
    /// The notification that tells the other side to stop working on a request, with `{"id": …}`.
    pub cancel_method: Option<&'static str>,
    /// How many messages may wait to be written. When full, senders wait.
    pub outgoing_capacity: usize,
    /// How many notifications may wait for the handler. When full, reading waits for the handler; the
    /// connection closes when the handler makes no progress for a minute.
    pub notification_capacity: usize,
    /// How many of the other side's requests may be worked on at once. More are refused with an error.
    pub max_running_requests: usize,
    /// Whether a request of the other side waits until the notifications that came before it have been handled. For a
    /// protocol in which a request belongs to what was said before it; the handler of its notifications must then never
    /// wait for a request.
    pub requests_in_order: bool,
}

impl PeerOptions {
    /// The usual behaviour: `$/cancelRequest`, no time-out, generous bounds.
    pub fn new(label: impl Into<String>, framing: Framing) -> Self {
        PeerOptions {
            label: label.into(),
            framing,
            max_message: DEFAULT_MAX_MESSAGE,
            request_timeout: None,
            cancel_method: Some("$/cancelRequest"),
            outgoing_capacity: 256,
            notification_capacity: 16 * 1024,
            max_running_requests: 256,
            requests_in_order: false,
        }
    }
}

/// What answers the other side.
///
/// Requests run at the same time, each in a task of its own; notifications are handled one after the other in
/// the order of their arrival.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request of the other side.
    fn request(
        &self,
        method: String,
        params: Value,
    ) -> impl Future<Output = Result<Value, ResponseError>> + Send {
        let _params = params;
        async move { Err(ResponseError::method_not_found(&method)) }
    }

    /// Takes in a notification of the other side.
    fn notification(&self, method: String, params: Value) -> impl Future<Output = ()> + Send {
        let _ignored = (method, params);
        async {}
    }
}

/// A handler that knows no method and ignores every notification.
impl Handler for () {}

/// Why a request got no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RpcError {
    /// The connection is gone; the request may or may not have been worked on.
    #[error("{label} closed the connection: {reason}")]
    Closed {
        /// The peer's name in messages.
        label: String,
        /// Why it closed.
        reason: String,
    },
    /// No answer came in time; a late one is dropped.
    #[error("{label} did not answer {method} within {} ms", after.as_millis())]
    Timeout {
        /// The peer's name in messages.
        label: String,
        /// What was asked.
        method: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The other side answered with an error.
    #[error("{0}")]
    Response(#[from] ResponseError),
    /// The parameters are not representable as JSON; nothing was sent.
    #[error("the parameters of {method} cannot be written as JSON: {error}")]
    Params {
        /// What would have been asked.
        method: String,
        /// What the serializer says.
        error: String,
    },
}

/// A cheap handle to a connection. Dropping the last one closes it.
///
/// A [`Handler`] that keeps a handle keeps the connection open until [`Peer::close`] or the end of the stream.
#[derive(Clone, Debug)]
pub struct Peer {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    connection: Arc<Connection>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.connection.close("the last handle was dropped");
    }
}

/// Starts to talk over a pair of streams. Must be called within a tokio runtime.
pub fn connect(
    read: impl AsyncRead + Send + Unpin + 'static,
    write: impl AsyncWrite + Send + Unpin + 'static,
    options: PeerOptions,
    handler: impl Handler,
) -> Peer {
    let (connection, queue) = Connection::new(options);
    tokio::spawn(outgoing::run(connection.clone(), queue, write));
    tokio::spawn(incoming::run(connection.clone(), read, Arc::new(handler)));
    Peer { handle: Arc::new(Handle { connection }) }
}

impl Peer {
    /// Asks, and waits for the answer for as long as the options say. Dropping the future cancels the request.
    pub async fn request(&self, method: &str, params: impl Serialize) -> Result<Value, RpcError> {
        let connection = &self.handle.connection;
        let timeout = connection.options.request_timeout;
        Ok(connection.request(method, &params, timeout).await?.result?)
    }

    /// Asks, and waits for the answer for at most `timeout`.
    pub async fn request_timeout(
        &self,
        method: &str,
        params: impl Serialize,
        timeout: Duration,
    ) -> Result<Value, RpcError> {
        Ok(self.handle.connection.request(method, &params, Some(timeout)).await?.result?)
    }

    /// Asks like [`Peer::request`], and returns only after every notification that came before the answer has
    /// been handled.
    ///
    /// This is what a protocol needs whose answer means "that was all", such as a prompt whose text comes in
    /// notifications.
    pub async fn request_in_order(&self, method: &str, params: impl Serialize) -> Result<Value, RpcError> {
        let connection = &self.handle.connection;
        let timeout = connection.options.request_timeout;
        let answer = connection.request(method, &params, timeout).await?;
        connection.handled(answer.n_notifications_before).await;
        Ok(answer.result?)
    }

    /// Tells the other side something. Waits while the outgoing queue is full.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), RpcError> {
        self.handle.connection.notify(method, &params).await
    }

    /// Waits until the connection is closed and returns the reason.
    pub async fn closed(&self) -> String {
        self.handle.connection.closed().await
    }

    /// Whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        self.handle.connection.is_closed()
    }

    /// Closes the connection: everything pending fails with `reason`, and the streams are dropped.
    pub fn close(&self, reason: &str) {
        self.handle.connection.close(reason);
    }
}
