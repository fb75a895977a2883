//! One ACP agent's process with one conversation: a task owns it, this is its handle.

mod start;
mod task;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chartroom_protocol::ids::TurnId;
use chartroom_protocol::session::{AnswerParams, SendParams};
use chartroom_sessions::{AgentHandle, ProviderError};
use chartroom_transport::{Handler, ResponseError, RpcError};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

pub(super) use start::{Beginning, Ready, Unopened, ready};

/// How many updates may wait for the task. When full, reading waits, and with it the agent's pipe.
const EVENTS: usize = 1024;
/// How many commands may wait for the task. When full, callers wait.
const COMMANDS: usize = 16;
/// How many outputs may wait for the session. When full, the task waits.
const OUTPUTS: usize = 256;

/// What the agent says, in its order.
enum Event {
    Update(Value),
    Permission { params: Value, reply: oneshot::Sender<Value> },
    Answered(Result<Value, RpcError>),
}

/// Everything that can be asked of the task.
enum Command {
    Send { turn_id: TurnId, message: SendParams, reply: Reply },
    Cancel { turn_id: TurnId, reply: Reply },
    Answer { params: AnswerParams, reply: Reply },
    SetModel { model: String, reply: Reply },
    SetMode { mode: String, reply: Reply },
    Kill { reply: oneshot::Sender<()> },
}

type Reply = oneshot::Sender<Result<(), ProviderError>>;

/// Hands what the agent says to the task.
struct Listener {
    events: mpsc::Sender<Event>,
}

impl Handler for Listener {
    async fn request(&self, method: String, params: Value) -> Result<Value, ResponseError> {
        if method != "session/request_permission" {
            return Err(ResponseError::method_not_found(&method));
        }
        let (reply, answer) = oneshot::channel();
        let asked = self.events.send(Event::Permission { params, reply }).await.is_ok();
        let cancelled = serde_json::json!({"outcome": {"outcome": "cancelled"}});
        // Dropped without an answer: the session is over, and nobody will decide.
        if asked { Ok(answer.await.unwrap_or(cancelled)) } else { Ok(cancelled) }
    }

    async fn notification(&self, method: String, mut params: Value) {
        if method == "session/update"
            && let Some(update) = params.get_mut("update").map(Value::take)
            && self.events.send(Event::Update(update)).await.is_err()
        {
            tracing::debug!("an agent spoke after its session had ended");
        }
    }
}

/// The way to the task that owns the process. Dropping the last one ends the process.
pub(super) struct AcpHandle {
    commands: mpsc::Sender<Command>,
    alive: Arc<AtomicBool>,
    label: String,
}

impl AcpHandle {
    async fn ask(&self, command: impl FnOnce(Reply) -> Command) -> Result<(), ProviderError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_closed| self.gone())?;
        answer.await.map_err(|_dropped| self.gone())?
    }

    fn gone(&self) -> ProviderError {
        let label = &self.label;
        ProviderError::process_crash(format!(
            "the {label} process of this session is gone; load the session to go on"
        ))
    }
}

#[async_trait]
impl AgentHandle for AcpHandle {
    async fn send_message(&self, turn_id: &TurnId, message: SendParams) -> Result<(), ProviderError> {
        let turn_id = turn_id.clone();
        self.ask(|reply| Command::Send { turn_id, message, reply }).await
    }

    async fn cancel_turn(&self, turn_id: &TurnId) -> Result<(), ProviderError> {
        let turn_id = turn_id.clone();
        self.ask(|reply| Command::Cancel { turn_id, reply }).await
    }

    async fn answer(&self, params: AnswerParams) -> Result<(), ProviderError> {
        self.ask(|reply| Command::Answer { params, reply }).await
    }

    async fn set_model(&self, model: &str) -> Result<(), ProviderError> {
        let model = model.to_owned();
        self.ask(|reply| Command::SetModel { model, reply }).await
    }

    async fn set_mode(&self, mode: &str) -> Result<(), ProviderError> {
        let mode = mode.to_owned();
        self.ask(|reply| Command::SetMode { mode, reply }).await
    }

    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    async fn kill(&self) {
        let (reply, gone) = oneshot::channel();
        if self.commands.send(Command::Kill { reply }).await.is_ok() {
            // Dropped without an answer means that the process was gone already.
            gone.await.ok();
        }
    }
}
