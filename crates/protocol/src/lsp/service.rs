//! What crosses the pipe between Chartroom and its language service process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Diagnostic, Freshness, LspConfig, ServerState, Severity};

/// The names of the service's requests and notifications.
pub mod methods {
    /// [`CheckParams`](super::CheckParams) to [`CheckResponse`](super::CheckResponse).
    pub const CHECK: &str = "lsp/check";
    /// [`CheckFileParams`](super::CheckFileParams) to a list of diagnostics.
    pub const CHECK_FILE: &str = "lsp/checkFile";
    /// Nothing to [`DiagnosticsResponse`](super::DiagnosticsResponse).
    pub const DIAGNOSTICS: &str = "lsp/diagnostics";
    /// [`DiagnosticsAfterParams`](super::DiagnosticsAfterParams) to [`DiagnosticsResponse`](super::DiagnosticsResponse).
    pub const DIAGNOSTICS_AFTER: &str = "lsp/diagnosticsAfter";
    /// Nothing to a number that grows with every change of what is known.
    pub const GET_DIAGNOSTIC_EPOCH: &str = "lsp/getDiagnosticEpoch";
    /// Nothing to a list of [`ServerStatus`](crate::lsp::ServerStatus).
    pub const STATUS: &str = "lsp/status";
    /// [`RestartParams`](super::RestartParams) to how many servers were stopped.
    pub const RESTART: &str = "lsp/restart";
    /// [`RestartParams`](super::RestartParams) with an id to whether there is such a server: it starts now.
    pub const START: &str = "lsp/start";
    /// [`CallToolParams`](super::CallToolParams) to [`CallToolAnswer`](super::CallToolAnswer): of a host by its guest, who has no
    /// pipe of tools.
    pub const CALL_TOOL: &str = "lsp/callTool";
    /// [`CallToolParams`](super::CallToolParams) to [`ProposeResponse`](crate::lsp::ProposeResponse): a change by a language server, which is
    /// not made.
    pub const PROPOSE: &str = "lsp/propose";
    /// Nothing to [`LspMetrics`](super::LspMetrics).
    pub const METRICS: &str = "lsp/metrics";
    /// Stops every server, then the service.
    pub const SHUTDOWN: &str = "lsp/shutdown";
    /// Sent once, when requests are accepted; a host says to its guest with [`ReadyParams`](super::ReadyParams) whom it serves.
    pub const READY: &str = "lsp/ready";
}

/// The value of `LSP_BOOTSTRAP`, the one variable that tells the service process what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bootstrap {
    /// The canonical root that the service works in.
    pub workspace_root: String,
    /// The user's settings.
    #[serde(default)]
    pub config: LspConfig,
    /// Where the trust store is; the service checks it at every start of a server. Nothing: the user's own data folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_dir: Option<String>,
}

/// `lsp/checkFile`: answers `Diagnostic[]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckFileParams {
    /// Absolute, inside the workspace.
    pub file_path: String,
    /// The file's content, which then counts instead of the disk's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// `lsp/check`: several files under one deadline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckParams {
    /// The files that were changed or asked about.
    pub files: Vec<FileText>,
    /// Whether other broken files are told too.
    pub scope: CheckScope,
    /// Paths that a tool removed or moved away; servers are told, nothing is started for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// Instead of the configured ones; the service is shared, and one user may want to see more than the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include_severities: Vec<Severity>,
    /// At least this long may each server take; a person who waits has more patience than an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

/// A file to check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileText {
    /// Absolute, inside the workspace.
    pub file_path: String,
    /// Its content, which then counts instead of the disk's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Which files a check tells about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckScope {
    /// The files named.
    #[default]
    Files,
    /// The files named, and other files that are broken: importers are looked at by themselves.
    Project,
}

/// The answer of `lsp/check`: filtered by severity, not yet cut to the caps of the text.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckResponse {
    /// In the order they were asked for; a refused file has no diagnostics and a reason.
    pub files: Vec<FileDiagnostics>,
    /// By path; only with `CheckScope::Project`.
    pub others: Vec<FileDiagnostics>,
    /// Files that may depend on the changed ones and of which nothing current is known, by path; only with
    /// `CheckScope::Project`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// By server id, then root.
    pub servers: Vec<CheckOutcome>,
    /// The diagnostic epoch after the check.
    #[ts(type = "number")]
    pub epoch: u64,
}

/// What is known about one file.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileDiagnostics {
    /// Relative to the workspace root.
    pub file: String,
    /// By line, character, severity, message.
    pub diagnostics: Vec<Diagnostic>,
    /// Why the file was not checked: outside the workspace, missing, binary, no server for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub refused: Option<String>,
    /// How each of its servers took part, by id, then root. Without a current one the file is not known to be clean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<CheckOutcome>,
}

/// What one server contributed to a check.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckOutcome {
    /// The server's id.
    pub id: String,
    /// The project root it serves, relative to the workspace.
    pub root: String,
    /// Whether it answered.
    #[serde(flatten)]
    pub outcome: ServerOutcome,
}

/// How a server took part in a check.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum ServerOutcome {
    /// It answered; `freshness` says whether the answer is for the text of this check.
    Answered {
        /// Whether the answer can be relied on.
        freshness: Freshness,
        /// What the server itself says: why it cannot load the project, what is wrong with its configuration.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        said: Option<String>,
    },
    /// It could not run.
    Absent {
        /// Its state.
        status: ServerState,
        /// Why it could not run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reason: Option<String>,
        /// The command that mends it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        hint: Option<String>,
    },
}

/// `lsp/diagnosticsAfter`: waits up to `waitMs` for the epoch to pass `afterEpoch`, then answers like `lsp/diagnostics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiagnosticsAfterParams {
    /// The epoch that the asker has seen.
    pub after_epoch: u64,
    /// How long to wait for a newer one.
    pub wait_ms: u64,
}

/// `lsp/diagnostics`: every known file with its diagnostics, by path.
pub type DiagnosticsResponse = BTreeMap<String, Vec<Diagnostic>>;

/// `lsp/restart`: one server by id, or all.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestartParams {
    /// The server's id; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
}

/// `lsp/ready` of a host to its guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadyParams {
    /// The canonical root that is served.
    pub workspace_root: String,
}

/// `lsp/callTool`: a tool by its name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CallToolParams {
    /// The tool.
    pub name: String,
    /// Its arguments, as the client gave them.
    #[serde(default)]
    pub arguments: serde_json::Value,
}

/// What a tool answers to `lsp/callTool`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallToolAnswer {
    /// What the model reads.
    pub text: String,
    /// The call could not be answered.
    pub is_error: bool,
}

/// `lsp/metrics`: the service's counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LspMetrics {
    /// Language servers that started.
    pub server_starts: u64,
    /// Language servers that did not.
    pub server_start_failures: u64,
    /// Language servers that ended by themselves.
    pub server_crashes: u64,
    /// Collections, one per server and check.
    pub collections: u64,
    /// Collections that were cut off.
    pub collection_timeouts: u64,
    /// How long they took together, in milliseconds.
    pub collection_ms_total: u64,
    /// How long the longest took, in milliseconds.
    pub collection_ms_longest: u64,
    /// Files that were checked.
    pub checked_files: u64,
    /// Diagnostics that were found in them.
    pub diagnostics: u64,
}
