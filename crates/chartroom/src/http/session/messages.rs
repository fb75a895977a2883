//! `/api/session/{id}/…`: what is said to an agent: messages, the queue, answers, stop.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use chartroom_protocol::error::ErrorResponse;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::{
    AnswerParams, DoneResponse, QueueParams, QueueResponse, SendParams, SendResponse,
};
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Upload, routes!(send)),
        Route::new(Kind::Api, routes!(cancel)),
        Route::new(Kind::Api, routes!(answer)),
        Route::new(Kind::Upload, routes!(queue, change_queue)),
    ]
}

/// Sends a message. It is kept on the disk before this answers; while a turn runs it waits in the queue.
#[utoipa::path(post, path = "/api/session/{id}/send", tag = "sessions", params(("id" = String, Path)),
    request_body = SendParams, responses(
    (status = 202, body = SendResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
    (status = 413, description = "MESSAGE_TOO_LARGE", body = ErrorResponse),
))]
pub(super) async fn send(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<SendParams>,
) -> Result<(StatusCode, Json<SendResponse>), ApiError> {
    Ok((StatusCode::ACCEPTED, Json(app.sessions().send(&SessionId::new(id), params).await?)))
}

/// Interrupts the running turn.
#[utoipa::path(post, path = "/api/session/{id}/cancel", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
    (status = 502, description = "INTERRUPT_FAILED", body = ErrorResponse),
))]
pub(super) async fn cancel(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().cancel(&SessionId::new(id)).await?;
    Ok(Json(DoneResponse {}))
}

/// Answers a permission request or a question. Of two answers to one question the second is refused.
#[utoipa::path(post, path = "/api/session/{id}/answer", tag = "sessions", params(("id" = String, Path)),
    request_body = AnswerParams, responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND, QUESTION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn answer(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<AnswerParams>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().answer(&SessionId::new(id), params).await?;
    Ok(Json(DoneResponse {}))
}

/// Lists the messages that wait for the running turn to end.
#[utoipa::path(get, path = "/api/session/{id}/queue", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = QueueResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn queue(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<QueueResponse>, ApiError> {
    Ok(Json(app.sessions().queue(&SessionId::new(id)).await?))
}

/// Edits or removes a waiting message, or sends it now.
#[utoipa::path(post, path = "/api/session/{id}/queue", tag = "sessions", params(("id" = String, Path)),
    request_body = QueueParams, responses(
    (status = 200, body = QueueResponse),
    (status = 404, description = "SESSION_NOT_FOUND, QUEUED_MESSAGE_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn change_queue(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(change): JsonBody<QueueParams>,
) -> Result<Json<QueueResponse>, ApiError> {
    Ok(Json(app.sessions().change_queue(&SessionId::new(id), change).await?))
}
