//! What the reading task, the writing task and the handles share.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};

use super::message::{self, RequestKey, ResponseError};
use super::{PeerOptions, RpcError, STALLED};

/// The answer to one of our requests.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) result: Result<Value, ResponseError>,
    /// How many notifications had arrived before it.
    pub(super) n_notifications_before: u64,
}

/// The receiving ends of what is to be written.
#[derive(Debug)]
pub(super) struct OutgoingQueue {
    pub(super) messages: mpsc::Receiver<Value>,
    /// Cancellations come from `drop`, which cannot wait. There are never more than requests were sent.
    pub(super) cancellations: mpsc::UnboundedReceiver<u64>,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) options: PeerOptions,
    next_id: AtomicU64,
    pending: Mutex<Pending>,
    messages: mpsc::Sender<Value>,
    cancellations: mpsc::UnboundedSender<u64>,
    /// The reason, once closed.
    closed: watch::Sender<Option<String>>,
    /// How many notifications the handler has finished.
    pub(super) n_handled: watch::Sender<u64>,
}

/// Our requests that wait for an answer. Once failed, none can be added.
#[derive(Debug)]
enum Pending {
    Open(HashMap<RequestKey, oneshot::Sender<Answer>>),
    Failed(String),
}

impl Pending {
    fn insert(&mut self, key: RequestKey, sender: oneshot::Sender<Answer>) -> bool {
        match self {
            Pending::Open(requests) => {
                requests.insert(key, sender);
                true
            }
            Pending::Failed(_) => false,
        }
    }

    fn remove(&mut self, key: &RequestKey) -> Option<oneshot::Sender<Answer>> {
        match self {
            Pending::Open(requests) => requests.remove(key),
            Pending::Failed(_) => None,
        }
    }

    /// Fails every request; the first reason stays. Dropping the senders tells those who wait.
    fn fail(&mut self, reason: &str) {
        if let Pending::Open(_) = self {
            *self = Pending::Failed(reason.to_owned());
        }
    }
}

impl Connection {
    pub(super) fn new(options: PeerOptions) -> (Arc<Self>, OutgoingQueue) {
        let (messages, messages_out) = mpsc::channel(options.outgoing_capacity.max(1));
        let (cancellations, cancellations_out) = mpsc::unbounded_channel();
        let connection = Connection {
            options,
            next_id: AtomicU64::new(1),
            pending: Mutex::new(Pending::Open(HashMap::new())),
            messages,
            cancellations,
            closed: watch::Sender::new(None),
            n_handled: watch::Sender::new(0),
        };
        let queue = OutgoingQueue { messages: messages_out, cancellations: cancellations_out };
        (Arc::new(connection), queue)
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(super) async fn request(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
        timeout: Option<Duration>,
    ) -> Result<Answer, RpcError> {
        let params = self.params(method, params)?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        if !self.pending().insert(RequestKey::of(&json!(id)), sender) {
            return Err(self.closed_error());
        }
        let mut guard = PendingGuard { connection: self, id, sent: false, done: false };
        let work = async {
            self.send(message::request(id, method, params)).await?;
            guard.sent = true;
            let answer = answer.await;
            guard.done = true;
            answer.map_err(|_closed| self.closed_error())
        };
        match timeout {
            None => work.await,
            Some(after) => match tokio::time::timeout(after, work).await {
                Ok(answer) => answer,
                Err(_elapsed) => Err(RpcError::Timeout {
                    label: self.options.label.clone(),
                    method: method.to_owned(),
                    after,
                }),
            },
        }
    }

    pub(super) async fn notify(
        &self,
        method: &str,
        params: &(impl Serialize + ?Sized),
    ) -> Result<(), RpcError> {
        let params = self.params(method, params)?;
        self.send(message::notification(method, params)).await
    }

    /// Queues a message for writing; waits while the queue is full, fails when the connection closes.
    pub(super) async fn send(&self, message: Value) -> Result<(), RpcError> {
        let mut closed = self.closed.subscribe();
        tokio::select! {
            biased;
            _reason = closed.wait_for(Option::is_some) => Err(self.closed_error()),
            sent = self.messages.send(message) => sent.map_err(|_| self.closed_error()),
        }
    }

    /// Queues a message if there is room. Returns whether there was.
    pub(super) fn try_send(&self, message: Value) -> bool {
        self.messages.try_send(message).is_ok()
    }

    /// Hands an answer to the request that waits for it. Returns whether there was one.
    pub(super) fn answer(&self, id: &Value, answer: Answer) -> bool {
        let sender = self.pending().remove(&RequestKey::of(id));
        match sender {
            // The receiver may have been dropped at this very moment; then nobody wants the answer.
            Some(sender) => sender.send(answer).is_ok(),
            None => false,
        }
    }

    /// Waits until the handler has finished the first `n` notifications, or the connection is closed.
    pub(super) async fn handled(&self, n: u64) {
        let mut n_handled = self.n_handled.subscribe();
        let mut closed = self.closed.subscribe();
        tokio::select! {
            _n = n_handled.wait_for(|n_handled| *n_handled >= n) => {}
            _reason = closed.wait_for(Option::is_some) => {}
        }
    }

    /// Closes once; the first reason stays.
    pub(super) fn close(&self, reason: &str) {
        let first = self.closed.send_if_modified(|closed| {
            let first = closed.is_none();
            closed.get_or_insert_with(|| reason.to_owned());
            first
        });
        if first {
            tracing::debug!(label = %self.options.label, reason, "connection closed");
        }
        self.pending().fail(reason);
    }

    /// Fails the pending requests at once, lets the handler finish the notifications that have arrived, and
    /// closes.
    pub(super) async fn close_reading(&self, reason: &str, n_notifications: u64) {
        self.pending().fail(reason);
        if tokio::time::timeout(STALLED, self.handled(n_notifications)).await.is_err() {
            tracing::warn!(label = %self.options.label, "notifications were dropped: their handler is stuck");
        }
        self.close(reason);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.borrow().is_some()
    }

    pub(super) async fn closed(&self) -> String {
        let mut closed = self.closed.subscribe();
        match closed.wait_for(Option::is_some).await {
            Ok(reason) => reason.clone().unwrap_or_default(),
            Err(_) => String::new(),
        }
    }

    fn closed_error(&self) -> RpcError {
        let reason = match &*self.pending() {
            Pending::Failed(reason) => reason.clone(),
            Pending::Open(_) => "it is gone".to_owned(),
        };
        RpcError::Closed { label: self.options.label.clone(), reason }
    }

    fn params(&self, method: &str, params: &(impl Serialize + ?Sized)) -> Result<Value, RpcError> {
        serde_json::to_value(params)
            .map_err(|error| RpcError::Params { method: method.to_owned(), error: error.to_string() })
    }
}

/// Forgets a request whose caller has gone away, and tells the other side when it knew of it.
struct PendingGuard<'a> {
    connection: &'a Connection,
    id: u64,
    sent: bool,
    done: bool,
}

impl Drop for PendingGuard<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        drop(self.connection.pending().remove(&RequestKey::of(&json!(self.id))));
        if self.sent && self.connection.options.cancel_method.is_some() {
            // Fails only when the writing task is gone, and then nobody is left to be told.
            self.connection.cancellations.send(self.id).ok();
        }
    }
}
