//! Cancel, kill and shutdown.

use std::sync::Arc;

use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use tokio::time::Instant;

use super::calls::CallDone;
use super::queueing::ENDED;
use super::{Actor, Agent, Reply, answer};
use crate::provider::AgentHandle;
use crate::store::SessionChange;

impl Actor {
    /// Asks the agent to end the running turn; without one there is nothing to do.
    pub(super) fn cancel(&mut self, reply: Option<Reply<()>>) {
        let handle = match &self.agent {
            Agent::Running { handle, .. } if !self.turns.is_empty() => Arc::clone(handle),
            Agent::Running { .. } | Agent::Absent | Agent::Opening { .. } => {
                if let Some(reply) = reply {
                    answer(reply, Ok(()));
                }
                return;
            }
        };
        self.stage_taken();
        // A second cancel does not put the limit off.
        self.cancel_by.get_or_insert(Instant::now() + self.limits.cancel);
        self.calls.spawn(async move {
            let result = handle.cancel_turn().await;
            CallDone::Plain { reply, result }
        });
    }

    /// The turn did not end although it was cancelled: it ends now, and the agent with it.
    pub(super) async fn force_cancel(&mut self) {
        self.cancel_by = None;
        self.close_live_questions().await;
        let Some(handle) = self.drop_agent() else { return };
        self.cancel_turns();
        self.dead = Some(format!(
            "the agent did not stop within {} s and was ended; the next message starts it again",
            self.limits.cancel.as_secs()
        ));
        self.calls.spawn(async move {
            handle.kill().await;
            CallDone::Plain { reply: None, result: Ok(()) }
        });
    }

    /// Ends the agent by a person's wish; the conversation and the queue stay.
    pub(super) async fn kill(&mut self, reply: Reply<()>) {
        let change = SessionChange { killed: Some(true), ..SessionChange::default() };
        if let Err(error) = self.change_session(change).await {
            // The agent ends all the same; only the list may show the session again after a restart.
            tracing::warn!(session = %self.session.session_id, "the session is not marked as ended: {error}");
        }
        self.session.killed = true;
        self.held = Some(ENDED.to_owned());
        self.close_live_questions().await;
        self.end_agent(reply);
        self.cancel_turns();
        self.dead = None;
        self.note = None;
        self.cancel_by = None;
    }

    /// Ends the agent because the server stops. A running turn is closed at the next start.
    pub(super) fn shutdown(&mut self, reply: Reply<()>) {
        self.held = Some("the server stops".to_owned());
        self.end_agent(reply);
    }

    /// Ends the agent and answers when its whole tree is gone.
    fn end_agent(&mut self, reply: Reply<()>) {
        match self.drop_agent() {
            Some(handle) => {
                self.calls.spawn(async move {
                    handle.kill().await;
                    CallDone::Plain { reply: Some(reply), result: Ok(()) }
                });
            }
            None => answer(reply, Ok(())),
        }
    }

    fn cancel_turns(&mut self) {
        let running: Vec<_> = self.turns.iter().map(|turn| turn.turn_id.clone()).collect();
        for turn_id in running {
            self.finish_turn(&TurnEvent::TurnComplete {
                turn_id,
                session_id: self.session.session_id.clone(),
                status: TurnStatus::Cancelled,
                usage: None,
                duration_ms: None,
            });
        }
    }

    /// Lets go of the agent; what it still says goes nowhere.
    fn drop_agent(&mut self) -> Option<Arc<dyn AgentHandle>> {
        match std::mem::replace(&mut self.agent, Agent::Absent) {
            Agent::Running { handle, .. } => Some(handle),
            Agent::Opening { waiting, task } => {
                // Aborting the start drops the half-started agent, which ends its process.
                task.abort();
                for reply in waiting {
                    answer(
                        reply,
                        Err(crate::provider::ProviderError::process_crash(
                            "the session was ended while it loaded",
                        )),
                    );
                }
                None
            }
            Agent::Absent => None,
        }
    }
}
