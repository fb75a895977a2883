//! One running language server for one project root, as everybody but its owner sees it: a handle.
//!
//! `owner` is the task that owns what is known of the server. Writes (open, change, save) go one after the other; reads
//! are sent after the writes before them. The server's half of the conversation is in `handler`, the decision when its
//! answer is complete in `freshness`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::{Child, ExitWatch, Framing, Peer, PeerOptions, RpcError, connect};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::watch::Subscription;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::disk_changes::DiskChanges;
use crate::launch::{Found, Launched};
use crate::registry::{Quirks, Server};

mod collect;
mod documents;
pub(crate) mod freshness;
mod handler;
mod initialize;
mod owner;
mod pull;
pub(crate) use pull::is_overtaken;
mod said;
pub(crate) mod state;
mod table;
mod unseen;
mod watched;
pub(crate) mod wire;

pub(crate) use collect::Collected;
pub(crate) use initialize::{Capabilities, Question};

use freshness::Touch;
use owner::{Command, Owner, SHUTDOWN_GRACE, Write, WriteKind};
use state::State;
use wire::Finding;

/// No single answer is waited for longer than this, whoever asks; it bounds what a silent server can pile up.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// A server that has not shaken hands by then never will.
const INITIALIZE_LIMIT: Duration = Duration::from_secs(120);
/// How long after its start a server may take to register what it answers.
const REGISTRATION_LIMIT: Duration = Duration::from_secs(2);
/// How long after its start a server may take to begin its index.
const INDEX_BEGINS: Duration = Duration::from_secs(2);
/// What the handles ask. The owner never waits, so that a full queue is one that it is just emptying.
const COMMANDS: usize = 64;
/// What the server says. When it is full, the next message stays in the pipe until the owner has caught up.
const EVENTS: usize = 32;
/// Messages that are parsed and wait to be looked at. Few, because each may be as large as one may be; nobody waits while
/// they are looked at, so that a full queue only leaves the next one in the pipe.
const NOTIFICATIONS: usize = 8;
/// A single message of a language server; the rest of a longer one is skipped.
const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// A handle to a started server. Dropping the last one ends its owner, and with it the processes.
pub(crate) struct Client {
    pub(crate) server: Arc<Server>,
    /// The project's root, inside the workspace.
    pub(crate) root: PathBuf,
    pub(crate) quirks: Quirks,
    pub(crate) capabilities: Capabilities,
    pub(crate) started: Instant,
    peer: Peer,
    /// Read only: the owner has the one sender. It changes with everything that the server says.
    state: watch::Receiver<State>,
    commands: mpsc::Sender<Command>,
    exit: Option<ExitWatch>,
}

impl Client {
    /// Shakes hands with a launched server. The error says in one sentence what went wrong.
    pub(crate) async fn start(
        launched: Launched,
        server: Arc<Server>,
        found: &Found,
        root: PathBuf,
        workspace: CanonicalRoot,
        outside: Subscription,
    ) -> Result<Arc<Self>, String> {
        let Launched { read, write, child } = launched;
        let quirks = found.quirks;
        let (state, read_state) = watch::channel(State::new(quirks));
        let (events, mut from_server) = mpsc::channel(EVENTS);
        let settings = server.settings(&root);
        let handler = handler::FromServer { events, settings: settings.clone(), root: root.clone(), quirks };
        let mut options = PeerOptions::new(server.id.clone(), Framing::ContentLength);
        options.max_message = MAX_MESSAGE;
        options.notification_capacity = NOTIFICATIONS;
        let peer = connect(read, write, options, handler);
        let params = initialize::params(&root, server.initialization_options(&root, &found.program));
        let mut owner = Owner {
            server: server.clone(),
            root: root.clone(),
            disk_changes: DiskChanges::new(workspace.clone()),
            outside,
            workspace,
            quirks,
            state,
            peer: peer.clone(),
            child: None,
        };
        let answer = {
            let initialize = peer.request_timeout("initialize", params, INITIALIZE_LIMIT);
            tokio::pin!(initialize);
            loop {
                tokio::select! {
                    biased;
                    // Some talk before they answer, and all of it must be off the pipe for the answer to come through.
                    Some(event) = from_server.recv() => owner.event(event),
                    answer = &mut initialize => break answer,
                }
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(why_not(&server.id, child, &error).await),
        };
        let greeted = async {
            peer.notify("initialized", json!({})).await?;
            if quirks.asks_for_settings {
                return Ok(());
            }
            peer.notify("workspace/didChangeConfiguration", json!({ "settings": settings })).await
        };
        if let Err(error) = greeted.await {
            return Err(why_not(&server.id, child, &error).await);
        }
        if let Some(child) = &child {
            // Its id comes through another pipe than its answer, maybe later. One that has ended meanwhile is gone, and told so.
            child.started().await.ok();
        }
        let exit = child.as_ref().map(Child::exit_watch);
        let (commands, asked) = mpsc::channel(COMMANDS);
        owner.child = child;
        tokio::spawn(owner.run(asked, from_server));
        Ok(Arc::new(Self {
            capabilities: Capabilities::read(&answer),
            quirks,
            server,
            root,
            started: Instant::now(),
            peer,
            state: read_state,
            commands,
            exit,
        }))
    }

    /// Returns why the server is gone, or nothing while it lives.
    pub(crate) fn gone(&self) -> Option<String> {
        if !self.peer.is_closed() {
            return None;
        }
        let exit = self.exit.as_ref().and_then(ExitWatch::exit);
        let stderr = self.exit.as_ref().map(ExitWatch::stderr_tail).unwrap_or_default();
        let how = exit.map_or_else(|| "closed its connection".to_owned(), |exit| exit.to_string());
        Some(sentence(&self.server.id, &how, &stderr))
    }

    /// Waits until the server is gone.
    pub(crate) async fn closed(&self) {
        self.peer.closed().await;
    }

    /// The server's process, when it is one.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.exit.as_ref().and_then(ExitWatch::pid)
    }

    /// When somebody last touched a file or asked something.
    pub(crate) fn last_used(&self) -> Instant {
        self.state().last_used.unwrap_or(self.started)
    }

    /// Sends the texts of files and their saves, after every write before and after what others did on the disk. Returns a
    /// touch for each, in their order.
    pub(crate) async fn touch(&self, files: Vec<(PathBuf, Arc<str>)>) -> Result<Vec<Touch>, RpcError> {
        self.write(WriteKind::Touch { files }).await
    }

    /// Opens a file as it is on the disk, unless it is open; nothing when it cannot be read as text.
    pub(crate) async fn open_from_disk(&self, file: &Path) -> Result<Option<Touch>, RpcError> {
        Ok(self.write(WriteKind::OpenFromDisk { file: file.to_owned() }).await?.pop())
    }

    /// Tells the server what was done on the disk by others since the last look.
    pub(crate) async fn send_disk_changes(&self) -> Result<(), RpcError> {
        self.write(WriteKind::DiskChanges).await.map(drop)
    }

    /// Tells the server that a tool of ours removed files.
    pub(crate) async fn removed(&self, files: &[PathBuf]) -> Result<(), RpcError> {
        self.write(WriteKind::Removed { files: files.to_vec() }).await.map(drop)
    }

    /// Sends a file's text once more; nothing when it was changed or closed meanwhile.
    async fn send_anew(&self, touch: &Touch) -> Result<Option<Touch>, RpcError> {
        Ok(self.write(WriteKind::SendAnew { touch: touch.clone() }).await?.pop())
    }

    /// Has the owner take in the answer to a pull; returns whether the server still loads, nothing once it is gone.
    async fn pulled(&self, file: PathBuf, version: Option<i32>, findings: Vec<Finding>) -> Option<bool> {
        self.tell(|reply| Command::Pulled { file, version, findings, reply }).await
    }

    /// Returns what the server says it is doing, and whether its last check was in time.
    pub(crate) fn activity(&self) -> (Option<String>, bool) {
        let state = self.state();
        (state.activity(), state.timed_out)
    }

    /// Returns why the server cannot load the project, in its own words, if it said so.
    pub(crate) fn load_error(&self) -> Option<String> {
        let state = self.state();
        state.failed_since()?;
        self.words(&state, None)
    }

    /// Returns what is wrong, in the server's own words; `touch` is what it was asked about.
    pub(crate) fn said(&self) -> Option<String> {
        self.words(&self.state(), None)
    }

    /// The worst first: it cannot load the project, its configuration is wrong, it wrote an error since it was asked.
    fn words(&self, state: &State, touch: Option<&Touch>) -> Option<String> {
        if let Some(error) = state.said.load_error() {
            // rust-analyzer says only that it failed, and writes why.
            let written = self.exit.as_ref().and_then(|exit| said::error_in(&exit.stderr_tail()));
            let detail = written.filter(|_| self.quirks.tells_when_loaded);
            return Some(detail.map_or_else(|| error.to_owned(), |detail| format!("{error} {detail}")));
        }
        let asked = touch.map(|touch| touch.file.as_path());
        let complaint = state.said.complaint().map(str::to_owned);
        let wrong = state.wrong_configuration(&self.root, &self.server.markers, asked);
        let error = touch.and_then(|touch| state.said.error_since(touch.at)).map(str::to_owned);
        wrong.or(complaint).or(error)
    }

    /// Tells whether the server is still at work on something it announced.
    pub(crate) fn is_loading(&self) -> bool {
        self.state().is_loading()
    }

    /// Sends a read after every write before it, and waits for its answer until the deadline.
    pub(crate) async fn ask(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Value, RpcError> {
        let began = Instant::now();
        let asked = async {
            self.write(WriteKind::Nothing).await?;
            self.peer.request_timeout(method, params, ANSWER_LIMIT).await
        };
        match tokio::time::timeout_at(deadline, asked).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(RpcError::Timeout {
                label: self.server.id.clone(),
                method: method.to_owned(),
                after: began.elapsed(),
            }),
        }
    }

    /// Tells whether the server answers this now, whether it said so at once or registered it later.
    pub(crate) fn answers(&self, question: Question) -> bool {
        self.capabilities.questions.contains(&question)
            || self.state().offered.values().any(|offered| *offered == question)
    }

    /// Waits until the server answers this; one that has just started may register it in a moment.
    pub(crate) async fn will_answer(&self, question: Question, deadline: Instant) -> bool {
        let limit = deadline.min(self.started + REGISTRATION_LIMIT);
        let mut events = self.state.clone();
        let offered = async {
            while !self.answers(question) && !self.peer.is_closed() && events.changed().await.is_ok() {}
        };
        // Elapsed or gone, what it answers now counts.
        drop(tokio::time::timeout_at(limit, offered).await);
        self.answers(question)
    }

    /// Files that this server holds findings about; none once it is gone.
    pub(crate) fn known(&self) -> Vec<PathBuf> {
        if self.peer.is_closed() { Vec::new() } else { self.state().known().cloned().collect() }
    }

    /// Everything that is held about a file; nothing once the server is gone.
    pub(crate) fn held(&self, file: &Path) -> Vec<wire::Finding> {
        if self.peer.is_closed() { Vec::new() } else { self.state().held(file) }
    }

    /// The text that the server has of a file.
    pub(crate) fn text(&self, file: &Path) -> Option<Arc<str>> {
        self.state().open.get(file).map(|open| open.text.clone())
    }

    /// The version that the server has of an open file.
    pub(crate) fn version(&self, file: &Path) -> Option<i32> {
        self.state().open.get(file).map(|open| open.version)
    }

    /// Files that are open in the server, by path.
    pub(crate) fn open_files(&self) -> Vec<PathBuf> {
        self.state().open.keys().cloned().collect()
    }

    /// Waits until the server has loaded the project; false when it has not by the deadline.
    pub(crate) async fn loaded(&self, deadline: Instant) -> bool {
        let mut events = self.state.clone();
        loop {
            events.mark_unchanged();
            if !self.is_loading() || self.peer.is_closed() {
                return true;
            }
            match tokio::time::timeout_at(deadline, events.changed()).await {
                Ok(Ok(())) => {}
                // Its owner is gone, and so is it.
                Ok(Err(_)) => return true,
                Err(_elapsed) => return false,
            }
        }
    }

    /// Waits until the server has indexed the project, of one that does; false when it has not by the deadline.
    pub(crate) async fn indexed(&self, deadline: Instant) -> bool {
        let mut events = self.state.clone();
        let begins = self.started + INDEX_BEGINS;
        loop {
            events.mark_unchanged();
            let (is_indexed, has_begun) = {
                let state = self.state();
                (state.is_indexed(), state.has_indexed())
            };
            // A project that it cannot list is never indexed, and nothing says so.
            if is_indexed || self.peer.is_closed() || (!has_begun && Instant::now() >= begins) {
                return true;
            }
            let wake = if has_begun { deadline } else { deadline.min(begins) };
            match tokio::time::timeout_at(wake, events.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return true,
                Err(_elapsed) if Instant::now() >= deadline => return false,
                Err(_elapsed) => {}
            }
        }
    }

    pub(crate) fn is_open(&self, file: &Path) -> bool {
        self.state().open.contains_key(file)
    }

    /// Ends the server: asks, then ends its processes.
    pub(crate) async fn stop(&self) {
        // Who finds its owner gone finds it stopped.
        self.tell(|reply| Command::Stop { reply }).await;
    }

    async fn write(&self, what: WriteKind) -> Result<Vec<Touch>, RpcError> {
        let written = self.tell(|reply| Command::Write(Write { what, reply })).await;
        written.unwrap_or_else(|| Err(self.stopped()))
    }

    /// Sends the owner a command and waits for its reply; nothing once it is gone.
    async fn tell<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.ok()?;
        answer.await.ok()
    }

    fn stopped(&self) -> RpcError {
        RpcError::Closed { label: self.server.id.clone(), reason: "it was stopped".to_owned() }
    }

    /// What is known now. Not to be held over an await: the owner waits for it.
    fn state(&self) -> watch::Ref<'_, State> {
        self.state.borrow()
    }
}

async fn why_not(id: &str, child: Option<Child>, error: &RpcError) -> String {
    let Some(child) = child else { return sentence(id, &format!("did not start: {error}"), "") };
    let how = match error {
        RpcError::Closed { .. } => {
            // Its end is known a moment after its pipe closes.
            match tokio::time::timeout(SHUTDOWN_GRACE, child.wait()).await {
                Ok(exit) => format!("{exit} before it was ready"),
                Err(_elapsed) => "closed its output before it was ready".to_owned(),
            }
        }
        RpcError::Timeout { .. } => {
            format!("did not become ready within {} s", INITIALIZE_LIMIT.as_secs())
        }
        RpcError::Response(_) | RpcError::Params { .. } => format!("refused to start: {error}"),
    };
    let stderr = child.stderr_tail();
    child.end(SHUTDOWN_GRACE).await;
    sentence(id, &how, &stderr)
}

fn sentence(id: &str, how: &str, stderr: &str) -> String {
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty());
    match last {
        Some(last) => format!("{id} {how}: {}", wire::shorten(last)),
        None => format!("{id} {how}"),
    }
}
