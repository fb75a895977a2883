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
use tokio::sync::oneshot;

use super::calls::CallDone;
use super::delivery::{Delivery, Doubt};
use super::journaling::Staged;
use super::queueing::{KEPT_BACK, user_item};
use super::sleeping::Sleep;
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
                Ok(()) if self.is_asleep() => self.wake(vec![reply]),
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
        self.open_after(waiting, None);
    }

    /// The same once an earlier agent of the session is gone.
    pub(super) fn open_after(
        &mut self,
        waiting: Vec<Reply<SessionResponse>>,
        gone: Option<oneshot::Receiver<()>>,
    ) {
        // What a person has kept back is not let go by a look at the session.
        self.held = self.session.held.then(|| KEPT_BACK.to_owned());
        let provider = Arc::clone(&self.provider);
        let session_id = self.session.session_id.clone();
        let options = LoadOptions {
            project_dir: self.project_dir.clone(),
            model: self.session.model.clone(),
            mode: self.mode_to_open(),
            provider_options: self.session.provider_options.clone(),
            may_be_unkept: !self.kept,
        };
        let import = Import {
            store: self.store.clone(),
            session_id: session_id.clone(),
            clock: self.clock,
            seqs: self.seqs.clone(),
            before: self.turns.first().map_or_else(|| self.seqs.next(), |turn| turn.first_seq),
            in_doubt: self.delivery.doubt().map(|doubt| doubt.message.turn_id.clone()),
        };
        let limit = self.limits.open;
        let by_words = self.provider.tells_turns_by_words();
        let task = self.calls.spawn(async move {
            if let Some(gone) = gone {
                // Dropped without a word means gone too.
                gone.await.ok();
            }
            let loading = tokio::time::timeout(limit, provider.load_session(&session_id, options));
            // The agent takes longer to start than the journal to be read.
            let (loaded, said) = tokio::join!(loading, import.said_here(by_words));
            let nothing = Imported::default();
            let (result, imported) = match loaded {
                Ok(Ok(mut session)) => {
                    let history = std::mem::replace(&mut session.history, History::empty());
                    match import.run(history, said).await {
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
        let was_waking = matches!(std::mem::take(&mut self.sleep), Sleep::Waking);
        if opened.imported.n_items > 0 {
            self.kept = true;
            self.move_unsent_to_the_end().await;
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
                let said = self.waiting_outputs();
                if was_waking {
                    self.hear_waking(said).await
                } else {
                    self.outputs(said).await
                }
                self.dead = None;
                if std::mem::replace(&mut self.session.killed, false) {
                    self.store.revived(&self.session.session_id);
                }
                if session.session_id != self.session.session_id {
                    let options = &mut self.session.provider_options;
                    options.insert(AGENTS_ID.to_owned(), session.session_id.as_str().into());
                    let provider_options = Some(options.clone());
                    let change = SessionChange { provider_options, ..SessionChange::default() };
                    if let Err(error) = self.change_session(change).await {
                        tracing::warn!(session = %self.session.session_id, "the agent's own id is not kept: {error}");
                    }
                }
                for reply in waiting {
                    answer(reply, Ok(self.response()));
                }
            }
            Err(error) => {
                self.agent_gone(error.message.clone()).await;
                self.held = Some(error.message.clone());
                for reply in waiting {
                    answer(reply, Err(error.clone()));
                }
            }
        }
    }
}

impl Actor {
    /// Returns the mode to begin with. An agent may have changed it itself before it was put to sleep.
    fn mode_to_open(&self) -> Option<String> {
        let shown = self.broadcast.current().options.and_then(|options| options.mode);
        if self.is_waking() { shown.or_else(|| self.session.mode.clone()) } else { self.session.mode.clone() }
    }

    /// What was said elsewhere while the agent slept was said before the message that woke it.
    async fn move_unsent_to_the_end(&mut self) {
        let Delivery::Begun { message, .. } = &self.delivery else { return };
        let message = message.clone();
        let item_id = user_item(&message.turn_id);
        match self.store.forget_item(&self.session.session_id, &item_id).await {
            Ok(()) => self.stage_message(&message),
            // It stands before them, and nothing is lost.
            Err(error) => {
                tracing::warn!(session = %self.session.session_id, "a message was not moved: {error}")
            }
        }
    }

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
