//! What several tries are now: what is written down, and what sessions, records and commands say.

use chartroom_checkpoints::{Detail, Records, Scope};
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::SessionState;
use chartroom_protocol::tries::{DiffSize, Tries, Try, TryState};
use chartroom_protocol::worktree::{CommandRun, RunState};
use chartroom_repository::worktrees::{self, Command};
use chartroom_workspace::CanonicalRoot;

use super::book::What;
use super::record;
use crate::app::{App, worktrees as settings_of};

pub(super) async fn filled(app: &App, mut tries: Tries) -> Tries {
    let root = app.projects().root(&tries.project_id).await.ok();
    tries.test =
        root.as_ref().map(|root| settings_of::test(&app.config().tries, root.as_path())).unwrap_or_default();
    tries.onto = match &root {
        // Where it cannot be told, a branch has to be named.
        Some(root) => worktrees::branch_of(app.gate(), root).await.unwrap_or_default(),
        None => None,
    };
    let tries_id = tries.tries_id.clone();
    let all = tries.tries.iter_mut().map(|one| fill(app, root.as_ref(), &tries_id, one));
    futures_util::future::join_all(all).await;
    tries
}

async fn fill(app: &App, root: Option<&CanonicalRoot>, tries_id: &str, one: &mut Try) {
    // Also while it is being made: its path is written down when its set-up has ended.
    let record = root
        .filter(|_| one.state != TryState::Removed)
        .and_then(|root| record(app, root, tries_id, one).ok());
    if let Some(record) = record {
        one.preparing = worktrees::last_run(&record, Command::SetUp);
        one.test = worktrees::last_run(&record, Command::Test);
        if app.tries().is_doing(What::Testing, tries_id, &one.name) {
            let running = || CommandRun {
                command: Vec::new(),
                state: RunState::Running,
                output: String::new(),
                duration_ms: None,
            };
            one.test =
                one.test.take().filter(|test| test.state == RunState::Running).or_else(|| Some(running()));
        }
    }
    let Some(session_id) = one.session_id.clone() else { return };
    if let Ok(spent) = app.sessions().store().spent(&session_id).await {
        one.duration_ms = spent.duration_ms;
        one.cost_usd = spent.usage.as_ref().and_then(|usage| usage.cost_usd);
        one.tokens = spent.usage.map(|usage| {
            let cached = [usage.cache_read_input_tokens, usage.cache_creation_input_tokens];
            usage.input_tokens + usage.output_tokens + cached.into_iter().flatten().sum::<u64>()
        });
    }
    if matches!(one.state, TryState::Removed | TryState::Failed | TryState::Making) {
        return;
    }
    if let Ok(status) = app.sessions().status(&session_id).await {
        one.state = match status.state {
            SessionState::Open => TryState::Open,
            SessionState::Loading | SessionState::Working => TryState::Working,
            SessionState::NeedsYou => TryState::NeedsYou,
            SessionState::Dead => TryState::Dead,
        };
    }
    one.size = size(app, one.path.as_deref(), &session_id).await;
}

/// How much a session has changed, as far as it is recorded.
async fn size(app: &App, path: Option<&str>, session_id: &SessionId) -> Option<DiffSize> {
    let root = CanonicalRoot::open(path?).ok()?;
    app.turns_are_recorded(root.as_path()).await;
    let records = Records::of(app.gate(), &root).await.ok()?;
    let scope = Scope::Session(Some(session_id.to_string()));
    let changes = records.changes(&scope, Detail::Counts).await.ok()?;
    let mut size = DiffSize::default();
    for file in &changes.files {
        size.files += 1;
        size.added += file.added;
        size.removed += file.removed;
    }
    Some(size)
}
