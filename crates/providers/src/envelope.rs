//! Puts canonical events into their envelopes: ids and times in one place for every provider.

use std::fmt::Write as _;

use chartroom_protocol::ids::{EventId, SessionId, TurnId};
use chartroom_protocol::stream::{StreamEvent, StreamEventEnvelope};
use serde_json::Map;

/// Makes the envelopes of one session.
#[derive(Debug)]
pub(crate) struct Envelopes {
    session_id: SessionId,
    n_events: u64,
    /// Where an event's id is put together.
    id: String,
}

impl Envelopes {
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self { session_id, n_events: 0, id: String::new() }
    }

    /// Wraps one event; `timestamp` is when the agent said it.
    pub(crate) fn wrap(
        &mut self,
        turn_id: &TurnId,
        timestamp: &str,
        payload: StreamEvent,
    ) -> StreamEventEnvelope {
        self.n_events += 1;
        self.id.clear();
        write!(self.id, "{turn_id}:e{}", self.n_events).expect("a string takes whatever is written");
        StreamEventEnvelope {
            event_id: EventId::from(self.id.as_str()),
            timestamp: timestamp.to_owned(),
            turn_id: turn_id.clone(),
            session_id: self.session_id.clone(),
            event_type: payload.event_type(),
            payload,
            extra: Map::new(),
        }
    }
}
