//! Scripted model APIs in process: Anthropic Messages and OpenAI Responses, both as server-sent events, so that
//! the real CLIs run without a network and say exactly what a test wants.
//!
//! What is answered is chosen by the test ([`ModelApi::script`], first in first out) or, when nothing is
//! scripted, by a marker in the last user message (see [`scenario`]). Every request is recorded.

mod anthropic;
mod openai;
pub mod scenario;
mod sse;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::routing::post;
use serde_json::Value;
use tokio::sync::watch;

pub use scenario::{Answer, Block, Ending, Reply};

/// A running model API; it ends when this is dropped.
pub struct ModelApi {
    address: SocketAddr,
    shared: Arc<Shared>,
    server: tokio::task::JoinHandle<()>,
}

impl ModelApi {
    /// Starts both APIs on a free port of loopback.
    pub async fn start() -> Self {
        let shared = Arc::new(Shared::default());
        let listener =
            tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let router = Router::new()
            .route("/v1/messages", post(anthropic::messages))
            .route("/v1/responses", post(openai::responses))
            .with_state(Arc::clone(&shared));
        let server = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::warn!(%error, "the scripted model API ended");
            }
        });
        Self { address, shared, server }
    }

    /// Returns the URL that `ANTHROPIC_BASE_URL` takes.
    pub fn anthropic_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the URL that a Codex model provider's `base_url` takes.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Appends an answer; scripted answers come before markers.
    pub fn script(&self, answer: Answer) {
        self.shared.lock().script.push_back(answer);
    }

    /// Keeps a reply for the marker `[[answer:NAME]]`, as often as it is asked for.
    pub fn keep(&self, name: &str, reply: Reply) {
        self.shared.lock().kept.insert(name.to_owned(), reply);
    }

    /// Waits until a stream has come to the gate of this name and waits there.
    pub async fn reached(&self, gate: &str) {
        let mut state = self.shared.gate(gate).subscribe();
        state.wait_for(|state| *state != Gate::Ahead).await.expect("the gate lives as long as the API");
    }

    /// Lets every stream through the gate of this name, now and later.
    pub fn open(&self, gate: &str) {
        self.shared.gate(gate).send_replace(Gate::Open);
    }

    /// Returns the requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.lock().requests.clone()
    }

    /// Tells whether any request carried this text: whether the model saw it.
    pub fn saw(&self, text: &str) -> bool {
        let escaped = Value::from(text).to_string();
        let needle = escaped.trim_matches('"');
        self.requests().iter().any(|request| request.body.to_string().contains(needle))
    }
}

impl Drop for ModelApi {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// One request as the model got it.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The path that was asked for.
    pub path: String,
    /// The request's JSON.
    pub body: Value,
}

#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    script: VecDeque<Answer>,
    kept: BTreeMap<String, Reply>,
    requests: Vec<Recorded>,
    gates: BTreeMap<String, watch::Sender<Gate>>,
    /// How often a marker has answered an error already.
    failures: BTreeMap<String, u32>,
    n_messages: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Ahead,
    Waiting,
    Open,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gate(&self, name: &str) -> watch::Sender<Gate> {
        self.lock().gates.entry(name.to_owned()).or_insert_with(|| watch::channel(Gate::Ahead).0).clone()
    }

    /// Records a request and chooses its answer.
    fn answer(&self, path: &str, body: Value, prompt: &scenario::Prompt) -> (u32, Answer) {
        let mut state = self.lock();
        state.requests.push(Recorded { path: path.to_owned(), body });
        state.n_messages += 1;
        let number = state.n_messages;
        if let Some(answer) = state.script.pop_front() {
            return (number, answer);
        }
        if let Some(reply) = scenario::wanted_reply(prompt).and_then(|name| state.kept.get(name)) {
            return (number, reply.clone().into());
        }
        let answer = match scenario::choose(prompt) {
            scenario::Choice::Answer(answer) => answer,
            scenario::Choice::Times(times, answer) => {
                let failures = state.failures.entry(prompt.text.clone()).or_default();
                *failures += 1;
                if *failures <= times { answer } else { Reply::text("It works again.").into() }
            }
        };
        (number, answer)
    }

    /// Waits at a gate until the test opens it.
    async fn pass(&self, name: &str) {
        let gate = self.gate(name);
        gate.send_if_modified(|state| {
            let first = *state == Gate::Ahead;
            if first {
                *state = Gate::Waiting;
            }
            first
        });
        let mut state = gate.subscribe();
        // The sender is held right here, so this cannot fail.
        if state.wait_for(|state| *state == Gate::Open).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
