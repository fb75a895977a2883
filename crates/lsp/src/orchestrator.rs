//! All language servers of one workspace behind one interface: started when needed, asked in parallel, told apart.
//!
//! Both channels of the service (diagnostics and tools) hold this one object, so that no server runs twice.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chartroom_protocol::lsp::{DiagnosticsResponse, LspConfig};
use chartroom_workspace::roots::Project;
use chartroom_workspace::watch::Watch;
use chartroom_workspace::{CanonicalRoot, boundary};
use tokio::sync::watch;

use crate::client::Client;
use crate::launch::{Absent, Launch};
use crate::metrics::Metrics;
use crate::registry::{Registry, Server};

mod check;
mod choice;
mod housekeeping;
mod importers;
mod merge;
mod navigation;
mod outside;
mod slot;
mod status;

pub(crate) use navigation::{Asked, ToolError, explain};

use slot::{Key, Slot};

/// The servers of one workspace.
pub struct Orchestrator {
    root: CanonicalRoot,
    config: LspConfig,
    registry: Registry,
    launch: Arc<dyn Launch>,
    /// One slot per server and project root, from the first touch until it is stopped.
    slots: Mutex<BTreeMap<Key, Arc<Slot>>>,
    /// Rises with every check; the only truth about freshness across the pipe.
    epoch: watch::Sender<u64>,
    /// What others do to files of the workspace, for all servers together.
    watch: Watch,
    /// Whose turn it is to look for that.
    sweeps: tokio::sync::Mutex<()>,
    metrics: Arc<Metrics>,
}

impl Orchestrator {
    /// Makes an orchestrator that has started nothing.
    pub fn new(root: CanonicalRoot, config: LspConfig, launch: Arc<dyn Launch>) -> Arc<Self> {
        let registry = Registry::new(&config);
        let watch = Watch::new(root.clone());
        Arc::new(Self {
            root,
            config,
            registry,
            launch,
            slots: Mutex::default(),
            epoch: watch::Sender::new(0),
            watch,
            sweeps: tokio::sync::Mutex::default(),
            metrics: Arc::default(),
        })
    }

    /// Returns the workspace.
    pub fn root(&self) -> &CanonicalRoot {
        &self.root
    }

    /// Returns the user's settings.
    pub fn config(&self) -> &LspConfig {
        &self.config
    }

    /// Returns the counters.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The number of checks so far.
    pub fn epoch(&self) -> u64 {
        *self.epoch.borrow()
    }

    /// Every known file with its diagnostics, by path: what the servers hold now.
    pub fn diagnostics(&self) -> DiagnosticsResponse {
        self.diagnostics_of(self.clients())
    }

    /// What these servers hold.
    fn diagnostics_of(&self, clients: impl IntoIterator<Item = Arc<Client>>) -> DiagnosticsResponse {
        let mut files: BTreeMap<PathBuf, Vec<Arc<Client>>> = BTreeMap::new();
        for client in clients {
            for file in client.known() {
                files.entry(file).or_default().push(client.clone());
            }
        }
        let mut response = DiagnosticsResponse::new();
        for (file, clients) in files {
            let Some(relative) = self.relative_source(&file) else { continue };
            let parts = clients.iter().map(|client| (client.as_ref(), client.held(&file)));
            let diagnostics =
                merge::merge(&self.root, &file, &relative, parts, &self.config.include_severities);
            if !diagnostics.is_empty() {
                response.insert(relative, diagnostics);
            }
        }
        response
    }

    /// Waits until the epoch has passed `after`, for at most `wait`, then answers like [`Self::diagnostics`].
    pub async fn diagnostics_after(&self, after: u64, wait: Duration) -> DiagnosticsResponse {
        let mut epoch = self.epoch.subscribe();
        // Elapsed or passed, what is known now is the answer.
        tokio::time::timeout(wait, epoch.wait_for(|epoch| *epoch > after)).await.ok();
        self.diagnostics()
    }

    /// Ends every server; each gets to shut down by itself first.
    pub async fn shutdown(&self) {
        let slots = std::mem::take(&mut *self.slots());
        futures_util::future::join_all(slots.values().map(|slot| slot.stop())).await;
    }

    /// Stops one server (all its roots) or all, so that the next touch starts it anew, broken or not. Returns
    /// how many were stopped.
    pub async fn restart(&self, id: Option<&str>) -> usize {
        let stopped: Vec<Arc<Slot>> = {
            let mut slots = self.slots();
            let keys: Vec<Key> =
                slots.keys().filter(|key| id.is_none_or(|id| key.id == id)).cloned().collect();
            keys.iter().filter_map(|key| slots.remove(key)).collect()
        };
        futures_util::future::join_all(stopped.iter().map(|slot| slot.stop())).await;
        stopped.len()
    }

    /// Returns a file's path relative to the workspace, if it is source of the workspace.
    fn relative_source(&self, file: &Path) -> Option<String> {
        if !boundary::is_inside(&self.root, file) || boundary::is_dependency(&self.root, file) {
            return None;
        }
        self.root.relative(file).map(|relative| relative.to_string_lossy().into_owned())
    }

    /// Returns the clients that are running, by key.
    fn clients(&self) -> Vec<Arc<Client>> {
        self.slots().values().filter_map(|slot| slot.client()).collect()
    }

    fn slots(&self) -> MutexGuard<'_, BTreeMap<Key, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the slot of a server, starting it when it is not there. Concurrent callers get the same one.
    fn slot(&self, server: &Server, project: &Project) -> Result<Arc<Slot>, Absent> {
        let key = Key { id: server.id.clone(), root: project.root.clone() };
        if let Some(slot) = self.slots().get(&key) {
            return Ok(slot.clone());
        }
        // A package may have the program, and its root not: pnpm installs into each.
        let found = self.launch.find(server, &project.nearest)?;
        let mut slots = self.slots();
        let slot = slots.entry(key.clone()).or_insert_with(|| {
            let (launch, metrics) = (self.launch.clone(), self.metrics.clone());
            Slot::start(
                key,
                Arc::new(server.clone()),
                found,
                launch,
                self.root.clone(),
                self.watch.clone(),
                metrics,
            )
        });
        Ok(slot.clone())
    }
}

#[cfg(test)]
mod tests;
