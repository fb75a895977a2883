//! Messages: accepted on the disk, delivered one a turn, in order.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{ItemId, QueuedId, TurnId};
use chartroom_protocol::session::{QueueParams, QueueResponse, SendParams, SendResponse};
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};

use super::calls::CallDone;
use super::journaling::visible;
use super::{Actor, Agent, Delivery, Reply, RunningTurn, answer, internal};
use crate::feed::Change;
use crate::provider::{ProviderError, new_turn_id, title};
use crate::store::{SessionChange, SessionNote, StoredMessage};

/// Why the queue of a session waits that a person has ended.
pub(super) const ENDED: &str = "you have ended this session";
/// Why the queue of a session waits that a person has put away.
pub(super) const ARCHIVED: &str = "this session is archived";

/// Why the queue waits that a person has kept back.
pub(super) const KEPT_BACK: &str = "you stopped the agent; what you send now goes first";

impl Actor {
    /// Accepts a message: it is on the disk before the answer, and delivered when its turn comes.
    pub(super) async fn send(&mut self, params: SendParams, reply: Reply<SendResponse>) {
        let result = self.accept(params).await;
        answer(reply, result);
    }

    pub(super) async fn accept(&mut self, params: SendParams) -> Result<SendResponse, ProviderError> {
        self.notice_exit();
        if matches!(self.agent, Agent::Absent) {
            self.check_ready()?;
        }
        let message = StoredMessage {
            queued_id: QueuedId::new(uuid::Uuid::new_v4().to_string()),
            turn_id: new_turn_id(),
            params,
            queued_at: self.clock.now().iso(),
        };
        let turn_id = message.turn_id.clone();
        let goes_first = self.is_kept_back();
        let is_next = !goes_first && self.queue.is_empty() && self.can_deliver();
        // What its delivery would note a moment later goes to the disk with it.
        let note = is_next.then(|| self.note_of(&message));
        let session_id = &self.session.session_id;
        self.store.push_message(session_id, message.clone(), note).await.map_err(internal)?;
        self.noted = is_next.then(|| turn_id.clone());
        let goes_at_once = match goes_first {
            true => {
                self.go_on_after_stop().await;
                self.put_first(message).await?;
                self.can_deliver()
            }
            false => {
                self.queue.push_back(message);
                is_next
            }
        };
        self.held = None;
        if matches!(self.agent, Agent::Absent) && !self.is_asleep() {
            self.open(Vec::new());
        }
        Ok(SendResponse { turn_id, queued: !goes_at_once })
    }

    /// Whether messages wait because a person stopped the agent.
    fn is_kept_back(&self) -> bool {
        self.session.held && !self.queue.is_empty()
    }

    /// Puts a message that is in the store before those that wait.
    async fn put_first(&mut self, message: StoredMessage) -> Result<(), ProviderError> {
        let put = self.store.put_message_first(&message.queued_id).await.map_err(internal);
        // One that an earlier run had begun to hand over stays first.
        let n_before = usize::from(self.delivery.doubt().is_some() && !self.queue.is_empty());
        self.queue.insert(n_before, message);
        put
    }

    /// Keeps what waits back by a person's wish, also after a restart.
    async fn keep_back(&mut self) -> Result<(), ProviderError> {
        if self.queue.is_empty() {
            return Ok(());
        }
        let change = SessionChange { held: Some(true), ..SessionChange::default() };
        self.change_session(change).await?;
        self.session.held = true;
        self.held.get_or_insert_with(|| KEPT_BACK.to_owned());
        Ok(())
    }

    /// Lets what was kept back go on.
    async fn go_on_after_stop(&mut self) {
        if !std::mem::take(&mut self.session.held) {
            return;
        }
        let change = SessionChange { held: Some(false), ..SessionChange::default() };
        if let Err(error) = self.change_session(change).await {
            // It goes on now; after a restart it would wait once more.
            tracing::warn!(session = %self.session.session_id, "that the queue goes on is not kept: {error}");
        }
        self.held.take_if(|held| held == KEPT_BACK);
    }

    /// What a message that is given to the agent changes of the session.
    fn note_of(&self, message: &StoredMessage) -> SessionNote {
        let title = self.session.title.clone().unwrap_or_else(|| title(&message.params.message));
        SessionNote { title, last_activity: message.queued_at.clone() }
    }

    fn can_deliver(&self) -> bool {
        (matches!(self.agent, Agent::Running { .. }) || self.is_asleep() || self.is_waking())
            && self.turns.is_empty()
            && self.delivery.is_free()
            && self.retry_at.is_none()
            && self.held.is_none()
    }

    /// Starts the agent again for messages that wait: it crashed, or an earlier run of the server left them. What
    /// stands in the way holds the queue until a person loads the session or sends something.
    pub(super) fn go_on(&mut self) {
        let waits = !self.queue.is_empty() && self.held.is_none() && self.turns.is_empty();
        if !waits || !matches!(self.agent, Agent::Absent) || self.is_asleep() || self.retry_at.is_some() {
            return;
        }
        if let Err(error) = self.check_ready() {
            self.held = Some(error.message);
            return;
        }
        if let Some(reason) = self.dead.take() {
            self.was_restarted = true;
            self.note = Some(format!("{reason}; it is started again for the messages that wait"));
        }
        self.open(Vec::new());
    }

    /// Begins the turn of the next message, if nothing is in its way: the message is shown as the user's.
    ///
    /// The agent gets it after the journal has it ([`send_delivery`](Self::send_delivery)).
    pub(super) fn deliver_next(&mut self) {
        if !self.can_deliver() {
            return;
        }
        let Some(message) = self.queue.pop_front() else { return };
        self.begin_turn(&message);
        self.delivery = Delivery::Begun { message, taken: false };
    }

    /// Begins the turn of a message that leaves the queue: it is shown as the user's.
    pub(super) fn begin_turn(&mut self, message: &StoredMessage) {
        let doubt = self.delivery.take_doubt(&message.queued_id);
        let is_told = doubt.as_ref().is_some_and(|doubt| doubt.is_told);
        let shown_before = doubt.is_some_and(|doubt| doubt.message.params == message.params);
        let turn_id = message.turn_id.clone();
        let first_seq = self.seqs.next();
        self.turns.push(RunningTurn { turn_id, first_seq, is_told, cancelled: false });
        if !shown_before {
            self.stage_message(message);
        }
        if self.session.title.is_none() {
            let title = title(&message.params.message);
            self.session.title = Some(title.clone());
            self.stage_change(Change::Title(title));
        }
    }

    /// Shows a message as the user's.
    pub(super) fn stage_message(&mut self, message: &StoredMessage) {
        let now = self.clock.now().iso();
        self.stage_upsert(Upsert {
            turn_id: message.turn_id.clone(),
            session_id: self.session.session_id.clone(),
            item_id: user_item(&message.turn_id),
            source_timestamp: now.clone(),
            emitted_at: now,
            status: UpsertStatus::Complete,
            error_code: None,
            error_message: None,
            parent_call_id: None,
            body: UpsertBody::Message {
                content: message.params.message.clone(),
                origin: Origin::User,
                image_count: u32::try_from(message.params.images.len()).unwrap_or(u32::MAX),
            },
        });
    }

    /// Hands the message of a turn that has begun to the agent, which is woken for it if it is asleep.
    pub(super) fn send_delivery(&mut self) {
        if self.retry_at.is_some() || self.is_waking() {
            return;
        }
        if self.is_asleep() && matches!(self.delivery, Delivery::Begun { .. }) {
            return self.wake(Vec::new());
        }
        let Some(message) = self.delivery.give() else { return };
        let StoredMessage { turn_id, params, .. } = message;
        let begins = self.turn_watch.as_ref().map(|watch| watch.begins(self.turn_place(&turn_id)));
        match &self.agent {
            Agent::Running { handle, .. } => {
                let handle = std::sync::Arc::clone(handle);
                self.calls.spawn(async move {
                    if let Some(begins) = begins {
                        begins.await;
                    }
                    let result = handle.send_message(&turn_id, params).await;
                    CallDone::Delivered { turn_id, result }
                });
            }
            Agent::Absent | Agent::Opening { .. } => {
                // The agent went between the two steps, and its turn was closed with it.
                self.calls.spawn(async move {
                    let result =
                        Err(ProviderError::process_crash("the agent ended before it got the message"));
                    CallDone::Delivered { turn_id, result }
                });
            }
        }
    }

    /// The agent has the message, or will not have it.
    pub(super) async fn delivered(&mut self, turn_id: TurnId, result: Result<(), ProviderError>) {
        if self.noted.take().as_ref() != Some(&turn_id) {
            let title = self.session.title.clone();
            let last_activity = Some(self.clock.now().iso());
            let change = SessionChange { title, last_activity, ..SessionChange::default() };
            if let Err(error) = self.change_session(change).await {
                tracing::warn!(session = %self.session.session_id, "the session's last activity is not kept: {error}");
            }
        }
        let Err(error) = result else {
            self.delivery.confirm();
            return self.cancel_delivered(&turn_id);
        };
        if let Some(queued_id) = self.delivery.refuse() {
            self.forget_message(&queued_id).await;
        }
        if self.turns.iter().any(|turn| turn.turn_id == turn_id) {
            self.finish_turn(&TurnEvent::TurnError {
                turn_id,
                session_id: self.session.session_id.clone(),
                error_code: error.code.to_string(),
                error_message: error.message.clone(),
            });
        }
        if matches!(&self.agent, Agent::Running { handle, .. } if !handle.is_alive()) {
            self.agent_gone(error.message).await;
        }
    }

    pub(super) async fn change_queue(&mut self, change: QueueParams, reply: Reply<QueueResponse>) {
        let result = self.try_change_queue(change).await;
        answer(reply, result.map(|()| QueueResponse { messages: visible(self.queue.iter()) }));
    }

    async fn try_change_queue(&mut self, change: QueueParams) -> Result<(), ProviderError> {
        let queued_id = match &change {
            QueueParams::Edit { queued_id, .. }
            | QueueParams::Remove { queued_id }
            | QueueParams::SendNow { queued_id } => queued_id.clone(),
            QueueParams::Hold => return self.keep_back().await,
            QueueParams::Continue => {
                self.go_on_after_stop().await;
                return Ok(());
            }
        };
        let Some(index) = self.queue.iter().position(|message| message.queued_id == queued_id) else {
            return Err(ProviderError::new(
                ErrorCode::QueuedMessageNotFound,
                format!("message {queued_id} does not wait any more: it was delivered or removed"),
            ));
        };
        match change {
            QueueParams::Edit { message, .. } => {
                let params = SendParams { message, images: self.queue[index].params.images.clone() };
                self.store.edit_message(&queued_id, params.clone()).await.map_err(internal)?;
                self.queue[index].params = params;
            }
            QueueParams::Remove { .. } => {
                self.store.remove_message(&queued_id).await.map_err(internal)?;
                self.queue.remove(index);
                self.settle_doubt(&queued_id);
                if self.queue.is_empty() {
                    self.go_on_after_stop().await;
                }
            }
            QueueParams::SendNow { .. } => {
                self.store.put_message_first(&queued_id).await.map_err(internal)?;
                if let Some(message) = self.queue.remove(index) {
                    // One that an earlier run had begun to hand over stays first.
                    let n_before = usize::from(self.delivery.doubt().is_some() && index > 0);
                    self.queue.insert(n_before, message);
                }
                self.go_on_after_stop().await;
                self.held = None;
                if self.is_asleep() {
                    // The delivery of the message wakes it.
                    self.check_ready()?;
                } else if matches!(self.agent, Agent::Absent) {
                    self.check_ready()?;
                    self.open(Vec::new());
                } else {
                    self.cancel_running(None);
                }
            }
            QueueParams::Hold | QueueParams::Continue => {}
        }
        Ok(())
    }
}

/// Returns the item under which a turn's user message is shown.
pub(super) fn user_item(turn_id: &TurnId) -> ItemId {
    ItemId::new(format!("{turn_id}:user"))
}
