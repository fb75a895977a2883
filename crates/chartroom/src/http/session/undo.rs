//! `/api/session/{id}/undo`: what was done to a session's folder and can be undone, whoever asks and whenever.

use axum::Json;
use axum::extract::{Path, State};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::undo::{UndoListResponse, UndoParams, UndoResponse};
use chartroom_repository::undo as acts;
use chartroom_workspace::CanonicalRoot;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(list, undo))]
}

/// Lists what was done to the session's folder and can be undone.
#[utoipa::path(get, path = "/api/session/{id}/undo", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = UndoListResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn list(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<UndoListResponse>, ApiError> {
    let folder = folder(&app, &SessionId::new(id)).await?;
    Ok(Json(UndoListResponse { acts: acts::list(app.gate(), &folder)? }))
}

/// Undoes one of them. A file that was changed since is left alone and named; a session that was archived with it is back.
#[utoipa::path(post, path = "/api/session/{id}/undo", tag = "sessions", params(("id" = String, Path)),
    request_body = UndoParams, responses(
    (status = 200, body = UndoResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn undo(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<UndoParams>,
) -> Result<Json<UndoResponse>, ApiError> {
    let folder = folder(&app, &SessionId::new(id)).await?;
    // A turn that has just ended is recorded first.
    app.turns_are_recorded(folder.as_path()).await;
    let undone = acts::undo(app.gate(), &folder, &params.act).await?;
    if undone.done
        && let Some(archived) = &undone.undone.archived
    {
        app.sessions().set_archived(&SessionId::new(archived.clone()), false).await?;
    }
    Ok(Json(undone))
}

async fn folder(app: &App, session_id: &SessionId) -> Result<CanonicalRoot, ApiError> {
    let folder = app.sessions().folder(session_id).await?;
    CanonicalRoot::open(folder)
        .map_err(|error| ApiError::not_found(ErrorCode::NotFound, format!("the project's folder: {error}")))
}
