//! `/api/launch`: a new one-time link for another browser, for whoever has a key already.

use axum::Json;
use axum::extract::State;
use chartroom_protocol::agent::LaunchResponse;
use utoipa_axum::routes;

use super::error::ApiError;
use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(launch))]
}

/// Makes a new one-time launch code.
#[utoipa::path(post, path = "/api/launch", tag = "server", responses((status = 200, body = LaunchResponse)))]
pub(super) async fn launch(State(app): State<App>) -> Result<Json<LaunchResponse>, ApiError> {
    let code = app.access().new_launch_code()?;
    Ok(Json(LaunchResponse { code: code.expose().to_owned() }))
}
