//! How long we wait for an agent's process: at its beginning, for an answer, at its end.

use std::time::Duration;

/// The limits of one process.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// From spawn to its first answer.
    pub ready: Duration,
    /// For the answer to a request that needs no model.
    pub answer: Duration,
    /// For a process that was asked to end, before it is told.
    pub end: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { ready: Duration::from_secs(60), answer: Duration::from_secs(10), end: Duration::from_secs(2) }
    }
}
