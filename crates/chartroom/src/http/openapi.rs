//! `/api/openapi.json`: the API's own description, made from the list of routes.

use axum::Json;
use utoipa::openapi::OpenApi;
use utoipa_axum::routes;

use super::routes::{self, Kind, Route};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(openapi))]
}

/// Describes every route.
#[utoipa::path(get, path = "/api/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI 3.1 document", content_type = "application/json")))]
pub(super) async fn openapi() -> Json<OpenApi> {
    Json(routes::build().1)
}
