//! What is known about each language server, told plainly: running or why not, and how to mend it.

use serde::{Deserialize, Serialize};

/// One server (and, when it runs, one project root: a monorepo can have several rows of one id).
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ServerStatus {
    /// The server's id in the config.
    pub id: String,
    /// Whether it runs, and if not, what kind of trouble it is.
    pub status: ServerState,
    /// The language it knows, e.g. `typescript`.
    pub language: String,
    /// Its process, when it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub server_pid: Option<u32>,
    /// The project root it serves, relative to the workspace (`.` is the workspace itself).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub root: Option<String>,
    /// Whether its last result can be relied on, when it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub freshness: Option<Freshness>,
    /// What it is doing, or why it is not running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub reason: Option<String>,
    /// The command that mends it: an installation, or the trust of the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub hint: Option<String>,
    /// The program that was chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub path: Option<String>,
    /// Its sandbox, or why it has none although there would be one by default; absent when it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub sandbox: Option<String>,
    /// Resident memory of the server and everything below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub rss_bytes: Option<u64>,
    /// How long it has been running.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional, type = "number")]
    pub uptime_ms: Option<u64>,
}

/// Whether a language server runs, and if not, what kind of trouble it is.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ServerState {
    /// Running.
    Active,
    /// Its process runs and is not ready to answer.
    Starting,
    /// It crashed or never became ready; it stays so until the user restarts it.
    Broken,
    /// Switched off in the config.
    Disabled,
    /// It cannot run: it is not installed.
    Unavailable,
    /// Installed, and not running because no file needed it yet, or for long.
    Idle,
    /// The workspace is not trusted, so nothing of it is executed.
    Untrusted,
}

impl ServerState {
    /// Returns the word of the status listing.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Starting => "starting",
            Self::Broken => "broken",
            Self::Disabled => "disabled",
            Self::Unavailable => "unavailable",
            Self::Idle => "idle",
            Self::Untrusted => "untrusted",
        }
    }
}

/// Whether a running server's last result can be relied on.
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
#[serde(rename_all = "kebab-case")]
pub enum Freshness {
    /// The last check was answered in time.
    Current,
    /// Still loading the project (its progress is open).
    Loading,
    /// The last check was not answered in time.
    TimedOut,
    /// The server says that it cannot load the project.
    Failed,
}

/// The answer of `/api/lsp/status` and of `chartroom lsp status --json`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct LspStatusResponse {
    /// The workspace root.
    pub root: String,
    /// Why there is no language service at all (`LSP disabled by configuration`, `LSP unavailable: …`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub unavailable: Option<String>,
    /// By id, then by root.
    pub servers: Vec<ServerStatus>,
}

/// Answer of `GET /api/lsp/{project}/languages`.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ProjectServersResponse {
    /// The ids of the servers for the languages that the folder's files are in, sorted.
    pub servers: Vec<String>,
}
