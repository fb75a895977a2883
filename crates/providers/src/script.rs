//! How translation tests print what came out: one line an output, ids kept, times left out.

use chartroom_protocol::stream::{Origin, StreamEventEnvelope};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use chartroom_sessions::{Now, ProcessorConfig, StreamOutput, UpsertProcessor};
use serde_json::Value;

/// A processor at a standing clock: what it says follows from the events alone.
pub(crate) struct Printer {
    processor: UpsertProcessor,
    pub(crate) printed: String,
}

impl Printer {
    pub(crate) fn new() -> Self {
        Self { processor: UpsertProcessor::new(ProcessorConfig::default()), printed: String::new() }
    }

    pub(crate) fn push(&mut self, envelope: &StreamEventEnvelope) {
        envelope.validate().expect("translation makes valid envelopes only");
        let before = self.processor.flush_before(Now::at_ms(0), envelope);
        for output in before.into_iter().chain(self.processor.push(Now::at_ms(0), envelope)) {
            let line = match output {
                StreamOutput::Upsert(upsert) => upsert_line(&upsert),
                StreamOutput::Turn(event) => turn_line(&event),
            };
            self.line(&line);
        }
    }

    pub(crate) fn line(&mut self, line: &str) {
        self.printed.push_str(line);
        self.printed.push('\n');
    }
}

pub(crate) fn upsert_line(upsert: &Upsert) -> String {
    let status = match upsert.status {
        UpsertStatus::Create => "create",
        UpsertStatus::Update => "update",
        UpsertStatus::Complete => "complete",
        UpsertStatus::Error => "error",
    };
    let body = match &upsert.body {
        UpsertBody::Message { content, origin: Origin::Agent, .. } => format!("message {content:?}"),
        UpsertBody::Message { content, origin, .. } => format!("message by {origin:?} {content:?}"),
        UpsertBody::Thinking { content, .. } => format!("thinking {content:?}"),
        UpsertBody::ToolCall {
            tool_name,
            tool_arguments,
            call_id,
            tool_output,
            tool_output_is_error,
            detail,
        } => {
            let mut line = format!("tool {tool_name} {call_id} {}", Value::Object(tool_arguments.clone()));
            if let Some(output) = tool_output {
                let sign = if *tool_output_is_error == Some(true) { "!>" } else { "->" };
                line.push_str(&format!(" {sign} {output:?}"));
            }
            if let Some(detail) = detail {
                let mut parts = Vec::new();
                parts.extend(detail.kind.map(|kind| format!("{kind:?}")));
                parts.extend(detail.exit_code.map(|code| format!("exit {code}")));
                parts.extend(
                    detail
                        .diffs
                        .iter()
                        .map(|diff| format!("{} +{} -{}", diff.path, diff.added, diff.removed)),
                );
                parts.extend(detail.diagnostics.iter().map(|told| format!("told {} errors", told.errors)));
                line.push_str(&format!(" [{}]", parts.join(", ")));
            }
            line
        }
    };
    let parent = upsert.parent_call_id.as_ref().map(|call| format!(" in {call}")).unwrap_or_default();
    format!("{status:8} {}{parent} {body}", upsert.item_id)
}

pub(crate) fn turn_line(event: &TurnEvent) -> String {
    match event {
        TurnEvent::TurnStarted { turn_id, model_id, provider_id, .. } => {
            format!("started  {turn_id} {provider_id} {model_id}")
        }
        TurnEvent::TurnComplete { turn_id, status, usage, .. } => {
            let status = match status {
                TurnStatus::Completed => "completed",
                TurnStatus::Cancelled => "cancelled",
            };
            let usage = usage
                .map(|usage| {
                    let cost = usage.cost_usd.map(|cost| format!(" ${cost}")).unwrap_or_default();
                    let context =
                        usage.context_tokens.map(|tokens| format!(" context {tokens}")).unwrap_or_default();
                    let window = usage.context_window.map(|window| format!("/{window}")).unwrap_or_default();
                    format!(" {}+{} tokens{cost}{context}{window}", usage.input_tokens, usage.output_tokens)
                })
                .unwrap_or_default();
            format!("ended    {turn_id} {status}{usage}")
        }
        TurnEvent::TurnError { turn_id, error_code, error_message, .. } => {
            format!("failed   {turn_id} {error_code}: {error_message}")
        }
    }
}
