//! A body that is too large by its own word is read away before it is refused, so that the client reads the answer
//! instead of a broken connection.

use axum::extract::Request;
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use super::json::too_large;
use super::limits;

/// Answers 413 when the declared length is over `limit`; hands everything else on.
///
/// A client that declares nothing, or lies, meets the limit while its body is read.
pub(super) async fn refuse(limit: usize, request: Request, next: Next) -> Response {
    let declared = request
        .headers()
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok())
        .and_then(|length| length.parse::<u64>().ok());
    if declared.is_none_or(|length| length <= limit as u64) {
        return next.run(request).await;
    }
    let mut left = limits::READ_AWAY;
    let mut body = request.into_body().into_data_stream();
    while let Some(Ok(bytes)) = body.next().await {
        left = left.saturating_sub(bytes.len());
        if left == 0 {
            break;
        }
    }
    too_large().into_response()
}
