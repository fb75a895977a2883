//! The one thread that writes, with group commit.

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::StoreError;

/// How sure a write must be when it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the death of this process.
    Process,
    /// Survives the machine's too: synced to the disk first. For what was promised to a person.
    Disk,
}

/// What waits for the writer. When it is full the sessions wait, and through them their agents' pipes.
const QUEUE: usize = 1024;
/// So that an answer is not kept waiting by an endless stream of others.
const BATCH: usize = 256;

type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Runs the work; beside how to answer, why it failed, if it did.
type Run = Box<dyn FnOnce(&Connection) -> (Finish, Option<StoreError>) + Send>;

struct Job {
    durability: Durability,
    run: Run,
}

pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    /// Starts the thread; it ends when the last handle is dropped and all that was sent is written.
    pub(super) fn start(connection: Connection) -> std::io::Result<Self> {
        let (jobs, queue) = mpsc::channel(QUEUE);
        std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || write_all(&connection, queue))?;
        Ok(Self { jobs })
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let run = move |connection: &Connection| -> (Finish, Option<StoreError>) {
            let result = in_savepoint(connection, work);
            let error = result.as_ref().err().cloned();
            let finish: Finish = Box::new(move |committed| {
                // The asker may have gone away; what it asked for is done all the same.
                drop(reply.send(committed.and(result)));
            });
            (finish, error)
        };
        self.jobs.send(Job { durability, run: Box::new(run) }).await.map_err(|_closed| StoreError::Closed)?;
        answer.await.map_err(|_closed| StoreError::Closed)?
    }
}

fn write_all(connection: &Connection, mut queue: mpsc::Receiver<Job>) {
    while let Some(first) = queue.blocking_recv() {
        let mut batch = vec![first];
        while batch.len() < BATCH {
            match queue.try_recv() {
                Ok(job) => batch.push(job),
                Err(_empty_or_closed) => break,
            }
        }
        let durability = if batch.iter().any(|job| job.durability == Durability::Disk) {
            Durability::Disk
        } else {
            Durability::Process
        };
        let mut finishes = Vec::with_capacity(batch.len());
        let committed = commit(connection, durability, || {
            let mut lost = None;
            for job in batch {
                let (finish, error) = (job.run)(connection);
                finishes.push(finish);
                if lost.is_none() && connection.is_autocommit() {
                    lost = error;
                }
            }
            lost
        });
        for finish in finishes {
            finish(committed.clone());
        }
    }
}

/// Runs `work` in one transaction; it returns why the transaction was lost, if it was: SQLite takes all of it back by
/// itself when the disk is full. In WAL mode a synced commit makes every commit before it durable too, since
/// they share one log file.
fn commit(
    connection: &Connection,
    durability: Durability,
    work: impl FnOnce() -> Option<StoreError>,
) -> Result<(), StoreError> {
    let level = match durability {
        Durability::Process => "NORMAL",
        Durability::Disk => "FULL",
    };
    let begun = connection
        .pragma_update(None, "synchronous", level)
        .and_then(|()| connection.execute_batch("BEGIN IMMEDIATE"));
    // The jobs run even if that failed: they fail then, and each asker gets its answer.
    let lost = work();
    begun?;
    if let Some(lost) = lost {
        return Err(lost);
    }
    if let Err(error) = connection.execute_batch("COMMIT") {
        if !connection.is_autocommit()
            && let Err(also) = connection.execute_batch("ROLLBACK")
        {
            tracing::error!("the store could not take back a failed commit: {also}");
        }
        return Err(error.into());
    }
    Ok(())
}

/// Takes back one asker's changes when they fail, without the others' in the same transaction.
fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if connection.is_autocommit() {
        // The transaction is lost. A savepoint would begin another, which is committed and answered as failed.
        return Err(StoreError::Closed);
    }
    connection.execute_batch("SAVEPOINT job")?;
    let result = work(connection);
    if connection.is_autocommit() {
        return result;
    }
    let end = match &result {
        Ok(_) => "RELEASE job",
        Err(_) => "ROLLBACK TO job; RELEASE job",
    };
    connection.execute_batch(end)?;
    result
}
