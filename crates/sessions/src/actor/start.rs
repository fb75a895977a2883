//! Bringing a session's task up: from a new agent, or from what an earlier run left.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use chartroom_protocol::stream::ErrorDetail;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::delivery::{Delivery, Doubt};
use super::journaling::visible;
use super::queueing::{ARCHIVED, ENDED, KEPT_BACK};
use super::sleeping::Sleep;
use super::{Actor, Agent, Command, FolderCheck, Limits, PendingQuestion, RunningTurn, Seqs};
use crate::clock::{Clock, LazyTimer};
use crate::feed::{Broadcast, Change};
use crate::provider::{Provider, ProviderSession};
use crate::store::{Store, StoreError, StoredSession};
use crate::turns::TurnWatch;

/// Why a turn of an earlier run has no better end.
pub(super) const STOPPED: &str = "Chartroom was stopped in the middle of this turn";

/// What a session's task needs from outside.
pub(crate) struct Parts {
    pub(crate) session: StoredSession,
    pub(crate) project_dir: PathBuf,
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) store: Store,
    pub(crate) broadcast: Arc<Broadcast>,
    pub(crate) check_folder: FolderCheck,
    pub(crate) turn_watch: Option<Arc<dyn TurnWatch>>,
    pub(crate) limits: Limits,
    pub(crate) commands: mpsc::Receiver<Command>,
}

impl Actor {
    /// Reads what is kept of the session and closes what a dead server left open.
    pub(crate) async fn start(parts: Parts, agent: Option<ProviderSession>) -> Result<Self, StoreError> {
        let session_id = parts.session.session_id.clone();
        let mut open = parts.store.open_state(&session_id).await?;
        let mut queue = VecDeque::new();
        let mut delivery = Delivery::Idle;
        for message in parts.store.messages(&session_id).await? {
            if open.taken.contains(&message.turn_id) {
                // The agent had it when we died; its turn is closed below.
                parts.store.remove_message(&message.queued_id).await?;
                continue;
            }
            if open.said.contains(&message.turn_id) {
                let n_open = open.turns.len();
                open.turns.retain(|turn| *turn.turn_id() != message.turn_id);
                let is_told = open.turns.len() < n_open;
                delivery = Delivery::InDoubt(Doubt { message: message.clone(), is_told });
                // Whatever was put before the others since, this one was on its way already.
                queue.push_front(message);
                continue;
            }
            queue.push_back(message);
        }
        let questions = parts.store.questions(&session_id).await?;
        let held = held_from_before(&parts.session);
        let shown = if queue.is_empty() { None } else { held.clone() };
        parts.broadcast.change(Change::Queue { messages: visible(queue.iter()), held: shown });
        for question in &questions {
            parts.broadcast.change(Change::Question(question.clone()));
        }
        let agent = match agent {
            Some(session) => Agent::Running { handle: session.handle, outputs: session.outputs },
            None => Agent::Absent,
        };
        let mut actor = Self {
            session: parts.session,
            project_dir: parts.project_dir,
            provider: parts.provider,
            store: parts.store,
            broadcast: parts.broadcast,
            check_folder: parts.check_folder,
            turn_watch: parts.turn_watch,
            limits: parts.limits,
            clock: Clock::start(),
            commands: parts.commands,
            agent,
            calls: JoinSet::new(),
            turns: open
                .turns
                .iter()
                .map(|turn| RunningTurn {
                    turn_id: turn.turn_id().clone(),
                    first_seq: 0,
                    is_told: true,
                    cancelled: false,
                })
                .collect(),
            open_items: open.items,
            queue,
            delivery,
            noted: None,
            kept: open.kept,
            questions: questions
                .into_iter()
                .map(|question| PendingQuestion { question, stale: true })
                .collect(),
            seqs: Seqs::from(open.last_seq + 1),
            staged: Vec::new(),
            retry_at: None,
            cancel_by: None,
            note: None,
            dead: None,
            sleep: Sleep::Awake,
            active_at: Instant::now(),
            idle_timer: LazyTimer::new(),
            held,
            was_restarted: false,
        };
        actor.fail_everything(&ErrorDetail { code: "PROCESS_CRASH".to_owned(), message: STOPPED.to_owned() });
        // What the agent has said already is there before anybody looks.
        actor.drain_outputs().await;
        actor.go_on();
        actor.stage_status();
        actor.flush().await;
        Ok(actor)
    }
}

/// A session that a person put away does not go on by itself.
fn held_from_before(session: &StoredSession) -> Option<String> {
    let reasons = [(session.killed, ENDED), (session.archived, ARCHIVED), (session.held, KEPT_BACK)];
    reasons.into_iter().find_map(|(holds, reason)| holds.then(|| reason.to_owned()))
}
