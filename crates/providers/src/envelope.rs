//! Puts canonical events into their envelopes: ids and times in one place for every provider.

use chartroom_protocol::ids::{EventId, SessionId, TurnId};
use chartroom_protocol::stream::{StreamEvent, StreamEventEnvelope};
use serde_json::Map;

/// Makes the envelopes of one session.
#[derive(Debug)]
pub(crate) struct Envelopes {
    session_id: SessionId,
    n_events: u64,
}

impl Envelopes {
    pub(crate) fn new(session_id: SessionId) -> Self {
        Self { session_id, n_events: 0 }
    }

    /// Wraps one event; `timestamp` is when the agent said it.
    pub(crate) fn wrap(
        &mut self,
        turn_id: &TurnId,
        timestamp: &str,
        payload: StreamEvent,
    ) -> StreamEventEnvelope {
        self.n_events += 1;
        StreamEventEnvelope {
            event_id: EventId([turn_id.as_str(), ":e", &self.n_events.to_string()].concat()),
            timestamp: timestamp.to_owned(),
            turn_id: turn_id.clone(),
            session_id: self.session_id.clone(),
            event_type: payload.event_type(),
            payload,
            extra: Map::new(),
        }
    }
}
