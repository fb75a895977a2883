//! The bounds that a slow or hostile client runs into.

use std::time::Duration;

use super::routes::Kind;

/// Connections at once that have shown a key; a request on one more waits. 500 idle pages and 50 active ones fit.
pub const CONNECTIONS: usize = 1024;
/// Connections at once that have not; with one more, the one that has been silent longest is cut.
pub const STRANGERS: usize = 128;
/// How long such a connection may be silent.
pub const STRANGER_SILENCE: Duration = Duration::from_secs(10);
/// From a connection's first byte, or its last answer, to the end of the next request's head.
pub const HEAD: Duration = Duration::from_secs(30);
/// All headers together.
pub const HEAD_BYTES: usize = 64 * 1024;
/// From the head to the answer, reading the body included.
pub const REQUEST: Duration = Duration::from_secs(120);
/// How long open connections get to finish when the server stops.
pub const DRAIN: Duration = Duration::from_secs(1);
/// One WebSocket message from a browser: a send with images, as over HTTP.
pub const SOCKET_MESSAGE: usize = 16 * 1024 * 1024;
/// How much of a WebSocket is read at once. The library fills its buffer with zeros before each attempt to read, and
/// there is one with every frame that goes out: its own 128 KiB were a tenth of what an event cost.
pub const SOCKET_READ: usize = 4 * 1024;
/// How much of a body that is too large is read away before the connection is cut.
pub const READ_AWAY: usize = 64 * 1024 * 1024;

/// Returns the most bytes a body may have.
pub const fn body(kind: Kind) -> usize {
    match kind {
        Kind::Upload => 16 * 1024 * 1024,
        Kind::Page | Kind::Api | Kind::Socket => 1024 * 1024,
    }
}
