//! One task a session: it owns the agent, the journal's next number and the queue. Everything that can happen to
//! a session is one [`Event`], handled in one match.

mod answering;
mod calls;
mod delivery;
mod journaling;
mod opening;
mod outputs;
mod queueing;
mod sleeping;
pub(crate) mod start;
mod stopping;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chartroom_protocol::context::ContextResponse;
use chartroom_protocol::ids::{QueuedId, TurnId};
use chartroom_protocol::session::{
    AnswerParams, Question, QueueParams, QueueResponse, SendParams, SendResponse, SessionResponse,
    SessionState, SessionStatusResponse,
};
use chartroom_protocol::upsert::Upsert;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::clock::{Clock, LazyTimer};
use crate::feed::{Broadcast, Change};
use crate::provider::{AgentHandle, Provider, ProviderError, ProviderOutput};
use crate::store::{SessionChange, Store, StoreError, StoredMessage, StoredSession};
use crate::turns::{TurnPlace, TurnWatch};
use calls::CallDone;
use delivery::Delivery;
use journaling::Staged;
pub(crate) use opening::check_installed;
use sleeping::Sleep;

pub(crate) type Reply<T> = oneshot::Sender<Result<T, ProviderError>>;

/// Tells whether an agent may be started in a folder: it exists and is trusted. Asked at every start.
pub type FolderCheck = Arc<dyn Fn(&Path) -> Result<(), ProviderError> + Send + Sync>;

/// How long things may take before they are taken into hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// From a cancel to the end of the turn; after it the agent is ended.
    pub cancel: Duration,
    /// For an agent to start on a session.
    pub open: Duration,
    /// Between attempts to write a journal that cannot be written.
    pub journal_retry: Duration,
    /// After which an agent that nobody needs is put to sleep; `None` leaves it running.
    pub idle: Option<Duration>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cancel: Duration::from_secs(10),
            open: Duration::from_secs(60),
            journal_retry: Duration::from_secs(1),
            idle: Some(Duration::from_secs(30 * 60)),
        }
    }
}

/// What a handle asks of the session.
pub(crate) enum Command {
    Load {
        reply: Reply<SessionResponse>,
    },
    Send {
        params: SendParams,
        reply: Reply<SendResponse>,
    },
    Cancel {
        reply: Reply<()>,
    },
    Kill {
        reply: Reply<()>,
    },
    Answer {
        params: AnswerParams,
        reply: Reply<()>,
    },
    ChangeQueue {
        change: QueueParams,
        reply: Reply<QueueResponse>,
    },
    SetModel {
        model: String,
        reply: Reply<()>,
    },
    SetMode {
        mode: String,
        reply: Reply<()>,
    },
    SetTitle {
        title: String,
        reply: Reply<()>,
    },
    SetArchived {
        archived: bool,
        reply: Reply<()>,
    },
    Status {
        reply: Reply<SessionStatusResponse>,
    },
    ContextUse {
        reply: Reply<ContextResponse>,
    },
    /// Ends the agent because the server stops; the session stays as it is.
    Shutdown {
        reply: Reply<()>,
    },
}

/// Everything that can happen to a session.
enum Event {
    Command(Command),
    /// The agent said these.
    Outputs(Vec<ProviderOutput>),
    /// The agent's outputs ended.
    OutputsClosed,
    /// A call to the agent or the provider is done.
    Called(CallDone),
    /// A cancelled turn did not end in time.
    CancelOverdue,
    /// Time to try the journal again.
    RetryJournal,
    /// Nobody has needed the agent for long.
    Idle,
    /// Nobody holds a handle any more.
    HandlesGone,
}

pub(crate) struct Actor {
    session: StoredSession,
    project_dir: PathBuf,
    provider: Arc<dyn Provider>,
    store: Store,
    broadcast: Arc<Broadcast>,
    check_folder: FolderCheck,
    turn_watch: Option<Arc<dyn TurnWatch>>,
    limits: Limits,
    clock: Clock,
    commands: mpsc::Receiver<Command>,
    agent: Agent,
    /// Calls to the agent run beside the loop, so that its outputs are read while they wait.
    calls: JoinSet<CallDone>,
    /// The running turns; more than one only while the agent begins one by itself.
    turns: Vec<RunningTurn>,
    /// The last state of items that are still being written, to close them if the agent dies.
    open_items: Vec<Upsert>,
    queue: VecDeque<StoredMessage>,
    delivery: Delivery,
    /// The turn of a message with which the session's title and last activity were kept.
    noted: Option<TurnId>,
    /// Whether the agent ever ended a turn here, or came with a history. Before that it need not have kept the
    /// conversation: Claude writes its file some time after its first words.
    kept: bool,
    questions: Vec<PendingQuestion>,
    seqs: Seqs,
    staged: Vec<Staged>,
    /// Set while the journal cannot be written: when to try again. The agent's outputs wait meanwhile.
    retry_at: Option<Instant>,
    cancel_by: Option<Instant>,
    /// The agent's passing remark.
    note: Option<String>,
    /// Why there is no agent and it was not our wish.
    dead: Option<String>,
    sleep: Sleep,
    /// When something last happened to the session.
    active_at: Instant,
    idle_timer: LazyTimer,
    /// Why the waiting messages wait for a person: nothing is delivered and no agent is started for them.
    held: Option<String>,
    /// The agent was started again for the queue after a crash, and has not ended a turn since. A second crash holds
    /// the queue: a message that ends every agent must not end one after the other.
    was_restarted: bool,
}

enum Agent {
    /// Stored, or dead; a message or a load starts it.
    Absent,
    Opening {
        waiting: Vec<Reply<SessionResponse>>,
        /// Messages whose turns were cancelled: they are ended when the history is taken over, and answered then.
        cancels: Vec<(QueuedId, Reply<()>)>,
        task: tokio::task::AbortHandle,
    },
    Running {
        handle: Arc<dyn AgentHandle>,
        outputs: mpsc::Receiver<ProviderOutput>,
    },
}

struct RunningTurn {
    turn_id: TurnId,
    /// The seq of its first row, for compaction.
    first_seq: u64,
    /// The journal has its beginning.
    is_told: bool,
    /// Somebody wants it to end.
    cancelled: bool,
}

struct PendingQuestion {
    question: Question,
    /// The process that asked is gone with an earlier run of the server.
    stale: bool,
}

impl Actor {
    /// Runs until the last handle is dropped.
    pub(crate) async fn run(mut self) {
        loop {
            let event = self.next_event().await;
            if !matches!(event, Event::Idle | Event::Command(Command::Status { .. })) {
                self.active_at = Instant::now();
            }
            match event {
                Event::Command(command) => self.command(command).await,
                Event::Outputs(outputs) => self.outputs(outputs).await,
                Event::OutputsClosed => self.agent_gone("the agent's process ended".to_owned()).await,
                Event::Called(done) => self.called(done).await,
                Event::CancelOverdue => self.force_cancel().await,
                Event::RetryJournal => self.retry_at = None,
                Event::Idle => self.fall_asleep(),
                Event::HandlesGone => break,
            }
            self.go_on();
            self.deliver_next();
            self.stage_status();
            self.flush().await;
            self.send_delivery();
        }
        self.broadcast.close();
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Load { reply } => self.load(reply),
            Command::Send { params, reply } => self.send(params, reply).await,
            Command::Cancel { reply } => self.cancel(reply),
            Command::Kill { reply } => self.kill(reply).await,
            Command::Answer { params, reply } => self.answer(params, reply).await,
            Command::ChangeQueue { change, reply } => self.change_queue(change, reply).await,
            Command::SetModel { model, reply } => self.set_model(model, reply),
            Command::SetMode { mode, reply } => self.set_mode(mode, reply),
            Command::SetTitle { title, reply } => {
                let change = SessionChange { title: Some(title.clone()), ..SessionChange::default() };
                let changed = self.change_session(change).await;
                if changed.is_ok() {
                    self.session.title = Some(title.clone());
                    self.stage_change(Change::Title(title));
                }
                answer(reply, changed);
            }
            Command::SetArchived { archived, reply } => {
                let change = SessionChange { archived: Some(archived), ..SessionChange::default() };
                let changed = self.change_session(change).await;
                if changed.is_ok() {
                    self.session.archived = archived;
                    let kept_back = self.session.held.then(|| queueing::KEPT_BACK.to_owned());
                    self.held = archived.then(|| queueing::ARCHIVED.to_owned()).or(kept_back);
                    self.stage_listed().await;
                }
                answer(reply, changed);
            }
            Command::Status { reply } => answer(reply, Ok(self.status())),
            Command::ContextUse { reply } => self.context_use(reply),
            Command::Shutdown { reply } => self.shutdown(reply),
        }
    }

    async fn next_event(&mut self) -> Event {
        let retry_at = self.retry_at;
        let cancel_by = self.cancel_by;
        let sleep_at = self.sleep_at();
        let blocked = retry_at.is_some();
        let outputs = match &mut self.agent {
            Agent::Running { outputs, .. } if !blocked => Some(outputs),
            Agent::Running { .. } | Agent::Absent | Agent::Opening { .. } => None,
        };
        tokio::select! {
            command = self.commands.recv() => match command {
                Some(command) => Event::Command(command),
                None => Event::HandlesGone,
            },
            Some(done) = self.calls.join_next(), if !self.calls.is_empty() => match done {
                Ok(done) => Event::Called(done),
                Err(failed) => Event::Called(CallDone::Lost { reason: failed.to_string() }),
            },
            outputs = receive(outputs) => match outputs {
                Some(outputs) => Event::Outputs(outputs),
                None => Event::OutputsClosed,
            },
            () = until(cancel_by) => Event::CancelOverdue,
            () = until(retry_at) => Event::RetryJournal,
            () = self.idle_timer.until(sleep_at) => Event::Idle,
        }
    }

    fn state(&self) -> SessionState {
        if matches!(self.agent, Agent::Opening { .. }) && !self.is_waking() {
            SessionState::Loading
        } else if !self.questions.is_empty() {
            SessionState::NeedsYou
        } else if !self.turns.is_empty() {
            SessionState::Working
        } else if self.dead.is_some() || self.session.killed {
            SessionState::Dead
        } else {
            SessionState::Open
        }
    }

    fn status(&self) -> SessionStatusResponse {
        let is_alive = match &self.agent {
            Agent::Running { handle, .. } => handle.is_alive(),
            Agent::Absent | Agent::Opening { .. } => self.is_asleep() || self.is_waking(),
        };
        SessionStatusResponse {
            session_id: self.session.session_id.clone(),
            cli_type: self.session.cli_type.clone(),
            is_alive,
            state: self.state(),
            title: self.title(),
            model: self.session.model.clone(),
            mode: self.session.mode.clone(),
        }
    }

    /// A turn of this session as others are told of it.
    fn turn_place(&self, turn_id: &TurnId) -> TurnPlace {
        TurnPlace {
            session_id: self.session.session_id.clone(),
            turn_id: turn_id.clone(),
            project_dir: self.project_dir.clone(),
        }
    }

    fn title(&self) -> String {
        self.session.title.clone().unwrap_or_else(|| crate::provider::title(""))
    }

    async fn change_session(&self, change: SessionChange) -> Result<(), ProviderError> {
        self.store.change_session(&self.session.session_id, change).await.map_err(internal)
    }
}

/// The numbers of the journal's rows. They are taken by the session and by the import of an agent's history, which runs
/// beside it: none is taken twice, whatever is broken off.
#[derive(Clone)]
struct Seqs(Arc<AtomicU64>);

impl Seqs {
    fn from(first: u64) -> Self {
        Self(Arc::new(AtomicU64::new(first)))
    }

    fn take(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the number that is taken next.
    fn next(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// As many outputs as are there, so that they share a commit; for ever if there is no agent to listen to.
async fn receive(outputs: Option<&mut mpsc::Receiver<ProviderOutput>>) -> Option<Vec<ProviderOutput>> {
    const AT_ONCE: usize = 64;
    let Some(outputs) = outputs else { return std::future::pending().await };
    let mut list = Vec::new();
    match outputs.recv_many(&mut list, AT_ONCE).await {
        0 => None,
        _ => Some(list),
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Answers a handle, which may have gone away meanwhile.
fn answer<T>(reply: Reply<T>, result: Result<T, ProviderError>) {
    drop(reply.send(result));
}

pub(crate) fn internal(error: StoreError) -> ProviderError {
    ProviderError::new(chartroom_protocol::error::ErrorCode::Internal, error.to_string()).with_cause(error)
}
