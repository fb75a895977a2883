//! A scripted agent that speaks Claude's stream-json, for tests of what a real one does too rarely.
//!
//! `FAKE_CLAUDE` says how it starts: `exit` (at once), `mute` (never a word), `old` (does not tell which message it
//! begins with). A message's first word says what its turn does; any other word is answered with its own text.

use std::io::{BufRead, StdinLock, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mode = std::env::var("FAKE_CLAUDE").unwrap_or_default();
    match mode.as_str() {
        "exit" => {
            eprintln!("fake claude cannot start today");
            return ExitCode::FAILURE;
        }
        "mute" => loop {
            std::thread::park();
        },
        _ => {}
    }
    let mut fake = Fake {
        stdin: std::io::stdin().lock(),
        tells: mode != "old",
        n_messages: 0,
        session_id: session_id(),
    };
    while let Some(line) = fake.read() {
        match line["type"].as_str() {
            Some("control_request") => fake.control(&line),
            Some("user") => fake.turn(&line),
            _ => {}
        }
    }
    ExitCode::SUCCESS
}

fn session_id() -> String {
    let args: Vec<String> = std::env::args().collect();
    let flag = args.iter().position(|arg| arg == "--session-id" || arg == "--resume");
    flag.and_then(|index| args.get(index + 1)).cloned().unwrap_or_default()
}

struct Fake {
    stdin: StdinLock<'static>,
    tells: bool,
    n_messages: u32,
    session_id: String,
}

impl Fake {
    fn turn(&mut self, line: &Value) {
        let text = line["message"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        if text.starts_with("late") {
            self.forget_an_interrupt();
        }
        if self.tells {
            for state in ["queued", "started"] {
                self.say(json!({"type": "command_lifecycle", "command_uuid": line["uuid"], "state": state}));
            }
        }
        match text.split_whitespace().next().unwrap_or_default() {
            "silent" => self.listen_for_ever(),
            "crash" => {
                self.init();
                self.begin_text("half a ");
                eprintln!("fake claude crashed on purpose");
                std::process::exit(3);
            }
            "garbage" => {
                self.init();
                self.raw("this is no JSON");
                self.raw("{\"type\":\"stream_event\",\"event\":");
                self.raw("");
                self.raw("[1,2,3]");
                self.raw("{\"type\":\"from_the_future\",\"x\":{\"y\":[null]}}");
                self.answer("still here");
            }
            "longline" => {
                self.init();
                let long = "x".repeat(50 * 1024 * 1024);
                self.say(json!({"type": "system", "subtype": "huge", "text": long}));
                self.answer("after the long line");
            }
            "flood" => {
                // As many messages of 100 KB as the second word says.
                let n_messages = text.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1);
                self.init();
                for _ in 0..n_messages {
                    self.say_all(&"water ".repeat(100 * 1024 / 6));
                }
                self.answer("dry land");
            }
            "slow" | "late" => {
                self.init();
                self.begin_text("before ");
                self.wait_for_interrupt();
            }
            "deaf" => {
                self.init();
                self.begin_text("before ");
                self.listen_for_ever();
            }
            "orphan" => {
                self.init();
                let pid = start_orphan();
                self.begin_text(&format!("pid {pid} "));
                self.wait_for_interrupt();
            }
            "tool" => {
                self.init();
                self.call("Bash", json!({"command": "echo A", "description": "say A"}), "toolu_1");
                self.tool_result("toolu_1", "A", false, json!({"stdout": "A", "stderr": "", "interrupted": false}));
                self.answer("the tool said A");
            }
            "permission" => self.permission("Bash", json!({"command": "touch c", "description": "d"})),
            "question" => self.permission(
                "AskUserQuestion",
                json!({"questions": [{"question": "Which db?", "header": "DB", "multiSelect": false,
                    "options": [{"label": "PG", "description": "p"}, {"label": "SQLite", "description": "s"}]}]}),
            ),
            "withdrawn" => {
                self.init();
                self.call("Bash", json!({"command": "touch c"}), "toolu_1");
                self.ask("Bash", json!({"command": "touch c"}));
                self.wait_for_interrupt();
            }
            "self" => {
                let arguments: Vec<String> = std::env::args().skip(1).collect();
                self.init();
                self.answer(&format!("process {} {}", std::process::id(), arguments.join(" ")));
            }
            "agent" => {
                self.init();
                self.answer("I go on by myself");
                self.init();
                self.answer("nobody asked");
            }
            "failing" => {
                self.init();
                self.result(json!({"subtype": "success", "is_error": true, "terminal_reason": "api_error",
                    "api_error_status": 400, "result": "API Error: 400 fake"}));
            }
            _ => {
                self.init();
                self.answer(&text);
            }
        }
        if self.tells {
            self.say(
                json!({"type": "command_lifecycle", "command_uuid": line["uuid"], "state": "completed"}),
            );
        }
    }

    fn permission(&mut self, tool: &str, input: Value) {
        self.init();
        self.call(tool, input.clone(), "toolu_1");
        self.ask(tool, input);
        while let Some(line) = self.read() {
            match line["type"].as_str() {
                Some("control_response") => {
                    let response = &line["response"]["response"];
                    let allowed = response["behavior"] == "allow";
                    let output = match (allowed, &response["updatedInput"]["answers"]) {
                        (true, Value::Null) => "done".to_owned(),
                        (true, answers) => answers.to_string(),
                        (false, _) => response["message"].as_str().unwrap_or_default().to_owned(),
                    };
                    self.tool_result("toolu_1", &output, !allowed, json!({}));
                    return self.answer(if allowed { "allowed" } else { "denied" });
                }
                Some("control_request") => self.control(&line),
                _ => {}
            }
        }
    }

    fn ask(&mut self, tool: &str, input: Value) {
        self.say(json!({"type": "control_request", "request_id": "ask-1", "request": {"subtype": "can_use_tool",
            "tool_name": tool, "display_name": tool, "input": input, "tool_use_id": "toolu_1",
            "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]}}));
    }

    /// Answers control requests until an interrupt comes, which ends the turn as the real one does.
    fn wait_for_interrupt(&mut self) {
        while let Some(line) = self.read() {
            if line["type"] != "control_request" {
                continue;
            }
            self.control(&line);
            if line["request"]["subtype"] == "interrupt" {
                self.say(json!({"type": "control_cancel_request", "request_id": "ask-1"}));
                return self.result(json!({"subtype": "error_during_execution", "is_error": true,
                    "terminal_reason": "aborted_streaming", "errors": ["aborted"]}));
            }
        }
    }

    /// Answers an interrupt that comes before the turn has begun, and goes on all the same, as the real one does.
    fn forget_an_interrupt(&mut self) {
        while let Some(line) = self.read() {
            if line["type"] == "control_request" {
                self.control(&line);
                if line["request"]["subtype"] == "interrupt" {
                    return;
                }
            }
        }
    }

    fn listen_for_ever(&mut self) {
        while self.read().is_some() {}
    }

    fn control(&mut self, line: &Value) {
        let subtype = line["request"]["subtype"].as_str().unwrap_or_default();
        let response = match subtype {
            "initialize" => {
                json!({"models": [{"value": "default", "displayName": "Default", "description": ""}],
                "commands": [{"name": "review", "description": "looks"}]})
            }
            "get_context_usage" => context_usage(),
            _ => json!({}),
        };
        let known = [
            "initialize",
            "interrupt",
            "set_model",
            "set_permission_mode",
            "end_session",
            "get_context_usage",
        ];
        let answer = if known.contains(&subtype) {
            json!({"subtype": "success", "request_id": line["request_id"], "response": response})
        } else {
            json!({"subtype": "error", "request_id": line["request_id"], "error": format!("unknown: {subtype}")})
        };
        self.say(json!({"type": "control_response", "response": answer}));
        if subtype == "end_session" {
            std::process::exit(0);
        }
    }

    fn init(&mut self) {
        self.say(
            json!({"type": "system", "subtype": "init", "model": "fake-model", "permissionMode": "default",
            "session_id": self.session_id, "argv": std::env::args().skip(1).collect::<Vec<_>>()}),
        );
        self.say(json!({"type": "system", "subtype": "status", "status": "requesting"}));
    }

    fn begin_text(&mut self, text: &str) {
        self.n_messages += 1;
        let id = format!("msg_{}", self.n_messages);
        self.event(
            json!({"type": "message_start", "message": {"id": id, "model": "fake-model", "content": [],
            "usage": {"input_tokens": 10, "output_tokens": 1}}}),
        );
        self.event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        );
        self.event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        );
    }

    fn say_all(&mut self, text: &str) {
        self.begin_text(text);
        self.finish_block(json!({"type": "text", "text": text}));
        self.event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}));
        self.event(json!({"type": "message_stop"}));
    }

    fn answer(&mut self, text: &str) {
        self.say_all(text);
        self.result(
            json!({"subtype": "success", "is_error": false, "terminal_reason": "completed", "result": text}),
        );
    }

    fn call(&mut self, tool: &str, input: Value, id: &str) {
        self.n_messages += 1;
        let message = format!("msg_{}", self.n_messages);
        self.event(json!({"type": "message_start", "message": {"id": message, "model": "fake-model", "content": []}}));
        self.event(json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": id, "name": tool, "input": {}}}));
        self.event(json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": input.to_string()}}));
        self.finish_block(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        self.event(json!({"type": "message_stop"}));
    }

    fn finish_block(&mut self, block: Value) {
        let id = format!("msg_{}", self.n_messages);
        self.say(
            json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [block]}}),
        );
        self.event(json!({"type": "content_block_stop", "index": 0}));
    }

    fn tool_result(&mut self, id: &str, output: &str, is_error: bool, structured: Value) {
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error});
        self.say(json!({"type": "user", "message": {"role": "user", "content": [result]}, "tool_use_result": structured}));
    }

    fn result(&mut self, mut result: Value) {
        result["type"] = json!("result");
        result["usage"] = json!({"input_tokens": 10, "output_tokens": 5});
        result["total_cost_usd"] = json!(0.001 * f64::from(self.n_messages));
        self.say(result);
    }

    fn event(&mut self, event: Value) {
        self.say(json!({"type": "stream_event", "event": event, "parent_tool_use_id": null}));
    }

    fn say(&mut self, line: Value) {
        self.raw(&line.to_string());
    }

    fn raw(&mut self, line: &str) {
        let mut stdout = std::io::stdout().lock();
        // A reader that is gone ends us by the end of stdin.
        writeln!(stdout, "{line}").and_then(|()| stdout.flush()).ok();
    }

    fn read(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            match self.stdin.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {
                    if let Ok(value) = serde_json::from_str(&line) {
                        return Some(value);
                    }
                }
            }
        }
    }
}

/// What fills the context: every kind that the real one knows, and a bit of what nobody needs.
fn context_usage() -> Value {
    let category = |name: &str, tokens: u64, kind: &str| json!({"name": name, "tokens": tokens, "color": "warning", "kind": kind});
    json!({
        "categories": [
            category("System prompt", 900, "used"),
            category("MCP tools (deferred)", 700, "deferred"),
            category("Messages", 1100, "used"),
            category("Autocompact buffer", 33_000, "buffer"),
            category("Free space", 165_000, "free"),
        ],
        "totalTokens": 2000, "maxTokens": 200_000, "rawMaxTokens": 200_000, "percentage": 1,
        "gridRows": [[{"color": "warning", "isFilled": true, "categoryName": "System prompt"}]],
    })
}

/// Starts what a Bash tool starts: a process with a session of its own, which no signal to us reaches.
#[expect(clippy::disallowed_methods, reason = "a fake agent starts children as a real one does")]
fn start_orphan() -> u32 {
    let mut command = std::process::Command::new("setsid");
    command.args(["sleep", "1000"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.spawn().map(|child| child.id()).unwrap_or_default()
}
