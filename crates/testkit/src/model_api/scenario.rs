//! What the model says: blocks and an ending, the same for both APIs, and the markers that choose them.
//!
//! | marker in the last user message | answer |
//! |---|---|
//! | `[[say:TEXT]]` | TEXT |
//! | `[[words:N]]` | N words, one a delta |
//! | `[[burst:N]]` | N words in one delta |
//! | `[[think]]` | thinking, then text |
//! | `[[tool:NAME:{JSON}]]` | "I will use NAME.", then the tool |
//! | `[[tools:[["NAME",{JSON}],…]]]` | several tools at once |
//! | `[[patch:TEXT]]` | Codex's apply_patch with TEXT |
//! | `[[gate:NAME]]` | "before ", waits at the gate, "after" |
//! | `[[err:STATUS:TIMES]]` | an API error that many times, then text |
//! | `[[midfail:TIMES]]` | text, then an error in mid-stream, that many times (one), then text |
//! | `[[hang]]` | a stream that begins and never goes on |
//! | `[[answer:NAME]]` | the reply that the test keeps under this name |
//!
//! A message that ends in tool results is answered with what the last tool said; anything else with a greeting.

use serde::Deserialize;
use serde_json::Value;

/// One answer of the model API.
#[derive(Debug, Clone)]
pub enum Answer {
    /// The model answers.
    Reply(Reply),
    /// The API fails.
    Error {
        /// The HTTP status.
        status: u16,
    },
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

/// One streamed message.
#[derive(Debug, Clone, Deserialize)]
pub struct Reply {
    /// What the model says, in order.
    pub blocks: Vec<Block>,
    /// How the stream ends.
    #[serde(default)]
    pub ending: Ending,
}

/// A part of what the model says.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Block {
    /// Text for the user.
    Text(String),
    /// Text in pieces of our choosing, with gates between them.
    Pieces(Vec<Piece>),
    /// Thinking before it.
    Thinking(String),
    /// A tool call.
    Tool {
        /// The tool.
        name: String,
        /// Its arguments.
        input: Value,
    },
    /// Codex's freeform apply_patch tool.
    Patch(String),
}

/// A part of a text, as it is streamed.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Piece {
    /// These characters.
    Text(String),
    /// The stream stops until the test opens the gate of this name.
    Gate(String),
}

impl Piece {
    /// Returns what is said here; a gate says nothing.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Gate(_) => "",
        }
    }
}

/// How a stream ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// As the API ends it.
    #[default]
    Stop,
    /// An error event in mid-stream, after the last block's text.
    Fail,
    /// The stream stays open and says nothing more.
    Hang,
}

impl Reply {
    /// Makes an answer of one text.
    pub fn text(text: &str) -> Self {
        Self { blocks: vec![Block::Text(text.to_owned())], ending: Ending::Stop }
    }

    /// Makes an answer of blocks that ends well.
    pub fn blocks(blocks: Vec<Block>) -> Self {
        Self { blocks, ending: Ending::Stop }
    }

    /// Makes an answer that says a word and uses a tool.
    pub fn tool(name: &str, input: Value) -> Self {
        let say = Block::Text(format!("I will use {name}."));
        Self::blocks(vec![say, Block::Tool { name: name.to_owned(), input }])
    }

    /// Makes an answer that stops at a gate between two words.
    pub fn gated(gate: &str) -> Self {
        Self::blocks(vec![Block::Pieces(vec![
            Piece::Text("before ".to_owned()),
            Piece::Gate(gate.to_owned()),
            Piece::Text("after".to_owned()),
        ])])
    }
}

/// What the last user message asks for.
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    /// What the user said last.
    pub text: String,
    /// The text of the last tool result, when the conversation ends in one.
    pub tool_result: Option<String>,
}

pub(crate) enum Choice {
    Answer(Answer),
    /// This many times the first, then text.
    Times(u32, Answer),
}

pub(crate) fn choose(prompt: &Prompt) -> Choice {
    if let Some(result) = &prompt.tool_result {
        let first_line = result.lines().next().unwrap_or_default();
        return Choice::Answer(Reply::text(&format!("Done. The tool said: {first_line}")).into());
    }
    let Some(marker) = marker(&prompt.text) else {
        return Choice::Answer(Reply::text("Hello from the scripted model.").into());
    };
    let (word, rest) = marker.split_once(':').unwrap_or((marker, ""));
    let reply = match word {
        "say" => Reply::text(rest),
        "words" => Reply::text(&words(rest)),
        "burst" => Reply::blocks(vec![Block::Pieces(vec![Piece::Text(words(rest))])]),
        "think" => Reply::blocks(vec![
            Block::Thinking("Let me think about this.".to_owned()),
            Block::Text("I have thought.".to_owned()),
        ]),
        "tool" => {
            let (name, input) = rest.split_once(':').unwrap_or((rest, "{}"));
            Reply::tool(name, serde_json::from_str(input).unwrap_or_default())
        }
        "tools" => {
            let tools: Vec<(String, Value)> = serde_json::from_str(rest).unwrap_or_default();
            Reply::blocks(tools.into_iter().map(|(name, input)| Block::Tool { name, input }).collect())
        }
        "patch" => Reply::blocks(vec![Block::Patch(rest.to_owned())]),
        "gate" => Reply::gated(rest),
        "err" => {
            let (status, times) = rest.split_once(':').unwrap_or((rest, "1000000"));
            let answer = Answer::Error { status: status.parse().unwrap_or(500) };
            return Choice::Times(times.parse().unwrap_or(u32::MAX), answer);
        }
        "midfail" => {
            let blocks = vec![Block::Text("partial answer then".to_owned())];
            let answer = Reply { blocks, ending: Ending::Fail }.into();
            return Choice::Times(rest.parse().unwrap_or(1), answer);
        }
        "hang" => Reply { blocks: vec![Block::Text("one moment".to_owned())], ending: Ending::Hang },
        _ => Reply::text("Hello from the scripted model."),
    };
    Choice::Answer(reply.into())
}

/// Returns the name of the kept reply that the message asks for.
pub(crate) fn wanted_reply(prompt: &Prompt) -> Option<&str> {
    if prompt.tool_result.is_some() {
        return None;
    }
    marker(&prompt.text)?.strip_prefix("answer:")
}

fn words(number: &str) -> String {
    let number: usize = number.parse().unwrap_or(1);
    (1..=number).map(|n| format!("word{n} ")).collect::<String>().trim_end().to_owned()
}

fn marker(text: &str) -> Option<&str> {
    let start = text.find("[[")? + 2;
    let end = text.rfind("]]")?;
    text.get(start..end)
}

/// Cuts a text into the deltas that a model would stream: words with their spaces.
pub(crate) fn deltas(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}

/// Cuts JSON text into short pieces, to exercise reassembly; a very long one into a few thousand.
pub(crate) fn json_deltas(json: &str) -> Vec<String> {
    let characters: Vec<char> = json.chars().collect();
    characters.chunks((characters.len() / 4000).max(12)).map(|piece| piece.iter().collect()).collect()
}
