//! What this process knows about the freshness of one root: when it was synced, whether it is watched, what happened since.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use chartroom_protocol::index::FreshnessDecision;

use crate::mutex::lock;

/// What this process knows about the freshness of one root.
#[derive(Debug, Default)]
pub(crate) struct RootSync {
    /// Held while a sync runs; whoever waits for it looks at what it found.
    pub(crate) last: Mutex<Last>,
    /// A watcher watches the folder, so that "nothing happened" is known without looking.
    watched: AtomicBool,
    /// Something happened since the last sync began.
    pub(crate) dirty: AtomicBool,
    /// Which files a watcher saw changing since the last sync began.
    seen: Mutex<Seen>,
    /// The files that the parser failed on, as of the last sync of this process: one that nobody asked for does not write
    /// them to the catalog.
    pub(crate) unparsed: Mutex<Option<Vec<String>>>,
    /// What is missing of the folder, when so much is that it is not followed.
    pub(crate) vanished: Mutex<Option<String>>,
    /// Why a folder that should be watched is polled.
    polled: Mutex<Option<String>>,
}

/// What a watcher saw.
#[derive(Debug, Default)]
pub(crate) enum Seen {
    /// These paths below the root.
    Files(BTreeSet<String>),
    /// More than can be named, or something that is not known.
    #[default]
    Anything,
}

/// More files than this are found quicker by a look at all.
const MAX_SEEN: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Last {
    /// When the last good sync began: it saw everything written before.
    pub(crate) began: Option<Instant>,
    pub(crate) at: Option<jiff::Timestamp>,
    pub(crate) outcome: Option<FreshnessDecision>,
    pub(crate) ignore_signature: Option<String>,
    pub(crate) ignore_rules_version: u64,
}

impl RootSync {
    /// Something happened, and what is not known.
    pub(crate) fn mark_dirty(&self) {
        *lock(&self.seen) = Seen::Anything;
        self.dirty.store(true, Ordering::SeqCst);
    }

    /// A watcher saw something happen to these paths below the root.
    pub(crate) fn mark_files(&self, paths: impl IntoIterator<Item = String>) {
        let mut seen = lock(&self.seen);
        if let Seen::Files(files) = &mut *seen {
            files.extend(paths);
            if files.len() > MAX_SEEN {
                *seen = Seen::Anything;
            }
        }
        drop(seen);
        self.dirty.store(true, Ordering::SeqCst);
    }

    /// What was seen until now; from now on it is collected anew. The files alone only when nothing else can have changed.
    pub(crate) fn take_seen(&self) -> Seen {
        self.dirty.store(false, Ordering::SeqCst);
        let seen = std::mem::replace(&mut *lock(&self.seen), Seen::Files(BTreeSet::new()));
        if self.watched.load(Ordering::SeqCst) { seen } else { Seen::Anything }
    }

    /// A watcher began or ended.
    pub(crate) fn set_watched(&self, watched: bool) {
        // What happened before the watch began is not known.
        self.mark_dirty();
        self.watched.store(watched, Ordering::SeqCst);
    }

    /// The folder cannot be watched: it is looked at instead.
    pub(crate) fn set_unwatched(&self, why: String) {
        *lock(&self.polled) = Some(why);
        self.set_watched(false);
    }

    /// Why the folder is polled though it should be watched.
    pub(crate) fn polled_because(&self) -> Option<String> {
        lock(&self.polled).clone()
    }

    /// A build has just ended. Its scan is older than that, so the next search looks again.
    pub(crate) fn built(&self) {
        *lock(&self.last) = Last::default();
        *lock(&self.unparsed) = None;
    }

    /// Nothing happened since the last sync, and somebody would have seen it.
    pub(crate) fn is_clean(&self) -> bool {
        self.watched.load(Ordering::SeqCst) && !self.dirty.load(Ordering::SeqCst)
    }
}
