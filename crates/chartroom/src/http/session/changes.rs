//! `/api/session/{id}/…`: what a session did to the files, and the way back.

use std::path::PathBuf;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use chartroom_checkpoints::{Checkpoint, CheckpointError, Detail, Records, Scope, Wanted};
use chartroom_protocol::changes::{
    Changes, FilePatch, ForkParams, ForkResponse, RestoreParams, Restored, RewindParams, RewindResponse,
    ScopesResponse,
};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::SessionId;
use chartroom_repository::undo::{self, Act, Sessions};
use chartroom_workspace::CanonicalRoot;
use serde::Deserialize;
use utoipa_axum::routes;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::json::JsonBody;
use crate::http::routes::{Kind, Route};

/// Lines around a change, unless somebody asks for more.
const CONTEXT_LINES: u32 = 3;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(changes)),
        Route::new(Kind::Api, routes!(changed_file)),
        Route::new(Kind::Api, routes!(changed_content)),
        Route::new(Kind::Api, routes!(scopes)),
        Route::new(Kind::Api, routes!(looked)),
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
    #[serde(default)]
    versions: bool,
    #[serde(default)]
    quick: bool,
}

/// Tells what changed: in the session (by default), in one of its turns, since the last commit, or since a branch parted.
#[utoipa::path(get, path = "/api/session/{id}/changes", tag = "sessions", params(
    ("id" = String, Path),
    ("scope" = Option<String>, Query, description = "turn, session, looked, uncommitted, or a branch"),
    ("turn" = Option<String>, Query, description = "the turn that is meant; the last one if it is absent"),
    ("patch" = Option<bool>, Query, description = "with the differences themselves"),
    ("versions" = Option<bool>, Query, description = "with the ids of the contents, by which `changes/file` compares them"),
    ("quick" = Option<bool>, Query, description = "with `versions`: the lines of more than 500 files are not counted"),
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
    let records = records(&app, &SessionId::new(id.clone())).await?;
    let scope = match query.scope.as_deref() {
        Some("turn") => Scope::Turn { session: Some(id), turn: query.turn },
        None | Some("session") if query.turn.is_none() => Scope::Session(Some(id)),
        Some("looked") if query.turn.is_none() => Scope::Looked(id),
        Some("uncommitted") if query.turn.is_none() => Scope::Uncommitted,
        Some(branch) if query.turn.is_none() => Scope::Branch(branch.to_owned()),
        _ => return Err(ApiError::bad_request(ErrorCode::InvalidRequest, "a turn has the scope `turn`")),
    };
    let detail = match (query.patch, query.versions) {
        (true, true) => {
            let message = "the differences or the versions, not both";
            return Err(ApiError::bad_request(ErrorCode::InvalidRequest, message));
        }
        (true, false) => Detail::Patch,
        (false, true) if query.quick => Detail::Quick,
        (false, true) => Detail::Versions,
        (false, false) => Detail::Counts,
    };
    Ok(Json(records.changes(&scope, detail).await.map_err(refusal)?))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileQuery {
    before: Option<String>,
    after: Option<String>,
    context: Option<u32>,
}

/// Compares two contents of a file: ids as `changes` with `versions` has them.
#[utoipa::path(get, path = "/api/session/{id}/changes/file", tag = "sessions", params(
    ("id" = String, Path),
    ("before" = Option<String>, Query, description = "what the file was; absent of a new one"),
    ("after" = Option<String>, Query, description = "what the file is; absent of one that is gone"),
    ("context" = Option<u32>, Query, description = "lines around each change, 3 by default"),
), responses(
    (status = 200, body = FilePatch),
    (status = 400, description = "INVALID_REQUEST: it is too large", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn changed_file(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<FileQuery>,
) -> Result<Json<FilePatch>, ApiError> {
    let records = opened(&app, &SessionId::new(id)).await?;
    let (before, after) = (query.before.as_deref(), query.after.as_deref());
    let context = query.context.unwrap_or(CONTEXT_LINES);
    Ok(Json(records.file_patch(before, after, context).await.map_err(refusal)?))
}

#[derive(Debug, Deserialize)]
pub(super) struct ContentQuery {
    content: String,
}

/// Returns the bytes of a content, for an image that changed.
#[utoipa::path(get, path = "/api/session/{id}/changes/content", tag = "sessions", params(
    ("id" = String, Path),
    ("content" = String, Query, description = "its id, as `changes` with `versions` has it"),
), responses(
    (status = 200, content_type = "application/octet-stream", body = Vec<u8>),
    (status = 400, description = "INVALID_REQUEST: it is too large", body = ErrorResponse),
    (status = 404, description = "SESSION_NOT_FOUND, NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn changed_content(
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<ContentQuery>,
) -> Result<Response, ApiError> {
    let records = opened(&app, &SessionId::new(id)).await?;
    let bytes = records.content(&query.content).await.map_err(refusal)?;
    // Never as what it may be: a page of a repository is no page of ours.
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], bytes).into_response())
}

/// Lists what a session's files can be compared with.
#[utoipa::path(get, path = "/api/session/{id}/changes/scopes", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = ScopesResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn scopes(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ScopesResponse>, ApiError> {
    let records = records(&app, &SessionId::new(id.clone())).await?;
    Ok(Json(records.scopes(&id).map_err(refusal)?))
}

/// Remembers the files as a person has seen them: the scope `looked` begins here.
#[utoipa::path(post, path = "/api/session/{id}/changes/looked", tag = "sessions", params(("id" = String, Path)), responses(
    (status = 200, body = ScopesResponse),
    (status = 404, description = "SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn looked(
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Json<ScopesResponse>, ApiError> {
    let records = opened(&app, &SessionId::new(id.clone())).await?;
    records.look_at(&id).await.map_err(refusal)?;
    Ok(Json(records.scopes(&id).map_err(refusal)?))
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
    let session_id = SessionId::new(id);
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
    if !params.dry_run {
        remember(&app, &session_id, &records, &done).await?;
    }
    Ok(Json(done))
}

/// Remembers a rewind, so that it can be undone whenever somebody wants to.
async fn remember(
    app: &App,
    session_id: &SessionId,
    records: &Records,
    done: &RewindResponse,
) -> Result<(), ApiError> {
    let folder = &records.place().folder;
    let sessions = done
        .session
        .as_ref()
        .map(|made| Sessions { archived: session_id.to_string(), made: made.to_string() });
    let act = Act {
        what: "went back to before a message".to_owned(),
        rewound: Some(session_id.to_string()),
        sessions,
        ..Act::default()
    };
    match done.files.as_ref().and_then(|files| files.undo.as_ref()) {
        Some(before) => {
            let before = records.find_here(before).map_err(refusal)?;
            undo::note_files(app.gate(), folder, records, &before, |_| act).await?;
        }
        None if act.sessions.is_some() => drop(undo::note(app.gate(), folder, act)?),
        None => {}
    }
    Ok(())
}

/// Goes on from a turn in a session of its own; the old one stays as it is. An agent that cannot is told what was said as
/// text, in a new session; `cannot` says so.
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
    let session_id = SessionId::new(id);
    if let Some(cannot) = app.sessions().cannot_fork(&session_id).await? {
        let made = app.sessions().fork_as_text(&session_id, params.at.as_ref()).await?;
        let cannot = format!("{cannot}: the new session was handed it as text, in its first message");
        return Ok(Json(ForkResponse { session: Some(made.session_id), cannot: Some(cannot) }));
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
    let records = records(&app, &SessionId::new(id)).await?;
    let (records, target) = found(&app, records, &params.checkpoint).await.map_err(refusal)?;
    let paths = params.paths.into_iter().map(PathBuf::from).collect();
    let wanted = Wanted { paths, dry_run: params.dry_run, force: params.force };
    Ok(Json(records.restore(&target, &wanted).await.map_err(refusal)?))
}

/// The records of a session's folder, with all turns that have ended.
async fn records(app: &App, session_id: &SessionId) -> Result<Records, ApiError> {
    let folder = app.sessions().folder(session_id).await?;
    app.turns_are_recorded(&folder).await;
    opened(app, session_id).await
}

/// The same as they are: for contents, which do not change.
async fn opened(app: &App, session_id: &SessionId) -> Result<Records, ApiError> {
    let folder = app.sessions().folder(session_id).await?;
    let root = CanonicalRoot::open(folder).map_err(|error| {
        ApiError::not_found(ErrorCode::NotFound, format!("the project's folder: {error}"))
    })?;
    Records::of(app.gate(), &root).await.map_err(refusal)
}

/// Finds a record of the session's folder, or of the repository around it: there an act of keep or undo is recorded.
async fn found(app: &App, records: Records, id: &str) -> Result<(Records, Checkpoint), CheckpointError> {
    let unknown = match records.find_here(id) {
        Ok(target) => return Ok((records, target)),
        Err(error) => error,
    };
    let top = CanonicalRoot::open(records.top()).ok().filter(|top| *top != records.place().folder);
    let (Some(top), CheckpointError::Unknown { .. }) = (top, &unknown) else { return Err(unknown) };
    let around = Records::of(app.gate(), &top).await?;
    let target = around.find_here(id)?;
    Ok((around, target))
}

fn refusal(error: CheckpointError) -> ApiError {
    match error {
        CheckpointError::NoSession { .. }
        | CheckpointError::NoTurn { .. }
        | CheckpointError::NeverLooked { .. }
        | CheckpointError::Unknown { .. }
        | CheckpointError::NoRepository { .. }
        | CheckpointError::NoContent { .. }
        | CheckpointError::Lost { .. }
        | CheckpointError::NoSuchRef { .. } => ApiError::not_found(ErrorCode::NotFound, error.to_string()),
        CheckpointError::Ambiguous { .. } | CheckpointError::TooLarge { .. } => {
            ApiError::bad_request(ErrorCode::InvalidRequest, error.to_string())
        }
        CheckpointError::Gate(_)
        | CheckpointError::Git { .. }
        | CheckpointError::Nonsense { .. }
        | CheckpointError::Stopped { .. }
        | CheckpointError::TooOld { .. }
        | CheckpointError::Io { .. } => {
            ApiError::new(StatusCode::BAD_GATEWAY, ErrorCode::Internal, error.to_string())
        }
    }
}
