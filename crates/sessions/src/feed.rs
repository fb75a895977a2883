//! How readers follow a session: what they missed from the journal, then live, without a gap or a double.
//!
//! A reader first joins the live side, then reads the journal; whatever comes twice that way is told by its seq.
//! Each reader has a bounded queue of its own. One that does not keep up loses its queue and takes the whole state
//! again when it reads on; the session never waits for it.

mod broadcast;
mod escape;
mod frames;
mod item_json;
mod reader;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::store::{Backlog, Store, StoreError};
use chartroom_protocol::ids::SessionId;

pub(crate) use broadcast::{Broadcast, Change};
pub(crate) use frames::{history_frame, row_frame, turn_frame, upsert_frame};
pub use reader::Frame;
use reader::ReaderQueue;

/// How much of a conversation is sent at once, the newest items first; the rest is fetched when a reader goes there.
/// A megabyte is a third of a second on a phone's wifi and some dozens of screens.
pub(crate) const HISTORY_BYTES: usize = 1 << 20;

/// One reader of one session.
pub struct Feed {
    store: Store,
    broadcast: Arc<Broadcast>,
    queue: Arc<ReaderQueue>,
    /// Read from the journal and not yet handed out.
    ready: VecDeque<Frame>,
    /// The last seq handed out or about to be.
    seen: u64,
    /// What must be read from the journal before anything live may be handed out.
    behind: Option<Behind>,
}

#[derive(Debug, Clone, Copy)]
enum Behind {
    /// The reader has everything up to this seq.
    After(u64),
    /// The reader needs the whole state.
    Everything,
}

impl Feed {
    pub(crate) fn new(store: Store, broadcast: Arc<Broadcast>, after_seq: Option<u64>) -> Self {
        Self {
            store,
            queue: broadcast.join(),
            broadcast,
            ready: VecDeque::new(),
            seen: 0,
            behind: Some(after_seq.map_or(Behind::Everything, Behind::After)),
        }
    }

    /// Returns whose feed this is.
    pub fn session_id(&self) -> &SessionId {
        self.broadcast.session_id()
    }

    /// Waits for the next frame; `None` when the session is closed.
    ///
    /// May be dropped at any await and called again: nothing is lost by it.
    pub async fn next(&mut self) -> Result<Option<Frame>, StoreError> {
        loop {
            if let Some(behind) = self.behind {
                self.catch_up(behind).await?;
                self.behind = None;
            }
            if let Some(frame) = self.ready.pop_front() {
                return Ok(Some(frame));
            }
            match self.queue.next().await {
                reader::Next::Frame(frame) => {
                    match frame.seq {
                        Some(seq) if seq <= self.seen => continue,
                        // What is between could not be read when this reader came: the disk was full. Now it can.
                        Some(seq) if seq > self.seen + 1 => {
                            self.behind = Some(Behind::After(self.seen));
                            continue;
                        }
                        Some(seq) => self.seen = seq,
                        None => {}
                    }
                    return Ok(Some(frame));
                }
                reader::Next::Overflowed => self.behind = Some(Behind::Everything),
                reader::Next::Closed => return Ok(None),
            }
        }
    }

    async fn catch_up(&mut self, behind: Behind) -> Result<(), StoreError> {
        let current = self.broadcast.rejoin(&self.queue);
        let session_id = self.broadcast.session_id();
        let rows = match behind {
            Behind::After(seq) => match self.store.backlog(session_id, seq).await? {
                Backlog::Rows(rows) => Some((seq, rows)),
                Backlog::Gone => None,
            },
            Behind::Everything => None,
        };
        let mut ready = VecDeque::new();
        match rows {
            Some((after, rows)) => {
                self.seen = after;
                for row in rows {
                    self.seen = row.seq;
                    ready.push_back(row_frame(session_id, &row));
                }
            }
            None => {
                let page = self.store.history(session_id, None, HISTORY_BYTES).await?;
                self.seen = page.seq;
                ready.push_back(history_frame(session_id, &page));
            }
        }
        ready.extend(current);
        self.ready = ready;
        Ok(())
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.broadcast.leave(&self.queue);
    }
}
