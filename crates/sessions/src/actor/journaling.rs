//! What the session says goes through here: numbered, kept in the journal, then shown, in that order.

use chartroom_protocol::ids::{QueuedId, TurnId};
use chartroom_protocol::session::{QueuedMessage, SessionState};
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use tokio::time::Instant;

use super::Actor;
use crate::feed::{Change, Frame, turn_frame, upsert_frame};
use crate::store::{NewRow, RowKind, StoredMessage};
use crate::summary::summary;

/// Something to be shown once the rows before it are in the journal.
pub(super) enum Staged {
    Row {
        row: NewRow,
        frame: Frame,
    },
    Change(Change),
    /// The journal has this message's turn: it waits no longer.
    Taken(QueuedId),
    /// A turn ended: forget the first rows of its items.
    Compact {
        since: u64,
    },
}

impl Actor {
    /// Journals the state of an item.
    pub(super) fn stage_upsert(&mut self, upsert: Upsert) {
        let turn_id = upsert.turn_id.clone();
        let is_users = matches!(upsert.body, UpsertBody::Message { origin: Origin::User, .. });
        let seq = self.take_seq();
        let (frame, json) = upsert_frame(&self.session.session_id, seq, &upsert);
        let kind = RowKind::Upsert(upsert.item_id.clone());
        let row = NewRow { seq, kind, at: upsert.emitted_at.clone(), json };
        match upsert.status {
            UpsertStatus::Create | UpsertStatus::Update => {
                match self.open_items.iter_mut().find(|item| item.item_id == upsert.item_id) {
                    Some(item) => *item = upsert,
                    None => self.open_items.push(upsert),
                }
            }
            UpsertStatus::Complete | UpsertStatus::Error => {
                self.open_items.retain(|item| item.item_id != upsert.item_id);
            }
        }
        self.staged.push(Staged::Row { row, frame });
        if !is_users {
            self.stage_taken_in(&turn_id);
        }
    }

    pub(super) fn stage_turn(&mut self, event: &TurnEvent) {
        self.kept |= event.is_answered();
        let seq = self.take_seq();
        let (frame, json) = turn_frame(&self.session.session_id, seq, event);
        let row = NewRow { seq, kind: RowKind::Turn, at: self.clock.now().iso(), json };
        self.staged.push(Staged::Row { row, frame });
        if event.is_terminal() {
            self.stage_taken_in(event.turn_id());
        }
    }

    fn stage_taken_in(&mut self, turn_id: &TurnId) {
        if self.delivery.untaken() == Some(turn_id) {
            self.stage_taken();
        }
    }

    /// The agent has said or asked something in the message's turn, or the turn was ended or cancelled: the message is
    /// not given to anybody again.
    pub(super) fn stage_taken(&mut self) {
        if let Some(queued_id) = self.delivery.take() {
            self.staged.push(Staged::Taken(queued_id));
        }
    }

    pub(super) fn stage_change(&mut self, change: Change) {
        self.staged.push(Staged::Change(change));
    }

    /// Shows the session's place on the list as it is kept now.
    pub(super) async fn stage_listed(&mut self) {
        match self.store.session(&self.session.session_id).await {
            Ok(Some(session)) => {
                let listed = summary(session, Some(self.state()));
                self.stage_change(Change::Listed(listed));
            }
            Ok(None) => {}
            Err(error) => {
                // A list that is asked for again is right.
                tracing::warn!(session = %self.session.session_id, "lists were not told of it: {error}");
            }
        }
    }

    /// Shows the state and the queue if they are not what was shown last.
    pub(super) fn stage_status(&mut self) {
        if self.retry_at.is_some() {
            return;
        }
        let queue = visible(self.queue.iter());
        let held = if queue.is_empty() { None } else { self.held.clone() };
        if !self.broadcast.shows_queue(&queue, held.as_deref()) {
            self.stage_change(Change::Queue { messages: queue, held });
        }
        let state = self.state();
        let note = match state {
            SessionState::Dead => self.dead.clone(),
            SessionState::Open | SessionState::Loading | SessionState::Working | SessionState::NeedsYou => {
                self.note.clone()
            }
        };
        if !self.broadcast.shows_state(state, note.as_deref()) {
            self.stage_change(Change::State { state, note });
        }
    }

    /// Writes what is staged and shows it. What cannot be written is kept, and the agent waits with us.
    pub(super) async fn flush(&mut self) {
        if self.retry_at.is_some() {
            return;
        }
        let rows: Vec<NewRow> = self
            .staged
            .iter()
            .filter_map(|staged| match staged {
                Staged::Row { row, .. } => Some(row.clone()),
                Staged::Change(_) | Staged::Taken(_) | Staged::Compact { .. } => None,
            })
            .collect();
        let session_id = self.session.session_id.clone();
        if !rows.is_empty()
            && let Err(error) = self.store.append(&session_id, rows).await
        {
            tracing::error!(session = %session_id, "the journal cannot be written: {error}");
            self.retry_at = Some(Instant::now() + self.limits.journal_retry);
            self.broadcast.change(Change::State {
                state: self.state(),
                note: Some(format!("the journal cannot be written, trying again: {error}")),
            });
            return;
        }
        for staged in std::mem::take(&mut self.staged) {
            match staged {
                Staged::Row { frame, .. } => self.broadcast.publish(&frame),
                Staged::Change(change) => self.broadcast.change(change),
                Staged::Taken(queued_id) => self.store.message_taken(&queued_id),
                Staged::Compact { since } => {
                    self.store.compact(&session_id, since);
                    self.store.touch_session(&session_id, self.clock.now().iso());
                }
            }
        }
    }

    pub(super) async fn forget_message(&self, queued_id: &QueuedId) {
        if let Err(error) = self.store.remove_message(queued_id).await {
            // Its turn is in the journal, by which the next start knows that it was taken.
            tracing::warn!(session = %self.session.session_id, "a delivered message is still queued: {error}");
        }
    }

    fn take_seq(&mut self) -> u64 {
        self.seqs.take()
    }
}

/// Returns the queue as people see it.
pub(crate) fn visible<'a>(messages: impl Iterator<Item = &'a StoredMessage>) -> Vec<QueuedMessage> {
    messages
        .map(|message| QueuedMessage {
            queued_id: message.queued_id.clone(),
            turn_id: message.turn_id.clone(),
            message: message.params.message.clone(),
            image_count: u32::try_from(message.params.images.len()).unwrap_or(u32::MAX),
            queued_at: message.queued_at.clone(),
        })
        .collect()
}
