//! Agents that speak the Agent Client Protocol: Codex through codex-acp, and any other that the config names.
//!
//! Requests are agent-client-protocol's types; they travel over transport's JSON-RPC peer, which survives garbage
//! and keeps notifications and answers in order. Updates are read leniently: an agent may know newer ones.

mod asked;
mod options;
mod permission;
mod process;
mod provider;
mod replay;
mod rollout;
mod spare;
mod tool;
pub mod translate;

pub use provider::{AcpConfig, AcpProvider};

/// Reads a rollout as the list of conversations does.
#[cfg(fuzzing)]
pub(crate) fn fuzz(head: &crate::session_file::Head) {
    rollout::of_head(head, std::path::Path::new("/p"));
}
