//! The live side of a session: who reads, and how things stand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chartroom_protocol::ids::{QuestionId, SessionId};
use chartroom_protocol::session::{Question, QueuedMessage, SessionOptions, SessionState, SessionSummary};
use chartroom_protocol::ws::ServerFrame;
use tokio::sync::broadcast;

use super::frames;
use super::reader::{Frame, ReaderQueue};

/// A reader that was away is told of this many closed questions, so that none stays on its screen.
const CLOSED_KEPT: usize = 32;

/// Something that changed and is not in the journal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Change {
    State {
        state: SessionState,
        note: Option<String>,
    },
    Question(Question),
    QuestionClosed(QuestionId),
    Queue {
        messages: Vec<QueuedMessage>,
        held: Option<String>,
    },
    Title(String),
    Options(SessionOptions),
    /// How lists show the session; who is not there to hear it asks for the list.
    Listed(SessionSummary),
    /// The session was deleted.
    Removed,
}

pub(crate) struct Broadcast {
    session_id: SessionId,
    inner: Mutex<Inner>,
    /// State, title and place of every session, for lists; who lags misses some and asks for the list again.
    overview: broadcast::Sender<(SessionId, Frame)>,
}

struct Inner {
    readers: Vec<Arc<ReaderQueue>>,
    current: Current,
}

/// How things stand, as a new reader is told.
#[derive(Debug, Clone)]
pub(crate) struct Current {
    pub(crate) state: SessionState,
    pub(crate) note: Option<String>,
    pub(crate) questions: Vec<Question>,
    pub(crate) queue: Vec<QueuedMessage>,
    /// Why the queue waits for a person.
    held: Option<String>,
    pub(crate) title: String,
    pub(crate) options: Option<SessionOptions>,
    closed_questions: VecDeque<QuestionId>,
}

impl Broadcast {
    pub(crate) fn new(
        session_id: SessionId,
        title: String,
        overview: broadcast::Sender<(SessionId, Frame)>,
    ) -> Self {
        let current = Current {
            state: SessionState::Open,
            note: None,
            questions: Vec::new(),
            queue: Vec::new(),
            held: None,
            title,
            options: None,
            closed_questions: VecDeque::new(),
        };
        Self { session_id, inner: Mutex::new(Inner { readers: Vec::new(), current }), overview }
    }

    pub(crate) fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    pub(crate) fn current(&self) -> Current {
        self.lock().current.clone()
    }

    /// Tells whether this is the queue that readers see. Asked after every event, so it copies nothing.
    pub(crate) fn shows_queue(&self, queue: &[QueuedMessage], held: Option<&str>) -> bool {
        let inner = self.lock();
        inner.current.queue == queue && inner.current.held.as_deref() == held
    }

    /// Tells whether these are the state and the note that readers see.
    pub(crate) fn shows_state(&self, state: SessionState, note: Option<&str>) -> bool {
        let inner = self.lock();
        inner.current.state == state && inner.current.note.as_deref() == note
    }

    /// Sends frames of the journal to every reader.
    pub(crate) fn publish(&self, frame: &Frame) {
        for reader in &self.lock().readers {
            reader.push(frame.clone());
        }
    }

    /// Notes a change and tells every reader.
    pub(crate) fn change(&self, change: Change) {
        let is_overview = match change {
            Change::State { .. } | Change::Title(_) | Change::Listed(_) | Change::Removed => true,
            Change::Question(_) | Change::QuestionClosed(_) | Change::Queue { .. } | Change::Options(_) => {
                false
            }
        };
        let frame = frames::live(&self.frame(change.clone()));
        let mut inner = self.lock();
        inner.current.apply(change);
        for reader in &inner.readers {
            reader.push(frame.clone());
        }
        drop(inner);
        if is_overview {
            // Nobody may be looking at a list right now.
            drop(self.overview.send((self.session_id.clone(), frame)));
        }
    }

    /// Makes every reader take the whole state: much of it changed at once.
    pub(crate) fn start_over(&self) {
        for reader in &self.lock().readers {
            reader.overflow();
        }
    }

    pub(super) fn join(&self) -> Arc<ReaderQueue> {
        let queue = Arc::<ReaderQueue>::default();
        self.lock().readers.push(Arc::clone(&queue));
        queue
    }

    /// Empties a reader's queue and returns how things stand at that very moment.
    pub(super) fn rejoin(&self, queue: &ReaderQueue) -> Vec<Frame> {
        let inner = self.lock();
        queue.clear();
        let current = inner.current.clone();
        drop(inner);
        current.changes().into_iter().map(|change| frames::live(&self.frame(change))).collect()
    }

    pub(super) fn leave(&self, queue: &Arc<ReaderQueue>) {
        self.lock().readers.retain(|reader| !Arc::ptr_eq(reader, queue));
    }

    /// Ends every reader once it has read what is there.
    pub(crate) fn close(&self) {
        for reader in self.lock().readers.drain(..) {
            reader.close();
        }
    }

    fn frame(&self, change: Change) -> ServerFrame {
        let session_id = self.session_id.clone();
        match change {
            Change::State { state, note } => ServerFrame::State { session_id, state, note },
            Change::Question(question) => ServerFrame::Question { session_id, question },
            Change::QuestionClosed(question_id) => ServerFrame::QuestionClosed { session_id, question_id },
            Change::Queue { messages, held } => ServerFrame::Queue { session_id, messages, held },
            Change::Title(title) => ServerFrame::Title { session_id, title },
            Change::Options(options) => ServerFrame::Options { session_id, options },
            Change::Listed(session) => ServerFrame::Listed { session },
            Change::Removed => ServerFrame::Removed { session_id },
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Current {
    fn apply(&mut self, change: Change) {
        match change {
            Change::State { state, note } => {
                self.state = state;
                self.note = note;
            }
            Change::Question(question) => {
                self.closed_questions.retain(|closed| *closed != question.question_id);
                self.questions.retain(|known| known.question_id != question.question_id);
                self.questions.push(question);
            }
            Change::QuestionClosed(question_id) => {
                self.questions.retain(|known| known.question_id != question_id);
                if self.closed_questions.len() == CLOSED_KEPT {
                    self.closed_questions.pop_front();
                }
                self.closed_questions.push_back(question_id);
            }
            Change::Queue { messages, held } => {
                self.queue = messages;
                self.held = held;
            }
            Change::Title(title) => self.title = title,
            Change::Options(options) => self.options = Some(options),
            Change::Listed(_) | Change::Removed => {}
        }
    }

    fn changes(self) -> Vec<Change> {
        let mut changes = vec![Change::Title(self.title)];
        changes.extend(self.options.map(Change::Options));
        changes.push(Change::Queue { messages: self.queue, held: self.held });
        changes.extend(self.closed_questions.into_iter().map(Change::QuestionClosed));
        changes.extend(self.questions.into_iter().map(Change::Question));
        changes.push(Change::State { state: self.state, note: self.note });
        changes
    }
}
