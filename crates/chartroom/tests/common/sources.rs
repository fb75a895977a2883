//! A real project in a temporary folder: django's Python files, and what an index of it must hold.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chartroom_index::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_protocol::index::{
    IndexConfig, ManageAction, ManageIndexParams, ManageIndexResponse, SearchCodebaseParams,
    SearchCodebaseResponse,
};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::VectorStore as _;

/// A project, and every file's digest as a fresh build gives it.
pub struct Sources {
    pub project: PathBuf,
    /// By path below the project.
    pub expected: BTreeMap<String, String>,
}

impl Sources {
    /// The first `files` Python files of the django release, in their folders.
    pub fn new(project: PathBuf, files: usize) -> Self {
        let django = chartroom_testkit::tools::dir().join("sources/django-5.2.8");
        assert!(django.is_dir(), "run `cargo xtask tools` to install the sources into {}", django.display());
        let found = python_files(&django);
        assert!(found.len() >= files, "{} has {} Python files", django.display(), found.len());
        for file in &found[..files] {
            copy(&django.join(file), &project.join(file));
        }
        Self { project, expected: BTreeMap::new() }
    }

    pub fn path(&self) -> &str {
        self.project.to_str().unwrap()
    }

    /// Changes, adds and removes some files, and learns from a fresh index of those alone what the whole must hold.
    pub async fn edit(&mut self, random: &mut Random, count: usize) {
        let files = python_files(&self.project);
        let mut touched = BTreeSet::new();
        for _ in 0..count {
            let file = &files[random.below(files.len())];
            let path = self.project.join(file);
            match random.below(4) {
                0 => {
                    let added = format!("{}_added.py", file.trim_end_matches(".py"));
                    let text = format!("def added_{}():\n    pass\n", random.next());
                    std::fs::write(self.project.join(&added), text).unwrap();
                    touched.insert(added);
                }
                1 if file.ends_with("_added.py") => {
                    // Chosen twice, it is gone already.
                    std::fs::remove_file(path).ok();
                    touched.insert(file.clone());
                }
                _ => {
                    let text = std::fs::read_to_string(&path).unwrap_or_default();
                    let more = format!("\n\ndef edited_{}():\n    return 1\n", random.next());
                    std::fs::write(&path, text + &more).unwrap();
                    touched.insert(file.clone());
                }
            }
        }
        self.learn(&touched).await;
    }

    async fn learn(&mut self, touched: &BTreeSet<String>) {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path().canonicalize().unwrap().join("part");
        std::fs::create_dir_all(&part).unwrap();
        for file in touched {
            self.expected.remove(file);
            let from = self.project.join(file);
            if from.exists() {
                copy(&from, &part.join(file));
            }
        }
        let data = folder.path().join("data");
        create(&data, &part).await;
        self.expected.extend(file_digests(&data, &part));
    }

    /// What a fresh build of all of it gives, in this data folder.
    pub async fn build_fresh(&self, data: &Path) -> BTreeMap<String, String> {
        create(data, &self.project).await;
        file_digests(data, &self.project)
    }
}

async fn create(data: &Path, project: &Path) {
    let service = open(data);
    let params = ManageIndexParams::new(ManageAction::Create, project.to_str().unwrap());
    let started = service.manage(params).await;
    let built = service.finish(started).await;
    assert_eq!(built.status, chartroom_protocol::index::IndexStatus::Ok, "{built:?}");
}

/// Compares two data folders' indexes of a project, chunk by chunk and symbol by symbol.
pub fn assert_equal_chunks(project: &str, left: &Path, right: &Path, when: &str) {
    let reader = |data: &Path| SqliteStore::open(data).unwrap().open_reader(project).unwrap().unwrap();
    let (left, right) = (reader(left), reader(right));
    let counts = |reader: &dyn chartroom_search::store::GenerationReader| {
        // When each was built is all that may differ.
        chartroom_search::store::Counts { graph_built_at_ms: 0, ..reader.counts().unwrap() }
    };
    assert_eq!(counts(&*left), counts(&*right), "{when}");
    let paths = |manifest: chartroom_search::store::Manifest| manifest.files.into_keys().collect::<Vec<_>>();
    let files = paths(left.manifest().unwrap());
    assert_eq!(files, paths(right.manifest().unwrap()), "{when}");
    for file in &files {
        let chunks = |reader: &dyn chartroom_search::store::GenerationReader| {
            let chunks = reader.chunks_in(file).unwrap();
            chunks.into_iter().map(|stored| stored.chunk).collect::<Vec<_>>()
        };
        assert_eq!(chunks(&*left), chunks(&*right), "{when}: {file}");
        assert_eq!(left.symbols_in(file).unwrap(), right.symbols_in(file).unwrap(), "{when}: {file}");
    }
    assert_eq!(
        left.payload_digest().unwrap(),
        right.payload_digest().unwrap(),
        "{when}: vectors and references"
    );
}

pub fn file_digests(data: &Path, project: &Path) -> BTreeMap<String, String> {
    SqliteStore::open(data).unwrap().file_digests(project.to_str().unwrap()).unwrap()
}

/// Paths below a folder, sorted.
pub fn python_files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(next) = pending.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                found.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(from, to).unwrap();
}

/// Opens the index as a process of its own would.
pub fn open(data: &Path) -> IndexService {
    IndexService::open(IndexSettings {
        data: data.to_path_buf(),
        config: IndexConfig::default(),
        version: env!("CARGO_PKG_VERSION").into(),
        long_running: false,
        git: GitProbe::none(),
        parser: std::sync::Arc::new(chartroom_search::parser::InProcess::default()),
    })
    .unwrap()
}

/// Does something to a project's index in a new process's stead, to its end.
pub async fn manage(data: &Path, project: &str, action: ManageAction) -> ManageIndexResponse {
    let service = open(data);
    let started = service.manage(ManageIndexParams::new(action, project)).await;
    service.finish(started).await
}

pub async fn search(service: &IndexService, project: &str, query: &str) -> SearchCodebaseResponse {
    let params = serde_json::json!({"path": project, "query": query, "scope": "mixed"});
    let params: SearchCodebaseParams = serde_json::from_value(params).unwrap();
    service.search(params).await.unwrap()
}

/// A small generator, seeded, so that a run can be had again.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    pub fn fraction(&mut self) -> f64 {
        (self.next() % 1000) as f64 / 1000.0
    }
}
