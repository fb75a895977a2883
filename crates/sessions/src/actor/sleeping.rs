//! An agent that nobody needs is put to sleep: its process ends, and starts again with the next message. Readers see no
//! difference: the session stays open, and the message's turn begins at once, as it would with an agent that is awake.

use chartroom_protocol::session::{SessionOptions, SessionResponse};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::calls::CallDone;
use super::delivery::Delivery;
use super::{Actor, Agent, Reply};
use crate::provider::ProviderOutput;

/// Whether the agent is away because nobody needed it.
#[derive(Default)]
pub(super) enum Sleep {
    #[default]
    Awake,
    /// Its process ends; another must not be started on the conversation before it is gone.
    Asleep { gone: oneshot::Receiver<()> },
    /// It is being started, behind a session that looks as if it had been there all the time.
    Waking,
}

impl Actor {
    /// Returns when the agent is put to sleep, if nothing happens before: no turn runs, nobody is asked, nothing waits.
    pub(super) fn sleep_at(&self) -> Option<Instant> {
        let is_idle = matches!(self.agent, Agent::Running { .. })
            && self.turns.is_empty()
            && self.questions.is_empty()
            && self.queue.is_empty()
            && matches!(self.delivery, Delivery::Idle)
            && self.calls.is_empty()
            && self.retry_at.is_none();
        self.limits.idle.filter(|_| is_idle).map(|idle| self.active_at + idle)
    }

    pub(super) fn fall_asleep(&mut self) {
        let Agent::Running { handle, .. } = &self.agent else { return };
        if handle.has_background_work() {
            self.active_at = Instant::now();
            return;
        }
        let handle = std::sync::Arc::clone(handle);
        // What it still says on its way out is no part of the conversation.
        self.agent = Agent::Absent;
        let (tell, gone) = oneshot::channel();
        self.sleep = Sleep::Asleep { gone };
        self.calls.spawn(async move {
            handle.kill().await;
            // Nobody may want to know: the session was ended meanwhile.
            tell.send(()).ok();
            CallDone::Plain { reply: None, result: Ok(()) }
        });
    }

    /// Starts an agent that is asleep. Answers whoever waits for it.
    pub(super) fn wake(&mut self, waiting: Vec<Reply<SessionResponse>>) {
        match std::mem::replace(&mut self.sleep, Sleep::Waking) {
            Sleep::Asleep { gone } => self.open_after(waiting, Some(gone)),
            other => self.sleep = other,
        }
    }

    pub(super) fn is_asleep(&self) -> bool {
        matches!(self.sleep, Sleep::Asleep { .. })
    }

    pub(super) fn is_waking(&self) -> bool {
        matches!(self.sleep, Sleep::Waking)
    }

    /// Hears what the agent says when it wakes. What can be chosen is not told in steps: at first an agent knows less
    /// than it will.
    pub(super) async fn hear_waking(&mut self, outputs: Vec<ProviderOutput>) {
        let shown = self.broadcast.current().options.unwrap_or_default();
        let mut options = None;
        let mut others = Vec::new();
        for output in outputs {
            match output {
                ProviderOutput::Options(told) => options = Some(told),
                other => others.push(other),
            }
        }
        if let Some(told) = options {
            let told = with_what_was_shown(told, &shown);
            if told != shown {
                others.insert(0, ProviderOutput::Options(told));
            }
        }
        self.outputs(others).await;
    }
}

fn with_what_was_shown(told: SessionOptions, shown: &SessionOptions) -> SessionOptions {
    let known = |told: Vec<_>, shown: &Vec<_>| if told.is_empty() { shown.clone() } else { told };
    SessionOptions {
        models: known(told.models, &shown.models),
        modes: known(told.modes, &shown.modes),
        commands: known(told.commands, &shown.commands),
        model: told.model.or_else(|| shown.model.clone()),
        mode: told.mode.or_else(|| shown.mode.clone()),
    }
}
