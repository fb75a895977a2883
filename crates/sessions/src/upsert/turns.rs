//! The turns of a session: which run, and which have ended and may say nothing more.

use std::collections::VecDeque;
use std::time::Duration;

use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::stream::{ErrorDetail, ResponseStatus, Usage};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};

use crate::clock::Now;

/// Late lines of an ended turn come soon after its end or not at all.
const ENDED_KEPT: usize = 64;

#[derive(Default)]
pub(super) struct Turns {
    running: Vec<RunningTurn>,
    ended: VecDeque<TurnId>,
    person: PersonTime,
}

/// How long the agent has waited for a person, in all: nobody's turn takes longer because somebody was at lunch.
#[derive(Default)]
struct PersonTime {
    n_open: usize,
    /// When the first of the questions that are open was asked.
    since: Duration,
    /// With the questions that are closed.
    waited: Duration,
}

impl PersonTime {
    fn until(&self, now: Now) -> Duration {
        match self.n_open {
            0 => self.waited,
            _ => self.waited + now.monotonic.saturating_sub(self.since),
        }
    }
}

struct RunningTurn {
    turn_id: TurnId,
    session_id: SessionId,
    provider_id: String,
    started: Duration,
    /// What was waited for a person before it.
    waited_before: Duration,
}

impl Turns {
    /// Begins a turn; nothing is said when it runs already.
    pub(super) fn start(
        &mut self,
        now: Now,
        turn_id: &TurnId,
        session_id: &SessionId,
        model_id: &str,
        provider_id: &str,
    ) -> Option<TurnEvent> {
        if self.running.iter().any(|turn| turn.turn_id == *turn_id) {
            return None;
        }
        self.running.push(RunningTurn {
            turn_id: turn_id.clone(),
            session_id: session_id.clone(),
            provider_id: provider_id.to_owned(),
            started: now.monotonic,
            waited_before: self.person.until(now),
        });
        Some(TurnEvent::TurnStarted {
            turn_id: turn_id.clone(),
            session_id: session_id.clone(),
            model_id: model_id.to_owned(),
            provider_id: provider_id.to_owned(),
        })
    }

    pub(super) fn is_over(&self, turn_id: &TurnId) -> bool {
        self.ended.contains(turn_id)
    }

    /// Returns who runs a turn, as its start told.
    pub(super) fn provider_id(&self, turn_id: &TurnId) -> String {
        self.running
            .iter()
            .find(|turn| turn.turn_id == *turn_id)
            .map(|turn| turn.provider_id.clone())
            .unwrap_or_default()
    }

    /// Ends a turn well or by cancellation.
    pub(super) fn complete(
        &mut self,
        now: Now,
        turn_id: &TurnId,
        session_id: &SessionId,
        status: TurnStatus,
        usage: Option<Usage>,
    ) -> TurnEvent {
        let worked = self.end(turn_id).map(|turn| {
            let waited = self.person.until(now).saturating_sub(turn.waited_before);
            now.monotonic.saturating_sub(turn.started).saturating_sub(waited)
        });
        TurnEvent::TurnComplete {
            turn_id: turn_id.clone(),
            session_id: session_id.clone(),
            status,
            usage,
            duration_ms: worked.map(|worked| u64::try_from(worked.as_millis()).unwrap_or(u64::MAX)),
        }
    }

    pub(super) fn fail(
        &mut self,
        turn_id: &TurnId,
        session_id: &SessionId,
        error: &ErrorDetail,
    ) -> TurnEvent {
        self.end(turn_id);
        TurnEvent::TurnError {
            turn_id: turn_id.clone(),
            session_id: session_id.clone(),
            error_code: error.code.clone(),
            error_message: error.message.clone(),
        }
    }

    /// Returns the running turns, the oldest first.
    pub(super) fn running(&self) -> Vec<(TurnId, SessionId)> {
        self.running.iter().map(|turn| (turn.turn_id.clone(), turn.session_id.clone())).collect()
    }

    /// A person is asked.
    pub(super) fn asked(&mut self, now: Now) {
        if self.person.n_open == 0 {
            self.person.since = now.monotonic;
        }
        self.person.n_open += 1;
    }

    /// A question was answered or withdrawn.
    pub(super) fn answered(&mut self, now: Now) {
        self.person.waited = match self.person.n_open {
            1 => self.person.until(now),
            _ => self.person.waited,
        };
        self.person.n_open = self.person.n_open.saturating_sub(1);
    }

    fn end(&mut self, turn_id: &TurnId) -> Option<RunningTurn> {
        if self.ended.len() == ENDED_KEPT {
            self.ended.pop_front();
        }
        self.ended.push_back(turn_id.clone());
        let index = self.running.iter().position(|turn| turn.turn_id == *turn_id)?;
        Some(self.running.remove(index))
    }
}

/// Says why a turn failed: what the end itself tells, then its finish reason, then that it failed.
pub(super) fn failure(error: Option<&ErrorDetail>, finish_reason: Option<&str>) -> ErrorDetail {
    match (error, finish_reason) {
        (Some(error), _) => error.clone(),
        (None, Some(reason)) if !reason.is_empty() => {
            ErrorDetail { code: "RESPONSE_ERROR".to_owned(), message: reason.to_owned() }
        }
        (None, _) => ErrorDetail {
            code: "RESPONSE_ERROR".to_owned(),
            message: "Response finished with error status".to_owned(),
        },
    }
}

/// Returns how a turn that did not fail ended.
pub(super) fn ending(status: ResponseStatus) -> Option<TurnStatus> {
    match status {
        ResponseStatus::Completed => Some(TurnStatus::Completed),
        ResponseStatus::Cancelled => Some(TurnStatus::Cancelled),
        ResponseStatus::Error => None,
    }
}
