//! ACP's `session/update` notifications into canonical stream events: pure, lenient.
//!
//! ACP has no item and no turn ids: ours are made here. A prompt's answer ends the turn.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{CallId, ItemId, SessionId, TurnId};
use chartroom_protocol::stream::{
    ErrorDetail, FinalizedItem, ItemType, Origin, ResponseStatus, StreamEvent, StreamEventEnvelope, Usage,
};
use serde_json::{Value, json};

use super::tool::{Call, content_text};
use crate::envelope::Envelopes;
use crate::json::{list, number, optional_text, text};

/// What one update says.
#[derive(Debug, Clone, PartialEq)]
pub enum Translated {
    /// A canonical event.
    Event(Box<StreamEventEnvelope>),
    /// What the agent is doing, or that it is not any more.
    Note(Option<String>),
    /// Commands, modes or models changed: the update as it came.
    Options(Value),
}

/// The state of one conversation's translation.
#[derive(Debug)]
pub struct Translator {
    envelopes: Envelopes,
    provider_id: String,
    turn: Option<Turn>,
    context: Option<(u64, u64)>,
    noted: bool,
}

#[derive(Debug)]
struct Turn {
    id: TurnId,
    next_ordinal: u32,
    /// The text that is being said.
    open: Option<Chunks>,
    /// What was said last, in case the agent says it again after a retry.
    said: Option<Chunks>,
    calls: BTreeMap<String, OpenCall>,
    n_plans: u32,
    /// Somebody has cancelled it.
    cancelled: bool,
}

/// A tool call without its final result.
#[derive(Debug)]
struct OpenCall {
    item_id: ItemId,
    call: Call,
    /// The agent said so after the turn was cancelled: the tool did not fail by itself, it was stopped.
    failed: bool,
}

#[derive(Debug, Clone)]
struct Chunks {
    item_id: ItemId,
    kind: ChunkKind,
    content: String,
    /// The model's answer has ended, by `usage_update`: a chunk that follows may repeat it after a stream retry.
    /// What has been repeated so far.
    repeated: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkKind {
    Message(Origin),
    Thought,
}

impl Translator {
    /// Returns a translator that has heard nothing yet.
    pub fn new(session_id: SessionId, provider_id: &str) -> Self {
        let envelopes = Envelopes::new(session_id);
        Self { envelopes, provider_id: provider_id.to_owned(), turn: None, context: None, noted: false }
    }

    /// Tells whether a turn runs.
    pub fn is_working(&self) -> bool {
        self.turn.is_some()
    }

    /// Begins a turn: its prompt is about to be written.
    pub fn begin(&mut self, timestamp: &str, turn_id: TurnId, model_id: &str) -> Vec<Translated> {
        let event = StreamEvent::ResponseStart {
            model_id: model_id.to_owned(),
            provider_id: self.provider_id.clone(),
        };
        let started = self.envelopes.wrap(&turn_id, timestamp, event);
        self.turn = Some(Turn {
            id: turn_id,
            next_ordinal: 0,
            open: None,
            said: None,
            calls: BTreeMap::new(),
            n_plans: 0,
            cancelled: false,
        });
        vec![Translated::Event(Box::new(started))]
    }

    /// Notes that a turn is to be cancelled; tells whether it runs.
    pub fn cancel(&mut self, turn_id: &TurnId) -> bool {
        match &mut self.turn {
            Some(turn) if turn.id == *turn_id => {
                turn.cancelled = true;
                true
            }
            Some(_) | None => false,
        }
    }

    /// Reads one update.
    pub fn update(&mut self, timestamp: &str, update: &Value) -> Vec<Translated> {
        match text(update, "/sessionUpdate") {
            "available_commands_update" | "current_mode_update" | "config_option_update" => {
                return vec![Translated::Options(update.clone())];
            }
            "usage_update" => {
                let size = number(update, "/size").unwrap_or_default();
                self.context = number(update, "/used").map(|used| (used, size));
            }
            _ => {}
        }
        let mut translated = Vec::new();
        if let Some(note) = warning(update) {
            self.noted = true;
            translated.push(Translated::Note(Some(note)));
            return translated;
        }
        let Some(turn) = &mut self.turn else { return translated };
        let events = turn.update(update, &self.provider_id);
        if !events.is_empty() && std::mem::take(&mut self.noted) {
            translated.push(Translated::Note(None));
        }
        for event in events {
            translated.push(Translated::Event(Box::new(self.envelopes.wrap(&turn.id, timestamp, event))));
        }
        translated
    }

    /// Returns what the running turn has told of a call.
    pub(super) fn call(&self, call_id: &str) -> Option<&Call> {
        self.turn.as_ref()?.calls.get(call_id).map(|open| &open.call)
    }

    /// Shows the call that a permission is asked for: the agent tells of it only once it is allowed.
    pub fn asked(&mut self, timestamp: &str, tool_call: &Value) -> Vec<Translated> {
        let Some(turn) = &mut self.turn else { return Vec::new() };
        let mut tool_call = tool_call.clone();
        // Its text is the question, not what the tool says; its diffs are what the tool would do.
        if let Some(content) = tool_call.get_mut("content").and_then(Value::as_array_mut) {
            content.retain(|part| text(part, "/type") == "diff");
        }
        let events = turn.tool(&tool_call, &self.provider_id);
        let wrapped = events.into_iter().map(|event| self.envelopes.wrap(&turn.id, timestamp, event));
        wrapped.map(|envelope| Translated::Event(Box::new(envelope))).collect()
    }

    /// Ends the turn with the prompt's answer.
    pub fn answered(&mut self, timestamp: &str, answer: Result<&Value, &ErrorDetail>) -> Vec<Translated> {
        let (status, finish_reason, error) = match answer {
            Ok(answer) => {
                let reason = text(answer, "/stopReason");
                let status =
                    if reason == "cancelled" { ResponseStatus::Cancelled } else { ResponseStatus::Completed };
                (status, Some(reason.to_owned()), None)
            }
            Err(error) => (ResponseStatus::Error, None, Some(error.clone())),
        };
        self.end(timestamp, status, finish_reason, error)
    }

    fn end(
        &mut self,
        timestamp: &str,
        status: ResponseStatus,
        finish_reason: Option<String>,
        error: Option<ErrorDetail>,
    ) -> Vec<Translated> {
        let Some(mut turn) = self.turn.take() else { return Vec::new() };
        let mut events = turn.close(status, error.as_ref(), &self.provider_id);
        let (context_tokens, context_window) = self.context.unzip();
        let usage = Usage { context_tokens, context_window, ..Usage::default() };
        events.push(StreamEvent::ResponseDone { status, finish_reason, error, usage: Some(usage) });
        let mut translated = Vec::new();
        if std::mem::take(&mut self.noted) {
            translated.push(Translated::Note(None));
        }
        for event in events {
            translated.push(Translated::Event(Box::new(self.envelopes.wrap(&turn.id, timestamp, event))));
        }
        translated
    }
}

impl Turn {
    fn update(&mut self, update: &Value, provider_id: &str) -> Vec<StreamEvent> {
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => {
                self.chunk(ChunkKind::Message(Origin::Agent), &content_text(update), provider_id)
            }
            "user_message_chunk" => {
                self.chunk(ChunkKind::Message(Origin::User), &content_text(update), provider_id)
            }
            "agent_thought_chunk" => self.chunk(ChunkKind::Thought, &content_text(update), provider_id),
            "usage_update" => {
                if let Some(open) = &mut self.open {
                    open.repeated = Some(String::new());
                }
                Vec::new()
            }
            "tool_call" | "tool_call_update" => self.tool(update, provider_id),
            "plan" => self.plan(update, provider_id),
            _ => Vec::new(),
        }
    }

    fn chunk(&mut self, kind: ChunkKind, delta: &str, provider_id: &str) -> Vec<StreamEvent> {
        if delta.is_empty() {
            return Vec::new();
        }
        match &mut self.open {
            Some(open) if open.kind == kind => match &mut open.repeated {
                None => {
                    open.content.push_str(delta);
                    vec![delta_event(&open.item_id, delta)]
                }
                Some(repeated) => {
                    repeated.push_str(delta);
                    if open.content.starts_with(repeated.as_str()) {
                        return Vec::new();
                    }
                    let again = std::mem::take(repeated);
                    if let Some(rest) = again.strip_prefix(open.content.as_str()) {
                        let event = delta_event(&open.item_id, rest);
                        open.content.push_str(rest);
                        open.repeated = None;
                        return vec![event];
                    }
                    // Not a repetition: the answer broke off, and the agent has asked again. An answer that is
                    // whole is followed by a tool or by the turn's end.
                    let item_id = open.item_id.clone();
                    self.open = None;
                    let mut events = vec![StreamEvent::ItemError { item_id, error: broken_off() }];
                    events.extend(self.start(kind, &again));
                    events
                }
            },
            _ => {
                let said_already = self.said.as_ref().is_some_and(|said| {
                    said.kind == kind && said.repeated.is_some() && said.content == delta
                });
                let mut events = self.finish_open(provider_id);
                if !said_already {
                    events.extend(self.start(kind, delta));
                }
                events
            }
        }
    }

    fn start(&mut self, kind: ChunkKind, content: &str) -> Vec<StreamEvent> {
        let item_id = self.next_item();
        let item_type = match kind {
            ChunkKind::Message(_) => ItemType::Message,
            ChunkKind::Thought => ItemType::Reasoning,
        };
        let started = StreamEvent::ItemStart {
            item_id: item_id.clone(),
            item_type,
            initial_content: None,
            name: None,
            call_id: None,
            parent_call_id: None,
        };
        let delta = delta_event(&item_id, content);
        self.open = Some(Chunks { item_id, kind, content: content.to_owned(), repeated: None });
        vec![started, delta]
    }

    fn next_item(&mut self) -> ItemId {
        let item_id = ItemId::new(format!("{}:{}:0", self.id, self.next_ordinal));
        self.next_ordinal += 1;
        item_id
    }

    fn finish_open(&mut self, provider_id: &str) -> Vec<StreamEvent> {
        let Some(open) = self.open.take() else { return Vec::new() };
        let final_item = match open.kind {
            ChunkKind::Message(origin) => FinalizedItem::Message { content: open.content.clone(), origin },
            ChunkKind::Thought => FinalizedItem::Reasoning {
                content: open.content.clone(),
                provider_id: provider_id.to_owned(),
            },
        };
        let done = StreamEvent::ItemDone { item_id: open.item_id.clone(), final_item };
        self.said = Some(open);
        vec![done]
    }

    fn tool(&mut self, update: &Value, provider_id: &str) -> Vec<StreamEvent> {
        let id = text(update, "/toolCallId").to_owned();
        if id.is_empty() {
            return Vec::new();
        }
        let mut events = self.finish_open(provider_id);
        self.said = None;
        if !self.calls.contains_key(&id) {
            let item_id = self.next_item();
            let mut call = Call::default();
            call.take(update);
            events.extend(call_events(&item_id, &id, &call));
            self.calls.insert(id.clone(), OpenCall { item_id, call, failed: false });
        } else if let Some(open) = self.calls.get_mut(&id) {
            open.call.take(update);
        }
        let status = text(update, "/status");
        // A replayed call comes as completed first and with its output after that.
        let is_final =
            matches!(status, "completed" | "failed") && text(update, "/sessionUpdate") == "tool_call_update";
        if is_final && let Some(open) = self.calls.get_mut(&id) {
            open.failed = status == "failed";
            if !(self.cancelled && open.failed) {
                events.push(output_event(&open.item_id, &id, &open.call, open.failed));
                self.calls.remove(&id);
            }
        }
        events
    }

    fn plan(&mut self, update: &Value, provider_id: &str) -> Vec<StreamEvent> {
        let mut events = self.finish_open(provider_id);
        self.n_plans += 1;
        let id = format!("plan-{}-{}", self.id, self.n_plans);
        let item_id = self.next_item();
        let mut call = Call::default();
        call.take(
            &json!({"title": "update_plan", "rawInput": {"plan": list(update, "/entries")}, "rawOutput": ""}),
        );
        events.extend(call_events(&item_id, &id, &call));
        events.push(output_event(&item_id, &id, &call, false));
        events
    }

    /// Ends what is open when the turn ends: no item may look as if it still ran.
    fn close(
        &mut self,
        status: ResponseStatus,
        error: Option<&ErrorDetail>,
        provider_id: &str,
    ) -> Vec<StreamEvent> {
        let calls = std::mem::take(&mut self.calls);
        if status == ResponseStatus::Completed {
            let mut events = self.finish_open(provider_id);
            for (id, OpenCall { item_id, mut call, failed }) in calls {
                if call.output().is_empty() {
                    call.take(&json!({"rawOutput": "no result: the turn ended first"}));
                }
                events.push(output_event(&item_id, &id, &call, failed));
            }
            return events;
        }
        let cut = |item_id: ItemId| match status {
            ResponseStatus::Error => {
                let error = error.cloned().unwrap_or_else(broken_off);
                StreamEvent::ItemError { item_id, error }
            }
            ResponseStatus::Cancelled | ResponseStatus::Completed => {
                StreamEvent::ItemCancelled { item_id, reason: None }
            }
        };
        let mut events: Vec<StreamEvent> =
            self.open.take().map(|open| cut(open.item_id)).into_iter().collect();
        for (id, OpenCall { item_id, call, .. }) in calls {
            events.push(partial_output(&item_id, &id, &call));
            events.push(cut(item_id));
        }
        events
    }
}

fn delta_event(item_id: &ItemId, delta: &str) -> StreamEvent {
    StreamEvent::ItemDelta { item_id: item_id.clone(), delta_content: delta.to_owned() }
}

fn call_events(item_id: &ItemId, id: &str, call: &Call) -> Vec<StreamEvent> {
    let (name, call_id) = (call.name(), CallId::from(id));
    vec![
        StreamEvent::ItemStart {
            item_id: item_id.clone(),
            item_type: ItemType::FunctionCall,
            initial_content: None,
            name: Some(name.clone()),
            call_id: Some(call_id.clone()),
            parent_call_id: None,
        },
        StreamEvent::ItemDone {
            item_id: item_id.clone(),
            final_item: FinalizedItem::FunctionCall { name, call_id, arguments: call.arguments() },
        },
    ]
}

/// What a tool has said that goes no further.
fn partial_output(item_id: &ItemId, id: &str, call: &Call) -> StreamEvent {
    StreamEvent::ItemStart {
        item_id: ItemId::new(format!("{item_id}:output")),
        item_type: ItemType::FunctionCallOutput,
        initial_content: Some(call.output()).filter(|output| !output.is_empty()),
        name: None,
        call_id: Some(CallId::from(id)),
        parent_call_id: None,
    }
}

fn broken_off() -> ErrorDetail {
    ErrorDetail {
        code: ErrorCode::ResponseError.to_string(),
        message: "the stream broke off here; the agent asked again".to_owned(),
    }
}

fn output_event(item_id: &ItemId, id: &str, call: &Call, is_error: bool) -> StreamEvent {
    StreamEvent::ItemDone {
        item_id: ItemId::new(format!("{item_id}:output")),
        final_item: FinalizedItem::FunctionCallOutput {
            call_id: CallId::from(id),
            output: call.output(),
            is_error,
            detail: Some(call.detail()),
        },
    }
}

/// codex-acp puts its warning about an unknown model INTO the message; it belongs in the status line.
fn warning(update: &Value) -> Option<String> {
    if text(update, "/sessionUpdate") != "agent_message_chunk" {
        return None;
    }
    let content = optional_text(update, "/content/text")?;
    (content.starts_with("Model metadata for `") && content.contains("not found")).then(|| content.to_owned())
}

/// Makes the error of a failed prompt out of JSON-RPC's: Codex says what happened in `data.message`.
pub fn prompt_error(message: &str, data: Option<&Value>) -> ErrorDetail {
    let said =
        data.and_then(|data| optional_text(data, "/message").or_else(|| data.as_str())).unwrap_or(message);
    // Codex hands the API's JSON through as it came.
    let inner = serde_json::from_str::<Value>(said).ok();
    let message = inner.as_ref().and_then(|inner| optional_text(inner, "/error/message")).unwrap_or(said);
    ErrorDetail { code: ErrorCode::ResponseError.to_string(), message: message.to_owned() }
}
