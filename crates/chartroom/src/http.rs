//! HTTP: the guard at the door, one table of routes behind it, and the loop that lets connections in.

mod access;
mod agents;
mod coding;
mod devices;
mod door;
mod error;
mod file;
mod file_view;
mod files;
mod folders;
mod git;
mod guard;
mod headers;
mod health;
mod index;
mod json;
mod launch;
pub mod limits;
mod lsp;
mod metrics;
mod openapi;
mod oversize;
mod page;
mod peer;
mod places;
mod project;
pub mod routes;
mod secret;
mod serve;
mod session;
mod terminal;
mod tries;
mod worktree;
mod ws;

pub use access::{Access, MIN_TOKEN_LENGTH};
pub(crate) use access::{DeviceFile, list_in, revoke_in};
pub use door::Door;
pub use error::ApiError;
pub use guard::Guard;
pub use json::JsonBody;
pub use secret::Secret;
pub use serve::run;
pub(crate) use ws::overview;

/// Where the WebSocket is.
pub const SOCKET_PATH: &str = "/ws";
/// Where a page that was let in asks for its key.
pub const ENTER_PATH: &str = "/api/enter";
/// The header in which the page carries its key.
pub const KEY_HEADER: &str = "x-chartroom-key";
/// The WebSocket's protocol. A page cannot add headers to it, so the key is offered as a second protocol, behind
/// [`KEY_PROTOCOL`], which is never chosen.
pub const SOCKET_PROTOCOL: &str = "chartroom";
/// What comes before the key in the second protocol.
pub const KEY_PROTOCOL: &str = "chartroom.key.";
