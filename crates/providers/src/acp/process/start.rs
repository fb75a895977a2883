//! From a child to a session: initialize; then, at once or later, a new conversation or an old one with its history.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    Implementation, InitializeRequest, LoadSessionRequest, NewSessionRequest,
};
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::SessionId;
use chartroom_sessions::{History, ProcessorConfig, ProviderError, ProviderOutput, ProviderSession, Pump};
use chartroom_transport::{Child, ExitWatch, Framing, Peer, PeerOptions, RpcError, connect};
use serde_json::Value;
use tokio::sync::mpsc;

use super::task::Task;
use super::{AcpHandle, COMMANDS, EVENTS, Event, Listener, OUTPUTS};
use crate::acp::options::Offered;
use crate::acp::replay::Replay;
use crate::acp::translate::Translator;
use crate::json::optional_text;
use crate::launch::exit_reason;
use crate::timeouts::Timeouts;

/// A longer message is read past and logged: images fit, a runaway does not.
const MAX_MESSAGE: usize = 32 * 1024 * 1024;
/// JSON-RPC's code for a session that the agent does not know.
const NOT_FOUND: i64 = -32002;

/// Which conversation the process is for.
#[derive(Clone, Copy)]
pub(in crate::acp) enum Beginning<'a> {
    New,
    Load {
        /// As the session is known here.
        session_id: &'a SessionId,
        /// As the agent knows it.
        agents_id: &'a SessionId,
        /// The agent never ended a turn in it; if it has not kept it, it begins a new one in its place.
        may_be_unkept: bool,
    },
}

/// A process that has answered `initialize` and has no conversation yet.
pub(in crate::acp) struct Ready {
    child: Child,
    peer: Peer,
    events: mpsc::Receiver<Event>,
    event_sender: mpsc::Sender<Event>,
    capabilities: Value,
    timeouts: Timeouts,
}

/// Why there is no session.
pub(in crate::acp) enum Unopened {
    /// The agent said no, or nothing.
    Refused(ProviderError),
    /// The process ended before it answered.
    Gone(ProviderError),
}

impl From<Unopened> for ProviderError {
    fn from(unopened: Unopened) -> Self {
        match unopened {
            Unopened::Refused(error) | Unopened::Gone(error) => error,
        }
    }
}

/// Takes over a child and waits until it is ready. A child that is not is ended, tree and all.
pub(in crate::acp) async fn ready(mut child: Child, timeouts: Timeouts) -> Result<Ready, ProviderError> {
    let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(ProviderError::create_failed("the agent was started without pipes"));
    };
    let (sender, events) = mpsc::channel(EVENTS);
    let options = PeerOptions {
        max_message: MAX_MESSAGE,
        cancel_method: None,
        // A permission is asked for what was just said.
        requests_in_order: true,
        ..PeerOptions::new(child.label(), Framing::Lines)
    };
    let peer = connect(stdout, stdin, options, Listener { events: sender.clone() });
    let client = Implementation::new("chartroom", env!("CARGO_PKG_VERSION"));
    let initialize = InitializeRequest::new(ProtocolVersion::V1).client_info(client);
    let asked =
        async { peer.request("initialize", initialize).await.map_err(|error| refusal("initialize", error)) };
    match within(timeouts.ready, asked).await {
        Ok(capabilities) => Ok(Ready { child, peer, events, event_sender: sender, capabilities, timeouts }),
        Err(refusal) => Err(unopened(refusal, child, timeouts).await.into()),
    }
}

impl Ready {
    /// Tells whether the process still listens.
    pub(in crate::acp) fn lives(&self) -> bool {
        !self.peer.is_closed() && self.child.exit_watch().exit().is_none()
    }

    /// Waits for the end of the process without keeping it alive.
    pub(in crate::acp) fn exit_watch(&self) -> ExitWatch {
        self.child.exit_watch()
    }

    /// Ends it, tree and all.
    pub(in crate::acp) async fn end(self) {
        self.child.end(self.timeouts.end).await;
    }

    /// Brings it to a session. A process that does not get there is ended.
    pub(in crate::acp) async fn begin(
        mut self,
        provider_id: &str,
        project_dir: &Path,
        mcp_servers: Vec<Value>,
        beginning: Beginning<'_>,
    ) -> Result<ProviderSession, Unopened> {
        let known_as = match &beginning {
            Beginning::New => None,
            Beginning::Load { session_id, .. } => Some((*session_id).clone()),
        };
        let timeouts = self.timeouts;
        let opening = open(&mut self, provider_id, project_dir, mcp_servers, beginning);
        let opened = match within(timeouts.ready, opening).await {
            Ok(opened) => opened,
            Err(refusal) => return Err(unopened(refusal, self.child, timeouts).await),
        };
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let (outputs_in, outputs) = mpsc::channel(OUTPUTS);
        let alive = Arc::new(AtomicBool::new(true));
        let label = self.child.label().to_owned();
        let mut pump = Pump::new(ProcessorConfig::default(), outputs_in);
        pump.output(ProviderOutput::Options(opened.offered.options.clone())).await;
        let task = Task {
            child: self.child,
            peer: self.peer,
            session_id: opened.session_id.clone(),
            translator: Translator::new(known_as.unwrap_or_else(|| opened.session_id.clone()), provider_id),
            pump,
            offered: opened.offered,
            timeouts,
            questions: std::collections::BTreeMap::new(),
            same_calls: crate::same_calls::SameCalls::default(),
            n_questions: 0,
            events: self.event_sender,
        };
        tokio::spawn(task.run(self.events, inbox, Arc::clone(&alive)));
        Ok(ProviderSession {
            session_id: opened.session_id,
            handle: Arc::new(AcpHandle { commands, alive, label }),
            outputs,
            history: opened.history,
        })
    }
}

struct Opened {
    session_id: SessionId,
    offered: Offered,
    history: History,
}

enum Refusal {
    Error(ProviderError),
    /// The process ended; its exit says more than we can here.
    Gone,
    /// It did not answer in time.
    Silent,
}

async fn within<T>(limit: Duration, asked: impl Future<Output = Result<T, Refusal>>) -> Result<T, Refusal> {
    tokio::time::timeout(limit, asked).await.unwrap_or(Err(Refusal::Silent))
}

/// Ends a process that did not get to a session, and says why it did not.
async fn unopened(refusal: Refusal, child: Child, timeouts: Timeouts) -> Unopened {
    let label = child.label().to_owned();
    match refusal {
        Refusal::Error(error) => {
            child.end(timeouts.end).await;
            Unopened::Refused(error)
        }
        Refusal::Gone => {
            let message = format!("{label}, before it was ready, {}", exit_reason(child, timeouts.end).await);
            Unopened::Gone(ProviderError::create_failed(message))
        }
        Refusal::Silent => {
            child.end(timeouts.end).await;
            let seconds = timeouts.ready.as_secs_f32();
            let message = format!("{label} did not answer within {seconds} s and was ended");
            Unopened::Refused(ProviderError::create_failed(message))
        }
    }
}

async fn open(
    ready: &mut Ready,
    provider_id: &str,
    project_dir: &Path,
    mcp_servers: Vec<Value>,
    beginning: Beginning<'_>,
) -> Result<Opened, Refusal> {
    let Ready { peer, events, capabilities, .. } = ready;
    let mut offered = Offered::default();
    match beginning {
        Beginning::New => create(peer, project_dir, mcp_servers, offered).await,
        Beginning::Load { session_id, agents_id, may_be_unkept } => {
            if capabilities.pointer("/agentCapabilities/loadSession") != Some(&Value::Bool(true)) {
                let message = "this agent cannot load an earlier session; create a new one";
                return Err(Refusal::Error(ProviderError::create_failed(message)));
            }
            let request = LoadSessionRequest::new(agents_id.as_str().to_owned(), project_dir);
            let request = with_servers(serde_json::to_value(request), mcp_servers.clone());
            let replay = Replay::new(session_id.clone(), provider_id);
            match load(peer, events, replay, request, &mut offered).await {
                Ok((loaded, history)) => {
                    offered.take(&loaded);
                    Ok(Opened { session_id: agents_id.clone(), offered, history })
                }
                Err(Refusal::Error(error)) if may_be_unkept && error.code == ErrorCode::SessionNotFound => {
                    create(peer, project_dir, mcp_servers, offered).await
                }
                Err(refusal) => Err(refusal),
            }
        }
    }
}

async fn create(
    peer: &Peer,
    project_dir: &Path,
    mcp_servers: Vec<Value>,
    mut offered: Offered,
) -> Result<Opened, Refusal> {
    let request = with_servers(serde_json::to_value(NewSessionRequest::new(project_dir)), mcp_servers);
    let created =
        peer.request("session/new", request).await.map_err(|error| refusal("session/new", error))?;
    let Some(session_id) = optional_text(&created, "/sessionId").map(SessionId::from) else {
        return Err(Refusal::Error(ProviderError::create_failed("the agent gave its session no id")));
    };
    offered.take(&created);
    Ok(Opened { session_id, offered, history: History::empty() })
}

/// Loads a session: its whole history comes as updates before the answer.
async fn load(
    peer: &Peer,
    events: &mut mpsc::Receiver<Event>,
    mut replay: Replay,
    request: Value,
    offered: &mut Offered,
) -> Result<(Value, History), Refusal> {
    let answer = peer.request_in_order("session/load", request);
    tokio::pin!(answer);
    let loaded = loop {
        tokio::select! {
            biased;
            event = events.recv() => match event {
                Some(Event::Update(update)) => replay.update(update, offered),
                Some(_) => {}
                None => return Err(Refusal::Gone),
            },
            loaded = &mut answer => break loaded,
        }
    };
    let loaded = loaded.map_err(|error| match &error {
        RpcError::Response(response) if response.code == NOT_FOUND => {
            Refusal::Error(ProviderError::session_not_found(replay.session_id()).with_cause(error.clone()))
        }
        _ => refusal("session/load", error),
    })?;
    while let Ok(Event::Update(update)) = events.try_recv() {
        replay.update(update, offered);
    }
    Ok((loaded, replay.into_history()))
}

fn with_servers(request: serde_json::Result<Value>, mcp_servers: Vec<Value>) -> Value {
    let mut request = request.unwrap_or_default();
    request["mcpServers"] = Value::Array(mcp_servers);
    request
}

fn refusal(method: &str, error: RpcError) -> Refusal {
    match error {
        RpcError::Closed { .. } => Refusal::Gone,
        error => {
            let message = format!("the agent refused {method}: {error}");
            Refusal::Error(ProviderError::create_failed(message).with_cause(error))
        }
    }
}
