//! Stories of sessions with a fake agent, one line per frame.

mod cancels;
mod crashes;
mod deletion;
mod disk;
mod feeds;
mod lifecycle;
mod outside;
mod questions;
mod queue;
mod sleep;

use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::{SendParams, SendResponse, SessionState};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody};
use chartroom_protocol::ws::ServerFrame;
use serde_json::Map;

use crate::fake::{FakeAgent, FakeProvider};
use crate::provider::ProviderError;
use crate::store::StoredProject;
use crate::{Feed, Limits, NewSession, Registry, SessionService, Store};

/// Generous: it only ends a hang.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A service with a fake agent `fake` on a store in a temporary folder.
pub(super) struct World {
    folder: tempfile::TempDir,
    pub(super) service: SessionService,
    pub(super) fake: FakeProvider,
    pub(super) project: StoredProject,
    limits: Limits,
}

impl World {
    pub(super) async fn new() -> Self {
        Self::with_limits(Limits::default()).await
    }

    pub(super) async fn with_limits(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = FakeProvider::new("fake");
        let store = Store::open(&folder.path().join("store.db")).unwrap().store;
        let project = store.add_project(folder.path()).await.unwrap().into_project();
        let service = service(store, &fake, &limits);
        Self { folder, service, fake, project, limits }
    }

    /// Ends the service as a kill would, without a goodbye, and starts another on the same store.
    pub(super) async fn restart(self) -> Self {
        let Self { folder, service: old, fake, project, limits } = self;
        drop(old);
        // The old one's tasks let go of the store when they notice that their handles are gone.
        let opened = tokio::time::timeout(PATIENCE, async {
            loop {
                match Store::open(&folder.path().join("store.db")) {
                    Ok(opened) => return opened,
                    Err(crate::StoreError::Locked { .. }) => tokio::task::yield_now().await,
                    Err(error) => panic!("{error}"),
                }
            }
        })
        .await
        .unwrap();
        assert_eq!(opened.set_aside, None);
        let service = service(opened.store, &fake, &limits);
        Self { folder, service, fake, project, limits }
    }

    pub(super) async fn create(&self) -> SessionId {
        self.service.create(self.new_session("fake")).await.unwrap().session_id
    }

    pub(super) fn new_session(&self, cli_type: &str) -> NewSession {
        NewSession {
            cli_type: cli_type.into(),
            project: self.project.clone(),
            model: None,
            mode: None,
            provider_options: Map::new(),
        }
    }

    pub(super) async fn send(&self, session_id: &SessionId, message: &str) -> SendResponse {
        self.service.send(session_id, text(message)).await.unwrap()
    }

    pub(super) fn agent(&self, session_id: &SessionId) -> Arc<FakeAgent> {
        self.fake.agent(session_id)
    }

    pub(super) async fn follow(&self, session_id: &SessionId) -> Reader {
        Reader { feed: self.service.subscribe(session_id, None).await.unwrap() }
    }

    /// Waits until the session is in a state.
    pub(super) async fn until(&self, session_id: &SessionId, state: SessionState) {
        let mut reader = self.follow(session_id).await;
        reader.until(|frame| matches!(frame, ServerFrame::State { state: now, .. } if *now == state)).await;
    }
}

fn service(store: Store, fake: &FakeProvider, limits: &Limits) -> SessionService {
    let mut registry = Registry::default();
    registry.register(Arc::new(fake.clone()));
    let check: crate::FolderCheck = Arc::new(|folder| {
        if folder.join(".untrusted").exists() {
            return Err(ProviderError::new(ErrorCode::WorkspaceUntrusted, "not trusted"));
        }
        Ok(())
    });
    SessionService::new(store, registry, check, None, limits.clone())
}

pub(super) fn text(message: &str) -> SendParams {
    SendParams { message: message.to_owned(), images: Vec::new() }
}

/// A feed whose frames are read back.
pub(super) struct Reader {
    pub(super) feed: Feed,
}

impl Reader {
    pub(super) async fn next(&mut self) -> ServerFrame {
        let frame = tokio::time::timeout(PATIENCE, self.feed.next()).await.expect("a frame in time");
        let frame = frame.unwrap().expect("the session is open");
        serde_json::from_str(&frame.json).unwrap()
    }

    /// Reads until a frame fits, and returns all that were read, that one included.
    pub(super) async fn until(&mut self, fits: impl Fn(&ServerFrame) -> bool) -> Vec<ServerFrame> {
        let mut seen = Vec::new();
        loop {
            let frame = self.next().await;
            let done = fits(&frame);
            seen.push(frame);
            if done {
                return seen;
            }
        }
    }

    pub(super) async fn until_state(&mut self, wanted: SessionState) -> Vec<ServerFrame> {
        self.until(|frame| matches!(frame, ServerFrame::State { state, .. } if *state == wanted)).await
    }
}

/// One line per frame, ids of turns as the test names them.
pub(super) fn lines(frames: &[ServerFrame]) -> String {
    frames.iter().map(|frame| line(frame) + "\n").collect()
}

fn line(frame: &ServerFrame) -> String {
    match frame {
        ServerFrame::Upsert { seq, payload, .. } => format!("{seq} upsert {}", upsert(payload)),
        ServerFrame::Turn { seq, payload, .. } => format!("{seq} {}", turn(payload)),
        ServerFrame::History { seq, entries, turns, .. } => {
            let entries: Vec<_> = entries.iter().map(upsert).collect();
            let turns: Vec<_> = turns.iter().map(turn).collect();
            format!("{seq} history {entries:?} {turns:?}")
        }
        ServerFrame::State { state, note, .. } => {
            format!("state {state:?}{}", note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default())
        }
        ServerFrame::Question { question, .. } => format!("question {}", question.question_id),
        ServerFrame::QuestionClosed { question_id, .. } => format!("question-closed {question_id}"),
        ServerFrame::Queue { messages, held, .. } => {
            let held = held.as_ref().map(|held| format!(" (held: {held})")).unwrap_or_default();
            format!("queue {:?}{held}", messages.iter().map(|message| &message.message).collect::<Vec<_>>())
        }
        ServerFrame::Title { title, .. } => format!("title {title:?}"),
        ServerFrame::Listed { session } => {
            let place = if session.archived { "archived" } else { "listed" };
            format!("{place} {:?} {:?}", session.title, session.state)
        }
        ServerFrame::Removed { .. } => "removed".to_owned(),
        ServerFrame::Options { options, .. } => format!("options {:?} {:?}", options.model, options.mode),
        ServerFrame::Projects { .. }
        | ServerFrame::Agent { .. }
        | ServerFrame::Ack { .. }
        | ServerFrame::Error { .. } => panic!("not a session's frame: {frame:?}"),
    }
}

fn upsert(upsert: &Upsert) -> String {
    let status = format!("{:?}", upsert.status).to_lowercase();
    let error = upsert.error_code.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    match &upsert.body {
        UpsertBody::Message { content, origin, .. } => {
            format!("{status} {} {content:?}{error}", format!("{origin:?}").to_lowercase())
        }
        UpsertBody::Thinking { content, .. } => format!("{status} thinking {content:?}{error}"),
        UpsertBody::ToolCall { tool_name, .. } => format!("{status} {tool_name}{error}"),
    }
}

fn turn(event: &TurnEvent) -> String {
    match event {
        TurnEvent::TurnStarted { .. } => "turn_started".to_owned(),
        TurnEvent::TurnComplete { status, .. } => format!("turn_complete {status:?}"),
        TurnEvent::TurnError { error_code, error_message, .. } => {
            format!("turn_error {error_code} {error_message}")
        }
    }
}
