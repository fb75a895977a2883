//! Parsing in helper processes: a small pool, restarted after a death.

use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::failed::FailedFiles;
use super::{InProcess, Parser, Unparsed, wire};
use crate::symbols::{Extracted, Language, PARSE_BUDGET};

/// How long an answer is waited for. The helper itself gives a file up earlier, unless it hangs.
const TIMEOUT: Duration = Duration::from_secs(PARSE_BUDGET.as_secs() + 7);
/// No more helpers than this, however many processors there are.
const MAX_HELPERS: usize = 16;

/// What a helper says to a question.
pub type Answer = Result<Vec<u8>, WorkerError>;

/// Why a helper did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorkerError {
    /// It is gone: it crashed, or somebody ended it.
    #[error("the parser died: {0}")]
    Died(String),
    /// It did not answer in time.
    #[error("the parser did not answer in time")]
    TooSlow,
}

/// A process that answers one question at a time. Dropping it ends it.
pub trait Worker: Send {
    /// After an error the worker is of no more use.
    fn ask(&mut self, question: &[u8], timeout: Duration) -> Answer;
}

type Start = dyn Fn() -> Result<Box<dyn Worker>, String> + Send + Sync;

/// A parser that cannot take this process down.
pub struct HelperParser {
    start: Box<Start>,
    failed: FailedFiles,
    pool: Mutex<Pool>,
    returned: Condvar,
    max_helpers: usize,
}

#[derive(Default)]
struct Pool {
    idle: Vec<Box<dyn Worker>>,
    /// Helpers that are idle or at work.
    n_helpers: usize,
}

impl HelperParser {
    /// `start` makes a helper whose process runs [`serve`]. Nothing is started before it is needed.
    pub fn new(
        data: &Path,
        version: &str,
        start: impl Fn() -> Result<Box<dyn Worker>, String> + Send + Sync + 'static,
    ) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            start: Box::new(start),
            failed: FailedFiles::open(data, version),
            pool: Mutex::default(),
            returned: Condvar::new(),
            max_helpers: processors.min(MAX_HELPERS),
        }
    }

    /// Asks one helper once. `fresh`: one that nobody has asked before.
    fn ask(&self, question: &[u8], fresh: bool) -> Result<Answer, Unparsed> {
        let idle = self.take(fresh);
        let mut worker = match idle.map_or_else(&self.start, Ok) {
            Ok(worker) => worker,
            Err(error) => {
                self.give_back(None);
                tracing::warn!(error, "files are indexed without symbols");
                return Err(Unparsed::NoParser);
            }
        };
        let answer = worker.ask(question, TIMEOUT);
        self.give_back(answer.is_ok().then_some(worker));
        Ok(answer)
    }

    /// Waits for a place in the pool. Returns an idle helper if there is one and it will do.
    fn take(&self, fresh: bool) -> Option<Box<dyn Worker>> {
        let mut pool = self.pool();
        loop {
            match pool.idle.pop() {
                // A fresh one takes its place.
                Some(worker) if fresh => {
                    drop(worker);
                    return None;
                }
                Some(worker) => return Some(worker),
                None if pool.n_helpers < self.max_helpers => {
                    pool.n_helpers += 1;
                    return None;
                }
                None => pool = self.returned.wait(pool).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn give_back(&self, worker: Option<Box<dyn Worker>>) {
        let mut pool = self.pool();
        match worker {
            Some(worker) => pool.idle.push(worker),
            None => pool.n_helpers = pool.n_helpers.saturating_sub(1),
        }
        drop(pool);
        self.returned.notify_one();
    }

    #[cfg(test)]
    pub(super) fn n_helpers(&self) -> usize {
        self.pool().n_helpers
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parser for HelperParser {
    fn extract(&self, path: &str, text: &str) -> Result<Extracted, Unparsed> {
        let language = Language::of(Path::new(path)).unwrap_or_else(Language::plain);
        // Hashing every file would cost as much as a part of its parsing; mostly nothing is known.
        if !self.failed.is_empty() && self.failed.contains(&FailedFiles::key(language.name(), text)) {
            return Err(Unparsed::Fatal);
        }
        let question = wire::question(path, text);
        let mut why = Unparsed::Fatal;
        // A helper may have been ended by somebody else, for want of memory say: only who kills two is guilty.
        for fresh in [false, true] {
            match self.ask(&question, fresh)?.as_deref().map(wire::answered) {
                Ok(Some(Ok(extracted))) => return Ok(extracted),
                Ok(Some(Err(unparsed))) => {
                    why = unparsed;
                    break;
                }
                Ok(None) => {}
                Err(WorkerError::TooSlow) => {
                    why = Unparsed::TooSlow;
                    break;
                }
                Err(error @ WorkerError::Died(_)) => {
                    tracing::debug!(path, %error, "a file took a parser down")
                }
            }
        }
        tracing::warn!(path, error = %why, "a file is indexed by lines, without symbols");
        self.failed.add(FailedFiles::key(language.name(), text));
        Err(why)
    }

    /// A helper keeps the memory of its largest file; one is kept for the next small change.
    fn rest(&self) {
        let mut pool = self.pool();
        let n_idle = pool.idle.len();
        pool.idle.truncate(1);
        pool.n_helpers -= n_idle - pool.idle.len();
    }
}

/// What a helper answers to a question: the whole of its work.
pub fn serve(question: &[u8]) -> Vec<u8> {
    let said = match wire::asked(question) {
        Some((path, text)) => InProcess::default().extract(path, text),
        None => Err(Unparsed::Fatal),
    };
    wire::answer(&said)
}
