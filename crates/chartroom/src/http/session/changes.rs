//! `/api/session/{id}/…`: what a session did to the files, and the way back.

use std::path::PathBuf;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use chartroom_checkpoints::{CheckpointError, Records, Scope, Wanted};
use chartroom_protocol::changes::{
    Changes, ForkParams, ForkResponse, RestoreParams, Restored, RewindParams, RewindResponse,
};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::SessionId;
use chartroom_workspace::CanonicalRoot;
use serde::Deserialize;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(changes)),
        Route::new(Kind::Api, routes!(rewind)),
        Route::new(Kind::Api, routes!(restore)),
        Route::new(Kind::Api, routes!(fork)),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChangesQuery {
    scope: Option<String>,
    turn: Option<String>,
    #[serde(default)]
    patch: bool,
}

/// Tells what changed: in the session (by default), in one of its turns, since the last commit, or since a branch parted.
#[utoipa::path(get, path = "/api/session/{id}/changes", tag = "sessions", params(
    ("id" = String, Path),
    ("scope" = Option<String>, Query, description = "turn, session, uncommitted, or a branch"),
    ("turn" = Option<String>, Query, description = "the turn that is meant; the last one if it is absent"),
    ("patch" = Option<bool>, Query, description = "with the differences themselves"),
), responses(
    (status = 200, body = Changes),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn changes(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<ChangesQuery>,
) -> Result<Json<Changes>, ApiError> {
    let records = records(&app, &SessionId(id.clone())).await?;
    let scope = match query.scope.as_deref() {
        Some("turn") => Scope::Turn { session: Some(id), turn: query.turn },
        None | Some("session") if query.turn.is_none() => Scope::Session(Some(id)),
        Some("uncommitted") if query.turn.is_none() => Scope::Uncommitted,
        Some(branch) if query.turn.is_none() => Scope::Branch(branch.to_owned()),
        _ => return Err(ApiError::bad_request(ErrorCode::InvalidRequest, "a turn has the scope `turn`")),
    };
    Ok(Json(records.changes(&scope, query.patch).await.map_err(refusal)?))
}

/// Goes back to before a turn. Files that somebody else changed since are left alone and named, unless `force`.
#[utoipa::path(post, path = "/api/session/{id}/rewind", tag = "sessions", params(("id" = String, Path)),
    request_body = RewindParams, responses(
    (status = 200, body = RewindResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn rewind(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<RewindParams>,
) -> Result<Json<RewindResponse>, ApiError> {
    let session_id = SessionId(id);
    if !params.files && !params.conversation {
        let message = "say what goes back: `files`, `conversation` or both";
        return Err(ApiError::bad_request(ErrorCode::InvalidRequest, message));
    }
    let records = records(&app, &session_id).await?;
    let sessions = app.sessions();
    if !params.dry_run {
        sessions.check_rests(&session_id).await?;
    }
    // Both are looked at before anything is done.
    let target = match params.files {
        true => Some(records.before(session_id.as_str(), params.before.as_str()).map_err(refusal)?),
        false => None,
    };
    let mut done = RewindResponse { files: None, session: None, cannot: None };
    if params.conversation {
        done.cannot = sessions.cannot_fork(&session_id).await?;
        if done.cannot.is_none() && !params.dry_run {
            let forked = sessions.fork_before(&session_id, Some(&params.before)).await?;
            sessions.set_archived(&session_id, true).await?;
            done.session = Some(forked.session_id);
        }
    }
    if let Some(target) = target {
        let wanted = Wanted { paths: Vec::new(), dry_run: params.dry_run, force: params.force };
        done.files = Some(records.restore(&target, &wanted).await.map_err(refusal)?);
    }
    Ok(Json(done))
}

/// Goes on from a turn in a session of its own; the old one stays as it is.
#[utoipa::path(post, path = "/api/session/{id}/fork", tag = "sessions", params(("id" = String, Path)),
    request_body = ForkParams, responses(
    (status = 200, body = ForkResponse),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn fork(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<ForkParams>,
) -> Result<Json<ForkResponse>, ApiError> {
    let session_id = SessionId(id);
    if let Some(cannot) = app.sessions().cannot_fork(&session_id).await? {
        return Ok(Json(ForkResponse { session: None, cannot: Some(cannot) }));
    }
    let forked = app.sessions().fork(&session_id, params.at.as_ref()).await?;
    Ok(Json(ForkResponse { session: Some(forked.session_id), cannot: None }))
}

/// Makes the files what a checkpoint of the session's folder says; so is a rewind undone.
#[utoipa::path(post, path = "/api/session/{id}/restore", tag = "sessions", params(("id" = String, Path)),
    request_body = RestoreParams, responses(
    (status = 200, body = Restored),
    (status = 400, description = "INVALID_REQUEST", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn restore(
    State(app): State<App>,
    Path(id): Path<String>,
    JsonBody(params): JsonBody<RestoreParams>,
) -> Result<Json<Restored>, ApiError> {
    let records = records(&app, &SessionId(id)).await?;
    let target = records.find_here(&params.checkpoint).map_err(refusal)?;
    let paths = params.paths.into_iter().map(PathBuf::from).collect();
    let wanted = Wanted { paths, dry_run: params.dry_run, force: params.force };
    Ok(Json(records.restore(&target, &wanted).await.map_err(refusal)?))
}

async fn records(app: &App, session_id: &SessionId) -> Result<Records, ApiError> {
    let folder = app.sessions().folder(session_id).await?;
    app.turns_are_recorded(&folder).await;
    let root = CanonicalRoot::open(folder).map_err(|error| {
        ApiError::not_found(ErrorCode::NotFound, format!("the project's folder: {error}"))
    })?;
    Records::of(app.gate(), &root).await.map_err(refusal)
}

fn refusal(error: CheckpointError) -> ApiError {
    match error {
        CheckpointError::NoSession { .. }
        | CheckpointError::NoTurn { .. }
        | CheckpointError::Unknown { .. }
        | CheckpointError::NoRepository { .. }
        | CheckpointError::NoSuchRef { .. } => ApiError::not_found(ErrorCode::NotFound, error.to_string()),
        CheckpointError::Ambiguous { .. } => {
            ApiError::bad_request(ErrorCode::InvalidRequest, error.to_string())
        }
        CheckpointError::Gate(_)
        | CheckpointError::Git { .. }
        | CheckpointError::Nonsense { .. }
        | CheckpointError::Io { .. } => {
            ApiError::new(StatusCode::BAD_GATEWAY, ErrorCode::Internal, error.to_string())
        }
    }
}
