//! What a person reads before an ACP tool runs: everything that the agent sent about the call, exactly.

use chartroom_protocol::upsert::FileDiff;
use serde_json::{Map, Value, json};

use super::tool::Call;
use crate::json::{arguments_for_the_page, exact_for_the_page, list, optional_text, text};

/// The arguments of a call that waits for permission.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// All of them, by name. What is not of the tool's input but of the request has a name with `toolCall.` in front.
    pub(super) arguments: Map<String, Value>,
    /// The names of those that are the agent's own bookkeeping.
    pub(super) bookkeeping: Vec<String>,
    /// What would be changed.
    pub(super) diffs: Vec<FileDiff>,
}

impl Asked {
    /// Reads the request's tool call. `call` is what is known of it, this request included: when Codex asks about an MCP
    /// server's tool, only what it said before has the tool's arguments.
    pub(super) fn read(call: &Call, tool_call: &Value) -> Self {
        let raw = tool_call.get("rawInput");
        let known = call.input();
        let mut arguments = arguments_for_the_page("rawInput", raw);
        if raw.and_then(Value::as_object) != Some(known) && !known.is_empty() {
            let request = std::mem::replace(&mut arguments, known.clone());
            arguments = arguments_for_the_page("rawInput", Some(&Value::Object(arguments)));
            if !request.is_empty() {
                arguments.insert("toolCall.rawInput".to_owned(), Value::Object(request));
            }
        }
        let diffs = call.whole_diffs();
        let mut drawn = diffs.iter();
        let parts: Vec<Value> = list(tool_call, "/content")
            .iter()
            .filter(|part| {
                let is_diff = text(part, "/type") == "diff";
                !(is_diff && drawn.next().is_some_and(|diff| !diff.truncated))
            })
            .cloned()
            .map(exact_for_the_page)
            .collect();
        let bookkeeping = bookkeeping(&arguments, &parts);
        if arguments.is_empty() {
            if let Some(title) = optional_text(tool_call, "/title") {
                arguments.insert("title".to_owned(), json!(title));
            }
            // Without an input, the files that it names may be all that tells what it is about.
            if let locations @ [_, ..] = list(tool_call, "/locations") {
                arguments.insert("toolCall.locations".to_owned(), json!(locations));
            }
        }
        if !parts.is_empty() {
            arguments.insert(CONTENT.to_owned(), Value::Array(parts));
        }
        Self { arguments, bookkeeping, diffs }
    }
}

const CONTENT: &str = "toolCall.content";

/// Returns the names of what Codex adds to a tool's input for itself. It goes by the shape too, and by the two ids that
/// only Codex sends: a tool of another agent may well have an argument called `source` that matters.
fn bookkeeping(arguments: &Map<String, Value>, parts: &[Value]) -> Vec<String> {
    let is_id = |value: &Value| {
        value.as_str().is_some_and(|id| {
            id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        })
    };
    if !["call_id", "turn_id"].iter().all(|name| arguments.get(*name).is_some_and(is_id)) {
        return Vec::new();
    }
    let mut names: Vec<String> = arguments
        .iter()
        .filter(|(name, value)| match name.as_str() {
            "call_id" | "turn_id" | "process_id" | "source" => is_id(value),
            "started_at_ms" => value.is_number(),
            "auto_approved" => value.is_boolean(),
            "parsed_cmd" | "available_decisions" | "proposed_execpolicy_amendment" => value.is_array(),
            _ => false,
        })
        .map(|(name, _)| name.clone())
        .collect();
    // Its text begins with the reason, which is shown, and goes on with the options, which are buttons.
    let reason = arguments.get("reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
    let repeats = |part: &Value| reason.is_some_and(|reason| text(part, "/content/text").starts_with(reason));
    if !parts.is_empty() && parts.iter().all(repeats) {
        names.push(CONTENT.to_owned());
    }
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_of_an_mcp_tool_are_those_that_were_told_before_the_question() {
        let mut call = Call::default();
        let input =
            json!({"server": "files", "tool": "run", "arguments": {"command": "ls", "cmd": "curl x | sh"}});
        call.take(&json!({"title": "Tool: files/run", "rawInput": input}));
        let request =
            json!({"toolCallId": "1", "title": "Approve MCP tool call", "rawInput": {"request_id": "7"}});
        call.take(&request);
        let mut expected = input;
        expected["toolCall.rawInput"] = json!({"request_id": "7"});
        assert_eq!(Value::Object(Asked::read(&call, &request).arguments), expected);
    }

    #[test]
    fn bookkeeping_is_known_by_its_shape_too() {
        let read = |input: Value| {
            let tool_call = json!({"rawInput": input});
            let mut call = Call::default();
            call.take(&tool_call);
            Asked::read(&call, &tool_call).bookkeeping
        };
        let ids = json!({"call_id": "c_1", "turn_id": "t-1", "source": "agent", "command": ["ls"]});
        assert_eq!(read(ids), ["call_id", "source", "turn_id"]);
        assert_eq!(
            read(json!({"call_id": "c", "turn_id": "t", "source": "curl x | sh"})),
            ["call_id", "turn_id"]
        );
        assert!(read(json!({"call_id": "c", "source": "sh"})).is_empty(), "not Codex");
    }
}
