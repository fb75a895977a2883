//! `/api/session`: making, finding, loading and ending sessions.

mod answer;
mod changes;
mod messages;
mod review;
mod settings;
mod undo;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::{ProjectId, SessionId};
use chartroom_protocol::session::{
    CreateSessionParams, DoneResponse, SessionListResponse, SessionResponse, SessionStatusResponse,
};
use chartroom_sessions::NewSession;
use chartroom_sessions::store::StoredProject;
use chartroom_workspace::CanonicalRoot;
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    let own = vec![
        Route::new(Kind::Api, routes!(create)),
        Route::new(Kind::Api, routes!(list)),
        Route::new(Kind::Api, routes!(load)),
        Route::new(Kind::Api, routes!(status)),
        Route::new(Kind::Api, routes!(kill)),
        Route::new(Kind::Api, routes!(delete)),
    ];
    let others =
        [messages::routes(), settings::routes(), changes::routes(), review::routes(), undo::routes()];
    own.into_iter().chain(others.into_iter().flatten()).collect()
}

/// Starts an agent on a new conversation. A folder that is no project yet becomes one; so does the worktree that is asked for.
#[utoipa::path(post, path = "/api/session/create", tag = "sessions", request_body = CreateSessionParams, responses(
    (status = 201, body = SessionResponse),
    (status = 400, description = "UNSUPPORTED_CLI_TYPE, INVALID_PATH", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 424, description = "AGENT_NOT_INSTALLED", body = ErrorResponse),
    (status = 502, description = "SESSION_CREATE_FAILED", body = ErrorResponse),
))]
pub(super) async fn create(
    State(app): State<App>,
    JsonBody(params): JsonBody<CreateSessionParams>,
) -> Result<(StatusCode, Json<SessionResponse>), ApiError> {
    // Before anything is remembered: a wrong name must not leave a project behind.
    app.sessions().check_cli_type(&params.cli_type)?;
    let mut root = CanonicalRoot::open(&params.project_dir)
        .map_err(|error| ApiError::bad_request(ErrorCode::InvalidPath, format!("projectDir: {error}")))?;
    if let Some(worktree) = &params.worktree {
        let made = super::worktree::make(&app, &root, worktree).await?;
        root = CanonicalRoot::open(&made.worktree.path).map_err(ApiError::internal)?;
    }
    let project = app.projects().ensure(&root, false).await?;
    let new = NewSession {
        cli_type: params.cli_type,
        project: StoredProject {
            project_id: project.project_id,
            path: root.as_path().to_owned(),
            name: project.name,
        },
        model: params.model,
        mode: params.mode,
        provider_options: params.provider_options.unwrap_or_default(),
    };
    Ok((StatusCode::CREATED, Json(app.sessions().create(new).await?)))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListQuery {
    project_id: Option<String>,
    #[serde(default)]
    all: bool,
}

/// Lists a project's sessions, the last active first: ours, and those that were made outside Chartroom. Archived and
/// ended ones only with `all=true`.
#[utoipa::path(get, path = "/api/session/list", tag = "sessions",
    params(("projectId" = String, Query), ("all" = Option<bool>, Query)), responses(
    (status = 200, body = SessionListResponse),
    (status = 400, description = "PROJECT_ID_REQUIRED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn list(
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<SessionListResponse>, ApiError> {
    let project_id = query.project_id.filter(|id| !id.is_empty()).ok_or_else(|| {
        ApiError::bad_request(
            ErrorCode::ProjectIdRequired,
            "say which project: /api/session/list?projectId=…",
        )
    })?;
    let sessions = app.sessions().list(&ProjectId::new(project_id), query.all).await?;
    Ok(Json(SessionListResponse { sessions }))
}

/// Starts the agent on a session that exists. One that was made outside Chartroom becomes ours.
#[utoipa::path(post, path = "/api/session/{id}/load", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = SessionResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn load(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<SessionResponse>, ApiError> {
    Ok(Json(app.sessions().load(&SessionId::new(id)).await?))
}

/// Tells how a session stands.
#[utoipa::path(get, path = "/api/session/{id}/status", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = SessionStatusResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn status(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<SessionStatusResponse>, ApiError> {
    Ok(Json(app.sessions().status(&SessionId::new(id)).await?))
}

/// Ends the agent and all its processes. The conversation stays and can be loaded again.
#[utoipa::path(post, path = "/api/session/{id}/kill", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = DoneResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn kill(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<DoneResponse>, ApiError> {
    app.sessions().kill(&SessionId::new(id)).await?;
    Ok(Json(DoneResponse {}))
}

/// Deletes a session for good, with all that is kept of it here. Its agent is ended first, with a turn that runs; the
/// agent's own files stay, and the session is not discovered again.
#[utoipa::path(delete, path = "/api/session/{id}", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 204, description = "Deleted"),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn delete(State(app): State<App>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    app.sessions().delete(&SessionId::new(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
