//! Browsers that were let in: how one gets its key, the list of them, and putting them out.

use serde::{Deserialize, Serialize};

/// Body of `POST /api/enter`: the page asks for its key, once.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EnterParams {
    /// The code that the launch link left in the address, behind the `#`.
    pub code: String,
}

/// Answer of `POST /api/enter`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct EnterResponse {
    /// What every request of the page carries beside its cookie.
    pub key: String,
}

/// A browser that was let in.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Device {
    /// Names it, and opens nothing.
    pub device_id: String,
    /// What the browser calls itself.
    pub browser: String,
    /// When it was let in, in seconds since 1970.
    #[ts(type = "number")]
    pub entered_at: u64,
    /// Until when it may come, in seconds since 1970.
    #[ts(type = "number")]
    pub expires_at: u64,
}

/// Answer of `GET /api/devices`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct DeviceListResponse {
    /// The one that was let in first comes first.
    pub devices: Vec<Device>,
}

/// Body of `POST /api/devices/revoke`.
#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RevokeDevicesParams {
    /// The one to put out; without it all of them, and every link that was not used yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub device_id: Option<String>,
}

/// Answer of `POST /api/devices/revoke`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct RevokeDevicesResponse {
    /// How many were put out.
    #[ts(type = "number")]
    pub revoked: usize,
}
