//! One item in flight: what it holds, what of it was shown, and when the rest is due.

use std::time::Duration;

use chartroom_protocol::ids::{CallId, ItemId, SessionId, TurnId};
use chartroom_protocol::stream::{ErrorDetail, Origin};
use chartroom_protocol::upsert::{ToolDetail, Upsert, UpsertBody, UpsertStatus};
use serde_json::{Map, Value};

use super::ProcessorConfig;
use super::tokens::TokenCount;
use crate::clock::Now;

pub(super) struct Item {
    pub(super) turn_id: TurnId,
    pub(super) session_id: SessionId,
    pub(super) item_id: ItemId,
    pub(super) parent_call_id: Option<CallId>,
    /// When the source produced the last that we know of it.
    pub(super) source_timestamp: String,
    pub(super) body: Body,
    /// A `create` was emitted.
    created: bool,
    /// When the oldest content that was not yet emitted came; for a call, when the call itself came.
    waiting_since: Option<Duration>,
}

pub(super) enum Body {
    Text(Text),
    Call(Call),
    /// A tool's output on its way; it is shown as part of its call.
    Output {
        call_id: CallId,
        content: String,
    },
}

pub(super) struct Text {
    pub(super) kind: TextKind,
    pub(super) content: String,
    tokens: TokenCount,
    emitted_tokens: usize,
    /// Which threshold is next.
    gradient_index: usize,
}

#[derive(Clone)]
pub(super) enum TextKind {
    Message { origin: Origin },
    Thinking { provider_id: String },
}

pub(super) struct Call {
    pub(super) name: String,
    pub(super) call_id: CallId,
    /// The arguments' JSON as it comes in.
    pub(super) raw_arguments: String,
    pub(super) arguments: Map<String, Value>,
    /// The arguments came in full with the call's end.
    pub(super) is_final: bool,
}

/// What a tool answered.
pub(super) struct ToolResult {
    pub(super) output: String,
    pub(super) is_error: bool,
    pub(super) detail: Option<ToolDetail>,
}

impl Text {
    pub(super) fn new(kind: TextKind) -> Self {
        Self {
            kind,
            content: String::new(),
            tokens: TokenCount::default(),
            emitted_tokens: 0,
            gradient_index: 0,
        }
    }

    fn upsert_body(&self) -> UpsertBody {
        let content = self.content.clone();
        match &self.kind {
            TextKind::Message { origin } => UpsertBody::Message { content, origin: *origin, image_count: 0 },
            TextKind::Thinking { provider_id } => {
                UpsertBody::Thinking { content, provider_id: provider_id.clone() }
            }
        }
    }
}

impl Call {
    fn upsert_body(&self, result: Option<ToolResult>) -> UpsertBody {
        let (tool_output, tool_output_is_error, detail) = match result {
            Some(result) => (Some(result.output), Some(result.is_error), result.detail),
            None => (None, None, None),
        };
        UpsertBody::ToolCall {
            tool_name: self.name.clone(),
            tool_arguments: self.arguments.clone(),
            call_id: self.call_id.clone(),
            tool_output,
            tool_output_is_error,
            detail,
        }
    }

    /// Reads the arguments as far as they have come, if that happens to be a whole object.
    fn read_arguments(&mut self) {
        if !self.is_final
            && let Ok(Value::Object(arguments)) = serde_json::from_str(&self.raw_arguments)
        {
            self.arguments = arguments;
        }
    }
}

impl Item {
    pub(super) fn new(
        ids: (TurnId, SessionId, ItemId),
        parent_call_id: Option<CallId>,
        source_timestamp: String,
        body: Body,
    ) -> Self {
        let (turn_id, session_id, item_id) = ids;
        Self {
            turn_id,
            session_id,
            item_id,
            parent_call_id,
            source_timestamp,
            body,
            created: false,
            waiting_since: None,
        }
    }

    /// Notes that something waits to be shown since now, unless something older does.
    pub(super) fn wait_from(&mut self, now: Now) {
        self.waiting_since.get_or_insert(now.monotonic);
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting_since.is_some()
    }

    pub(super) fn is_created(&self) -> bool {
        self.created
    }

    /// Adds content and tells whether that is enough to show it at once.
    pub(super) fn add(&mut self, now: Now, delta: &str, config: &ProcessorConfig) -> bool {
        if delta.is_empty() {
            return false;
        }
        match &mut self.body {
            Body::Text(text) => {
                text.content.push_str(delta);
                text.tokens.add(delta);
                let fresh = text.tokens.get() - text.emitted_tokens;
                let enough = fresh > config.threshold(text.gradient_index);
                self.wait_from(now);
                enough
            }
            Body::Call(call) => {
                // Arguments are shown when they are whole; half a JSON object is no news.
                call.raw_arguments.push_str(delta);
                false
            }
            Body::Output { content, .. } => {
                content.push_str(delta);
                false
            }
        }
    }

    /// Returns when what waits must be shown.
    pub(super) fn deadline(&self, config: &ProcessorConfig) -> Option<Duration> {
        let since = self.waiting_since?;
        let limit = match &self.body {
            Body::Text(_) if self.created => config.batch_timeout,
            Body::Text(_) => config.first_emission.min(config.batch_timeout),
            Body::Call(_) => config.first_emission,
            Body::Output { .. } => return None,
        };
        Some(since + limit)
    }

    /// Shows the item as it is now: `create` the first time, then `update`.
    pub(super) fn progress(&mut self, now: Now, config: &ProcessorConfig) -> Option<Upsert> {
        let status = if self.created { UpsertStatus::Update } else { UpsertStatus::Create };
        let body = match &mut self.body {
            Body::Text(text) => {
                // A delta that crosses several thresholds is one emission, past all of them.
                let fresh = text.tokens.get() - text.emitted_tokens;
                while text.gradient_index + 1 < config.n_thresholds()
                    && fresh > config.threshold(text.gradient_index)
                {
                    text.gradient_index += 1;
                }
                text.emitted_tokens = text.tokens.get();
                text.upsert_body()
            }
            Body::Call(call) => {
                call.read_arguments();
                call.upsert_body(None)
            }
            Body::Output { .. } => return None,
        };
        self.created = true;
        self.waiting_since = None;
        Some(self.upsert(now, status, body))
    }

    /// Tells whether there is something to show: text, or the call itself.
    pub(super) fn has_content(&self) -> bool {
        match &self.body {
            Body::Text(text) => self.created || !text.content.is_empty(),
            Body::Call(_) => true,
            Body::Output { .. } => false,
        }
    }

    /// Shows all that came of an item that goes no further: neither complete nor an error.
    pub(super) fn stop(&mut self, now: Now, partial_output: Option<String>) -> Option<Upsert> {
        let body = match &mut self.body {
            Body::Text(text) => text.upsert_body(),
            Body::Call(call) => {
                call.read_arguments();
                let mut body = call.upsert_body(None);
                if let UpsertBody::ToolCall { tool_output, .. } = &mut body {
                    *tool_output = partial_output;
                }
                body
            }
            Body::Output { .. } => return None,
        };
        self.waiting_since = None;
        Some(self.upsert(now, UpsertStatus::Update, body))
    }

    /// Shows a text as complete. `content` is authoritative over what the deltas added up to.
    pub(super) fn complete_text(&mut self, now: Now, content: String, kind: TextKind) -> Option<Upsert> {
        let Body::Text(text) = &mut self.body else { return None };
        text.content = content;
        text.kind = kind;
        let body = text.upsert_body();
        Some(self.upsert(now, UpsertStatus::Complete, body))
    }

    /// Shows a call as complete with what the tool answered.
    pub(super) fn complete_call(&mut self, now: Now, result: ToolResult) -> Option<Upsert> {
        let Body::Call(call) = &mut self.body else { return None };
        call.read_arguments();
        let body = call.upsert_body(Some(result));
        Some(self.upsert(now, UpsertStatus::Complete, body))
    }

    /// Shows the item as failed with all that came of it; nothing, if nothing ever came.
    pub(super) fn fail(
        &mut self,
        now: Now,
        error: &ErrorDetail,
        partial_output: Option<String>,
    ) -> Option<Upsert> {
        let body = match &mut self.body {
            Body::Text(text) if text.content.is_empty() && !self.created => return None,
            Body::Text(text) => text.upsert_body(),
            Body::Call(call) => {
                call.read_arguments();
                call.upsert_body(partial_output.map(|output| ToolResult {
                    output,
                    is_error: true,
                    detail: None,
                }))
            }
            Body::Output { .. } => return None,
        };
        let mut upsert = self.upsert(now, UpsertStatus::Error, body);
        upsert.error_code = Some(error.code.clone());
        upsert.error_message = Some(error.message.clone());
        Some(upsert)
    }

    fn upsert(&self, now: Now, status: UpsertStatus, body: UpsertBody) -> Upsert {
        Upsert {
            turn_id: self.turn_id.clone(),
            session_id: self.session_id.clone(),
            item_id: self.item_id.clone(),
            source_timestamp: self.source_timestamp.clone(),
            emitted_at: now.iso(),
            status,
            error_code: None,
            error_message: None,
            parent_call_id: self.parent_call_id.clone(),
            body,
        }
    }
}
