//! The bare server: the smallest client that gets a true answer out of it.

use std::io::{BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};

use super::{Client, Subject};

const LIMIT: Duration = Duration::from_secs(60);
/// How soon after a save a compilation begins, if one does.
const COMPILER_BEGINS: Duration = Duration::from_secs(2);

pub(super) struct Bare {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    file: PathBuf,
    uri: String,
    version: i64,
    next_id: u64,
    pulls: bool,
    /// Whether the server compiles after a save; it is clean only when the compiler says so too.
    compiles: bool,
    n_compilations_begun: usize,
    n_compilations_ended: usize,
    name: &'static str,
    language_id: &'static str,
}

impl Bare {
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    #[expect(clippy::disallowed_methods, reason = "the baseline is the server without anything of ours")]
    pub(super) fn start(subject: &Subject, root: &Path, tools: &Path) -> anyhow::Result<Self> {
        let in_tools = tools.join(subject.program);
        let program = if in_tools.exists() { in_tools } else { PathBuf::from(subject.program) };
        let mut child = Command::new(&program)
            .args(subject.args)
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {}", program.display()))?;
        let input = child.stdin.take().context("no stdin")?;
        let mut output = BufReader::new(child.stdout.take().context("no stdout")?);
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            while let Some(message) = read(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let file = root.join(subject.file);
        let uri = format!("file://{}", file.display());
        let (name, language_id) = (subject.name, subject.language_id);
        let mut bare = Self {
            child,
            input,
            messages,
            file,
            uri,
            version: 0,
            next_id: 0,
            pulls: false,
            compiles: subject.compiles,
            n_compilations_begun: 0,
            n_compilations_ended: 0,
            name,
            language_id,
        };
        let root_uri = format!("file://{}", root.display());
        let answer = bare.ask(
            "initialize",
            json!({
                "processId": std::process::id(), "rootUri": root_uri,
                "workspaceFolders": [{ "uri": root_uri, "name": "x" }],
                "capabilities": {
                    "workspace": { "configuration": true, "workspaceFolders": true },
                    "textDocument": {
                        "diagnostic": { "dynamicRegistration": true },
                        "publishDiagnostics": { "versionSupport": true },
                    },
                    "window": { "workDoneProgress": true },
                },
            }),
        )?;
        bare.pulls = answer.pointer("/capabilities/diagnosticProvider").is_some();
        bare.notify("initialized", json!({}))?;
        Ok(bare)
    }

    fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len())
            .context("writing to the server")?;
        self.input.flush().context("writing to the server")
    }

    fn notify(&mut self, method: &str, params: Value) -> anyhow::Result<()> {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    fn ask(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": &params });
        self.send(&request)?;
        let found = self.wait(LIMIT, |message| {
            let answered =
                message.get("method").is_none() && message.get("id").and_then(Value::as_u64) == Some(id);
            answered.then(|| message.clone())
        })?;
        let answer = found.with_context(|| format!("{} did not answer {method}", self.name))?;
        // The server was interrupted by its own doing: it wants to be asked again.
        let code = answer.pointer("/error/code").and_then(Value::as_i64);
        if matches!(code, Some(-32801 | -32802)) {
            return self.ask(method, params);
        }
        Ok(answer.get("result").cloned().unwrap_or_default())
    }

    /// Waits for a message, answering the server's own requests on the way.
    fn wait<T>(
        &mut self,
        limit: Duration,
        mut wanted: impl FnMut(&Value) -> Option<T>,
    ) -> anyhow::Result<Option<T>> {
        let end = Instant::now() + limit;
        while let Ok(message) = self.messages.recv_timeout(end.saturating_duration_since(Instant::now())) {
            if self.pass(&message)? {
                continue;
            }
            if let Some(found) = wanted(&message) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Takes in a message that nobody waits for; answers it when it is a request, and tells whether it was one.
    fn pass(&mut self, message: &Value) -> anyhow::Result<bool> {
        self.note_compilation(message);
        let (Some(method), Some(id)) = (message.get("method").and_then(Value::as_str), message.get("id"))
        else {
            return Ok(false);
        };
        if method == "client/registerCapability" && message.to_string().contains("textDocument/diagnostic") {
            self.pulls = true;
        }
        let n_items = message.pointer("/params/items").and_then(Value::as_array).map_or(0, Vec::len);
        let result =
            if method == "workspace/configuration" { json!(vec![json!({}); n_items]) } else { Value::Null };
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))?;
        Ok(true)
    }

    /// Counts the compilations that the server tells of.
    fn note_compilation(&mut self, message: &Value) {
        let token = message.pointer("/params/token").and_then(Value::as_str).unwrap_or_default();
        if !token.contains("flycheck") {
            return;
        }
        match message.pointer("/params/value/kind").and_then(Value::as_str) {
            Some("begin") => self.n_compilations_begun += 1,
            Some("end") => self.n_compilations_ended += 1,
            _ => {}
        }
    }

    /// Waits for the end of the compilation that began after the `before`-th; none begins while the project loads.
    fn wait_for_compiler(&mut self, before: usize) -> anyhow::Result<()> {
        let mut limit = Instant::now() + COMPILER_BEGINS;
        while self.n_compilations_begun <= before || self.n_compilations_ended < self.n_compilations_begun {
            if self.n_compilations_begun > before {
                limit = limit.max(Instant::now() + LIMIT);
            }
            match self.messages.recv_timeout(limit.saturating_duration_since(Instant::now())) {
                Ok(message) => {
                    self.pass(&message)?;
                }
                Err(_silent) => return Ok(()),
            }
        }
        Ok(())
    }
}

impl Client for Bare {
    fn check(&mut self, text: &str) -> anyhow::Result<bool> {
        std::fs::write(&self.file, text).context("writing the file")?;
        while let Ok(message) = self.messages.try_recv() {
            self.pass(&message)?;
        }
        let compilations = self.n_compilations_begun;
        self.version += 1;
        let (uri, version) = (self.uri.clone(), self.version);
        if version == 1 {
            let document =
                json!({ "uri": uri, "languageId": self.language_id, "version": version, "text": text });
            self.notify("textDocument/didOpen", json!({ "textDocument": document }))?;
        } else {
            let document = json!({ "uri": uri, "version": version });
            self.notify(
                "textDocument/didChange",
                json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
            )?;
        }
        self.notify("textDocument/didSave", json!({ "textDocument": { "uri": uri } }))?;
        if self.pulls {
            let answer = self.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }))?;
            let has_errors = has_errors(answer.get("items"));
            if self.compiles && self.n_compilations_ended > 0 && !has_errors {
                self.wait_for_compiler(compilations)?;
            }
            return Ok(has_errors);
        }
        let limit = Instant::now() + Duration::from_secs(10);
        while Instant::now() < limit {
            let pushed = self.wait(Duration::from_millis(20), |message| {
                let is_push =
                    message.get("method").and_then(Value::as_str) == Some("textDocument/publishDiagnostics");
                let is_ours = message.pointer("/params/uri").and_then(Value::as_str) == Some(&uri);
                let is_new = message
                    .pointer("/params/version")
                    .and_then(Value::as_i64)
                    .is_none_or(|known| known == version);
                (is_push && is_ours && is_new).then(|| has_errors(message.pointer("/params/diagnostics")))
            })?;
            if let Some(pushed) = pushed {
                return Ok(pushed);
            }
            // It said meanwhile that it wants to be asked, and will not push.
            if self.pulls {
                let answer =
                    self.ask("textDocument/diagnostic", json!({ "textDocument": { "uri": uri } }))?;
                return Ok(has_errors(answer.get("items")));
            }
        }
        Ok(false)
    }
}

fn has_errors(diagnostics: Option<&Value>) -> bool {
    diagnostics
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .any(|one| one.get("severity").and_then(Value::as_u64).is_none_or(|severity| severity == 1))
}

fn read(output: &mut impl std::io::BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).ok()? == 0 {
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
    output.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

impl Drop for Bare {
    fn drop(&mut self) {
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
