//! The scripted language server behind the program `fake-lsp`: real pipes, real framing, chosen misbehaviour.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

/// Every way to misbehave, and what it does.
pub const MODES: &[(&str, &str)] = &[
    ("good", "behaves"),
    ("garbage", "prints lines between its messages"),
    ("malformed", "sends frames that are not JSON"),
    ("huge", "sends a message of 100 MB before its answer"),
    ("never", "answers nothing, not even initialize"),
    ("mute", "shakes hands and then says nothing"),
    ("late", "takes a second and a half for each change"),
    ("exits", "exits at once"),
    ("crashes", "exits when it gets a file"),
    ("stubborn", "ignores shutdown, exit and the end of its input"),
    ("floods", "sends thousands of notifications"),
    ("versions", "sends doubled, old and future versions"),
    ("asks", "asks its client for everything, sense and nonsense"),
];

/// Serves on stdin and stdout until its input ends.
pub fn run(mode: &str) -> ExitCode {
    if mode == "exits" {
        eprintln!("fake-lsp: giving up at once");
        return ExitCode::from(7);
    }
    let mut input = std::io::stdin().lock();
    let mut server = Server { mode: mode.to_owned(), next_id: 1_000 };
    while let Some(message) = read(&mut input) {
        if server.mode == "never" {
            continue;
        }
        if let Some(code) = server.handle(&message) {
            return code;
        }
    }
    if mode == "stubborn" {
        loop {
            std::thread::park();
        }
    }
    ExitCode::SUCCESS
}

struct Server {
    mode: String,
    next_id: u64,
}

impl Server {
    fn handle(&mut self, message: &Value) -> Option<ExitCode> {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let id = message.get("id").cloned();
        match method {
            "initialize" => {
                self.prelude();
                let capabilities = json!({ "textDocumentSync": 1, "definitionProvider": true });
                answer(id, &json!({ "capabilities": capabilities, "serverInfo": { "name": "fake-lsp" } }));
            }
            "textDocument/didOpen" | "textDocument/didChange" => {
                if self.mode == "crashes" {
                    eprintln!("fake-lsp: crashing on purpose");
                    return Some(ExitCode::from(9));
                }
                self.changed(message);
            }
            "shutdown" if self.mode != "stubborn" => answer(id, &Value::Null),
            "exit" if self.mode != "stubborn" => return Some(ExitCode::SUCCESS),
            "shutdown" | "exit" => {}
            _ if id.is_some() && self.mode != "mute" && !method.is_empty() => {
                send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no" } }));
            }
            _ => {}
        }
        None
    }

    /// What comes before the answer to `initialize`.
    fn prelude(&mut self) {
        match self.mode.as_str() {
            "garbage" => raw(b"Starting up...\nContent-Type: nonsense\n\n\0\0\xff\xfe\n"),
            "malformed" => {
                raw(b"Content-Length: 5\r\n\r\n{\"a\":");
                raw(b"Content-Length: 2\r\n\r\n[]");
            }
            "huge" => {
                let size = 100 * 1024 * 1024;
                raw(format!("Content-Length: {size}\r\n\r\n").as_bytes());
                let chunk = vec![b'x'; 1024 * 1024];
                for _ in 0..size / chunk.len() {
                    raw(&chunk);
                }
            }
            "asks" => {
                for method in [
                    "workspace/configuration",
                    "client/registerCapability",
                    "window/workDoneProgress/create",
                    "workspace/workspaceFolders",
                    "workspace/applyEdit",
                    "window/showMessageRequest",
                    "nonsense/unknown",
                ] {
                    self.next_id += 1;
                    let params = json!({ "items": [{ "section": "x" }], "registrations": [{}] });
                    send(
                        &json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }),
                    );
                }
            }
            _ => {}
        }
    }

    fn changed(&self, message: &Value) {
        let uri = message.pointer("/params/textDocument/uri").cloned().unwrap_or_default();
        let version = message.pointer("/params/textDocument/version").and_then(Value::as_i64).unwrap_or(0);
        let text = message
            .pointer("/params/textDocument/text")
            .or_else(|| message.pointer("/params/contentChanges/0/text"))
            .and_then(Value::as_str)
            .unwrap_or_default();
        let publish = |version: i64, diagnostics: Value| {
            let params = json!({ "uri": uri, "version": version, "diagnostics": diagnostics });
            send(&json!({ "jsonrpc": "2.0", "method": "textDocument/publishDiagnostics", "params": params }));
        };
        match self.mode.as_str() {
            "mute" => return,
            "late" => be_late(),
            "garbage" => raw(b"thinking about it...\n"),
            "malformed" => {
                raw(b"Content-Length: 3\r\n\r\n}}}");
                publish(version, json!([{ "range": 1 }, null, { "message": "no range" }]));
            }
            "floods" => {
                for n in 0..5_000 {
                    let params = json!({ "type": 4, "message": format!("noise {n}") });
                    send(&json!({ "jsonrpc": "2.0", "method": "window/logMessage", "params": params }));
                }
            }
            "versions" => {
                publish(version - 1, diagnostics("ERR from the past"));
                publish(version + 7, diagnostics("ERR from the future"));
                publish(version, diagnostics(text));
            }
            _ => {}
        }
        publish(version, diagnostics(text));
        if self.mode == "versions" {
            publish(version - 1, diagnostics("ERR from the past again"));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "being late is what this mode is for")]
fn be_late() {
    std::thread::sleep(std::time::Duration::from_millis(1_500));
}

fn diagnostics(text: &str) -> Value {
    text.lines()
        .enumerate()
        .filter_map(|(line, content)| {
            let (_, message) = content.split_once("ERR ")?;
            let place = json!({ "line": line, "character": 0 });
            Some(json!({ "range": { "start": place, "end": place }, "severity": 1, "message": message }))
        })
        .collect()
}

fn answer(id: Option<Value>, result: &Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn send(message: &Value) {
    let text = message.to_string();
    raw(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
}

/// Nobody may be listening any more; then there is nothing to say.
fn raw(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes).and_then(|()| stdout.flush()).ok();
}

fn read(input: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
