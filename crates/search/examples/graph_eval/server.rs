//! A language server over its pipes: one question at a time.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A first answer waits for the whole project.
const PATIENCE: Duration = Duration::from_secs(240);

pub struct Server {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    next: u64,
    opened: HashSet<String>,
    ended: bool,
}

impl Server {
    pub fn start(command: &str, arguments: &[String], root: &Path) -> Self {
        let mut child = Command::new(command)
            .args(arguments)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let output = child.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let mut server = Self { child, input, messages, next: 0, opened: HashSet::new(), ended: false };
        let uri = format!("file://{}", root.display());
        let capabilities = json!({
            "window": {"workDoneProgress": true},
            "workspace": {"configuration": true, "workspaceFolders": true},
            "experimental": {"serverStatusNotification": true},
        });
        let parameters = json!({
            "processId": std::process::id(), "rootUri": uri, "capabilities": capabilities,
            "workspaceFolders": [{"uri": uri, "name": "root"}],
            // Everything is indexed, all targets with all features, and nothing is built.
            "initializationOptions": {"cargo": {"allTargets": true, "features": "all", "buildScripts": {"enable": false}}, "procMacro": {"enable": false}, "checkOnSave": false, "cachePriming": {"enable": true}},
        });
        server.ask("initialize", &parameters);
        server.tell("initialized", &json!({}));
        if command.contains("rust-analyzer") {
            server.wait_for(|message| {
                message["method"] == "experimental/serverStatus" && message["params"]["quiescent"] == true
            });
        }
        server
    }

    /// Says whether it is gone: servers have faults of their own.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// References in files below the root: path, line and column, 0-based.
    pub fn references(
        &mut self,
        root: &Path,
        file: &str,
        language: &str,
        line: u32,
        column: u32,
    ) -> Option<Vec<(String, u32, u32)>> {
        let found = self.places("textDocument/references", root, file, language, line, column)?;
        Some(found)
    }

    /// The files and lines of what defines (or implements) the name at a place, 0-based; files elsewhere as they are.
    pub fn definition(
        &mut self,
        question: &str,
        root: &Path,
        file: &str,
        language: &str,
        line: u32,
        column: u32,
    ) -> Vec<(String, u32)> {
        let found = self.places(&format!("textDocument/{question}"), root, file, language, line, column);
        found.unwrap_or_default().into_iter().map(|(file, line, _)| (file, line)).collect()
    }

    fn places(
        &mut self,
        method: &str,
        root: &Path,
        file: &str,
        language: &str,
        line: u32,
        column: u32,
    ) -> Option<Vec<(String, u32, u32)>> {
        self.open(root, file, language);
        let uri = format!("file://{}/{file}", root.display());
        let found = self.ask(
            method,
            &json!({
                "textDocument": {"uri": uri}, "position": {"line": line, "character": column},
                "context": {"includeDeclaration": false},
            }),
        )?;
        let prefix = format!("file://{}/", root.display());
        let place = |found: &Value| {
            let uri = found["uri"].as_str().or_else(|| found["targetUri"].as_str())?;
            let file = uri.strip_prefix(&prefix).unwrap_or(uri).replace("%40", "@").replace("%20", " ");
            let range =
                if found["range"].is_null() { &found["targetSelectionRange"] } else { &found["range"] };
            let start = &range["start"];
            Some((
                file,
                u32::try_from(start["line"].as_u64()?).ok()?,
                u32::try_from(start["character"].as_u64()?).ok()?,
            ))
        };
        Some(match &found {
            Value::Array(list) => list.iter().filter_map(place).collect(),
            one => place(one).into_iter().collect(),
        })
    }

    /// Opens a file once.
    pub fn open(&mut self, root: &Path, file: &str, language: &str) {
        let Ok(text) = std::fs::read_to_string(root.join(file)) else { return };
        if !self.opened.insert(file.to_owned()) {
            return;
        }
        let language = if file.ends_with(".tsx") { "typescriptreact" } else { language };
        let uri = format!("file://{}/{file}", root.display());
        let document = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": document}));
        if self.opened.len() == 1 && language == "c" {
            // clangd answers from what it has indexed so far.
            self.wait_for(|message| {
                message["method"] == "$/progress" && message["params"]["value"]["kind"] == "end"
            });
        }
    }

    pub fn stop(&mut self) {
        self.ask("shutdown", &Value::Null);
        self.tell("exit", &Value::Null);
        let _ended = self.child.kill().and_then(|()| self.child.wait());
    }

    fn tell(&mut self, method: &str, parameters: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}));
    }

    fn ask(&mut self, method: &str, parameters: &Value) -> Option<Value> {
        self.next += 1;
        let id = self.next;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        let answer = self.wait_for(|message| message["id"] == id && message.get("method").is_none())?;
        if let Some(error) = answer.get("error") {
            println!("{method}: {error}");
        }
        answer.get("result").cloned()
    }

    /// Answers what the server asks meanwhile.
    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Option<Value> {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.checked_duration_since(Instant::now())?;
            let message = match self.messages.recv_timeout(left) {
                Ok(message) => message,
                Err(failed) => {
                    self.ended |= failed == RecvTimeoutError::Disconnected;
                    return None;
                }
            };
            if is_it(&message) {
                return Some(message);
            }
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                let result = match method {
                    "workspace/configuration" => {
                        let count = message["params"]["items"].as_array().map_or(0, Vec::len);
                        Value::Array(vec![Value::Null; count])
                    }
                    _ => Value::Null,
                };
                self.write(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
        }
    }

    fn write(&mut self, message: &Value) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let written = self.input.write_all(framed.as_bytes()).and_then(|()| self.input.flush());
        self.ended |= written.is_err();
    }
}

fn read(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => break,
            header => {
                if let Some(value) = header.strip_prefix("Content-Length:") {
                    length = value.trim().parse().ok()?;
                }
            }
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
