//! A provider without a process, for tests: the test plays the agent, or lets it play by itself.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use chartroom_protocol::agent::{Agent, AgentStatus};
use chartroom_protocol::context::ContextUse;
use chartroom_protocol::ids::{CliType, ItemId, SessionId, TurnId};
use chartroom_protocol::session::{AnswerParams, SendParams};
use chartroom_protocol::stream::Origin;
use chartroom_protocol::turn::{TurnEvent, TurnStatus};
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use tokio::sync::{Notify, mpsc};

use crate::provider::{
    AgentHandle, CreateOptions, DiscoveredSession, FORKED_FROM, History, KnownBy, LoadOptions, Provider,
    ProviderError, ProviderOutput, ProviderSession, SaidTurn,
};

const TIMESTAMP: &str = "2026-01-01T00:00:00.000Z";

/// What the session asked of the agent.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// A message was delivered.
    Send {
        /// The turn that it begins.
        turn_id: TurnId,
        /// What it said.
        message: SendParams,
    },
    /// The running turn was to be stopped.
    Cancel,
    /// A question was answered.
    Answer(AnswerParams),
    /// Another model was wanted.
    SetModel(String),
    /// Another permission mode was wanted.
    SetMode(String),
    /// The agent was to end.
    Kill,
}

/// How the agents of a provider behave; changed at any time.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// The agent's program is not installed.
    pub missing: bool,
    /// Creating and loading fail with this.
    pub refuse: Option<ProviderError>,
    /// Creating and loading never answer.
    pub hang: bool,
    /// Creating and loading wait for this.
    pub waits: Option<Arc<Notify>>,
    /// Sending fails with this.
    pub refuse_message: Option<ProviderError>,
    /// What fills the context; without it the agent does not tell.
    pub context_use: Option<ContextUse>,
    /// Takes a message and never says that it did: whoever dies now does not know whether it came through.
    pub takes_in_silence: bool,
    /// Something runs in the background.
    pub works_aside: bool,
    /// Plays every turn by itself: so many updates of one message, then the end.
    pub plays: Option<usize>,
    /// Works on every turn without end, until somebody cancels that turn.
    pub works_until_cancelled: bool,
    /// Can go on from an earlier point of a conversation.
    pub forks: bool,
}

/// What an agent keeps with what was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keeps {
    /// Ids, as Claude does.
    #[default]
    Ids,
    /// Only the words, as agents that speak ACP.
    Words,
}

#[derive(Default)]
struct Shared {
    behaviour: Mutex<Behaviour>,
    agents: Mutex<HashMap<SessionId, Arc<FakeAgent>>>,
    histories: Mutex<HashMap<SessionId, (Vec<Upsert>, Keeps)>>,
    discovered: Mutex<Vec<DiscoveredSession>>,
    loads: Mutex<Vec<(SessionId, LoadOptions)>>,
    next_id: Mutex<u32>,
}

/// The provider; clones are one.
#[derive(Clone)]
pub struct FakeProvider {
    cli_type: CliType,
    shared: Arc<Shared>,
}

impl FakeProvider {
    /// Returns a provider that does what it is asked at once.
    pub fn new(cli_type: &str) -> Self {
        Self { cli_type: CliType::new(cli_type), shared: Arc::default() }
    }

    /// Changes how it behaves from now on.
    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut lock(&self.shared.behaviour));
    }

    /// Returns the agent that runs a session now.
    pub fn agent(&self, session_id: &SessionId) -> Arc<FakeAgent> {
        lock(&self.shared.agents).get(session_id).cloned().expect("the test started this session")
    }

    /// Makes a session exist on the agent's side with what was said in it.
    pub fn remember(&self, session_id: &SessionId, history: Vec<Upsert>, keeps: Keeps) {
        lock(&self.shared.histories).insert(session_id.clone(), (history, keeps));
    }

    /// Sets the sessions that the user made outside.
    pub fn discovers(&self, sessions: Vec<DiscoveredSession>) {
        *lock(&self.shared.discovered) = sessions;
    }

    /// Returns with which options sessions were loaded so far.
    pub fn loads(&self) -> Vec<(SessionId, LoadOptions)> {
        lock(&self.shared.loads).clone()
    }

    async fn start(&self, session_id: SessionId, history: History) -> Result<ProviderSession, ProviderError> {
        let behaviour = lock(&self.shared.behaviour).clone();
        if behaviour.hang {
            std::future::pending::<()>().await;
        }
        if let Some(waits) = behaviour.waits {
            waits.notified().await;
        }
        if let Some(error) = behaviour.refuse {
            return Err(error);
        }
        let (sender, outputs) = mpsc::channel(64);
        let agent = Arc::new(FakeAgent {
            session_id: session_id.clone(),
            shared: Arc::clone(&self.shared),
            outputs: Mutex::new(Some(sender)),
            calls: Mutex::default(),
            called: Notify::new(),
            cancels: Mutex::default(),
            alive: AtomicBool::new(true),
        });
        lock(&self.shared.agents).insert(session_id.clone(), Arc::clone(&agent));
        lock(&self.shared.histories).entry(session_id.clone()).or_default();
        Ok(ProviderSession { session_id, handle: Arc::new(Handle(agent)), outputs, history })
    }
}

#[async_trait]
impl Provider for FakeProvider {
    fn cli_type(&self) -> &CliType {
        &self.cli_type
    }

    fn agent(&self) -> Agent {
        let missing = lock(&self.shared.behaviour).missing;
        Agent {
            cli_type: self.cli_type.clone(),
            name: format!("Fake {}", self.cli_type),
            status: if missing { AgentStatus::Missing } else { AgentStatus::Found },
            path: None,
            install: "make fake".to_owned(),
        }
    }

    fn tells_turns_by_words(&self) -> bool {
        lock(&self.shared.histories).values().any(|(_, keeps)| *keeps == Keeps::Words)
    }

    async fn create_session(&self, _options: CreateOptions) -> Result<ProviderSession, ProviderError> {
        let session_id = {
            let mut next = lock(&self.shared.next_id);
            *next += 1;
            SessionId::new(format!("{}-{}", self.cli_type, *next))
        };
        self.start(session_id, History::empty()).await
    }

    async fn load_session(
        &self,
        session_id: &SessionId,
        options: LoadOptions,
    ) -> Result<ProviderSession, ProviderError> {
        let mut known = lock(&self.shared.histories).get(session_id).cloned();
        if known.is_none() && self.can_fork() && options.provider_options.contains_key(FORKED_FROM) {
            known = Some(Default::default());
        }
        let (items, keeps) = known.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        lock(&self.shared.loads).push((session_id.clone(), options));
        let history = match keeps {
            Keeps::Ids => History::of(items),
            Keeps::Words => without_ids(items),
        };
        self.start(session_id.clone(), history).await
    }

    async fn discover(&self, _project_dir: &Path) -> Result<Vec<DiscoveredSession>, ProviderError> {
        Ok(lock(&self.shared.discovered).clone())
    }

    fn can_fork(&self) -> bool {
        lock(&self.shared.behaviour).forks
    }
}

/// One running agent, from the test's side.
pub struct FakeAgent {
    session_id: SessionId,
    shared: Arc<Shared>,
    /// Taken away when the agent ends.
    outputs: Mutex<Option<mpsc::Sender<ProviderOutput>>>,
    calls: Mutex<VecDeque<Call>>,
    called: Notify,
    /// Of the turns that it works on.
    cancels: Mutex<HashMap<TurnId, Arc<Notify>>>,
    alive: AtomicBool,
}

impl FakeAgent {
    /// Waits for what the session asks next.
    pub async fn next_call(&self) -> Call {
        loop {
            if let Some(call) = lock(&self.calls).pop_front() {
                return call;
            }
            self.called.notified().await;
        }
    }

    /// Waits for the next message and returns the turn that it begins.
    pub async fn next_turn(&self) -> TurnId {
        match self.next_call().await {
            Call::Send { turn_id, .. } => turn_id,
            other => panic!("expected a message, the session asked for {other:?}"),
        }
    }

    /// Sends any output.
    pub async fn say(&self, output: ProviderOutput) {
        let sender = lock(&self.outputs).clone();
        if let Some(sender) = sender {
            // A session that let go of its agent hears nothing more.
            drop(sender.send(output).await);
        }
    }

    /// Says that a turn began.
    pub async fn start_turn(&self, turn_id: &TurnId) {
        self.say(ProviderOutput::Turn(TurnEvent::TurnStarted {
            turn_id: turn_id.clone(),
            session_id: self.session_id.clone(),
            model_id: "model".to_owned(),
            provider_id: "fake".to_owned(),
        }))
        .await;
    }

    /// Says that a turn ended.
    pub async fn end_turn(&self, turn_id: &TurnId, status: TurnStatus) {
        self.say(ProviderOutput::Turn(TurnEvent::TurnComplete {
            turn_id: turn_id.clone(),
            session_id: self.session_id.clone(),
            status,
            usage: None,
            duration_ms: None,
        }))
        .await;
    }

    /// Says a message's text so far.
    pub async fn text(&self, turn_id: &TurnId, item: &str, status: UpsertStatus, content: &str) {
        let upsert = message(&self.session_id, turn_id, item, status, content);
        self.say(ProviderOutput::Upsert(upsert)).await;
    }

    /// Tells whether it lives.
    pub fn is_running(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// Ends without a word, as a killed process does.
    pub fn vanish(&self) {
        self.alive.store(false, Ordering::SeqCst);
        lock(&self.outputs).take();
    }

    async fn play(&self, turn_id: &TurnId, n_updates: usize) {
        self.start_turn(turn_id).await;
        let mut content = String::new();
        for n in 0..n_updates {
            content.push_str(&format!("word{n} "));
            let status = if n == 0 { UpsertStatus::Create } else { UpsertStatus::Update };
            self.text(turn_id, &format!("{turn_id}:0:0"), status, &content).await;
            if n % 16 == 0 {
                tokio::task::yield_now().await;
            }
        }
        self.text(turn_id, &format!("{turn_id}:0:0"), UpsertStatus::Complete, &content).await;
        self.end_turn(turn_id, TurnStatus::Completed).await;
    }

    async fn work(&self, turn_id: &TurnId, cancelled: &Notify) {
        let item = format!("{turn_id}:0:0");
        self.start_turn(turn_id).await;
        let steps = async {
            for n in 0.. {
                tokio::task::yield_now().await;
                let status = if n == 0 { UpsertStatus::Create } else { UpsertStatus::Update };
                self.text(turn_id, &item, status, &format!("step {n}")).await;
                if n == 8 {
                    return std::future::pending::<()>().await;
                }
            }
        };
        tokio::select! {
            () = steps => {}
            () = cancelled.notified() => {}
        }
        self.end_turn(turn_id, TurnStatus::Cancelled).await;
    }

    fn record(&self, call: Call) {
        lock(&self.calls).push_back(call);
        self.called.notify_one();
    }
}

struct Handle(Arc<FakeAgent>);

#[async_trait]
impl AgentHandle for Handle {
    async fn send_message(&self, turn_id: &TurnId, message: SendParams) -> Result<(), ProviderError> {
        let behaviour = lock(&self.0.shared.behaviour).clone();
        if let Some(error) = behaviour.refuse_message {
            return Err(error);
        }
        if !self.is_alive() {
            return Err(ProviderError::process_crash("the fake is dead"));
        }
        self.0.record(Call::Send { turn_id: turn_id.clone(), message });
        if behaviour.takes_in_silence {
            std::future::pending::<()>().await;
        }
        if behaviour.works_until_cancelled {
            // A message is on its way for a while; until it is there its turn cannot be cancelled.
            for _ in 0..4 {
                tokio::task::yield_now().await;
            }
            let cancelled = Arc::new(Notify::new());
            lock(&self.0.cancels).insert(turn_id.clone(), Arc::clone(&cancelled));
            let (agent, turn_id) = (Arc::clone(&self.0), turn_id.clone());
            drop(tokio::spawn(async move { agent.work(&turn_id, &cancelled).await }));
        }
        if let Some(n_updates) = behaviour.plays {
            let (agent, turn_id) = (Arc::clone(&self.0), turn_id.clone());
            drop(tokio::spawn(async move { agent.play(&turn_id, n_updates).await }));
        }
        Ok(())
    }

    async fn cancel_turn(&self, turn_id: &TurnId) -> Result<(), ProviderError> {
        self.0.record(Call::Cancel);
        if let Some(cancelled) = lock(&self.0.cancels).get(turn_id) {
            cancelled.notify_one();
        }
        Ok(())
    }

    async fn answer(&self, params: AnswerParams) -> Result<(), ProviderError> {
        self.0.record(Call::Answer(params));
        Ok(())
    }

    async fn set_model(&self, model: &str) -> Result<(), ProviderError> {
        self.0.record(Call::SetModel(model.to_owned()));
        Ok(())
    }

    async fn set_mode(&self, mode: &str) -> Result<(), ProviderError> {
        self.0.record(Call::SetMode(mode.to_owned()));
        Ok(())
    }

    async fn context_use(&self) -> Result<Option<ContextUse>, ProviderError> {
        if !self.is_alive() {
            return Err(ProviderError::process_crash("the fake is dead"));
        }
        Ok(lock(&self.0.shared.behaviour).context_use.clone())
    }

    fn has_background_work(&self) -> bool {
        lock(&self.0.shared.behaviour).works_aside
    }

    fn is_alive(&self) -> bool {
        self.0.alive.load(Ordering::SeqCst)
    }

    async fn kill(&self) {
        self.0.record(Call::Kill);
        self.0.vanish();
    }
}

/// A history as an agent without ids replays it: its turns are counted.
fn without_ids(mut items: Vec<Upsert>) -> History {
    let mut turns: Vec<SaidTurn> = Vec::new();
    for item in &mut items {
        if let UpsertBody::Message { content, origin, .. } = &item.body {
            match (origin, turns.last_mut()) {
                (Origin::User, _) => turns.push(SaidTurn {
                    turn_id: TurnId::new(format!("counted-{}", turns.len())),
                    message: content.clone(),
                    answer: String::new(),
                }),
                (_, Some(turn)) => turn.answer = content.clone(),
                (_, None) => {}
            }
        }
        if let Some(turn) = turns.last() {
            item.turn_id = turn.turn_id.clone();
        }
    }
    History { turns: KnownBy::Words(turns), ..History::of(items) }
}

/// Makes the state of a message item.
pub fn message(
    session_id: &SessionId,
    turn_id: &TurnId,
    item: &str,
    status: UpsertStatus,
    content: &str,
) -> Upsert {
    Upsert {
        turn_id: turn_id.clone(),
        session_id: session_id.clone(),
        item_id: ItemId::new(item),
        source_timestamp: TIMESTAMP.to_owned(),
        emitted_at: TIMESTAMP.to_owned(),
        status,
        error_code: None,
        error_message: None,
        parent_call_id: None,
        body: UpsertBody::Message { content: content.to_owned(), origin: Origin::Agent, image_count: 0 },
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
