//! `POST /v1/responses` with `stream: true`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::Shared;
use super::scenario::{Answer, Block, Ending, Piece, Prompt, Reply, deltas, json_deltas};
use super::sse::{Events, error, respond};

pub(crate) async fn responses(State(shared): State<Arc<Shared>>, Json(body): Json<Value>) -> Response {
    let model = body.get("model").and_then(Value::as_str).unwrap_or("unknown").to_owned();
    let prompt = prompt(&body);
    let (number, answer) = shared.answer("/v1/responses", body, &prompt);
    match answer {
        Answer::Error { status } => {
            let message = format!("scripted {status}");
            error(status, json!({"error": {"message": message, "type": "server_error", "code": "scripted"}}))
        }
        Answer::Reply(reply) => respond(|events| async move {
            let writer = Writer { id: format!("resp_{number:04}"), model, events, shared };
            writer.stream(reply).await;
        }),
    }
}

/// Reads what the end of the conversation asks for.
fn prompt(body: &Value) -> Prompt {
    let mut prompt = Prompt::default();
    for item in body["input"].as_array().into_iter().flatten() {
        match item["type"].as_str() {
            Some("function_call_output" | "custom_tool_call_output") => {
                prompt.tool_result = Some(plain_text(&item["output"]));
            }
            Some("message") if item["role"] == "user" => {
                prompt = Prompt { text: plain_text(&item["content"]), tool_result: None };
            }
            _ => {}
        }
    }
    prompt
}

fn plain_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

struct Writer {
    id: String,
    model: String,
    events: Events,
    shared: Arc<Shared>,
}

impl Writer {
    async fn stream(self, reply: Reply) {
        self.send(json!({"type": "response.created", "response": self.response("in_progress", json!([]))}))
            .await;
        let mut output = Vec::new();
        let n_blocks = reply.blocks.len();
        for (index, block) in reply.blocks.into_iter().enumerate() {
            let unfinished = index + 1 == n_blocks && reply.ending != Ending::Stop;
            output.extend(self.block(index, block, unfinished).await);
        }
        match reply.ending {
            Ending::Stop => {
                let response = self.response("completed", Value::Array(output));
                self.send(json!({"type": "response.completed", "response": response})).await;
            }
            Ending::Fail => {
                let mut response = self.response("failed", json!([]));
                response["error"] =
                    json!({"code": "server_error", "message": "scripted failure in mid-stream"});
                self.send(json!({"type": "response.failed", "response": response})).await;
            }
            Ending::Hang => self.events.hang().await,
        }
    }

    /// Streams one output item and returns it whole, unless the script ends within it.
    async fn block(&self, index: usize, block: Block, unfinished: bool) -> Option<Value> {
        let id = format!("item_{}_{index}", self.id);
        let call_id = format!("call_{}_{index}", self.id);
        let item = match block {
            Block::Text(text) => {
                let pieces = deltas(&text).into_iter().map(Piece::Text).collect();
                self.message(index, &id, pieces).await
            }
            Block::Pieces(pieces) => self.message(index, &id, pieces).await,
            Block::Thinking(text) => {
                let item = json!({"type": "reasoning", "id": id, "summary": []});
                self.added(index, &item).await;
                self.send(json!({"type": "response.reasoning_summary_part.added", "item_id": id, "output_index": index,
                    "summary_index": 0, "part": {"type": "summary_text", "text": ""}}))
                    .await;
                for piece in deltas(&text) {
                    self.send(json!({"type": "response.reasoning_summary_text.delta", "item_id": id,
                        "output_index": index, "summary_index": 0, "delta": piece}))
                        .await;
                }
                json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}]})
            }
            Block::Tool { name, input } => {
                let arguments = input.to_string();
                let mut item = json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": ""});
                // Codex groups the tools of an MCP server under a name of their own: `mcp__server/tool`.
                if let Some((namespace, name)) = name.split_once('/') {
                    item["namespace"] = json!(namespace);
                    item["name"] = json!(name);
                }
                self.added(index, &item).await;
                for piece in json_deltas(&arguments) {
                    self.send(json!({"type": "response.function_call_arguments.delta", "item_id": id,
                        "output_index": index, "delta": piece}))
                        .await;
                }
                item["arguments"] = json!(arguments);
                item
            }
            Block::Patch(text) => {
                let item = json!({"type": "custom_tool_call", "id": id, "call_id": call_id, "name": "apply_patch", "input": ""});
                self.added(index, &item).await;
                json!({"type": "custom_tool_call", "id": id, "call_id": call_id, "name": "apply_patch", "input": text})
            }
        };
        if unfinished {
            return None;
        }
        self.send(json!({"type": "response.output_item.done", "output_index": index, "item": item})).await;
        Some(item)
    }

    async fn message(&self, index: usize, id: &str, pieces: Vec<Piece>) -> Value {
        let item = json!({"type": "message", "id": id, "role": "assistant", "content": []});
        self.added(index, &item).await;
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(piece) => {
                    text.push_str(&piece);
                    self.send(
                        json!({"type": "response.output_text.delta", "item_id": id, "output_index": index,
                        "content_index": 0, "delta": piece}),
                    )
                    .await;
                }
                Piece::Gate(name) => {
                    tokio::select! {
                        () = self.shared.pass(&name) => {}
                        () = self.events.closed() => {}
                    }
                }
            }
        }
        json!({"type": "message", "id": id, "role": "assistant", "content": [{"type": "output_text", "text": text}]})
    }

    async fn added(&self, index: usize, item: &Value) {
        self.send(json!({"type": "response.output_item.added", "output_index": index, "item": item})).await;
    }

    fn response(&self, status: &str, output: Value) -> Value {
        json!({"id": self.id, "object": "response", "status": status, "model": self.model, "output": output,
            "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120}})
    }

    async fn send(&self, event: Value) {
        if !self.events.send(event).await {
            tracing::debug!("the agent hung up");
        }
    }
}
