//! The upsert processor: canonical stream events in, upserts and turn events out.
//!
//! It is pure: the clock is an argument, nothing is read or written, and the same events at the same times always
//! make the same outputs. One processor serves one session; turns follow one another, items run side by side.

use std::time::Duration;

use chartroom_protocol::stream::{ErrorDetail, StreamEventEnvelope};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::Upsert;

use crate::clock::Now;
use crate::provider::ProviderOutput;

/// When content is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// An item is emitted when the tokens since its last emission exceed the entry (strictly); each emission moves
    /// to the next entry, and the last one repeats. Empty means the default.
    pub batch_gradient_tokens: Vec<usize>,
    /// Content waits at most this long, counted from the oldest content not yet emitted.
    pub batch_timeout: Duration,
    /// An item's first emission comes at most this long after its first content.
    pub first_emission: Duration,
}

impl Default for ProcessorConfig {
    fn default() -> Self {
        Self {
            batch_gradient_tokens: vec![10, 20, 40, 80, 120],
            batch_timeout: Duration::from_millis(1000),
            first_emission: Duration::from_millis(150),
        }
    }
}

/// What the processor says.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly every one is the large variant")]
pub enum StreamOutput {
    Upsert(Upsert),
    Turn(TurnEvent),
}

impl From<StreamOutput> for ProviderOutput {
    fn from(output: StreamOutput) -> Self {
        match output {
            StreamOutput::Upsert(upsert) => Self::Upsert(upsert),
            StreamOutput::Turn(event) => Self::Turn(event),
        }
    }
}

/// Turns one session's stream events into upserts and turn events.
pub struct UpsertProcessor {
    config: ProcessorConfig,
}

impl UpsertProcessor {
    pub fn new(config: ProcessorConfig) -> Self {
        Self { config }
    }

    /// Takes one event and returns what is to be shown because of it, in order.
    pub fn push(&mut self, _now: Now, _envelope: &StreamEventEnvelope) -> Vec<StreamOutput> {
        Vec::new()
    }

    /// Returns when [`tick`](Self::tick) has something to say at the earliest, on the monotonic clock.
    pub fn next_deadline(&self) -> Option<Duration> {
        None
    }

    /// Emits what has waited long enough.
    pub fn tick(&mut self, _now: Now) -> Vec<StreamOutput> {
        Vec::new()
    }

    /// Ends everything that is open because of `error`: buffered items as `error` with all their content, running
    /// turns as `turn_error`. Nothing follows for those turns.
    pub fn destroy(&mut self, _now: Now, _error: &ErrorDetail) -> Vec<StreamOutput> {
        Vec::new()
    }
}
