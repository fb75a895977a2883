//! What all tools and commands share: the catalog, the store, the embedder, the leases, the runs of this process.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Once};

use chartroom_protocol::index::{
    ActiveMutation, IndexConfig, IndexingProgress, ManageAction, Operation, OperationPhase,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::catalog::{Catalog, CatalogDoc, CatalogView, CatalogWriter, CodebaseInfo, CodebaseState};
use crate::commits::Commits;
use crate::freshness::RootSync;
use crate::git::GitProbe;
use crate::lease::{Leases, Owner, Owners};
use crate::mutex::lock;

use chartroom_search::embed::Embedder;
use chartroom_search::parser::Parser;
use chartroom_search::store::{Fingerprint, GenerationReader, StoreError, VectorStore};

/// How a service is set up.
pub struct IndexSettings {
    /// The data folder.
    pub data: PathBuf,
    /// The `[index]` table.
    pub config: IndexConfig,
    /// This program's version.
    pub version: String,
    /// Whether this process stays: it registers as an owner, watches and syncs in the background.
    pub long_running: bool,
    /// Asks git which files changed; `GitProbe::none()` where git may not be run.
    pub git: GitProbe,
    /// Reads source. In the product a [`chartroom_search::parser::HelperParser`], which no file can take down.
    pub parser: Arc<dyn Parser>,
}

/// Everything the lifecycle and the tools work with. One per process and data folder.
pub(crate) struct Core {
    pub(crate) data: PathBuf,
    pub(crate) version: String,
    pub(crate) catalog: Catalog,
    pub(crate) writer: CatalogWriter,
    pub(crate) leases: Leases,
    pub(crate) owners: Owners,
    pub(crate) owner: Mutex<Option<Owner>>,
    pub(crate) store: Arc<dyn VectorStore>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) parser: Arc<dyn Parser>,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) git: GitProbe,
    /// What the commits of each root say.
    pub(crate) commits: Commits,
    pub(crate) runs: Mutex<HashMap<String, Arc<Run>>>,
    pub(crate) syncs: Mutex<HashMap<String, Arc<RootSync>>>,
    /// How the last build of each root in this process ended; true even when the catalog could not be told.
    pub(crate) ends: Mutex<HashMap<String, Ended>>,
    /// Whether this process has settled what a crash left.
    pub(crate) settled: Once,
    /// What a person should know: the catalog was damaged and set aside, say.
    pub(crate) notices: Mutex<Vec<String>>,
}

/// A build of this process that runs now.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) operation_id: String,
    pub(crate) action: ManageAction,
    pub(crate) progress: watch::Sender<IndexingProgress>,
    pub(crate) cancel: CancellationToken,
    /// Turns true when the run has ended, well or not.
    pub(crate) ended: watch::Sender<bool>,
}

/// The end of a build.
#[derive(Debug, Clone)]
pub(crate) struct Ended {
    pub(crate) operation_id: String,
    pub(crate) phase: OperationPhase,
    /// Why, unless it completed.
    pub(crate) message: Option<String>,
}

/// A store that can only be read: what the read tools get instead of the store.
#[derive(Clone, Copy)]
pub(crate) struct ReadOnlyStore<'a>(&'a dyn VectorStore);

impl ReadOnlyStore<'_> {
    pub(crate) fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError> {
        self.0.open_reader(root)
    }
}

/// What a read tool may hold: nothing in it has a method that writes.
#[derive(Clone, Copy)]
pub(crate) struct ReadContext<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) store: ReadOnlyStore<'a>,
    pub(crate) gate: &'a dyn GateFacts,
    pub(crate) fingerprint: &'a Fingerprint,
}

/// The facts a gate needs beside the catalog.
pub(crate) trait GateFacts {
    fn proof(&self, root: &str) -> crate::proof::Checked;
    fn active(&self, root: &str) -> Option<ActiveMutation>;
    fn progress(&self, root: &str) -> Option<IndexingProgress>;
    /// What the markers prove and the catalog does not have.
    fn recovered(&self, doc: &CatalogDoc) -> Vec<(String, CodebaseInfo)>;
}

impl ReadContext<'_> {
    /// The catalog; while its file is damaged or gone and nothing better is known, what the markers prove.
    pub(crate) fn view(&self) -> CatalogView {
        let mut view = self.catalog.read();
        if view.damage.is_some() || view.missing {
            let found = self.gate.recovered(&view.doc);
            view.doc.codebases.extend(found);
        }
        view
    }
}

impl ReadContext<'_> {
    /// Who changes a codebase now, and its entry beside that. A build that ends writes the catalog before it lets go: whoever
    /// read "indexing" and then finds nobody who builds has an entry of before the end, and looks once more.
    pub(crate) fn beside_active(
        &self,
        root: &str,
        info: Option<CodebaseInfo>,
    ) -> (Option<CodebaseInfo>, Option<ActiveMutation>) {
        let active = self.gate.active(root);
        let is_indexing =
            info.as_ref().is_some_and(|info| matches!(info.state, CodebaseState::Indexing { .. }));
        let is_of_before = is_indexing && active.is_none();
        let info = if is_of_before { self.view().doc.codebases.remove(root) } else { info };
        (info, active)
    }
}

impl Core {
    pub(crate) fn new(
        settings: &IndexSettings,
        store: Arc<dyn VectorStore>,
        embedder: Arc<dyn Embedder>,
    ) -> Self {
        let fingerprint = Fingerprint {
            embedding_provider: embedder.provider().into(),
            embedding_model: embedder.model().into(),
            embedding_dimension: u32::try_from(embedder.dimension()).unwrap_or(u32::MAX),
            vector_store_provider: store.provider().into(),
            schema_version: if embedder.dimension() == 0 { "lexical_v7" } else { "hybrid_v7" }.into(),
        };
        Self {
            data: settings.data.clone(),
            version: settings.version.clone(),
            catalog: Catalog::new(&settings.data),
            writer: CatalogWriter::new(&settings.data),
            leases: Leases::new(&settings.data),
            owners: Owners::new(&settings.data),
            owner: Mutex::default(),
            store,
            embedder,
            parser: Arc::clone(&settings.parser),
            fingerprint,
            commits: Commits::new(settings.git.commits(), &settings.data),
            git: settings.git.clone(),
            runs: Mutex::default(),
            syncs: Mutex::default(),
            ends: Mutex::default(),
            settled: Once::new(),
            notices: Mutex::default(),
        }
    }

    pub(crate) fn read_context(&self) -> ReadContext<'_> {
        ReadContext {
            catalog: &self.catalog,
            store: ReadOnlyStore(&*self.store),
            gate: self,
            fingerprint: &self.fingerprint,
        }
    }

    pub(crate) fn view(&self) -> CatalogView {
        self.read_context().view()
    }

    pub(crate) fn run_of(&self, root: &str) -> Option<Arc<Run>> {
        lock(&self.runs).get(root).cloned()
    }

    /// The receipt of a codebase's last operation, with the end that this process knows better than the catalog.
    pub(crate) fn receipt(&self, root: &str, info: Option<&CodebaseInfo>) -> Option<Operation> {
        let mut operation = info?.operation.clone()?;
        let ends = lock(&self.ends);
        if let Some(ended) = ends.get(root).filter(|ended| ended.operation_id == operation.operation_id) {
            operation.phase = ended.phase;
            operation.message = ended.message.clone();
        }
        Some(operation)
    }

    pub(crate) fn sync_of(&self, root: &str) -> Arc<RootSync> {
        Arc::clone(lock(&self.syncs).entry(root.to_owned()).or_default())
    }
}

impl GateFacts for Core {
    fn proof(&self, root: &str) -> crate::proof::Checked {
        crate::proof::validate_completion_proof(&*self.store, root, &self.fingerprint)
    }

    fn active(&self, root: &str) -> Option<ActiveMutation> {
        self.leases.active(root)
    }

    fn progress(&self, root: &str) -> Option<IndexingProgress> {
        self.run_of(root).map(|run| run.progress.borrow().clone())
    }

    fn recovered(&self, doc: &CatalogDoc) -> Vec<(String, CodebaseInfo)> {
        crate::catalog::recovered(doc, &*self.store, &self.fingerprint)
    }
}
