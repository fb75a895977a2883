//! The writing task: the one place that writes to the other side.

use std::sync::Arc;

use bytes::BytesMut;
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio_util::codec::Encoder;

use super::connection::{Connection, OutgoingQueue};
use super::message;
use crate::codec::Codec;

/// Writes until the connection closes or the pipe breaks.
pub(super) async fn run(
    connection: Arc<Connection>,
    mut queue: OutgoingQueue,
    mut write: impl AsyncWrite + Unpin,
) {
    let closed = connection.closed();
    tokio::pin!(closed);
    let mut codec = Codec::new(connection.options.framing, connection.options.max_message);
    let mut buffer = BytesMut::new();
    loop {
        let message = tokio::select! {
            biased;
            _reason = &mut closed => break,
            // Messages come before cancellations, so that a cancellation cannot overtake its request.
            Some(message) = queue.messages.recv() => message,
            Some(id) = queue.cancellations.recv() => match connection.options.cancel_method {
                Some(method) => message::notification(method, json!({"id": id})),
                None => continue,
            },
            else => break,
        };
        if let Err(error) = encode(&mut codec, &message, &mut buffer) {
            tracing::warn!(label = %connection.options.label, %error, "a message could not be written as JSON");
            buffer.clear();
            continue;
        }
        let written = async {
            write.write_all_buf(&mut buffer).await?;
            write.flush().await
        };
        tokio::select! {
            biased;
            _reason = &mut closed => break,
            written = written => if let Err(error) = written {
                connection.close(&format!("writing failed: {error}"));
                break;
            },
        }
        buffer.clear();
    }
    if let Err(error) = write.shutdown().await {
        tracing::debug!(label = %connection.options.label, %error, "the outgoing stream was gone already");
    }
}

fn encode(codec: &mut Codec, message: &Value, buffer: &mut BytesMut) -> std::io::Result<()> {
    codec.encode(&serde_json::to_vec(message)?, buffer)
}
