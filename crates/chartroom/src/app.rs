//! The wiring: the only place that constructs concrete implementations.

pub(crate) mod agent_tools;
pub(crate) mod agents;
pub(crate) mod bridge;
pub(crate) mod ending;
pub(crate) mod gate;
pub(crate) mod index;
pub(crate) mod language;
mod recorder;
mod sandbox;
#[cfg(feature = "milvus")]
mod team;
pub(crate) mod worktrees;

pub(crate) use worktrees::{adopt, taken_away};

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use chartroom_index::IndexService;
use chartroom_lsp::LspHandle;
use chartroom_providers::agent_tools::AgentToolsFor;
use chartroom_sessions::store::Store;
use chartroom_sessions::{Limits, Registry, SessionService, TurnWatch};
use chartroom_terminals::{Limits as TerminalLimits, Terminals, users_shell};
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use self::agent_tools::AgentToolsParts;
use self::language::UsedServices;
use self::recorder::Recorder;
use crate::config::Config;
use crate::data::DataFolder;
use crate::http::overview::{self, Gathered};
use crate::http::{Access, Secret};
use crate::projects::Projects;
use crate::tries::Book;

/// Everything a running server has, shared by all its requests.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    config: Config,
    data: DataFolder,
    access: Arc<Access>,
    gate: SpawnGate,
    projects: Projects,
    sessions: SessionService,
    /// What lists are told, gathered since somebody first listened.
    session_news: OnceLock<broadcast::Receiver<Gathered>>,
    recorder: Option<Arc<Recorder>>,
    index: IndexService,
    language_services: UsedServices,
    terminals: Terminals,
    tries: Book,
    /// What the user should know about the start, e.g. a store that had to be set aside.
    notes: Vec<String>,
    started: Instant,
    closing: CancellationToken,
}

impl App {
    /// Opens the stores in `data` and puts the parts together. `keeper` is this binary, or the tests' own.
    pub fn open(config: Config, data: DataFolder, keeper: Keeper) -> anyhow::Result<Self> {
        Self::put_together(config, data, keeper, agents::registry)
    }

    /// Opens an app whose agents are not those of the config; for tests and benchmarks.
    pub fn open_with(
        config: Config,
        data: DataFolder,
        keeper: Keeper,
        agents_of: impl FnOnce(&Config, &SpawnGate) -> Registry,
    ) -> anyhow::Result<Self> {
        Self::put_together(config, data, keeper, |config, gate, _agent_tools| agents_of(config, gate))
    }

    fn put_together(
        config: Config,
        data: DataFolder,
        keeper: Keeper,
        agents_of: impl FnOnce(&Config, &SpawnGate, AgentToolsFor) -> Registry,
    ) -> anyhow::Result<Self> {
        let token = match &config.server.token {
            Some(token) => Secret::new(token),
            None => Secret::random()?,
        };
        metrics_handle();
        let mut notes = Vec::new();
        let opened = Store::open(&data.file("sessions.db")?)?;
        notes.extend(opened.set_aside.map(|set_aside| set_aside.to_string()));
        let trust = gate::open_trust(data.path())?;
        // Nothing may be spawned before the sweep, or it would be swept.
        let swept = chartroom_workspace::gate::sweep(data.path());
        if !swept.ended.is_empty() {
            notes.push(format!("ended what an earlier run had left behind: {}", swept.ended.join(", ")));
        }
        // The keeper is this program too, which a test that holds the app in its own process must name.
        let program = keeper.program.clone();
        let confined_bridges = gate::bridges(data.path(), &config.sandbox);
        let gate = gate::with_keeper(keeper, trust, data.path(), (&config.sandbox, confined_bridges.clone()));
        for note in &notes {
            tracing::warn!("{note}");
        }
        let access = Access::open(token, &data)?;
        let index = index::serve(&config, &data, &gate)?;
        let language_services = UsedServices::of(language::pool(&config.lsp, &data, &gate, program.clone()));
        let parts = AgentToolsParts {
            services: language_services.clone(),
            index: index.clone(),
            locks: language::locks(&data),
            program,
            environment: agent_tools::environment(&data),
            gate: gate.clone(),
            bridges: bridge::folder_within(data.path()).ok(),
            confined_bridges,
        };
        let recorder = Recorder::of(&config, &gate);
        let shell = users_shell(std::env::var_os("SHELL"));
        let terminals = Terminals::new(gate.clone(), shell, TerminalLimits::default());
        Ok(Self {
            inner: Arc::new(Inner {
                index,
                access: Arc::new(access),
                projects: Projects::new(opened.store.clone(), gate.clone()),
                sessions: SessionService::new(
                    opened.store,
                    agents_of(&config, &gate, parts.for_each_session()),
                    agents::folder_check(&gate),
                    recorder.clone().map(|recorder| recorder as Arc<dyn TurnWatch>),
                    Limits { idle: config.sessions.idle(), ..Limits::default() },
                ),
                session_news: OnceLock::new(),
                recorder,
                language_services,
                terminals,
                tries: Book::in_folder(data.path().join("tries")),
                gate,
                notes,
                started: Instant::now(),
                closing: CancellationToken::new(),
                config,
                data,
            }),
        })
    }

    /// Returns the user's config as it was read at start.
    pub fn config(&self) -> &Config {
        &self.inner.config
    }

    /// Returns the data folder.
    pub fn data(&self) -> &DataFolder {
        &self.inner.data
    }

    /// Waits until the turns of a folder that have ended are recorded.
    pub(crate) async fn turns_are_recorded(&self, folder: &std::path::Path) {
        if let Some(recorder) = &self.inner.recorder {
            recorder.settled(folder).await;
        }
    }

    /// Returns who may come in.
    pub fn access(&self) -> &Arc<Access> {
        &self.inner.access
    }

    /// The one way to start a process.
    pub fn gate(&self) -> &SpawnGate {
        &self.inner.gate
    }

    /// Returns the folders that the user added.
    pub fn projects(&self) -> &Projects {
        &self.inner.projects
    }

    /// Returns the sessions.
    pub fn sessions(&self) -> &SessionService {
        &self.inner.sessions
    }

    /// Returns what changes about any session from now on.
    pub(crate) fn session_news(&self) -> broadcast::Receiver<Gathered> {
        self.inner.session_news.get_or_init(|| overview::gather(self.sessions().overview())).resubscribe()
    }

    /// Returns the code index.
    pub fn index(&self) -> &IndexService {
        &self.inner.index
    }

    /// Returns the language service of a folder, the same for everybody who asks.
    pub fn language_service(&self, root: &CanonicalRoot) -> LspHandle {
        self.inner.language_services.service(root)
    }

    /// Returns the language services that are in use, by root.
    pub fn language_services(&self) -> Vec<LspHandle> {
        self.inner.language_services.all()
    }

    /// Returns the user's own shells.
    pub fn terminals(&self) -> &Terminals {
        &self.inner.terminals
    }

    /// Returns what is written down of several tries.
    pub(crate) fn tries(&self) -> &Book {
        &self.inner.tries
    }

    /// Returns what the user should know about this start.
    pub fn notes(&self) -> &[String] {
        &self.inner.notes
    }

    /// Returns how long the server has been running.
    pub fn uptime(&self) -> Duration {
        self.inner.started.elapsed()
    }

    /// Returns the counters in Prometheus' text format.
    pub fn render_metrics(&self) -> String {
        metrics_handle().map(PrometheusHandle::render).unwrap_or_default()
    }

    /// Is cancelled when the server stops: whoever holds a socket open watches it.
    pub fn closing(&self) -> &CancellationToken {
        &self.inner.closing
    }

    /// Ends sockets, sessions and every child, within `ending::LIMIT`. Called once, when the server stops.
    pub async fn close(&self) {
        self.inner.closing.cancel();
        let services = self.language_services();
        let services = futures_util::future::join_all(services.iter().map(LspHandle::shutdown));
        let terminals = self.inner.terminals.close_all();
        ending::all(self.inner.sessions.shutdown(), services, self.inner.index.close(), terminals).await;
    }
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("data", &self.inner.data).finish_non_exhaustive()
    }
}

/// The recorder is the process's own: tests run several servers in one.
fn metrics_handle() -> Option<&'static PrometheusHandle> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    HANDLE
        .get_or_init(|| match PrometheusBuilder::new().install_recorder() {
            Ok(handle) => Some(handle),
            Err(error) => {
                tracing::warn!("there will be no metrics: {error}");
                None
            }
        })
        .as_ref()
}
