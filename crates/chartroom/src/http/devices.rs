//! `/api/enter` and `/api/devices`: a page gets its key, and browsers that were let in are listed and put out.

use axum::extract::State;
use axum::{Extension, Json};
use chartroom_protocol::device::{
    DeviceListResponse, EnterParams, EnterResponse, RevokeDevicesParams, RevokeDevicesResponse,
};
use utoipa_axum::routes;

use super::JsonBody;
use super::error::ApiError;
use super::guard::{Caller, Refusal};
use super::routes::{Kind, Route};
use crate::app::App;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::new(Kind::Api, routes!(enter)),
        Route::new(Kind::Api, routes!(list)),
        Route::new(Kind::Api, routes!(revoke)),
    ]
}

/// Gives the page its key, once, for the code that the launch link left in its address.
#[utoipa::path(post, path = "/api/enter", tag = "server", request_body = EnterParams, responses((status = 200, body = EnterResponse)))]
pub(super) async fn enter(
    State(app): State<App>,
    Extension(caller): Extension<Caller>,
    JsonBody(params): JsonBody<EnterParams>,
) -> Result<Json<EnterResponse>, ApiError> {
    let device = match caller {
        Caller::Cookie(device) | Caller::Browser(device) => device,
        // A script has its token and no page.
        Caller::Script => return Err(Refusal::NoPageKey.into()),
    };
    match app.access().enter(&device, &params.code)? {
        Some(key) => Ok(Json(EnterResponse { key: key.expose().to_owned() })),
        None => Err(Refusal::NoPageKey.into()),
    }
}

/// Lists the browsers that were let in.
#[utoipa::path(get, path = "/api/devices", tag = "server", responses((status = 200, body = DeviceListResponse)))]
pub(super) async fn list(State(app): State<App>) -> Json<DeviceListResponse> {
    Json(DeviceListResponse { devices: app.access().list() })
}

/// Puts out one browser, or all of them with every unused link.
#[utoipa::path(post, path = "/api/devices/revoke", tag = "server", request_body = RevokeDevicesParams, responses((status = 200, body = RevokeDevicesResponse)))]
pub(super) async fn revoke(
    State(app): State<App>,
    JsonBody(params): JsonBody<RevokeDevicesParams>,
) -> Result<Json<RevokeDevicesResponse>, ApiError> {
    let revoked = app.access().revoke(params.device_id.as_deref()).map_err(anyhow::Error::from)?;
    Ok(Json(RevokeDevicesResponse { revoked }))
}
