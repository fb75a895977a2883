//! Opening the store: lock, check, set aside what we cannot use, migrate.

use std::fs::{File, TryLockError};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::tail::{self, Part, Tail};
use super::writer::Writer;
use super::{Inner, Readers, Store, StoreError, queue, room, rows, schema};

/// An open store, and what had to be moved out of its way.
pub struct Opened {
    /// The store, ready for use.
    pub store: Store,
    /// An older file that could not be used, if there was one.
    pub set_aside: Option<SetAside>,
}

/// A file that we could not use and did not touch, under its new name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is kept.
    pub kept_as: PathBuf,
    /// Why it could not be used.
    pub reason: SetAsideReason,
}

/// Why a database file could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetAsideReason {
    /// A newer version of ours wrote it.
    Newer {
        /// The schema's number in it.
        version: u32,
    },
    /// The main file is missing, empty or cut, although its log is there. SQLite would throw the log away.
    MainFileLost,
    /// SQLite cannot read it.
    Damaged {
        /// What SQLite says.
        finding: String,
    },
}

impl std::fmt::Display for SetAside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept_as = self.kept_as.display();
        match &self.reason {
            SetAsideReason::Newer { version } => write!(
                f,
                "the session store was written by a newer chartroom (version {version}, this one knows {}); \
                 it is kept as {kept_as} and a new one was begun: use the newer chartroom to get it back",
                schema::VERSION
            ),
            SetAsideReason::MainFileLost => write!(
                f,
                "the session store's main file is missing or cut although its log is there; what is left is kept as \
                 {kept_as}-wal and a new store was begun: put a copy of the main file at {kept_as} to get it back"
            ),
            SetAsideReason::Damaged { finding } => write!(
                f,
                "the session store is damaged ({finding}); it is kept as {kept_as} and a new one was begun: \
                 `sqlite3 {kept_as} .recover` may save its content"
            ),
        }
    }
}

/// Above this size only the small tables are checked in full: a check reads every page.
const FULL_CHECK_BYTES: u64 = 256 << 20;

pub(super) fn open(path: &Path) -> Result<Opened, StoreError> {
    let unusable = |reason: String| StoreError::Unusable { path: path.to_owned(), reason };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| unusable(error.to_string()))?;
    }
    let lock = lock(path)?;
    let mut set_aside = None;
    let reason = match main_file_lost(path).map_err(|error| unusable(error.to_string()))? {
        true => Some(SetAsideReason::MainFileLost),
        false if path.exists() => trouble(path)?,
        false => None,
    };
    if let Some(reason) = reason {
        let kept_as = move_aside(path, &reason).map_err(|error| unusable(error.to_string()))?;
        set_aside = Some(SetAside { kept_as, reason });
    }
    let connection = Connection::open(path).map_err(|error| unusable(error.to_string()))?;
    private(path).map_err(|error| unusable(error.to_string()))?;
    prepare(&connection).map_err(|error| unusable(error.to_string()))?;
    schema::migrate(&connection).map_err(|error| unusable(error.to_string()))?;
    let tail = take_over_tail(&connection, path)?;
    let writer = Writer::start(connection, tail, lock).map_err(|error| unusable(error.to_string()))?;
    let inner = Inner { writer, readers: Readers::new(path.to_owned()) };
    Ok(Opened { store: Store { inner: Arc::new(inner) }, set_aside })
}

/// Brings what a server that was killed had kept and not yet written into the database.
fn take_over_tail(connection: &Connection, path: &Path) -> Result<(Tail, Part), StoreError> {
    let unusable = |reason: String| StoreError::Unusable { path: path.to_owned(), reason };
    let (mut tail, mut spare, kept) = Tail::open(path).map_err(|error| unusable(error.to_string()))?;
    let transaction = connection.unchecked_transaction()?;
    rows::take_over(&transaction, &kept.rows)?;
    queue::take_over(&transaction, &kept.messages)?;
    transaction.commit()?;
    tail.clear().and_then(|()| spare.clear()).map_err(|error| unusable(error.to_string()))?;
    Ok((tail, spare))
}

/// Brings everything that is in the log into the main file and empties the log.
pub(super) fn checkpoint(path: &Path) -> Result<(), StoreError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_millis(500))?;
    let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if is_busy {
        tracing::debug!("a reader kept the log from being emptied; the next start reads it");
    }
    Ok(())
}

/// Opens a connection that cannot write.
pub(super) fn reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(Duration::from_secs(5))?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// Statements stay as they were compiled. Otherwise SQLite compiles one that compares with a parameter anew each time its
/// parameters are cleared, as they are between two uses: it looks whether another value would make a better plan.
fn keep_plans(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// How many pages the log takes before they are brought into the main file, each once.
const CHECKPOINT_PAGES: u32 = 4000;

/// Sets what every connection that writes has set.
pub(super) fn prepare(connection: &Connection) -> Result<(), rusqlite::Error> {
    connection.busy_timeout(Duration::from_secs(5))?;
    room::prepare(connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // Sixteen megabytes: of many sessions that stream, the same pages come again and again.
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    // What a conversation said is gone when it is deleted, not left in free pages.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    connection.set_prepared_statement_cache_capacity(64);
    keep_plans(connection)
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let lock_path = with_suffix(path, ".lock");
    let unusable = |error: &dyn std::fmt::Display| StoreError::Unusable {
        path: lock_path.clone(),
        reason: error.to_string(),
    };
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock_path)
        .map_err(|error| unusable(&error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StoreError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(error)) => Err(unusable(&error)),
    }
}

/// Tells whether there is a log without the file to which it belongs: that always has its first page.
fn main_file_lost(path: &Path) -> std::io::Result<bool> {
    let log = with_suffix(path, "-wal");
    if !log.metadata().is_ok_and(|log| log.len() > 0) {
        return Ok(false);
    }
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(error),
    };
    let mut head = [0; 18];
    match file.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(true),
        Err(error) => return Err(error),
    }
    // The size of a page, in which 1 stands for 65,536. What has another head is damaged, and found to be so.
    let page = match u64::from(u16::from_be_bytes([head[16], head[17]])) {
        1 => 65_536,
        size => size,
    };
    Ok(head.starts_with(b"SQLite format 3\0") && file.metadata()?.len() < page)
}

/// Returns why the file cannot be used, if so. A file that cannot be read at all is the caller's error, not ours
/// to move away.
fn trouble(path: &Path) -> Result<Option<SetAsideReason>, StoreError> {
    let size = std::fs::metadata(path)
        .map_err(|error| StoreError::Unusable { path: path.to_owned(), reason: error.to_string() })?
        .len();
    let connection = Connection::open(path)
        .map_err(|error| StoreError::Unusable { path: path.to_owned(), reason: error.to_string() })?;
    match check(&connection, size) {
        // A new store gets its version together with its first table.
        Ok(Finding::Foreign) => Err(StoreError::Unusable {
            path: path.to_owned(),
            reason: "it is a database without a version of ours; move it away, and a new one is begun"
                .to_owned(),
        }),
        Ok(Finding::Ours(reason)) => Ok(reason),
        Err(error) => match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Ok(Some(SetAsideReason::Damaged { finding: error.to_string() }))
            }
            _ => Err(StoreError::Unusable { path: path.to_owned(), reason: error.to_string() }),
        },
    }
}

enum Finding {
    /// Another program's, as far as we can tell.
    Foreign,
    /// Ours, and why it cannot be used, if so.
    Ours(Option<SetAsideReason>),
}

fn check(connection: &Connection, size: u64) -> Result<Finding, rusqlite::Error> {
    // We may be about to set it aside: leave its log as it is when we close.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    let version = schema::version(connection)?;
    if version > schema::VERSION {
        return Ok(Finding::Ours(Some(SetAsideReason::Newer { version })));
    }
    let checks: &[&str] = if size <= FULL_CHECK_BYTES || version == 0 {
        &["PRAGMA quick_check(1)"]
    } else {
        &[
            "PRAGMA quick_check(projects)",
            "PRAGMA quick_check(sessions)",
            "PRAGMA quick_check(queue)",
            "PRAGMA quick_check(questions)",
        ]
    };
    for check in checks {
        let finding: String = connection.query_row(check, [], |row| row.get(0))?;
        if finding != "ok" {
            return Ok(Finding::Ours(Some(SetAsideReason::Damaged { finding })));
        }
    }
    let n_tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if version == 0 && n_tables > 0 { Finding::Foreign } else { Finding::Ours(None) })
}

/// Renames the store with its log; the names tell why and when.
fn move_aside(path: &Path, reason: &SetAsideReason) -> std::io::Result<PathBuf> {
    let why = match reason {
        SetAsideReason::Newer { version } => format!("version-{version}"),
        SetAsideReason::MainFileLost => "lost".to_owned(),
        SetAsideReason::Damaged { .. } => "damaged".to_owned(),
    };
    let when = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S");
    let mut kept_as = with_suffix(path, &format!(".{why}-{when}"));
    for attempt in 2.. {
        if !kept_as.exists() {
            break;
        }
        kept_as = with_suffix(path, &format!(".{why}-{when}-{attempt}"));
    }
    for suffix in ["", "-wal", "-shm"].into_iter().chain(tail::SUFFIXES) {
        let from = with_suffix(path, suffix);
        if from.exists() {
            std::fs::rename(from, with_suffix(&kept_as, suffix))?;
        }
    }
    Ok(kept_as)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Conversations are the user's own business.
fn private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
