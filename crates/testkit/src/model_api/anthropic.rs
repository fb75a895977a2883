//! `POST /v1/messages` with `stream: true`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::Shared;
use super::scenario::{Answer, Block, Ending, Piece, Prompt, Reply, deltas, json_deltas};
use super::sse::{Events, error, respond};

pub(crate) async fn messages(State(shared): State<Arc<Shared>>, Json(body): Json<Value>) -> Response {
    let model = body.get("model").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    let prompt = prompt(&body);
    let streams = body["stream"] == true;
    let (number, answer) = shared.answer("/v1/messages", body, &prompt);
    match answer {
        Answer::Error { status } => error(status, error_body(status)),
        // After a failure in mid-stream the CLI asks once more without a stream.
        Answer::Reply(reply) if !streams => match reply.ending {
            Ending::Stop => Json(whole(number, &model, reply)).into_response(),
            Ending::Fail | Ending::Hang => error(529, error_body(529)),
        },
        Answer::Reply(reply) => respond(|events| async move {
            let message = Message { id: format!("msg_{number:04}"), model, events, shared };
            message.stream(reply).await;
        }),
    }
}

fn whole(number: u32, model: &str, reply: Reply) -> Value {
    let content: Vec<Value> = reply
        .blocks
        .into_iter()
        .enumerate()
        .map(|(index, block)| match block {
            Block::Text(text) | Block::Patch(text) => json!({"type": "text", "text": text}),
            Block::Pieces(pieces) => json!({"type": "text", "text": pieces.iter().map(Piece::text).collect::<String>()}),
            Block::Thinking(text) => json!({"type": "thinking", "thinking": text, "signature": "c2NyaXB0ZWQ="}),
            Block::Tool { name, input } => {
                json!({"type": "tool_use", "id": format!("toolu_msg_{number:04}_{index}"), "name": name, "input": input})
            }
        })
        .collect();
    json!({"id": format!("msg_{number:04}"), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 120, "output_tokens": 12}})
}

fn error_body(status: u16) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": format!("scripted {status}")}})
}

/// Reads what the last user message asks for.
fn prompt(body: &Value) -> Prompt {
    let last = body["messages"]
        .as_array()
        .and_then(|messages| messages.iter().rev().find(|message| message["role"] == "user"));
    let Some(content) = last.map(|message| &message["content"]) else { return Prompt::default() };
    if let Some(text) = content.as_str() {
        return Prompt { text: text.to_owned(), tool_result: None };
    }
    let mut prompt = Prompt::default();
    for block in content.as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("text") => {
                let text = block["text"].as_str().unwrap_or_default();
                // The CLI adds reminders as further text blocks; the marker is in the person's own.
                if prompt.text.is_empty() || text.contains("[[") {
                    prompt.text = text.to_owned();
                }
                // After an interrupt the result of the tool and the next message come as one.
                if text.starts_with("[[") {
                    prompt.tool_result = None;
                }
            }
            Some("tool_result") => prompt.tool_result = Some(plain_text(&block["content"])),
            _ => {}
        }
    }
    prompt
}

fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        _ => String::new(),
    }
}

struct Message {
    id: String,
    model: String,
    events: Events,
    shared: Arc<Shared>,
}

impl Message {
    async fn stream(self, reply: Reply) {
        self.send(json!({"type": "message_start", "message": {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 120, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}}}))
            .await;
        self.send(json!({"type": "ping"})).await;
        let uses_tools = reply.blocks.iter().any(|block| matches!(block, Block::Tool { .. }));
        let n_blocks = reply.blocks.len();
        for (index, block) in reply.blocks.into_iter().enumerate() {
            let is_last = index + 1 == n_blocks;
            let unfinished = is_last && reply.ending != Ending::Stop;
            self.block(index, block, unfinished).await;
        }
        match reply.ending {
            Ending::Stop => {}
            Ending::Fail => {
                let failure =
                    json!({"type": "overloaded_error", "message": "scripted failure in mid-stream"});
                self.send(json!({"type": "error", "error": failure})).await;
                return;
            }
            Ending::Hang => return self.events.hang().await,
        }
        let stop_reason = if uses_tools { "tool_use" } else { "end_turn" };
        self.send(
            json!({"type": "message_delta", "delta": {"stop_reason": stop_reason, "stop_sequence": null},
            "usage": {"output_tokens": 12}}),
        )
        .await;
        self.send(json!({"type": "message_stop"})).await;
    }

    async fn block(&self, index: usize, block: Block, unfinished: bool) {
        match block {
            Block::Text(text) => {
                self.start(index, json!({"type": "text", "text": ""})).await;
                for piece in deltas(&text) {
                    self.delta(index, json!({"type": "text_delta", "text": piece})).await;
                }
            }
            Block::Pieces(pieces) => {
                self.start(index, json!({"type": "text", "text": ""})).await;
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => {
                            self.delta(index, json!({"type": "text_delta", "text": text})).await
                        }
                        Piece::Gate(name) => self.gate(&name).await,
                    }
                }
            }
            Block::Thinking(text) => {
                self.start(index, json!({"type": "thinking", "thinking": "", "signature": ""})).await;
                for piece in deltas(&text) {
                    self.delta(index, json!({"type": "thinking_delta", "thinking": piece})).await;
                }
                self.delta(index, json!({"type": "signature_delta", "signature": "c2NyaXB0ZWQ="})).await;
            }
            Block::Tool { name, input } => {
                let id = format!("toolu_{}_{index}", self.id);
                self.start(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}})).await;
                for piece in json_deltas(&input.to_string()) {
                    self.delta(index, json!({"type": "input_json_delta", "partial_json": piece})).await;
                }
            }
            // Only Codex has it; said as text, so that a wrong script is seen.
            Block::Patch(text) => {
                self.start(index, json!({"type": "text", "text": ""})).await;
                self.delta(index, json!({"type": "text_delta", "text": text})).await;
            }
        }
        if !unfinished {
            self.send(json!({"type": "content_block_stop", "index": index})).await;
        }
    }

    async fn start(&self, index: usize, content_block: Value) {
        self.send(json!({"type": "content_block_start", "index": index, "content_block": content_block}))
            .await;
    }

    async fn delta(&self, index: usize, delta: Value) {
        self.send(json!({"type": "content_block_delta", "index": index, "delta": delta})).await;
    }

    async fn gate(&self, name: &str) {
        tokio::select! {
            () = self.shared.pass(name) => {}
            () = self.events.closed() => {}
        }
    }

    async fn send(&self, event: Value) {
        if !self.events.send(event).await {
            tracing::debug!("the agent hung up");
        }
    }
}
