//! What the fuzz targets feed: session files of agents, as bytes.

use crate::session_file::Head;
use crate::{acp, claude};

/// Reads a file as each of its readers does: the lists of conversations of both agents, and Claude's history.
pub fn session_file(bytes: &[u8]) {
    let head = Head::of_bytes(bytes.to_vec());
    claude::fuzz(&head);
    acp::fuzz(&head);
}
