//! The providers with the real CLIs (claude 2.1.325, codex-acp 0.16.0) against the scripted model API.
//!
//! The same stories through HTTP and WebSocket are in `crates/chartroom/tests`; these say whether a provider is at
//! fault or what is above it.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "real_agents/claude.rs"]
mod claude;
#[path = "real_agents/codex.rs"]
mod codex;
#[path = "real_agents/hostile.rs"]
mod hostile;
#[path = "process/stage.rs"]
mod stage;
