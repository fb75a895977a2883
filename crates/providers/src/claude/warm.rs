//! Warm processes: initialised, never used, for the next new session of an open project.
//!
//! A process is handed out once and belongs to that session; it never comes back. The pool is small on purpose:
//! a Claude process takes some 200 MB.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::AgentHandle;

use super::process::Started;
use super::provider::{Conversation, ProjectDir, Settings, Starter};

/// At most this many warm processes for all projects together; a newly opened one takes the oldest's place.
const MAX_TOTAL: usize = 4;
/// A new session's first turn has the machine for itself before its successor in the pool is started.
const AFTER_USE: Duration = Duration::from_secs(3);
/// Without this much memory to spare nothing is kept warm unless the config says so.
const SPARE_MEMORY_KIB: u64 = 8 * 1024 * 1024;

#[derive(Clone)]
pub(super) struct WarmPool {
    starter: Starter,
    per_project: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    ready: VecDeque<(ProjectDir, Started)>,
    /// Projects that a process is being started for.
    starting: Vec<ProjectDir>,
}

impl WarmPool {
    pub(super) fn new(starter: Starter) -> Self {
        let by_memory = || usize::from(spare_memory_kib().is_some_and(|spare| spare >= SPARE_MEMORY_KIB));
        let per_project = starter.config.warm_processes.unwrap_or_else(by_memory).min(MAX_TOTAL);
        Self { starter, per_project, state: Arc::default() }
    }

    /// Takes a warm process for this project, if there is one that lives and can be told the settings.
    pub(super) async fn take(&self, project_dir: &Path, settings: &Settings) -> Option<Started> {
        if !settings.fit_a_warm_process() {
            return None;
        }
        loop {
            let started = {
                let mut state = self.lock();
                let index = state.ready.iter().position(|(project, _)| project == project_dir)?;
                state.ready.remove(index)?.1
            };
            if started.handle.is_alive() {
                return Some(started);
            }
        }
    }

    /// Sees to it, in the background, that the project has its warm processes.
    pub(super) fn fill(&self, project_dir: &Path) {
        self.fill_after(project_dir, Duration::ZERO);
    }

    /// The same when a session has just been given out: not at once, which would slow its first token down.
    pub(super) fn refill(&self, project_dir: &Path) {
        self.fill_after(project_dir, AFTER_USE);
    }

    fn fill_after(&self, project_dir: &Path, pause: Duration) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let missing = {
            let mut state = self.lock();
            let ready = state.ready.iter().filter(|(project, _)| project == project_dir).count();
            let starting = state.starting.iter().filter(|project| *project == project_dir).count();
            let missing = self.per_project.saturating_sub(ready + starting);
            state.starting.extend(std::iter::repeat_n(project_dir.to_path_buf(), missing));
            missing
        };
        for _ in 0..missing {
            let pool = self.clone();
            let project_dir = project_dir.to_path_buf();
            runtime.spawn(async move {
                tokio::time::sleep(pause).await;
                pool.start(project_dir).await;
            });
        }
    }

    async fn start(self, project_dir: ProjectDir) {
        let conversation = Conversation::New(SessionId::new(uuid::Uuid::new_v4().to_string()));
        let started = self.starter.start(&project_dir, conversation, &Settings::default()).await;
        let session_id = started.as_ref().ok().map(|started| started.session_id.clone());
        let evicted = {
            let mut state = self.lock();
            if let Some(index) = state.starting.iter().position(|starting| *starting == project_dir) {
                state.starting.swap_remove(index);
            }
            match started {
                Ok(started) => state.ready.push_back((project_dir, started)),
                // Untrusted, not installed: whoever asks for a session is told; nobody asked here.
                Err(error) => tracing::debug!(%error, "no warm process could be started"),
            }
            if state.ready.len() > MAX_TOTAL { state.ready.pop_front() } else { None }
        };
        if let Some((_, evicted)) = evicted {
            evicted.handle.kill().await;
        }
        if let (Some(session_id), Some(idle)) = (session_id, self.starter.config.warm_idle) {
            // A pool that is dropped meanwhile ends its processes itself.
            let state = Arc::downgrade(&self.state);
            drop(self);
            tokio::time::sleep(idle).await;
            if let Some(state) = state.upgrade() {
                let_go(&state, &session_id).await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Ends a process that nobody took. The next one is started when a person opens a project or a session again.
async fn let_go(state: &Mutex<State>, session_id: &SessionId) {
    let idle = {
        let mut state = lock(state);
        let index = state.ready.iter().position(|(_, started)| started.session_id == *session_id);
        index.and_then(|index| state.ready.remove(index))
    };
    if let Some((_, idle)) = idle {
        idle.handle.kill().await;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spare_memory_kib() -> Option<u64> {
    let memory = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find(|line| line.starts_with("MemAvailable:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
