//! `/api/lsp/{project}/…`: the language servers of a project.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use chartroom_lsp::registry::Registry;
use chartroom_lsp::{InstallError, Installer};
use chartroom_protocol::error::{ErrorCode, ErrorResponse};
use chartroom_protocol::ids::ProjectId;
use chartroom_protocol::lsp::{
    InstallListResponse, InstallParams, InstallResponse, LspStatusResponse, ProjectServersResponse,
    RestartParams,
};
use utoipa_axum::routes;

use super::error::ApiError;
use super::json::JsonBody;
use super::routes::{Kind, Route};
use crate::app::{App, language};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(status)),
        Route::new(Kind::Api, routes!(languages)),
        Route::new(Kind::Api, routes!(restart)),
        Route::new(Kind::Api, routes!(installable, install)),
        Route::new(Kind::Api, routes!(start)),
    ]
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

/// Says which servers are for the languages of the project's files.
#[utoipa::path(get, path = "/api/lsp/{project_id}/languages", tag = "language servers",
    params(("project_id" = String, Path)), responses(
    (status = 200, body = ProjectServersResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn languages(
    State(app): State<App>,
    Path(project_id): Path<String>,
) -> Result<Json<ProjectServersResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let lsp = app.config().lsp.enabled().cloned();
    let looking = tokio::task::spawn_blocking(move || {
        let registry = Registry::new(&lsp?);
        Some(language::servers_of(&registry, &root).into_keys().map(str::to_owned).collect())
    });
    let servers = looking.await.map_err(ApiError::internal)?.unwrap_or_default();
    Ok(Json(ProjectServersResponse { servers }))
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

/// Lists every built-in server, whether it was installed into the data folder, and how it can be.
#[utoipa::path(get, path = "/api/lsp/install", tag = "language servers", responses(
    (status = 200, body = InstallListResponse),
))]
pub(super) async fn installable(State(app): State<App>) -> Json<InstallListResponse> {
    Json(InstallListResponse { servers: Installer::new(app.gate().clone()).list() })
}

/// Installs a server into the data folder with a package manager of this machine, and starts it once; what does not start is
/// removed again. It goes on when the client goes away.
#[utoipa::path(post, path = "/api/lsp/install", tag = "language servers", request_body = InstallParams, responses(
    (status = 200, body = InstallResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
    (status = 409, description = "INSTALL_FAILED: it is being installed", body = ErrorResponse),
    (status = 422, description = "INSTALL_FAILED: the message says why and what to do", body = ErrorResponse),
))]
pub(super) async fn install(
    State(app): State<App>,
    JsonBody(params): JsonBody<InstallParams>,
) -> Result<Json<InstallResponse>, ApiError> {
    let installer = Installer::new(app.gate().clone());
    let installing = tokio::spawn(async move { installer.install(&params.id).await });
    let installed = installing.await.map_err(ApiError::internal)?.map_err(|error| not_installed(&error))?;
    Ok(Json(InstallResponse {
        id: installed.id,
        manager: installed.manager.name().to_owned(),
        path: installed.program.to_string_lossy().into_owned(),
    }))
}

fn not_installed(error: &InstallError) -> ApiError {
    let status = match error {
        InstallError::Unknown { .. } => {
            return ApiError::not_found(ErrorCode::NotFound, crate::cli::unknown_server(error));
        }
        InstallError::Busy { .. } => StatusCode::CONFLICT,
        InstallError::NoWay { .. }
        | InstallError::Folder { .. }
        | InstallError::Gate(_)
        | InstallError::Failed { .. }
        | InstallError::NotStarting { .. } => StatusCode::UNPROCESSABLE_ENTITY,
    };
    ApiError::new(status, ErrorCode::InstallFailed, error.to_string())
}

/// Starts a server now, instead of with the first file of its language.
#[utoipa::path(post, path = "/api/lsp/{project_id}/start", tag = "language servers",
    params(("project_id" = String, Path)), request_body = RestartParams, responses(
    (status = 200, body = LspStatusResponse),
    (status = 404, description = "NOT_FOUND", body = ErrorResponse),
))]
pub(super) async fn start(
    State(app): State<App>,
    Path(project_id): Path<String>,
    JsonBody(params): JsonBody<RestartParams>,
) -> Result<Json<LspStatusResponse>, ApiError> {
    let root = app.projects().root(&ProjectId::new(project_id)).await?;
    let service = app.language_service(&root);
    let id = params.id.unwrap_or_default();
    if !service.start_server(&id).await {
        let message = format!("there is no language server {id} that could be started; the status says why");
        return Err(ApiError::not_found(ErrorCode::NotFound, message));
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
