//! `/api/session/{id}/review`: comments on what a session changed, and which files were looked at.

use axum::Json;
use axum::extract::{Path, State};
use chartroom_protocol::error::ErrorResponse;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::review::{Comment, Review, ViewedParams};
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(review)),
        Route::new(Kind::Api, routes!(put_comment)),
        Route::new(Kind::Api, routes!(remove_comment)),
        Route::new(Kind::Api, routes!(viewed)),
    ]
}

/// Returns what a person noted beside the changes of a session.
#[utoipa::path(get, path = "/api/session/{id}/review", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = Review),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn review(State(app): State<App>, Path(id): Path<String>) -> Result<Json<Review>, ApiError> {
    Ok(Json(app.sessions().review(&SessionId::new(id)).await?))
}

/// Keeps a comment; one with the same id is replaced. It is kept over a restart, and goes with the session.
#[utoipa::path(post, path = "/api/session/{id}/review/comment", tag = "sessions", params(("id" = String, Path)),
    request_body = Comment, responses(
    (status = 200, body = Review),
    (status = 400, description = "INVALID_REQUEST: too long, too many, or no lines", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn put_comment(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(comment): JsonBody<Comment>,
) -> Result<Json<Review>, ApiError> {
    Ok(Json(app.sessions().put_comment(&SessionId::new(id), comment).await?))
}

/// Forgets a comment.
#[utoipa::path(delete, path = "/api/session/{id}/review/comment/{comment_id}", tag = "sessions",
    params(("id" = String, Path), ("comment_id" = String, Path)), responses(
    (status = 200, body = Review),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn remove_comment(
    State(app): State<App>,
    Path((id, comment_id)): Path<(String, String)>,
) -> Result<Json<Review>, ApiError> {
    Ok(Json(app.sessions().remove_comment(&SessionId::new(id), &comment_id).await?))
}

/// Notes that a file was looked at, or that it was not.
#[utoipa::path(post, path = "/api/session/{id}/review/viewed", tag = "sessions", params(("id" = String, Path)),
    request_body = ViewedParams, responses(
    (status = 200, body = Review),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn viewed(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<ViewedParams>,
) -> Result<Json<Review>, ApiError> {
    Ok(Json(app.sessions().set_viewed(&SessionId::new(id), params).await?))
}
