//! Server-sent events out of a task that may wait in the middle.

use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::mpsc;

/// The writing end of one stream. Writing to a reader that went away is not an error: an agent may hang up.
pub(crate) struct Events {
    sender: mpsc::Sender<String>,
}

impl Events {
    /// Sends one event whose name is the `type` of its data, as both APIs have it.
    pub(crate) async fn send(&self, data: Value) -> bool {
        let name = data.get("type").and_then(Value::as_str).unwrap_or("message");
        self.sender.send(format!("event: {name}\ndata: {data}\n\n")).await.is_ok()
    }

    /// Keeps the stream open until the reader hangs up.
    pub(crate) async fn hang(&self) {
        self.sender.closed().await;
    }

    /// Completes when the reader hangs up.
    pub(crate) async fn closed(&self) {
        self.sender.closed().await;
    }
}

/// Answers with the stream that `write` makes.
pub(crate) fn respond<F, W>(write: F) -> Response
where
    F: FnOnce(Events) -> W,
    W: Future<Output = ()> + Send + 'static,
{
    // Small: a reader that stops reading stops the writer, as with the real API.
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(write(Events { sender }));
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|event| (Ok::<_, std::convert::Infallible>(event), receiver))
    });
    (
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")],
        Body::from_stream(stream),
    )
        .into_response()
}

/// Answers with an error in the API's own shape.
pub(crate) fn error(status: u16, body: Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}
