//! `/api/project/{id}/git`: keep or undo what was changed, in the user's own repository.

use axum::Json;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
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

/// The folder that a request means: the project's, or that of one of its sessions, which may be a worktree.
pub(super) struct Folder(CanonicalRoot);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OfSession {
    session_id: Option<String>,
}

impl FromRequestParts<App> for Folder {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Response> {
        let Path(project_id) =
            Path::<String>::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let Query(of) =
            Query::<OfSession>::from_request_parts(parts, app).await.map_err(IntoResponse::into_response)?;
        let found =
            folder_of(app, &ProjectId::new(project_id), of.session_id.map(SessionId::new).as_ref()).await;
        found.map(Self).map_err(IntoResponse::into_response)
    }
}

/// How each of these routes refuses.
#[derive(utoipa::IntoResponses)]
#[allow(dead_code, reason = "it is read by the macro that describes the routes")]
enum Refused {
    /// INVALID_REQUEST
    #[response(status = 400)]
    Invalid(ErrorResponse),
    /// WORKSPACE_UNTRUSTED
    #[response(status = 403)]
    Untrusted(ErrorResponse),
    /// NOT_FOUND
    #[response(status = 404)]
    NotFound(ErrorResponse),
}

#[derive(Debug, Deserialize)]
pub(super) struct StagedQuery {
    path: String,
}

/// Tells what is staged of a file: how it differs from the last commit.
#[utoipa::path(get, path = "/api/project/{project_id}/git/staged", tag = "git",
    params(("project_id" = String, Path), ("path" = String, Query), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = FilePatch),
    Refused,
))]
pub(super) async fn staged(
    State(app): State<App>,
    Folder(root): Folder,
    Query(query): Query<StagedQuery>,
) -> Result<Json<FilePatch>, ApiError> {
    Ok(Json(keep::staged(app.gate(), &root, &query.path).await?))
}

/// Tells how the repository stands: branch, files, branches.
#[utoipa::path(get, path = "/api/project/{project_id}/git", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = RepositoryStatus),
    Refused,
))]
pub(super) async fn status(
    State(app): State<App>,
    Folder(root): Folder,
) -> Result<Json<RepositoryStatus>, ApiError> {
    Ok(Json(keep::status(app.gate(), &root).await?))
}

/// Stages files, hunks or everything.
#[utoipa::path(post, path = "/api/project/{project_id}/git/stage", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    Refused,
))]
pub(super) async fn stage(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    Ok(Json(keep::stage(app.gate(), &root, &params).await?))
}

/// Takes files, hunks or everything out of the next commit.
#[utoipa::path(post, path = "/api/project/{project_id}/git/unstage", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    Refused,
))]
pub(super) async fn unstage(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    Ok(Json(keep::unstage(app.gate(), &root, &params).await?))
}

/// Takes back files, hunks, or what a turn did. The files are recorded first; `undo` names the checkpoint.
#[utoipa::path(post, path = "/api/project/{project_id}/git/revert", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = KeepParams,
    responses(
    (status = 200, body = KeepResponse),
    Refused,
))]
pub(super) async fn revert(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<KeepParams>,
) -> Result<Json<KeepResponse>, ApiError> {
    // A turn that has just ended is recorded first.
    app.turns_are_recorded(root.as_path()).await;
    Ok(Json(keep::revert(app.gate(), &root, &params).await?))
}

/// Commits what is staged. Hooks run, and what they say is told.
#[utoipa::path(post, path = "/api/project/{project_id}/git/commit", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = CommitParams,
    responses(
    (status = 200, body = CommitResponse),
    Refused,
))]
pub(super) async fn commit(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<CommitParams>,
) -> Result<Json<CommitResponse>, ApiError> {
    Ok(Json(keep::commit(app.gate(), &root, &params).await?))
}

/// Switches to a branch, or makes one.
#[utoipa::path(post, path = "/api/project/{project_id}/git/switch", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = SwitchParams,
    responses(
    (status = 200, body = ActResponse),
    Refused,
))]
pub(super) async fn switch(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<SwitchParams>,
) -> Result<Json<ActResponse>, ApiError> {
    Ok(Json(keep::switch(app.gate(), &root, &params).await?))
}

/// Pushes the branch to its remote.
#[utoipa::path(post, path = "/api/project/{project_id}/git/push", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    responses(
    (status = 200, body = ActResponse),
    Refused,
))]
pub(super) async fn push(
    State(app): State<App>,
    Folder(root): Folder,
) -> Result<Json<ActResponse>, ApiError> {
    Ok(Json(keep::push(app.gate(), &root).await?))
}

/// Makes a pull request with `gh` or `glab`, or tells the page on which one is made by hand.
#[utoipa::path(post, path = "/api/project/{project_id}/git/pull-request", tag = "git", params(("project_id" = String, Path), ("sessionId" = Option<String>, Query)),
    request_body = PullRequestParams,
    responses(
    (status = 200, body = PullRequestResponse),
    Refused,
))]
pub(super) async fn pull_request(
    State(app): State<App>,
    Folder(root): Folder,
    JsonBody(params): JsonBody<PullRequestParams>,
) -> Result<Json<PullRequestResponse>, ApiError> {
    Ok(Json(keep::pull_request(app.gate(), &root, &params).await?))
}
