//! `/api/terminal` and `/ws/terminal/{id}`: the user's own shell in a trusted folder.

mod connection;

use axum::extract::ws::WebSocketUpgrade;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::{ProjectId, SessionId};
use chartroom_protocol::terminal::{OpenTerminalParams, TerminalInfo, TerminalListResponse};
use chartroom_terminals::{Listed, TerminalError, TerminalSize};
use chartroom_workspace::{CanonicalRoot, GateError};
use serde::Deserialize;
use utoipa_axum::routes;

use super::error::ApiError;
use super::guard::Caller;
use super::json::JsonBody;
use super::places::Place;
use super::routes::{Kind, Route};
use super::{SOCKET_PROTOCOL, limits};
use crate::app::App;
use connection::Connection;

/// What is typed or pasted in one frame; more comes in several.
const MESSAGE: usize = 1024 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(list, open)),
        Route::new(Kind::Api, routes!(close)),
        Route::new(Kind::Socket, routes!(socket)),
    ]
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FolderQuery {
    project_id: String,
    session_id: Option<String>,
}

/// Lists the terminals of a project's folder, or of a session's.
#[utoipa::path(get, path = "/api/terminal", tag = "terminals",
    params(("projectId" = String, Query), ("sessionId" = Option<String>, Query)), responses(
    (status = 200, body = TerminalListResponse),
    (status = 404, description = "NOT_FOUND, SESSION_NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn list(
    State(app): State<App>,
    Query(query): Query<FolderQuery>,
) -> Result<Json<TerminalListResponse>, ApiError> {
    let session_id = query.session_id.map(SessionId::new);
    let root = folder_of(&app, &ProjectId::new(query.project_id), session_id.as_ref()).await?;
    let terminals = app.terminals().list(&root).into_iter().map(info).collect();
    Ok(Json(TerminalListResponse { terminals }))
}

/// Starts a shell in a trusted folder. It ends when it is closed, and when nobody has looked at it for five minutes.
#[utoipa::path(post, path = "/api/terminal", tag = "terminals", request_body = OpenTerminalParams, responses(
    (status = 201, body = TerminalInfo),
    (status = 403, description = "WORKSPACE_UNTRUSTED", body = ErrorResponse),
    (status = 404, description = "NOT_FOUND, SESSION_NOT_FOUND", body = ErrorResponse),
    (status = 409, description = "TOO_MANY_TERMINALS", body = ErrorResponse),
))]
pub(super) async fn open(
    State(app): State<App>,
    JsonBody(params): JsonBody<OpenTerminalParams>,
) -> Result<(StatusCode, Json<TerminalInfo>), ApiError> {
    let root = folder_of(&app, &params.project_id, params.session_id.as_ref()).await?;
    let size = size(params.columns, params.rows);
    let id = app.terminals().open(&root, root.as_path(), size).map_err(refusal)?;
    let opened = app.terminals().list(&root).into_iter().find(|listed| listed.id == id);
    let opened = opened.ok_or_else(|| ApiError::internal("the terminal ended at once"))?;
    Ok((StatusCode::CREATED, Json(info(opened))))
}

/// Ends a terminal with everything that was started in it.
#[utoipa::path(delete, path = "/api/terminal/{terminal_id}", tag = "terminals",
    params(("terminal_id" = String, Path)), responses(
    (status = 204, description = "Nothing of it is left"),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn close(
    State(app): State<App>,
    Path(terminal_id): Path<String>,
) -> Result<StatusCode, ApiError> {
    app.terminals().close(&terminal_id).await.map_err(refusal)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Opens a terminal's WebSocket: binary frames are what it prints and what is typed, JSON text frames are `TerminalFrame`
/// out and `TerminalCommand` in.
#[utoipa::path(get, path = "/ws/terminal/{terminal_id}", tag = "terminals",
    params(("terminal_id" = String, Path)), responses(
    (status = 101, description = "Switching protocols"),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn socket(
    State(app): State<App>,
    Path(terminal_id): Path<String>,
    place: Option<Extension<Place>>,
    caller: Option<Extension<Caller>>,
    upgrade: WebSocketUpgrade,
) -> Result<Response, ApiError> {
    let attachment = app.terminals().attach(&terminal_id).map_err(refusal)?;
    let device = match caller {
        Some(Extension(Caller::Browser(device))) => Some(device),
        Some(Extension(Caller::Script | Caller::Cookie(_))) | None => None,
    };
    Ok(upgrade
        .protocols([SOCKET_PROTOCOL])
        .max_message_size(MESSAGE)
        .max_frame_size(MESSAGE)
        .read_buffer_size(limits::SOCKET_READ)
        .on_upgrade(move |socket| async move {
            Connection::new(app, attachment, device).run(socket).await;
            drop(place);
        }))
}

/// A session's folder, which may be a worktree, or else the project's.
pub(super) async fn folder_of(
    app: &App,
    project_id: &ProjectId,
    session_id: Option<&SessionId>,
) -> Result<CanonicalRoot, ApiError> {
    let Some(session_id) = session_id else { return Ok(app.projects().root(project_id).await?) };
    let folder = app.sessions().folder(session_id).await?;
    CanonicalRoot::open(folder)
        .map_err(|error| ApiError::not_found(ErrorCode::NotFound, format!("the session's folder: {error}")))
}

/// A size that programs can draw in, whatever was measured.
fn size(columns: u16, rows: u16) -> TerminalSize {
    TerminalSize { columns: columns.clamp(2, 1000), rows: rows.clamp(1, 500) }
}

fn info(listed: Listed) -> TerminalInfo {
    TerminalInfo {
        terminal_id: listed.id,
        shell: listed.shell,
        folder: listed.folder.display().to_string(),
        ended: listed.exit.map(|exit| exit.to_string()),
    }
}

fn refusal(error: TerminalError) -> ApiError {
    let message = error.to_string();
    match error {
        TerminalError::TooMany { .. } => {
            ApiError::new(StatusCode::CONFLICT, ErrorCode::TooManyTerminals, message)
        }
        TerminalError::NotFound(_) => ApiError::not_found(ErrorCode::NotFound, message),
        TerminalError::Gate(GateError::Untrusted { .. }) => {
            ApiError::new(StatusCode::FORBIDDEN, ErrorCode::WorkspaceUntrusted, message)
        }
        TerminalError::Gate(_) => ApiError::internal(message),
    }
}
