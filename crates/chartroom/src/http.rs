//! HTTP: the guard at the door, one table of routes behind it, and the loop that lets connections in.

mod access;
mod agents;
mod coding;
mod door;
mod error;
mod files;
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
mod project;
pub mod routes;
mod serve;
mod session;
mod ws;

pub use access::{Access, MIN_TOKEN_LENGTH, Secret};
pub use door::Door;
pub use error::ApiError;
pub use guard::Guard;
pub use json::JsonBody;
pub use serve::run;

/// Where the WebSocket is.
pub const SOCKET_PATH: &str = "/ws";
