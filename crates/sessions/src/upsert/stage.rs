//! A processor on a stage: one line per event in and per output out, and a clock that only the test moves.

use chartroom_protocol::ids::{CallId, EventId, ItemId, SessionId, TurnId};
use chartroom_protocol::stream::{
    ErrorDetail, FinalizedItem, ItemType, Origin, ResponseStatus, StreamEvent, StreamEventEnvelope,
};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use expect_test::Expect;

use super::{ProcessorConfig, StreamOutput, UpsertProcessor};
use crate::clock::Now;

/// A processor with a clock that only the test moves.
pub(super) struct Bench {
    pub(super) processor: UpsertProcessor,
    now_ms: u32,
    pub(super) seen: Vec<StreamOutput>,
    turn: String,
}

impl Bench {
    pub(super) fn new(gradient: &[usize]) -> Self {
        Self::with(ProcessorConfig { batch_gradient_tokens: gradient.to_vec(), ..ProcessorConfig::default() })
    }

    pub(super) fn default_config() -> Self {
        Self::with(ProcessorConfig::default())
    }

    pub(super) fn with(config: ProcessorConfig) -> Self {
        Self { processor: UpsertProcessor::new(config), now_ms: 0, seen: Vec::new(), turn: "t1".to_owned() }
    }

    pub(super) fn in_turn(mut self, turn: &str) -> Self {
        turn.clone_into(&mut self.turn);
        self
    }

    fn envelope(&self, payload: StreamEvent) -> StreamEventEnvelope {
        StreamEventEnvelope {
            event_id: EventId::new("e"),
            timestamp: Now::at_ms(self.now_ms).iso(),
            turn_id: TurnId::new(self.turn.as_str()),
            session_id: SessionId::new("s"),
            event_type: payload.event_type(),
            payload,
            extra: serde_json::Map::new(),
        }
    }

    pub(super) fn push(mut self, payload: StreamEvent) -> Self {
        let envelope = self.envelope(payload);
        self.seen.extend(self.processor.push(Now::at_ms(self.now_ms), &envelope));
        self
    }

    /// Moves the clock in steps of a millisecond and ticks at each, as a timer would.
    pub(super) fn wait(mut self, ms: u32) -> Self {
        for _ in 0..ms {
            self.now_ms += 1;
            self.seen.extend(self.processor.tick(Now::at_ms(self.now_ms)));
        }
        self
    }

    pub(super) fn destroy(mut self, code: &str) -> Self {
        let error = ErrorDetail { code: code.to_owned(), message: "gone".to_owned() };
        self.seen.extend(self.processor.destroy(Now::at_ms(self.now_ms), &error));
        self
    }

    pub(super) fn start(self, id: &str, item_type: ItemType) -> Self {
        self.push(StreamEvent::ItemStart {
            item_id: ItemId::new(id),
            item_type,
            initial_content: None,
            name: None,
            call_id: None,
            parent_call_id: None,
        })
    }

    pub(super) fn message(self, id: &str) -> Self {
        self.start(id, ItemType::Message)
    }

    pub(super) fn call(self, id: &str, name: &str, call_id: &str) -> Self {
        self.push(StreamEvent::ItemStart {
            item_id: ItemId::new(id),
            item_type: ItemType::FunctionCall,
            initial_content: None,
            name: Some(name.to_owned()),
            call_id: Some(CallId::new(call_id)),
            parent_call_id: None,
        })
    }

    pub(super) fn call_done(self, id: &str, name: &str, call_id: &str, arguments: &str) -> Self {
        self.push(StreamEvent::ItemDone {
            item_id: ItemId::new(id),
            final_item: FinalizedItem::FunctionCall {
                name: name.to_owned(),
                call_id: CallId::new(call_id),
                arguments: serde_json::from_str(arguments).expect("a test's literal"),
            },
        })
    }

    pub(super) fn output_start(self, id: &str, call_id: &str) -> Self {
        self.push(StreamEvent::ItemStart {
            item_id: ItemId::new(id),
            item_type: ItemType::FunctionCallOutput,
            initial_content: None,
            name: None,
            call_id: Some(CallId::new(call_id)),
            parent_call_id: None,
        })
    }

    pub(super) fn start_output(self, id: &str, call_id: &str, content: &str) -> Self {
        self.output_start(id, call_id).delta(id, content)
    }

    pub(super) fn output(self, id: &str, call_id: &str, output: &str) -> Self {
        self.push(StreamEvent::ItemDone {
            item_id: ItemId::new(id),
            final_item: FinalizedItem::FunctionCallOutput {
                call_id: CallId::new(call_id),
                output: output.to_owned(),
                is_error: false,
                detail: None,
            },
        })
    }

    pub(super) fn delta(self, id: &str, text: &str) -> Self {
        self.push(StreamEvent::ItemDelta { item_id: ItemId::new(id), delta_content: text.to_owned() })
    }

    pub(super) fn done(self, id: &str, content: &str) -> Self {
        self.push(StreamEvent::ItemDone {
            item_id: ItemId::new(id),
            final_item: FinalizedItem::Message { content: content.to_owned(), origin: Origin::Agent },
        })
    }

    pub(super) fn reasoning_done(self, id: &str, content: &str) -> Self {
        self.push(StreamEvent::ItemDone {
            item_id: ItemId::new(id),
            final_item: FinalizedItem::Reasoning {
                content: content.to_owned(),
                provider_id: "fake".to_owned(),
            },
        })
    }

    /// Cancels an item as a live agent does: what is buffered is shown before.
    pub(super) fn live_cancel(mut self, id: &str) -> Self {
        let envelope = self.envelope(StreamEvent::ItemCancelled { item_id: ItemId::new(id), reason: None });
        self.seen.extend(self.processor.flush_before(Now::at_ms(self.now_ms), &envelope));
        self.cancel_item(id)
    }

    pub(super) fn cancel_item(self, id: &str) -> Self {
        self.push(StreamEvent::ItemCancelled { item_id: ItemId::new(id), reason: None })
    }

    pub(super) fn response_start(self) -> Self {
        self.push(StreamEvent::ResponseStart { model_id: "m".to_owned(), provider_id: "fake".to_owned() })
    }

    pub(super) fn response_done(self, status: ResponseStatus) -> Self {
        self.push(StreamEvent::ResponseDone { status, finish_reason: None, error: None, usage: None })
    }

    pub(super) fn failed(self, finish_reason: Option<&str>, error: Option<(&str, &str)>) -> Self {
        self.push(StreamEvent::ResponseDone {
            status: ResponseStatus::Error,
            finish_reason: finish_reason.map(str::to_owned),
            error: error
                .map(|(code, message)| ErrorDetail { code: code.to_owned(), message: message.to_owned() }),
            usage: None,
        })
    }

    pub(super) fn response_error(self, code: &str, message: &str) -> Self {
        self.push(StreamEvent::ResponseError {
            error: ErrorDetail { code: code.to_owned(), message: message.to_owned() },
        })
    }

    #[track_caller]
    pub(super) fn check(&self, expected: Expect) -> &Self {
        expected.assert_eq(&self.seen.iter().map(line).collect::<String>());
        self
    }

    pub(super) fn upserts(&self) -> Vec<&Upsert> {
        self.seen
            .iter()
            .filter_map(|output| match output {
                StreamOutput::Upsert(upsert) => Some(upsert),
                StreamOutput::Turn(_) => None,
            })
            .collect()
    }
}

pub(super) fn line(output: &StreamOutput) -> String {
    match output {
        StreamOutput::Upsert(upsert) => {
            let status = match upsert.status {
                UpsertStatus::Create => "create",
                UpsertStatus::Update => "update",
                UpsertStatus::Complete => "complete",
                UpsertStatus::Error => "error",
            };
            let error = upsert.error_code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
            let body = match &upsert.body {
                UpsertBody::Message { content, .. } => format!("message {content:?}"),
                UpsertBody::Thinking { content, .. } => format!("thinking {content:?}"),
                UpsertBody::ToolCall { tool_name, tool_arguments, call_id, tool_output, .. } => {
                    let arguments = serde_json::to_string(tool_arguments).expect("a map of values");
                    let output =
                        tool_output.as_ref().map(|output| format!(" -> {output}")).unwrap_or_default();
                    format!("tool_call {call_id} {tool_name} {arguments}{output}")
                }
            };
            format!("{status} {} {body}{error}\n", upsert.item_id)
        }
        StreamOutput::Turn(TurnEvent::TurnStarted { turn_id, model_id, .. }) => {
            format!("turn_started {turn_id} {model_id}\n")
        }
        StreamOutput::Turn(TurnEvent::TurnComplete { turn_id, status, .. }) => {
            format!("turn_complete {turn_id} {status:?}\n")
        }
        StreamOutput::Turn(TurnEvent::TurnError { turn_id, error_code, error_message, .. }) => {
            format!("turn_error {turn_id} {error_code} {error_message}\n")
        }
    }
}

pub(super) fn words(n: usize) -> String {
    vec!["word"; n].join(" ")
}

pub(super) fn content(upsert: &Upsert) -> &str {
    match &upsert.body {
        UpsertBody::Message { content, .. } | UpsertBody::Thinking { content, .. } => content,
        UpsertBody::ToolCall { .. } => panic!("a tool call has no content"),
    }
}

pub(super) fn n_words(upsert: &Upsert) -> usize {
    content(upsert).split_whitespace().count()
}
