//! `/api/project`: add, list, remove, trust.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::project::{AddProjectParams, Project, ProjectListResponse, TrustParams};
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::App;
use crate::projects::ProjectError;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(list, add)),
        Route::new(Kind::Api, routes!(remove)),
        Route::new(Kind::Api, routes!(trust)),
    ]
}

/// Lists the projects.
#[utoipa::path(get, path = "/api/project", tag = "projects", responses((status = 200, body = ProjectListResponse)))]
pub(super) async fn list(State(app): State<App>) -> Result<Json<ProjectListResponse>, ApiError> {
    Ok(Json(ProjectListResponse { projects: app.projects().list().await? }))
}

/// Adds a folder as a project.
#[utoipa::path(post, path = "/api/project", tag = "projects", request_body = AddProjectParams, responses(
    (status = 201, body = Project),
    (status = 400, description = "INVALID_PATH", body = ErrorResponse),
    (status = 409, description = "DUPLICATE_PROJECT", body = ErrorResponse),
))]
pub(super) async fn add(
    State(app): State<App>,
    JsonBody(params): JsonBody<AddProjectParams>,
) -> Result<(StatusCode, Json<Project>), ApiError> {
    Ok((StatusCode::CREATED, Json(app.projects().add(&params.path).await?)))
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoveQuery {
    #[serde(default)]
    sessions: Sessions,
}

/// What becomes of a removed project's sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Sessions {
    #[default]
    Keep,
    Delete,
}

/// Takes a project off the list; its folder stays as it is. Its sessions come back with it when it is added again,
/// unless `sessions=delete` deletes them for good.
#[utoipa::path(delete, path = "/api/project/{project_id}", tag = "projects",
    params(("project_id" = String, Path), ("sessions" = Option<String>, Query, description = "keep or delete")), responses(
    (status = 204, description = "Removed"),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn remove(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<RemoveQuery>,
) -> Result<StatusCode, ApiError> {
    let project_id = ProjectId::new(project_id);
    match query.sessions {
        Sessions::Keep => app.projects().remove(&project_id).await?,
        Sessions::Delete => {
            app.sessions().delete_project(&project_id).await?;
            app.projects().tell_changed();
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Trusts a project's folder, or takes trust back. Only a person may: the token is refused to what we have started.
#[utoipa::path(post, path = "/api/project/{project_id}/trust", tag = "projects",
    params(("project_id" = String, Path)), request_body = TrustParams, responses(
    (status = 200, body = Project),
    (status = 400, description = "INVALID_PATH: the real path is not the one that was shown", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn trust(
    State(app): State<App>,
    Path(project_id): Path<String>,
    JsonBody(params): JsonBody<TrustParams>,
) -> Result<Json<Project>, ApiError> {
    let project_id = ProjectId::new(project_id);
    Ok(Json(app.projects().set_trust(&project_id, &params.real_path, params.trusted).await?))
}

impl From<ProjectError> for ApiError {
    fn from(error: ProjectError) -> Self {
        let message = error.to_string();
        match error {
            ProjectError::InvalidPath(_) | ProjectError::Moved { .. } => {
                Self::bad_request(ErrorCode::InvalidPath, message)
            }
            ProjectError::Duplicate(_) => {
                Self::new(StatusCode::CONFLICT, ErrorCode::DuplicateProject, message)
            }
            ProjectError::NotFound(_) => Self::not_found(ErrorCode::NotFound, message),
            // The user can mend these (a root that holds our own data folder), so the sentence goes to them.
            ProjectError::Trust(_) => Self::bad_request(ErrorCode::InvalidPath, message),
            ProjectError::Store(_) => Self::internal(message),
        }
    }
}
