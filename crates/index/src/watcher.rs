//! Watches indexed folders and syncs them in the background once they are quiet.
//!
//! A root is watched only after it was used in this process, folder by folder, so that what is never indexed
//! (node_modules, .git, output, what the ignore files name) costs no watches. Where the system gives no more (ENOSPC) the
//! root is polled instead: a search then looks at the folder itself, as it does in a process without a watcher.

mod folders;

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use chartroom_protocol::index::WatchConfig;
use notify::{ErrorKind, EventKind, RecursiveMode};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::core::Core;
use crate::mutex::lock;
use crate::sync::{self, Purpose};
use folders::{is_quiet, watched_folders};

/// How often every used root is looked at when no event came.
const POLL_EVERY: Duration = Duration::from_secs(180);

type Handler = Box<dyn Fn(notify::Result<notify::Event>) + Send>;
/// Makes what the system calls when something changes; tests have one that has no watches to give.
type MakeWatch = fn(Handler) -> notify::Result<Box<dyn notify::Watcher + Send>>;

/// The watcher's handle; its task ends when this is dropped.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
    enabled: bool,
}

struct Shared {
    core: Weak<Core>,
    make: MakeWatch,
    watches: Mutex<HashMap<String, Watch>>,
    /// Roots that changed. Bounded: when full, the root's dirty mark is set all the same and the poll finds it.
    events: mpsc::Sender<FileEvents>,
}

/// What is watched of a root; nothing when it is polled.
#[derive(Default)]
struct Watch {
    watcher: Option<Box<dyn notify::Watcher + Send>>,
}

/// What the background task is told.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FileEvents {
    root: String,
    /// Folders may have come, or the rules that name those to leave out have changed.
    folders: bool,
}

impl Watcher {
    /// Starts the background task; none without a runtime to run it in.
    pub(crate) fn start(core: &Arc<Core>, config: &WatchConfig) -> Option<Self> {
        Self::start_with(core, config, |handler| {
            notify::recommended_watcher(handler).map(|watcher| Box::new(watcher) as _)
        })
    }

    fn start_with(core: &Arc<Core>, config: &WatchConfig, make: MakeWatch) -> Option<Self> {
        let runtime = tokio::runtime::Handle::try_current().ok()?;
        let (sender, events) = mpsc::channel(256);
        let core = Arc::downgrade(core);
        let shared = Arc::new(Shared { core: core.clone(), make, watches: Mutex::default(), events: sender });
        // The task holds the watches weakly: they, and with them the channel, end with this handle.
        let watches = Arc::downgrade(&shared);
        let roots = {
            let core = core.clone();
            move || core.upgrade().map(|core| lock(&core.syncs).keys().cloned().collect())
        };
        let debounce = Duration::from_millis(config.debounce_ms);
        runtime.spawn(background(events, debounce, roots, move |events| {
            settle(core.clone(), watches.clone(), events)
        }));
        Some(Self { shared, enabled: config.enabled })
    }

    /// This root was used: watch it from now on.
    pub(crate) fn touch(&self, root: &str) {
        let Some(core) = self.shared.core.upgrade() else { return };
        if !self.enabled || lock(&self.shared.watches).contains_key(root) || !Path::new(root).is_dir() {
            return;
        }
        let tracked =
            core.catalog.read().doc.codebases.get(root).is_some_and(|info| info.state.is_searchable());
        if tracked {
            self.shared.watch(&core, root);
        }
    }
}

impl Shared {
    /// Watches every folder of the root, and says so in the root's state. One that is watched already is asked for again:
    /// it may have gone and come back, which takes its watch away without an event.
    fn watch(&self, core: &Core, root: &str) {
        let mut watches = lock(&self.watches);
        let is_new = !watches.contains_key(root);
        let watch = watches.entry(root.to_owned()).or_default();
        if is_new {
            let (weak, sender, watched) = (self.core.clone(), self.events.clone(), root.to_owned());
            let handler: Handler = Box::new(move |event| on_event(&weak, &sender, &watched, event));
            match (self.make)(handler) {
                Ok(watcher) => watch.watcher = Some(watcher),
                Err(error) => return poll(core, root, watch, &error),
            }
        }
        let Some(watcher) = &mut watch.watcher else { return };
        for folder in &watched_folders(Path::new(root)) {
            match watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => {}
                // It went while the list was made; its going is seen by its parent.
                Err(error) if !folder.is_dir() => {
                    tracing::debug!(%error, "a folder went before it was watched")
                }
                Err(error) => return poll(core, root, watch, &error),
            }
        }
        if is_new {
            core.sync_of(root).set_watched(true);
        } else {
            core.sync_of(root).mark_dirty();
        }
    }
}

/// Gives the watches of a root back: half of a folder watched is worse than none, because silence would mean nothing.
fn poll(core: &Core, root: &str, watch: &mut Watch, error: &notify::Error) {
    tracing::warn!(root, %error, "the folder cannot be watched and is polled instead");
    *watch = Watch::default();
    core.sync_of(root).set_unwatched(why(error));
}

fn why(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system has no watches left (ENOSPC); raise fs.inotify.max_user_watches".to_owned()
        }
        ErrorKind::Generic(_)
        | ErrorKind::Io(_)
        | ErrorKind::PathNotFound
        | ErrorKind::WatchNotFound
        | ErrorKind::InvalidConfig(_) => error.to_string(),
    }
}

/// Runs on the watcher's own thread: marks, and wakes the background task. (Watches cannot be asked for here: the answer
/// would come on this very thread.)
fn on_event(
    core: &Weak<Core>,
    events: &mpsc::Sender<FileEvents>,
    root: &str,
    event: notify::Result<notify::Event>,
) {
    let Some(core) = core.upgrade() else { return };
    let mut folders = false;
    match event {
        Ok(event) if event.kind.is_access() => return,
        Ok(event) if !event.paths.is_empty() && event.paths.iter().all(|path| is_quiet(root, path)) => return,
        Ok(event) => {
            let rules = event.paths.iter().any(|path| folders::is_ignore_file(path));
            let came = matches!(
                event.kind,
                EventKind::Create(_) | EventKind::Modify(notify::event::ModifyKind::Name(_))
            ) && event.paths.iter().any(|path| path.is_dir());
            folders = rules || came || event.need_rescan();
            let below: Option<Vec<String>> = event
                .paths
                .iter()
                .map(|path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned()))
                .collect();
            match below.filter(|paths| !folders && !paths.is_empty()) {
                Some(paths) => core.sync_of(root).mark_files(paths),
                None => core.sync_of(root).mark_dirty(),
            }
        }
        Err(error) => {
            // Out of watches, or events were lost: from now on the folder is looked at.
            tracing::warn!(root, %error, "the watch is not complete; the folder is polled");
            core.sync_of(root).set_unwatched(why(&error));
        }
    }
    if events.try_send(FileEvents { root: root.to_owned(), folders }).is_err() {
        // A folder that came may be unwatched now, so that silence is no longer known to be silence.
        if folders {
            core.sync_of(root).set_unwatched("too much happened at once".to_owned());
        }
        tracing::debug!(root, "many changes; the poll will find them");
    }
}

/// Calls `settle` for roots that changed once they are quiet, and for every used root now and then. Ends with the last
/// sender, or when `roots` has none to give any more.
async fn background<F: Future<Output = bool>>(
    mut events: mpsc::Receiver<FileEvents>,
    debounce: Duration,
    roots: impl Fn() -> Option<Vec<String>>,
    settle: impl Fn(FileEvents) -> F,
) {
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
            event = events.recv() => match event {
                Some(first) => {
                    // All that is there at once: a checkout makes a thousand folders.
                    let mut came = BTreeSet::new();
                    let mut event = Some(first);
                    while let Some(FileEvents { root, folders }) = event {
                        waiting.insert(root.clone(), Instant::now() + debounce);
                        if folders {
                            came.insert(root);
                        }
                        event = events.try_recv().ok();
                    }
                    // New folders are watched now: what happens in them until then is seen by nobody.
                    for root in came {
                        if !settle(FileEvents { root, folders: true }).await {
                            return;
                        }
                    }
                }
                None => return,
            },
            () = quiet => {}
            _ = poll.tick() => {
                let Some(roots) = roots() else { return };
                let now = Instant::now();
                waiting.extend(roots.into_iter().map(|root| (root, now)));
            }
        }
        let now = Instant::now();
        let mut due: Vec<String> =
            waiting.iter().filter(|(_, at)| **at <= now).map(|(root, _)| root.clone()).collect();
        due.sort();
        for root in due {
            waiting.remove(&root);
            if !settle(FileEvents { root, folders: false }).await {
                return;
            }
        }
    }
}

/// Watches what came, or syncs what is quiet; false when there is nothing left to do it for.
async fn settle(core: Weak<Core>, watches: Weak<Shared>, events: FileEvents) -> bool {
    let (Some(core), Some(watches)) = (core.upgrade(), watches.upgrade()) else { return false };
    let done = tokio::task::spawn_blocking(move || {
        let root = events.root;
        if events.folders {
            return watches.watch(&core, &root);
        }
        let searchable =
            core.catalog.read().doc.codebases.get(&root).is_some_and(|info| info.state.is_searchable());
        if searchable && may_sync(&core, &root) {
            let freshness = sync::ensure_freshness(&core, &root, 0, Purpose::Passive);
            tracing::debug!(root, mode = ?freshness.decision.mode, "background sync");
        }
    });
    if let Err(error) = done.await {
        tracing::error!(%error, "a background sync panicked");
    }
    true
}

/// Whether the gates let this runtime answer from (and so write to) this index.
pub(crate) fn may_sync(core: &Core, root: &str) -> bool {
    use crate::core::GateFacts;
    use crate::gates::{self, EntryState, FingerprintGate, Verdict};
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
