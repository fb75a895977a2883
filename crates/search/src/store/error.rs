//! What can go wrong in a store, sorted by what a caller does about it.

use thiserror::Error;

/// Why a store could not do what it was asked.
#[derive(Debug, Error)]
pub enum StoreError {
    /// Files or server cannot be used right now: I/O, lock, network. Trying again may help.
    #[error("the index store is unavailable: {0}")]
    Unavailable(String),
    /// The disk or the quota is full.
    #[error("the index store has no space left: {0}")]
    Full(String),
    /// The data folder may not be written.
    #[error("the index store is read-only: {0}")]
    ReadOnly(String),
    /// What is stored cannot be understood; a reindex mends it.
    #[error("the index store is damaged: {0}")]
    Corrupt(String),
}

/// Why a marker probe could not be completed. It says nothing about the index itself.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProbeError {
    /// Reading failed.
    #[error("I/O error: {0}")]
    Io(String),
    /// Another process holds the store.
    #[error("locked: {0}")]
    Locked(String),
    /// The store's own files are damaged.
    #[error("damaged: {0}")]
    Corrupt(String),
    /// No answer in time.
    #[error("timed out: {0}")]
    Timeout(String),
    /// The connection broke.
    #[error("transport: {0}")]
    Transport(String),
    /// The server refused the credentials.
    #[error("not authorised: {0}")]
    Auth(String),
    /// The server is there but does not serve.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The server answered something that cannot be parsed.
    #[error("unreadable answer: {0}")]
    Parse(String),
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full(error.to_string())
            }
            std::io::ErrorKind::ReadOnlyFilesystem | std::io::ErrorKind::PermissionDenied => {
                Self::ReadOnly(error.to_string())
            }
            _ => Self::Unavailable(error.to_string()),
        }
    }
}
