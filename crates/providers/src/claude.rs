//! Claude Code: one process a session, stream-json both ways, the control protocol beside it.

pub mod control;
pub mod detail;
pub mod translate;

mod discover;
mod files;
mod fork;
mod history;
mod process;
mod provider;

pub use provider::{ClaudeConfig, ClaudeProvider};

/// Reads a session file as the list of conversations and the history do.
#[cfg(fuzzing)]
pub(crate) fn fuzz(head: &crate::session_file::Head) {
    let session_id = chartroom_protocol::ids::SessionId::from("s");
    discover::of_head(head, session_id.clone(), std::path::Path::new("/p"));
    history::fuzz(head, session_id);
}
