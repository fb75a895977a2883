//! `/api/lsp/{project}/…`: the language servers of a project.

use axum::Json;
use axum::extract::{Path, State};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::lsp::{LspStatusResponse, RestartParams};
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(status)), Route::new(Kind::Api, routes!(restart))]
}

/// Says of every known server whether it runs, or why not and what mends it.
#[utoipa::path(get, path = "/api/lsp/{project_id}/status", tag = "language servers",
    params(("project_id" = String, Path)), responses(
    (status = 200, body = LspStatusResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn status(
    State(app): State<App>,
    Path(project_id): Path<String>,
) -> Result<Json<LspStatusResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    Ok(Json(app.language_service(&root).status().await))
}

/// Stops a server, or all, so that the next touch starts it anew; a dead service starts again.
#[utoipa::path(post, path = "/api/lsp/{project_id}/restart", tag = "language servers",
    params(("project_id" = String, Path)), request_body = RestartParams, responses(
    (status = 200, body = LspStatusResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn restart(
    State(app): State<App>,
    Path(project_id): Path<String>,
    JsonBody(params): JsonBody<RestartParams>,
) -> Result<Json<LspStatusResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let service = app.language_service(&root);
    if let Some(id) = &params.id {
        let status = service.status().await;
        // A dead service lists no server; it starts anew, and knows then.
        if status.unavailable.is_none() && !status.servers.iter().any(|server| server.id == *id) {
            let message = format!("there is no language server {id}; the status lists those that there are");
            return Err(ApiError::not_found(ErrorCode::NotFound, message));
        }
    }
    if !service.restart(params.id.as_deref()).await {
        tracing::debug!(%root, "there was nothing to restart");
    }
    Ok(Json(service.status().await))
}

/// Puts the counters of the running services into the metrics.
pub(super) async fn record_metrics(app: &App) {
    for service in app.language_services() {
        let Some(counters) = service.metrics().await else { continue };
        let root = service.root().to_string();
        for (name, value) in [
            ("chartroom_lsp_server_starts", counters.server_starts),
            ("chartroom_lsp_server_start_failures", counters.server_start_failures),
            ("chartroom_lsp_server_crashes", counters.server_crashes),
            ("chartroom_lsp_collections", counters.collections),
            ("chartroom_lsp_collection_timeouts", counters.collection_timeouts),
            ("chartroom_lsp_collection_milliseconds", counters.collection_ms_total),
            ("chartroom_lsp_checked_files", counters.checked_files),
            ("chartroom_lsp_diagnostics", counters.diagnostics),
        ] {
            ::metrics::counter!(name, "root" => root.clone()).absolute(value);
        }
    }
}
