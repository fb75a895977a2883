//! The upsert processor: canonical stream events in, upserts and turn events out.
//!
//! It is pure: the clock is an argument, nothing is read or written, and the same events at the same times always
//! make the same outputs. One processor serves one session; turns follow one another, items run side by side.

mod item;
mod items;
mod tokens;
mod turns;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod stage;
#[cfg(test)]
mod tests;

use std::time::Duration;

use chartroom_protocol::ids::{CallId, ItemId};
use chartroom_protocol::stream::{
    ErrorDetail, FinalizedItem, ItemType, Origin, StreamEvent, StreamEventEnvelope,
};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::Upsert;
use serde_json::Map;

use crate::clock::Now;
use crate::provider::ProviderOutput;
use item::{Body, Call, Item, Text, TextKind, ToolResult};
use items::Items;
use turns::Turns;

const DEFAULT_GRADIENT: &[usize] = &[10, 20, 40, 80, 120];

/// When content is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// An item is emitted when the tokens since its last emission exceed the entry (strictly); each emission moves
    /// to the next entry, and the last one repeats. Empty means the default.
    pub batch_gradient_tokens: Vec<usize>,
    /// Content waits at most this long, counted from the oldest content not yet emitted.
    pub batch_timeout: Duration,
    /// An item's first emission comes at most this long after its first content.
    pub first_emission: Duration,
}

impl Default for ProcessorConfig {
    fn default() -> Self {
        Self {
            batch_gradient_tokens: DEFAULT_GRADIENT.to_vec(),
            batch_timeout: Duration::from_millis(1000),
            first_emission: Duration::from_millis(150),
        }
    }
}

impl ProcessorConfig {
    fn gradient(&self) -> &[usize] {
        if self.batch_gradient_tokens.is_empty() { DEFAULT_GRADIENT } else { &self.batch_gradient_tokens }
    }

    fn n_thresholds(&self) -> usize {
        self.gradient().len()
    }

    fn threshold(&self, index: usize) -> usize {
        let gradient = self.gradient();
        gradient[index.min(gradient.len() - 1)]
    }
}

/// What the processor says.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly every one is the large variant")]
pub enum StreamOutput {
    /// An item's new state.
    Upsert(Upsert),
    /// A turn began or ended.
    Turn(TurnEvent),
}

impl From<StreamOutput> for ProviderOutput {
    fn from(output: StreamOutput) -> Self {
        match output {
            StreamOutput::Upsert(upsert) => Self::Upsert(upsert),
            StreamOutput::Turn(event) => Self::Turn(event),
        }
    }
}

/// Turns one session's stream events into upserts and turn events.
pub struct UpsertProcessor {
    config: ProcessorConfig,
    turns: Turns,
    items: Items,
}

impl UpsertProcessor {
    /// Returns a processor that has seen nothing yet.
    pub fn new(config: ProcessorConfig) -> Self {
        Self { config, turns: Turns::default(), items: Items::default() }
    }

    /// A person is asked: the time until the answer is no turn's.
    pub fn asked(&mut self, now: Now) {
        self.turns.asked(now);
    }

    /// A question was answered or withdrawn.
    pub fn answered(&mut self, now: Now) {
        self.turns.answered(now);
    }

    /// Takes one event and returns what is to be shown because of it, in order.
    ///
    /// Nothing follows a turn's end: late events of it are ignored.
    pub fn push(&mut self, now: Now, envelope: &StreamEventEnvelope) -> Vec<StreamOutput> {
        let mut out = Outputs::default();
        if self.turns.is_over(&envelope.turn_id) {
            return out.list;
        }
        match &envelope.payload {
            StreamEvent::ResponseStart { model_id, provider_id } => out.turn(self.turns.start(
                now,
                &envelope.turn_id,
                &envelope.session_id,
                model_id,
                provider_id,
            )),
            StreamEvent::ItemStart { item_id, item_type, initial_content, name, call_id, parent_call_id } => {
                let body = self.new_body(envelope, *item_type, name.as_deref(), call_id.as_ref());
                self.start_item(now, envelope, item_id, parent_call_id.clone(), body);
                if let Some(content) = initial_content {
                    self.add(now, envelope, item_id, content, &mut out);
                }
            }
            StreamEvent::ItemDelta { item_id, delta_content } => {
                self.add(now, envelope, item_id, delta_content, &mut out);
            }
            StreamEvent::ItemDone { item_id, final_item } => {
                self.finish_item(now, envelope, item_id, final_item, &mut out);
            }
            StreamEvent::ItemError { item_id, error } => {
                if let Some((mut item, partial_output)) = self.items.cut(item_id) {
                    out.upsert(item.fail(now, error, partial_output));
                }
            }
            StreamEvent::ItemCancelled { item_id, .. } => drop(self.items.cut(item_id)),
            StreamEvent::ResponseDone { status, finish_reason, error, usage } => {
                match turns::ending(*status) {
                    Some(status) => self.complete_turn(now, envelope, status, *usage, &mut out),
                    None => {
                        let error = turns::failure(error.as_ref(), finish_reason.as_deref());
                        self.fail_turn(now, envelope, &error, &mut out);
                    }
                }
            }
            StreamEvent::ResponseError { error } => self.fail_turn(now, envelope, error, &mut out),
        }
        out.list
    }

    /// Returns what must be shown before [`push`](Self::push) takes this event, so that nothing is lost by it: a
    /// cancelled item says nothing more, and what came of it goes out once more as `update`.
    pub fn flush_before(&mut self, now: Now, envelope: &StreamEventEnvelope) -> Vec<StreamOutput> {
        let mut out = Outputs::default();
        let StreamEvent::ItemCancelled { item_id, .. } = &envelope.payload else { return out.list };
        if self.turns.is_over(&envelope.turn_id) {
            return out.list;
        }
        let partial_output = self.items.partial_output(item_id);
        if let Some(item) = self.items.get_mut(item_id)
            && item.has_content()
        {
            if !item.is_created() {
                out.upsert(item.progress(now, &self.config));
            }
            out.upsert(item.stop(now, partial_output));
        }
        out.list
    }

    /// Returns when [`tick`](Self::tick) has something to say at the earliest, on the monotonic clock.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.items.iter().filter_map(|item| item.deadline(&self.config)).min()
    }

    /// Emits what has waited long enough.
    pub fn tick(&mut self, now: Now) -> Vec<StreamOutput> {
        let mut out = Outputs::default();
        for item in self.items.iter_mut() {
            if item.deadline(&self.config).is_some_and(|deadline| deadline <= now.monotonic) {
                out.upsert(item.progress(now, &self.config));
            }
        }
        out.list
    }

    /// Ends everything that is open because of `error`: buffered items as `error` with all their content, running
    /// turns as `turn_error`. Nothing follows for those turns.
    pub fn destroy(&mut self, now: Now, error: &ErrorDetail) -> Vec<StreamOutput> {
        let mut out = Outputs::default();
        self.fail_items(now, error, |_item| true, &mut out);
        for (turn_id, session_id) in self.turns.running() {
            out.turn(Some(self.turns.fail(&turn_id, &session_id, error)));
        }
        out.list
    }

    fn new_body(
        &self,
        envelope: &StreamEventEnvelope,
        item_type: ItemType,
        name: Option<&str>,
        call_id: Option<&CallId>,
    ) -> Body {
        match item_type {
            ItemType::Message => Body::Text(Text::new(TextKind::Message { origin: Origin::Agent })),
            ItemType::Reasoning => {
                let provider_id = self.turns.provider_id(&envelope.turn_id);
                Body::Text(Text::new(TextKind::Thinking { provider_id }))
            }
            ItemType::FunctionCall => Body::Call(Call {
                name: name.unwrap_or("unknown_tool").to_owned(),
                call_id: call_id.cloned().unwrap_or_else(|| CallId::new("")),
                raw_arguments: String::new(),
                arguments: Map::new(),
                is_final: false,
            }),
            ItemType::FunctionCallOutput => Body::Output {
                call_id: call_id.cloned().unwrap_or_else(|| CallId::new("")),
                content: String::new(),
            },
        }
    }

    fn start_item(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        parent_call_id: Option<CallId>,
        body: Body,
    ) {
        let is_call = matches!(body, Body::Call(_));
        let ids = (envelope.turn_id.clone(), envelope.session_id.clone(), item_id.clone());
        let mut item = Item::new(ids, parent_call_id, envelope.timestamp.clone(), body);
        if is_call {
            item.wait_from(now);
        }
        self.items.open(item);
    }

    fn add(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        delta: &str,
        out: &mut Outputs,
    ) {
        // Deltas for a cancelled or unknown item are ignored.
        let Some(item) = self.items.get_mut(item_id) else { return };
        item.source_timestamp.clone_from(&envelope.timestamp);
        if item.add(now, delta, &self.config) {
            out.upsert(item.progress(now, &self.config));
        }
    }

    fn finish_item(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        final_item: &FinalizedItem,
        out: &mut Outputs,
    ) {
        match final_item {
            FinalizedItem::Message { content, origin } => {
                let kind = TextKind::Message { origin: *origin };
                self.finish_text(now, envelope, item_id, content, kind, out);
            }
            FinalizedItem::Reasoning { content, provider_id } => {
                let kind = TextKind::Thinking { provider_id: provider_id.clone() };
                self.finish_text(now, envelope, item_id, content, kind, out);
            }
            FinalizedItem::FunctionCall { name, call_id, arguments } => {
                self.finish_call(now, envelope, item_id, (name, call_id, arguments), out);
            }
            FinalizedItem::FunctionCallOutput { call_id, output, is_error, detail } => {
                let result =
                    ToolResult { output: output.clone(), is_error: *is_error, detail: detail.clone() };
                self.finish_output(now, envelope, item_id, call_id, result, out);
            }
        }
    }

    fn finish_text(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        content: &str,
        kind: TextKind,
        out: &mut Outputs,
    ) {
        if self.items.is_closed(item_id) {
            return;
        }
        if self.items.get_mut(item_id).is_none() {
            self.start_item(now, envelope, item_id, None, Body::Text(Text::new(kind.clone())));
        }
        let Some(mut item) = self.items.close(item_id) else { return };
        item.source_timestamp.clone_from(&envelope.timestamp);
        // What was buffered is shown first, so that every item that streamed begins with `create`; unless the final
        // content tells another story, which then stands alone.
        let goes_on = matches!(&item.body, Body::Text(text) if content.starts_with(&text.content));
        if item.is_waiting() && goes_on {
            out.upsert(item.progress(now, &self.config));
        }
        out.upsert(item.complete_text(now, content.to_owned(), kind));
    }

    fn finish_call(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        (name, call_id, arguments): (&str, &CallId, &Map<String, serde_json::Value>),
        out: &mut Outputs,
    ) {
        if self.items.is_closed(item_id) {
            return;
        }
        if self.items.get_mut(item_id).is_none() {
            let body = self.new_body(envelope, ItemType::FunctionCall, Some(name), Some(call_id));
            self.start_item(now, envelope, item_id, None, body);
        }
        let Some(item) = self.items.get_mut(item_id) else { return };
        item.source_timestamp.clone_from(&envelope.timestamp);
        let created = item.is_created();
        let Body::Call(call) = &mut item.body else { return };
        if call.is_final {
            return;
        }
        let shown_already = created && call.arguments == *arguments && call.name == name;
        name.clone_into(&mut call.name);
        call.arguments.clone_from(arguments);
        call.is_final = true;
        if !shown_already {
            out.upsert(item.progress(now, &self.config));
        }
    }

    fn finish_output(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        item_id: &ItemId,
        call_id: &CallId,
        result: ToolResult,
        out: &mut Outputs,
    ) {
        if self.items.is_closed(item_id) {
            return;
        }
        drop(self.items.close(item_id));
        let mut call = match self.items.close_call(call_id) {
            Some(call) => call,
            None if self.items.is_answered(call_id) => return,
            None => {
                // A result without a call we know of: shown all the same, under its own id.
                let body = self.new_body(envelope, ItemType::FunctionCall, None, Some(call_id));
                let ids = (envelope.turn_id.clone(), envelope.session_id.clone(), item_id.clone());
                let mut item = Item::new(ids, None, envelope.timestamp.clone(), body);
                self.items.answered(call_id);
                out.upsert(item.complete_call(now, result));
                return;
            }
        };
        // The call may be of an earlier turn that has ended; its result belongs to the turn that brought it.
        call.turn_id.clone_from(&envelope.turn_id);
        call.source_timestamp.clone_from(&envelope.timestamp);
        if !call.is_created() {
            out.upsert(call.progress(now, &self.config));
        }
        out.upsert(call.complete_call(now, result));
    }

    fn complete_turn(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        status: TurnStatus,
        usage: Option<chartroom_protocol::stream::Usage>,
        out: &mut Outputs,
    ) {
        for mut item in self.items.end_turn(&envelope.turn_id) {
            match (&item.body, status) {
                // The source forgot to end it; what it said stands.
                (Body::Text(text), TurnStatus::Completed)
                    if item.is_created() || !text.content.is_empty() =>
                {
                    let (content, kind) = (text.content.clone(), text.kind.clone());
                    if item.is_waiting() {
                        out.upsert(item.progress(now, &self.config));
                    }
                    out.upsert(item.complete_text(now, content, kind));
                }
                // Cancelled in the middle: what came is kept, and is neither complete nor an error.
                (Body::Text(_) | Body::Call(_), TurnStatus::Cancelled)
                | (Body::Call(_), TurnStatus::Completed)
                    if item.is_waiting() =>
                {
                    out.upsert(item.progress(now, &self.config));
                }
                (Body::Text(_) | Body::Call(_) | Body::Output { .. }, _) => {}
            }
            self.items.end_call(item, status);
        }
        out.turn(Some(self.turns.complete(now, &envelope.turn_id, &envelope.session_id, status, usage)));
    }

    fn fail_turn(
        &mut self,
        now: Now,
        envelope: &StreamEventEnvelope,
        error: &ErrorDetail,
        out: &mut Outputs,
    ) {
        self.fail_items(now, error, |item| item.turn_id == envelope.turn_id, out);
        out.turn(Some(self.turns.fail(&envelope.turn_id, &envelope.session_id, error)));
    }

    fn fail_items(
        &mut self,
        now: Now,
        error: &ErrorDetail,
        which: impl Fn(&Item) -> bool,
        out: &mut Outputs,
    ) {
        for (mut item, partial_output) in self.items.take(which) {
            out.upsert(item.fail(now, error, partial_output));
        }
    }
}

#[derive(Default)]
struct Outputs {
    list: Vec<StreamOutput>,
}

impl Outputs {
    fn upsert(&mut self, upsert: Option<Upsert>) {
        self.list.extend(upsert.map(StreamOutput::Upsert));
    }

    fn turn(&mut self, event: Option<TurnEvent>) {
        self.list.extend(event.map(StreamOutput::Turn));
    }
}
