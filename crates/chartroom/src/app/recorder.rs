//! Records the working tree before and after each turn.
//!
//! Each folder has a task that makes its records one after the other, in the order in which the turns began and ended. A
//! record that cannot be made never holds a turn up for longer than [`PATIENCE`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chartroom_checkpoints::{CheckpointError, Kind, Records, Sight, Words};
use chartroom_sessions::{TurnPlace, TurnWatch};
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};

use crate::config::Config;

/// How long a message waits for the record of the state before it. The first record of a folder reads every file.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many turns of a folder are recorded with one look at most.
const AT_ONCE: usize = 1024;

/// Makes the records of all folders.
pub(crate) struct Recorder {
    gate: SpawnGate,
    folders: Mutex<HashMap<PathBuf, mpsc::UnboundedSender<Job>>>,
}

enum Job {
    Record {
        words: Words,
        /// Dropped when the record is made, or cannot be. The turn has gone on when nobody hears it any more.
        done: oneshot::Sender<()>,
    },
    /// A look at each file before a turn comes: the first one reads them all.
    Look,
    /// Dropped when all before it is done.
    Settle { done: oneshot::Sender<()> },
}

impl TurnWatch for Recorder {
    fn opens(&self, project_dir: &Path) {
        self.queue(project_dir.to_path_buf(), Job::Look);
    }

    fn begins(&self, turn: TurnPlace) -> BoxFuture<'static, ()> {
        let done = self.record(turn, Kind::Before);
        Box::pin(async move {
            // Too late, made or impossible: the turn goes on.
            drop(tokio::time::timeout(PATIENCE, done).await);
        })
    }

    fn ended(&self, turn: TurnPlace) {
        drop(self.record(turn, Kind::After));
    }
}

impl Recorder {
    /// Returns the recorder, if the user wants one.
    pub(super) fn of(config: &Config, gate: &SpawnGate) -> Option<Arc<Self>> {
        let recorder = || Arc::new(Self { gate: gate.clone(), folders: Mutex::default() });
        config.sessions.checkpoints.then(recorder)
    }

    /// Waits until every turn of a folder that has ended is recorded.
    pub(crate) async fn settled(&self, folder: &Path) {
        let (done, is_done) = oneshot::channel();
        self.queue(folder.to_path_buf(), Job::Settle { done });
        // It is dropped, and never sent.
        is_done.await.ok();
    }

    fn record(&self, turn: TurnPlace, kind: Kind) -> oneshot::Receiver<()> {
        let (done, is_done) = oneshot::channel();
        let words = Words {
            kind,
            session: Some(turn.session_id.to_string()),
            turn: Some(turn.turn_id.to_string()),
            ..Words::default()
        };
        self.queue(turn.project_dir, Job::Record { words, done });
        is_done
    }

    fn queue(&self, folder: PathBuf, job: Job) {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = folders.entry(folder).or_insert_with_key(|folder| {
            let (jobs, queue) = mpsc::unbounded_channel();
            tokio::spawn(work(self.gate.clone(), folder.clone(), queue));
            jobs
        });
        // A task that is gone drops the job, and nobody waits.
        jobs.send(job).ok();
    }
}

/// Does what waits, all of it with one look at the files: a record that somebody waits for is of now, whoever else waits.
async fn work(gate: SpawnGate, folder: PathBuf, mut queue: mpsc::UnboundedReceiver<Job>) {
    let mut is_told = false;
    let mut folder = Folder { gate, path: folder, sight: Sight::default(), records: None };
    let mut jobs = Vec::new();
    while queue.recv_many(&mut jobs, AT_ONCE).await > 0 {
        let looks = jobs.iter().any(|job| matches!(job, Job::Look));
        let mut records = Vec::new();
        let mut settled = Vec::new();
        for job in jobs.drain(..) {
            match job {
                Job::Record { words, done } => records.push((words, done)),
                Job::Settle { done } => settled.push(done),
                Job::Look => {}
            }
        }
        let done = match (records.is_empty(), looks) {
            (false, _) => folder.make(&records).await,
            (true, true) => folder.look().await,
            (true, false) => continue,
        };
        match done {
            Ok(()) => is_told = false,
            // Each turn would say the same.
            Err(error) if std::mem::replace(&mut is_told, true) => {
                tracing::debug!(folder = %folder.path.display(), "no record: {error}");
            }
            Err(error) => {
                tracing::warn!(folder = %folder.path.display(), "turns are not recorded: {error}");
            }
        }
    }
}

/// A folder and what is remembered of it from one record to the next.
struct Folder {
    gate: SpawnGate,
    path: PathBuf,
    sight: Sight,
    /// Of the last time, if all went well.
    records: Option<Records>,
}

impl Folder {
    async fn look(&mut self) -> Result<(), CheckpointError> {
        let records = self.records().await?;
        records.look().await?;
        self.records = Some(records);
        Ok(())
    }

    async fn make(&mut self, turns: &[(Words, oneshot::Sender<()>)]) -> Result<(), CheckpointError> {
        let words = || {
            let late =
                |words: &Words, done: &oneshot::Sender<()>| words.kind == Kind::Before && done.is_closed();
            turns.iter().map(|(words, done)| Words { late: late(words, done), ..words.clone() }).collect()
        };
        let records = self.records().await?;
        records.make_all(words).await?;
        self.records = Some(records);
        Ok(())
    }

    async fn records(&mut self) -> Result<Records, CheckpointError> {
        let root = CanonicalRoot::open(&self.path).map_err(|error| CheckpointError::Io {
            what: "opening the folder".to_owned(),
            error: std::io::Error::other(error),
        })?;
        match self.records.take().filter(|records| records.are_of(&root)) {
            Some(records) => Ok(records),
            None => Ok(Records::of(&self.gate, &root).await?.seen_by(&self.sight)),
        }
    }
}
