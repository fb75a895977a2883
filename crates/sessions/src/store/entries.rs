//! What waits for the writing thread, and how it is done in one transaction.

use chartroom_protocol::ids::QueuedId;
use rusqlite::Connection;
use tokio::sync::OwnedSemaphorePermit;

use super::queue::{self, Accepted};
use super::writer::Durability;
use super::{StoreError, rows};

pub(super) type Finish = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
/// Runs the work; beside how to answer, why it failed, if it did.
pub(super) type Run = Box<dyn FnOnce(&Connection) -> (Finish, Option<StoreError>) + Send>;
/// May be run again, when the transaction in which it ran was lost.
pub(super) type Again = Box<dyn Fn(&Connection) -> Result<(), StoreError> + Send>;

pub(super) enum Entry {
    /// Taken when it is run.
    Job(Option<Job>),
    Later(Again),
    Rows(rows::Batch),
    /// A message that is in the tail.
    Message(Accepted),
    /// The agent has this message.
    Taken(QueuedId),
}

/// Work whose asker waits for the answer.
pub(super) struct Job {
    pub(super) durability: Durability,
    pub(super) run: Run,
    pub(super) _place: OwnedSemaphorePermit,
}

impl Entry {
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Self::Rows(batch) => batch.n_bytes(),
            Self::Message(accepted) => accepted.n_bytes(),
            Self::Job(_) | Self::Later(_) | Self::Taken(_) => 0,
        }
    }

    /// A message is synced in the tail, which is emptied after the commit.
    fn durability(&self) -> Durability {
        match self {
            Self::Job(Some(job)) => job.durability,
            Self::Message(_) => Durability::Disk,
            Self::Job(None) | Self::Later(_) | Self::Rows(_) | Self::Taken(_) => Durability::Process,
        }
    }
}

/// How sure the commit of all of them must be.
pub(super) fn durability(entries: &[Entry]) -> Durability {
    let disk = |entry: &Entry| entry.durability() == Durability::Disk;
    if entries.iter().any(disk) { Durability::Disk } else { Durability::Process }
}

/// Does what waits, in its order. Rows are gathered up to the next thing that may look at them, since of an item only the
/// last one of them counts; messages up to the next job, since most of them are taken before. Fails when the whole
/// transaction is lost.
pub(super) fn apply(
    connection: &Connection,
    entries: &mut [Entry],
    finishes: &mut Vec<Finish>,
) -> Result<(), StoreError> {
    let mut lost = Ok(());
    let mut rows = Vec::new();
    let mut messages: Vec<&Accepted> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Rows(batch) => {
                rows.push(&*batch);
                continue;
            }
            Entry::Message(accepted) => {
                if lost.is_ok() {
                    lost = queue::note(connection, accepted);
                }
                messages.push(accepted);
                continue;
            }
            Entry::Taken(queued_id) => {
                match messages.iter().rposition(|accepted| accepted.message.queued_id == *queued_id) {
                    Some(waiting) => drop(messages.remove(waiting)),
                    None if lost.is_ok() => lost = queue::remove(connection, queued_id),
                    None => {}
                }
                continue;
            }
            Entry::Job(_) if lost.is_ok() => lost = queue::insert(connection, &std::mem::take(&mut messages)),
            Entry::Job(_) | Entry::Later(_) => {}
        }
        if lost.is_ok() {
            lost = rows::write(connection, &std::mem::take(&mut rows));
        }
        let failed = match entry {
            Entry::Later(work) if lost.is_ok() => work(connection).err(),
            Entry::Job(job) => job.take().and_then(|job| {
                let (finish, error) = (job.run)(connection);
                finishes.push(finish);
                error
            }),
            Entry::Later(_) | Entry::Rows(_) | Entry::Message(_) | Entry::Taken(_) => None,
        };
        match failed {
            Some(error) if lost.is_ok() && connection.is_autocommit() => lost = Err(error),
            Some(error) => tracing::debug!("one of many writes failed: {error}"),
            None => {}
        }
    }
    lost.and_then(|()| rows::write(connection, &rows)).and_then(|()| queue::insert(connection, &messages))
}

/// Takes back one asker's changes when they fail, without the others' in the same transaction.
pub(super) fn in_savepoint<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    if connection.is_autocommit() {
        // The transaction is lost. A savepoint would begin another, which is committed and answered as failed.
        return Err(StoreError::Closed);
    }
    execute(connection, "SAVEPOINT job")?;
    let result = work(connection);
    if connection.is_autocommit() {
        return result;
    }
    if result.is_err() {
        execute(connection, "ROLLBACK TO job")?;
    }
    execute(connection, "RELEASE job")?;
    result
}

/// Runs a statement that stays prepared.
pub(super) fn execute(connection: &Connection, statement: &str) -> Result<(), rusqlite::Error> {
    connection.prepare_cached(statement)?.execute([]).map(drop)
}
