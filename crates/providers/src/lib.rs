//! Who talks: Claude Code, Codex and any ACP agent, behind the provider trait.
//!
//! Each provider translates its CLI's words into canonical stream events (pure), and lets the one processor of
//! `sessions` make upserts of them. Processes start through the workspace's spawn gate only.

#![warn(missing_docs)]
#![allow(unexpected_cfgs, reason = "cargo-fuzz sets `fuzzing`: its targets reach what is private")]

pub mod acp;
pub mod agent_tools;
pub mod claude;
pub mod launch;

mod diff;
mod envelope;
#[cfg(fuzzing)]
pub mod fuzzing;
mod json;
#[cfg(test)]
mod odd_files;
mod refusals;
mod same_calls;
#[cfg(test)]
mod script;
mod session_file;
mod timeouts;
mod warm;

pub use timeouts::Timeouts;
