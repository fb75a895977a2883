//! What Chartroom says: data that crosses a socket or a pipe. No I/O.
//!
//! A type that is `Serialize` here is a promise: it has a golden snapshot, and the page's TypeScript type is
//! generated from it.

#![warn(missing_docs)]

pub mod agent;
pub mod changes;
pub mod context;
pub mod device;
pub mod doctor;
pub mod error;
pub mod file;
pub mod ids;
pub mod keep;
pub mod project;
pub mod review;
pub mod session;
pub mod stream;
pub mod terminal;
pub mod tool;
pub mod tries;
pub mod turn;
pub mod undo;
pub mod upsert;
pub mod worktree;
pub mod ws;

/// The language service's messages.
pub mod lsp;

/// The index's envelopes.
pub mod index;

pub mod typescript;
