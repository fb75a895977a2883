//! Errors as the API says them, for handlers and for what never reached one.

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chartroom_protocol::error::{ErrorBody, ErrorCode, ErrorResponse};

/// An answer that is not ok: a status, a code, and a sentence that says what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: StatusCode,
    /// What clients decide by.
    pub code: ErrorCode,
    /// A sentence for people.
    pub message: String,
}

impl ApiError {
    /// Returns an error with all its parts.
    pub fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    /// Returns a 400.
    pub fn bad_request(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Returns a 404.
    pub fn not_found(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, code, message)
    }

    /// Something of ours failed. The cause goes to the log, with the sentence that the client gets.
    pub fn internal(error: impl std::fmt::Display) -> Self {
        tracing::error!("a request failed: {error:#}");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, format!("{error:#}"))
    }
}

impl From<anyhow::Error> for ApiError {
    fn from(error: anyhow::Error) -> Self {
        Self::internal(format!("{error:#}"))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = ErrorResponse { error: ErrorBody { code: self.code, message: self.message } };
        (self.status, Json(body)).into_response()
    }
}

/// Gives every refusal of axum's own (405, 413, 415, a bad query) the shape that all errors have.
pub(super) async fn shape(response: Response) -> Response {
    let status = response.status();
    let plain = (status.is_client_error() || status.is_server_error()) && !has_shape(response.headers());
    if !plain {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let text = to_bytes(body, 4096).await.map_or_else(|_| String::new(), |bytes| text(&bytes));
    let code = code_of(status);
    let message = if text.is_empty() { words_of(status) } else { text };
    let body = ErrorResponse { error: ErrorBody { code, message } };
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    let body = serde_json::to_vec(&body).expect("an error of two strings can be written");
    Response::from_parts(parts, Body::from(body))
}

fn has_shape(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.starts_with("application/json") || value.starts_with("text/html"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

fn code_of(status: StatusCode) -> ErrorCode {
    match status {
        StatusCode::UNAUTHORIZED => ErrorCode::Unauthorized,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::METHOD_NOT_ALLOWED => ErrorCode::MethodNotAllowed,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorCode::PayloadTooLarge,
        StatusCode::UNSUPPORTED_MEDIA_TYPE => ErrorCode::UnsupportedMediaType,
        status if status.is_server_error() => ErrorCode::Internal,
        _ => ErrorCode::InvalidRequest,
    }
}

fn words_of(status: StatusCode) -> String {
    match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            "this route does not take this method; /api/openapi.json lists what it takes".to_owned()
        }
        StatusCode::PAYLOAD_TOO_LARGE => "the body is too large".to_owned(),
        status => status.canonical_reason().unwrap_or("the request failed").to_lowercase(),
    }
}
