//! A machine: a data folder, a checkout, and the index service on them.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chartroom_index::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_protocol::index::*;
use chartroom_search::embed::{EmbedError, Embedder};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::server::Server;
use crate::store::TeamStore;
use crate::sweep::Sweeping;

/// The project of the tests.
pub(crate) const PROJECT: &str = "team/app";

/// An embedder whose vectors are hashes, which counts what it is asked.
pub(crate) struct Hashes {
    pub(crate) model: String,
    pub(crate) texts: Arc<AtomicUsize>,
}

impl Embedder for Hashes {
    fn provider(&self) -> &str {
        "test"
    }
    fn model(&self) -> &str {
        &self.model
    }
    fn dimension(&self) -> usize {
        4
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(hashes(texts))
    }
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(hashes(&[query]).remove(0))
    }
}

fn hashes(texts: &[&str]) -> Vec<Vec<f32>> {
    let vector = |text: &&str| {
        let hash = blake3::hash(text.as_bytes());
        let values: Vec<f32> = hash.as_bytes()[..4].iter().map(|byte| f32::from(*byte) + 1.0).collect();
        let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
        values.into_iter().map(|value| value / length).collect()
    };
    texts.iter().map(vector).collect()
}

pub(crate) struct Machine {
    _dir: TempDir,
    pub(crate) data: PathBuf,
    pub(crate) project: PathBuf,
    /// The project's canonical path as text.
    pub(crate) root: String,
    service: RefCell<IndexService>,
    store: Arc<dyn VectorStore>,
    model: String,
    /// Texts that were embedded here.
    texts: Arc<AtomicUsize>,
    runtime: Runtime,
}

impl Machine {
    /// A machine with a checkout of two files that reaches this server.
    pub(crate) fn new(server: impl Server + 'static) -> Self {
        Self::with_term(server, crate::store::TERM)
    }

    /// The same, which waits so long for a silent writer.
    pub(crate) fn with_term(server: impl Server + 'static, term: Duration) -> Self {
        Self::sweeping(server, term, Sweeping::default())
    }

    /// The same, which takes away what nobody names at other times.
    pub(crate) fn sweeping(server: impl Server + 'static, term: Duration, sweeping: Sweeping) -> Self {
        let dir = folder();
        let base = dir.path().canonicalize().unwrap();
        let (data, project) = (base.join("data"), base.join("project"));
        std::fs::create_dir_all(&data).unwrap();
        std::fs::create_dir_all(&project).unwrap();
        let texts = Arc::default();
        let own = Arc::new(SqliteStore::open(&data).unwrap());
        let store: Arc<dyn VectorStore> =
            Arc::new(TeamStore::new(&data, own, Arc::new(server)).with_term(term).with_sweeping(sweeping));
        let service = RefCell::new(service(&data, Arc::clone(&store), "model", &texts));
        let root = project.to_str().unwrap().to_owned();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let model = "model".to_owned();
        let machine = Self { _dir: dir, data, project, root, service, store, model, texts, runtime };
        machine.write_first_texts();
        machine
    }

    /// The two files as they were in the beginning.
    pub(crate) fn write_first_texts(&self) {
        self.write("a.rs", "/// Adds.\nfn alpha() {\n    beta();\n}\nfn beta() {}\n");
        self.write("b.rs", "fn gamma() {\n    alpha();\n}\n");
    }

    /// The same data folder with another store or model: a config that was changed.
    pub(crate) fn reconfigure(&mut self, store: Arc<dyn VectorStore>, model: &str) {
        (self.store, self.model) = (store, model.to_owned());
        self.restart();
    }

    /// The same in a new process, which looks at the folder at its first search.
    fn restart(&self) {
        self.service.replace(service(&self.data, Arc::clone(&self.store), &self.model, &self.texts));
    }

    pub(crate) fn service(&self) -> IndexService {
        self.service.borrow().clone()
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.project.join(file), text).unwrap();
        self.restart();
    }

    pub(crate) fn remove(&self, file: &str) {
        match std::fs::remove_file(self.project.join(file)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => panic!("{error}"),
            _ => self.restart(),
        }
    }

    /// How many texts were embedded since the last time.
    pub(crate) fn embedded(&self) -> usize {
        self.texts.swap(0, Ordering::SeqCst)
    }

    pub(crate) fn share(&self) -> ManageIndexResponse {
        self.runtime.block_on(self.service().share(&self.root, Some(PROJECT)))
    }

    pub(crate) fn adopt(&self) -> ManageIndexResponse {
        self.runtime.block_on(self.service().adopt(&self.root, Some(PROJECT)))
    }

    pub(crate) fn manage(&self, action: ManageAction) -> ManageIndexResponse {
        let params = ManageIndexParams {
            force: action == ManageAction::Create,
            ..ManageIndexParams::new(action, &self.root)
        };
        self.runtime.block_on(async {
            let mut params = params;
            params.allow_unnecessary_reindex = true;
            let service = self.service();
            let started = service.manage(params).await;
            service.finish(started).await
        })
    }

    /// `create` as a person asks for it.
    pub(crate) fn create_unforced(&self) -> ManageIndexResponse {
        self.runtime.block_on(async {
            let service = self.service();
            let started = service.manage(ManageIndexParams::new(ManageAction::Create, &self.root)).await;
            service.finish(started).await
        })
    }

    /// What each read tool answers, as a client gets it, without its times. None of them is an error of the protocol.
    pub(crate) fn envelopes(&self) -> serde_json::Value {
        use serde_json::json;
        let (root, service) = (&self.root, self.service());
        let symbol = json!({"file": "a.rs", "symbolId": "alpha"});
        let calls = [
            ("search_codebase", json!({"path": root, "detail": "full", "query": "alpha"})),
            ("file_outline", json!({"path": root, "detail": "full", "file": "a.rs"})),
            ("call_graph", json!({"path": root, "detail": "full", "symbolRef": symbol})),
            ("manage_index", json!({"path": root, "action": "status"})),
            ("list_codebases", json!({})),
        ];
        let mut answers = json!({});
        for (tool, arguments) in calls {
            let answer = self.runtime.block_on(chartroom_index::definitions::call(&service, tool, arguments));
            assert!(!answer.is_error, "{tool}: {answer:?}");
            answers[tool] = answer.structured.expect("every tool answers by a structure");
            without_times(&mut answers[tool]);
        }
        answers
    }

    pub(crate) fn search(&self, query: &str) -> SearchCodebaseResponse {
        let params = serde_json::from_value(serde_json::json!({"path": self.root, "query": query})).unwrap();
        self.runtime.block_on(self.service().search(params)).unwrap()
    }

    /// What a search finds: each result without its times.
    pub(crate) fn found(&self, query: &str) -> Vec<serde_json::Value> {
        let response = self.search(query);
        assert_eq!(response.status, IndexStatus::Ok, "{:?}", response.message);
        let results = serde_json::to_value(&response.results).unwrap();
        let strip = |mut result: serde_json::Value| {
            let text = serde_json::to_string(&result).unwrap().replace(&self.root, "<root>");
            result = serde_json::from_str(&text).unwrap();
            for key in ["indexedAt", "stalenessBucket"] {
                result.as_object_mut().unwrap().remove(key);
            }
            result
        };
        results.as_array().unwrap().iter().cloned().map(strip).collect()
    }

    /// Whether a search finds this text. Vectors find something for every query.
    pub(crate) fn finds(&self, text: &str) -> bool {
        self.found(text).iter().any(|found| found.to_string().contains(text))
    }

    /// The catalog's bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.data.join("codebases.json")).unwrap_or_default()
    }

    /// What every read tool says.
    pub(crate) fn facts(&self) -> Facts {
        let search = self.search("fn");
        let hints = search.hints.unwrap_or_default();
        Facts {
            search: search.status,
            unproven: hints.debug_proof_check.is_some(),
            stale: hints.stale_local.map(|stale| stale.completion_proof),
            status: self.manage(ManageAction::Status).status,
            listed: self.runtime.block_on(self.service().list()).codebases.len(),
        }
    }
}

/// What a person sees.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facts {
    pub(crate) search: IndexStatus,
    pub(crate) unproven: bool,
    pub(crate) stale: Option<ProofReason>,
    pub(crate) status: IndexStatus,
    pub(crate) listed: usize,
}

impl Facts {
    pub(crate) fn ok() -> Self {
        Self { search: IndexStatus::Ok, unproven: false, stale: None, status: IndexStatus::Ok, listed: 1 }
    }

    pub(crate) fn unproven() -> Self {
        Self { unproven: true, ..Self::ok() }
    }
}

/// In memory where there is such a place: what survives a power cut is not asked here, and waiting for disks would be
/// most of the time.
fn folder() -> TempDir {
    let memory = std::path::Path::new("/dev/shm");
    match tempfile::tempdir_in(memory) {
        Ok(dir) => dir,
        Err(_) => tempfile::tempdir().unwrap(),
    }
}

/// Takes out what is another at every call.
fn without_times(answer: &mut serde_json::Value) {
    match answer {
        serde_json::Value::Object(fields) => {
            for name in ["freshnessDecision", "checkedAt", "lastCheckedAt"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_times);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

fn service(
    data: &std::path::Path,
    store: Arc<dyn VectorStore>,
    model: &str,
    texts: &Arc<AtomicUsize>,
) -> IndexService {
    let settings = IndexSettings {
        data: data.to_path_buf(),
        config: IndexConfig::default(),
        version: "test".into(),
        long_running: false,
        git: GitProbe::none(),
        parser: Arc::new(chartroom_search::parser::InProcess::default()),
    };
    let embedder = Arc::new(Hashes { model: model.into(), texts: Arc::clone(texts) });
    IndexService::with_parts(settings, store, embedder).unwrap()
}
