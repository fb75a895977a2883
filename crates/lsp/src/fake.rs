//! A language server in memory that speaks the real protocol, for tests on a paused clock.
//!
//! It finds an error wherever a line holds `ERR message` (a warning for `WARN message`), crashes at `CRASH`, and tells what it found as the
//! test wants: at once or late, pushed or pulled, with versions or without, or not at all.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chartroom_protocol::lsp::{LspConfig, ServerState};
use chartroom_testkit::project::Project;
use chartroom_transport::{Framing, Handler, Peer, PeerOptions, ResponseError, connect};
use chartroom_workspace::CanonicalRoot;
use serde_json::{Value, json};

use crate::launch::{Absent, Found, Launch, Launched};
use crate::orchestrator::Orchestrator;
use crate::registry::{Quirks, Server};

/// How a fake server behaves.
#[derive(Clone)]
pub(crate) struct Behaviour {
    /// How long the handshake takes; nothing never answers.
    pub(crate) ready_after: Option<Duration>,
    /// It is gone instead of shaking hands.
    pub(crate) dies_at_start: bool,
    /// When it pushes after a change, once per entry; none never pushes.
    pub(crate) pushes_after: Vec<Duration>,
    pub(crate) versions: bool,
    /// Versions of a file of which it says nothing.
    pub(crate) skips: &'static [i32],
    /// Its first push holds the first of its findings, the second the first two, as of one that looks line by line.
    pub(crate) grows: bool,
    /// It answers pulls after this.
    pub(crate) pulls_after: Option<Duration>,
    /// It says so only after the handshake, by registration.
    pub(crate) registers_late: bool,
    /// It says only after the handshake what it can be asked.
    pub(crate) offers_late: bool,
    /// It never answers this.
    pub(crate) silent_about: Option<&'static str>,
    /// What it says of a file that holds `include h` depends on whether `h.foo` holds `BREAK` when it looks, and it looks
    /// only at what it is sent.
    pub(crate) has_header: bool,
    /// It says that it loads the project for this long.
    pub(crate) loads_for: Option<Duration>,
    /// What it says of a file when it is opened is "clean", whatever is in it.
    pub(crate) opens_as_clean: bool,
    /// What it answers to these methods; it says that it can.
    pub(crate) answers: BTreeMap<&'static str, Value>,
    /// It is gone when it is asked this.
    pub(crate) dies_at: Option<&'static str>,
    /// The unit in which it counts; UTF-16 when it says nothing.
    pub(crate) encoding: Option<&'static str>,
    pub(crate) quirks: Quirks,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            ready_after: Some(Duration::ZERO),
            dies_at_start: false,
            pushes_after: vec![Duration::from_millis(10)],
            versions: true,
            skips: &[],
            grows: false,
            pulls_after: None,
            registers_late: false,
            offers_late: false,
            silent_about: None,
            has_header: false,
            loads_for: None,
            opens_as_clean: false,
            answers: BTreeMap::new(),
            dies_at: None,
            encoding: None,
            quirks: Quirks::NONE,
        }
    }
}

impl Behaviour {
    pub(crate) fn pushing(ms: &[u64]) -> Self {
        Self { pushes_after: ms.iter().map(|ms| Duration::from_millis(*ms)).collect(), ..Self::default() }
    }

    pub(crate) fn silent() -> Self {
        Self::pushing(&[])
    }

    /// One that answers these methods so.
    pub(crate) fn answering(answers: &[(&'static str, Value)]) -> Self {
        Self { answers: answers.iter().cloned().collect(), ..Self::default() }
    }

    pub(crate) fn pulling(ms: u64) -> Self {
        Self { pulls_after: Some(Duration::from_millis(ms)), ..Self::silent() }
    }
}

/// Launches fakes, and remembers what they saw.
#[derive(Default)]
pub(crate) struct Fakes {
    behaviours: Mutex<BTreeMap<String, Behaviour>>,
    pub(crate) launched: Mutex<Vec<(String, PathBuf)>>,
    /// Every message of every fake: `id method detail`.
    pub(crate) seen: Arc<Mutex<Vec<String>>>,
    /// To whom each message about changes on the disk went.
    watched_messages: Arc<Mutex<Vec<String>>>,
    peers: Mutex<BTreeMap<String, Peer>>,
    pub(crate) untrusted: Mutex<bool>,
}

impl Fakes {
    pub(crate) fn set(&self, id: &str, behaviour: Behaviour) {
        self.behaviours.lock().unwrap().insert(id.to_owned(), behaviour);
    }

    /// Kills a fake, and waits until the other side can know.
    pub(crate) async fn kill(&self, id: &str) {
        self.peers.lock().unwrap()[id].close("killed by the test");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }

    pub(crate) fn n_launched(&self) -> usize {
        self.launched.lock().unwrap().len()
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    /// How many messages about changes on the disk a server got.
    pub(crate) fn n_watched_messages(&self, id: &str) -> usize {
        self.watched_messages.lock().unwrap().iter().filter(|to| *to == id).count()
    }

    /// Asks the client something, as servers do.
    pub(crate) async fn ask(&self, id: &str, method: &str, params: Value) -> Value {
        let peer = self.peers.lock().unwrap()[id].clone();
        peer.request(method, params).await.unwrap()
    }

    /// Pushes by itself, as servers do for files nobody touched.
    pub(crate) async fn publish(&self, id: &str, file: &Path, messages: &[&str]) {
        let text: Vec<String> = messages.iter().map(|message| format!("ERR {message}")).collect();
        let params =
            json!({ "uri": crate::uri::of_path(file), "diagnostics": diagnostics(&text.join("\n")) });
        self.say(id, params).await;
    }

    /// Pushes these very parameters.
    pub(crate) async fn say(&self, id: &str, params: Value) {
        let peer = self.peers.lock().unwrap()[id].clone();
        peer.notify("textDocument/publishDiagnostics", params).await.unwrap();
        // In memory, one turn of the runtime carries it over.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

impl Launch for Fakes {
    fn find(&self, server: &Server, _project: &Path) -> Result<Found, Absent> {
        if *self.untrusted.lock().unwrap() {
            let status = ServerState::Untrusted;
            return Err(Absent {
                status,
                reason: "not trusted".into(),
                hint: Some("chartroom trust".into()),
            });
        }
        match self.behaviours.lock().unwrap().get(&server.id) {
            Some(behaviour) => Ok(Found {
                program: PathBuf::from(format!("/fake/{}", server.id)),
                args: Vec::new(),
                quirks: behaviour.quirks,
            }),
            None => Err(Absent {
                status: ServerState::Unavailable,
                reason: format!("{} was not found", server.id),
                hint: Some(server.install.clone()),
            }),
        }
    }

    fn launch(&self, server: &Server, _found: &Found, project: &Path) -> Result<Launched, Absent> {
        self.launched.lock().unwrap().push((server.id.clone(), project.to_owned()));
        let behaviour = self.behaviours.lock().unwrap()[&server.id].clone();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (their_read, their_write) = tokio::io::split(theirs);
        let (read, write) = tokio::io::split(ours);
        if behaviour.dies_at_start {
            return Ok(Launched { read: Box::new(read), write: Box::new(write), child: None });
        }
        let peer = Arc::new(Mutex::new(None));
        let fake = Fake {
            id: server.id.clone(),
            behaviour,
            seen: self.seen.clone(),
            watched_messages: self.watched_messages.clone(),
            texts: Arc::default(),
            peer: peer.clone(),
        };
        let options = PeerOptions::new(format!("fake {}", server.id), Framing::ContentLength);
        let connected = connect(their_read, their_write, options, fake);
        *peer.lock().unwrap() = Some(connected.clone());
        self.peers.lock().unwrap().insert(server.id.clone(), connected);
        Ok(Launched { read: Box::new(read), write: Box::new(write), child: None })
    }
}

/// What it can only with an answer, and what that is called in the handshake.
const PROVIDERS: [(&str, &str); 5] = [
    ("textDocument/rename", "renameProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
];

struct Fake {
    id: String,
    behaviour: Behaviour,
    seen: Arc<Mutex<Vec<String>>>,
    watched_messages: Arc<Mutex<Vec<String>>>,
    texts: Arc<Mutex<BTreeMap<String, (i32, String)>>>,
    peer: Arc<Mutex<Option<Peer>>>,
}

fn diagnostics(text: &str) -> Value {
    let found = text.lines().enumerate().filter_map(|(line, content)| {
        let (severity, at, word) = match (content.find("ERR "), content.find("WARN ")) {
            (Some(at), _) => (1, at, 4),
            (None, Some(at)) => (2, at, 5),
            (None, None) => return None,
        };
        Some(json!({
            "range": {
                "start": { "line": line, "character": at },
                "end": { "line": line, "character": content.len() },
            },
            "severity": severity,
            "message": &content[at + word..],
        }))
    });
    found.collect()
}

impl Fake {
    fn peer(&self) -> Peer {
        self.peer.lock().unwrap().clone().unwrap()
    }

    fn see(&self, what: String) {
        self.seen.lock().unwrap().push(format!("{} {what}", self.id));
    }

    fn changed(&self, uri: &str, version: i32, text: &str) {
        self.texts.lock().unwrap().insert(uri.to_owned(), (version, text.to_owned()));
        if text.contains("CRASH") {
            self.peer().close("crashed");
            return;
        }
        if self.behaviour.skips.contains(&version) {
            return;
        }
        let is_broken = self.behaviour.has_header && text.contains("include h") && {
            let texts = self.texts.lock().unwrap();
            texts.iter().any(|(uri, (_, text))| uri.ends_with("/h.foo") && text.contains("BREAK"))
        };
        for (number, after) in self.behaviour.pushes_after.clone().into_iter().enumerate() {
            let n_told = if self.behaviour.grows { number + 1 } else { usize::MAX };
            let (peer, mut text, uri) = (self.peer(), text.to_owned(), uri.to_owned());
            if is_broken {
                text = text.replace("include h", "ERR the header is broken");
            }
            let version = self.behaviour.versions.then_some(version);
            tokio::spawn(async move {
                tokio::time::sleep(after).await;
                let mut found = diagnostics(&text);
                found.as_array_mut().unwrap().truncate(n_told);
                let params = json!({ "uri": uri, "version": version, "diagnostics": found });
                peer.notify("textDocument/publishDiagnostics", params).await.ok();
            });
        }
    }
}

impl Handler for Fake {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
        self.see(format!("{method} {name}"));
        if self.behaviour.silent_about == Some(method.as_str()) {
            std::future::pending().await
        }
        if self.behaviour.dies_at == Some(method.as_str()) {
            self.peer().close("died");
        }
        if let Some(answer) = self.behaviour.answers.get(method.as_str()) {
            return Ok(answer.clone());
        }
        match method.as_str() {
            "initialize" => {
                match self.behaviour.ready_after {
                    Some(after) => tokio::time::sleep(after).await,
                    None => std::future::pending().await,
                }
                let at_once = !self.behaviour.offers_late;
                let mut capabilities = json!({
                    "textDocumentSync": 1, "definitionProvider": at_once, "referencesProvider": at_once,
                    "hoverProvider": at_once, "documentSymbolProvider": at_once, "workspaceSymbolProvider": at_once,
                });
                for (method, provider) in PROVIDERS {
                    capabilities[provider] = json!(self.behaviour.answers.contains_key(method));
                }
                if let Some(encoding) = self.behaviour.encoding {
                    capabilities["positionEncoding"] = json!(encoding);
                }
                if self.behaviour.pulls_after.is_some() && !self.behaviour.registers_late {
                    capabilities["diagnosticProvider"] = json!({ "identifier": "fake" });
                }
                Ok(json!({ "capabilities": capabilities }))
            }
            "textDocument/diagnostic" => {
                let after = self.behaviour.pulls_after.unwrap_or_default();
                tokio::time::sleep(after).await;
                let texts = self.texts.lock().unwrap();
                let text = texts.get(&uri).map(|(_, text)| text.clone()).unwrap_or_default();
                Ok(json!({ "kind": "full", "items": diagnostics(&text) }))
            }
            "textDocument/definition" => Ok(json!([{
                "uri": uri,
                "range": { "start": { "line": 0, "character": 4 }, "end": { "line": 0, "character": 5 } },
            }])),
            "textDocument/references" | "textDocument/documentSymbol" | "workspace/symbol" => Ok(json!([])),
            "textDocument/hover" => Ok(json!({ "contents": "a fake" })),
            "shutdown" => Ok(Value::Null),
            _ => Err(ResponseError::method_not_found(&method)),
        }
    }

    async fn notification(&self, method: String, params: Value) {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = uri.rsplit('/').next().unwrap_or_default().to_owned();
        match method.as_str() {
            "textDocument/didOpen" => {
                self.see(format!("didOpen {name}"));
                let text = params.pointer("/textDocument/text").and_then(Value::as_str).unwrap_or_default();
                self.changed(&uri, 1, if self.behaviour.opens_as_clean { "" } else { text });
            }
            "textDocument/didChange" => {
                let version = params.pointer("/textDocument/version").and_then(Value::as_i64).unwrap_or(0);
                self.see(format!("didChange {name} {version}"));
                let text = params.pointer("/contentChanges/0/text").and_then(Value::as_str);
                self.changed(&uri, i32::try_from(version).unwrap(), text.unwrap_or_default());
            }
            "initialized" => {
                let peer = self.peer();
                if self.behaviour.registers_late {
                    let peer = peer.clone();
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        let registrations = json!({ "registrations": [{
                            "id": "1", "method": "textDocument/diagnostic",
                            "registerOptions": { "identifier": "late" },
                        }] });
                        // Repeated, as real ones do.
                        for _ in 0..2 {
                            peer.request("client/registerCapability", &registrations).await.unwrap();
                        }
                    });
                }
                if self.behaviour.offers_late {
                    let peer = peer.clone();
                    tokio::spawn(async move {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        let registrations = json!({ "registrations": [
                            { "id": "d", "method": "textDocument/definition" },
                            { "id": "w", "method": "workspace/symbol" },
                            { "id": "?", "method": "textDocument/nonsense" },
                        ] });
                        peer.request("client/registerCapability", &registrations).await.unwrap();
                    });
                }
                if let Some(loads) = self.behaviour.loads_for {
                    let progress = |kind: &str| json!({ "token": "load", "value": { "kind": kind, "title": "Indexing" } });
                    peer.notify("$/progress", progress("begin")).await.unwrap();
                    let end = progress("end");
                    tokio::spawn(async move {
                        tokio::time::sleep(loads).await;
                        peer.notify("$/progress", end).await.ok();
                    });
                }
            }
            "workspace/didChangeWatchedFiles" => {
                self.watched_messages.lock().unwrap().push(self.id.clone());
                let changes = params.get("changes").and_then(Value::as_array).into_iter().flatten();
                for change in changes {
                    let uri = change.get("uri").and_then(Value::as_str).unwrap_or_default();
                    let kind = change.get("type").and_then(Value::as_u64).unwrap_or(0);
                    self.see(format!("watched {} {kind}", uri.rsplit('/').next().unwrap_or_default()));
                }
            }
            "textDocument/didSave" => self.see(format!("didSave {name}")),
            "textDocument/didClose" => {
                self.see(format!("didClose {name}"));
                self.texts.lock().unwrap().remove(&uri);
            }
            "exit" => {
                self.see("exit".to_owned());
                self.peer().close("told to exit");
            }
            _ => {}
        }
    }
}

/// A workspace with an orchestrator over fakes: `alpha` and `beta` both know `.foo`, `gamma` knows `.bar`.
pub(crate) struct Rehearsal {
    pub(crate) project: Project,
    pub(crate) fakes: Arc<Fakes>,
    pub(crate) orchestrator: Arc<Orchestrator>,
}

impl Rehearsal {
    pub(crate) fn new(fixture: &str, servers: &[(&str, Behaviour)]) -> Self {
        Self::with_config(fixture, servers, json!({}))
    }

    /// `config` is laid over the three fakes.
    pub(crate) fn with_config(fixture: &str, servers: &[(&str, Behaviour)], config: Value) -> Self {
        let project = Project::new(fixture);
        let fakes = Arc::new(Fakes::default());
        for (id, behaviour) in servers {
            fakes.set(id, behaviour.clone());
        }
        let mut all = json!({
            "alpha": { "command": "alpha", "extensions": [".foo"], "rootMarkers": ["foo.toml"] },
            "beta": { "command": "beta", "extensions": [".foo"], "rootMarkers": ["foo.toml"] },
            "gamma": { "command": "gamma", "extensions": [".bar"] },
        });
        for (id, settings) in config.get("servers").and_then(Value::as_object).into_iter().flatten() {
            for (key, value) in settings.as_object().into_iter().flatten() {
                all[id][key] = value.clone();
            }
        }
        let mut config = config;
        config["servers"] = all;
        let config: LspConfig = serde_json::from_value(config).unwrap();
        let root = CanonicalRoot::open(project.root()).unwrap();
        let orchestrator = Orchestrator::new(root, config, fakes.clone());
        Self { project, fakes, orchestrator }
    }

    /// Checks a file and returns its diagnostics as lines.
    pub(crate) async fn check(&self, file: &str) -> Vec<String> {
        let path = self.project.path(file).to_string_lossy().into_owned();
        self.orchestrator.check_file(&path, None).await.iter().map(crate::render::line).collect()
    }

    /// Writes a file and checks it.
    pub(crate) async fn write(&self, file: &str, text: &str) -> Vec<String> {
        self.project.write(file, text);
        self.check(file).await
    }

    /// The status words of one server.
    pub(crate) fn status(&self, id: &str) -> Vec<ServerState> {
        self.orchestrator.status().into_iter().filter(|row| row.id == id).map(|row| row.status).collect()
    }
}
