//! An `assistant` or `user` line: whole blocks, or the results of tools. There are few of them, but each has the whole of a
//! text once more, and as a tree of values they would cost as much as all the pieces that came before. So these too are read
//! straight from the text.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::stream::BlockHead;
use crate::json::{list, optional_text, text};

/// How such lines begin, as the CLI writes them.
const BEGINNINGS: [&[u8]; 2] = [br#"{"type":"assistant","#, br#"{"type":"user","#];
/// A longer line is judged by what its values would take before it is read.
const JUDGED: usize = 1 << 20;

/// What we want to know of such a line.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(crate) struct WholeLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    /// The call of the subagent that says it.
    #[serde(borrow)]
    parent_tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) message: Message<'a>,
    aborted: Option<bool>,
    is_api_error_message: Option<bool>,
    /// What the tool says beside its words to the model.
    pub(super) tool_use_result: Option<Cow<'a, Value>>,
}

/// The message itself.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) content: Vec<Block<'a>>,
}

/// One block of it. Which of the fields there are follows from its kind.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) thinking: Cow<'a, str>,
    pub(super) input: Option<Cow<'a, Value>>,
    #[serde(borrow)]
    pub(super) tool_use_id: Cow<'a, str>,
    pub(super) content: Option<Cow<'a, Value>>,
    pub(super) is_error: Option<bool>,
}

impl<'a> WholeLine<'a> {
    /// Reads a line as it came; `None` when it is none of these, or one that has an odd field. Such a line is read as a
    /// value, and then by [`of`](Self::of).
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        let is_meant = line.len() <= JUDGED && BEGINNINGS.iter().any(|beginning| line.starts_with(beginning));
        // Checked once as a whole, and not each string by itself.
        if is_meant { serde_json::from_str(std::str::from_utf8(line).ok()?).ok() } else { None }
    }

    /// Reads a value: a missing or odd field is empty.
    pub(super) fn of(line: &'a Value) -> Self {
        Self {
            kind: text(line, "/type").into(),
            timestamp: optional_text(line, "/timestamp").map(Cow::from),
            parent_tool_use_id: optional_text(line, "/parent_tool_use_id").map(Cow::from),
            message: Message {
                id: text(line, "/message/id").into(),
                content: list(line, "/message/content").iter().map(Block::of).collect(),
            },
            aborted: line.get("aborted").and_then(Value::as_bool),
            is_api_error_message: line.get("is_api_error_message").and_then(Value::as_bool),
            tool_use_result: value(line, "tool_use_result"),
        }
    }

    pub(super) fn timestamp(&self) -> Option<&str> {
        self.timestamp.as_deref().filter(|timestamp| !timestamp.is_empty())
    }

    pub(super) fn parent(&self) -> Option<&str> {
        self.parent_tool_use_id.as_deref().filter(|parent| !parent.is_empty())
    }

    pub(super) fn is_users(&self) -> bool {
        self.kind == "user"
    }

    /// Tells whether an interrupt has cut off what it says.
    pub(super) fn is_aborted(&self) -> bool {
        self.aborted == Some(true)
    }

    /// Tells whether this is a part of the conversation. What the CLI writes into it by itself (reminders, "[Request
    /// interrupted by user]") is none, and an API failure is told by `result`.
    pub(super) fn tells(&self) -> bool {
        let tells = self.kind == "assistant" || self.message.content.iter().any(Block::is_tool_result);
        tells && self.is_api_error_message != Some(true)
    }
}

impl<'a> Block<'a> {
    fn of(block: &'a Value) -> Self {
        let BlockHead { kind, name, id } = BlockHead::of(block);
        Self {
            kind,
            name,
            id,
            text: text(block, "/text").into(),
            thinking: text(block, "/thinking").into(),
            input: value(block, "input"),
            tool_use_id: text(block, "/tool_use_id").into(),
            content: value(block, "content"),
            is_error: block.get("is_error").and_then(Value::as_bool),
        }
    }

    pub(super) fn head(&self) -> BlockHead<'_> {
        let [kind, name, id] = [&self.kind, &self.name, &self.id].map(|text| Cow::from(&**text));
        BlockHead { kind, name, id }
    }

    pub(super) fn is_tool_result(&self) -> bool {
        self.kind == "tool_result"
    }
}

/// What stands under a name, unless that is null.
fn value<'a>(object: &'a Value, name: &str) -> Option<Cow<'a, Value>> {
    object.get(name).filter(|value| !value.is_null()).map(Cow::Borrowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(line: &str) -> Value {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn every_recorded_line_is_read_from_its_text_as_from_its_value() {
        let folder = format!("{}/fixtures", env!("CARGO_MANIFEST_DIR"));
        let mut n_read = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let lines = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            for line in lines.lines() {
                let value = value(line);
                // What a person said may be a text without blocks.
                if matches!(text(&value, "/type"), "assistant" | "user")
                    && value.pointer("/message/content").is_some_and(Value::is_array)
                {
                    let read = WholeLine::read(line.as_bytes()).expect(line);
                    assert_eq!(read, WholeLine::of(&value), "{line}");
                    n_read += 1;
                }
            }
        }
        assert!(n_read > 30, "only {n_read} lines");
    }

    #[test]
    fn a_line_with_an_odd_field_is_left_to_its_value_where_the_field_is_empty() {
        for odd in [
            json!({"type": "assistant", "message": {"id": 7, "content": []}}),
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": ["x"]}]}}),
            json!({"type": "assistant", "message": {"content": "x"}}),
            json!({"type": "user", "message": null}),
            json!({"type": "user", "timestamp": 3, "message": {"content": []}}),
            json!({"type": "user", "parent_tool_use_id": {}, "message": {"content": []}}),
            json!({"type": "user", "aborted": "yes", "message": {"content": []}}),
        ] {
            assert_eq!(WholeLine::read(odd.to_string().as_bytes()), None, "{odd}");
            let of = WholeLine::of(&odd);
            assert_eq!((&*of.message.id, of.timestamp(), of.parent()), ("", None, None), "{odd}");
            assert!(of.message.content.iter().all(|block| block.text.is_empty()), "{odd}");
            assert!(!of.is_aborted(), "{odd}");
        }
    }

    #[test]
    fn what_is_no_such_line_or_could_be_too_heavy_is_left_alone() {
        let large =
            json!({"type": "user", "message": {"content": []}, "tool_use_result": "x".repeat(JUDGED)});
        for line in [r#"{"type":"result","message":{"content":[]}}"#, "", r#"{"type":"user","#] {
            assert_eq!(WholeLine::read(line.as_bytes()), None, "{line}");
        }
        assert_eq!(WholeLine::read(large.to_string().as_bytes()), None);
    }
}
