//! A scripted agent that speaks the Agent Client Protocol, for tests of what a real one does too rarely.
//!
//! `FAKE_ACP` says how it starts: `exit` (at once), `mute` (never a word), `garbage` (noise between its lines). A
//! prompt's first word says what its turn does; any other word is answered with its own text. Like codex-acp it does
//! not end when its stdin does. In the file of `FAKE_ACP_LOG` each request that it reads has a line with its process id.

use std::io::{BufRead, StdinLock, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

fn main() -> ExitCode {
    let mode = std::env::var("FAKE_ACP").unwrap_or_default();
    if mode == "exit" {
        eprintln!("fake acp cannot start today");
        return ExitCode::FAILURE;
    }
    if mode != "mute" {
        let mut fake = Fake { stdin: std::io::stdin().lock(), noisy: mode == "garbage" };
        while let Some(message) = fake.read() {
            log(&message);
            fake.handle(&message);
        }
    }
    loop {
        std::thread::park();
    }
}

fn log(message: &Value) {
    if let (Some(path), Some(method)) = (std::env::var_os("FAKE_ACP_LOG"), message["method"].as_str()) {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        let line = format!("{method} {}\n", std::process::id());
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the test's folder takes a log");
    }
}

const SESSION: &str = "fake-session-1";

struct Fake {
    stdin: StdinLock<'static>,
    noisy: bool,
}

impl Fake {
    fn handle(&mut self, message: &Value) {
        let id = message["id"].clone();
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => {
                self.answer(&id, json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}))
            }
            "session/new" => {
                let mut started = options();
                started["sessionId"] = json!(SESSION);
                self.answer(&id, started);
            }
            "session/load" if message["params"]["sessionId"] == SESSION => {
                self.update(json!({"sessionUpdate": "user_message_chunk", "content": text("hello there")}));
                self.update(json!({"sessionUpdate": "agent_message_chunk", "content": text("general")}));
                self.update(
                    json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "exec_command",
                    "status": "completed", "rawInput": {"cmd": "ls"}}),
                );
                self.update(
                    json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed",
                    "rawOutput": "a b"}),
                );
                self.update(json!({"sessionUpdate": "user_message_chunk", "content": text("again")}));
                self.update(json!({"sessionUpdate": "agent_message_chunk", "content": text("kenobi")}));
                self.answer(&id, options());
            }
            "session/load" => self.refuse(&id, -32002, "Resource not found"),
            "session/prompt" => self.prompt(&id, message),
            "session/set_mode" | "session/set_config_option" => self.answer(&id, json!({})),
            _ if id.is_null() => {}
            method => self.refuse(&id, -32601, &format!("unknown {method}")),
        }
    }

    fn prompt(&mut self, id: &Value, message: &Value) {
        let said = message["params"]["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
        match said.split_whitespace().next().unwrap_or_default() {
            "silent" => while self.read().is_some() {},
            "crash" => {
                self.say(&text("half a "));
                eprintln!("fake acp crashed on purpose");
                std::process::exit(3);
            }
            "longline" => {
                self.say(&text(&"x".repeat(50 * 1024 * 1024)));
                self.say(&text("after the long line"));
                self.answer(id, json!({"stopReason": "end_turn"}));
            }
            "slow" => {
                self.say(&text("before "));
                self.wait_for_cancel(id);
            }
            "orphan" => {
                let pid = start_orphan();
                self.say(&text(&format!("pid {pid} ")));
                self.wait_for_cancel(id);
            }
            "retry" => {
                self.say(&text("one two "));
                self.update(json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}));
                self.say(&text("one two "));
                self.say(&text("three"));
                self.answer(id, json!({"stopReason": "end_turn"}));
            }
            "failing" => self.refuse(id, -32603, "Internal error"),
            "tool" => {
                self.update(json!({"sessionUpdate": "tool_call", "toolCallId": "c1", "title": "echo A", "kind": "execute",
                    "status": "in_progress", "rawInput": {"command": ["/bin/bash", "-lc", "echo A"]}}));
                self.update(json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed",
                    "rawOutput": {"stdout": "A", "exit_code": 0, "duration": {"secs": 0, "nanos": 5_000_000}}}));
                self.say(&text("the tool said A"));
                self.answer(id, json!({"stopReason": "end_turn"}));
            }
            "permission" => {
                // What comes after the word is the tool call that it asks for.
                let given = said
                    .trim_start()
                    .strip_prefix("permission")
                    .and_then(|json| serde_json::from_str(json).ok());
                let usual = || {
                    json!({"toolCallId": "c1", "kind": "execute", "title": "touch c",
                        "rawInput": {"command": ["/bin/bash", "-lc", "touch c"]}})
                };
                self.permission(id, &given.unwrap_or_else(usual));
            }
            _ => {
                self.say(&text(&said));
                self.update(json!({"sessionUpdate": "usage_update", "used": 10, "size": 100}));
                self.answer(id, json!({"stopReason": "end_turn"}));
            }
        }
    }

    fn permission(&mut self, id: &Value, tool_call: &Value) {
        self.write(
            json!({"jsonrpc": "2.0", "id": "ask-1", "method": "session/request_permission", "params": {
            "sessionId": SESSION, "toolCall": tool_call,
            "options": [{"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"}]}}),
        );
        while let Some(message) = self.read() {
            if message["id"] == "ask-1" {
                let chosen =
                    message["result"]["outcome"]["optionId"].as_str().unwrap_or("cancelled").to_owned();
                self.say(&text(&chosen));
                let reason = if chosen == "yes" { "end_turn" } else { "cancelled" };
                return self.answer(id, json!({"stopReason": reason}));
            }
        }
    }

    fn wait_for_cancel(&mut self, id: &Value) {
        while let Some(message) = self.read() {
            if message["method"] == "session/cancel" {
                return self.answer(id, json!({"stopReason": "cancelled"}));
            }
        }
    }

    fn say(&mut self, content: &Value) {
        self.update(json!({"sessionUpdate": "agent_message_chunk", "content": content}));
    }

    fn update(&mut self, update: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": "session/update",
            "params": {"sessionId": SESSION, "update": update}}));
    }

    fn answer(&mut self, id: &Value, result: Value) {
        self.write(json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn refuse(&mut self, id: &Value, code: i64, message: &str) {
        self.write(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
    }

    fn write(&mut self, message: Value) {
        let mut stdout = std::io::stdout().lock();
        let noise = if self.noisy { "this is no JSON\n{\"half\":\n\n[1]\n" } else { "" };
        // A reader that is gone will end us.
        writeln!(stdout, "{noise}{message}").and_then(|()| stdout.flush()).ok();
    }

    fn read(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            match self.stdin.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {
                    if let Ok(message) = serde_json::from_str(&line) {
                        return Some(message);
                    }
                }
            }
        }
    }
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn options() -> Value {
    json!({"modes": {"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Default"},
            {"id": "read-only", "name": "Read Only"}]},
        "configOptions": [{"id": "model", "category": "model", "currentValue": "fake-model",
            "options": [{"value": "fake-model", "name": "Fake"}]}]})
}

/// Starts what a shell tool starts: a process with a session of its own, which no signal to us reaches.
#[expect(clippy::disallowed_methods, reason = "a fake agent starts children as a real one does")]
fn start_orphan() -> u32 {
    let mut command = std::process::Command::new("setsid");
    command.args(["sleep", "1000"]);
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    command.spawn().map(|child| child.id()).unwrap_or_default()
}
