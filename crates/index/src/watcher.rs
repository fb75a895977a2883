//! Watches indexed folders and syncs them in the background once they are quiet.
//!
//! A root is watched only after it was used in this process. Where the system gives no more watches (ENOSPC) the root is
//! polled instead: a search then looks at the folder itself, as it does in a process without a watcher.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use chartroom_protocol::index::WatchConfig;
use notify::{RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::service::{Core, lock};
use crate::sync::{self, Purpose};

/// How often every used root is looked at when nothing was heard.
const POLL_EVERY: Duration = Duration::from_secs(180);
/// Folders whose changes are never ours.
const QUIET_FOLDERS: &[&str] = &["node_modules", "target", "dist", "build", "__pycache__", "coverage"];

/// The watcher's handle; its task ends when this is dropped.
pub(crate) struct Watcher {
    core: Weak<Core>,
    watches: Mutex<HashMap<String, Option<notify::RecommendedWatcher>>>,
    /// Roots that changed. Bounded: when full, the root's dirty mark is set all the same and the poll finds it.
    changed: mpsc::Sender<String>,
    enabled: bool,
}

impl Watcher {
    /// Starts the background task; none without a runtime to run it in.
    pub(crate) fn start(core: &Arc<Core>, config: &WatchConfig) -> Option<Self> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        let (changed, changes) = mpsc::channel(256);
        let weak = Arc::downgrade(core);
        runtime.spawn(background(weak.clone(), changes, Duration::from_millis(config.debounce_ms)));
        Some(Self { core: weak, watches: Mutex::default(), changed, enabled: config.enabled })
    }

    /// This root was used: watch it from now on.
    pub(crate) fn touch(&self, root: &str) {
        let Some(core) = self.core.upgrade() else { return };
        if !self.enabled || lock(&self.watches).contains_key(root) || !Path::new(root).is_dir() {
            return;
        }
        let tracked =
            core.catalog.read().doc.codebases.get(root).is_some_and(|info| info.state.is_searchable());
        if !tracked {
            return;
        }
        lock(&self.watches).insert(root.to_owned(), None);
        let (weak, changed, watched) = (self.core.clone(), self.changed.clone(), root.to_owned());
        let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            heard(&weak, &changed, &watched, event);
        });
        let started = made.and_then(|mut watcher| {
            watcher.watch(Path::new(root), RecursiveMode::Recursive)?;
            Ok(watcher)
        });
        match started {
            Ok(watcher) => {
                core.sync_of(root).set_watched(true);
                lock(&self.watches).insert(root.to_owned(), Some(watcher));
            }
            Err(error) => {
                tracing::warn!(root, %error, "the folder cannot be watched and is polled instead");
                core.sync_of(root).set_watched(false);
            }
        }
    }
}

/// Runs on the watcher's own thread: marks, and wakes the background task.
fn heard(
    core: &Weak<Core>,
    changed: &mpsc::Sender<String>,
    root: &str,
    event: notify::Result<notify::Event>,
) {
    let Some(core) = core.upgrade() else { return };
    match event {
        Ok(event) if event.kind.is_access() => return,
        Ok(event) if !event.paths.is_empty() && event.paths.iter().all(|path| is_quiet(root, path)) => return,
        Ok(_) => core.sync_of(root).mark_dirty(),
        Err(error) => {
            // Out of watches, or events were lost: from now on the folder is looked at.
            tracing::warn!(root, %error, "the watch is not complete; the folder is polled");
            core.sync_of(root).set_watched(false);
        }
    }
    if changed.try_send(root.to_owned()).is_err() {
        tracing::debug!(root, "many changes; the poll will find them");
    }
}

/// Paths that are never indexed: dot folders (but not the ignore files) and output.
fn is_quiet(root: &str, path: &Path) -> bool {
    let Ok(below) = path.strip_prefix(root) else { return false };
    let name = below.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if matches!(name, ".gitignore" | ".chartroomignore") {
        return false;
    }
    below.components().any(|part| {
        part.as_os_str().to_str().is_some_and(|part| part.starts_with('.') || QUIET_FOLDERS.contains(&part))
    })
}

/// Syncs roots that changed once they are quiet, and every used root now and then. Ends with the last handle.
async fn background(core: Weak<Core>, mut changes: mpsc::Receiver<String>, debounce: Duration) {
    let mut waiting: HashMap<String, Instant> = HashMap::new();
    let mut poll = tokio::time::interval(POLL_EVERY);
    poll.tick().await;
    loop {
        let next = waiting.values().min().copied();
        let quiet = async {
            match next {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            root = changes.recv() => match root {
                Some(root) => { waiting.insert(root, Instant::now() + debounce); }
                None => return,
            },
            () = quiet => {}
            _ = poll.tick() => {
                let Some(core) = core.upgrade() else { return };
                let now = Instant::now();
                waiting.extend(lock(&core.syncs).keys().map(|root| (root.clone(), now)));
            }
        }
        let now = Instant::now();
        let mut due: Vec<String> =
            waiting.iter().filter(|(_, at)| **at <= now).map(|(root, _)| root.clone()).collect();
        due.sort();
        for root in due {
            waiting.remove(&root);
            let Some(core) = core.upgrade() else { return };
            let synced = tokio::task::spawn_blocking(move || {
                let searchable = core
                    .catalog
                    .read()
                    .doc
                    .codebases
                    .get(&root)
                    .is_some_and(|info| info.state.is_searchable());
                if searchable && may_sync(&core, &root) {
                    let freshness = sync::ensure_freshness(&core, &root, 0, Purpose::Passive);
                    tracing::debug!(root, mode = ?freshness.decision.mode, "background sync");
                }
            });
            if let Err(error) = synced.await {
                tracing::error!(%error, "a background sync panicked");
            }
        }
    }
}

/// Whether the gates let this runtime answer from (and so write to) this index.
pub(crate) fn may_sync(core: &Core, root: &str) -> bool {
    use crate::gates::{self, EntryState, FingerprintGate, Verdict};
    use crate::service::GateFacts;
    let view = core.view();
    let info = view.doc.codebases.get(root);
    let verdict = gates::decide(
        EntryState::of(info),
        FingerprintGate::of(info, &core.fingerprint),
        false,
        core.proof(root).proof,
    );
    matches!(verdict, Verdict::Ok { .. })
}
