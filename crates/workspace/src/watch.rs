//! What others did to the files of a workspace since somebody last looked: shells, git, generators, a person's editor.
//!
//! Nothing runs in the background. The kernel keeps what happened in a queue (`watch::kernel`), complete by the time the
//! program that did it has ended, and [`Watch::sweep`] empties it: what was done before a sweep is told by it. Where the
//! kernel gives no watches, or lost events, the folders are listed and compared instead, for as long as a sweep may take.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::CanonicalRoot;

#[cfg(target_os = "linux")]
mod kernel;
#[cfg(not(target_os = "linux"))]
#[path = "watch/no_kernel.rs"]
mod kernel;
mod tree;

use kernel::{Kernel, Notice};
use tree::Tree;

/// How a file differs from when it was last told; the numbers are those of the language server protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created = 1,
    /// It has another content, or may have.
    Changed = 2,
    /// It is not there any more.
    Deleted = 3,
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

/// Changes by path, each the sum of what happened there.
#[derive(Debug, Default)]
struct Changes(BTreeMap<PathBuf, (Change, Kind)>);

impl Changes {
    fn add(&mut self, path: PathBuf, kind: Kind, change: Change) {
        use Change::{Changed, Created, Deleted};
        let before = self.0.get(&path).copied();
        let sum = match (before.map(|(before, _)| before), change) {
            (None, change) => Some(change),
            (Some(Created), Deleted) => None,
            // A folder has no content: one that went and came back is as it was.
            (Some(Deleted), Created) if before == Some((Deleted, Kind::Folder)) && kind == Kind::Folder => {
                None
            }
            (Some(Created), Created | Changed) => Some(Created),
            (Some(Changed | Deleted), Deleted) => Some(Deleted),
            (Some(Changed | Deleted), Created | Changed) => Some(Changed),
        };
        match sum {
            Some(sum) => self.0.insert(path, (sum, kind)),
            None => self.0.remove(&path),
        };
    }
}

/// The watch over one workspace, for all who want to know what changes in it. Cheap to clone.
#[derive(Clone)]
pub struct Watch {
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    root: CanonicalRoot,
    /// How many folders may be watched, for tests; the system has its own limit.
    max_watches: usize,
    /// What was there; nothing until the first subscriber came.
    tree: Option<Tree>,
    source: Source,
    subscribers: Vec<Weak<Mutex<Changes>>>,
}

/// Where changes are learned from.
enum Source {
    /// The kernel tells.
    Kernel(Kernel),
    /// It does not, for this reason: folders are compared, beginning with those that the last sweep had no time for.
    Comparing { reason: String, waiting: Vec<PathBuf> },
}

/// What one subscriber has not taken yet.
#[derive(Debug)]
pub struct Subscription {
    changes: Arc<Mutex<Changes>>,
}

impl Subscription {
    /// Takes what the sweeps so far have found, by path: files that came, changed and went, folders that came and went.
    pub fn take(&self) -> Vec<(PathBuf, Change)> {
        let changes = std::mem::take(&mut *lock(&self.changes)).0;
        changes.into_iter().map(|(path, (change, _))| (path, change)).collect()
    }

    /// Whether there is something to take.
    pub fn is_empty(&self) -> bool {
        lock(&self.changes).0.is_empty()
    }
}

impl Watch {
    /// Makes a watch that looks at nothing until somebody subscribes.
    pub fn new(root: CanonicalRoot) -> Self {
        Self::with_limit(root, usize::MAX)
    }

    /// Like [`Self::new`], on a system that gives so many watches and no more.
    pub fn with_limit(root: CanonicalRoot, max_watches: usize) -> Self {
        let source = Source::Comparing { reason: "nobody has subscribed".to_owned(), waiting: Vec::new() };
        let inner = Inner { root, max_watches, tree: None, source, subscribers: Vec::new() };
        Self { inner: Arc::new(Mutex::new(inner)) }
    }

    /// Subscribes to what changes from now on. The first time all folders are looked at, which blocks for as long.
    pub fn subscribe(&self) -> Subscription {
        let mut inner = lock(&self.inner);
        if inner.tree.is_none() {
            inner.start();
        }
        let changes = Arc::default();
        inner.subscribers.push(Arc::downgrade(&changes));
        Subscription { changes }
    }

    /// Finds what changed and gives it to every subscriber. Blocks; no longer than `limit` where folders are compared.
    /// Returns whether everything was looked at.
    pub fn sweep(&self, limit: Duration) -> bool {
        let mut inner = lock(&self.inner);
        let mut changes = Changes::default();
        let is_complete = inner.sweep(&mut changes, limit);
        inner.subscribers.retain(|subscriber| {
            let Some(subscriber) = subscriber.upgrade() else { return false };
            let mut pending = lock(&subscriber);
            for (path, (change, kind)) in &changes.0 {
                pending.add(path.clone(), *kind, *change);
            }
            true
        });
        is_complete
    }

    /// Why folders are compared instead of watched; nothing while the kernel tells what changes.
    pub fn why_not_watched(&self) -> Option<String> {
        match &lock(&self.inner).source {
            Source::Kernel(_) => None,
            Source::Comparing { reason, .. } => Some(reason.clone()),
        }
    }
}

impl Inner {
    fn start(&mut self) {
        let mut tree = Tree::new(self.root.clone());
        match Kernel::new(self.max_watches) {
            Ok(mut kernel) => match tree.enter(PathBuf::new(), Some(&mut kernel), &mut Changes::default()) {
                Ok(()) => self.source = Source::Kernel(kernel),
                Err(error) => self.compare(&error),
            },
            Err(error) => self.compare(&error),
        }
        if let Source::Comparing { .. } = self.source {
            tree = Tree::new(self.root.clone());
            // Without a kernel to ask, nothing in it can fail.
            tree.enter(PathBuf::new(), None, &mut Changes::default()).ok();
        }
        self.tree = Some(tree);
    }

    /// Gives the watches back: half of the folders watched is worse than none, because silence would mean nothing.
    fn compare(&mut self, error: &std::io::Error) {
        let reason = kernel::why(error);
        tracing::warn!(root = %self.root, reason, "the folder cannot be watched and is compared instead");
        self.source = Source::Comparing { reason, waiting: Vec::new() };
    }

    fn sweep(&mut self, changes: &mut Changes, limit: Duration) -> bool {
        let Some(tree) = &mut self.tree else { return true };
        let failed = match &mut self.source {
            Source::Kernel(kernel) => told(tree, kernel, changes),
            Source::Comparing { waiting, .. } => return compare(tree, waiting, changes, limit),
        };
        match failed {
            Ok(()) => true,
            Err(error) => {
                // What the kernel had no watch or no room for is found by comparing, from now on.
                self.compare(&error);
                self.sweep(changes, limit)
            }
        }
    }
}

/// Takes in what the kernel has to tell.
fn told(tree: &mut Tree, kernel: &mut Kernel, changes: &mut Changes) -> std::io::Result<()> {
    let mut is_lost = false;
    for notice in kernel.notices()? {
        match notice {
            Notice::File { folder, name } => tree.file(&folder, &name, changes),
            Notice::Folder { folder, name } => {
                let below = folder.join(&name);
                tree.leave(&below, Some(kernel), changes);
                tree.enter(below, Some(kernel), changes)?;
            }
            Notice::Lost => is_lost = true,
        }
    }
    if is_lost {
        tracing::info!("more happened than the kernel keeps; the folders are compared once");
        let mut waiting = vec![PathBuf::new()];
        while let Some(folder) = waiting.pop() {
            waiting.extend(tree.compare(&folder, Some(kernel), changes)?);
        }
    }
    Ok(())
}

/// Finishes the round that the last sweep had no time for, then compares every folder; returns whether all are done.
fn compare(tree: &mut Tree, waiting: &mut Vec<PathBuf>, changes: &mut Changes, limit: Duration) -> bool {
    let began = Instant::now();
    let mut go_on = |waiting: &mut Vec<PathBuf>| {
        while began.elapsed() < limit {
            let Some(folder) = waiting.pop() else { return true };
            // Without a kernel to ask, nothing in it can fail.
            waiting.extend(tree.compare(&folder, None, changes).unwrap_or_default());
        }
        waiting.is_empty()
    };
    if !go_on(waiting) {
        return false;
    }
    waiting.push(PathBuf::new());
    go_on(waiting)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
