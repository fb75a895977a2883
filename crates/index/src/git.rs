//! Which files differ from the last commit, asked of git through the workspace's gate.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chartroom_workspace::{CanonicalRoot, SpawnGate};

use crate::commits::CommitLog;
use crate::mutex::lock;

/// Files that differ from the last commit, relative to the root, or why they are not known.
pub(crate) type ChangedFiles = Result<BTreeSet<String>, String>;

/// How long an answer is good for.
const FRESH: Duration = Duration::from_secs(5);

type Answer = Pin<Box<dyn Future<Output = ChangedFiles> + Send>>;
type Cache = Mutex<HashMap<PathBuf, (Instant, BTreeSet<String>)>>;

/// Asks which files changed. Cheap to clone.
#[derive(Clone)]
pub struct GitProbe {
    ask: Arc<dyn Fn(PathBuf) -> Answer + Send + Sync>,
    cache: Arc<Cache>,
    commits: CommitLog,
}

impl GitProbe {
    /// Asks git itself; an untrusted folder gives no answer, because git would run what its config says.
    pub fn through(gate: SpawnGate) -> Self {
        let commits = CommitLog::through(gate.clone());
        let changed = Self::from_fn(move |root| {
            let gate = gate.clone();
            Box::pin(async move {
                let root = CanonicalRoot::open(&root).map_err(|error| error.to_string())?;
                let files = chartroom_workspace::git::changed_files(&gate, &root)
                    .await
                    .map_err(|error| error.to_string())?;
                let relative = files.iter().filter_map(|file| root.relative(&file.path));
                Ok(relative.filter_map(Path::to_str).map(ToOwned::to_owned).collect())
            })
        });
        Self { commits, ..changed }
    }

    /// Never has an answer.
    pub fn none() -> Self {
        Self::from_fn(|_| Box::pin(async { Err("git may not be run here".into()) }))
    }

    /// Asks this function.
    pub fn from_fn(ask: impl Fn(PathBuf) -> Answer + Send + Sync + 'static) -> Self {
        Self { ask: Arc::new(ask), cache: Arc::default(), commits: CommitLog::none() }
    }

    /// Where commits are asked for.
    pub(crate) fn commits(&self) -> CommitLog {
        self.commits.clone()
    }

    pub(crate) async fn changed(&self, root: &Path) -> ChangedFiles {
        (self.ask)(root.to_path_buf()).await
    }

    /// What was known last; empty when nothing is. Never waits.
    pub(crate) fn known(&self, root: &Path) -> BTreeSet<String> {
        lock(&self.cache).get(root).map(|(_, files)| files.clone()).unwrap_or_default()
    }

    /// Asks again in the background when the last answer is old. A failure keeps the old answer.
    pub(crate) fn refresh(&self, root: &Path) {
        let mut cache = lock(&self.cache);
        if cache.get(root).is_some_and(|(at, _)| at.elapsed() < FRESH) {
            return;
        }
        // Stamped before the answer, so that many searches ask once.
        let known = cache.get(root).map(|(_, files)| files.clone()).unwrap_or_default();
        cache.insert(root.to_path_buf(), (Instant::now(), known));
        drop(cache);
        let (probe, root) = (self.clone(), root.to_path_buf());
        // Bounded by git's own patience; nobody needs its end.
        drop(tokio::spawn(async move {
            if let Ok(files) = probe.changed(&root).await {
                lock(&probe.cache).insert(root, (Instant::now(), files));
            }
        }));
    }
}
