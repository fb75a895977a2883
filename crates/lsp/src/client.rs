//! One running language server for one project root: the connection, the open files, and what it said.
//!
//! Writes (open, change, save) go one after the other; reads are sent after the writes before them. The server's
//! half of the conversation is in `handler`, the decision when its answer is complete in `freshness`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chartroom_transport::{Child, Framing, Peer, PeerOptions, RpcError, connect};
use chartroom_workspace::CanonicalRoot;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::disk_changes::DiskChanges;
use crate::launch::{Found, Launched};
use crate::registry::{Quirks, Server};

mod collect;
mod documents;
pub(crate) mod freshness;
mod handler;
mod initialize;
mod pull;
pub(crate) mod state;
pub(crate) mod wire;

pub(crate) use initialize::Capabilities;

use state::State;

/// No single answer is waited for longer than this, whoever asks; it bounds what a silent server can pile up.
pub(crate) const ANSWER_LIMIT: Duration = Duration::from_secs(60);
/// A server that has not shaken hands by then never will.
const INITIALIZE_LIMIT: Duration = Duration::from_secs(120);
/// How long a server may take to end by itself.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// How long it may take to act on `exit`.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// A single message of a language server; the rest of a longer one is skipped.
const MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// A started server. Dropping the last handle ends its processes.
pub(crate) struct Client {
    pub(crate) server: Arc<Server>,
    /// The project's root, inside the workspace.
    pub(crate) root: PathBuf,
    /// The workspace, of which alone files are read.
    workspace: CanonicalRoot,
    pub(crate) quirks: Quirks,
    pub(crate) capabilities: Capabilities,
    pub(crate) started: Instant,
    peer: Peer,
    state: Arc<Mutex<State>>,
    events: watch::Sender<u64>,
    /// Held while writing; a read takes it for a moment, which puts it after the writes before it.
    writing: tokio::sync::Mutex<()>,
    disk_changes: Mutex<DiskChanges>,
    last_used: Mutex<Instant>,
    child: Mutex<Option<Child>>,
}

impl Client {
    /// Shakes hands with a launched server. The error says in one sentence what went wrong.
    pub(crate) async fn start(
        launched: Launched,
        server: Arc<Server>,
        found: &Found,
        root: PathBuf,
        workspace: CanonicalRoot,
    ) -> Result<Arc<Self>, String> {
        let Launched { read, write, child } = launched;
        let quirks = found.quirks;
        let state = Arc::new(Mutex::new(State::new(quirks.tells_when_loaded)));
        let events = watch::Sender::new(0);
        let settings = server.settings(&root);
        let handler = handler::FromServer {
            state: state.clone(),
            events: events.clone(),
            settings: settings.clone(),
            root: root.clone(),
            quirks,
        };
        let mut options = PeerOptions::new(server.id.clone(), Framing::ContentLength);
        options.max_message = MAX_MESSAGE;
        let peer = connect(read, write, options, handler);
        let params = initialize::params(&root, server.initialization_options(&root));
        let answer = peer.request_timeout("initialize", params, INITIALIZE_LIMIT).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(why_not(&server.id, child, &error).await),
        };
        let greeted = async {
            peer.notify("initialized", json!({})).await?;
            peer.notify("workspace/didChangeConfiguration", json!({ "settings": settings })).await
        };
        if let Err(error) = greeted.await {
            return Err(why_not(&server.id, child, &error).await);
        }
        let now = Instant::now();
        Ok(Arc::new(Self {
            capabilities: Capabilities::read(&answer),
            quirks,
            server,
            root,
            workspace,
            started: now,
            peer,
            state,
            events,
            writing: tokio::sync::Mutex::default(),
            disk_changes: Mutex::default(),
            last_used: Mutex::new(now),
            child: Mutex::new(child),
        }))
    }

    /// Returns why the server is gone, or nothing while it lives.
    pub(crate) fn gone(&self) -> Option<String> {
        if !self.peer.is_closed() {
            return None;
        }
        let child = lock(&self.child);
        let exit = child.as_ref().and_then(|child| child.exit_watch().exit());
        let stderr = child.as_ref().map(Child::stderr_tail).unwrap_or_default();
        let how = exit.map_or_else(|| "closed its connection".to_owned(), |exit| exit.to_string());
        Some(sentence(&self.server.id, &how, &stderr))
    }

    /// Waits until the server is gone.
    pub(crate) async fn closed(&self) {
        self.peer.closed().await;
    }

    /// The server's process, when it is one.
    pub(crate) fn pid(&self) -> Option<u32> {
        lock(&self.child).as_ref().and_then(Child::pid)
    }

    pub(crate) fn last_used(&self) -> Instant {
        *lock(&self.last_used)
    }

    /// Puts the idle clock back.
    pub(crate) fn use_now(&self) {
        *lock(&self.last_used) = Instant::now();
    }

    /// Returns what the server says it is doing, and whether its last check was in time.
    pub(crate) fn activity(&self) -> (Option<String>, bool) {
        let state = self.state();
        (state.activity(), state.timed_out)
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
        self.use_now();
        let asked = async {
            drop(self.writing.lock().await);
            self.peer.request_timeout(method, params, ANSWER_LIMIT).await
        };
        match tokio::time::timeout_at(deadline, asked).await {
            Ok(answer) => answer,
            Err(_elapsed) => Err(RpcError::Timeout {
                label: self.server.id.clone(),
                method: method.to_owned(),
                after: Duration::ZERO,
            }),
        }
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

    /// Files that are open in the server, by path.
    pub(crate) fn open_files(&self) -> Vec<PathBuf> {
        self.state().open.keys().cloned().collect()
    }

    /// Waits until the server has loaded the project; false when it has not by the deadline.
    pub(crate) async fn loaded(&self, deadline: Instant) -> bool {
        let mut events = self.events.subscribe();
        loop {
            events.borrow_and_update();
            if !self.is_loading() || self.peer.is_closed() {
                return true;
            }
            match tokio::time::timeout_at(deadline, events.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return false,
            }
        }
    }

    pub(crate) fn is_open(&self, file: &Path) -> bool {
        self.state().open.contains_key(file)
    }

    /// Ends the server: asks, then ends its processes.
    pub(crate) async fn stop(&self) {
        if !self.peer.is_closed() {
            let asked = async {
                self.peer.request_timeout("shutdown", Value::Null, SHUTDOWN_GRACE).await?;
                self.peer.notify("exit", Value::Null).await
            };
            if let Err(error) = asked.await {
                tracing::debug!(server = self.server.id, %error, "the server does not shut down by itself");
            }
        }
        // After `exit` most end at once; the rest get their signals.
        drop(tokio::time::timeout(EXIT_GRACE, self.peer.closed()).await);
        let child = lock(&self.child).take();
        if let Some(child) = child
            && tokio::time::timeout(EXIT_GRACE, child.wait()).await.is_err()
        {
            child.end(SHUTDOWN_GRACE).await;
        }
        self.peer.close("it was stopped");
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// What a poisoned lock guards is still whole: nothing panics between its changes.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
