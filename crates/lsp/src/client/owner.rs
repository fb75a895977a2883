//! The task that owns what is known of one language server: open files, findings, the process. Others hold a [`Client`].
//!
//! Everything that can happen to it is one of [`Command`] and [`Event`]. It never waits: what goes out to the server is
//! sent beside it, one write after the other, so that a server that does not read cannot keep it from taking in what
//! that server says. Only this task holds the sender of the state; handles can read it and nothing else.
//!
//! [`Client`]: super::Client

use std::collections::VecDeque;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chartroom_transport::{Child, Peer, RpcError};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::watch::Subscription;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::documents::Notifications;
use super::freshness::Touch;
use super::initialize::Question;
use super::state::State;
use super::watched::FileWatcher;
use super::wire::Finding;
use crate::disk_changes::DiskChanges;
use crate::registry::{Quirks, Server};

/// How long a server may take to end by itself.
pub(super) const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);
/// How long it may take to act on `exit`.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// What the handles ask of the owner.
pub(super) enum Command {
    Write(Write),
    /// The answer to a pull; without a version it is for the text that is open. Replies whether the server still loads.
    Pulled {
        file: PathBuf,
        version: Option<i32>,
        findings: Vec<Finding>,
        reply: oneshot::Sender<bool>,
    },
    /// A collection is complete. Replies whether its "clean" should be asked for once more.
    Settled {
        is_clean: bool,
        reply: oneshot::Sender<bool>,
    },
    /// A collection has ended, in time or not.
    Concluded {
        in_time: bool,
        reply: oneshot::Sender<()>,
    },
    /// Ends the server: asks, then ends its processes.
    Stop {
        reply: oneshot::Sender<()>,
    },
}

/// What goes to the server, one after the other, and to whom it is told.
pub(super) struct Write {
    pub(super) what: WriteKind,
    /// The touches that the write was. Who does not wait any more when its turn comes is passed over.
    pub(super) reply: oneshot::Sender<Result<Vec<Touch>, RpcError>>,
}

pub(super) enum WriteKind {
    /// The texts of files and their saves, after what others did to other files on the disk. One write, so that two checks
    /// of one file at once are sent in the order in which they were asked for.
    Touch { files: Vec<(PathBuf, Arc<str>)> },
    /// A file as it is on the disk.
    OpenFromDisk { file: PathBuf },
    /// The same text once more, as two changes.
    SendAnew { touch: Touch },
    /// What others did on the disk since the last look.
    DiskChanges,
    /// Files that a tool of ours removed.
    Removed { files: Vec<PathBuf> },
    /// Nothing: a read that waits for the writes before it.
    Nothing,
}

/// What the server says by itself.
pub(super) enum Event {
    Published {
        file: PathBuf,
        version: Option<i32>,
        findings: Vec<Finding>,
        at: Instant,
    },
    Progress {
        params: Value,
        at: Instant,
    },
    /// Whether it is ready and well, of a server that tells.
    Status {
        params: Value,
        at: Instant,
    },
    /// What it shows or logs.
    Message {
        params: Value,
        at: Instant,
    },
    Refresh,
    Registered {
        id: String,
        identifier: Option<String>,
    },
    /// It answers this from now on.
    Offered {
        id: String,
        question: Question,
    },
    /// It wants to hear of changes to these files.
    Watches {
        id: String,
        watchers: Vec<FileWatcher>,
    },
    Unregistered {
        id: String,
    },
}

/// The owner's own parts.
pub(super) struct Owner {
    pub(super) server: Arc<Server>,
    /// The project's root.
    pub(super) root: PathBuf,
    /// The workspace, of which alone files are read.
    pub(super) workspace: CanonicalRoot,
    pub(super) quirks: Quirks,
    pub(super) state: watch::Sender<State>,
    /// Files that the server was sent, as they were then.
    pub(super) disk_changes: DiskChanges,
    /// What others did to any file of the workspace, as far as it has been swept up.
    pub(super) outside: Subscription,
    pub(super) peer: Peer,
    pub(super) child: Option<Child>,
}

/// A write that is on its way.
struct Sending {
    sent: Pin<Box<dyn Future<Output = Result<(), RpcError>> + Send>>,
    touches: Vec<Touch>,
    reply: oneshot::Sender<Result<Vec<Touch>, RpcError>>,
}

impl Owner {
    /// Runs until the last handle is dropped or the server is stopped; dropping the child ends its processes.
    pub(super) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        mut events: mpsc::Receiver<Event>,
    ) {
        let mut waiting: VecDeque<Write> = VecDeque::new();
        let mut sending: Option<Sending> = None;
        let mut talks = true;
        let stopped_by = loop {
            if sending.is_none() {
                sending = self.next_write(&mut waiting);
            }
            tokio::select! {
                biased;
                event = events.recv(), if talks => match event {
                    Some(event) => self.event(event),
                    None => talks = false,
                },
                command = commands.recv() => match command {
                    Some(Command::Write(write)) => waiting.push_back(write),
                    Some(Command::Stop { reply }) => break Some(reply),
                    Some(command) => self.command(command),
                    None => break None,
                },
                sent = sent(&mut sending) => {
                    if let Some(Sending { touches, reply, .. }) = sending.take() {
                        // Who asked may have given up; the server has it all the same.
                        reply.send(sent.map(|()| touches)).ok();
                    }
                }
            }
        };
        if let Some(reply) = stopped_by {
            drop((commands, sending, waiting));
            self.stop(events).await;
            reply.send(()).ok();
        }
    }

    /// Starts the next write that somebody waits for; nothing when there is none.
    fn next_write(&mut self, waiting: &mut VecDeque<Write>) -> Option<Sending> {
        loop {
            let Write { what, reply } = waiting.pop_front()?;
            if reply.is_closed() {
                continue;
            }
            let (notifications, touches) = self.plan(what);
            let peer = self.peer.clone();
            return Some(Sending { sent: Box::pin(send(peer, notifications)), touches, reply });
        }
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Pulled { file, version, findings, reply } => {
                let mut is_loading = false;
                self.state.send_modify(|state| {
                    let open = state.open.get(&file).map_or(0, |open| open.version);
                    state.pulled(&file, version.unwrap_or(open), findings);
                    is_loading = state.is_loading();
                });
                // The same for all: who asked may have given up.
                reply.send(is_loading).ok();
            }
            Command::Settled { is_clean, reply } => {
                let mut doubts = false;
                self.change_quietly(|state, quirks| {
                    let is_doubted =
                        quirks.doubt_every_clean || (quirks.doubt_first_clean && !state.is_believed);
                    doubts = is_doubted && is_clean;
                    state.is_believed = true;
                });
                reply.send(doubts).ok();
            }
            Command::Concluded { in_time, reply } => {
                self.change_quietly(|state, _| state.timed_out = !in_time);
                reply.send(()).ok();
            }
            // The loop has taken these.
            Command::Write(_) | Command::Stop { .. } => {}
        }
    }

    /// Takes in what the server says.
    pub(super) fn event(&mut self, event: Event) {
        let check = self.quirks.check_on_save;
        let markers = &self.server.markers;
        let has_versions = self.quirks.wants_to_be_forced;
        self.state.send_modify(|state| match event {
            // It takes back what it said of a file that was closed, and is open again.
            Event::Published { file, version: None, .. }
                if has_versions && state.open.contains_key(&file) => {}
            Event::Published { file, version, findings, at } => {
                if !state.publish(file, version, findings, at) {
                    tracing::debug!(version, "an old push was dropped");
                }
            }
            Event::Progress { params, at } => state.progress(&params, check, at),
            Event::Status { params, at } => {
                let quiescent = params.get("quiescent").and_then(Value::as_bool).unwrap_or(true);
                state.not_quiescent = !quiescent;
                state.said.health(&params, at);
            }
            Event::Message { params, at } => state.said.message(&params, markers, at),
            Event::Refresh => state.n_refreshes += 1,
            Event::Registered { id, identifier } => state.register(id, identifier),
            Event::Offered { id, question } => state.offer(id, question),
            Event::Watches { id, watchers } => state.watch(id, watchers),
            Event::Unregistered { id } => state.unregister(&id),
        });
    }

    /// Changes the state without waking the collections that wait for the server.
    pub(super) fn change_quietly(&mut self, change: impl FnOnce(&mut State, Quirks)) {
        let quirks = self.quirks;
        self.state.send_if_modified(|state| {
            change(state, quirks);
            false
        });
    }

    async fn stop(self, mut events: mpsc::Receiver<Event>) {
        let Self { server, peer, child, .. } = self;
        let stop = async {
            if !peer.is_closed() {
                let asked = async {
                    peer.request_timeout("shutdown", Value::Null, SHUTDOWN_GRACE).await?;
                    peer.notify("exit", Value::Null).await
                };
                if let Err(error) = asked.await {
                    tracing::debug!(server = server.id, %error, "the server does not shut down by itself");
                }
            }
            // After `exit` most end at once; the rest get their signals.
            drop(tokio::time::timeout(EXIT_GRACE, peer.closed()).await);
            if let Some(child) = child
                && tokio::time::timeout(EXIT_GRACE, child.wait()).await.is_err()
            {
                child.end(SHUTDOWN_GRACE).await;
            }
            peer.close("it was stopped");
        };
        // What it still says is taken off the pipe, so that its answer to `shutdown` gets through.
        let drain = async { while events.recv().await.is_some() {} };
        tokio::pin!(stop);
        tokio::select! {
            () = &mut stop => {}
            () = drain => stop.await,
        }
    }
}

async fn send(peer: Peer, notifications: Notifications) -> Result<(), RpcError> {
    for (method, params) in notifications {
        peer.notify(method, params).await?;
    }
    Ok(())
}

/// Waits for the write that is on its way, or for ever when there is none.
async fn sent(sending: &mut Option<Sending>) -> Result<(), RpcError> {
    match sending {
        Some(sending) => (&mut sending.sent).await,
        None => std::future::pending().await,
    }
}
