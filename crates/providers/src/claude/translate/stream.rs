//! A `stream_event` line: one raw event of the model's stream. Nearly everything that Claude prints is one, and a tree of
//! values with a table for each object would be most of what a token costs; so these are read straight from the text.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::json::{number, optional_text, text};

/// How such a line begins, as the CLI writes it.
const BEGINNING: &[u8] = br#"{"type":"stream_event","#;

/// What we want to know of such a line.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(crate) struct StreamLine<'a> {
    pub(super) timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) event: Event<'a>,
    /// The stream broke off, or was interrupted.
    #[serde(default)]
    abandoned_blocks: Option<IgnoredAny>,
}

/// What the model's API said. What only few lines have stands in a box: an event goes through several hands while it is read.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(rename = "type", borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default)]
    pub(super) index: usize,
    #[serde(borrow)]
    pub(super) message: Option<Box<Head<'a>>>,
    #[serde(borrow)]
    pub(super) content_block: Option<Box<BlockHead<'a>>>,
    #[serde(default, borrow)]
    pub(super) delta: Delta<'a>,
    pub(super) usage: Option<Box<Spent>>,
}

/// The head of a message.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
    #[serde(default)]
    pub(super) usage: Spent,
}

/// Tokens, as the API counts them.
#[derive(Debug, Default, Clone, Copy, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Spent {
    input_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation_input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// The head of a block: whatever has a name and an id is a call.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct BlockHead<'a> {
    #[serde(rename = "type", default, borrow)]
    pub(super) kind: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) name: Cow<'a, str>,
    #[serde(default, borrow)]
    pub(super) id: Cow<'a, str>,
}

/// What a block has more.
#[derive(Debug, Default, PartialEq, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(rename = "type", default, borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    text: Cow<'a, str>,
    #[serde(default, borrow)]
    thinking: Cow<'a, str>,
    #[serde(default, borrow)]
    partial_json: Cow<'a, str>,
    stop_reason: Option<String>,
}

impl<'a> StreamLine<'a> {
    /// Reads a line as it came; `None` when it is none of these, or one that has an odd field. Such a line is read as a
    /// value, and then by [`of`](Self::of).
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        // Checked once as a whole, and not each string by itself.
        if line.starts_with(BEGINNING) {
            serde_json::from_str(std::str::from_utf8(line).ok()?).ok()
        } else {
            None
        }
    }

    /// Reads a value: a missing or odd field is empty.
    pub(super) fn of(line: &'a Value) -> Self {
        let event = line.get("event").unwrap_or(&Value::Null);
        let of = |name| event.get(name).filter(|value| !value.is_null());
        Self {
            timestamp: optional_text(line, "/timestamp").map(Cow::from),
            event: Event {
                kind: text(event, "/type").into(),
                index: number(event, "/index").unwrap_or_default() as usize,
                message: of("message").map(Head::of).map(Box::new),
                content_block: of("content_block").map(BlockHead::of).map(Box::new),
                delta: Delta {
                    kind: text(event, "/delta/type").into(),
                    text: text(event, "/delta/text").into(),
                    thinking: text(event, "/delta/thinking").into(),
                    partial_json: text(event, "/delta/partial_json").into(),
                    stop_reason: optional_text(event, "/delta/stop_reason").map(str::to_owned),
                },
                usage: of("usage").map(Spent::of).map(Box::new),
            },
            abandoned_blocks: line
                .get("abandoned_blocks")
                .filter(|blocks| !blocks.is_null())
                .map(|_| IgnoredAny),
        }
    }

    /// Tells whether the stream broke off before its message ended.
    pub(super) fn is_broken_off(&self) -> bool {
        self.abandoned_blocks.is_some()
    }
}

impl<'a> Head<'a> {
    fn of(message: &'a Value) -> Self {
        let usage = message.get("usage").map(Spent::of).unwrap_or_default();
        Self { id: text(message, "/id").into(), usage }
    }
}

impl<'a> BlockHead<'a> {
    /// Reads the head of a whole block.
    pub(super) fn of(block: &'a Value) -> Self {
        Self {
            kind: text(block, "/type").into(),
            name: text(block, "/name").into(),
            id: text(block, "/id").into(),
        }
    }
}

impl Spent {
    fn of(usage: &Value) -> Self {
        let count = |pointer: &str| number(usage, pointer).unwrap_or_default();
        Self {
            input_tokens: count("/input_tokens"),
            cache_read_input_tokens: count("/cache_read_input_tokens"),
            cache_creation_input_tokens: count("/cache_creation_input_tokens"),
            output_tokens: count("/output_tokens"),
        }
    }

    /// Returns how much the model was given to read.
    pub(super) fn read(self) -> u64 {
        self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens
    }
}

impl Delta<'_> {
    /// Returns the content that a block has more, whichever kind it is.
    pub(super) fn content(&self) -> &str {
        match &*self.kind {
            "text_delta" => &self.text,
            "thinking_delta" => &self.thinking,
            "input_json_delta" => &self.partial_json,
            _ => "",
        }
    }

    /// Tells whether the message stops, for whatever reason.
    pub(super) fn stops(&self) -> bool {
        self.stop_reason.as_ref().is_some_and(|reason| !reason.is_empty())
    }
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
            for line in lines.lines().filter(|line| line.contains("\"stream_event\"")) {
                assert_eq!(
                    StreamLine::read(line.as_bytes()).as_ref(),
                    Some(&StreamLine::of(&value(line))),
                    "{line}"
                );
                n_read += 1;
            }
        }
        assert!(n_read > 200, "only {n_read} lines");
    }

    #[test]
    fn a_text_with_escapes_is_what_it_stands_for() {
        let line = json!({"type": "stream_event", "event": {"type": "content_block_delta", "index": 3,
            "delta": {"type": "text_delta", "text": "a \"quoted\"\n\u{1F600} word"}}});
        let text = line.to_string();
        let read = StreamLine::read(text.as_bytes()).unwrap();
        assert_eq!(read.event.delta.content(), "a \"quoted\"\n\u{1F600} word");
        assert_eq!((read.event.index, &*read.event.kind), (3, "content_block_delta"));
        assert_eq!(read, StreamLine::of(&line));
    }

    #[test]
    fn a_line_with_an_odd_field_is_left_to_its_value_where_the_field_is_empty() {
        for (odd, field) in [
            (json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": 7}}), "text"),
            (json!({"type": "content_block_delta", "delta": "x"}), "delta"),
            (json!({"type": "content_block_delta", "index": -1}), "index"),
            (json!(null), "event"),
        ] {
            let line = json!({"type": "stream_event", "event": odd});
            assert_eq!(StreamLine::read(line.to_string().as_bytes()), None, "{field}");
            let of = StreamLine::of(&line);
            assert_eq!((of.event.delta.content(), of.event.index), ("", 0), "{field}");
        }
    }

    #[test]
    fn what_is_no_such_line_is_left_alone() {
        for line in
            [r#"{"type":"assistant","event":{"type":"message_stop"}}"#, r#"{"type":"stream_event","ev"#, ""]
        {
            assert_eq!(StreamLine::read(line.as_bytes()), None, "{line}");
        }
    }
}
