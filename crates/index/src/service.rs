//! The handle that the CLI, HTTP and MCP hold, and how it comes to be.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::index::{
    CallGraphParams, CallGraphResponse, FileOutlineParams, FileOutlineResponse, IndexStatus,
    IndexingProgress, ListCodebasesResponse, ManageAction, ManageIndexParams, ManageIndexResponse,
    ReadFileParams, ReadFileResponse, SearchCodebaseParams, SearchCodebaseResponse, SkippedFiles,
    StoreConfig,
};
use tokio::sync::watch;

use crate::core::{Core, IndexSettings};
use crate::identity::canonical_root;
use crate::lifecycle;
use crate::mutex::lock;
use crate::tools::{self, ToolError};
use crate::watcher::Watcher;

use chartroom_search::embed::{EmbedError, Embedder};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::team::{Health, Role};
use chartroom_search::store::{StoreError, VectorStore};

/// Why there is no index service.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The embedder's configuration is wrong.
    #[error(transparent)]
    Embedder(#[from] EmbedError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The index. Cheap to clone; the last one dropped ends the watcher, and with the process every lease.
#[derive(Clone)]
pub struct IndexService {
    core: Arc<Core>,
    watcher: Option<Arc<Watcher>>,
}

impl IndexService {
    /// Opens the index with the store and the embedder that the config names.
    pub fn open(settings: IndexSettings) -> Result<Self, OpenError> {
        let embedder = Arc::from(chartroom_search::embed::from_config(&settings.config.embedding)?);
        let store: Arc<dyn VectorStore> = match &settings.config.store {
            StoreConfig::Embedded => Arc::new(SqliteStore::open(&settings.data)?),
            StoreConfig::Milvus { .. } => {
                let text =
                    "this build of Chartroom knows no Milvus; it was built without the feature `milvus`";
                return Err(StoreError::Unavailable(text.into()).into());
            }
        };
        Self::with_parts(settings, store, embedder)
    }

    /// Puts the parts together. A server settles what a crash left before it serves; another process does so before its
    /// first action that changes something, because opening the index to read it changes nothing.
    pub fn with_parts(
        settings: IndexSettings,
        store: Arc<dyn VectorStore>,
        embedder: Arc<dyn Embedder>,
    ) -> Result<Self, OpenError> {
        let core = Arc::new(Core::new(&settings, store, embedder));
        let mut watcher = None;
        if settings.long_running {
            lifecycle::settle(&core);
            match core.owners.register(&core.version, &core.fingerprint) {
                Ok(owner) => *lock(&core.owner) = Some(owner),
                Err(error) => {
                    tracing::warn!(%error, "this server cannot be written down as an owner of the data folder")
                }
            }
            watcher = Watcher::start(&core, &settings.config.watch).map(Arc::new);
        }
        Ok(Self { core, watcher })
    }

    /// Returns the root of the tracked codebase that a path lies in, the nearest if there are several.
    pub fn codebase_of(&self, path: &Path) -> Option<PathBuf> {
        let canonical = canonical_root(path);
        let view = self.core.view();
        let roots = view.doc.codebases.keys().map(String::as_str);
        crate::identity::enclosing(roots, canonical.to_str()?).map(PathBuf::from)
    }

    /// `list_codebases`.
    pub async fn list(&self) -> ListCodebasesResponse {
        self.blocking(|core| tools::list_codebases::list(core)).await
    }

    /// `manage_index`. A build goes on in the background; `wait` waits for it.
    pub async fn manage(&self, params: ManageIndexParams) -> ManageIndexResponse {
        let changed = match lifecycle::needs_git(&params) {
            true => Some(self.core.git.changed(&canonical_root(params.path.as_ref())).await),
            false => None,
        };
        let watched = canonical_root(params.path.as_ref());
        let action = params.action;
        let managed = self.blocking(move |core| lifecycle::manage(core, params, changed)).await;
        if let Some(job) = managed.job {
            // The run owns its lease and reports through the catalog; `wait` and `close` wait for it.
            drop(tokio::task::spawn_blocking(move || job.run()));
        }
        self.touch(&watched.to_string_lossy());
        if managed.response.status == IndexStatus::Ok {
            match action {
                ManageAction::Create | ManageAction::Reindex | ManageAction::Sync
                    if self.watcher.is_some() =>
                {
                    self.core.commits.refresh(&watched);
                }
                ManageAction::Sync => self.core.commits.update(&watched).await,
                _ => {}
            }
        }
        // What is asked for is shared by the machine that shares; what a search does by itself is not.
        // A server that was emptied is filled again by who writes.
        let is_gone = managed.response.hints.as_ref().is_some_and(|hints| hints.stale_local.is_some());
        if action == ManageAction::Sync
            && (managed.response.status == IndexStatus::Ok || is_gone)
            && self.is_shared_from_here(&watched).await
        {
            let params = ManageIndexParams::new(ManageAction::Sync, watched.to_string_lossy());
            return self.blocking(move |core| lifecycle::share(core, &params, None)).await;
        }
        managed.response
    }

    /// Makes the index of a folder the team's: builds or syncs it, then sends what the team does not have. The name is
    /// remembered; a machine that has shared once shares every sync that is asked for.
    pub async fn share(&self, path: &str, project: Option<&str>) -> ManageIndexResponse {
        let params = ManageIndexParams::new(ManageAction::Sync, path);
        if let Err(refusal) = self.before(params.clone(), project, lifecycle::before_share).await {
            return *refusal;
        }
        let project = project.map(ToOwned::to_owned);
        self.blocking(move |core| lifecycle::share(core, &params, project.as_deref())).await
    }

    /// Binds a folder to what the team shares, proven by its marker, and fills this machine's own index from there.
    pub async fn adopt(&self, path: &str, project: Option<&str>) -> ManageIndexResponse {
        let params = ManageIndexParams::new(ManageAction::Create, path);
        match self.before(params.clone(), project, lifecycle::before_adopt).await {
            Ok(()) => self.blocking(move |core| lifecycle::adopted(core, &params)).await,
            Err(refusal) => *refusal,
        }
    }

    /// Does what comes before; builds the index when there is none.
    async fn before(
        &self,
        params: ManageIndexParams,
        project: Option<&str>,
        look: fn(&Core, &ManageIndexParams, Option<&str>) -> lifecycle::Next,
    ) -> Result<(), Box<ManageIndexResponse>> {
        let (path, name) = (params.path.clone(), project.map(ToOwned::to_owned));
        match self.blocking(move |core| look(core, &params, name.as_deref())).await {
            lifecycle::Next::Refuse(refusal) => Err(refusal),
            lifecycle::Next::Go => Ok(()),
            lifecycle::Next::Create => {
                let started = self.manage(ManageIndexParams::new(ManageAction::Create, path)).await;
                let built = self.finish(started).await;
                if built.status == IndexStatus::Ok { Ok(()) } else { Err(Box::new(built)) }
            }
        }
    }

    /// How the server is through which a team shares; none when there is none.
    pub async fn team_health(&self) -> Option<Health> {
        self.blocking(|core| core.store.team().map(|team| team.health())).await
    }

    /// Whether a sync of this folder is shared.
    async fn is_shared_from_here(&self, path: &Path) -> bool {
        let root = path.to_string_lossy().into_owned();
        self.blocking(move |core| {
            let binding = core.store.team().and_then(|team| team.binding(&root).ok().flatten());
            binding.is_some_and(|binding| binding.role == Role::Writer)
        })
        .await
    }

    /// The files of a codebase that are not in its index, each with the reason, as the last build or sync met them.
    pub async fn skipped(&self, path: &Path) -> Result<SkippedFiles, StoreError> {
        let root = canonical_root(path).to_string_lossy().into_owned();
        self.blocking(move |core| core.store.skipped(&root)).await
    }

    /// `search_codebase`.
    pub async fn search(&self, params: SearchCodebaseParams) -> Result<SearchCodebaseResponse, ToolError> {
        let path = params.path.clone();
        let found = self.blocking(move |core| tools::search_codebase::search(core, params)).await;
        if let Ok(SearchCodebaseResponse { codebase_path: Some(root), .. }) = &found {
            self.touch(root);
            let root = canonical_root(root.as_ref());
            self.core.git.refresh(&root);
            // A command that only asks leaves the data folder as it is.
            if self.watcher.is_some() {
                self.core.commits.refresh(&root);
            }
        } else {
            tracing::debug!(path, "nothing to watch");
        }
        found
    }

    /// `file_outline`.
    pub async fn outline(&self, params: FileOutlineParams) -> Result<FileOutlineResponse, ToolError> {
        self.blocking(move |core| tools::file_outline::outline(core.read_context(), &params)).await
    }

    /// `call_graph`.
    pub async fn call_graph(&self, params: CallGraphParams) -> Result<CallGraphResponse, ToolError> {
        self.blocking(move |core| tools::call_graph::call_graph(core.read_context(), &params)).await
    }

    /// `read_file`.
    pub async fn read_file(&self, params: ReadFileParams) -> Result<ReadFileResponse, ToolError> {
        self.blocking(move |core| tools::read_file::read(core.read_context(), &params)).await
    }

    /// Waits until no build of this process runs on this root.
    pub async fn wait(&self, path: &str) {
        let root = canonical_root(path.as_ref());
        let Some(run) = self.core.run_of(&root.to_string_lossy()) else {
            return;
        };
        let mut ended = run.ended.subscribe();
        drop(run);
        if ended.wait_for(|ended| *ended).await.is_err() {
            tracing::debug!("the run ended with its sender");
        }
    }

    /// Waits for the build that this answer started, and says what came of it. An answer that started none comes back as
    /// it is.
    pub async fn finish(&self, started: ManageIndexResponse) -> ManageIndexResponse {
        let builds = matches!(started.action, ManageAction::Create | ManageAction::Reindex);
        let Some(operation) =
            started.operation.as_ref().filter(|_| builds && started.status == IndexStatus::Ok)
        else {
            return started;
        };
        let operation_id = operation.operation_id.clone();
        self.wait(&started.path).await;
        self.core.commits.update(&canonical_root(started.path.as_ref())).await;
        let ended = lock(&self.core.ends)
            .get(&started.path)
            .filter(|ended| ended.operation_id == operation_id)
            .cloned();
        let status = self.manage(ManageIndexParams::new(ManageAction::Status, &started.path)).await;
        lifecycle::finished(started, status, ended)
    }

    /// How far this process's build of a root is; `None` when none runs.
    pub fn progress(&self, path: &str) -> Option<watch::Receiver<IndexingProgress>> {
        let root = canonical_root(path.as_ref());
        self.core.run_of(&root.to_string_lossy()).map(|run| run.progress.subscribe())
    }

    /// Removes entries whose folder and index are both gone. Explicit maintenance; no tool calls it.
    pub async fn prune(&self) -> Result<Vec<String>, String> {
        self.blocking(|core| {
            let doc = core.catalog.read().doc;
            crate::catalog::prune(&doc, &*core.store, &core.writer).map_err(|error| error.to_string())
        })
        .await
    }

    /// Cancels every build of this process and waits for them; what was published stays.
    pub async fn close(&self) {
        let runs: Vec<_> = lock(&self.core.runs).values().cloned().collect();
        for run in &runs {
            run.cancel.cancel();
        }
        for run in runs {
            let mut ended = run.ended.subscribe();
            if ended.wait_for(|ended| *ended).await.is_err() {
                tracing::debug!("the run ended with its sender");
            }
        }
    }

    fn touch(&self, root: &str) {
        if let Some(watcher) = &self.watcher {
            watcher.touch(root);
        }
    }

    /// Runs blocking work on its own thread. A panic there is a bug that must not take the server down with it.
    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Arc<Core>) -> T + Send + 'static) -> T {
        let core = Arc::clone(&self.core);
        match tokio::task::spawn_blocking(move || work(&core)).await {
            Ok(value) => value,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

#[cfg(test)]
impl IndexService {
    /// What it stores in, to look at without asking for anything.
    pub(crate) fn store(&self) -> Arc<dyn VectorStore> {
        Arc::clone(&self.core.store)
    }

    /// A service on a core that a test has made.
    pub(crate) fn on(core: Arc<Core>) -> Self {
        Self { core, watcher: None }
    }
}
