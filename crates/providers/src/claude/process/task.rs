//! The task that owns a Claude process: its lines, our commands, the clock.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{QuestionId, SessionId};
use chartroom_protocol::session::{AnswerParams, SessionOptions};
use chartroom_sessions::{Now, ProcessorConfig, ProviderError, ProviderOutput, Pump};
use chartroom_transport::codec::{self, Frame, Lines};
use chartroom_transport::{Child, Received, aside};
use futures_util::{FutureExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio_util::codec::FramedRead;

use super::told::Told;
use super::{Command, ControlAnswer};
use crate::agent_tools::{AgentTools, ToolUse};
use crate::claude::control::{self, Granted, Permission};
use crate::claude::translate::{StreamLine, Translated, Translator, WholeLine};
use crate::json::{list, optional_text, text};
use crate::launch::exit_reason;
use crate::refusals;
use crate::same_calls::SameCalls;
use crate::timeouts::Timeouts;

/// A longer line is read past and reported: images fit, a runaway does not.
const MAX_LINE: usize = 32 * 1024 * 1024;
/// How many lines may wait to be written. When full, the CLI does not read, and sending fails.
const UNWRITTEN: usize = 64;
/// How many lines are read before a command is looked at again.
const AT_ONCE: usize = 32;

type Ready = oneshot::Sender<Result<(), ProviderError>>;

pub(super) struct Task {
    child: Child,
    lines: FramedRead<ChildStdout, Lines>,
    stdin: mpsc::Sender<Value>,
    translator: Translator,
    pump: Pump,
    project_dir: PathBuf,
    agent_tools: Option<Arc<dyn AgentTools>>,
    timeouts: Timeouts,
    /// Our control requests that wait for their answer.
    asked: HashMap<String, oneshot::Sender<ControlAnswer>>,
    n_asked: u64,
    interrupt: Interrupt,
    /// Their permission requests that wait for a person.
    questions: BTreeMap<QuestionId, Permission>,
    same_calls: SameCalls,
    told: Told,
    options: SessionOptions,
    /// Commands and subagents run in the background.
    works_aside: Arc<AtomicBool>,
}

/// Where the interrupt of a cancelled turn stands. One that comes before the CLI has begun with the turn is forgotten by
/// it, so it is asked for again as long as the turn goes on.
#[derive(Debug, Default)]
enum Interrupt {
    /// None is on its way.
    #[default]
    Idle,
    /// The CLI has not answered this one. The turn may have gone on before it read it: then another follows.
    Asked { request_id: String, went_on: bool },
}

/// Everything that can happen to the process.
enum Event {
    Line(Frame),
    /// Its stdout has ended, and with it the process.
    End,
    Command(Command),
    /// The last handle was dropped.
    Forgotten,
}

impl Task {
    pub(super) fn new(
        session_id: SessionId,
        mut child: Child,
        project_dir: &Path,
        agent_tools: Option<Arc<dyn AgentTools>>,
        timeouts: Timeouts,
        outputs: mpsc::Sender<ProviderOutput>,
    ) -> Result<Self, ProviderError> {
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ProviderError::create_failed("claude was started without pipes"));
        };
        let (writer, unwritten) = mpsc::channel(UNWRITTEN);
        tokio::spawn(write(stdin, unwritten));
        Ok(Self {
            child,
            lines: FramedRead::new(stdout, Lines::new(MAX_LINE)),
            stdin: writer,
            translator: Translator::new(session_id),
            pump: Pump::new(ProcessorConfig::default(), outputs),
            project_dir: project_dir.to_path_buf(),
            agent_tools,
            timeouts,
            asked: HashMap::new(),
            n_asked: 0,
            interrupt: Interrupt::Idle,
            questions: BTreeMap::new(),
            same_calls: SameCalls::default(),
            told: Told::default(),
            options: SessionOptions::default(),
            works_aside: Arc::default(),
        })
    }

    /// Returns the mark that tells whether something runs in the background.
    pub(super) fn works_aside(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.works_aside)
    }

    /// Runs until the process is gone.
    pub(super) async fn run(
        mut self,
        mut commands: mpsc::Receiver<Command>,
        ready: Ready,
        alive: Arc<AtomicBool>,
    ) {
        let mut ready = Some(ready);
        let initialize = control::initialize(self.agent_tools.as_deref());
        let mut initialized = self.ask(initialize).ok();
        let killed_by = loop {
            let event = tokio::select! {
                line = self.lines.next() => match line {
                    Some(Ok(line)) => Event::Line(line),
                    Some(Err(error)) => {
                        tracing::debug!(%error, "claude's stdout cannot be read");
                        Event::End
                    }
                    None => Event::End,
                },
                command = commands.recv() => command.map_or(Event::Forgotten, Event::Command),
                answer = answer_to(&mut initialized) => {
                    initialized = None;
                    self.begin(answer, &mut ready).await;
                    continue;
                }
                () = self.pump.tick_when_due() => continue,
            };
            match event {
                Event::Line(line) => self.read_all(line).await,
                Event::Command(Command::Kill { reply }) => break Some(Some(reply)),
                Event::Command(command) => self.command(command).await,
                Event::End => break None,
                Event::Forgotten => break Some(None),
            }
        };
        alive.store(false, Ordering::Release);
        drop(commands);
        let killed = killed_by.is_some();
        if killed {
            self.end_gracefully().await;
        }
        let message = self.end(killed).await;
        if let Some(ready) = ready {
            // The one who waited may have given up.
            ready.send(Err(ProviderError::create_failed(message))).ok();
        }
        if let Some(Some(reply)) = killed_by {
            // The one who asked may be gone.
            reply.send(()).ok();
        }
    }

    /// Reads a line and those that came with it, as the lines of one write do; commands are asked for again after them.
    async fn read_all(&mut self, first: Frame) {
        self.read(first).await;
        for _ in 1..AT_ONCE {
            // An end or a failure is told again when it is asked for.
            let Some(Some(Ok(line))) = self.lines.next().now_or_never() else { return };
            self.read(line).await;
        }
    }

    /// Takes the answer to `initialize`: the process is ready.
    async fn begin(&mut self, answer: ControlAnswer, ready: &mut Option<Ready>) {
        let outcome = match answer {
            Ok(initialized) => {
                self.options = control::options(&initialized);
                self.pump.output(ProviderOutput::Options(self.options.clone())).await;
                Ok(())
            }
            Err(reason) => {
                Err(ProviderError::create_failed(format!("claude refused to initialize: {reason}")))
            }
        };
        if let Some(ready) = ready.take() {
            // The one who waited may have given up; then the handle is dropped, and we end.
            ready.send(outcome).ok();
        }
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Send { turn_id, message, reply } => {
                let sent = self.write(control::user_line(&turn_id, &message));
                if sent.is_ok() {
                    self.translator.expect(turn_id);
                }
                // A caller that is gone does not want to know; the same below.
                reply.send(sent).ok();
            }
            Command::Cancel { turn_id, reply } => {
                let known = self.translator.cancel(&turn_id);
                let asked = if known { self.interrupt().map(Some) } else { Ok(None) };
                reply.send(asked).ok();
            }
            Command::Answer { params, reply } => {
                let answered = self.answer(&params).await;
                reply.send(answered).ok();
            }
            Command::Control { request, reply } => {
                let chosen = request.clone();
                let asked = self.ask(request);
                if asked.is_ok() {
                    self.chosen(&chosen).await;
                }
                reply.send(asked).ok();
            }
            Command::Kill { .. } => {}
        }
    }

    async fn read(&mut self, line: Frame) {
        self.translator.told(self.told.take());
        let now = self.pump.clock().now();
        let translated = match self.read_text(&now, &line) {
            Some(translated) => translated,
            None => match self.value(line).await {
                Some(line) => self.translator.line(&now, &line),
                None => return,
            },
        };
        for translated in translated {
            self.apply(now, translated).await;
        }
    }

    /// Reads a line without making a value of it, if it is one of those that there are many of.
    fn read_text(&mut self, now: &Now, line: &Frame) -> Option<Vec<Translated>> {
        let Frame::Message(bytes) = line else { return None };
        aside(bytes.len(), || self.read_bytes(now, bytes))
    }

    fn read_bytes(&mut self, now: &Now, bytes: &[u8]) -> Option<Vec<Translated>> {
        if let Some(line) = StreamLine::read(bytes) {
            return Some(self.translator.stream_event(now, &line));
        }
        let line = WholeLine::read(bytes).filter(|line| !self.translator.waits(line))?;
        Some(self.translator.message(now, &line))
    }

    /// Reads a line that is none of those, or an odd one; `None` when it is nothing that can be read.
    async fn value(&mut self, line: Frame) -> Option<Value> {
        let line = match codec::parse(line) {
            Received::Message(line) => line,
            Received::Oversized { length } => {
                let note = format!("claude printed a line of {} MB, which was left out", length / 1_000_000);
                tracing::warn!(length, "claude printed a line that is too long");
                self.pump.output(ProviderOutput::Note(Some(note))).await;
                return None;
            }
            Received::Malformed { start, length, .. } | Received::Garbage { start, length } => {
                tracing::debug!(%start, length, "claude printed something that is no JSON");
                return None;
            }
        };
        if text(&line, "/subtype") == "background_tasks_changed" {
            self.works_aside.store(!list(&line, "/tasks").is_empty(), Ordering::Release);
        }
        Some(line)
    }

    async fn apply(&mut self, now: Now, translated: Translated) {
        match translated {
            Translated::Event(mut envelope) => {
                refusals::note(self.child.sandbox(), &mut envelope);
                self.pump.push(now, &envelope).await;
            }
            Translated::Note(note) => self.pump.output(ProviderOutput::Note(note)).await,
            Translated::Init { model, mode } => {
                let (model, mode) = (Some(model), Some(mode));
                if self.options.model != model || self.options.mode != mode {
                    self.options.model = model;
                    self.options.mode = mode;
                    self.pump.output(ProviderOutput::Options(self.options.clone())).await;
                }
            }
            Translated::Mode(mode) => self.in_mode(mode).await,
            Translated::GoesOn => match &mut self.interrupt {
                Interrupt::Idle => self.interrupt_again(),
                Interrupt::Asked { went_on, .. } => *went_on = true,
            },
            Translated::Answered { request_id, outcome } => {
                if matches!(&self.interrupt, Interrupt::Asked { request_id: asked, .. } if *asked == request_id)
                {
                    let answered = std::mem::take(&mut self.interrupt);
                    if matches!(answered, Interrupt::Asked { went_on: true, .. })
                        && self.translator.is_cancelling()
                    {
                        self.interrupt_again();
                    }
                }
                if let Some(asker) = self.asked.remove(&request_id) {
                    // An asker whose patience ended does not listen any more.
                    asker.send(outcome).ok();
                }
            }
            Translated::Withdrawn { request_id } => self.close_question(&QuestionId::new(request_id)).await,
            Translated::Asked { request_id, request } => self.asked_by_claude(request_id, request).await,
        }
    }

    async fn asked_by_claude(&mut self, request_id: String, request: Value) {
        match text(&request, "/subtype") {
            "can_use_tool" if self.needs_no_permission(&request) => self.allow(&request_id, &request),
            "can_use_tool" => {
                let permission = Permission::read(&request_id, &request);
                if permission.sameness().is_some_and(|sameness| self.same_calls.allows(sameness)) {
                    return self.allow(&request_id, &request);
                }
                let question = permission.question(self.pump.clock().now().iso());
                let project_dir = self.project_dir.clone();
                let mut placed = question.clone();
                let placing = tokio::task::spawn_blocking(move || {
                    if let Some(input) = request.get("input") {
                        control::place(&mut placed, input, &project_dir);
                    }
                    placed
                });
                let question = placing.await.unwrap_or(question);
                self.questions.insert(permission.question_id(), permission);
                self.pump.output(ProviderOutput::Question(question)).await;
            }
            "mcp_message" | "hook_callback" if self.agent_tools.is_some() => {
                let agent_tools = self.agent_tools.clone();
                let stdin = self.stdin.clone();
                let cwd = self.project_dir.clone();
                let told = self.told.clone();
                tokio::spawn(async move {
                    let Some(agent_tools) = agent_tools else { return };
                    let response = answer_tool_request(agent_tools.as_ref(), &request, cwd).await;
                    told.note(&request, &response);
                    if stdin.send(control::success(&request_id, &response)).await.is_err() {
                        tracing::debug!("claude was gone before its question was answered");
                    }
                });
            }
            other => {
                let refusal = control::failure(&request_id, &format!("chartroom does not know {other}"));
                if let Err(error) = self.write(refusal) {
                    tracing::debug!(%error, "a question of claude's could not be refused");
                }
            }
        }
    }

    /// Lets a tool run that nobody needs to be asked about.
    fn allow(&self, request_id: &str, request: &Value) {
        let input = request.get("input").cloned().unwrap_or_else(|| json!({}));
        let allowed = json!({"behavior": "allow", "updatedInput": input});
        if let Err(error) = self.write(control::success(request_id, &allowed)) {
            tracing::debug!(%error, "claude was gone before its tool was allowed");
        }
    }

    fn needs_no_permission(&self, request: &Value) -> bool {
        let input = request.get("input").unwrap_or(&Value::Null);
        self.agent_tools
            .as_ref()
            .is_some_and(|tools| tools.needs_no_permission(text(request, "/tool_name"), input))
    }

    async fn answer(&mut self, params: &AnswerParams) -> Result<(), ProviderError> {
        let Some(permission) = self.questions.get(&params.question_id) else {
            let message = format!("question {} does not wait any more", params.question_id);
            return Err(ProviderError::new(ErrorCode::QuestionNotFound, message));
        };
        let response = control::success(params.question_id.as_str(), &permission.answer(params));
        self.write(response)?;
        if let Some(call_id) = permission.call_id() {
            self.translator.begins_now(&self.pump.clock().now(), call_id);
        }
        let mode = match permission.granted(params) {
            Granted::Nothing => None,
            Granted::SameCall(sameness) => {
                self.same_calls.allow(sameness);
                None
            }
            Granted::Update(update) => optional_text(update, "/mode").map(str::to_owned),
        };
        self.close_question(&params.question_id).await;
        if let Some(mode) = mode {
            self.in_mode(mode).await;
        }
        Ok(())
    }

    async fn close_question(&mut self, question_id: &QuestionId) {
        if self.questions.remove(question_id).is_some() {
            self.pump.output(ProviderOutput::QuestionClosed(question_id.clone())).await;
        }
    }

    /// Shows a model or mode as chosen at once; the next turn's head corrects us if the CLI thinks otherwise.
    async fn chosen(&mut self, request: &Value) {
        match text(request, "/subtype") {
            "set_model" => self.options.model = Some(text(request, "/model").to_owned()),
            "set_permission_mode" => self.options.mode = Some(text(request, "/mode").to_owned()),
            _ => return,
        }
        self.pump.output(ProviderOutput::Options(self.options.clone())).await;
    }

    /// Shows the mode that is in force from now on.
    async fn in_mode(&mut self, mode: String) {
        if self.options.mode.as_ref() != Some(&mode) {
            self.options.mode = Some(mode);
            self.pump.output(ProviderOutput::Options(self.options.clone())).await;
        }
    }

    fn last_request_id(&self) -> String {
        format!("chartroom-{}", self.n_asked)
    }

    fn ask(&mut self, request: Value) -> Result<oneshot::Receiver<ControlAnswer>, ProviderError> {
        self.n_asked += 1;
        let request_id = self.last_request_id();
        let (asker, answer) = oneshot::channel();
        self.write(control::request(&request_id, &request))?;
        self.asked.insert(request_id, asker);
        Ok(answer)
    }

    fn interrupt(&mut self) -> Result<oneshot::Receiver<ControlAnswer>, ProviderError> {
        let answer = self.ask(json!({"subtype": "interrupt"}))?;
        let request_id = self.last_request_id();
        self.interrupt = Interrupt::Asked { request_id, went_on: false };
        Ok(answer)
    }

    fn interrupt_again(&mut self) {
        if let Err(error) = self.interrupt() {
            // The session ends an agent that does not stop.
            tracing::debug!(%error, "claude could not be interrupted again");
        }
    }

    /// Hands a line to the writer. Never waits: a CLI that does not read must not keep us from reading it.
    fn write(&self, line: Value) -> Result<(), ProviderError> {
        self.stdin.try_send(line).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => ProviderError::protocol("claude does not read its input"),
            mpsc::error::TrySendError::Closed(_) => super::gone(),
        })
    }

    /// Asks the process to end, and reads on for a moment: an interrupted turn still reports its end.
    async fn end_gracefully(&mut self) {
        let mut requests = Vec::new();
        if self.translator.cancel_all() {
            requests.push(json!({"subtype": "interrupt"}));
        }
        requests.push(json!({"subtype": "end_session"}));
        for request in requests {
            if let Err(error) = self.ask(request) {
                tracing::debug!(%error, "claude could not be asked to end");
            }
        }
        let limit = self.timeouts.end;
        let drain = async {
            while let Some(Ok(line)) = self.lines.next().await {
                self.read(line).await;
            }
        };
        if tokio::time::timeout(limit, drain).await.is_err() {
            tracing::debug!("claude did not end by itself");
        }
    }

    /// Ends the tree and everything that was open in the conversation; returns why.
    async fn end(mut self, killed: bool) -> String {
        let message = if killed {
            self.child.end(self.timeouts.end).await;
            "the session was ended".to_owned()
        } else {
            format!("claude {}", exit_reason(self.child, self.timeouts.end).await)
        };
        let now = self.pump.clock().now();
        for translated in self.translator.begin_expected(&now) {
            if let Translated::Event(envelope) = translated {
                self.pump.push(now, &envelope).await;
            }
        }
        self.pump.destroy(&ProviderError::process_crash(&message).detail()).await;
        for question_id in std::mem::take(&mut self.questions).into_keys() {
            self.pump.output(ProviderOutput::QuestionClosed(question_id)).await;
        }
        self.pump.output(ProviderOutput::Exited { message: message.clone() }).await;
        message
    }
}

async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<Value>) {
    while let Some(line) = lines.recv().await {
        let mut bytes = line.to_string().into_bytes();
        bytes.push(b'\n');
        if let Err(error) = stdin.write_all(&bytes).await {
            // The end of its stdout tells the rest.
            tracing::debug!(%error, "claude does not take input any more");
            return;
        }
    }
}

/// Waits for the answer to `initialize`; for ever once it has come.
async fn answer_to(asked: &mut Option<oneshot::Receiver<ControlAnswer>>) -> ControlAnswer {
    match asked {
        Some(answer) => match answer.await {
            Ok(answer) => answer,
            Err(_dropped) => std::future::pending().await,
        },
        None => std::future::pending().await,
    }
}

/// Answers an MCP message or a hook of the agent.
async fn answer_tool_request(agent_tools: &dyn AgentTools, request: &Value, cwd: PathBuf) -> Value {
    if text(request, "/subtype") == "mcp_message" {
        let message = request.get("message").cloned().unwrap_or_default();
        let id = message.get("id").cloned();
        let response = agent_tools.mcp_message(text(request, "/server_name"), message).await;
        // A notification has no answer of its own, but the CLI waits for one.
        let response =
            response.unwrap_or_else(|| json!({"jsonrpc": "2.0", "result": {}, "id": id.unwrap_or(json!(0))}));
        return json!({"mcp_response": response});
    }
    let input = request.get("input").cloned().unwrap_or_default();
    if text(&input, "/hook_event_name") != "PostToolUse" {
        return json!({});
    }
    let cwd = optional_text(&input, "/cwd").map_or(cwd, PathBuf::from);
    let use_of_tool = ToolUse {
        tool_name: text(&input, "/tool_name").to_owned(),
        input: input.get("tool_input").cloned().unwrap_or_default(),
        response: input.get("tool_response").cloned().unwrap_or_default(),
        cwd,
    };
    control::after_tool(agent_tools.after_tool(use_of_tool).await)
}
