//! The task that owns an ACP agent: what it says, our commands, the clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agent_client_protocol::v1::schema::{
    CancelNotification, ContentBlock, ImageContent, PromptRequest, SetSessionModeRequest, TextContent,
};
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{QuestionId, SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, SendParams};
use chartroom_sessions::{ProviderError, ProviderOutput, Pump};
use chartroom_transport::{Child, Peer, RpcError};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{Command, Event, Reply};
use crate::acp::options::Offered;
use crate::acp::permission::{self, Permission};
use crate::acp::translate::{Translated, Translator, prompt_error};
use crate::json::text;
use crate::launch::exit_reason;
use crate::refusals;
use crate::same_calls::SameCalls;
use crate::timeouts::Timeouts;

pub(super) struct Task {
    pub(super) child: Child,
    pub(super) peer: Peer,
    pub(super) session_id: SessionId,
    pub(super) translator: Translator,
    pub(super) pump: Pump,
    pub(super) offered: Offered,
    pub(super) timeouts: Timeouts,
    pub(super) questions: BTreeMap<QuestionId, (Permission, oneshot::Sender<Value>)>,
    pub(super) same_calls: SameCalls,
    pub(super) n_questions: u64,
    /// For the answers to prompts, which come in their place among the updates.
    pub(super) events: mpsc::Sender<Event>,
}

impl Task {
    /// Runs until the process is gone.
    pub(super) async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut commands: mpsc::Receiver<Command>,
        alive: Arc<AtomicBool>,
    ) {
        let peer = self.peer.clone();
        let killed_by = loop {
            tokio::select! {
                // What was said before the end is handled before the end.
                biased;
                event = events.recv() => match event {
                    Some(event) => self.event(event).await,
                    None => break None,
                },
                command = commands.recv() => match command {
                    Some(Command::Kill { reply }) => break Some(Some(reply)),
                    Some(command) => self.command(command).await,
                    None => break Some(None),
                },
                _reason = peer.closed() => break None,
                () = self.pump.tick_when_due() => {}
            }
        };
        alive.store(false, Ordering::Release);
        drop(commands);
        let killed = killed_by.is_some();
        if killed {
            self.end_gracefully(&mut events).await;
        }
        self.end(killed).await;
        if let Some(Some(reply)) = killed_by {
            // The one who asked may be gone.
            reply.send(()).ok();
        }
    }

    async fn event(&mut self, event: Event) {
        match event {
            Event::Update(update) => {
                let timestamp = self.now();
                let translated = self.translator.update(&timestamp, &update);
                self.apply(translated).await;
            }
            Event::Permission { params, reply } => {
                self.n_questions += 1;
                let question_id = QuestionId::new(format!("{}:q{}", self.session_id, self.n_questions));
                let tool_call = params.get("toolCall").cloned().unwrap_or_default();
                let known = self.translator.call(text(&tool_call, "/toolCallId"));
                let permission = Permission::read(question_id.clone(), &params, known);
                let timestamp = self.now();
                let translated = self.translator.asked(&timestamp, &tool_call);
                self.apply(translated).await;
                if permission.sameness().is_some_and(|sameness| self.same_calls.allows(&sameness)) {
                    // An agent that is gone does not wait; its end says the rest.
                    reply.send(json!(permission.once())).ok();
                    return;
                }
                let question = permission.question(self.now());
                self.questions.insert(question_id, (permission, reply));
                self.pump.output(ProviderOutput::Question(question)).await;
            }
            Event::Answered(answer) => self.answered(answer).await,
        }
    }

    async fn answered(&mut self, answer: Result<Value, RpcError>) {
        let timestamp = self.now();
        let translated = match &answer {
            Ok(answer) => self.translator.answered(&timestamp, Ok(answer)),
            // The end of the process ends the turn, and knows why.
            Err(RpcError::Closed { .. }) => return,
            Err(RpcError::Response(error)) => {
                let detail = prompt_error(&error.message, error.data.as_ref());
                self.translator.answered(&timestamp, Err(&detail))
            }
            Err(error) => {
                let detail = ProviderError::protocol(error.to_string()).detail();
                self.translator.answered(&timestamp, Err(&detail))
            }
        };
        // A turn that is over waits for nobody.
        self.withdraw_questions().await;
        self.apply(translated).await;
    }

    async fn apply(&mut self, translated: Vec<Translated>) {
        for translated in translated {
            match translated {
                Translated::Event(mut envelope) => {
                    refusals::note(self.child.sandbox(), &mut envelope);
                    self.pump.push(self.pump.clock().now(), &envelope).await;
                }
                Translated::Note(note) => self.pump.output(ProviderOutput::Note(note)).await,
                Translated::Options(update) => {
                    self.offered.take(&update);
                    self.show_options().await;
                }
            }
        }
    }

    async fn command(&mut self, command: Command) {
        // A caller that is gone does not want to know how it ended.
        match command {
            Command::Send { turn_id, message, reply } => {
                let sent = self.send(turn_id, message).await;
                reply.send(sent).ok();
            }
            Command::Cancel { turn_id, reply } => {
                let cancelled = if self.translator.cancel(&turn_id) { self.cancel().await } else { Ok(()) };
                reply.send(cancelled).ok();
            }
            Command::Answer { params, reply } => {
                let answered = self.answer(&params).await;
                reply.send(answered).ok();
            }
            Command::SetModel { model, reply } => {
                self.offered.options.model = Some(model.clone());
                let (method, params) = match &self.offered.model_config {
                    Some(config) => (
                        "session/set_config_option",
                        json!({"sessionId": self.session_id, "configId": config, "value": model}),
                    ),
                    None => ("session/set_model", json!({"sessionId": self.session_id, "modelId": model})),
                };
                self.ask_in_background(method, params, reply);
                self.show_options().await;
            }
            Command::SetMode { mode, reply } => {
                self.offered.options.mode = Some(mode.clone());
                let request = SetSessionModeRequest::new(self.session_id.as_str().to_owned(), mode);
                self.ask_in_background("session/set_mode", json!(request), reply);
                self.show_options().await;
            }
            Command::Kill { .. } => {}
        }
    }

    async fn send(&mut self, turn_id: TurnId, message: SendParams) -> Result<(), ProviderError> {
        if self.translator.is_working() {
            return Err(ProviderError::protocol("the agent works on another message"));
        }
        let model = self.offered.options.model.clone().unwrap_or_default();
        let timestamp = self.now();
        let translated = self.translator.begin(&timestamp, turn_id, &model);
        self.apply(translated).await;
        let images = message
            .images
            .into_iter()
            .map(|image| ContentBlock::Image(ImageContent::new(image.data, image.media_type)));
        let words = ContentBlock::Text(TextContent::new(message.message));
        let prompt = PromptRequest::new(self.session_id.as_str().to_owned(), images.chain([words]).collect());
        let (peer, events) = (self.peer.clone(), self.events.clone());
        tokio::spawn(async move {
            let answer = peer.request_in_order("session/prompt", prompt).await;
            if events.send(Event::Answered(answer)).await.is_err() {
                tracing::debug!("a prompt was answered after its session had ended");
            }
        });
        Ok(())
    }

    async fn cancel(&mut self) -> Result<(), ProviderError> {
        let cancel = CancelNotification::new(self.session_id.as_str().to_owned());
        let cancelled = self.peer.notify("session/cancel", cancel).await;
        // The protocol asks for this: pending permissions are answered as cancelled.
        self.withdraw_questions().await;
        cancelled.map_err(|error| ProviderError::interrupt_failed(error.to_string()).with_cause(error))
    }

    async fn answer(&mut self, params: &AnswerParams) -> Result<(), ProviderError> {
        let Some((permission, reply)) = self.questions.remove(&params.question_id) else {
            let message = format!("question {} does not wait any more", params.question_id);
            return Err(ProviderError::new(ErrorCode::QuestionNotFound, message));
        };
        // An agent that is gone does not wait; its end says the rest.
        reply.send(json!(permission.response(params))).ok();
        if let Some(sameness) = permission.same_call(params) {
            self.same_calls.allow(&sameness);
        }
        self.pump.output(ProviderOutput::QuestionClosed(params.question_id.clone())).await;
        Ok(())
    }

    async fn withdraw_questions(&mut self) {
        for (question_id, (_, reply)) in std::mem::take(&mut self.questions) {
            reply.send(json!(permission::cancelled())).ok();
            self.pump.output(ProviderOutput::QuestionClosed(question_id)).await;
        }
    }

    fn ask_in_background(&self, method: &'static str, params: Value, reply: Reply) {
        let (peer, timeouts) = (self.peer.clone(), self.timeouts.answer);
        tokio::spawn(async move {
            let answer = peer.request_timeout(method, params, timeouts).await;
            let answer = answer.map(drop).map_err(|error| {
                ProviderError::protocol(format!("the agent refused {method}: {error}")).with_cause(error)
            });
            reply.send(answer).ok();
        });
    }

    async fn show_options(&mut self) {
        self.pump.output(ProviderOutput::Options(self.offered.options.clone())).await;
    }

    /// Cancels a running turn and reads on for a moment: it still reports its end.
    async fn end_gracefully(&mut self, events: &mut mpsc::Receiver<Event>) {
        if !self.translator.is_working() {
            return;
        }
        if let Err(error) = self.cancel().await {
            tracing::debug!(%error, "the agent could not be asked to stop");
        }
        let limit = self.timeouts.end;
        let drain = async {
            while self.translator.is_working()
                && let Some(event) = events.recv().await
            {
                self.event(event).await;
            }
        };
        if tokio::time::timeout(limit, drain).await.is_err() {
            tracing::debug!("the agent did not end its turn");
        }
    }

    /// Ends the tree (codex-acp outlives its stdin: SIGTERM it) and everything that was open.
    async fn end(mut self, killed: bool) {
        let label = self.child.label().to_owned();
        let message = if killed {
            self.child.end(self.timeouts.end).await;
            "the session was ended".to_owned()
        } else {
            format!("{label} {}", exit_reason(self.child, self.timeouts.end).await)
        };
        self.pump.destroy(&ProviderError::process_crash(&message).detail()).await;
        for (question_id, _) in std::mem::take(&mut self.questions) {
            self.pump.output(ProviderOutput::QuestionClosed(question_id)).await;
        }
        self.pump.output(ProviderOutput::Exited { message }).await;
    }

    fn now(&self) -> String {
        self.pump.clock().now().iso()
    }
}
