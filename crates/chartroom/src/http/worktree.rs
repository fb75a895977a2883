//! `/api/project/{id}/worktree`: worktrees of our making, and the way back from them.

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_checkpoints::CheckpointError;
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::worktree::{
    AddWorktreeParams, AddWorktreeResponse, BringParams, BringResponse, RemoveWorktreeResponse, Worktree,
    WorktreeListResponse,
};
use chartroom_repository::{RepositoryError, worktrees};
use chartroom_workspace::git::GitError;
use chartroom_workspace::{CanonicalRoot, GateError};
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::{App, taken_away, worktrees as settings_of};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(list, add)),
        Route::new(Kind::Api, routes!(bring)),
        Route::new(Kind::Api, routes!(remove)),
    ]
}

/// Lists the worktrees of our making of a project's repository.
#[utoipa::path(get, path = "/api/project/{project_id}/worktree", tag = "worktrees",
    params(("project_id" = String, Path)), responses(
    (status = 200, body = WorktreeListResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn list(
    State(app): State<App>,
    Path(project_id): Path<String>,
) -> Result<Json<WorktreeListResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let records = worktrees::list(app.gate(), Some(&root));
    let told = |record: &worktrees::Record| Worktree {
        preparing: worktrees::last_run(record, worktrees::Command::SetUp),
        ..record.told()
    };
    Ok(Json(WorktreeListResponse { worktrees: records.iter().map(told).collect() }))
}

/// Makes a worktree on a new branch. It is a project of its own, trusted as the one that it was made of.
#[utoipa::path(post, path = "/api/project/{project_id}/worktree", tag = "worktrees",
    params(("project_id" = String, Path)), request_body = AddWorktreeParams, responses(
    (status = 201, body = AddWorktreeResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn add(
    State(app): State<App>,
    Path(project_id): Path<String>,
    JsonBody(params): JsonBody<AddWorktreeParams>,
) -> Result<(StatusCode, Json<AddWorktreeResponse>), ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    Ok((StatusCode::CREATED, Json(make(&app, &root, &params).await?)))
}

/// Makes a worktree of a folder's repository and a project of it.
pub(super) async fn make(
    app: &App,
    folder: &CanonicalRoot,
    params: &AddWorktreeParams,
) -> Result<AddWorktreeResponse, ApiError> {
    let preparation = settings_of::preparation(&app.config().worktrees, folder.as_path());
    let added = worktrees::add(app.gate(), folder, params, &preparation).await?;
    let root = CanonicalRoot::open(&added.worktree.path).map_err(ApiError::internal)?;
    app.projects().ensure(&root, false).await?;
    Ok(added)
}

/// Brings the work of a worktree to a branch. Where it does not fit, the conflicts are told and nothing has changed.
#[utoipa::path(post, path = "/api/project/{project_id}/worktree/{name}/bring", tag = "worktrees",
    params(("project_id" = String, Path), ("name" = String, Path)), request_body = BringParams, responses(
    (status = 200, body = BringResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn bring(
    State(app): State<App>,
    Path((project_id, name)): Path<(String, String)>,
    JsonBody(params): JsonBody<BringParams>,
) -> Result<Json<BringResponse>, ApiError> {
    let record = found(&app, project_id, &name).await?;
    Ok(Json(worktrees::bring(app.gate(), &record, &params).await?))
}

#[derive(Debug, Deserialize)]
pub(super) struct RemoveQuery {
    #[serde(default)]
    force: bool,
}

/// Removes a worktree and its branch; its sessions are archived. Where work would be lost nothing happens, unless
/// `force=true`.
#[utoipa::path(delete, path = "/api/project/{project_id}/worktree/{name}", tag = "worktrees", params(
    ("project_id" = String, Path),
    ("name" = String, Path),
    ("force" = Option<bool>, Query, description = "also when work would be lost; what is not committed is recorded first"),
), responses(
    (status = 200, body = RemoveWorktreeResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn remove(
    State(app): State<App>,
    Path((project_id, name)): Path<(String, String)>,
    Query(query): Query<RemoveQuery>,
) -> Result<Json<RemoveWorktreeResponse>, ApiError> {
    let record = found(&app, project_id, &name).await?;
    Ok(Json(taken_away(&app, &record, query.force).await?))
}

async fn found(app: &App, project_id: String, name: &str) -> Result<worktrees::Record, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    Ok(worktrees::find(app.gate(), Some(&root), name)?)
}

impl From<RepositoryError> for ApiError {
    fn from(error: RepositoryError) -> Self {
        let message = error.to_string();
        match error {
            RepositoryError::Gate(GateError::Untrusted { .. })
            | RepositoryError::Repository(GitError::Gate(GateError::Untrusted { .. })) => {
                Self::new(StatusCode::FORBIDDEN, ErrorCode::WorkspaceUntrusted, message)
            }
            RepositoryError::NotFound(_)
            | RepositoryError::Repository(GitError::NotARepository { .. })
            | RepositoryError::Checkpoint(
                CheckpointError::NoTurn { .. } | CheckpointError::NoSession { .. },
            ) => Self::not_found(ErrorCode::NotFound, message),
            RepositoryError::Refused(_) => Self::bad_request(ErrorCode::InvalidRequest, message),
            RepositoryError::Repository(_)
            | RepositoryError::Gate(_)
            | RepositoryError::Checkpoint(_)
            | RepositoryError::Trust(_)
            | RepositoryError::Failed { .. }
            | RepositoryError::Io { .. } => Self::new(StatusCode::BAD_GATEWAY, ErrorCode::Internal, message),
        }
    }
}
