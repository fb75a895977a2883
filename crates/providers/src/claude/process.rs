//! One Claude process with one conversation: a task owns it, this is its handle.

mod task;
mod told;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use chartroom_protocol::context::ContextUse;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, SendParams};
use chartroom_sessions::{AgentHandle, ProviderError, ProviderOutput};
use chartroom_transport::Child;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::agent_tools::AgentTools;
use crate::claude::control::context;
use crate::timeouts::Timeouts;

/// How many outputs may wait for the session. When full, the task waits, and with it the agent's pipe.
const OUTPUTS: usize = 256;
/// How many commands may wait for the task. When full, callers wait.
const COMMANDS: usize = 16;

/// A process that has been started and has answered `initialize`.
pub(super) struct Started {
    pub(super) session_id: SessionId,
    pub(super) handle: Arc<ClaudeHandle>,
    pub(super) outputs: mpsc::Receiver<ProviderOutput>,
}

/// Takes over a child and waits until it is ready. A child that is not is ended, tree and all.
pub(super) async fn start(
    session_id: SessionId,
    child: Child,
    project_dir: &Path,
    agent_tools: Option<Arc<dyn AgentTools>>,
    timeouts: Timeouts,
) -> Result<Started, ProviderError> {
    let (commands, inbox) = mpsc::channel(COMMANDS);
    let (sender, outputs) = mpsc::channel(OUTPUTS);
    let (ready, is_ready) = oneshot::channel();
    let alive = Arc::new(AtomicBool::new(true));
    let task = task::Task::new(session_id.clone(), child, project_dir, agent_tools, timeouts, sender)?;
    let works_aside = task.works_aside();
    tokio::spawn(task.run(inbox, ready, Arc::clone(&alive)));
    let handle = Arc::new(ClaudeHandle { commands, alive, works_aside, timeouts });
    match tokio::time::timeout(timeouts.ready, is_ready).await {
        Ok(Ok(Ok(()))) => Ok(Started { session_id, handle, outputs }),
        Ok(Ok(Err(error))) => Err(error),
        Ok(Err(_gone)) => Err(ProviderError::create_failed("claude ended before it was ready")),
        Err(_elapsed) => {
            handle.kill().await;
            let seconds = timeouts.ready.as_secs_f32();
            let message = format!("claude did not answer within {seconds} s of its start and was ended");
            Err(ProviderError::create_failed(message))
        }
    }
}

/// The way to the task that owns the process. Dropping the last one ends the process.
pub(super) struct ClaudeHandle {
    commands: mpsc::Sender<Command>,
    alive: Arc<AtomicBool>,
    works_aside: Arc<AtomicBool>,
    timeouts: Timeouts,
}

/// Everything that can be asked of the task.
enum Command {
    Send {
        turn_id: TurnId,
        message: SendParams,
        reply: Reply<()>,
    },
    Cancel {
        turn_id: TurnId,
        reply: oneshot::Sender<Result<Option<oneshot::Receiver<ControlAnswer>>, ProviderError>>,
    },
    Answer {
        params: AnswerParams,
        reply: Reply<()>,
    },
    Control {
        request: Value,
        reply: oneshot::Sender<Result<oneshot::Receiver<ControlAnswer>, ProviderError>>,
    },
    Kill {
        reply: oneshot::Sender<()>,
    },
}

type Reply<T> = oneshot::Sender<Result<T, ProviderError>>;
/// What the CLI answered: a value, or its reason to refuse.
type ControlAnswer = Result<Value, String>;

impl ClaudeHandle {
    /// Sends a control request and waits for its answer.
    pub(super) async fn control(&self, request: Value) -> Result<Value, ProviderError> {
        let subtype = request["subtype"].as_str().unwrap_or_default().to_owned();
        let answer = self.ask(|reply| Command::Control { request, reply }).await?;
        self.answered(&subtype, answer, ErrorCode::ProtocolError).await
    }

    async fn answered(
        &self,
        subtype: &str,
        answer: oneshot::Receiver<ControlAnswer>,
        code: ErrorCode,
    ) -> Result<Value, ProviderError> {
        match tokio::time::timeout(self.timeouts.answer, answer).await {
            Ok(Ok(Ok(value))) => Ok(value),
            Ok(Ok(Err(reason))) => {
                Err(ProviderError::new(code, format!("claude refused {subtype}: {reason}")))
            }
            Ok(Err(_gone)) => Err(gone()),
            Err(_elapsed) => {
                let seconds = self.timeouts.answer.as_secs_f32();
                Err(ProviderError::new(code, format!("claude did not answer {subtype} within {seconds} s")))
            }
        }
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, ProviderError>>) -> Command,
    ) -> Result<T, ProviderError> {
        let (reply, answer) = oneshot::channel();
        self.commands.send(command(reply)).await.map_err(|_closed| gone())?;
        answer.await.map_err(|_dropped| gone())?
    }
}

#[async_trait]
impl AgentHandle for ClaudeHandle {
    async fn send_message(&self, turn_id: &TurnId, message: SendParams) -> Result<(), ProviderError> {
        let turn_id = turn_id.clone();
        self.ask(|reply| Command::Send { turn_id, message, reply }).await
    }

    async fn cancel_turn(&self, turn_id: &TurnId) -> Result<(), ProviderError> {
        let turn_id = turn_id.clone();
        match self.ask(|reply| Command::Cancel { turn_id, reply }).await? {
            None => Ok(()),
            Some(answer) => self.answered("interrupt", answer, ErrorCode::InterruptFailed).await.map(drop),
        }
    }

    async fn answer(&self, params: AnswerParams) -> Result<(), ProviderError> {
        self.ask(|reply| Command::Answer { params, reply }).await
    }

    async fn set_model(&self, model: &str) -> Result<(), ProviderError> {
        self.control(json!({"subtype": "set_model", "model": model})).await.map(drop)
    }

    async fn set_mode(&self, mode: &str) -> Result<(), ProviderError> {
        self.control(json!({"subtype": "set_permission_mode", "mode": mode})).await.map(drop)
    }

    async fn context_use(&self) -> Result<Option<ContextUse>, ProviderError> {
        Ok(context::read(&self.control(json!({"subtype": "get_context_usage"})).await?))
    }

    fn has_background_work(&self) -> bool {
        self.works_aside.load(Ordering::Acquire)
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

fn gone() -> ProviderError {
    ProviderError::process_crash("the claude process of this session is gone; load the session to go on")
}
