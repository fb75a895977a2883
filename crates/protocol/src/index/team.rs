//! The server through which a team shares its indexes.

use serde::{Deserialize, Serialize};

/// Answer of `GET /api/index/team`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TeamServerResponse {
    /// Absent when indexes are kept on this machine alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub server: Option<TeamServer>,
}

/// How that server is. This machine's own index answers whatever it says.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TeamServer {
    /// Where it is.
    pub address: String,
    /// What it calls itself; absent when it does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub version: Option<String>,
    /// How long it took to answer, or not to.
    pub latency_ms: u64,
    /// Why it does not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub trouble: Option<String>,
    /// The last trouble of this process with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub last_trouble: Option<TeamTrouble>,
}

/// Something that went wrong between us and the server.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct TeamTrouble {
    /// In words.
    pub text: String,
    /// When, ISO 8601 UTC.
    pub at: String,
}
