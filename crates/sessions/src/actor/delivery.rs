//! Where the message stands that is on its way to the agent. One at a time is.

use chartroom_protocol::ids::{QueuedId, TurnId};

use crate::store::StoredMessage;

/// A message between its place in the queue and the agent's first word about it.
///
/// It stays on the disk until it is taken: the journal has the agent's first word in its turn, or the turn's end. That
/// the turn has begun is not enough: an agent that dies then may not have kept it.
#[derive(Default)]
pub(super) enum Delivery {
    /// None is on its way.
    #[default]
    Idle,
    /// An earlier run died before the agent's first word: the agent's own history tells whether the message came
    /// through. It is still the first of the queue.
    InDoubt(Doubt),
    /// Its turn has begun; the agent gets it once the journal has that.
    Begun { message: StoredMessage, taken: bool },
    /// The agent was given it and has not confirmed.
    Given { turn_id: TurnId, queued_id: QueuedId, taken: bool },
    /// The agent has confirmed it and has not said a word in its turn.
    Unanswered { turn_id: TurnId, queued_id: QueuedId },
}

#[derive(Clone)]
pub(super) struct Doubt {
    pub(super) message: StoredMessage,
    /// The journal has the turn's beginning: it is not written twice.
    pub(super) is_told: bool,
}

impl Delivery {
    /// Tells whether the next message may be given to the agent.
    pub(super) fn is_free(&self) -> bool {
        match self {
            // While an agent is silent about a message, the message's turn keeps the next one waiting.
            Self::Idle | Self::InDoubt(_) | Self::Unanswered { .. } => true,
            Self::Begun { .. } | Self::Given { .. } => false,
        }
    }

    pub(super) fn doubt(&self) -> Option<&Doubt> {
        match self {
            Self::InDoubt(doubt) => Some(doubt),
            Self::Idle | Self::Begun { .. } | Self::Given { .. } | Self::Unanswered { .. } => None,
        }
    }

    /// Ends the doubt about a message, if there is one about it.
    pub(super) fn take_doubt(&mut self, queued_id: &QueuedId) -> Option<Doubt> {
        match std::mem::take(self) {
            Self::InDoubt(doubt) if doubt.message.queued_id == *queued_id => Some(doubt),
            other => {
                *self = other;
                None
            }
        }
    }

    /// The journal has the turn's beginning: returns the message that the agent is to be given.
    pub(super) fn give(&mut self) -> Option<StoredMessage> {
        match std::mem::take(self) {
            Self::Begun { message, taken } => {
                let (turn_id, queued_id) = (message.turn_id.clone(), message.queued_id.clone());
                *self = Self::Given { turn_id, queued_id, taken };
                Some(message)
            }
            other => {
                *self = other;
                None
            }
        }
    }

    /// Takes back a message that the agent was not given: returns its turn.
    pub(super) fn take_back(&mut self) -> Option<TurnId> {
        match self {
            Self::Begun { message, .. } => {
                let turn_id = message.turn_id.clone();
                *self = Self::Idle;
                Some(turn_id)
            }
            Self::Idle | Self::InDoubt(_) | Self::Given { .. } | Self::Unanswered { .. } => None,
        }
    }

    /// Tells whether the agent was given the message of this turn and has not confirmed it.
    pub(super) fn is_given(&self, turn_id: &TurnId) -> bool {
        matches!(self, Self::Given { turn_id: given, .. } if given == turn_id)
    }

    /// The agent has confirmed the message.
    pub(super) fn confirm(&mut self) {
        *self = match std::mem::take(self) {
            Self::Given { turn_id, queued_id, taken: false } => Self::Unanswered { turn_id, queued_id },
            Self::Given { taken: true, .. } => Self::Idle,
            other => other,
        };
    }

    /// The agent will not have the message: returns it if it is still on the disk.
    pub(super) fn refuse(&mut self) -> Option<QueuedId> {
        match std::mem::take(self) {
            Self::Given { queued_id, taken: false, .. } => Some(queued_id),
            Self::Given { taken: true, .. } => None,
            other => {
                *self = other;
                None
            }
        }
    }

    /// Returns the turn of the message that is still on the disk, if its turn has begun here.
    pub(super) fn untaken(&self) -> Option<&TurnId> {
        match self {
            Self::Begun { message, taken: false } => Some(&message.turn_id),
            Self::Given { turn_id, taken: false, .. } | Self::Unanswered { turn_id, .. } => Some(turn_id),
            Self::Begun { taken: true, .. }
            | Self::Given { taken: true, .. }
            | Self::Idle
            | Self::InDoubt(_) => None,
        }
    }

    /// The message is not given to anybody again: returns it if it is still on the disk.
    pub(super) fn take(&mut self) -> Option<QueuedId> {
        match self {
            Self::Begun { message, taken: taken @ false } => {
                *taken = true;
                Some(message.queued_id.clone())
            }
            Self::Given { queued_id, taken: taken @ false, .. } => {
                *taken = true;
                Some(queued_id.clone())
            }
            Self::Unanswered { queued_id, .. } => {
                let queued_id = queued_id.clone();
                *self = Self::Idle;
                Some(queued_id)
            }
            Self::Begun { taken: true, .. }
            | Self::Given { taken: true, .. }
            | Self::Idle
            | Self::InDoubt(_) => None,
        }
    }
}
