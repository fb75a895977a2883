//! What the commits of each root say: kept in a file below the data folder, brought up to date beside the answers.
//!
//! It only ever helps a ranking. Without a repository, without trust, with a file that cannot be read, there is nothing to
//! say and every search is answered as before.

use std::collections::HashMap;
use std::future::Future;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chartroom_search::history::{FORMAT, History, HistoryWords, MAX_COMMITS};
use chartroom_workspace::git::Log;
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use crate::mutex::lock;

/// How long an answer of git is good for.
const FRESH: Duration = Duration::from_secs(30);
/// A file that is larger was not written by us.
const MAX_FILE: u64 = 64 << 20;

type Answer = Pin<Box<dyn Future<Output = Result<Log, String>> + Send>>;
type Ask = Arc<dyn Fn(PathBuf, Option<String>) -> Answer + Send + Sync>;

/// Asks for the commits after a known one.
#[derive(Clone)]
pub(crate) struct CommitLog(Ask);

impl CommitLog {
    /// Asks git itself; an untrusted folder gives no answer.
    pub(crate) fn through(gate: SpawnGate) -> Self {
        Self::from_fn(move |root, known| {
            let gate = gate.clone();
            Box::pin(async move {
                let root = CanonicalRoot::open(&root).map_err(|error| error.to_string())?;
                chartroom_workspace::git::history(&gate, &root, known.as_deref(), FORMAT, MAX_COMMITS)
                    .await
                    .map_err(|error| error.to_string())
            })
        })
    }

    /// Never has an answer.
    pub(crate) fn none() -> Self {
        Self::from_fn(|_, _| Box::pin(async { Err("git may not be run here".into()) }))
    }

    /// Asks this function.
    pub(crate) fn from_fn(ask: impl Fn(PathBuf, Option<String>) -> Answer + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }
}

/// The commits of every root that was asked for. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Commits {
    log: CommitLog,
    folder: PathBuf,
    roots: Arc<Mutex<HashMap<PathBuf, Known>>>,
}

/// What is known of one root.
#[derive(Clone, Default)]
struct Known {
    history: Option<Arc<History>>,
    words: Option<Arc<HistoryWords>>,
    asked: Option<Instant>,
}

impl Commits {
    /// Keeps its files below the data folder.
    pub(crate) fn new(log: CommitLog, data: &Path) -> Self {
        Self { log, folder: data.join("history"), roots: Arc::default() }
    }

    /// What is known; read from its file the first time. Never asks git.
    pub(crate) fn known(&self, root: &Path) -> Option<Arc<HistoryWords>> {
        self.entry(root).words
    }

    /// Asks again in the background when the last answer is old.
    pub(crate) fn refresh(&self, root: &Path) {
        if self.claim(root) {
            let (commits, root) = (self.clone(), root.to_path_buf());
            // Bounded by git's own patience; nobody needs its end.
            drop(tokio::spawn(async move { commits.update(&root).await }));
        }
    }

    /// Brings a root up to date. A failure keeps what is known.
    pub(crate) async fn update(&self, root: &Path) {
        let known = self.entry(root).history;
        let head = known.as_ref().map(|history| history.head.clone()).filter(|head| !head.is_empty());
        let history = match (self.log.0)(root.to_path_buf(), head).await {
            Ok(Log::Unchanged) => return,
            Ok(Log::Newer { head, log }) => {
                let known = known.map(|known| History::clone(&known)).unwrap_or_default();
                known.advanced(History::read(&head, &log))
            }
            Ok(Log::Whole { head, log }) => History::read(&head, &log),
            Err(error) => {
                tracing::debug!(root = %root.display(), error, "index: no history");
                return;
            }
        };
        let (commits, root) = (self.clone(), root.to_path_buf());
        let kept = tokio::task::spawn_blocking(move || {
            if let Err(error) = commits.write(&root, &history) {
                tracing::debug!(root = %root.display(), %error, "index: the history is not kept");
            }
            commits.set(&root, history);
        });
        if let Err(error) = kept.await {
            tracing::warn!(%error, "index: the history could not be counted");
        }
    }

    /// Forgets a root and removes its file.
    pub(crate) fn forget(&self, root: &Path) {
        lock(&self.roots).remove(root);
        match std::fs::remove_file(self.file(root)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(root = %root.display(), %error, "index: the history stays");
            }
            _ => {}
        }
    }

    /// Stamped before the answer, so that many searches ask once.
    fn claim(&self, root: &Path) -> bool {
        let mut roots = lock(&self.roots);
        let known = roots.entry(root.to_path_buf()).or_default();
        let is_old = known.asked.is_none_or(|at| at.elapsed() >= FRESH);
        if is_old {
            known.asked = Some(Instant::now());
        }
        is_old
    }

    fn entry(&self, root: &Path) -> Known {
        if let Some(known) = lock(&self.roots).get(root).filter(|known| known.history.is_some()) {
            return known.clone();
        }
        let history = self.read(root).unwrap_or_default();
        self.set(root, history)
    }

    fn set(&self, root: &Path, history: History) -> Known {
        let words = Some(HistoryWords::of(&history)).filter(|words| !words.is_empty()).map(Arc::new);
        let mut roots = lock(&self.roots);
        let known = roots.entry(root.to_path_buf()).or_default();
        (known.history, known.words) = (Some(Arc::new(history)), words);
        known.clone()
    }

    fn file(&self, root: &Path) -> PathBuf {
        let name = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        self.folder.join(format!("{}.json", &name[..24]))
    }

    /// None when there is no file, or none that can be read: git is asked for all of it then.
    fn read(&self, root: &Path) -> Option<History> {
        let file = self.file(root);
        let size = std::fs::metadata(&file).ok()?.len();
        if size > MAX_FILE {
            return None;
        }
        serde_json::from_slice(&std::fs::read(file).ok()?).ok()
    }

    fn write(&self, root: &Path, history: &History) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(history)?)?;
        file.persist(self.file(root)).map(|_| ()).map_err(|error| error.error)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    const ROOT: &str = "/repo";

    fn log(id: &str, message: &str, file: &str) -> Vec<u8> {
        format!("\x01{id}\x02{message}\x03\0\n{file}\0").into_bytes()
    }

    /// A repository whose second answer has one commit more.
    fn growing(asked: Arc<Mutex<Vec<Option<String>>>>) -> CommitLog {
        let count = Arc::new(AtomicUsize::new(0));
        CommitLog::from_fn(move |_, known| {
            lock(&asked).push(known);
            let answer = match count.fetch_add(1, Ordering::SeqCst) {
                0 => Ok(Log::Whole { head: "aa".into(), log: log("aa", "Mend uploads", "net/upload.rs") }),
                1 => Ok(Log::Newer { head: "bb".into(), log: log("bb", "Mend colours", "page.rs") }),
                _ => Err("gone".to_owned()),
            };
            Box::pin(async move { answer })
        })
    }

    fn finds(commits: &Commits, word: &str) -> bool {
        let weights = [(word.to_owned(), 1.0)].into_iter().collect();
        commits.known(ROOT.as_ref()).is_some_and(|words| !words.by_commit(&weights).is_empty())
    }

    #[tokio::test]
    async fn history_is_read_once_then_only_what_is_newer_and_another_process_finds_it() {
        let data = tempfile::tempdir().unwrap();
        let asked = Arc::default();
        let commits = Commits::new(growing(Arc::clone(&asked)), data.path());
        assert!(!finds(&commits, "uploads"));
        commits.update(ROOT.as_ref()).await;
        assert!(finds(&commits, "uploads") && !finds(&commits, "colours"));
        commits.update(ROOT.as_ref()).await;
        assert!(finds(&commits, "uploads") && finds(&commits, "colours"));
        commits.update(ROOT.as_ref()).await;
        assert!(finds(&commits, "colours"), "a failure keeps what is known");
        assert_eq!(*lock(&asked), [None, Some("aa".to_owned()), Some("bb".to_owned())]);
        let other = Commits::new(CommitLog::none(), data.path());
        assert!(finds(&other, "uploads") && finds(&other, "colours"));
        other.forget(ROOT.as_ref());
        assert!(!finds(&Commits::new(CommitLog::none(), data.path()), "uploads"));
    }

    #[tokio::test]
    async fn a_damaged_file_is_no_history_and_all_is_asked_for_again() {
        let data = tempfile::tempdir().unwrap();
        let asked = Arc::default();
        let commits = Commits::new(growing(Arc::clone(&asked)), data.path());
        std::fs::create_dir_all(&commits.folder).unwrap();
        std::fs::write(commits.file(ROOT.as_ref()), "{\"head\": 3").unwrap();
        assert!(commits.known(ROOT.as_ref()).is_none());
        commits.update(ROOT.as_ref()).await;
        assert!(finds(&commits, "uploads"));
        assert_eq!(*lock(&asked), [None]);
    }
}
