//! `/api/project/{id}/git`: keep or undo what was changed, in the user's own repository.

use axum::Json;
use axum::extract::{Path, Query, State};
use chartroom_protocol::changes::FilePatch;
use chartroom_protocol::error::ErrorResponse;
use chartroom_protocol::ids::{ProjectId, SessionId};
use chartroom_protocol::keep::{
    ActResponse, CommitParams, CommitResponse, KeepParams, KeepResponse, PullRequestParams,
    PullRequestResponse, RepositoryStatus, SwitchParams,
};
use chartroom_repository::keep;
use chartroom_workspace::CanonicalRoot;
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use super::terminal::folder_of;
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(status)),
        Route::new(Kind::Api, routes!(staged)),
        Route::new(Kind::Api, routes!(stage)),
        Route::new(Kind::Api, routes!(unstage)),
        Route::new(Kind::Api, routes!(revert)),
        Route::new(Kind::Api, routes!(commit)),
        Route::new(Kind::Api, routes!(switch)),
        Route::new(Kind::Api, routes!(push)),
        Route::new(Kind::Api, routes!(pull_request)),
    ]
}

/// Whose folder is meant: a session's may be a worktree.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfSession {
    session_id: Option<String>,
}

async fn root(app: &App, project_id: String, of: OfSession) -> Result<CanonicalRoot, ApiError> {
    folder_of(app, &ProjectId::new(project_id), of.session_id.map(SessionId).as_ref()).await
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StagedQuery {
    path: String,
    session_id: Option<String>,
}

/// Tells what is staged of a file: how it differs from the last commit.
#[utoipa::path(get, path = "/api/project/{project_id}/git/staged", tag = "git",
    params(("project_id" = String, Path), ("path" = String, Query), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = FilePatch),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn staged(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(query): Query<StagedQuery>,
) -> Result<Json<FilePatch>, ApiError> {
    let root = root(&app, project_id, OfSession { session_id: query.session_id }).await?;
    Ok(Json(keep::staged(app.gate(), &root, &query.path).await?))
}

/// Tells how the repository stands: branch, files, branches.
#[utoipa::path(get, path = "/api/project/{project_id}/git", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = RepositoryStatus),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn status(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
) -> Result<Json<RepositoryStatus>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::status(app.gate(), &root).await?))
}

/// Stages files, hunks or everything.
#[utoipa::path(post, path = "/api/project/{project_id}/git/stage", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn stage(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::stage(app.gate(), &root, &params).await?))
}

/// Takes files, hunks or everything out of the next commit.
#[utoipa::path(post, path = "/api/project/{project_id}/git/unstage", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn unstage(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::unstage(app.gate(), &root, &params).await?))
}

/// Takes back files, hunks, or what a turn did. The files are recorded first; `undo` names the checkpoint.
#[utoipa::path(post, path = "/api/project/{project_id}/git/revert", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn revert(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    // A turn that has just ended is recorded first.
    app.turns_are_recorded(root.as_path()).await;
    Ok(Json(keep::revert(app.gate(), &root, &params).await?))
}

/// Commits what is staged. Hooks run, and what they say is told.
#[utoipa::path(post, path = "/api/project/{project_id}/git/commit", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = CommitParams,
    responses(
    (status = 200, body = CommitResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn commit(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<CommitParams>,
) -> Result<Json<CommitResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::commit(app.gate(), &root, &params).await?))
}

/// Switches to a branch, or makes one.
#[utoipa::path(post, path = "/api/project/{project_id}/git/switch", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = SwitchParams,
    responses(
    (status = 200, body = ActResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn switch(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<SwitchParams>,
) -> Result<Json<ActResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::switch(app.gate(), &root, &params).await?))
}

/// Pushes the branch to its remote.
#[utoipa::path(post, path = "/api/project/{project_id}/git/push", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = ActResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn push(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
) -> Result<Json<ActResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::push(app.gate(), &root).await?))
}

/// Makes a pull request with `gh` or `glab`, or tells the page on which one is made by hand.
#[utoipa::path(post, path = "/api/project/{project_id}/git/pull-request", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = PullRequestParams,
    responses(
    (status = 200, body = PullRequestResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn pull_request(
    State(app): State<App>,
    Path(project_id): Path<String>,
    Query(of): Query<OfSession>,
    JsonBody(params): JsonBody<PullRequestParams>,
) -> Result<Json<PullRequestResponse>, ApiError> {
    let root = root(&app, project_id, of).await?;
    Ok(Json(keep::pull_request(app.gate(), &root, &params).await?))
}
