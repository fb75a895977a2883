//! Who talks: Claude Code, Codex and any ACP agent, behind the provider trait.
//!
//! Each provider translates its CLI's words into canonical stream events (pure), and lets the one processor of
//! `sessions` make upserts of them. Processes start through the workspace's spawn gate only.

pub mod acp;
pub mod claude;
pub mod instruments;
pub mod launch;

mod diff;
mod envelope;
mod json;
mod patience;
#[cfg(test)]
mod script;

pub use patience::Patience;
