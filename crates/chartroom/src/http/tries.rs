//! `/api/project/{id}/tries`: one message to several sessions, each in a worktree of its own; one is kept.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::tries::{
    EndTriesResponse, KeepTryParams, StartTriesParams, TestTriesParams, Tries, TriesListResponse,
};
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::App;
use crate::tries::{self, TriesError};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(list, start)),
        Route::new(Kind::Api, routes!(one, remove)),
        Route::new(Kind::Api, routes!(test)),
        Route::new(Kind::Api, routes!(keep)),
    ]
}

/// Lists the tries of a project as they are now.
#[utoipa::path(get, path = "/api/project/{project_id}/tries", tag = "tries", params(("project_id" = String, Path)),
    responses(
    (status = 200, body = TriesListResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn list(
    State(app): State<App>,
    Path(project_id): Path<String>,
) -> Result<Json<TriesListResponse>, ApiError> {
    Ok(Json(TriesListResponse { tries: tries::list(&app, &ProjectId::new(project_id)).await? }))
}

/// Begins two to four tries of a message. The answer comes at once, with each of them `making`.
#[utoipa::path(post, path = "/api/project/{project_id}/tries", tag = "tries", params(("project_id" = String, Path)),
    request_body = StartTriesParams, responses(
    (status = 201, body = Tries),
    (status = 400, description = "INVALID_REQUEST, UNSUPPORTED_CLI_TYPE", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn start(
    State(app): State<App>,
    Path(project_id): Path<String>,
    JsonBody(params): JsonBody<StartTriesParams>,
) -> Result<(StatusCode, Json<Tries>), ApiError> {
    let tries = tries::start(&app, &ProjectId::new(project_id), params).await?;
    Ok((StatusCode::CREATED, Json(tries)))
}

/// Tells how they stand: state, cost, time, tests and size of each.
#[utoipa::path(get, path = "/api/project/{project_id}/tries/{tries_id}", tag = "tries",
    params(("project_id" = String, Path), ("tries_id" = String, Path)), responses(
    (status = 200, body = Tries),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn one(
    State(app): State<App>,
    Path((project_id, tries_id)): Path<(String, String)>,
) -> Result<Json<Tries>, ApiError> {
    Ok(Json(tries::one(&app, &ProjectId::new(project_id), &tries_id).await?))
}

/// Begins to test them with the command of the user's config. The answer comes at once, with each test `running`.
#[utoipa::path(post, path = "/api/project/{project_id}/tries/{tries_id}/test", tag = "tries",
    params(("project_id" = String, Path), ("tries_id" = String, Path)), request_body = TestTriesParams, responses(
    (status = 200, body = Tries),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn test(
    State(app): State<App>,
    Path((project_id, tries_id)): Path<(String, String)>,
    JsonBody(params): JsonBody<TestTriesParams>,
) -> Result<Json<Tries>, ApiError> {
    Ok(Json(tries::test(&app, &ProjectId::new(project_id), &tries_id, &params).await?))
}

/// Keeps one: brings its work back and removes the others. Where work would be lost or does not fit, nothing has changed.
#[utoipa::path(post, path = "/api/project/{project_id}/tries/{tries_id}/keep", tag = "tries",
    params(("project_id" = String, Path), ("tries_id" = String, Path)), request_body = KeepTryParams, responses(
    (status = 200, body = EndTriesResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn keep(
    State(app): State<App>,
    Path((project_id, tries_id)): Path<(String, String)>,
    JsonBody(params): JsonBody<KeepTryParams>,
) -> Result<Json<EndTriesResponse>, ApiError> {
    Ok(Json(tries::keep(&app, &ProjectId::new(project_id), &tries_id, &params).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoveQuery {
    #[serde(default)]
    force: bool,
}

/// Removes them all but the one that was kept, and forgets them. Where work would be lost nothing happens, unless
/// `force=true`.
#[utoipa::path(delete, path = "/api/project/{project_id}/tries/{tries_id}", tag = "tries", params(
    ("project_id" = String, Path),
    ("tries_id" = String, Path),
    ("force" = Option<bool>, Query, description = "also when work would be lost; what is not committed is recorded first"),
), responses(
    (status = 200, body = EndTriesResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn remove(
    State(app): State<App>,
    Path((project_id, tries_id)): Path<(String, String)>,
    Query(query): Query<RemoveQuery>,
) -> Result<Json<EndTriesResponse>, ApiError> {
    Ok(Json(tries::drop_all(&app, &ProjectId::new(project_id), &tries_id, query.force).await?))
}

impl From<TriesError> for ApiError {
    fn from(error: TriesError) -> Self {
        match error {
            TriesError::Invalid(message) => Self::bad_request(ErrorCode::InvalidRequest, message),
            TriesError::NotFound(_) => Self::not_found(ErrorCode::NotFound, error.to_string()),
            TriesError::Untrusted(_) => {
                Self::new(StatusCode::FORBIDDEN, ErrorCode::WorkspaceUntrusted, error.to_string())
            }
            TriesError::Repository(error) => error.into(),
            TriesError::Agent(error) => error.into(),
            TriesError::Project(error) => error.into(),
            TriesError::Io(_) => Self::internal(error),
        }
    }
}
