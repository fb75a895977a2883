//! Claude Code: one process a session, stream-json both ways, the control protocol beside it.

pub mod control;
pub mod detail;
pub mod translate;

mod discover;
mod files;
mod history;
mod process;
mod provider;
mod warm;

pub use provider::{ClaudeConfig, ClaudeProvider};
