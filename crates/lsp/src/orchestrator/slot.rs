//! One server in one project root: starting, running, or broken for good.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chartroom_protocol::lsp::ServerState;
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::watch::Watch;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::client::Client;
use crate::launch::{Absent, Found, Launch};
use crate::metrics::Metrics;
use crate::registry::Server;

/// What tells one running server from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) id: String,
    pub(super) root: PathBuf,
}

/// The one start of a server that all callers share.
pub(super) struct Slot {
    pub(super) key: Key,
    pub(super) server: Arc<Server>,
    pub(super) program: PathBuf,
    state: watch::Receiver<Start>,
    /// Until the first collection has ended, however it ended.
    first_touch: AtomicBool,
    /// Whether the crash of this server has been counted.
    crash_counted: AtomicBool,
    starting: tokio::task::AbortHandle,
    metrics: Arc<Metrics>,
}

#[derive(Clone)]
pub(super) enum Start {
    Starting,
    Ready(Arc<Client>),
    Failed(Absent),
}

/// Why a slot has no client to offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoClient {
    Starting,
    Absent(Absent),
}

impl Slot {
    /// Starts the server in a task, so that the start goes on when its first caller has given up.
    pub(super) fn start(
        key: Key,
        server: Arc<Server>,
        found: Found,
        launch: Arc<dyn Launch>,
        workspace: CanonicalRoot,
        watch: Watch,
        metrics: Arc<Metrics>,
    ) -> Arc<Self> {
        let (sender, state) = watch::channel(Start::Starting);
        let program = found.program.clone();
        let task = {
            let (server, root, metrics) = (server.clone(), key.root.clone(), metrics.clone());
            tokio::spawn(async move {
                let started = start(&*launch, server.clone(), &found, root, workspace, watch).await;
                match &started {
                    Start::Failed(absent) => metrics.start_failed(&server.id, &absent.reason),
                    Start::Ready(_) | Start::Starting => metrics.started(&server.id),
                }
                sender.send_replace(started);
            })
        };
        Arc::new(Self {
            key,
            server,
            program,
            state,
            first_touch: AtomicBool::new(true),
            crash_counted: AtomicBool::new(false),
            starting: task.abort_handle(),
            metrics,
        })
    }

    /// Waits for the client until the deadline.
    pub(super) async fn ready(&self, deadline: Instant) -> Result<Arc<Client>, NoClient> {
        let mut state = self.state.clone();
        let started = state.wait_for(|state| !matches!(state, Start::Starting));
        // Elapsed or aborted, `now` tells what is so.
        drop(tokio::time::timeout_at(deadline, started).await);
        self.now()
    }

    /// Returns the client, or why there is none at this moment.
    pub(super) fn now(&self) -> Result<Arc<Client>, NoClient> {
        match &*self.state.borrow() {
            Start::Starting => Err(NoClient::Starting),
            Start::Failed(absent) => Err(NoClient::Absent(absent.clone())),
            Start::Ready(client) => match client.gone() {
                None => Ok(client.clone()),
                Some(reason) => {
                    if !self.crash_counted.swap(true, Ordering::Relaxed) {
                        self.metrics.crashed(&self.key.id, &reason);
                    }
                    Err(NoClient::Absent(broken(reason)))
                }
            },
        }
    }

    pub(super) fn client(&self) -> Option<Arc<Client>> {
        self.now().ok()
    }

    pub(super) fn is_first_touch(&self) -> bool {
        self.first_touch.load(Ordering::Relaxed)
    }

    /// Ends the first touch when it is dropped: after success, time-out, error or abort alike.
    pub(super) fn touching(self: &Arc<Self>) -> Touching {
        Touching(self.clone())
    }

    /// Ends the server, or its start.
    pub(super) async fn stop(&self) {
        self.starting.abort();
        let client = match &*self.state.borrow() {
            Start::Ready(client) => Some(client.clone()),
            Start::Starting | Start::Failed(_) => None,
        };
        if let Some(client) = client {
            client.stop().await;
        }
    }
}

pub(super) struct Touching(Arc<Slot>);

impl Drop for Touching {
    fn drop(&mut self) {
        self.0.first_touch.store(false, Ordering::Relaxed);
    }
}

async fn start(
    launch: &dyn Launch,
    server: Arc<Server>,
    found: &Found,
    root: PathBuf,
    workspace: CanonicalRoot,
    watch: Watch,
) -> Start {
    // Before it reads the first file: what changes after that it is told.
    let Ok(outside) = tokio::task::spawn_blocking(move || watch.subscribe()).await else {
        return Start::Failed(broken("the workspace cannot be watched".to_owned()));
    };
    match launch.launch(&server, found, &root) {
        Err(absent) => Start::Failed(absent),
        Ok(launched) => {
            match Client::start(launched, server.clone(), found, root, workspace, outside).await {
                Ok(client) => Start::Ready(client),
                Err(reason) => Start::Failed(not_started(&server, reason)),
            }
        }
    }
}

/// A program that is only a stand-in for one that is not installed says how to get that: it is not broken.
fn not_started(server: &Server, reason: String) -> Absent {
    if !server.absent_when_it_says.iter().any(|said| reason.contains(said)) {
        return broken(reason);
    }
    Absent { status: ServerState::Unavailable, reason, hint: Some(server.install.clone()) }
}

fn broken(reason: String) -> Absent {
    Absent { status: ServerState::Broken, reason, hint: Some("chartroom lsp restart".to_owned()) }
}

#[cfg(test)]
mod tests {
    use chartroom_protocol::lsp::LspConfig;

    use super::*;
    use crate::registry::Registry;

    #[test]
    fn a_rustup_proxy_without_its_component_is_not_installed_and_says_how_to_get_it() {
        let registry = Registry::new(&LspConfig::default());
        let of = |id: &str, said: &str| {
            let server = registry.get(id).unwrap();
            not_started(server, format!("{id} exited with status 1 before it was ready: {said}"))
        };
        for said in [
            "error: Unknown binary 'rust-analyzer' in official toolchain 'stable-x86_64-unknown-linux-gnu'.",
            "help: run `rustup component add rust-analyzer` to install it",
            "To install, run `rustup component add rust-analyzer`",
        ] {
            let absent = of("rust-analyzer", said);
            assert_eq!(absent.status, ServerState::Unavailable, "{said}");
            assert_eq!(absent.hint.as_deref(), Some("rustup component add rust-analyzer"));
        }
        assert_eq!(of("gopls", "it crashed").status, ServerState::Broken);
        // A language without its server's package is the same case.
        for (id, said) in [
            ("r-languageserver", "Error in loadNamespace(x) : there is no package called ‘languageserver’"),
            (
                "julia-languageserver",
                "ERROR: ArgumentError: Package LanguageServer not found in current path.",
            ),
        ] {
            let absent = of(id, said);
            assert_eq!(absent.status, ServerState::Unavailable, "{said}");
            assert!(absent.hint.is_some_and(|hint| hint.contains("anguage")), "{said}");
        }
    }
}
