//! A trusted project, a gate, and a listener that prints what a session says.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::ids::{CliType, TurnId};
use chartroom_protocol::session::{QuestionBody, SendParams};
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use chartroom_providers::Timeouts;
use chartroom_providers::launch::AgentCommand;
use chartroom_sessions::{CreateOptions, LoadOptions, ProviderOutput, ProviderSession};
use chartroom_testkit::{fakes, project::Project};
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};
use serde_json::Map;

/// Longer than any machine needs; reached only when something hangs.
const LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Stage {
    pub(crate) project: Project,
    pub(crate) home: Project,
    pub(crate) gate: SpawnGate,
    data: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let stage = Self::untrusted();
        let root = CanonicalRoot::open(stage.project.root()).expect("the project exists");
        stage.gate.trust().trust(&root).expect("a project can be trusted");
        stage
    }

    pub(crate) fn untrusted() -> Self {
        let project = Project::new("//- README.md\nhello\n");
        let home = Project::new("");
        let data = tempfile::tempdir().expect("a temporary folder");
        let trust = Arc::new(TrustStore::open(data.path()).expect("a new store opens"));
        let keeper = Keeper { program: fakes::keeper(), args: Vec::new() };
        let gate = SpawnGate::with_environment(keeper, trust, data.path(), environment(&home));
        Self { project, home, gate, data }
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data.path().to_path_buf()
    }

    /// A fake agent with variables of its own.
    pub(crate) fn command(&self, program: PathBuf, variables: &[(&str, &str)]) -> AgentCommand {
        let mut env: BTreeMap<OsString, OsString> =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        // What an agent leaves in its temporary folder when it is killed goes with the home.
        for folder in ["HOME", "TMPDIR"] {
            env.insert(folder.into(), self.home.root().into());
        }
        AgentCommand {
            cli_type: CliType::from("fake"),
            name: "Fake agent".to_owned(),
            program_name: "fake-agent".to_owned(),
            program: Some(program),
            args: Vec::new(),
            env,
            install: "npm install -g fake-agent".to_owned(),
        }
    }

    pub(crate) fn create(&self) -> CreateOptions {
        CreateOptions {
            project_dir: self.project.root().to_path_buf(),
            model: None,
            mode: None,
            provider_options: Map::new(),
        }
    }

    pub(crate) fn load(&self) -> LoadOptions {
        LoadOptions {
            project_dir: self.project.root().to_path_buf(),
            model: None,
            mode: None,
            provider_options: Map::new(),
            may_be_unkept: false,
        }
    }
}

fn environment(home: &Project) -> BTreeMap<OsString, OsString> {
    BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into()), ("HOME".into(), home.root().into())])
}

/// Short where a test waits for the end of it, long elsewhere.
pub(crate) fn timeouts() -> Timeouts {
    Timeouts { ready: Duration::from_secs(60), answer: Duration::from_secs(60), end: Duration::from_secs(10) }
}

pub(crate) fn message(text: &str) -> SendParams {
    SendParams { message: text.to_owned(), images: Vec::new() }
}

pub(crate) async fn send(session: &ProviderSession, turn: &str, text: &str) {
    session
        .handle
        .send_message(&TurnId::from(turn), message(text))
        .await
        .expect("the agent takes the message");
}

/// Reads until `done` is among the printed lines, and returns them all. Options are left out, and of an item that
/// grows only the last word counts, since when it is shown depends on the clock.
pub(crate) async fn until(session: &mut ProviderSession, done: &str) -> Vec<String> {
    let read = async {
        let mut lines: Vec<String> = Vec::new();
        let mut open: Vec<Upsert> = Vec::new();
        loop {
            let output = session.outputs.recv().await;
            let ended = output.is_none();
            match &output {
                Some(ProviderOutput::Upsert(upsert)) => {
                    open.retain(|item| item.item_id != upsert.item_id);
                    if matches!(upsert.status, UpsertStatus::Create | UpsertStatus::Update) {
                        open.push(upsert.clone());
                    }
                }
                Some(ProviderOutput::Turn(TurnEvent::TurnComplete {
                    status: TurnStatus::Cancelled, ..
                })) => lines.extend(open.drain(..).map(|item| stopped(&item))),
                _ => {}
            }
            if let Some(line) = output.as_ref().map_or(Some("closed".to_owned()), print) {
                lines.push(line);
            }
            if ended || lines.last().is_some_and(|line| line.starts_with(done)) {
                return lines;
            }
        }
    };
    tokio::time::timeout(LIMIT, read).await.expect("the agent gets there")
}

/// Waits until a message that begins with this is shown, finished or not.
pub(crate) async fn until_said(session: &mut ProviderSession, beginning: &str) {
    let read = async {
        loop {
            let output = session.outputs.recv().await.expect("the session goes on");
            if let ProviderOutput::Upsert(upsert) = output
                && let UpsertBody::Message { content, .. } = upsert.body
                && content.starts_with(beginning)
            {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, read).await.expect("the agent says it");
}

/// An item of a cancelled turn that was neither completed nor failed.
fn stopped(upsert: &Upsert) -> String {
    match &upsert.body {
        UpsertBody::Message { content, .. } | UpsertBody::Thinking { content, .. } => {
            format!("stopped {content:?}")
        }
        UpsertBody::ToolCall { tool_name, tool_output: None, .. } => format!("stopped {tool_name}"),
        UpsertBody::ToolCall { tool_name, tool_output: Some(output), .. } => {
            format!("stopped {tool_name} {output:?}")
        }
    }
}

fn print(output: &ProviderOutput) -> Option<String> {
    Some(match output {
        ProviderOutput::Upsert(upsert) => match (&upsert.body, upsert.status) {
            (
                UpsertBody::Message { .. } | UpsertBody::Thinking { .. },
                UpsertStatus::Create | UpsertStatus::Update,
            ) => {
                return None;
            }
            (UpsertBody::Message { content, .. }, UpsertStatus::Error) => format!("broken {content:?}"),
            (UpsertBody::Message { content, .. }, _) => format!("message {content:?}"),
            (UpsertBody::Thinking { content, .. }, _) => format!("thinking {content:?}"),
            (UpsertBody::ToolCall { tool_name, tool_output: None, .. }, UpsertStatus::Create) => {
                format!("call {tool_name}")
            }
            (UpsertBody::ToolCall { .. }, UpsertStatus::Update) => return None,
            (UpsertBody::ToolCall { tool_name, .. }, UpsertStatus::Error) => format!("broken {tool_name}"),
            (UpsertBody::ToolCall { tool_name, tool_output, tool_output_is_error, .. }, _) => format!(
                "result {tool_name} {:?}{}",
                tool_output.as_deref().unwrap_or_default(),
                if *tool_output_is_error == Some(true) { " failed" } else { "" },
            ),
        },
        ProviderOutput::Turn(TurnEvent::TurnStarted { turn_id, model_id, .. }) => {
            let turn = if turn_id.as_str().len() > 10 { "own" } else { turn_id.as_str() };
            format!("started {turn} {model_id}")
        }
        ProviderOutput::Turn(TurnEvent::TurnComplete { status, .. }) => format!("ended {status:?}"),
        ProviderOutput::Turn(TurnEvent::TurnError { error_code, error_message, .. }) => {
            format!("failed {error_code}: {error_message}")
        }
        ProviderOutput::Question(question) => match &question.body {
            QuestionBody::Permission { tool_name, .. } => {
                format!("asks {} {tool_name}", question.question_id)
            }
            QuestionBody::Choice { questions } => {
                format!("asks {} {}", question.question_id, questions[0].question)
            }
        },
        ProviderOutput::QuestionClosed(question_id) => format!("closed {question_id}"),
        ProviderOutput::Note(note) => format!("note {}", note.as_deref().unwrap_or("-")),
        ProviderOutput::Options(_) => return None,
        ProviderOutput::Title(title) => format!("title {title}"),
        ProviderOutput::Exited { message } => format!("exited {message}"),
    })
}

/// Tells whether a process lives; a zombie does not.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z') | Some('X'))
}

/// The processes that run this program in the project.
pub(crate) fn pids_of(stage: &Stage, program: &str) -> Vec<u32> {
    let of_this_project = |entry: &std::fs::DirEntry| {
        let link = |name: &str| std::fs::read_link(entry.path().join(name)).unwrap_or_default();
        link("cwd") == stage.project.root() && link("exe").ends_with(program)
    };
    let processes = std::fs::read_dir("/proc").expect("this is Linux").flatten().filter(of_this_project);
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A tool that tells its process id over loopback and then sleeps for longer than any test.
pub(crate) struct SleepingTool {
    pub(crate) prompt: String,
    listener: tokio::net::TcpListener,
}

/// Makes the prompt that has an agent run such a tool; `prompt` wraps the shell command.
pub(crate) async fn pid_of_tool(prompt: impl FnOnce(&str) -> String) -> SleepingTool {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
    let port = listener.local_addr().expect("a bound listener has an address").port();
    let command = format!("echo $$ > /dev/tcp/127.0.0.1/{port}; exec sleep 1000");
    SleepingTool { prompt: prompt(&command), listener }
}

impl SleepingTool {
    /// Waits until the tool runs and returns its process id.
    pub(crate) async fn pid(&self) -> u32 {
        use tokio::io::AsyncReadExt;
        let accept = async {
            let (mut socket, _) = self.listener.accept().await.expect("the tool connects");
            let mut pid = String::new();
            socket.read_to_string(&mut pid).await.expect("the tool says its id");
            pid.trim().parse().expect("a process id")
        };
        tokio::time::timeout(LIMIT, accept).await.expect("the tool runs")
    }
}
