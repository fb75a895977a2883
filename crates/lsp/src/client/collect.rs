//! Waiting for what a server says about a file that was just sent, until it is complete or the time is up.

use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::lsp::Freshness;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::Client;
use super::freshness::{self, Step, Touch};
use super::owner::Command;
use super::pull::{Pull, Way};
use super::wire::Finding;

/// A server that is busy with its own changes is asked again after this.
const ASK_AGAIN: Duration = Duration::from_millis(20);

/// What is said of an answer from before the end of a server's background check.
const UNFINISHED: &str = "the compiler has not ended yet and may find more";

/// What one server says about one file.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) findings: Vec<Finding>,
    pub(crate) freshness: Freshness,
    /// What the server itself says about it: why it did not answer, or what is wrong with the project's configuration.
    pub(crate) said: Option<String>,
}

impl Client {
    /// Waits for the findings about a touched file. Never longer than until the deadline.
    pub(crate) async fn collect(self: &Arc<Self>, touch: &Touch, deadline: Instant) -> Collected {
        let anew = self.look_again(touch).await;
        let touch = anew.as_ref().unwrap_or(touch);
        let (again, settled) = self.settle_by_force(touch, deadline).await;
        let touch = again.as_ref().unwrap_or(touch);
        if settled && self.is_doubtful(touch).await {
            match self.send_anew(touch).await {
                Ok(Some(again)) => {
                    let settled = self.settle(&again, deadline).await;
                    return self.conclude(&again, settled).await;
                }
                Ok(None) => {}
                Err(error) => tracing::debug!(server = self.server.id, %error, "it cannot be asked again"),
            }
        }
        self.conclude(touch, settled).await
    }

    /// Makes a server that only pushes look again at a file that it has had since before something else changed: it may
    /// say nothing by itself, and what it said before must not count. Nothing where it will speak, or can be asked.
    async fn look_again(&self, touch: &Touch) -> Option<Touch> {
        let is_overtaken = freshness::is_overtaken(&self.state(), touch);
        if !is_overtaken || self.way().is_some() || self.quirks.silent_when_unchanged {
            return None;
        }
        let anew = self.send_anew(touch).await;
        anew.inspect_err(|error| tracing::debug!(server = self.server.id, %error, "it cannot be asked again"))
            .ok()
            .flatten()
    }

    /// Waits for the answer; of a server that may skip a text it is asked for once more, when half of the time is over.
    /// clangd skips one that it happens to look at by itself, because of another file that was saved.
    async fn settle_by_force(self: &Arc<Self>, touch: &Touch, deadline: Instant) -> (Option<Touch>, bool) {
        if self.quirks.wants_to_be_forced {
            let now = Instant::now();
            if self.settle(touch, now + deadline.saturating_duration_since(now) / 2).await {
                return (None, true);
            }
            if let Ok(Some(again)) = self.send_anew(touch).await {
                let settled = self.settle(&again, deadline).await;
                return (Some(again), settled);
            }
        }
        (None, self.settle(touch, deadline).await)
    }

    /// Tells whether this is a "clean" that may be wrong: the first of some servers, every one of others.
    async fn is_doubtful(&self, touch: &Touch) -> bool {
        let is_clean = {
            let state = self.state();
            // One that cannot load the project is not believed anyway.
            state.failed_since().is_none() && freshness::result(&state, touch, self.quirks, true).is_empty()
        };
        self.tell(|reply| Command::Settled { is_clean, reply }).await.unwrap_or(false)
    }

    async fn conclude(&self, touch: &Touch, settled: bool) -> Collected {
        let collected = {
            let state = self.state();
            let freshness = match settled {
                _ if state.failed_since().is_some() => Freshness::Failed,
                true => Freshness::Current,
                false if state.is_loading() => Freshness::Loading,
                false => Freshness::TimedOut,
            };
            let findings = freshness::result(&state, touch, self.quirks, settled);
            let is_all = !settled || freshness::is_all(&state, touch, self.quirks, Instant::now());
            let unfinished = (!is_all).then(|| UNFINISHED.to_owned());
            Collected { findings, freshness, said: self.words(&state, Some(touch)).or(unfinished) }
        };
        // An owner that is gone has nothing to remember.
        self.tell(|reply| Command::Concluded { in_time: settled, reply }).await;
        collected
    }

    /// Returns whether the server's answer was complete before the deadline.
    async fn settle(self: &Arc<Self>, touch: &Touch, deadline: Instant) -> bool {
        let mut events = self.state.clone();
        let mut asking: Option<Asking> = None;
        let mut answered: Option<Answered> = None;
        loop {
            events.mark_unchanged();
            if self.peer.is_closed() {
                return false;
            }
            let way = self.way();
            if let (Some(way), None) = (&way, &asking)
                && answered.as_ref().is_none_or(|answered| self.must_ask_again(answered))
            {
                asking = Some(self.start_asking(touch, way.clone()));
            }
            let now = Instant::now();
            let step = {
                let state = self.state();
                match (&way, &answered) {
                    (None, _) => freshness::pushed(&state, touch, self.quirks, now),
                    (Some(_), Some(_)) if asking.is_none() => {
                        freshness::pulled(&state, touch, self.quirks, now)
                    }
                    (Some(_), _) => Step::Wait(None),
                }
            };
            let wake = match step {
                Step::Done => return true,
                // The debounce never reaches beyond the deadline: at the deadline a settling push is taken as it is.
                Step::Wait(Some(time)) if time >= deadline => {
                    tokio::time::sleep_until(deadline).await;
                    return way.is_none();
                }
                Step::Wait(time) => time.unwrap_or(deadline),
            };
            tokio::select! {
                biased;
                () = self.closed() => return false,
                answer = answer(&mut asking) => {
                    asking = None;
                    match answer {
                        Ok(next) => answered = Some(next),
                        Err(()) => return false,
                    }
                }
                changed = events.changed() => {
                    if changed.is_err() {
                        return false;
                    }
                }
                () = tokio::time::sleep_until(wake) => {
                    if Instant::now() >= deadline {
                        return false;
                    }
                }
            }
        }
    }

    /// An answer from before the server had finished loading is not final.
    fn must_ask_again(&self, answered: &Answered) -> bool {
        let state = self.state();
        (answered.while_loading && !state.is_loading()) || state.n_refreshes > answered.n_refreshes
    }

    /// Asks in a task of its own, so that an answer after the deadline still reaches the known files.
    fn start_asking(self: &Arc<Self>, touch: &Touch, way: Way) -> Asking {
        let (sender, answer) = oneshot::channel();
        // Weak: a pending question must not keep a server alive that everybody else has let go.
        let client = Arc::downgrade(self);
        let file = touch.file.clone();
        tokio::spawn(async move {
            loop {
                let Some(client) = client.upgrade() else { return };
                let (version, n_refreshes) = {
                    let state = client.state();
                    (state.open.get(&file).map(|open| open.version), state.n_refreshes)
                };
                let Some(version) = version else { return };
                match client.pull(&file, &way).await {
                    Pull::Findings(findings) => {
                        let Some(while_loading) = client.pulled(file, Some(version), findings).await else {
                            return;
                        };
                        // Nobody may be waiting any more.
                        sender.send(Ok(Answered { while_loading, n_refreshes })).ok();
                        return;
                    }
                    Pull::Again => {
                        drop(client);
                        tokio::time::sleep(ASK_AGAIN).await;
                    }
                    Pull::Failed(error) => {
                        tracing::debug!(server = client.server.id, %error, "no diagnostics");
                        sender.send(Err(())).ok();
                        return;
                    }
                }
            }
        });
        Asking { answer }
    }
}

struct Asking {
    answer: oneshot::Receiver<Result<Answered, ()>>,
}

/// What was so when the answer came.
struct Answered {
    while_loading: bool,
    n_refreshes: u64,
}

/// Waits for the pending question, or for ever when there is none.
async fn answer(asking: &mut Option<Asking>) -> Result<Answered, ()> {
    match asking {
        Some(asking) => (&mut asking.answer).await.unwrap_or(Err(())),
        None => std::future::pending().await,
    }
}
