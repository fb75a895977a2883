//! `/api/session/{id}/…`: how a session is set, what fills its context, and what was said in it.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use chartroom_protocol::context::ContextResponse;
use chartroom_protocol::error::ErrorResponse;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::{
    ArchiveParams, DoneResponse, SessionOptions, SetModeParams, SetModelParams, SetTitleParams,
};
use serde::Deserialize;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(model)),
        Route::new(Kind::Api, routes!(mode)),
        Route::new(Kind::Api, routes!(title)),
        Route::new(Kind::Api, routes!(archive)),
        Route::new(Kind::Api, routes!(options)),
        Route::new(Kind::Api, routes!(context)),
        Route::new(Kind::Api, routes!(history)),
    ]
}

/// Chooses the model; without a running agent the choice waits for its next start.
#[utoipa::path(post, path = "/api/session/{id}/model", tag = "sessions", params(("id" = String, Path)),
    request_body = SetModelParams, responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn model(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<SetModelParams>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().set_model(&SessionId::new(id), params.model).await?;
    Ok(Json(DoneResponse {}))
}

/// Chooses the permission mode; without a running agent the choice waits for its next start.
#[utoipa::path(post, path = "/api/session/{id}/mode", tag = "sessions", params(("id" = String, Path)),
    request_body = SetModeParams, responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn mode(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<SetModeParams>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().set_mode(&SessionId::new(id), params.mode).await?;
    Ok(Json(DoneResponse {}))
}

/// Names the session.
#[utoipa::path(post, path = "/api/session/{id}/title", tag = "sessions", params(("id" = String, Path)),
    request_body = SetTitleParams, responses(
    (status = 200, body = DoneResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn title(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<SetTitleParams>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().set_title(&SessionId::new(id), &params.title).await?;
    Ok(Json(DoneResponse {}))
}

/// Takes the session off the list, or puts it back.
#[utoipa::path(post, path = "/api/session/{id}/archive", tag = "sessions", params(("id" = String, Path)),
    request_body = ArchiveParams, responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn archive(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<ArchiveParams>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().set_archived(&SessionId::new(id), params.archived).await?;
    Ok(Json(DoneResponse {}))
}

/// Lists the models, modes and commands that the agent offers; empty until it has told.
#[utoipa::path(get, path = "/api/session/{id}/options", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = SessionOptions),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn options(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<SessionOptions>, ApiError> {
    Ok(Json(app.sessions().options(&SessionId::new(id)).await?))
}

/// Asks the agent what fills its context window. Takes up to a second: for a person who wants to know. An agent that
/// does not run is not started for it.
#[utoipa::path(get, path = "/api/session/{id}/context", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = ContextResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
    (status = 502, description = "PROCESS_CRASH, PROTOCOL_ERROR", body = ErrorResponse),
))]
pub(super) async fn context(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ContextResponse>, ApiError> {
    Ok(Json(app.sessions().context_use(&SessionId::new(id)).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct HistoryQuery {
    before: Option<u64>,
}

/// Returns the conversation as one `session:history` message: the newest part, or what lies before a place.
#[utoipa::path(get, path = "/api/session/{id}/history", tag = "sessions",
    params(("id" = String, Path), ("before" = Option<u64>, Query)), responses(
    (status = 200, description = "A session:history message", content_type = "application/json"),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn history(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<HistoryQuery>,
) -> Result<Response, ApiError> {
    let frame = app.sessions().history(&SessionId::new(id), query.before).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], frame.json.to_string()).into_response())
}
