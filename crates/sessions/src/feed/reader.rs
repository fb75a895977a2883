//! One reader's queue: bounded in frames and in bytes, emptied when it overflows.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// About ten seconds of a lively session.
const MAX_FRAMES: usize = 512;
const MAX_BYTES: usize = 4 << 20;

/// One message to a reader: a `ServerFrame` as JSON text, made once for all readers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Set for what is in the journal.
    pub seq: Option<u64>,
    /// The frame as it goes over the socket.
    pub json: Arc<str>,
}

#[derive(Default)]
pub(super) struct ReaderQueue {
    state: Mutex<State>,
    /// Woken for every push; one reader waits at most.
    news: Notify,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Frame>,
    n_bytes: usize,
    overflowed: bool,
    closed: bool,
}

pub(super) enum Next {
    Frame(Frame),
    /// The reader was too slow; it must take the whole state.
    Overflowed,
    Closed,
}

impl ReaderQueue {
    /// Adds a frame, or drops all of them when there are too many: the reader takes the state instead.
    pub(super) fn push(&self, frame: Frame) {
        let mut state = self.lock();
        if state.overflowed {
            return;
        }
        let full = state.frames.len() >= MAX_FRAMES
            || (!state.frames.is_empty() && state.n_bytes + frame.json.len() > MAX_BYTES);
        if full {
            state.overflow();
        } else {
            state.n_bytes += frame.json.len();
            state.frames.push_back(frame);
        }
        drop(state);
        self.news.notify_one();
    }

    /// Makes the reader take the whole state.
    pub(super) fn overflow(&self) {
        self.lock().overflow();
        self.news.notify_one();
    }

    pub(super) fn clear(&self) {
        let mut state = self.lock();
        state.frames.clear();
        state.n_bytes = 0;
        state.overflowed = false;
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.news.notify_one();
    }

    pub(super) async fn next(&self) -> Next {
        loop {
            // A push between the look and the wait leaves its permit with `news`.
            if let Some(next) = self.lock().take() {
                return next;
            }
            self.news.notified().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn overflow(&mut self) {
        self.frames = VecDeque::new();
        self.n_bytes = 0;
        self.overflowed = true;
    }

    fn take(&mut self) -> Option<Next> {
        if self.overflowed {
            return Some(Next::Overflowed);
        }
        match self.frames.pop_front() {
            Some(frame) => {
                self.n_bytes -= frame.json.len();
                Some(Next::Frame(frame))
            }
            None if self.closed => Some(Next::Closed),
            None => None,
        }
    }
}
