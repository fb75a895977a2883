//! What crosses the pipe between Chartroom and its language service process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Diagnostic, Freshness, LspConfig, ServerState, Severity};

/// The names of the service's requests and notifications.
pub mod methods {
    pub const CHECK: &str = "lsp/check";
    pub const CHECK_FILE: &str = "lsp/checkFile";
    pub const DIAGNOSTICS: &str = "lsp/diagnostics";
    pub const DIAGNOSTICS_AFTER: &str = "lsp/diagnosticsAfter";
    pub const GET_DIAGNOSTIC_EPOCH: &str = "lsp/getDiagnosticEpoch";
    pub const STATUS: &str = "lsp/status";
    pub const RESTART: &str = "lsp/restart";
    pub const METRICS: &str = "lsp/metrics";
    pub const SHUTDOWN: &str = "lsp/shutdown";
    /// Sent once, when requests are welcome.
    pub const READY: &str = "lsp/ready";
}

/// The value of `LSP_BOOTSTRAP`, the one variable that tells the service process what to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Bootstrap {
    pub workspace_root: String,
    #[serde(default)]
    pub config: LspConfig,
    /// Where the trust store is; the service checks it at every start of a server.
    pub data_dir: String,
}

/// `lsp/checkFile`: answers `Diagnostic[]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckFileParams {
    pub file_path: String,
    /// The file's content, which then counts instead of the disk's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// `lsp/check`: several files under one deadline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckParams {
    pub files: Vec<FileText>,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileText {
    pub file_path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

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
    /// By server id, then root.
    pub servers: Vec<CheckOutcome>,
    #[ts(type = "number")]
    pub epoch: u64,
}

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct FileDiagnostics {
    pub file: String,
    pub diagnostics: Vec<Diagnostic>,
    /// Why the file was not checked: outside the workspace, missing, binary, no server for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub refused: Option<String>,
}

/// What one server contributed to a check.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct CheckOutcome {
    pub id: String,
    pub root: String,
    #[serde(flatten)]
    pub outcome: ServerOutcome,
}

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum ServerOutcome {
    /// It answered; `freshness` says whether the answer is for the text of this check.
    Answered { freshness: Freshness },
    /// It could not run.
    Absent {
        status: ServerState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        hint: Option<String>,
    },
}

/// `lsp/diagnosticsAfter`: waits up to `waitMs` for the epoch to pass `afterEpoch`, then answers like `lsp/diagnostics`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DiagnosticsAfterParams {
    pub after_epoch: u64,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub id: Option<String>,
}
