//! The played agent: Claude's lines as they were recorded, at a steady pace, each write with its time in it.

use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::since_epoch;

/// The argument that makes this program an agent.
pub(crate) const COMMAND: &str = "play-agent";

/// How many words each piece of a text has: one more than the next step of the processor's gradient, so that every
/// piece is shown at once.
const PIECES: [usize; 5] = [11, 21, 41, 81, 121];
/// The pieces, the end of the text, a tool call, its result.
pub(crate) const WRITES_PER_ROUND: usize = PIECES.len() + 3;

/// The message that asks for one word, a silence and the end.
pub(crate) const FIRST_WORD: &str = "one word";
/// Longer than any page may wait for a first word.
const SILENCE: Duration = Duration::from_millis(400);

/// Answers what a session asks of a Claude process, and plays a turn for every message: `ROUNDS MICROSECONDS`.
pub(crate) fn play() -> anyhow::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?).context("a line of JSON")?;
        match line["type"].as_str() {
            Some("control_request") => {
                let response =
                    json!({"subtype": "success", "request_id": line["request_id"], "response": {}});
                write(&[json!({"type": "control_response", "response": response})])?;
                if line["request"]["subtype"] == "end_session" {
                    return Ok(());
                }
            }
            Some("user") => turn(&line)?,
            _ => {}
        }
    }
    Ok(())
}

fn turn(line: &Value) -> anyhow::Result<()> {
    let text = line["message"]["content"][0]["text"].as_str().unwrap_or_default();
    let lifecycle =
        |state: &str| json!({"type": "command_lifecycle", "command_uuid": line["uuid"], "state": state});
    write(&[
        lifecycle("started"),
        json!({"type": "system", "subtype": "init", "model": "recorded", "permissionMode": "default"}),
    ])?;
    if text == FIRST_WORD {
        say_first_word()?;
    } else {
        let (n_rounds, interval) = text.split_once(' ').context("ROUNDS MICROSECONDS")?;
        let mut pace = Pace::new(Duration::from_micros(interval.parse()?));
        for round in 0..n_rounds.parse()? {
            play_round(round, &mut pace)?;
        }
    }
    write(&[
        json!({"type": "result", "subtype": "success", "is_error": false, "terminal_reason": "completed",
            "usage": {"input_tokens": 10, "output_tokens": 5}, "total_cost_usd": 0.01}),
        lifecycle("completed"),
    ])
}

fn say_first_word() -> anyhow::Result<()> {
    let mut pace = Pace::new(SILENCE);
    let word = format!("@{}", since_epoch().as_nanos());
    write(&[
        event(json!({"type": "message_start", "message": {"id": "msg_word", "content": []}})),
        event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
        delta(json!({"type": "text_delta", "text": word})),
    ])?;
    pace.wait();
    pace.wait();
    write(&[
        message("msg_word", json!({"type": "text", "text": word})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_stop"})),
    ])
}

fn play_round(round: usize, pace: &mut Pace) -> anyhow::Result<()> {
    let mut lines = vec![
        event(
            json!({"type": "message_start", "message": {"id": format!("msg_{round}_text"), "content": []}}),
        ),
        event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
    ];
    let mut said = String::new();
    for n_words in PIECES {
        pace.wait();
        let piece = format!("{}@{} ", "word ".repeat(n_words - 1), since_epoch().as_nanos());
        said.push_str(&piece);
        lines.push(delta(json!({"type": "text_delta", "text": piece})));
        write(&std::mem::take(&mut lines))?;
    }
    pace.wait();
    // The last words come with the whole text only: a piece that waits would be a frame of its own.
    said.push_str(&format!("@{}", since_epoch().as_nanos()));
    write(&[
        message(&format!("msg_{round}_text"), json!({"type": "text", "text": said})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_stop"})),
    ])?;
    let (id, tool) = (format!("msg_{round}_tool"), format!("toolu_{round}"));
    pace.wait();
    let input = json!({"command": format!("true @{}", since_epoch().as_nanos()), "description": "nothing"});
    write(&[
        event(json!({"type": "message_start", "message": {"id": id, "content": []}})),
        event(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": tool, "name": "Bash", "input": {}}})),
        delta(json!({"type": "input_json_delta", "partial_json": input.to_string()})),
        message(&id, json!({"type": "tool_use", "id": tool, "name": "Bash", "input": input})),
        event(json!({"type": "content_block_stop", "index": 0})),
        event(json!({"type": "message_stop"})),
    ])?;
    pace.wait();
    let output = format!("done @{}", since_epoch().as_nanos());
    let result = json!({"type": "tool_result", "tool_use_id": tool, "content": output, "is_error": false});
    write(&[json!({"type": "user", "message": {"role": "user", "content": [result]},
        "tool_use_result": {"stdout": output, "stderr": "", "interrupted": false}})])
}

fn message(id: &str, block: Value) -> Value {
    json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [block]}})
}

fn delta(delta: Value) -> Value {
    event(json!({"type": "content_block_delta", "index": 0, "delta": delta}))
}

fn event(event: Value) -> Value {
    json!({"type": "stream_event", "event": event, "parent_tool_use_id": null})
}

/// Writes lines with one system call, as an agent that flushes does.
fn write(lines: &[Value]) -> anyhow::Result<()> {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("writing to the pipe")
}

/// A steady beat that does not drift; where it begins differs from process to process.
struct Pace {
    next: Instant,
    interval: Duration,
}

impl Pace {
    fn new(interval: Duration) -> Self {
        let share = interval * (std::process::id() % 64) / 64;
        Self { next: Instant::now() + share, interval }
    }

    #[expect(clippy::disallowed_methods, reason = "the pace of a model is time, there is no signal")]
    fn wait(&mut self) {
        std::thread::sleep(self.next.saturating_duration_since(Instant::now()));
        self.next += self.interval;
    }
}
