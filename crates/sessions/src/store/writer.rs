//! The one thread that writes, with group commit.
//!
//! Two kinds of work wait for it. A [`Job`] has an asker who waits for the answer: it is run and committed at once,
//! with everything that waits before it. Rows of the journal, messages and other work that nobody waits for (`Later`) is
//! committed together, at most [`WINDOW`] after the first of it came or when [`UNWRITTEN`] bytes have come. Rows and
//! messages are in the [`Tail`] when their asker goes on, so the death of this process loses none, and the thread has synced
//! the tail before a message's sender goes on; the rest of what nobody waits for only saves work at the next start.

use std::fs::File;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use chartroom_protocol::ids::{QueuedId, SessionId};
use rusqlite::Connection;
use tokio::sync::{Semaphore, oneshot};

use super::entries::{Entry, Finish, Job, apply, durability, execute, in_savepoint};
use super::journal::NewRow;
use super::queue::{self, Accepted};
use super::tail::{Part, Tail};
use super::{StoreError, room, rows};

/// How sure a write must be when it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the death of this process.
    Process,
    /// Survives the machine's too: synced to the disk first. For what was promised to a person.
    Disk,
}

/// How long a row may wait for the database. A reader who comes meanwhile makes it be written at once. Of an item that
/// streams only the last state of the window is written, and the pages of a session are written once in it: of many sessions
/// each has its own.
const WINDOW: Duration = Duration::from_secs(6);
/// How many bytes of rows may wait for the database; who brings more waits, and through it its agent's pipe.
const UNWRITTEN: usize = 8 << 20;
/// Rows of more bytes than these are committed by themselves: written to the tail first they would be written twice
/// for nothing. A long history comes this way.
const DIRECT: usize = 64 << 10;
/// How many askers may wait. More wait for their place.
const ASKERS: usize = 1024;
/// Between attempts to write what could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// What the thread does next.
enum Work {
    Write {
        entries: Vec<Entry>,
        /// Nothing comes after it.
        is_last: bool,
    },
    /// Messages are in this file of the tail, and their senders wait until they are on the disk.
    Sync {
        file: Arc<File>,
        unsynced: Vec<Unsynced>,
    },
    GiveRoomBack,
}

/// A message whose sender waits.
struct Unsynced {
    queued_id: QueuedId,
    reply: oneshot::Sender<Result<(), StoreError>>,
}

pub(super) struct Writer {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    waiting: Vec<Entry>,
    /// Those among them that were accepted since the last sync of the tail.
    unsynced: Vec<Unsynced>,
    /// How many bytes the rows and messages among them have.
    n_bytes: usize,
    /// When what waits is written at the latest.
    due: Option<Instant>,
    /// Somebody waits for an answer, or there is too much.
    urgent: bool,
    /// The thread has taken entries and not yet come to an end with them.
    committing: bool,
    /// The last commit failed: rows are refused until one succeeds.
    failed: bool,
    tail: Tail,
    /// Something was deleted, and the file has room to give back when there is nothing else to do.
    has_room: bool,
    /// The last handle is gone.
    closed: bool,
    /// A test's wish, fulfilled before the next commit.
    #[cfg(any(test, feature = "fake-provider"))]
    pretends_full: Option<bool>,
}

impl Writer {
    /// Starts the thread; it ends when the last handle is dropped and all that was sent is written. It holds `lock` so
    /// long, which keeps others from the files.
    pub(super) fn start(
        connection: Connection,
        (tail, spare): (Tail, Part),
        lock: std::fs::File,
    ) -> std::io::Result<Self> {
        let state = State {
            waiting: Vec::new(),
            unsynced: Vec::new(),
            n_bytes: 0,
            due: None,
            urgent: false,
            committing: false,
            failed: false,
            tail,
            has_room: room::is_wanted(&connection).unwrap_or(false),
            closed: false,
            #[cfg(any(test, feature = "fake-provider"))]
            pretends_full: None,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        std::thread::Builder::new().name("store-writer".to_owned()).spawn(move || {
            write_all(connection, spare, &of_thread);
            drop(lock);
        })?;
        Ok(Self { shared, places: Arc::new(Semaphore::new(ASKERS)) })
    }

    /// Runs the work and answers when it is committed.
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
        let places = Arc::clone(&self.places);
        let place = places.acquire_owned().await.map_err(|_closed| StoreError::Closed)?;
        let job = Job { durability, run: Box::new(run), _place: place };
        {
            let mut state = self.shared.lock();
            state.waiting.push(Entry::Job(Some(job)));
            state.urgent = true;
        }
        self.shared.wake.notify_one();
        answer.await.map_err(|_closed| StoreError::Closed)?
    }

    /// Runs the work with the next commit. Nobody waits for it, and a failure is only logged.
    pub(super) fn later(&self, work: impl Fn(&Connection) -> Result<(), StoreError> + Send + 'static) {
        let mut state = self.shared.lock();
        state.wait(Entry::Later(Box::new(work)));
        self.shared.expect(state);
    }

    /// Keeps rows: when this returns they survive the death of this process.
    pub(super) async fn append(&self, session_id: &SessionId, rows: Vec<NewRow>) -> Result<(), StoreError> {
        let batch = rows::Batch { session_id: session_id.clone(), rows };
        if batch.n_bytes() > DIRECT {
            return self.run(Durability::Process, move |connection| rows::write(connection, &[&batch])).await;
        }
        self.keep_up().await?;
        let mut state = self.shared.lock();
        state.tail.append(&batch.session_id, &batch.rows).map_err(of_tail)?;
        state.wait(Entry::Rows(batch));
        self.shared.expect(state);
        Ok(())
    }

    /// Keeps a message: when this returns it survives the death of the machine.
    pub(super) async fn push(&self, accepted: Accepted) -> Result<(), StoreError> {
        if accepted.n_bytes() > DIRECT {
            return self.run(Durability::Disk, move |connection| queue::push(connection, &accepted)).await;
        }
        self.keep_up().await?;
        let (reply, synced) = oneshot::channel();
        {
            let mut state = self.shared.lock();
            state.tail.append_message(&accepted).map_err(of_tail)?;
            state.unsynced.push(Unsynced { queued_id: accepted.message.queued_id.clone(), reply });
            state.wait(Entry::Message(accepted));
            state.due.get_or_insert_with(|| Instant::now() + WINDOW);
        }
        self.shared.wake.notify_one();
        synced.await.map_err(|_closed| StoreError::Closed)?
    }

    /// Forgets a message with the next commit.
    pub(super) fn taken(&self, queued_id: QueuedId) {
        let mut state = self.shared.lock();
        state.wait(Entry::Taken(queued_id));
        self.shared.expect(state);
    }

    /// Waits while too much waits for the database, or while it cannot be written: nothing more is promised then.
    async fn keep_up(&self) -> Result<(), StoreError> {
        let is_behind = {
            let state = self.shared.lock();
            state.failed || state.n_bytes > UNWRITTEN
        };
        if is_behind { self.settle().await } else { Ok(()) }
    }

    /// Has the file give back what it does not need, when there is nothing else to do.
    pub(super) fn give_room_back(&self) {
        self.shared.lock().has_room = true;
        self.shared.wake.notify_one();
    }

    /// Makes the database as if its disk were full, or as if there were room again.
    #[cfg(any(test, feature = "fake-provider"))]
    pub(super) async fn pretend_full(&self, full: bool) -> Result<(), StoreError> {
        self.shared.lock().pretends_full = Some(full);
        self.run(Durability::Process, |_connection| Ok(())).await
    }

    /// Waits until everything that was kept so far is in the database.
    pub(super) async fn settle(&self) -> Result<(), StoreError> {
        let is_settled = {
            let state = self.shared.lock();
            state.waiting.is_empty() && !state.committing
        };
        if is_settled { Ok(()) } else { self.run(Durability::Process, |_connection| Ok(())).await }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_one();
    }
}

impl State {
    fn wait(&mut self, entry: Entry) {
        self.n_bytes += entry.n_bytes();
        self.urgent |= self.n_bytes > UNWRITTEN;
        self.waiting.push(entry);
    }
}

fn of_tail(error: std::io::Error) -> StoreError {
    StoreError::Tail(Arc::new(error))
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        super::lock(&self.state)
    }

    /// Makes the thread look at the clock, unless it does already.
    fn expect(&self, mut state: MutexGuard<'_, State>) {
        let is_first = state.due.is_none();
        if is_first {
            state.due = Some(Instant::now() + WINDOW);
        }
        let wakes = is_first || state.urgent;
        drop(state);
        if wakes {
            self.wake.notify_one();
        }
    }

    /// Waits until there is something to write and its time has come, and takes it; `None` at the end.
    fn take(&self, spare: &mut Part) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if !state.unsynced.is_empty() {
                // Before the files change their places.
                let unsynced = std::mem::take(&mut state.unsynced);
                return Some(Work::Sync { file: state.tail.file(), unsynced });
            }
            if state.closed || state.urgent {
                break;
            }
            if state.has_room && state.waiting.is_empty() {
                return Some(Work::GiveRoomBack);
            }
            state = match state.due.map(|due| due.saturating_duration_since(Instant::now())) {
                None => self.wake.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner),
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let woken = self.wake.wait_timeout(state, left);
                    woken.unwrap_or_else(std::sync::PoisonError::into_inner).0
                }
            };
        }
        let entries = std::mem::take(&mut state.waiting);
        if entries.is_empty() && state.closed {
            return None;
        }
        state.tail.seal(spare);
        state.n_bytes = 0;
        state.due = None;
        state.urgent = false;
        state.committing = true;
        Some(Work::Write { entries, is_last: state.closed })
    }

    /// Brings messages to the disk and answers their senders.
    fn sync(&self, file: &File, unsynced: Vec<Unsynced>) {
        let synced = file.sync_data().map_err(of_tail);
        if synced.is_err() {
            // Their senders are told; a death before the tail is emptied would bring them back.
            let is_refused = |entry: &Entry| match entry {
                Entry::Message(accepted) => {
                    unsynced.iter().any(|refused| refused.queued_id == accepted.message.queued_id)
                }
                Entry::Job(_) | Entry::Later(_) | Entry::Rows(_) | Entry::Taken(_) => false,
            };
            self.lock().waiting.retain(|entry| !is_refused(entry));
        }
        for Unsynced { reply, .. } in unsynced {
            // The sender may have gone away; its message is kept all the same.
            drop(reply.send(synced.clone()));
        }
    }

    /// Notes that everything taken is in the database.
    fn written(&self, spare: &mut Part) {
        let mut emptied = spare.clear();
        let mut state = self.lock();
        state.committing = false;
        if std::mem::take(&mut state.failed) && state.waiting.is_empty() && emptied.is_ok() {
            // The rows that came after the failure are written too.
            emptied = state.tail.clear();
        }
        drop(state);
        if let Err(error) = emptied {
            // The rows are read again at the next start, and skipped.
            tracing::warn!("the journal's tail was not emptied: {error}");
        }
    }

    /// Leaves nothing in the tail's files that the database has had, and may have deleted.
    fn shrink_tail(&self, spare: &mut Part) {
        let shrunk = spare.shrink().and_then(|()| self.lock().tail.shrink());
        if let Err(error) = shrunk {
            tracing::warn!("the journal's tail keeps its room: {error}");
        }
    }

    /// Puts back what could not be written, before what came since.
    fn put_back(&self, mut entries: Vec<Entry>) {
        let mut state = self.lock();
        entries.append(&mut state.waiting);
        state.n_bytes = entries.iter().map(Entry::n_bytes).sum();
        state.waiting = entries;
        state.committing = false;
        state.failed = true;
        state.due = Some(Instant::now() + RETRY);
    }
}

fn write_all(connection: Connection, mut spare: Part, shared: &Shared) {
    let mut database = Database { connection, level: None };
    while let Some(work) = shared.take(&mut spare) {
        let (mut entries, is_last) = match work {
            Work::Write { entries, is_last } => (entries, is_last),
            Work::Sync { file, unsynced } => {
                shared.sync(&file, unsynced);
                continue;
            }
            Work::GiveRoomBack => {
                shared.shrink_tail(&mut spare);
                match room::give_back(&database.connection) {
                    Ok(room::Room::More) => {}
                    Ok(room::Room::Done) => shared.lock().has_room = false,
                    Err(error) => {
                        tracing::warn!("the store could not give room back: {error}");
                        shared.lock().has_room = false;
                    }
                }
                continue;
            }
        };
        #[cfg(any(test, feature = "fake-provider"))]
        if let Some(full) = shared.lock().pretends_full.take() {
            pretend_full(&database.connection, full).expect("the setting is known");
        }
        let mut finishes = Vec::new();
        let committed = database
            .commit(durability(&entries), |connection| apply(connection, &mut entries, &mut finishes).err());
        match &committed {
            Ok(()) => shared.written(&mut spare),
            Err(error) => {
                tracing::error!("the store cannot be written: {error}");
                entries.retain(|entry| !matches!(entry, Entry::Job(_)));
                shared.put_back(entries);
            }
        }
        for finish in finishes {
            finish(committed.clone());
        }
        if is_last && committed.is_err() {
            // What was kept is in the tail, and the next start takes it over.
            return;
        }
    }
}

#[cfg(any(test, feature = "fake-provider"))]
fn pretend_full(connection: &Connection, full: bool) -> Result<(), rusqlite::Error> {
    let n_pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let limit = if full { n_pages } else { i64::from(u32::MAX - 1) };
    connection.query_row(&format!("PRAGMA max_page_count = {limit}"), [], |_row| Ok(()))
}

struct Database {
    connection: Connection,
    /// How sure the last commit was; the setting is compiled anew each time it is made.
    level: Option<Durability>,
}

impl Database {
    /// Runs `work` in one transaction; it returns why the transaction was lost, if it was: SQLite takes all of it back
    /// by itself when the disk is full. In WAL mode a synced commit makes every commit before it durable too, since
    /// they share one log file.
    fn commit(
        &mut self,
        durability: Durability,
        work: impl FnOnce(&Connection) -> Option<StoreError>,
    ) -> Result<(), StoreError> {
        let begun = self.sync(durability).and_then(|()| execute(&self.connection, "BEGIN IMMEDIATE"));
        // The jobs run even if that failed: they fail then, and each asker gets its answer.
        let lost = work(&self.connection);
        begun?;
        let ended = match lost {
            Some(lost) => Err(lost),
            None => execute(&self.connection, "COMMIT").map_err(StoreError::from),
        };
        if ended.is_err()
            && !self.connection.is_autocommit()
            && let Err(also) = execute(&self.connection, "ROLLBACK")
        {
            tracing::error!("the store could not take back a failed commit: {also}");
        }
        ended
    }

    fn sync(&mut self, durability: Durability) -> Result<(), rusqlite::Error> {
        if self.level == Some(durability) {
            return Ok(());
        }
        let level = match durability {
            Durability::Process => "NORMAL",
            Durability::Disk => "FULL",
        };
        self.connection.pragma_update(None, "synchronous", level)?;
        self.level = Some(durability);
        Ok(())
    }
}
