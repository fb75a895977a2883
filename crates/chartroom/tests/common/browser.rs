//! One browser on one session: it reads every frame of the session and writes the story down, a line a frame.
//!
//! The normal form, so that a whole story can be compared:
//! - ids have stable names by their first appearance: turns are numbers, items `i0`…, questions `q0`….
//! - An `update` has no line, and a `create` shows no text: how much of a text has come at a moment, and so how many
//!   updates there are (none, if all of it came at once), depends on time. They are checked instead: an item is
//!   created once, each state of a text begins with the one before it, and nothing follows its end.
//! - A text that ends as `error` has no `create`: whether it was shown before depends on time too.
//! - An item that has no end when its turn is cancelled stands before the turn's end as `stopped`, with all of it.
//! - The numbers of the journal are checked, not shown: they count up by one, no frame is missing and none comes twice.
//!   Only what a page gets when it comes back may lack numbers: of an item's states between its first and its last the
//!   journal keeps none.
//! - An `options` frame that changes neither the model nor the mode has no line: Codex tells its commands when it likes.
//! - A tool's arguments stand where they are final: at its end and in a question. How much of them a `create` has
//!   depends on time.
//! - The project's folder is `$PROJECT`; the seconds of a retry, the numbers of Codex's outputs and a port are `_`.
//!
//! Everything else is there as it came: `session:upsert`, `turn`, `question`, `question-closed`, `queue`, `title`,
//! `options`, `state`, `history`. What the story does itself stands between, as `> …`.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::collections::HashMap;

use expect_test::Expect;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::{LIMIT, Server, TOKEN};

/// Codex names every output of a command by a random number.
const CHUNK: &str = "Chunk ID: ";
/// A sleeping tool tells its process id to a port of its own.
const PORT: &str = "/dev/tcp/127.0.0.1/";

pub(crate) struct Browser {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) session_id: String,
    project: String,
    lines: Vec<String>,
    options: String,
    seq: Option<u64>,
    /// The page has all that it had missed; from here on every number comes.
    is_live: bool,
    turns: Names,
    items: Names,
    questions: Names,
    /// The last state of each item: its text, and whether it has ended.
    shown: HashMap<String, (String, bool)>,
    /// The items without an end, each with its turn and its line.
    open: Vec<(String, usize, String)>,
    ended_turns: Vec<usize>,
}

#[derive(Default)]
struct Names(Vec<String>);

impl Names {
    fn number(&mut self, id: &Value) -> usize {
        let id = id.as_str().unwrap_or_else(|| panic!("no id: {id}"));
        self.0.iter().position(|known| known == id).unwrap_or_else(|| {
            self.0.push(id.to_owned());
            self.0.len() - 1
        })
    }
}

impl Browser {
    /// Opens a WebSocket, subscribes, and reads the greeting, which ends with the state.
    pub(crate) async fn open(server: &Server, session_id: &str, after_seq: Option<u64>) -> Self {
        let mut request = format!("ws://{}/ws", server.host()).into_client_request().unwrap();
        request.headers_mut().insert("authorization", format!("Bearer {TOKEN}").parse().unwrap());
        let (socket, _) = tokio_tungstenite::connect_async(request).await.unwrap();
        let mut browser = Self {
            socket,
            session_id: session_id.to_owned(),
            project: server.project().display().to_string(),
            lines: Vec::new(),
            options: String::new(),
            seq: after_seq,
            is_live: false,
            turns: Names::default(),
            items: Names::default(),
            questions: Names::default(),
            shown: HashMap::new(),
            open: Vec::new(),
            ended_turns: Vec::new(),
        };
        let mut subscribe = json!({"type": "subscribe", "sessionId": session_id, "requestId": "subscribe"});
        if let Some(seq) = after_seq {
            subscribe["afterSeq"] = json!(seq);
        }
        browser.socket.send(Message::text(subscribe.to_string())).await.unwrap();
        loop {
            let frame = browser.any_frame().await;
            assert_ne!(frame["type"], "error", "{frame}");
            if frame["type"] == "ack" {
                break;
            }
        }
        browser.until("state ").await;
        browser.is_live = true;
        browser
    }

    pub(crate) fn path(&self, command: &str) -> String {
        format!("/api/session/{}/{command}", self.session_id)
    }

    /// Sends a message and returns the answer.
    pub(crate) async fn send(&mut self, server: &Server, message: &str) -> Value {
        let sent = server.post(&self.path("send"), json!({"message": message})).await;
        let queued = if sent["queued"] == true { ", queued" } else { "" };
        self.note(&format!("send{queued}"));
        sent
    }

    /// Does something else to the session.
    pub(crate) async fn post(&mut self, server: &Server, command: &str, body: Value) -> Value {
        let answer = server.post(&self.path(command), body).await;
        self.note(command);
        answer
    }

    /// Answers the question that was asked last.
    pub(crate) async fn answer(&mut self, server: &Server, mut answer: Value) {
        answer["questionId"] = json!(self.question_id());
        server.post(&self.path("answer"), answer.clone()).await;
        self.note(&format!("answer {}", answer["decision"].as_str().unwrap()));
    }

    pub(crate) fn question_id(&self) -> &str {
        self.questions.0.last().expect("a question was asked")
    }

    fn note(&mut self, what: &str) {
        self.lines.push(format!("> {what}"));
    }

    /// Replaces what differs from run to run in the lines that hold `part`: from there to the end.
    pub(crate) fn without(&mut self, part: &str, name: &str) -> &mut Self {
        for line in &mut self.lines {
            if let Some(at) = line.find(part) {
                line.truncate(at);
                line.push_str(name);
            }
        }
        self
    }

    /// Sorts the lines that hold `part` among themselves and leaves their items out: the agent decides their order.
    /// That an item's end follows its beginning was checked when they came.
    pub(crate) fn unordered(&mut self, part: &str) -> &mut Self {
        let places: Vec<usize> = (0..self.lines.len()).filter(|at| self.lines[*at].contains(part)).collect();
        let named = |line: &str| {
            let words = line
                .split(' ')
                .filter(|word| word.strip_prefix('i').is_none_or(|number| number.parse::<usize>().is_err()));
            words.collect::<Vec<_>>().join(" ")
        };
        let mut lines: Vec<String> = places.iter().map(|at| named(&self.lines[*at])).collect();
        lines.sort();
        for (at, line) in places.into_iter().zip(lines) {
            self.lines[at] = line;
        }
        self
    }

    /// Compares everything since the last look. Whatever the story waited for must have been read before.
    #[track_caller]
    pub(crate) fn saw(&mut self, expected: &Expect) {
        let story = std::mem::take(&mut self.lines).join("\n");
        expected.assert_eq(&(story + "\n"));
    }

    /// Returns everything since the last look.
    pub(crate) fn story(&mut self) -> String {
        std::mem::take(&mut self.lines).join("\n")
    }

    /// Leaves out what was written down so far.
    pub(crate) fn forget_the_beginning(&mut self) {
        self.lines.clear();
    }

    /// Reads frames until one is written down as a line that begins with `end`.
    pub(crate) async fn until(&mut self, end: &str) {
        loop {
            let n_before = self.lines.len();
            let frame = self.frame().await;
            self.write_down(&frame);
            if self.lines[n_before..].iter().any(|line| line.starts_with(end)) {
                return;
            }
        }
    }

    /// Reads frames until the session rests: a turn has ended and no other follows.
    pub(crate) async fn until_idle(&mut self) {
        self.until("state open").await;
    }

    pub(crate) async fn until_asked(&mut self) {
        self.until("state needs_you").await;
    }

    /// Reads frames until the agent has said something that begins with this, finished or not.
    pub(crate) async fn until_said(&mut self, beginning: &str) {
        loop {
            let frame = self.frame().await;
            self.write_down(&frame);
            let payload = &frame["payload"];
            if payload["origin"] == "agent"
                && payload["content"].as_str().is_some_and(|text| text.starts_with(beginning))
            {
                return;
            }
        }
    }

    /// Reads frames until a turn has ended, and returns how.
    pub(crate) async fn until_ended(&mut self, turn_id: &str) -> String {
        loop {
            let frame = self.frame().await;
            self.write_down(&frame);
            let payload = &frame["payload"];
            if payload["turnId"] == turn_id
                && ["turn_complete", "turn_error"].iter().any(|end| payload["type"] == *end)
            {
                return payload["status"].as_str().unwrap_or("failed").to_owned();
            }
        }
    }

    /// Returns what was written down last.
    pub(crate) fn last_line(&self) -> &str {
        self.lines.last().map_or("", String::as_str)
    }

    pub(crate) fn last_seq(&self) -> u64 {
        self.seq.expect("a frame of the journal was read")
    }

    /// Returns the next frame of this session.
    async fn frame(&mut self) -> Value {
        loop {
            let frame = self.any_frame().await;
            if frame["sessionId"] == json!(self.session_id) {
                return frame;
            }
        }
    }

    async fn any_frame(&mut self) -> Value {
        let next = async {
            loop {
                match self.socket.next().await.expect("the socket stays open").unwrap() {
                    Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                    Message::Close(reason) => panic!("the server closed the socket: {reason:?}"),
                    _ => {}
                }
            }
        };
        let story = &self.lines;
        tokio::time::timeout(LIMIT, next).await.unwrap_or_else(|_| panic!("no frame came after {story:#?}"))
    }

    fn write_down(&mut self, frame: &Value) {
        let payload = &frame["payload"];
        match frame["type"].as_str().unwrap() {
            "session:upsert" => {
                self.count(frame);
                let (line, is_update) = self.upsert(payload);
                self.lines.extend(Some(line).filter(|_| !is_update));
            }
            "session:turn" => {
                self.count(frame);
                let line = self.turn(payload);
                if line.ends_with(" cancelled") {
                    let turn = self.turns.number(&payload["turnId"]);
                    let stopped = self.open.iter().filter(|(_, of, _)| *of == turn);
                    self.lines.extend(stopped.map(|(_, _, line)| format!("stopped {line}")));
                }
                self.lines.push(line);
            }
            "session:question" => {
                let question = &frame["question"];
                let number = self.questions.number(&question["questionId"]);
                let what = match question["toolName"].as_str() {
                    Some(tool) => {
                        format!("{tool} {}", self.stable(&unfolded_arguments(question).to_string()))
                    }
                    None => question["questions"][0]["question"].as_str().unwrap_or_default().to_owned(),
                };
                self.lines.push(format!("question q{number} {what}"));
            }
            "session:question-closed" => {
                let number = self.questions.number(&frame["questionId"]);
                self.lines.push(format!("question q{number} closed"));
            }
            "session:queue" => {
                let messages = frame["messages"].as_array().unwrap();
                let texts: Vec<String> =
                    messages.iter().map(|message| self.text(&message["message"])).collect();
                let held = frame["held"].as_str().map(|held| format!(" held: {held}")).unwrap_or_default();
                self.lines.push(format!("queue [{}]{held}", texts.join(", ")));
            }
            "session:title" => {
                let line = format!("title {}", self.text(&frame["title"]));
                self.lines.push(line);
            }
            "session:options" => {
                let chosen = |name: &str| frame["options"][name].as_str().unwrap_or("-").to_owned();
                let line = format!("options model {} mode {}", chosen("model"), chosen("mode"));
                if self.options != line {
                    self.lines.push(line.clone());
                    self.options = line;
                }
            }
            "session:state" => {
                let note = frame["note"].as_str().map(|note| format!(" ({})", without_seconds(note)));
                let state = frame["state"].as_str().unwrap();
                self.lines.push(format!("state {state}{}", note.unwrap_or_default()));
            }
            "session:history" => self.history(frame),
            other => panic!("a frame of an unknown kind {other}: {frame}"),
        }
    }

    fn count(&mut self, frame: &Value) {
        let seq = frame["seq"].as_u64().unwrap();
        if let Some(before) = self.seq {
            let follows = if self.is_live { seq == before + 1 } else { seq > before };
            assert!(follows, "a frame is missing or came twice, after {before}: {frame}");
        }
        self.seq = Some(seq);
    }

    fn history(&mut self, frame: &Value) {
        self.seq = frame["seq"].as_u64();
        // All of it is told anew.
        self.shown.clear();
        self.ended_turns.clear();
        self.lines.push("history".to_owned());
        for entry in frame["entries"].as_array().unwrap() {
            let (line, _) = self.upsert(entry);
            self.lines.push(format!("| {line}"));
        }
        for turn in frame["turns"].as_array().unwrap() {
            let line = self.turn(turn);
            self.lines.push(format!("| {line}"));
        }
    }

    fn turn(&mut self, payload: &Value) -> String {
        let number = self.turns.number(&payload["turnId"]);
        assert!(!self.ended_turns.contains(&number), "turn {number} had ended: {payload}");
        match payload["type"].as_str().unwrap() {
            "turn_started" => {
                format!("turn {number} started {}", payload["modelId"].as_str().unwrap())
            }
            "turn_complete" => {
                self.ended_turns.push(number);
                format!("turn {number} {}", payload["status"].as_str().unwrap())
            }
            _ => {
                self.ended_turns.push(number);
                let code = payload["errorCode"].as_str().unwrap();
                format!("turn {number} failed {code}: {}", payload["errorMessage"].as_str().unwrap())
            }
        }
    }

    /// Returns an item's line, and whether it is one that depends on time.
    fn upsert(&mut self, payload: &Value) -> (String, bool) {
        let turn = self.turns.number(&payload["turnId"]);
        assert!(!self.ended_turns.contains(&turn), "turn {turn} had ended: {payload}");
        let (kind, status) = (payload["type"].as_str().unwrap(), payload["status"].as_str().unwrap());
        let id = payload["itemId"].as_str().unwrap().to_owned();
        let number = self.items.number(&payload["itemId"]);
        let content = payload["content"].as_str().unwrap_or_default().to_owned();
        let before = self.shown.get(&id);
        match status {
            "create" => assert!(before.is_none(), "i{number} was created twice: {payload}"),
            "update" if self.is_live => {
                assert!(before.is_some(), "i{number} was never created: {payload}");
            }
            _ => {}
        }
        if let Some((text, ended)) = before {
            assert!(!ended, "i{number} had ended: {payload}");
            assert!(content.starts_with(text.as_str()), "i{number} does not go on from {text:?}: {payload}");
        }
        let ends = matches!(status, "complete" | "error");
        self.shown.insert(id.clone(), (content, ends));
        let text = self.text(&payload["content"]);
        let line = match (kind, status) {
            ("message", _) if payload["origin"] == "user" => format!("user i{number} {text}"),
            ("message" | "thinking", "create") => format!("create {kind} i{number}"),
            ("message" | "thinking", _) => {
                if status == "error" {
                    self.lines.retain(|line| *line != format!("create {kind} i{number}"));
                }
                format!("{status} {kind} i{number} {text}")
            }
            _ => {
                let name = self.tool(payload);
                let output = match &payload["toolOutput"] {
                    Value::Null => String::new(),
                    output if payload["toolOutputIsError"] == true => format!(" !> {}", self.text(output)),
                    output => format!(" -> {}", self.text(output)),
                };
                let arguments = match status {
                    "create" => String::new(),
                    _ => format!(" {}", self.stable(&payload["toolArguments"].to_string())),
                };
                format!("{status} tool {name} i{number}{arguments}{output}")
            }
        };
        self.open.retain(|(open, ..)| *open != id);
        if !ends {
            let line = match kind {
                "message" | "thinking" => format!("{kind} i{number} {text}"),
                _ => {
                    let arguments = self.stable(&payload["toolArguments"].to_string());
                    let output = payload["toolOutput"].as_str().map(|output| format!(" -> {output:?}"));
                    format!("tool {} i{number} {arguments}{}", self.tool(payload), output.unwrap_or_default())
                }
            };
            self.open.push((id, turn, line));
        }
        let line = match payload["errorMessage"].as_str() {
            Some(error) => format!("{line}: {error}"),
            None => line,
        };
        (line, status == "update")
    }

    fn tool(&self, payload: &Value) -> String {
        payload["toolName"].as_str().unwrap_or_else(|| panic!("a tool has a name: {payload}")).to_owned()
    }

    /// Quotes a text, without what differs from run to run.
    fn text(&self, value: &Value) -> String {
        format!("{:?}", self.stable(value.as_str().unwrap_or_default()))
    }

    /// Returns a text with the project's folder by its name and without random numbers.
    fn stable(&self, text: &str) -> String {
        let mut text = text.replace(&self.project, "$PROJECT");
        for before in [CHUNK, PORT] {
            if let Some(at) = text.find(before) {
                let from = at + before.len();
                let to = text[from..].find(|c: char| !c.is_ascii_hexdigit());
                let to = to.map_or(text.len(), |length| from + length);
                text.replace_range(from..to, "_");
            }
        }
        text
    }
}

/// The arguments of a question, without the bookkeeping that the page folds: its ids and times are never the same.
fn unfolded_arguments(question: &Value) -> Value {
    let folded = question["bookkeeping"].as_array().cloned().unwrap_or_default();
    let mut arguments = question["toolArguments"].clone();
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.retain(|name, _| !folded.iter().any(|other| other == name));
    }
    arguments
}

/// "retry 1 of 2 in 0.6 s" waits for a random time.
fn without_seconds(note: &str) -> String {
    match note.rsplit_once(" in ") {
        Some((before, _)) if note.ends_with(" s") => format!("{before} in _ s"),
        _ => note.to_owned(),
    }
}
