//! A language server in memory whose language is the model's: it knows what it was told and nothing else.
//!
//! A file that it needs and that is not open it reads once, and again only when it is told that the file changed: as real
//! servers do. What it computes comes after a while, in parts, or not at all, by the kind that it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chartroom_lsp::launch::{Absent, Found, Launch, Launched};
use chartroom_lsp::registry::{Quirks, Server};
use chartroom_transport::{Framing, Handler, Peer, PeerOptions, ResponseError, connect};
use serde_json::{Value, json};

/// How a server tells what it finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It is asked; it looks at what it was told when the question comes.
    Pull,
    /// It is asked, and says so only after a while.
    PullRegisteredLate,
    /// It pushes every open file after each change, with versions.
    PushWithVersions,
    /// The same, without versions.
    PushWithoutVersions,
    /// It pushes a file when that file itself is sent, and no other (as clangd does for a header).
    PushOnlyWhatIsSent,
    /// It pushes what differs from what it pushed before, of every file, without versions (as gopls does).
    PushDifferences,
}

impl Kind {
    fn is_asked(self) -> bool {
        matches!(self, Self::Pull | Self::PullRegisteredLate)
    }

    fn quirks(self) -> Quirks {
        Quirks { silent_when_unchanged: self == Self::PushDifferences, ..Quirks::NONE }
    }
}

/// Starts the one server, and can end it.
pub(crate) struct Scripted {
    kind: Kind,
    running: Mutex<Option<Peer>>,
}

impl Scripted {
    pub(crate) fn new(kind: Kind) -> Arc<Self> {
        Arc::new(Self { kind, running: Mutex::default() })
    }

    /// Ends the server as a crash would; tells whether one ran.
    pub(crate) fn kill(&self) -> bool {
        let peer = self.running.lock().unwrap().take();
        peer.is_some_and(|peer| {
            peer.close("killed");
            true
        })
    }
}

impl Launch for Scripted {
    fn find(&self, server: &Server, _project: &Path) -> Result<Found, Absent> {
        if server.id != "scripted" {
            let reason = "only the scripted server is here".to_owned();
            let status = chartroom_protocol::lsp::ServerState::Unavailable;
            return Err(Absent { status, reason, hint: None });
        }
        Ok(Found { program: "/scripted".into(), args: Vec::new(), quirks: self.kind.quirks() })
    }

    fn launch(&self, _server: &Server, _found: &Found, project: &Path) -> Result<Launched, Absent> {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (their_read, their_write) = tokio::io::split(theirs);
        let (read, write) = tokio::io::split(ours);
        let minds = Arc::new(Mutex::new(Mind { root: project.to_owned(), ..Mind::default() }));
        let peer = Arc::new(Mutex::new(None));
        let handler = Talk { kind: self.kind, mind: minds, peer: peer.clone() };
        let options = PeerOptions::new("scripted".to_owned(), Framing::ContentLength);
        let connected = connect(their_read, their_write, options, handler);
        *peer.lock().unwrap() = Some(connected.clone());
        *self.running.lock().unwrap() = Some(connected);
        Ok(Launched { read: Box::new(read), write: Box::new(write), child: None })
    }
}

/// What the server knows.
#[derive(Default)]
struct Mind {
    root: PathBuf,
    /// Open files: version and text.
    open: BTreeMap<PathBuf, (i64, String)>,
    /// Files that it has read itself; nothing for one that was not there.
    read: BTreeMap<PathBuf, Option<String>>,
    /// What it pushed last.
    pushed: BTreeMap<PathBuf, Value>,
    /// Rises with everything that it is told: what was begun before is not finished.
    generation: u64,
    /// Makes its delays uneven.
    n_delays: u64,
}

impl Mind {
    fn text(&mut self, file: &Path) -> Option<String> {
        if let Some((_, text)) = self.open.get(file) {
            return Some(text.clone());
        }
        let read = || std::fs::read_to_string(file).ok();
        self.read.entry(file.to_owned()).or_insert_with(read).clone()
    }

    /// The file of a module: imports name it by its path below the root.
    fn module(&self, name: &str) -> PathBuf {
        self.root.join(format!("{name}.foo"))
    }

    fn diagnostics(&mut self, file: &Path, only_syntax: bool) -> Value {
        let Some(text) = self.text(file) else { return json!([]) };
        let config = self.root.join("foo.toml");
        let is_strict = self.text(&config).is_some_and(|text| text.contains("strict"));
        let mut found = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_wrong = match words.as_slice() {
                ["ERR", ..] => true,
                ["WEAK", ..] => is_strict && !only_syntax,
                ["import", name, "from", module] if !only_syntax => {
                    let wanted = format!("def {name}");
                    let module = self.module(module);
                    !self.text(&module).is_some_and(|text| text.lines().any(|line| line == wanted))
                }
                _ => false,
            };
            if is_wrong {
                let range = json!({ "start": { "line": number, "character": 0 }, "end": { "line": number, "character": 1 } });
                found.push(json!({ "range": range, "severity": 1, "message": line }));
            }
        }
        Value::Array(found)
    }

    /// Somewhere between nothing and a quarter of a second, the same in every run.
    fn delay(&mut self) -> Duration {
        self.n_delays += 1;
        Duration::from_millis(self.n_delays.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56)
    }

    fn every_file(&self) -> Vec<PathBuf> {
        let names = super::model::FILES.iter().map(|name| self.module(name));
        names.filter(|file| self.open.contains_key(file) || file.exists()).collect()
    }
}

struct Talk {
    kind: Kind,
    mind: Arc<Mutex<Mind>>,
    peer: Arc<Mutex<Option<Peer>>>,
}

impl Talk {
    fn peer(&self) -> Peer {
        self.peer.lock().unwrap().clone().unwrap()
    }

    /// Looks again after something changed; `sent` is the file that was sent, if it was one.
    fn look_again(&self, sent: Option<PathBuf>) {
        if self.kind.is_asked() {
            return;
        }
        let (mind, peer, kind) = (self.mind.clone(), self.peer(), self.kind);
        let (generation, delay) = {
            let mut mind = mind.lock().unwrap();
            // One that looks at each file by itself is not disturbed by another.
            if kind != Kind::PushOnlyWhatIsSent {
                mind.generation += 1;
            }
            (mind.generation, mind.delay())
        };
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            // In two parts: what the grammar says, and a moment later all of it.
            for only_syntax in [true, false] {
                let messages = {
                    let mut mind = mind.lock().unwrap();
                    if mind.generation != generation {
                        return;
                    }
                    pushes(&mut mind, kind, sent.as_deref(), only_syntax)
                };
                for params in messages {
                    peer.notify("textDocument/publishDiagnostics", params).await.ok();
                }
                tokio::time::sleep(Duration::from_millis(40)).await;
            }
        });
    }
}

fn pushes(mind: &mut Mind, kind: Kind, sent: Option<&Path>, only_syntax: bool) -> Vec<Value> {
    let files = match kind {
        Kind::PushOnlyWhatIsSent => sent.into_iter().map(Path::to_owned).collect(),
        Kind::PushDifferences if only_syntax => Vec::new(),
        Kind::PushDifferences => mind.every_file(),
        _ => mind.open.keys().cloned().collect(),
    };
    let mut messages = Vec::new();
    for file in files {
        if kind != Kind::PushDifferences && !mind.open.contains_key(&file) {
            continue;
        }
        let diagnostics = mind.diagnostics(&file, only_syntax);
        let known = mind.pushed.insert(file.clone(), diagnostics.clone());
        if kind == Kind::PushDifferences && known.as_ref() == Some(&diagnostics) {
            continue;
        }
        let mut params = json!({ "uri": uri(&file), "diagnostics": diagnostics });
        if kind == Kind::PushWithVersions {
            params["version"] = json!(mind.open[&file].0);
        }
        messages.push(params);
    }
    messages
}

fn uri(file: &Path) -> String {
    format!("file://{}", file.display())
}

fn path(uri: &str) -> PathBuf {
    PathBuf::from(uri.trim_start_matches("file://"))
}

fn file_of(params: &Value) -> PathBuf {
    path(params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default())
}

impl Handler for Talk {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        match method.as_str() {
            "initialize" => {
                let mut capabilities = json!({ "textDocumentSync": 1 });
                if self.kind == Kind::Pull {
                    capabilities["diagnosticProvider"] = json!({ "interFileDependencies": true });
                }
                Ok(json!({ "capabilities": capabilities }))
            }
            "textDocument/diagnostic" => {
                let delay = self.mind.lock().unwrap().delay();
                tokio::time::sleep(delay).await;
                let items = self.mind.lock().unwrap().diagnostics(&file_of(&params), false);
                Ok(json!({ "kind": "full", "items": items }))
            }
            "shutdown" => Ok(Value::Null),
            _ => Err(ResponseError::method_not_found(&method)),
        }
    }

    async fn notification(&self, method: String, params: Value) {
        let file = file_of(&params);
        match method.as_str() {
            "initialized" => {
                let peer = self.peer();
                let watchers = json!({ "registrations": [{
                    "id": "watch", "method": "workspace/didChangeWatchedFiles",
                    "registerOptions": { "watchers": [{ "globPattern": "**/*.foo" }, { "globPattern": "**/foo.toml" }] },
                }] });
                let late =
                    json!({ "registrations": [{ "id": "pull", "method": "textDocument/diagnostic" }] });
                let is_late = self.kind == Kind::PullRegisteredLate;
                tokio::spawn(async move {
                    peer.request("client/registerCapability", &watchers).await.ok();
                    if is_late {
                        tokio::time::sleep(Duration::from_millis(80)).await;
                        peer.request("client/registerCapability", &late).await.ok();
                    }
                });
            }
            "textDocument/didOpen" | "textDocument/didChange" => {
                let number = |pointer: &str| params.pointer(pointer).and_then(Value::as_i64);
                let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
                let version = number("/textDocument/version").unwrap_or(0);
                let text = text("/textDocument/text").or_else(|| text("/contentChanges/0/text"));
                let text = text.unwrap_or_default().to_owned();
                self.mind.lock().unwrap().open.insert(file.clone(), (version, text));
                self.look_again(Some(file));
            }
            "textDocument/didClose" => {
                let mut mind = self.mind.lock().unwrap();
                mind.open.remove(&file);
                mind.read.remove(&file);
                drop(mind);
                self.look_again(None);
            }
            "workspace/didChangeWatchedFiles" => {
                let changes = params.get("changes").and_then(Value::as_array).into_iter().flatten();
                {
                    let mut mind = self.mind.lock().unwrap();
                    for change in changes {
                        let file = path(change.get("uri").and_then(Value::as_str).unwrap_or_default());
                        mind.read.remove(&file);
                    }
                }
                self.look_again(None);
            }
            "exit" => self.peer().close("told to exit"),
            _ => {}
        }
    }
}
