//! Cancel, kill and shutdown.

use std::sync::Arc;

use chartroom_protocol::ids::{QueuedId, TurnId};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use tokio::time::Instant;

use super::calls::CallDone;
use super::journaling::Staged;
use super::queueing::ENDED;
use super::sleeping::Sleep;
use super::{Actor, Agent, Reply, answer};
use crate::provider::{AgentHandle, ProviderError};
use crate::store::SessionChange;

/// Why a turn that a person has ended with its agent has no better end.
const KILLED: &str = "the session was ended";

impl Actor {
    /// Ends the turn that runs, or else the one that is next: a cancel that is answered is not lost, whatever the session
    /// is doing. Messages that wait behind it stay in the queue.
    pub(super) fn cancel(&mut self, reply: Reply<()>) {
        if !self.turns.is_empty() {
            return self.cancel_running(Some(reply));
        }
        let next = self.queue.front().filter(|_| self.held.is_none());
        let Some(next) = next.map(|message| message.queued_id.clone()) else {
            return answer(reply, Ok(()));
        };
        let sleeps = self.is_asleep() || self.is_waking();
        match &mut self.agent {
            // The history that is being taken over was said before it.
            Agent::Opening { cancels, .. } if !sleeps => cancels.push((next, reply)),
            Agent::Absent if !sleeps => {
                // Nobody works on it, and nobody will unasked.
                answer(reply, Ok(()));
            }
            Agent::Running { .. } | Agent::Opening { .. } | Agent::Absent => {
                self.end_unsent(&next);
                answer(reply, Ok(()));
            }
        }
    }

    /// Asks the agent to end the running turns. One whose message it has not confirmed is cancelled when it has
    /// ([`cancel_delivered`](Self::cancel_delivered)); one that it was not given ends here.
    pub(super) fn cancel_running(&mut self, reply: Option<Reply<()>>) {
        self.stage_taken();
        if let Some(turn_id) = self.delivery.take_back() {
            self.finish_cancelled(turn_id);
        }
        for turn in &mut self.turns {
            turn.cancelled = true;
        }
        if !self.turns.is_empty() {
            // A second cancel does not put the limit off.
            self.cancel_by.get_or_insert(Instant::now() + self.limits.cancel);
        }
        let delivered = self.turns.iter().map(|turn| turn.turn_id.clone());
        let delivered = delivered.filter(|turn_id| !self.delivery.is_given(turn_id)).collect();
        self.ask_to_cancel(delivered, reply);
    }

    /// The agent has a message whose turn was cancelled meanwhile.
    pub(super) fn cancel_delivered(&mut self, turn_id: &TurnId) {
        if self.turns.iter().any(|turn| turn.cancelled && turn.turn_id == *turn_id) {
            self.ask_to_cancel(vec![turn_id.clone()], None);
        }
    }

    fn ask_to_cancel(&mut self, turns: Vec<TurnId>, reply: Option<Reply<()>>) {
        let handle = match &self.agent {
            Agent::Running { handle, .. } if !turns.is_empty() => Arc::clone(handle),
            Agent::Running { .. } | Agent::Absent | Agent::Opening { .. } => {
                if let Some(reply) = reply {
                    answer(reply, Ok(()));
                }
                return;
            }
        };
        self.calls.spawn(async move {
            let mut result = Ok(());
            for turn_id in &turns {
                result = result.and(handle.cancel_turn(turn_id).await);
            }
            CallDone::Plain { reply, result }
        });
    }

    /// Ends the turns of messages that were cancelled while the agent started, and answers those who asked.
    pub(super) async fn end_cancelled(&mut self, cancels: Vec<(QueuedId, Reply<()>)>) {
        let mut replies = Vec::new();
        for (queued_id, reply) in cancels {
            self.end_unsent(&queued_id);
            replies.push(reply);
        }
        if !replies.is_empty() {
            // Whoever is told that a turn was cancelled finds it so after a crash, too.
            self.flush().await;
        }
        for reply in replies {
            answer(reply, Ok(()));
        }
    }

    /// Ends the turn of a message that waits, without giving it to the agent.
    fn end_unsent(&mut self, queued_id: &QueuedId) {
        let Some(index) = self.queue.iter().position(|message| message.queued_id == *queued_id) else {
            return;
        };
        let Some(message) = self.queue.remove(index) else { return };
        self.begin_turn(&message);
        self.finish_cancelled(message.turn_id);
        self.staged.push(Staged::Taken(message.queued_id));
    }

    /// The turn did not end although it was cancelled: it ends now, and the agent with it.
    pub(super) async fn force_cancel(&mut self) {
        self.cancel_by = None;
        // What it has said by now counts.
        self.drain_outputs().await;
        self.close_live_questions().await;
        let Some(handle) = self.drop_agent() else { return };
        let running: Vec<_> = self.turns.iter().map(|turn| turn.turn_id.clone()).collect();
        for turn_id in running {
            self.finish_cancelled(turn_id);
        }
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
        // What it has said by now counts.
        self.drain_outputs().await;
        self.held = Some(ENDED.to_owned());
        self.close_live_questions().await;
        self.end_agent(reply);
        self.fail_everything(&ProviderError::process_crash(KILLED).detail());
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
        let sleep = std::mem::take(&mut self.sleep);
        match (self.drop_agent(), sleep) {
            (Some(handle), _) => {
                self.calls.spawn(async move {
                    handle.kill().await;
                    CallDone::Plain { reply: Some(reply), result: Ok(()) }
                });
            }
            (None, Sleep::Asleep { gone }) => {
                self.calls.spawn(async move {
                    // Dropped without a word means gone too.
                    gone.await.ok();
                    CallDone::Plain { reply: Some(reply), result: Ok(()) }
                });
            }
            (None, Sleep::Awake | Sleep::Waking) => answer(reply, Ok(())),
        }
    }

    fn finish_cancelled(&mut self, turn_id: TurnId) {
        self.finish_turn(&TurnEvent::TurnComplete {
            turn_id,
            session_id: self.session.session_id.clone(),
            status: TurnStatus::Cancelled,
            usage: None,
            duration_ms: None,
        });
    }

    /// Lets go of the agent; what it still says goes nowhere.
    fn drop_agent(&mut self) -> Option<Arc<dyn AgentHandle>> {
        self.sleep = Sleep::Awake;
        match std::mem::replace(&mut self.agent, Agent::Absent) {
            Agent::Running { handle, .. } => Some(handle),
            Agent::Opening { waiting, cancels, task } => {
                // Aborting the start drops the half-started agent, which ends its process.
                task.abort();
                let ended = ProviderError::process_crash("the session was ended while it loaded");
                for reply in waiting {
                    answer(reply, Err(ended.clone()));
                }
                for (_, reply) in cancels {
                    answer(reply, Err(ended.clone()));
                }
                None
            }
            Agent::Absent => None,
        }
    }
}
