//! A data folder, a project and a core on it, to be used, broken, killed and restarted.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use chartroom_protocol::index::*;
use tempfile::TempDir;

use super::faults::{FaultyStore, Killed};
use super::memory::MemoryStore;
use super::simple;
use crate::catalog::CodebaseInfo;
use crate::core::{Core, IndexSettings};
use crate::git::ChangedFiles;
use crate::git::GitProbe;
use crate::lifecycle;
use crate::service::IndexService;
use crate::tools::{self, ToolError};
use chartroom_search::store::VectorStore;
use chartroom_search::symbols::{SymbolKind, symbol_id};

pub(crate) struct Bench<S = MemoryStore> {
    _dir: TempDir,
    pub(crate) data: PathBuf,
    pub(crate) project: PathBuf,
    /// The project's canonical path as text.
    pub(crate) root: String,
    pub(crate) store: Arc<FaultyStore<S>>,
    pub(crate) core: Arc<Core>,
    /// Texts that were embedded so far.
    pub(crate) embedded: Arc<AtomicUsize>,
}

/// The id of the function `alpha` of `a.rs`.
pub(crate) fn alpha() -> String {
    symbol_id("a.rs", SymbolKind::Function, "alpha", 0)
}

/// What a person sees of a codebase.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) search: Result<IndexStatus, String>,
    pub(crate) outline: Result<IndexStatus, String>,
    pub(crate) status: IndexStatus,
    pub(crate) listed: Vec<(String, CodebaseBucket)>,
}

impl Bench {
    /// An empty data folder and a project of two files.
    pub(crate) fn new() -> Self {
        Self::with_store(|_| MemoryStore::default())
    }

    /// One that is indexed.
    pub(crate) fn indexed() -> Self {
        let bench = Self::new();
        let response = bench.manage(ManageAction::Create);
        assert_eq!(response.status, IndexStatus::Ok, "{}", response.message);
        assert_eq!(bench.entry().unwrap().state.name(), "indexed");
        bench
    }
}

impl<S: VectorStore + 'static> Bench<S> {
    /// The same on another store, which is made for the data folder.
    pub(crate) fn with_store(make: impl FnOnce(&std::path::Path) -> S) -> Self {
        // Thousands of data folders, each synced to disk many times: memory is kinder, where there is such a folder.
        let shared_memory = std::path::Path::new("/dev/shm");
        let dir = match shared_memory.is_dir() {
            true => tempfile::tempdir_in(shared_memory).unwrap(),
            false => tempfile::tempdir().unwrap(),
        };
        let base = dir.path().canonicalize().unwrap();
        let (data, project) = (base.join("data"), base.join("project"));
        std::fs::create_dir_all(&data).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("a.rs"), "fn alpha() {}\nfn beta() {}\n").unwrap();
        std::fs::write(project.join("b.rs"), "fn gamma() {}\n").unwrap();
        let store = Arc::new(FaultyStore::new(make(&data)));
        let embedded = Arc::default();
        let core = core(&data, &store, "model", &embedded);
        let root = project.to_str().unwrap().to_owned();
        Self { _dir: dir, data, project, root, store, core, embedded }
    }

    /// The same folder and store in a new process.
    pub(crate) fn restart(&mut self) {
        self.restart_with("model");
    }

    /// The same folder and store in a new process with another embedding model.
    pub(crate) fn restart_with(&mut self, model: &str) {
        self.core = core(&self.data, &self.store, model, &self.embedded);
        lifecycle::recover(&self.core);
    }

    pub(crate) fn service(&self) -> IndexService {
        IndexService::on(Arc::clone(&self.core))
    }

    pub(crate) fn params(&self, action: ManageAction) -> ManageIndexParams {
        ManageIndexParams::new(action, &self.root)
    }

    /// Does it, and the build to its end.
    pub(crate) fn manage(&self, action: ManageAction) -> ManageIndexResponse {
        self.manage_with(self.params(action), Ok(&[]))
    }

    pub(crate) fn manage_with(
        &self,
        params: ManageIndexParams,
        changed: Result<&[&str], &str>,
    ) -> ManageIndexResponse {
        let changed: ChangedFiles = changed
            .map(|files| files.iter().map(|file| (*file).to_owned()).collect())
            .map_err(ToOwned::to_owned);
        let managed = lifecycle::manage(&self.core, params, Some(changed));
        if let Some(job) = managed.job {
            job.run();
        }
        managed.response
    }

    /// Runs something that may be killed by the script; true when it was.
    pub(crate) fn killed_in(&self, work: impl FnOnce(&Self)) -> bool {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(self))) {
            Ok(()) => false,
            Err(panic) if panic.is::<Killed>() => true,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    pub(crate) fn search(&self, query: &str) -> Result<SearchCodebaseResponse, ToolError> {
        tools::search_codebase::search(&self.core, self.search_params(query))
    }

    pub(crate) fn search_params(&self, query: &str) -> SearchCodebaseParams {
        serde_json::from_value(serde_json::json!({"path": self.root, "query": query})).unwrap()
    }

    pub(crate) fn outline(&self, file: &str) -> Result<FileOutlineResponse, ToolError> {
        let params = serde_json::from_value(serde_json::json!({"path": self.root, "file": file})).unwrap();
        tools::file_outline::outline(self.core.read_context(), &params)
    }

    pub(crate) fn call_graph(&self, file: &str, symbol_id: &str) -> Result<CallGraphResponse, ToolError> {
        let params =
            serde_json::json!({"path": self.root, "symbolRef": {"file": file, "symbolId": symbol_id}});
        tools::call_graph::call_graph(self.core.read_context(), &serde_json::from_value(params).unwrap())
    }

    pub(crate) fn list(&self) -> ListCodebasesResponse {
        tools::list_codebases::list(&self.core)
    }

    pub(crate) fn entry(&self) -> Option<CodebaseInfo> {
        self.core.catalog.read().doc.codebases.get(&self.root).cloned()
    }

    /// The catalog's file; empty when there is none.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.core.catalog.path()).unwrap_or_default()
    }

    /// Asks every read tool.
    pub(crate) fn facts(&self) -> Facts {
        let short = |error: ToolError| error.0;
        Facts {
            search: self.search("fn").map(|response| response.status).map_err(short),
            outline: self.outline("a.rs").map(|response| response.status).map_err(short),
            status: self.manage(ManageAction::Status).status,
            listed: self
                .list()
                .codebases
                .into_iter()
                .map(|codebase| (codebase.path, codebase.bucket))
                .collect(),
        }
    }
}

fn core<S: VectorStore + 'static>(
    data: &std::path::Path,
    store: &Arc<FaultyStore<S>>,
    model: &str,
    embedded: &Arc<AtomicUsize>,
) -> Arc<Core> {
    let settings = IndexSettings {
        data: data.to_path_buf(),
        config: IndexConfig::default(),
        version: "test".into(),
        long_running: false,
        git: GitProbe::none(),
        parser: Arc::new(chartroom_search::parser::InProcess::default()),
    };
    let embedder = Arc::new(simple::OneDimension { model: model.into(), texts: Arc::clone(embedded) });
    Arc::new(Core::new(&settings, Arc::clone(store) as _, embedder))
}
