//! `/api/agents`: which agents are on this machine, and how to get those that are not.

use axum::Json;
use axum::extract::State;
use chartroom_protocol::agent::AgentListResponse;
use utoipa_axum::routes;

use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Api, routes!(list))]
}

/// Lists the agents, found or missing.
#[utoipa::path(get, path = "/api/agents", tag = "server", responses((status = 200, body = AgentListResponse)))]
pub(super) async fn list(State(app): State<App>) -> Json<AgentListResponse> {
    Json(AgentListResponse { agents: app.sessions().agents() })
}
