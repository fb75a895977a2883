//! `/api/index/…`: the index's tools over HTTP, the same envelopes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chartroom_index::tools::ToolError;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::index::{
    CallGraphParams, CallGraphResponse, FileOutlineParams, FileOutlineResponse, ListCodebasesResponse,
    ManageIndexParams, ManageIndexResponse, ReadFileParams, ReadFileResponse, SearchCodebaseParams,
    SearchCodebaseResponse, TeamServer, TeamServerResponse, TeamTrouble,
};
use utoipa_axum::routes;

use super::routes::{Kind, Route};
use super::{ApiError, JsonBody};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(list)),
        Route::new(Kind::Api, routes!(team)),
        Route::new(Kind::Api, routes!(manage)),
        Route::new(Kind::Api, routes!(search)),
        Route::new(Kind::Api, routes!(outline)),
        Route::new(Kind::Api, routes!(calls)),
        Route::new(Kind::Api, routes!(read)),
    ]
}

/// Lists every tracked codebase by its state.
#[utoipa::path(get, path = "/api/index", tag = "index", responses((status = 200, body = ListCodebasesResponse)))]
async fn list(State(app): State<App>) -> Json<ListCodebasesResponse> {
    Json(app.index().list().await)
}

/// Says how the server is through which a team shares, when the config names one. Asks it.
#[utoipa::path(get, path = "/api/index/team", tag = "index", responses((status = 200, body = TeamServerResponse)))]
async fn team(State(app): State<App>) -> Json<TeamServerResponse> {
    let server = app.index().team_health().await.map(|health| TeamServer {
        address: health.address,
        latency_ms: health.latency_ms,
        trouble: health.version.as_ref().err().cloned(),
        version: health.version.ok(),
        last_trouble: health.last_trouble.map(|(text, at)| TeamTrouble { text, at }),
    });
    Json(TeamServerResponse { server })
}

/// Creates, rebuilds, syncs, inspects, repairs or clears an index. A non-ok envelope is a 200: read its status.
#[utoipa::path(post, path = "/api/index/manage", tag = "index", request_body = ManageIndexParams, responses((status = 200, body = ManageIndexResponse)))]
async fn manage(
    State(app): State<App>,
    JsonBody(params): JsonBody<ManageIndexParams>,
) -> Json<ManageIndexResponse> {
    Json(app.index().manage(params).await)
}

/// Searches.
#[utoipa::path(post, path = "/api/index/search", tag = "index", request_body = SearchCodebaseParams, responses((status = 200, body = SearchCodebaseResponse)))]
async fn search(
    State(app): State<App>,
    JsonBody(params): JsonBody<SearchCodebaseParams>,
) -> Result<Json<SearchCodebaseResponse>, ApiError> {
    app.index().search(params).await.map(Json).map_err(refused)
}

/// Gives the symbols of a file.
#[utoipa::path(post, path = "/api/index/outline", tag = "index", request_body = FileOutlineParams, responses((status = 200, body = FileOutlineResponse)))]
async fn outline(
    State(app): State<App>,
    JsonBody(params): JsonBody<FileOutlineParams>,
) -> Result<Json<FileOutlineResponse>, ApiError> {
    app.index().outline(params).await.map(Json).map_err(refused)
}

/// Gives callers and callees of a symbol.
#[utoipa::path(post, path = "/api/index/calls", tag = "index", request_body = CallGraphParams, responses((status = 200, body = CallGraphResponse)))]
async fn calls(
    State(app): State<App>,
    JsonBody(params): JsonBody<CallGraphParams>,
) -> Result<Json<CallGraphResponse>, ApiError> {
    app.index().call_graph(params).await.map(Json).map_err(refused)
}

/// Reads lines of a file inside a tracked codebase.
#[utoipa::path(post, path = "/api/index/read", tag = "index", request_body = ReadFileParams, responses((status = 200, body = ReadFileResponse)))]
async fn read(
    State(app): State<App>,
    JsonBody(params): JsonBody<ReadFileParams>,
) -> Result<Json<ReadFileResponse>, ApiError> {
    app.index().read_file(params).await.map(Json).map_err(refused)
}

fn refused(error: ToolError) -> ApiError {
    ApiError::new(StatusCode::BAD_REQUEST, ErrorCode::InvalidRequest, error.0)
}
