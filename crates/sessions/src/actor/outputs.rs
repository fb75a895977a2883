//! What the agent says, and what its silence means.

use chartroom_protocol::stream::ErrorDetail;
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::UpsertStatus;

use super::journaling::Staged;
use super::{Actor, Agent, PendingQuestion, RunningTurn};
use crate::feed::Change;
use crate::provider::{ProviderError, ProviderOutput};
use crate::store::SessionChange;

impl Actor {
    pub(super) async fn outputs(&mut self, outputs: Vec<ProviderOutput>) {
        for output in outputs {
            match output {
                ProviderOutput::Upsert(upsert) => {
                    // Nothing of a turn that is over, whoever ended it, is shown any more.
                    if self.turns.iter().any(|turn| turn.turn_id == upsert.turn_id) {
                        self.stage_upsert(upsert);
                    }
                }
                ProviderOutput::Turn(event) => self.turn_event(&event),
                ProviderOutput::Question(question) => {
                    if let Err(error) =
                        self.store.put_question(&self.session.session_id, question.clone()).await
                    {
                        tracing::warn!(session = %self.session.session_id, "a question is not kept: {error}");
                    }
                    self.questions.push(PendingQuestion { question: question.clone(), stale: false });
                    self.stage_taken();
                    self.stage_change(Change::Question(question));
                }
                ProviderOutput::QuestionClosed(question_id) => self.close_question(&question_id).await,
                // Shown in its place among the rows, however many of them came in one batch.
                ProviderOutput::Note(note) => {
                    self.note = note;
                    self.stage_status();
                    self.flush().await;
                }
                ProviderOutput::Options(options) => self.stage_change(Change::Options(options)),
                ProviderOutput::Title(title) => {
                    if self.session.title.is_none() {
                        self.set_first_title(&title).await;
                    }
                }
                ProviderOutput::Exited { message } => self.agent_gone(message).await,
            }
        }
    }

    /// Takes in what an agent that was just started has said already, so that it does not come at a random time later.
    pub(super) async fn drain_outputs(&mut self) {
        let waiting = self.waiting_outputs();
        self.outputs(waiting).await;
    }

    pub(super) fn waiting_outputs(&mut self) -> Vec<ProviderOutput> {
        let mut waiting = Vec::new();
        if let Agent::Running { outputs, .. } = &mut self.agent {
            while let Ok(output) = outputs.try_recv() {
                waiting.push(output);
            }
        }
        waiting
    }

    fn turn_event(&mut self, event: &TurnEvent) {
        let turn_id = event.turn_id();
        let running = self.turns.iter_mut().find(|turn| turn.turn_id == *turn_id);
        match (running, event.is_terminal()) {
            (Some(_), true) => {
                self.was_restarted &= !event.is_answered();
                self.finish_turn(event);
            }
            (None, true) => {}
            (Some(turn), false) => {
                if !std::mem::replace(&mut turn.is_told, true) {
                    self.stage_turn(event);
                }
            }
            (None, false) => {
                // The agent began it by itself.
                let (turn_id, first_seq) = (turn_id.clone(), self.seqs.next());
                if let Some(watch) = &self.turn_watch {
                    drop(watch.begins(self.turn_place(&turn_id)));
                }
                self.turns.push(RunningTurn { turn_id, first_seq, is_told: true, cancelled: false });
                self.stage_turn(event);
            }
        }
    }

    /// Notes that a turn is over; nothing of it is shown any more.
    fn end_turn(&mut self, event: &TurnEvent) {
        let turn_id = event.turn_id();
        self.open_items.retain(|item| item.turn_id != *turn_id);
        let since = match self.turns.iter().position(|turn| turn.turn_id == *turn_id) {
            Some(index) => self.turns.remove(index).first_seq,
            None => self.seqs.next(),
        };
        self.staged.push(Staged::Compact { since });
        if !self.turns.iter().any(|turn| turn.cancelled) {
            self.cancel_by = None;
        }
        if self.turns.is_empty() {
            self.note = None;
        }
    }

    /// Ends a turn, by the agent's word or because there will be none.
    pub(super) fn finish_turn(&mut self, event: &TurnEvent) {
        self.stage_turn(event);
        self.end_turn(event);
        if let Some(watch) = &self.turn_watch {
            watch.ended(self.turn_place(event.turn_id()));
        }
    }

    /// The process is gone: what was open is an error, and the session waits for somebody to go on.
    pub(super) async fn agent_gone(&mut self, message: String) {
        self.agent = Agent::Absent;
        self.fail_everything(&ProviderError::process_crash(message.clone()).detail());
        self.close_live_questions().await;
        self.cancel_by = None;
        self.note = None;
        if self.was_restarted {
            self.held = Some(message.clone());
        }
        self.dead = Some(message);
    }

    /// Closes open items and turns as failed. A provider that flushed them already left nothing to do.
    pub(super) fn fail_everything(&mut self, error: &ErrorDetail) {
        for mut item in std::mem::take(&mut self.open_items) {
            item.status = UpsertStatus::Error;
            item.error_code = Some(error.code.clone());
            item.error_message = Some(error.message.clone());
            item.emitted_at = self.clock.now().iso();
            self.stage_upsert(item);
        }
        let running: Vec<_> = self.turns.iter().map(|turn| turn.turn_id.clone()).collect();
        for turn_id in running {
            self.finish_turn(&TurnEvent::TurnError {
                turn_id,
                session_id: self.session.session_id.clone(),
                error_code: error.code.clone(),
                error_message: error.message.clone(),
            });
        }
    }

    pub(super) async fn set_first_title(&mut self, message: &str) {
        let title = crate::provider::title(message);
        self.session.title = Some(title.clone());
        let change = SessionChange { title: Some(title.clone()), ..SessionChange::default() };
        if let Err(error) = self.change_session(change).await {
            tracing::warn!(session = %self.session.session_id, "the title is not kept: {error}");
        }
        self.stage_change(Change::Title(title));
    }
}
