//! What is kept: projects, sessions, their journals, queues and pending questions, in one SQLite file.
//!
//! One thread writes. What somebody waits for is committed at once; what sessions say, and the messages to them, are kept in a
//! file beside the database and committed every six seconds, so that fifty streaming sessions cost one commit in that time
//! and not a thousand. Readers have connections of their own and see everything that was kept before they asked.

mod deletion;
mod entries;
mod forks;
mod journal;
mod known;
mod open;
mod payload;
mod projects;
mod questions;
mod queue;
mod review;
mod room;
mod rows;
mod schema;
mod sessions;
mod tail;
mod usage;
mod writer;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use tokio::sync::Semaphore;

pub use journal::{Backlog, HistoryPage, JournalRow, NewRow, OpenState, RowKind};
pub use known::KnownItems;
pub use open::{Opened, SetAside, SetAsideReason};
pub use payload::Payload;
pub use projects::{AddedProject, StoredProject};
pub use queue::{SessionNote, StoredMessage};
pub use sessions::{SessionChange, StoredSession};
pub use usage::Spent;
pub use writer::Durability;

/// Trouble with the store; each variant is mended differently.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another server uses this data folder.
    #[error("another chartroom uses {path}; stop it, or choose another data folder")]
    Locked {
        /// The database file.
        path: PathBuf,
    },
    /// The file can neither be used nor be set aside.
    #[error("cannot use {path}: {reason}")]
    Unusable {
        /// The database file.
        path: PathBuf,
        /// Why, in SQLite's or the system's words.
        reason: String,
    },
    /// A full disk, a damaged page: the statement failed and its changes were taken back.
    #[error("{}", what_to_do(.0))]
    Database(Arc<rusqlite::Error>),
    /// The file beside the database that takes what sessions say.
    #[error("{}", what_to_do_with_the_tail(.0))]
    Tail(Arc<std::io::Error>),
    /// The store's thread has ended.
    #[error("the store is closed")]
    Closed,
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

fn what_to_do(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => {
            format!("the disk of the data folder is full ({error}); make room, nothing is lost")
        }
        Some(
            rusqlite::ErrorCode::ReadOnly
            | rusqlite::ErrorCode::CannotOpen
            | rusqlite::ErrorCode::SystemIoFailure,
        ) => {
            format!("the data folder cannot be written ({error}); see to its permissions and its disk")
        }
        _ => format!("the store refused: {error}"),
    }
}

fn what_to_do_with_the_tail(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            format!("the disk of the data folder is full ({error}); make room, nothing is lost")
        }
        _ => format!("the data folder cannot be written ({error}); see to its permissions and its disk"),
    }
}

/// The store's handle; clones share it, and dropping the last one closes the file.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    writer: writer::Writer,
    readers: Readers,
}

impl Store {
    /// Opens the store at `path`, making or migrating it. A file that is damaged or of a newer version is renamed
    /// and reported, never overwritten.
    pub fn open(path: &Path) -> Result<Opened, StoreError> {
        open::open(path)
    }

    /// Brings everything that was kept into the main file, so that a copy of it is a whole one. For the end.
    pub async fn checkpoint(&self) -> Result<(), StoreError> {
        self.inner.writer.settle().await?;
        let path = self.inner.readers.path.clone();
        let done = tokio::task::spawn_blocking(move || open::checkpoint(&path)).await;
        done.unwrap_or(Err(StoreError::Closed))
    }

    async fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.inner.writer.run(durability, work).await
    }

    /// Makes the store as if its disk were full, or as if there were room again; for tests.
    #[cfg(any(test, feature = "fake-provider"))]
    pub async fn pretend_full(&self, full: bool) -> Result<(), StoreError> {
        self.inner.writer.pretend_full(full).await
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if let Err(error) = self.inner.writer.settle().await {
            // A reader of the journal notices by the seq of the next row that it is behind.
            tracing::debug!("a reader does not see what could not be written: {error}");
        }
        self.inner.readers.run(work).await
    }
}

const READERS: usize = 4;

/// Connections that can only read. At most four reads run at a time; the others wait their turn.
struct Readers {
    path: PathBuf,
    idle: Arc<Mutex<Vec<Connection>>>,
    permits: Arc<Semaphore>,
}

impl Readers {
    fn new(path: PathBuf) -> Self {
        Self { path, idle: Arc::default(), permits: Arc::new(Semaphore::new(READERS)) }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_closed| StoreError::Closed)?;
        let path = self.path.clone();
        let idle = Arc::clone(&self.idle);
        let result = tokio::task::spawn_blocking(move || {
            let pooled = lock(&idle).pop();
            let connection = match pooled {
                Some(connection) => connection,
                None => open::reader(&path)?,
            };
            // One snapshot for all of the work's statements.
            let transaction = connection.unchecked_transaction()?;
            let result = work(&transaction);
            drop(transaction);
            lock(&idle).push(connection);
            result
        })
        .await;
        drop(permit);
        result.unwrap_or(Err(StoreError::Closed))
    }
}

/// A lock that a panicking test thread poisoned guards nothing that could be half-changed here.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Reads JSON that we wrote ourselves; damage is reported as a database error, not a panic.
fn from_json<T: serde::de::DeserializeOwned>(column: usize, text: &str) -> Result<T, rusqlite::Error> {
    serde_json::from_str(text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, Box::new(error))
    })
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("our wire types have string keys only, so they always serialize")
}
