//! The tables of a generation, and what SQLite's errors mean to us.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension};

use crate::store::{ProbeError, StoreError};

/// Raised with every change of the tables, together with the fingerprint's version: an older file says in its marker that
/// it is to be built anew. It can be opened for that, and for nothing else.
const SCHEMA: i64 = 2;
/// The tables whose marker can still be read.
const READ_MARKER: i64 = 1;

const TABLES: &str = "
    CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
    -- A file's id is never used again, and every version of a file has its own: whoever holds an id holds a version.
    -- What is large has its own table, so that a walk over the manifest does not read it.
    CREATE TABLE files (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        language TEXT NOT NULL,
        hash TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        indexed_at_ms INTEGER NOT NULL,
        n_chunks INTEGER NOT NULL,
        n_symbols INTEGER NOT NULL,
        n_references INTEGER NOT NULL
    );
    CREATE TABLE bodies (
        id INTEGER PRIMARY KEY,
        keys BLOB NOT NULL,
        content BLOB NOT NULL,
        facts BLOB NOT NULL,
        text BLOB NOT NULL
    );
    -- Vectors by what was embedded. They outlive their files for a while: a branch comes back.
    CREATE TABLE vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    -- Ids of files that are gone, with the change that took them: what others have of them is out of date. Changes up to
    -- the one that `gone_from` in the meta table names are not listed any more.
    CREATE TABLE tombstones (file INTEGER PRIMARY KEY, counter INTEGER NOT NULL);
    CREATE TABLE journal (id INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
";

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);

/// Opens a new, empty generation. Nobody reads it yet and a crash throws it away, so that it is written quickly.
pub(super) fn create(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open(path).map_err(store_error)?;
    db.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -16000;",
    )
    .map_err(store_error)?;
    db.execute_batch(TABLES).map_err(store_error)?;
    set_meta(&db, "schema", SCHEMA)?;
    set_meta(&db, "counter", 0i64)?;
    Ok(db)
}

/// Turns a finished generation into one that others read while it is written.
pub(super) fn settle(db: &Connection) -> Result<(), StoreError> {
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;").map_err(store_error)
}

/// Opens a generation to change it.
pub(super) fn open_writable(path: &Path) -> Result<Connection, StoreError> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .map_err(store_error)?;
    db.busy_timeout(BUSY).map_err(store_error)?;
    match check(&db)? {
        SCHEMA => {}
        older => {
            return Err(StoreError::Corrupt(format!(
                "the index has the format {older}, this version writes {SCHEMA}; build it anew"
            )));
        }
    }
    settle(&db)?;
    Ok(db)
}

/// Opens a generation to read it, also where nothing can be written.
pub(super) fn open_readable(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let plain = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(store_error)
        .and_then(|db| {
            db.busy_timeout(BUSY).map_err(store_error)?;
            db.execute_batch("PRAGMA query_only = ON").map_err(store_error)?;
            check(&db)?;
            Ok(db)
        });
    match plain {
        Err(StoreError::Unavailable(_) | StoreError::ReadOnly(_)) if path.exists() => {
            // Without a writable folder SQLite cannot make its shared memory file; then nobody can write either.
            let uri = format!(
                "file:{}?immutable=1",
                path.display().to_string().replace('%', "%25").replace('?', "%3f")
            );
            let db = Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY)
                .map_err(store_error)?;
            check(&db)?;
            Ok(db)
        }
        other => other,
    }
}

fn check(db: &Connection) -> Result<i64, StoreError> {
    match meta::<i64>(db, "schema")? {
        Some(schema @ READ_MARKER..=SCHEMA) => Ok(schema),
        Some(other) => {
            Err(StoreError::Corrupt(format!("the index has the format {other}, this version reads {SCHEMA}")))
        }
        None => Err(StoreError::Corrupt("the index does not say its format".to_owned())),
    }
}

/// The files that went after this change; none when that is too long ago to be told.
pub(super) fn gone_since(db: &Connection, counter: i64) -> Result<Option<Vec<i64>>, StoreError> {
    if counter < meta::<i64>(db, "gone_from")?.unwrap_or(0) {
        return Ok(None);
    }
    let mut query =
        db.prepare_cached("SELECT file FROM tombstones WHERE counter > ?1").map_err(store_error)?;
    let gone = query.query_map([counter], |row| row.get(0)).and_then(Iterator::collect);
    gone.map(Some).map_err(store_error)
}

pub(super) fn meta<T: rusqlite::types::FromSql>(db: &Connection, key: &str) -> Result<Option<T>, StoreError> {
    db.prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut query| query.query_row([key], |row| row.get(0)).optional())
        .map_err(store_error)
}

pub(super) fn set_meta(db: &Connection, key: &str, value: impl rusqlite::ToSql) -> Result<(), StoreError> {
    db.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")
        .and_then(|mut insert| insert.execute(rusqlite::params![key, value]))
        .map(|_| ())
        .map_err(store_error)
}

pub(super) fn store_error(error: rusqlite::Error) -> StoreError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full(text),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreError::ReadOnly(text),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt(text),
        Some(ErrorCode::Unknown) if text.contains("no such table") || text.contains("no such column") => {
            StoreError::Corrupt(text)
        }
        Some(_) => StoreError::Unavailable(text),
        // Values that are not what the tables promise.
        None => StoreError::Corrupt(text),
    }
}

/// What kept a probe from completing.
pub(super) fn as_probe(error: StoreError) -> ProbeError {
    match error {
        StoreError::Unavailable(text) if text.contains("locked") || text.contains("busy") => {
            ProbeError::Locked(text)
        }
        StoreError::Unavailable(text) | StoreError::Full(text) | StoreError::ReadOnly(text) => {
            ProbeError::Io(text)
        }
        StoreError::Corrupt(text) => ProbeError::Corrupt(text),
    }
}
