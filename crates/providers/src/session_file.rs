//! The beginning of a session file of an agent, as far as a list of conversations needs it.
//!
//! The files are the agent's, not ours: one that is no regular file is passed over, and of a huge one only the head is read.

use std::io::Read as _;
use std::path::Path;

use chartroom_transport::Received;
use chartroom_transport::codec::{Frame, parse};
use chartroom_workspace::regular;
use serde_json::Value;

/// The first message is near the beginning; a file that hides it deeper has no title worth reading on for. The
/// instructions before it take some ten kilobytes.
const MAX_READ: u64 = 4 * 1024 * 1024;
/// Of a first message this much is kept; a title needs less.
const MAX_FIRST_MESSAGE: usize = 500;
/// The newest files that are looked at; someone with more does not look for the older ones in a list.
pub(crate) const MAX_FILES: usize = 2_000;

/// The head of one session file.
pub(crate) struct Head {
    bytes: Vec<u8>,
    /// When the file was last written, as the page wants it.
    pub(crate) last_activity: String,
}

impl Head {
    /// Reads it; nothing of a file that cannot be read.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        let opened = regular::open(file).inspect_err(
            |error| tracing::debug!(file = %file.display(), %error, "a session file was passed over"),
        );
        let opened = opened.ok()?;
        let modified = jiff::Timestamp::try_from(opened.metadata().ok()?.modified().ok()?).ok()?;
        let mut bytes = Vec::new();
        opened.take(MAX_READ).read_to_end(&mut bytes).ok()?;
        Some(Self { bytes, last_activity: format!("{modified:.3}") })
    }

    /// The head that these bytes are.
    #[cfg(fuzzing)]
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Self {
        Self { bytes, last_activity: String::new() }
    }

    /// Its lines, read as they are asked for; what is not JSON is left out.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Value> {
        self.bytes.split(|byte| *byte == b'\n').filter_map(|line| {
            match parse(Frame::Message(line.to_vec().into())) {
                Received::Message(line) => Some(line),
                Received::Malformed { .. } | Received::Oversized { .. } | Received::Garbage { .. } => None,
            }
        })
    }
}

/// Cuts a first message to what a title needs.
pub(crate) fn title(first_message: &str) -> String {
    first_message.chars().take(MAX_FIRST_MESSAGE).collect()
}
