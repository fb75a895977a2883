//! Starting the agent on a session that exists.

mod import;
mod news;
mod words;

use std::sync::Arc;

use chartroom_protocol::agent::AgentStatus;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::QueuedId;
use chartroom_protocol::session::SessionResponse;
use chartroom_protocol::turn::TurnEvent;

use super::calls::CallDone;
use super::delivery::Doubt;
use super::journaling::Staged;
use super::start::STOPPED;
use super::{Actor, Agent, Reply, answer, internal};
use crate::provider::{AGENTS_ID, History, LoadOptions, ProviderError, ProviderSession};
use crate::store::SessionChange;
use import::{Import, Imported};

/// An agent that was started, or why not.
pub(super) struct Opened {
    pub(super) result: Result<ProviderSession, ProviderError>,
    pub(super) imported: Imported,
}

impl Actor {
    pub(super) fn load(&mut self, reply: Reply<SessionResponse>) {
        self.notice_exit();
        match &mut self.agent {
            Agent::Running { .. } => answer(reply, Ok(self.response())),
            Agent::Opening { waiting, .. } => waiting.push(reply),
            Agent::Absent => match self.check_ready() {
                Ok(()) => self.open(vec![reply]),
                Err(error) => answer(reply, Err(error)),
            },
        }
    }

    /// An agent that died between turns is as good as none; a message or a load starts another.
    pub(super) fn notice_exit(&mut self) {
        if self.turns.is_empty() && matches!(&self.agent, Agent::Running { handle, .. } if !handle.is_alive())
        {
            self.agent = Agent::Absent;
        }
    }

    fn response(&self) -> SessionResponse {
        SessionResponse {
            session_id: self.session.session_id.clone(),
            cli_type: self.session.cli_type.clone(),
        }
    }

    /// Says what stands in the way of starting the agent.
    pub(super) fn check_ready(&self) -> Result<(), ProviderError> {
        (self.check_folder)(&self.project_dir)?;
        check_installed(&*self.provider)
    }

    /// Starts the agent beside the loop. Messages that come meanwhile wait in the queue, which goes on then.
    pub(super) fn open(&mut self, waiting: Vec<Reply<SessionResponse>>) {
        self.held = None;
        let provider = Arc::clone(&self.provider);
        let session_id = self.session.session_id.clone();
        let options = LoadOptions {
            project_dir: self.project_dir.clone(),
            model: self.session.model.clone(),
            mode: self.session.mode.clone(),
            provider_options: self.session.provider_options.clone(),
            may_be_unkept: !self.kept,
        };
        let import = Import {
            store: self.store.clone(),
            session_id: session_id.clone(),
            clock: self.clock,
            next_seq: self.next_seq,
            in_doubt: self.delivery.doubt().map(|doubt| doubt.message.turn_id.clone()),
        };
        let limit = self.limits.open;
        let task = self.calls.spawn(async move {
            let loaded = tokio::time::timeout(limit, provider.load_session(&session_id, options)).await;
            let next_seq = import.next_seq;
            let nothing = Imported { next_seq, ..Imported::default() };
            let (result, imported) = match loaded {
                Ok(Ok(mut session)) => {
                    let history = std::mem::replace(&mut session.history, History::empty());
                    match import.run(history).await {
                        Ok(imported) => (Ok(session), imported),
                        Err(error) => (Err(internal(error)), nothing),
                    }
                }
                Ok(Err(error)) => (Err(error), nothing),
                Err(_elapsed) => {
                    let message = format!("the agent did not start within {} s", limit.as_secs());
                    (Err(ProviderError::create_failed(message)), nothing)
                }
            };
            CallDone::Opened(Box::new(Opened { result, imported }))
        });
        self.agent = Agent::Opening { waiting, cancels: Vec::new(), task };
    }

    pub(super) async fn opened(&mut self, opened: Opened) {
        let Agent::Opening { waiting, cancels, .. } = std::mem::replace(&mut self.agent, Agent::Absent)
        else {
            return;
        };
        self.next_seq = opened.imported.next_seq;
        if opened.imported.n_items > 0 {
            self.kept = true;
            self.broadcast.start_over();
        }
        if opened.imported.was_taken
            && let Some(queued_id) = self.delivery.doubt().map(|doubt| doubt.message.queued_id.clone())
        {
            self.settle_doubt(&queued_id);
        }
        if let (None, Some(message)) = (&self.session.title, opened.imported.first_user_message) {
            self.set_first_title(&message).await;
        }
        self.end_cancelled(cancels).await;
        match opened.result {
            Ok(session) => {
                self.agent = Agent::Running { handle: session.handle, outputs: session.outputs };
                self.note = None;
                self.drain_outputs().await;
                self.dead = None;
                self.session.killed = false;
                let mut change = SessionChange { killed: Some(false), ..SessionChange::default() };
                if session.session_id != self.session.session_id {
                    let options = &mut self.session.provider_options;
                    options.insert(AGENTS_ID.to_owned(), session.session_id.as_str().into());
                    change.provider_options = Some(options.clone());
                }
                if let Err(error) = self.change_session(change).await {
                    tracing::warn!(session = %self.session.session_id, "the session is still marked ended: {error}");
                }
                for reply in waiting {
                    answer(reply, Ok(self.response()));
                }
            }
            Err(error) => {
                self.dead = Some(error.message.clone());
                self.held = Some(error.message.clone());
                for reply in waiting {
                    answer(reply, Err(error.clone()));
                }
            }
        }
    }
}

impl Actor {
    /// The agent has this message if it was in doubt, or nobody wants it to: it is not delivered again, and its turn
    /// ended with the server.
    pub(super) fn settle_doubt(&mut self, queued_id: &QueuedId) {
        let Some(Doubt { message, .. }) = self.delivery.take_doubt(queued_id) else { return };
        self.queue.retain(|waiting| waiting.queued_id != message.queued_id);
        self.staged.push(Staged::Taken(message.queued_id));
        self.finish_turn(&TurnEvent::TurnError {
            turn_id: message.turn_id,
            session_id: self.session.session_id.clone(),
            error_code: ErrorCode::ProcessCrash.to_string(),
            error_message: STOPPED.to_owned(),
        });
    }
}

/// Says which agent is missing and how to install it.
pub(crate) fn check_installed(provider: &dyn crate::provider::Provider) -> Result<(), ProviderError> {
    let agent = provider.agent();
    match agent.status {
        AgentStatus::Found => Ok(()),
        AgentStatus::Missing => Err(ProviderError::new(
            ErrorCode::AgentNotInstalled,
            format!("{} is not installed; install it with `{}`", agent.name, agent.install),
        )),
    }
}
