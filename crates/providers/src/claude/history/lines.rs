//! The lines of a session file into complete items: pure.

use std::collections::VecDeque;

use chartroom_protocol::ids::{CallId, ItemId, SessionId, TurnId};
use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use serde_json::{Value, json};

use super::MAX_LINE;
use crate::claude::detail;
use crate::claude::translate::PROVIDER_ID;
use crate::json::{list, object, optional_text, text};

/// So many calls wait for their results, with arguments of so many bytes; the oldest of more goes out without one. Claude
/// asks for a handful at once.
const MAX_WAITING: usize = 1_000;
const MAX_WAITING_BYTES: usize = 16 * 1024 * 1024;

/// Reads lines in order. A tool call is held back until its result, which is what makes it complete.
pub(super) struct Lines {
    session_id: SessionId,
    turn_id: TurnId,
    /// The call that a subagent's file belongs to.
    parent: Option<CallId>,
    /// Calls without a result yet, in order.
    calls: VecDeque<Upsert>,
    /// What their arguments take.
    calls_bytes: usize,
    /// Calls with their result: what the agent was told after them may follow.
    answered: Vec<Upsert>,
    subagent: Option<(String, CallId, TurnId)>,
    /// Lines that were too long to be read.
    n_left_out: u64,
}

impl Lines {
    pub(super) fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            turn_id: TurnId::from("history"),
            parent: None,
            calls: VecDeque::new(),
            calls_bytes: 0,
            n_left_out: 0,
            answered: Vec::new(),
            subagent: None,
        }
    }

    /// Makes the reader of a subagent's own file.
    pub(super) fn of_subagent(&self, call_id: CallId, turn_id: TurnId) -> Self {
        Self { turn_id, parent: Some(call_id), ..Self::new(self.session_id.clone()) }
    }

    /// Returns the subagent that the last line finished, whose file is to be read now.
    pub(super) fn take_subagent(&mut self) -> Option<(String, CallId, TurnId)> {
        self.subagent.take()
    }

    /// Reads one line and returns the items that it completes.
    pub(super) fn read(&mut self, line: &Value) -> Vec<Upsert> {
        let is_sidechain = line.get("isSidechain") == Some(&Value::Bool(true));
        if is_sidechain && self.parent.is_none() {
            return Vec::new();
        }
        match text(line, "/type") {
            "user" => self.user(line),
            "assistant" => self.assistant(line),
            "attachment" => {
                self.attachment(line);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// What a hook has told the model about errors stands on a line of its own after the tool's result.
    fn attachment(&mut self, line: &Value) {
        if text(line, "/attachment/type") != "hook_additional_context" {
            return;
        }
        let texts = list(line, "/attachment/content").iter().filter_map(Value::as_str);
        let Some(told) = { texts }.find_map(ToldDiagnostics::read) else { return };
        let id = text(line, "/attachment/toolUseID");
        let call = self.answered.iter_mut().find(|call| is_call(call, id)).map(|call| &mut call.body);
        if let Some(UpsertBody::ToolCall { detail: Some(detail), .. }) = call {
            detail.diagnostics = Some(told);
        }
    }

    /// Counts a line that was too long to be read.
    pub(super) fn left_out(&mut self) {
        self.n_left_out += 1;
    }

    /// Returns what the end of the file completes, and says what is missing.
    pub(super) fn finish(&mut self) -> Vec<Upsert> {
        let mut items = self.release();
        let (lines, are) = match std::mem::take(&mut self.n_left_out) {
            0 => return items,
            1 => ("1 line".to_owned(), "is not shown: it is"),
            n_lines => (format!("{n_lines} lines"), "are not shown: they are"),
        };
        let limit = MAX_LINE / (1024 * 1024);
        let content = format!("{lines} of Claude's session file {are} longer than {limit} MiB.");
        let name = json!({"uuid": format!("{}:left-out", self.turn_id)});
        items.push(self.item(
            &name,
            0,
            UpsertBody::Message { content, origin: Origin::System, image_count: 0 },
        ));
        items
    }

    /// Returns what is still held back: the calls that never got a result come last.
    fn release(&mut self) -> Vec<Upsert> {
        let mut items = std::mem::take(&mut self.answered);
        items.extend(self.calls.drain(..));
        self.calls_bytes = 0;
        items
    }

    fn user(&mut self, line: &Value) -> Vec<Upsert> {
        let results: Vec<&Value> = list(line, "/message/content")
            .iter()
            .filter(|block| text(block, "/type") == "tool_result")
            .collect();
        if !results.is_empty() {
            let answered: Vec<Upsert> =
                results.into_iter().filter_map(|result| self.result(line, result)).collect();
            self.answered.extend(answered);
            // A subagent's own items come after its call.
            return if self.subagent.is_some() { std::mem::take(&mut self.answered) } else { Vec::new() };
        }
        let Some(content) = prompt_text(line).filter(|_| self.parent.is_none()) else { return Vec::new() };
        let mut items = self.release();
        self.turn_id = TurnId::from(text(line, "/uuid"));
        let n_images =
            list(line, "/message/content").iter().filter(|block| text(block, "/type") == "image").count();
        let body = UpsertBody::Message { content, origin: Origin::User, image_count: n_images as u32 };
        items.push(self.item(line, 0, body));
        items
    }

    fn result(&mut self, line: &Value, result: &Value) -> Option<Upsert> {
        let id = text(result, "/tool_use_id");
        let index = self.calls.iter().position(|call| is_call(call, id))?;
        let mut call = self.calls.remove(index)?;
        self.calls_bytes -= arguments_bytes(&call).min(self.calls_bytes);
        let structured = line.get("toolUseResult");
        if let Some(agent) = structured.and_then(|result| optional_text(result, "/agentId")) {
            self.subagent = Some((agent.to_owned(), CallId::from(id), self.turn_id.clone()));
        }
        if let UpsertBody::ToolCall {
            tool_name,
            tool_arguments,
            tool_output,
            tool_output_is_error,
            detail,
            ..
        } = &mut call.body
        {
            let output = detail::result_text(result.get("content"));
            *detail = Some(detail::of_result(tool_name, Some(tool_arguments), structured, &output, None));
            *tool_output_is_error = Some(result.get("is_error").and_then(Value::as_bool).unwrap_or(false));
            *tool_output = Some(output);
        }
        Some(call)
    }

    fn assistant(&mut self, line: &Value) -> Vec<Upsert> {
        let is_error = line.get("isApiErrorMessage") == Some(&Value::Bool(true));
        // What the CLI made up itself ("No response requested.") was said by nobody.
        if text(line, "/message/model") == "<synthetic>" && !is_error {
            return Vec::new();
        }
        let origin = if is_error { Origin::System } else { Origin::Agent };
        let mut items = std::mem::take(&mut self.answered);
        for (index, block) in list(line, "/message/content").iter().enumerate() {
            match text(block, "/type") {
                "text" => {
                    let content = text(block, "/text").to_owned();
                    items.push(self.item(
                        line,
                        index,
                        UpsertBody::Message { content, origin, image_count: 0 },
                    ));
                }
                "thinking" => {
                    if let Some(content) = optional_text(block, "/thinking") {
                        let content = content.to_owned();
                        let body = UpsertBody::Thinking { content, provider_id: PROVIDER_ID.to_owned() };
                        items.push(self.item(line, index, body));
                    }
                }
                _ => {
                    let (Some(name), Some(id)) = (optional_text(block, "/name"), optional_text(block, "/id"))
                    else {
                        continue;
                    };
                    let body = UpsertBody::ToolCall {
                        tool_name: name.to_owned(),
                        tool_arguments: object(block.get("input")),
                        call_id: CallId::from(id),
                        tool_output: None,
                        tool_output_is_error: None,
                        detail: None,
                    };
                    let call = self.item(line, index, body);
                    self.calls_bytes += arguments_bytes(&call);
                    self.calls.push_back(call);
                }
            }
        }
        while self.calls.len() > MAX_WAITING || self.calls_bytes > MAX_WAITING_BYTES {
            let Some(oldest) = self.calls.pop_front() else { break };
            self.calls_bytes -= arguments_bytes(&oldest).min(self.calls_bytes);
            items.push(oldest);
        }
        items
    }

    fn item(&self, line: &Value, index: usize, body: UpsertBody) -> Upsert {
        let uuid = text(line, "/uuid");
        // One line has one block, as a rule; a second one needs an id of its own.
        let item_id = if index == 0 { uuid.to_owned() } else { format!("{uuid}:{index}") };
        let timestamp = text(line, "/timestamp").to_owned();
        Upsert {
            turn_id: self.turn_id.clone(),
            session_id: self.session_id.clone(),
            item_id: ItemId::new(item_id),
            source_timestamp: timestamp.clone(),
            emitted_at: timestamp,
            status: UpsertStatus::Complete,
            error_code: None,
            error_message: None,
            parent_call_id: self.parent.clone(),
            body,
        }
    }
}

fn is_call(item: &Upsert, id: &str) -> bool {
    matches!(&item.body, UpsertBody::ToolCall { call_id, .. } if call_id.as_str() == id)
}

/// What the arguments of a call take, roughly.
fn arguments_bytes(call: &Upsert) -> usize {
    fn bytes(value: &Value) -> usize {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => size_of::<Value>(),
            Value::String(text) => size_of::<Value>() + text.len(),
            Value::Array(list) => size_of::<Value>() + list.iter().map(bytes).sum::<usize>(),
            Value::Object(map) => map.iter().map(|(key, value)| 100 + key.len() + bytes(value)).sum(),
        }
    }
    match &call.body {
        UpsertBody::ToolCall { tool_arguments, .. } => {
            tool_arguments.iter().map(|(key, value)| key.len() + bytes(value)).sum()
        }
        UpsertBody::Message { .. } | UpsertBody::Thinking { .. } => 0,
    }
}

/// Returns what a person said in a `user` line; `None` if it is the CLI's own doing.
pub(in crate::claude) fn prompt_text(line: &Value) -> Option<String> {
    let made_up = ["isMeta", "isCompactSummary", "isSynthetic", "isSidechain", "isVisibleInTranscriptOnly"];
    if made_up.iter().any(|mark| line.get(*mark) == Some(&Value::Bool(true))) {
        return None;
    }
    let content = line.pointer("/message/content")?;
    let parts: Vec<&str> = match content {
        Value::String(text) => vec![text.as_str()],
        Value::Array(blocks) => blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect(),
        _ => return None,
    };
    let has_image = list(content, "").iter().any(|block| text(block, "/type") == "image");
    let said: Vec<String> = parts.into_iter().filter_map(spoken).collect();
    (!said.is_empty() || has_image).then(|| said.join("\n"))
}

/// Tells a person's words from what the CLI wraps around them.
fn spoken(part: &str) -> Option<String> {
    if let Some(command) = between(part, "<command-name>", "</command-name>") {
        let arguments = between(part, "<command-args>", "</command-args>").unwrap_or_default();
        return Some(format!("{command} {arguments}").trim().to_owned());
    }
    let wrapped = [
        "<system-reminder>",
        "<local-command-",
        "<command-message>",
        "<task-notification>",
        "[Request interrupted by user",
    ];
    let is_wrapped = wrapped.iter().any(|start| part.trim_start().starts_with(start));
    (!is_wrapped && !part.trim().is_empty()).then(|| part.to_owned())
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let start = text.find(open)? + open.len();
    let end = text[start..].find(close)? + start;
    Some(text[start..end].trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(lines: &[Value], expected: Expect) {
        let mut reader = Lines::new(SessionId::from("s"));
        let mut items: Vec<Upsert> = lines.iter().flat_map(|line| reader.read(line)).collect();
        items.extend(reader.finish());
        let printed: String =
            items.iter().map(|item| format!("{} {} {}\n", item.turn_id, item.item_id, print(item))).collect();
        expected.assert_eq(&printed);
    }

    fn print(item: &Upsert) -> String {
        match &item.body {
            UpsertBody::Message { content, origin, .. } => format!("{origin:?}: {content}"),
            UpsertBody::Thinking { content, .. } => format!("thinking: {content}"),
            UpsertBody::ToolCall { tool_name, tool_arguments, tool_output, detail, .. } => {
                let told = detail.as_ref().and_then(|detail| detail.diagnostics.as_ref());
                format!(
                    "{tool_name} {} -> {}{}",
                    Value::Object(tool_arguments.clone()),
                    tool_output.as_deref().unwrap_or("?"),
                    told.map(|told| format!(", told {:?}", told.text)).unwrap_or_default(),
                )
            }
        }
    }

    fn user(uuid: &str, content: Value) -> Value {
        json!({"type": "user", "uuid": uuid, "timestamp": "t", "isSidechain": false, "message": {"role": "user", "content": content}})
    }

    fn assistant(uuid: &str, content: Value) -> Value {
        json!({"type": "assistant", "uuid": uuid, "timestamp": "t", "message": {"id": "m", "model": "claude", "content": [content]}})
    }

    #[test]
    fn a_conversation_comes_in_order_with_the_clis_own_ids() {
        check(
            &[
                json!({"type": "queue-operation", "operation": "enqueue"}),
                user("u1", json!([{"type": "text", "text": "fix it"}])),
                json!({"type": "attachment", "uuid": "x", "attachment": {}}),
                assistant("a1", json!({"type": "thinking", "thinking": "hm", "signature": "s"})),
                assistant("a2", json!({"type": "text", "text": "I look."})),
                assistant(
                    "a3",
                    json!({"type": "tool_use", "id": "c1", "name": "Read", "input": {"file_path": "/a"}}),
                ),
                assistant(
                    "a4",
                    json!({"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "ls"}}),
                ),
                user("r2", json!([{"type": "tool_result", "tool_use_id": "c2", "content": "a b"}])),
                user(
                    "r1",
                    json!([{"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "text of a"}]}]),
                ),
                assistant("a5", json!({"type": "text", "text": "Done."})),
                user("u2", json!("thanks")),
            ],
            expect![[r#"
                u1 u1 User: fix it
                u1 a1 thinking: hm
                u1 a2 Agent: I look.
                u1 a4 Bash {"command":"ls"} -> a b
                u1 a3 Read {"file_path":"/a"} -> text of a
                u1 a5 Agent: Done.
                u2 u2 User: thanks
            "#]],
        );
    }

    /// The lines of an edit and of a write beside it, as CLI 2.1.325 writes them, shortened.
    #[test]
    fn what_the_model_was_told_about_errors_stands_with_its_call() {
        let told = |id: &str, text: &str| {
            json!({"type": "attachment", "uuid": "x", "isSidechain": false, "attachment": {"type": "hook_additional_context",
                "content": [text], "hookName": "PostToolUse:Write", "toolUseID": id, "hookEvent": "PostToolUse"}})
        };
        let write = |id: &str| json!({"type": "tool_use", "id": id, "name": "Write", "input": {}});
        let result = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "ok"}]);
        check(
            &[
                user("u1", json!("go")),
                assistant("a1", write("c1")),
                assistant("a2", write("c2")),
                assistant("a3", write("c3")),
                user("r1", result("c1")),
                told("c1", "<diagnostics file=\"a\">\nERROR [1:1] x\n</diagnostics>"),
                user("r2", result("c2")),
                told("c2", "<diagnostics file=\"b\">\nERROR [2:2] y\n</diagnostics>"),
                told("c1", "a hook of the user's own that says something else"),
                json!({"type": "attachment", "uuid": "x", "attachment": {"type": "date", "toolUseID": "c2"}}),
                user("r3", result("c3")),
                assistant("a4", json!({"type": "text", "text": "Done."})),
                told("c3", "<diagnostics file=\"c\">\nERROR [3:3] too late\n</diagnostics>"),
            ],
            expect![[r#"
                u1 u1 User: go
                u1 a1 Write {} -> ok, told "<diagnostics file=\"a\">\nERROR [1:1] x\n</diagnostics>"
                u1 a2 Write {} -> ok, told "<diagnostics file=\"b\">\nERROR [2:2] y\n</diagnostics>"
                u1 a3 Write {} -> ok
                u1 a4 Agent: Done.
            "#]],
        );
    }

    #[test]
    fn what_the_cli_says_to_itself_is_no_message() {
        check(
            &[
                user(
                    "u1",
                    json!([{"type": "text", "text": "<system-reminder>x</system-reminder>"}, {"type": "text", "text": "real"}]),
                ),
                user("u2", json!([{"type": "text", "text": "[Request interrupted by user]"}])),
                json!({"type": "user", "uuid": "u3", "isMeta": true, "message": {"content": "caveat"}}),
                json!({"type": "user", "uuid": "u4", "isCompactSummary": true, "message": {"content": "summary"}}),
                user(
                    "u5",
                    json!(
                        "<command-message>review</command-message><command-name>/review</command-name><command-args>now</command-args>"
                    ),
                ),
                user("u6", json!("<local-command-stdout>out</local-command-stdout>")),
                user("u7", json!("<task-notification>\n<task-id>b1</task-id>\n</task-notification>")),
                json!({"type": "assistant", "uuid": "a1", "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "No response requested."}]}}),
                json!({"type": "assistant", "uuid": "a2", "isApiErrorMessage": true, "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 400"}]}}),
            ],
            expect![[r#"
                u1 u1 User: real
                u5 u5 User: /review now
                u5 a2 System: API Error: 400
            "#]],
        );
    }

    #[test]
    fn a_call_without_a_result_is_not_lost() {
        check(
            &[
                user("u1", json!("go")),
                assistant(
                    "a1",
                    json!({"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "sleep"}}),
                ),
                user("u2", json!("again")),
                assistant("a2", json!({"type": "tool_use", "id": "c2", "name": "Bash", "input": {}})),
            ],
            expect![[r#"
                u1 u1 User: go
                u1 a1 Bash {"command":"sleep"} -> ?
                u2 u2 User: again
                u2 a2 Bash {} -> ?
            "#]],
        );
    }

    #[test]
    fn lines_that_make_no_sense_are_passed_over() {
        check(
            &[
                json!(1),
                json!({"type": "user"}),
                json!({"type": "assistant", "message": {"content": [{}, 3]}}),
                json!({"type": "new-thing"}),
            ],
            expect![""],
        );
    }
}
