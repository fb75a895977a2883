//! Calls to the agent run beside the session's loop; here their answers come back into it.

use std::sync::Arc;

use chartroom_protocol::context::ContextResponse;
use chartroom_protocol::ids::TurnId;

use super::opening::Opened;
use super::{Actor, Agent, Reply, answer};
use crate::feed::Change;
use crate::provider::ProviderError;
use crate::store::SessionChange;

pub(super) enum CallDone {
    Opened(Box<Opened>),
    Delivered {
        turn_id: TurnId,
        result: Result<(), ProviderError>,
    },
    /// Something whose asker only wants to know how it went.
    Plain {
        reply: Option<Reply<()>>,
        result: Result<(), ProviderError>,
    },
    Chosen {
        choice: Choice,
        reply: Reply<()>,
        result: Result<(), ProviderError>,
    },
    /// Nothing of it concerns the session, and the asker has the answer.
    Answered,
    /// The call panicked or was aborted.
    Lost {
        reason: String,
    },
}

pub(super) enum Choice {
    Model(String),
    Mode(String),
}

impl Actor {
    pub(super) async fn called(&mut self, done: CallDone) {
        match done {
            CallDone::Opened(opened) => self.opened(*opened).await,
            CallDone::Delivered { turn_id, result } => self.delivered(turn_id, result).await,
            CallDone::Plain { reply, result } => match (reply, result) {
                (Some(reply), result) => answer(reply, result),
                (None, Ok(())) => {}
                (None, Err(error)) => {
                    tracing::warn!(session = %self.session.session_id, "the agent refused: {error}");
                }
            },
            CallDone::Chosen { choice, reply, result } => match result {
                Ok(()) => answer(reply, self.chosen(choice).await),
                Err(error) => answer(reply, Err(error)),
            },
            CallDone::Answered => {}
            CallDone::Lost { reason } => {
                // An aborted call is one that we ended; its asker was answered then.
                tracing::debug!(session = %self.session.session_id, "a call to the agent was lost: {reason}");
            }
        }
    }

    pub(super) fn set_model(&mut self, model: String, reply: Reply<()>) {
        self.choose(Choice::Model(model), reply);
    }

    pub(super) fn set_mode(&mut self, mode: String, reply: Reply<()>) {
        self.choose(Choice::Mode(mode), reply);
    }

    /// Asks the agent if there is one; otherwise the choice waits for its next start.
    fn choose(&mut self, choice: Choice, reply: Reply<()>) {
        let handle = match &self.agent {
            Agent::Running { handle, .. } => Some(Arc::clone(handle)),
            Agent::Absent | Agent::Opening { .. } => None,
        };
        self.calls.spawn(async move {
            let result = match (&handle, &choice) {
                (Some(handle), Choice::Model(model)) => handle.set_model(model).await,
                (Some(handle), Choice::Mode(mode)) => handle.set_mode(mode).await,
                (None, _) => Ok(()),
            };
            CallDone::Chosen { choice, reply, result }
        });
    }

    /// Asks the agent what fills its context. A session without an agent says so: none is started for this.
    pub(super) fn context_use(&mut self, reply: Reply<ContextResponse>) {
        let handle = match &self.agent {
            Agent::Running { handle, .. } if handle.is_alive() => Arc::clone(handle),
            Agent::Running { .. } | Agent::Absent | Agent::Opening { .. } => {
                return answer(reply, Ok(ContextResponse::NotRunning));
            }
        };
        self.calls.spawn(async move {
            let told = handle.context_use().await.map(|context| match context {
                Some(context) => ContextResponse::Known { context },
                None => ContextResponse::NotTold,
            });
            answer(reply, told);
            CallDone::Answered
        });
    }

    async fn chosen(&mut self, choice: Choice) -> Result<(), ProviderError> {
        let mut options = self.broadcast.current().options.unwrap_or_default();
        let change = match choice {
            Choice::Model(model) => {
                self.session.model = Some(model.clone());
                options.model = Some(model.clone());
                SessionChange { model: Some(model), ..SessionChange::default() }
            }
            Choice::Mode(mode) => {
                self.session.mode = Some(mode.clone());
                options.mode = Some(mode.clone());
                SessionChange { mode: Some(mode), ..SessionChange::default() }
            }
        };
        self.stage_change(Change::Options(options));
        self.change_session(change).await
    }
}
