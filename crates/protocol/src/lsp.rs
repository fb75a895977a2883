//! The language service: diagnostics, status, configuration, and what crosses the pipe to its process.

mod config;
mod diagnostic;
mod install;
mod proposal;
mod service;
mod status;
pub mod told;

#[cfg(test)]
mod tests;

pub use config::{LspConfig, LspSetting, ServerSettings};
pub use diagnostic::{Code, Diagnostic, Severity};
pub use install::{InstallListResponse, InstallParams, InstallResponse, Installable};
pub use proposal::{ProposeResponse, ProposedChange, ProposedEdit, ProposedStep, fingerprint};
pub use service::{
    Bootstrap, CallToolAnswer, CallToolParams, CheckFileParams, CheckOutcome, CheckParams, CheckResponse,
    CheckScope, DiagnosticsAfterParams, DiagnosticsResponse, FileDiagnostics, FileText, LspMetrics,
    ReadyParams, RestartParams, ServerOutcome, methods,
};
pub use status::{Freshness, LspStatusResponse, ProjectServersResponse, ServerState, ServerStatus};
pub use told::ToldDiagnostics;
