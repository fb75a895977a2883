//! Agents on this machine: found or missing, and how to install them.

use serde::{Deserialize, Serialize};

use crate::ids::CliType;

/// An agent that sessions can be made with.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct Agent {
    /// The config key that names it in every request.
    pub cli_type: CliType,
    /// The name that people read, e.g. "Claude Code".
    pub name: String,
    /// Whether a session can be made with it now.
    pub status: AgentStatus,
    /// The binary that would be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// The command that installs it.
    pub install: String,
}

/// Whether an agent's program is on this machine.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AgentStatus {
    /// The program was found; `path` says where.
    Found,
    /// The program is not on the PATH; `install` says how to get it.
    Missing,
}

/// Answer of `GET /api/agents`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct AgentListResponse {
    /// By config key.
    pub agents: Vec<Agent>,
}

/// Answer of `GET /api/health`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct HealthResponse {
    /// Always `ok`: a server that is not well does not answer.
    pub status: String,
    /// The version of this binary.
    pub version: String,
    /// How long the server has been running.
    #[ts(type = "number")]
    pub uptime_ms: u64,
}

/// A new one-time code for `/?token=CODE`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct LaunchResponse {
    /// Good for one use within an hour; it lets one browser in.
    pub code: String,
}
