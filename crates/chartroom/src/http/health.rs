//! `/api/health`: it is up, and since when.

use axum::Json;
use axum::extract::State;
use chartroom_protocol::agent::HealthResponse;
use utoipa_axum::routes;

use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(health))]
}

/// Says that the server is up.
#[utoipa::path(get, path = "/api/health", tag = "server", responses((status = 200, body = HealthResponse)))]
pub(super) async fn health(State(app): State<App>) -> Json<HealthResponse> {
    Json(HealthResponse {
        status: "ok".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        uptime_ms: u64::try_from(app.uptime().as_millis()).unwrap_or(u64::MAX),
    })
}
