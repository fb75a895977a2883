//! Real source in a temporary folder, and the index on it.

#![allow(clippy::unwrap_used, unreachable_pub, reason = "a test may panic, also in its helpers")]

use std::path::{Path, PathBuf};

use chartroom_index::store::VectorStore as _;
use chartroom_index::tools::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_protocol::index::{IndexConfig, SearchCodebaseParams, SearchCodebaseResponse};

/// A data folder and a project of real files.
pub struct Folder {
    _dir: tempfile::TempDir,
    pub data: PathBuf,
    pub project: PathBuf,
}

impl Folder {
    /// The first `files` Python files of django, in their folders.
    pub fn with_sources(files: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (data, project) = (base.join("data"), base.join("project"));
        std::fs::create_dir_all(&data).unwrap();
        let django = chartroom_testkit::tools::dir().join("sources/django-5.2.8/django");
        assert!(django.is_dir(), "run `cargo xtask tools` to install the sources into {}", django.display());
        let mut found = Vec::new();
        collect(&django, &mut found);
        found.sort();
        assert!(found.len() >= files, "{} has {} Python files", django.display(), found.len());
        for file in &found[..files] {
            let to = project.join(file.strip_prefix(&django).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(file, to).unwrap();
        }
        Self { _dir: dir, data, project }
    }

    pub fn project(&self) -> &str {
        self.project.to_str().unwrap()
    }

    /// Changes, adds and removes some files.
    pub fn edit(&self, random: &mut Random, count: usize) {
        let mut files = Vec::new();
        collect(&self.project, &mut files);
        files.sort();
        for _ in 0..count {
            let file = &files[random.below(files.len())];
            match random.below(4) {
                0 => std::fs::write(
                    file.with_extension("added.py"),
                    format!("def added_{}():\n    pass\n", random.next()),
                )
                .unwrap(),
                1 if file.to_str().unwrap().ends_with(".added.py") => {
                    std::fs::remove_file(file).unwrap_or_default()
                }
                _ => {
                    let text = std::fs::read_to_string(file).unwrap_or_default();
                    std::fs::write(file, format!("{text}\ndef edited_{}():\n    return 1\n", random.next()))
                        .unwrap();
                }
            }
        }
    }
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            into.push(path);
        }
    }
}

/// Opens the index as a process of its own would.
pub fn open(data: &Path) -> IndexService {
    IndexService::open(IndexSettings {
        data: data.to_path_buf(),
        config: IndexConfig::default(),
        version: "test".into(),
        long_running: false,
        git: GitProbe::none(),
    })
    .unwrap()
}

pub async fn search(service: &IndexService, folder: &Folder, query: &str) -> SearchCodebaseResponse {
    let params = serde_json::json!({"path": folder.project(), "query": query, "scope": "mixed"});
    let params: SearchCodebaseParams = serde_json::from_value(params).unwrap();
    service.search(params).await.unwrap()
}

/// Everything a search can see of the project's index in this data folder.
pub fn digest(data: &Path, folder: &Folder) -> String {
    let store = chartroom_index::embedded::EmbeddedStore::open(data).unwrap();
    store.open_reader(folder.project()).unwrap().unwrap().payload_digest().unwrap()
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
