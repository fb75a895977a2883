//! The person behind an agent, asked over the agent's own connection (MCP's `elicitation`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use chartroom_lsp::mcp::{Consent, asking};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio::net::unix::OwnedWriteHalf;
use tokio::sync::{Mutex, oneshot};

use super::say;

/// Who agrees to what a tool must not do on its own, as far as the agent can ask them.
pub(super) struct Person {
    agent: Arc<Mutex<OwnedWriteHalf>>,
    /// The agent said that it can ask.
    can_be_asked: AtomicBool,
    n_asked: AtomicU64,
    /// Our questions that wait for their answer, by their ids.
    asked: StdMutex<BTreeMap<String, oneshot::Sender<Value>>>,
}

impl Person {
    pub(super) fn behind(agent: Arc<Mutex<OwnedWriteHalf>>) -> Self {
        Self {
            agent,
            can_be_asked: AtomicBool::new(false),
            n_asked: AtomicU64::new(0),
            asked: StdMutex::default(),
        }
    }

    /// Looks at what the agent says, and tells whether it was an answer to a question of ours.
    pub(super) fn hears(&self, message: &Value) -> bool {
        match message.get("method").and_then(Value::as_str) {
            Some("initialize") => {
                let can = message.pointer("/params/capabilities/elicitation").is_some_and(Value::is_object);
                self.can_be_asked.store(can, Ordering::Relaxed);
                false
            }
            Some(_) => false,
            None => {
                let id = message.get("id").and_then(Value::as_str).unwrap_or_default();
                if let Some(asked) = self.asked().remove(id) {
                    // The call may have been cancelled meanwhile.
                    asked.send(message.clone()).ok();
                }
                true
            }
        }
    }

    async fn answer_to(&self, question: &str) -> Result<Value, String> {
        let id = format!("chartroom-{}", self.n_asked.fetch_add(1, Ordering::Relaxed));
        let mut request = asking(question);
        request["jsonrpc"] = "2.0".into();
        request["id"] = id.as_str().into();
        let (answered, answer) = oneshot::channel();
        {
            let mut asked = self.asked();
            asked.retain(|_, answered| !answered.is_closed());
            asked.insert(id, answered);
        }
        say(&self.agent, &request).await.map_err(|error| error.to_string())?;
        answer.await.map_err(|_gone| "the agent is gone".to_owned())
    }

    fn asked(&self) -> MutexGuard<'_, BTreeMap<String, oneshot::Sender<Value>>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Consent for Person {
    fn ask<'a>(&'a self, question: &'a str) -> BoxFuture<'a, Result<(), String>> {
        async move {
            if !self.can_be_asked.load(Ordering::Relaxed) {
                return Err("this client cannot ask them".to_owned());
            }
            let answer = self.answer_to(question).await;
            let answer = answer.map_err(|error| format!("they could not be asked ({error})"))?;
            if let Some(error) = answer.pointer("/error/message").and_then(Value::as_str) {
                return Err(format!("they could not be asked ({error})"));
            }
            match answer.pointer("/result/action").and_then(Value::as_str) {
                Some("accept") => Ok(()),
                _ => Err("they did not agree".to_owned()),
            }
        }
        .boxed()
    }
}
