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
mod tool;
pub mod translate;

pub use provider::{AcpConfig, AcpProvider};
