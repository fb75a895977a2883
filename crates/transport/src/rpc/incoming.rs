//! The reading task: takes messages apart and hands them on, without ever waiting for a request's handler.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use futures_util::StreamExt;
use serde_json::Value;
use tokio::io::AsyncRead;
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio_util::codec::FramedRead;

use super::connection::{Answer, Connection};
use super::message::{self, Message, RequestKey, ResponseError, codes};
use super::{Handler, STALLED};
use crate::codec::{Json, Received};

/// Reads until the stream ends or the connection closes; then ends every handler that is still running.
pub(super) async fn run<H: Handler>(
    connection: Arc<Connection>,
    read: impl AsyncRead + Unpin,
    handler: Arc<H>,
) {
    let options = &connection.options;
    let mut frames = FramedRead::new(read, Json::new(options.framing, options.max_message));
    let (notifications, queue) = mpsc::channel(options.notification_capacity.max(1));
    let mut reader = Reader {
        connection: connection.clone(),
        handler: handler.clone(),
        notifications,
        n_notifications: 0,
        running: Arc::default(),
        tasks: JoinSet::new(),
    };
    reader.tasks.spawn(handle_notifications(connection.clone(), handler, queue));
    let closed = connection.closed();
    tokio::pin!(closed);
    let reason = loop {
        let received = tokio::select! {
            biased;
            _reason = &mut closed => break None,
            received = frames.next() => received,
            // Finished handlers are collected as they end, so that the set does not grow.
            Some(_finished) = reader.tasks.join_next() => continue,
        };
        match received {
            Some(Ok(Received::Message(value))) => {
                if let Err(reason) = reader.message(value).await {
                    break Some(reason);
                }
            }
            Some(Ok(trouble)) => reader.log(&trouble),
            Some(Err(error)) => break Some(format!("reading failed: {error}")),
            None => break Some("the stream ended".to_owned()),
        }
    };
    if let Some(reason) = reason {
        // Notifications that came before the end are still handled: an agent's last words matter.
        connection.close_reading(&reason, reader.n_notifications).await;
    }
}

struct Reader<H> {
    connection: Arc<Connection>,
    handler: Arc<H>,
    notifications: mpsc::Sender<(String, Value)>,
    n_notifications: u64,
    running: Arc<Running>,
    /// Dropped with the reader, which aborts what is still running.
    tasks: JoinSet<()>,
}

/// The other side's requests that are being worked on.
#[derive(Debug, Default)]
struct Running {
    n_requests: AtomicUsize,
    tasks: Mutex<HashMap<RequestKey, AbortHandle>>,
}

impl<H: Handler> Reader<H> {
    async fn message(&mut self, value: Value) -> Result<(), String> {
        if let Value::Array(batch) = value {
            for value in batch {
                self.single(value).await?;
            }
            return Ok(());
        }
        self.single(value).await
    }

    async fn single(&mut self, value: Value) -> Result<(), String> {
        match Message::read(value) {
            Message::Response { id, result } => {
                let answer = Answer { result, n_notifications_before: self.n_notifications };
                if !self.connection.answer(&id, answer) {
                    tracing::debug!(label = %self.label(), %id, "an answer that nobody waits for");
                }
                Ok(())
            }
            Message::Notification { method, params } => self.notification(method, params).await,
            Message::Request { id, method, params } => {
                self.request(id, method, params);
                Ok(())
            }
            Message::Unusable(lack) => {
                tracing::warn!(label = %self.label(), lack, "a message that is no JSON-RPC");
                Ok(())
            }
        }
    }

    async fn notification(&mut self, method: String, params: Value) -> Result<(), String> {
        if self.connection.options.cancel_method == Some(method.as_str()) {
            if let Some(id) = params.get("id") {
                self.running.cancel(id);
            }
            return Ok(());
        }
        self.n_notifications += 1;
        match self.notifications.try_reserve() {
            Ok(permit) => permit.send((method, params)),
            // Full: reading waits for the handler. It may itself wait for an answer that stands behind this
            // message, hence the limit.
            Err(_full) => match self.notifications.send_timeout((method, params), STALLED).await {
                Ok(()) => {}
                Err(_stalled) => return Err("our handler of its notifications is stuck".to_owned()),
            },
        }
        Ok(())
    }

    fn request(&mut self, id: Value, method: String, params: Value) {
        let connection = self.connection.clone();
        let key = RequestKey::of(&id);
        let refusal =
            if self.running.n_requests.load(Ordering::Relaxed) >= connection.options.max_running_requests {
                Some(ResponseError::new(codes::BUSY, "too many requests are being worked on"))
            } else if self.running.lock().contains_key(&key) {
                Some(ResponseError::new(codes::INVALID_REQUEST, format!("request id {id} is in use")))
            } else {
                None
            };
        if let Some(refusal) = refusal {
            // A refusal waits for nobody: when the other side does not read, it is dropped.
            if !connection.try_send(message::response(id, Err(refusal))) {
                tracing::warn!(label = %self.label(), "a refused request was not answered: the queue is full");
            }
            return;
        }
        let handler = self.handler.clone();
        let guard = RunningGuard::new(self.running.clone(), key.clone());
        // The table is locked until the task is in it, so that a quick handler cannot leave before it came.
        let mut running = self.running.lock();
        // Made here and not in the task: one that is cancelled before it first runs is answered too.
        let mut cancelled = CancelledAnswer { connection: connection.clone(), id: Some(id) };
        let n_before = self.n_notifications;
        let task = self.tasks.spawn(async move {
            if connection.options.requests_in_order {
                connection.handled(n_before).await;
            }
            let result = handler.request(method, params).await;
            drop(guard);
            if let Some(id) = cancelled.id.take() {
                // Fails only when the connection is closed, which everyone concerned learns in another way.
                connection.send(message::response(id, result)).await.ok();
            }
        });
        running.insert(key, task);
    }

    fn log(&self, trouble: &Received) {
        tracing::warn!(label = %self.label(), ?trouble, "unusable bytes in the stream");
    }

    fn label(&self) -> &str {
        &self.connection.options.label
    }
}

impl Running {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<RequestKey, AbortHandle>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self, id: &Value) {
        let task = self.lock().remove(&RequestKey::of(id));
        if let Some(task) = task {
            task.abort();
        }
    }
}

/// Counts a request for as long as its handler runs.
struct RunningGuard {
    running: Arc<Running>,
    key: RequestKey,
}

impl RunningGuard {
    fn new(running: Arc<Running>, key: RequestKey) -> Self {
        running.n_requests.fetch_add(1, Ordering::Relaxed);
        RunningGuard { running, key }
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.running.n_requests.fetch_sub(1, Ordering::Relaxed);
        self.running.lock().remove(&self.key);
    }
}

/// Answers a request whose handler was aborted or panicked: a request is never left without an answer.
struct CancelledAnswer {
    connection: Arc<Connection>,
    id: Option<Value>,
}

impl Drop for CancelledAnswer {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let error = if std::thread::panicking() {
            ResponseError::internal("the request failed in an unexpected way")
        } else {
            ResponseError::new(codes::REQUEST_CANCELLED, "the request was cancelled")
        };
        self.connection.try_send(message::response(id, Err(error)));
    }
}

async fn handle_notifications<H: Handler>(
    connection: Arc<Connection>,
    handler: Arc<H>,
    mut queue: mpsc::Receiver<(String, Value)>,
) {
    while let Some((method, params)) = queue.recv().await {
        handler.notification(method, params).await;
        connection.n_handled.send_modify(|n_handled| *n_handled += 1);
    }
}
