//! How a handle reaches its service: its own process here, or through the process that hosts it.
//!
//! The first user of a root takes its place and hosts; later ones, in whatever process, go through it. When a host
//! ends, its service ends with it, so that no process is left that nobody watches, and the next question of a guest
//! finds a new host, which is the guest itself if nobody is faster. What was asked of the old host is asked again:
//! every question can be, none of them changes a file.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use chartroom_protocol::lsp::Bootstrap;
use chartroom_protocol::tool::ToolAnswer;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::connection::Connection;
use super::host::Host;
use super::place::Place;
use super::remote::{ConnectError, RemoteService, RequestError};
use super::{LspHandle, ServiceOptions};
use crate::render;
use chartroom_workspace::CanonicalRoot;

/// How long the place may be taken by someone who lets nobody in: a host that is just ending takes a while.
const ELECTION_LIMIT: Duration = Duration::from_secs(20);
/// How often a socket that is not there is tried again. No signal says that another process has opened it.
const RETRY_INTERVAL: Duration = Duration::from_millis(20);

/// What all handles of one root in this process share.
pub(super) struct Shared {
    pub(super) root: CanonicalRoot,
    pub(super) options: Arc<ServiceOptions>,
    pub(super) state: watch::Sender<State>,
    /// The last edit waited for it in vain.
    pub(super) hangs: AtomicBool,
    /// Held while the service starts, so that it starts once.
    starting: tokio::sync::Mutex<()>,
    /// While this process hosts the service, dead or alive: guests are told of a death instead of starting anew.
    host: std::sync::Mutex<Option<Host>>,
}

/// Dead is for good: only an explicit restart by the user begins anew.
#[derive(Clone)]
pub(super) enum State {
    NeverStarted,
    Linked(Link),
    Dead(String),
}

/// The way to a service.
#[derive(Clone)]
pub(super) enum Link {
    Own(Arc<Connection>),
    Remote(Arc<RemoteService>),
}

/// Which process runs the service.
enum Owner {
    ThisProcess,
    OtherProcess(RemoteService),
    /// There is a host that cannot be used; the reason is for people.
    Unreachable(String),
}

impl Link {
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Link::Own(connection) => connection.is_closed(),
            Link::Remote(remote) => remote.is_closed(),
        }
    }

    /// Returns why there is no service at the other end, or nothing when there is one.
    pub(super) fn unavailable(&self) -> Option<String> {
        match self {
            Link::Own(connection) => connection.why_closed().map(|reason| render::unavailable(&reason)),
            Link::Remote(remote) => remote.refusal(),
        }
    }

    pub(super) async fn ask(
        &self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, RequestError> {
        match self {
            Link::Own(connection) => {
                connection.ask(method, params, patience).await.map_err(RequestError::Failed)
            }
            Link::Remote(remote) => remote.ask(method, params, patience).await,
        }
    }

    pub(super) async fn call_tool(
        &self,
        name: &str,
        arguments: &Value,
        patience: Duration,
    ) -> Result<ToolAnswer, RequestError> {
        match self {
            Link::Own(connection) => Ok(connection.call_tool(name, arguments.clone(), patience).await),
            Link::Remote(remote) => remote.call_tool(name, arguments, patience).await,
        }
    }
}

impl Shared {
    pub(super) fn new(root: CanonicalRoot, options: Arc<ServiceOptions>) -> Self {
        Self {
            root,
            options,
            state: watch::Sender::new(State::NeverStarted),
            hangs: AtomicBool::new(false),
            starting: tokio::sync::Mutex::default(),
            host: std::sync::Mutex::default(),
        }
    }

    fn host(&self) -> MutexGuard<'_, Option<Host>> {
        self.host.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LspHandle {
    /// Returns the way to the service, starting it if it never was; nothing when it is dead or off.
    pub(super) async fn link(&self) -> Option<Link> {
        let config = self.config()?;
        let _turn = self.shared.starting.lock().await;
        if let State::Linked(link) = &*self.shared.state.borrow()
            && !link.is_closed()
        {
            return Some(link.clone());
        }
        if !self.is_start_due().await {
            return None;
        }
        let linked = match self.find_owner().await {
            Owner::OtherProcess(remote) => Ok(Link::Remote(Arc::new(remote))),
            Owner::Unreachable(reason) => Err(reason),
            Owner::ThisProcess => {
                let bootstrap = Bootstrap {
                    workspace_root: self.shared.root.to_string(),
                    config: config.clone(),
                    data_dir: Some(self.shared.options.data_dir.to_string_lossy().into_owned()),
                };
                let started = Connection::start(&self.shared.options, &self.shared.root, &bootstrap).await;
                started.map(|connection| Link::Own(Arc::new(connection)))
            }
        };
        match linked {
            Ok(link) => {
                self.shared.state.send_replace(State::Linked(link.clone()));
                Some(link)
            }
            Err(reason) => {
                tracing::debug!(root = %self.shared.root, reason, "the language service did not start");
                self.shared.state.send_replace(State::Dead(reason));
                None
            }
        }
    }

    /// Makes the death of our own service one for good; a host that left is only looked for again.
    async fn is_start_due(&self) -> bool {
        let connection = match &*self.shared.state.borrow() {
            State::NeverStarted | State::Linked(Link::Remote(_)) => return true,
            State::Dead(_) => return false,
            State::Linked(Link::Own(connection)) => connection.clone(),
        };
        let reason = connection.how_it_ended().await;
        tracing::debug!(root = %self.shared.root, reason, "the language service died");
        self.shared.state.send_replace(State::Dead(reason));
        false
    }

    /// Takes the place of the host, or finds the one who has it.
    async fn find_owner(&self) -> Owner {
        let Some(config) = self.config() else { return Owner::ThisProcess };
        if self.shared.host().is_some() {
            return Owner::ThisProcess;
        }
        let place = Place::new(&self.shared.options.data_dir, &self.shared.root, config);
        let limit = Instant::now() + ELECTION_LIMIT;
        loop {
            // Taking it takes a few system calls, whether it works or not.
            let taken = place.take().and_then(|taken| match taken {
                Some(taken) => taken.listen().map(|listener| Some((taken, listener))),
                None => Ok(None),
            });
            match taken {
                Ok(Some((taken, listener))) => {
                    let host = Host::open(taken, listener, Arc::downgrade(&self.shared));
                    *self.shared.host() = Some(host);
                    return Owner::ThisProcess;
                }
                Err(error) => {
                    // A service of our own does as well: a path that is too long for a socket, a full disk.
                    tracing::debug!(root = %self.shared.root, %error, "the language service cannot be shared");
                    return Owner::ThisProcess;
                }
                Ok(None) => {}
            }
            if let Ok(stream) = place.connect().await {
                match RemoteService::connect(stream, &self.shared.root).await {
                    Ok(remote) => return Owner::OtherProcess(remote),
                    Err(ConnectError::Silent(reason)) => return Owner::Unreachable(reason),
                    Err(ConnectError::Ending) => {}
                }
            }
            if Instant::now() >= limit {
                let limit = ELECTION_LIMIT.as_secs();
                return Owner::Unreachable(format!("the process that hosts it let nobody in for {limit} s"));
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }

    /// Leaves the service, or ends it when it is ours: guests are sent to look for another host first, and the place
    /// is given up last, so that the next service starts when this one is gone. It is dead for this process then.
    pub async fn shutdown(&self) {
        let state = self.shared.state.send_replace(State::Dead("it was shut down".to_owned()));
        let host = self.shared.host().take();
        if let Some(host) = &host {
            host.stop_listening();
        }
        match state {
            State::Linked(Link::Own(connection)) => connection.shutdown().await,
            State::Linked(Link::Remote(remote)) => remote.close(),
            State::NeverStarted | State::Dead(_) => {}
        }
        drop(host);
    }
}
