//! Warm processes: started and initialised, never used, for the next session of an open project.
//!
//! A process is handed out once and belongs to that session; it never comes back. The pool is small on purpose:
//! a Claude process takes some 200 MB.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chartroom_sessions::ProviderError;
use tokio::sync::oneshot;

/// At most this many warm processes of an agent for all projects together; a newly opened one takes the oldest's place.
const MAX_TOTAL: usize = 4;
/// A new session's first turn has the machine for itself before its successor in the pool is started.
const AFTER_USE: Duration = Duration::from_secs(3);
/// Without this much memory to spare nothing is kept warm unless the config says so.
const SPARE_MEMORY_KIB: u64 = 8 * 1024 * 1024;

/// A process that waits for a session.
#[async_trait]
pub(crate) trait Spare: Send + 'static {
    /// Tells whether a session that begins now can have it: it lives, and would be started the same way again.
    fn is_fit(&self) -> bool;

    /// Ends it and everything below it.
    async fn end(self);
}

/// What starts such processes.
#[async_trait]
pub(crate) trait StartsSpares: Clone + Send + Sync + 'static {
    type Spare: Spare;

    async fn start_spare(&self, project_dir: &Path) -> Result<Self::Spare, ProviderError>;
}

/// Keeps warm processes for each open project.
pub(crate) struct WarmPool<S: StartsSpares> {
    starter: S,
    per_project: usize,
    idle: Option<Duration>,
    state: Arc<Mutex<State<S::Spare>>>,
}

impl<S: StartsSpares> Clone for WarmPool<S> {
    fn clone(&self) -> Self {
        let (starter, state) = (self.starter.clone(), Arc::clone(&self.state));
        Self { starter, per_project: self.per_project, idle: self.idle, state }
    }
}

struct State<P> {
    ready: VecDeque<Waiting<P>>,
    starting: Vec<Starting<P>>,
    n_started: u64,
}

struct Waiting<P> {
    number: u64,
    project_dir: PathBuf,
    spare: P,
}

struct Starting<P> {
    number: u64,
    project_dir: PathBuf,
    /// The pause before it is over.
    has_begun: bool,
    /// The session that came while it starts.
    wanted_by: Option<oneshot::Sender<P>>,
}

impl<S: StartsSpares> WarmPool<S> {
    /// Keeps so many for each project, or as many as the machine's memory allows; lets go those that are idle for long.
    pub(crate) fn new(starter: S, per_project: Option<usize>, idle: Option<Duration>) -> Self {
        let by_memory = || usize::from(spare_memory_kib().is_some_and(|spare| spare >= SPARE_MEMORY_KIB));
        let per_project = per_project.unwrap_or_else(by_memory).min(MAX_TOTAL);
        let state = State { ready: VecDeque::new(), starting: Vec::new(), n_started: 0 };
        Self { starter, per_project, idle, state: Arc::new(Mutex::new(state)) }
    }

    /// Takes a warm process of this project, if there is one that is fit; one that is starting already is waited for, as
    /// another would be there later. Those that are not fit are ended.
    pub(crate) async fn take(&self, project_dir: &Path) -> Option<S::Spare> {
        loop {
            let found = lock(&self.state).find(project_dir)?;
            let spare = match found {
                Found::Ready(spare) => spare,
                // It does not start: whoever tries next is told why.
                Found::Starting(started) => started.await.ok()?,
            };
            if spare.is_fit() {
                return Some(spare);
            }
            // Nobody's session waits for the end of a process that it does not get.
            tokio::spawn(spare.end());
        }
    }

    /// Sees to it, in the background, that the project has its warm processes.
    pub(crate) fn fill(&self, project_dir: &Path) {
        self.fill_after(project_dir, Duration::ZERO);
    }

    /// The same when a session has just been given out: not at once, which would slow its first token down.
    pub(crate) fn refill(&self, project_dir: &Path) {
        self.fill_after(project_dir, AFTER_USE);
    }

    fn fill_after(&self, project_dir: &Path, pause: Duration) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        for number in lock(&self.state).missing(project_dir, self.per_project, pause.is_zero()) {
            let pool = self.clone();
            let project_dir = project_dir.to_path_buf();
            runtime.spawn(async move {
                if !pause.is_zero() {
                    tokio::time::sleep(pause).await;
                }
                pool.start(number, project_dir).await;
            });
        }
    }

    async fn start(self, number: u64, project_dir: PathBuf) {
        lock(&self.state).begin(number);
        let started = self.starter.start_spare(&project_dir).await;
        let evicted = match started {
            Ok(spare) => lock(&self.state).started(number, spare),
            Err(error) => {
                // Untrusted, not installed: whoever asks for a session is told; nobody asked here.
                tracing::debug!(%error, "no warm process could be started");
                lock(&self.state).ended(number);
                return;
            }
        };
        if let Some(evicted) = evicted {
            evicted.end().await;
        }
        if let Some(idle) = self.idle {
            // A pool that is dropped meanwhile ends its processes itself.
            let state = Arc::downgrade(&self.state);
            drop(self);
            tokio::time::sleep(idle).await;
            if let Some(state) = state.upgrade() {
                let_go(&state, number).await;
            }
        }
    }
}

enum Found<P> {
    Ready(P),
    Starting(oneshot::Receiver<P>),
}

impl<P> State<P> {
    fn find(&mut self, project_dir: &Path) -> Option<Found<P>> {
        let ready = self.ready.iter().position(|waiting| waiting.project_dir == project_dir);
        if let Some(waiting) = ready.and_then(|index| self.ready.remove(index)) {
            return Some(Found::Ready(waiting.spare));
        }
        let is_free = |starting: &&mut Starting<P>| {
            starting.has_begun && starting.wanted_by.is_none() && starting.project_dir == project_dir
        };
        let starting = self.starting.iter_mut().find(is_free)?;
        let (wanted_by, started) = oneshot::channel();
        starting.wanted_by = Some(wanted_by);
        Some(Found::Starting(started))
    }

    /// Notes those that the project lacks as starting, and returns their numbers.
    fn missing(&mut self, project_dir: &Path, wanted: usize, has_begun: bool) -> Vec<u64> {
        let ready = self.ready.iter().filter(|waiting| waiting.project_dir == project_dir).count();
        let is_for_the_pool =
            |starting: &&Starting<P>| starting.wanted_by.is_none() && starting.project_dir == project_dir;
        let starting = self.starting.iter().filter(is_for_the_pool).count();
        let first = self.n_started;
        self.n_started += wanted.saturating_sub(ready + starting) as u64;
        let numbers: Vec<u64> = (first..self.n_started).collect();
        self.starting.extend(numbers.iter().map(|&number| Starting {
            number,
            project_dir: project_dir.to_path_buf(),
            has_begun,
            wanted_by: None,
        }));
        numbers
    }

    fn begin(&mut self, number: u64) {
        if let Some(starting) = self.starting.iter_mut().find(|starting| starting.number == number) {
            starting.has_begun = true;
        }
    }

    /// Gives a process to the session that waits for it, or keeps it; returns the one that has no place any more.
    fn started(&mut self, number: u64, spare: P) -> Option<P> {
        let starting = self.ended(number)?;
        let spare = match starting.wanted_by {
            // The session may be gone meanwhile; the next one can have it.
            Some(wanted_by) => wanted_by.send(spare).err()?,
            None => spare,
        };
        self.ready.push_back(Waiting { number, project_dir: starting.project_dir, spare });
        if self.ready.len() <= MAX_TOTAL {
            return None;
        }
        self.ready.pop_front().map(|oldest| oldest.spare)
    }

    fn ended(&mut self, number: u64) -> Option<Starting<P>> {
        let index = self.starting.iter().position(|starting| starting.number == number)?;
        Some(self.starting.swap_remove(index))
    }
}

/// Ends a process that nobody took. The next one is started when a person opens a project or a session again.
async fn let_go<P: Spare>(state: &Mutex<State<P>>, number: u64) {
    let idle = {
        let mut state = lock(state);
        let index = state.ready.iter().position(|waiting| waiting.number == number);
        index.and_then(|index| state.ready.remove(index))
    };
    if let Some(idle) = idle {
        idle.spare.end().await;
    }
}

fn lock<P>(state: &Mutex<State<P>>) -> MutexGuard<'_, State<P>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spare_memory_kib() -> Option<u64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests;
