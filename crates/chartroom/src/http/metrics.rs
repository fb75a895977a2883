//! `/metrics`: counters in Prometheus' text format, behind the same door as everything else.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::routes;

use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(metrics))]
}

/// Counters and gauges for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, description = "Prometheus text format", content_type = "text/plain")))]
pub(super) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    ::metrics::gauge!("chartroom_uptime_seconds").set(app.uptime().as_secs_f64());
    super::lsp::record_metrics(&app).await;
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.render_metrics())
}
