//! The handle that the front door holds: every session by its id, made, found, brought back and listed.

mod commands;
mod conversation;
mod deletion;
mod discovery;
mod forks;
mod review;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::agent::Agent;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{CliType, ProjectId, SessionId};
use chartroom_protocol::session::{SessionResponse, SessionState, SessionSummary};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, broadcast, mpsc};

use crate::actor::start::Parts;
use crate::actor::{Actor, Command, FolderCheck, Limits, internal};
use crate::clock::Clock;
use crate::feed::{Broadcast, Change, Frame};
use crate::provider::{AGENTS_ID, CreateOptions, ProviderError, ProviderSession, title};
use crate::registry::Registry;
use crate::store::{Store, StoredProject, StoredSession};
use crate::summary::summary;
use crate::turns::TurnWatch;
use discovery::Discovered;

/// What waits for a session. When it is full the asker waits; a session answers within a commit.
const COMMANDS: usize = 64;
/// Changes of state, title and place that a list may lag behind.
const OVERVIEW: usize = 1024;

/// The handle to all sessions. Clones share them; dropping the last clone ends every agent.
#[derive(Clone)]
pub struct SessionService {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    registry: Registry,
    check_folder: FolderCheck,
    turn_watch: Option<Arc<dyn TurnWatch>>,
    limits: Limits,
    clock: Clock,
    /// Held while a session is brought up, so that it is brought up once.
    sessions: Mutex<HashMap<SessionId, SessionHandle>>,
    discovered: Discovered,
    overview: broadcast::Sender<(SessionId, Frame)>,
}

#[derive(Clone)]
struct SessionHandle {
    commands: mpsc::Sender<Command>,
    broadcast: Arc<Broadcast>,
}

impl SessionHandle {
    /// Tells lists of a session that they have not seen, or not as one of ours.
    fn list(&self, session: StoredSession) {
        let state = self.broadcast.current().state;
        self.broadcast.change(Change::Listed(summary(session, Some(state))));
    }
}

/// What a new session is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// The agent that runs it.
    pub cli_type: CliType,
    /// The project whose folder it works in.
    pub project: StoredProject,
    /// The agent's default when absent.
    pub model: Option<String>,
    /// The agent's default when absent.
    pub mode: Option<String>,
    /// Whatever else the provider takes.
    pub provider_options: Map<String, Value>,
}

impl SessionService {
    /// Makes the service. `check_folder` is asked before an agent is started in a folder; `turn_watch` hears of turns.
    pub fn new(
        store: Store,
        registry: Registry,
        check_folder: FolderCheck,
        turn_watch: Option<Arc<dyn TurnWatch>>,
        limits: Limits,
    ) -> Self {
        let (overview, _) = broadcast::channel(OVERVIEW);
        Self {
            inner: Arc::new(Inner {
                store,
                registry,
                check_folder,
                turn_watch,
                limits,
                clock: Clock::start(),
                sessions: Mutex::default(),
                discovered: Discovered::default(),
                overview,
            }),
        }
    }

    /// Returns the store that everything is written to.
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// Returns the agents that can be asked for, found or missing.
    pub fn agents(&self) -> Vec<Agent> {
        self.inner.registry.agents()
    }

    /// Answers `UNSUPPORTED_CLI_TYPE` for an agent that is not configured.
    pub fn check_cli_type(&self, cli_type: &CliType) -> Result<(), ProviderError> {
        self.inner.registry.get(cli_type).map(drop)
    }

    /// Follows the state, the title and the place on the list of every session.
    pub fn overview(&self) -> broadcast::Receiver<(SessionId, Frame)> {
        self.inner.overview.subscribe()
    }

    /// Tells the agents that a person works in this project now.
    pub fn project_opened(&self, project_dir: &Path) {
        for provider in self.inner.registry.all() {
            provider.project_opened(project_dir);
        }
    }

    /// Starts an agent on a new conversation. Dropping this future does not stop half of it.
    pub async fn create(&self, new: NewSession) -> Result<SessionResponse, ProviderError> {
        let service = self.clone();
        let made = tokio::spawn(async move { service.make(new).await }).await;
        made.unwrap_or_else(|failed| Err(ProviderError::create_failed(failed.to_string())))
    }

    async fn make(&self, new: NewSession) -> Result<SessionResponse, ProviderError> {
        let provider = self.inner.registry.get(&new.cli_type)?;
        (self.inner.check_folder)(&new.project.path)?;
        crate::actor::check_installed(&*provider)?;
        if let Some(watch) = &self.inner.turn_watch {
            watch.opens(&new.project.path);
        }
        let options = CreateOptions {
            project_dir: new.project.path.clone(),
            model: new.model.clone(),
            mode: new.mode.clone(),
            provider_options: new.provider_options.clone(),
        };
        let limit = self.inner.limits.open;
        let agent =
            tokio::time::timeout(limit, provider.create_session(options)).await.map_err(|_elapsed| {
                ProviderError::create_failed(format!("the agent did not start within {} s", limit.as_secs()))
            })??;
        let now = self.inner.clock.now().iso();
        let session = StoredSession {
            session_id: agent.session_id.clone(),
            cli_type: new.cli_type.clone(),
            project_id: new.project.project_id.clone(),
            title: None,
            model: new.model,
            mode: new.mode,
            provider_options: new.provider_options,
            created_at: now.clone(),
            last_activity: now,
            archived: false,
            killed: false,
            held: false,
        };
        let response =
            SessionResponse { session_id: session.session_id.clone(), cli_type: session.cli_type.clone() };
        self.inner.store.insert_session(session.clone()).await.map_err(internal)?;
        let mut sessions = self.inner.sessions.lock().await;
        let handle = self.bring_up(session.clone(), Some(agent)).await?;
        handle.list(session);
        sessions.insert(response.session_id.clone(), handle);
        Ok(response)
    }

    /// Goes on with the messages that an earlier run of the server accepted and did not deliver.
    pub async fn go_on(&self) {
        let waiting = match self.inner.store.sessions_with_messages().await {
            Ok(waiting) => waiting,
            Err(error) => return tracing::error!("the messages that wait cannot be read: {error}"),
        };
        for session_id in waiting {
            // Its task sees that there are messages, and starts the agent or tells why not.
            if let Err(error) = self.handle(&session_id).await {
                tracing::warn!(session = %session_id, "its messages wait: {error}");
            }
        }
    }

    /// Returns a project's sessions, the last active first: ours and those found outside. Archived and ended ones
    /// only if `all`.
    pub async fn list(
        &self,
        project_id: &ProjectId,
        all: bool,
    ) -> Result<Vec<SessionSummary>, ProviderError> {
        let project = self.project(project_id).await?;
        let stored = self.inner.store.sessions_of(project_id).await.map_err(internal)?;
        let found = self.inner.discovered.find(&self.inner.registry, &project).await;
        let agents_id = |session: &StoredSession| {
            let id = session.provider_options.get(AGENTS_ID)?;
            id.as_str().map(SessionId::from)
        };
        let known: std::collections::HashSet<SessionId> = stored
            .iter()
            .flat_map(|session| [Some(session.session_id.clone()), agents_id(session)])
            .flatten()
            .collect();
        let found_ids = found.iter().map(|(_, session)| session.session_id.clone()).collect();
        let deleted = self.inner.store.deleted_among(found_ids).await.map_err(internal)?;
        let found = found.into_iter().filter(|(_, session)| !deleted.contains(&session.session_id));
        let states = self.states().await;
        let mut list: Vec<SessionSummary> = stored
            .into_iter()
            .filter(|session| all || !(session.archived || session.killed))
            .map(|session| {
                let state = states.get(&session.session_id).copied();
                summary(session, state)
            })
            .collect();
        list.extend(found.filter(|(_, session)| !known.contains(&session.session_id)).map(
            |(cli_type, session)| SessionSummary {
                session_id: session.session_id,
                cli_type,
                project_id: project_id.clone(),
                title: title(&session.first_message),
                state: SessionState::Open,
                last_activity: session.last_activity,
                discovered: true,
                archived: false,
            },
        ));
        list.sort_by(|a, b| {
            b.last_activity.cmp(&a.last_activity).then_with(|| a.session_id.cmp(&b.session_id))
        });
        Ok(list)
    }

    /// Ends every agent and returns when their processes are gone. Sessions stay loadable.
    pub async fn shutdown(&self) {
        let handles: Vec<_> = self.inner.sessions.lock().await.drain().map(|(_, handle)| handle).collect();
        let endings = handles.iter().map(|handle| commands::ask(handle, |reply| Command::Shutdown { reply }));
        for ended in futures_util::future::join_all(endings).await {
            if let Err(error) = ended {
                tracing::warn!("a session did not end its agent: {error}");
            }
        }
        if let Err(error) = self.inner.store.checkpoint().await {
            // Nothing is lost: the next start reads the log.
            tracing::warn!("the store's log was not brought into its main file: {error}");
        }
    }

    /// Returns the folder that a session's agent works in.
    pub async fn folder(&self, session_id: &SessionId) -> Result<PathBuf, ProviderError> {
        let stored = self.inner.store.session(session_id).await.map_err(internal)?;
        let session = stored.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        Ok(self.project(&session.project_id).await?.path)
    }

    async fn project(&self, project_id: &ProjectId) -> Result<StoredProject, ProviderError> {
        let project = self.inner.store.project(project_id).await.map_err(internal)?;
        project.ok_or_else(|| {
            ProviderError::new(ErrorCode::NotFound, format!("there is no project {project_id}"))
        })
    }

    async fn states(&self) -> HashMap<SessionId, SessionState> {
        let sessions = self.inner.sessions.lock().await;
        sessions.iter().map(|(id, handle)| (id.clone(), handle.broadcast.current().state)).collect()
    }

    /// Returns the session's task, bringing it up from the store if it does not run.
    async fn handle(&self, session_id: &SessionId) -> Result<SessionHandle, ProviderError> {
        let mut sessions = self.inner.sessions.lock().await;
        if let Some(handle) = sessions.get(session_id) {
            return Ok(handle.clone());
        }
        let stored = self.inner.store.session(session_id).await.map_err(internal)?;
        let session = stored.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        let handle = self.bring_up(session, None).await?;
        sessions.insert(session_id.clone(), handle.clone());
        Ok(handle)
    }

    async fn bring_up(
        &self,
        session: StoredSession,
        agent: Option<ProviderSession>,
    ) -> Result<SessionHandle, ProviderError> {
        let inner = &self.inner;
        let provider = inner.registry.get(&session.cli_type)?;
        let project = self.project(&session.project_id).await?;
        let shown_title = session.title.clone().unwrap_or_else(|| title(""));
        let broadcast =
            Arc::new(Broadcast::new(session.session_id.clone(), shown_title, inner.overview.clone()));
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let parts = Parts {
            session,
            project_dir: project.path,
            provider,
            store: inner.store.clone(),
            broadcast: Arc::clone(&broadcast),
            check_folder: Arc::clone(&inner.check_folder),
            turn_watch: inner.turn_watch.clone(),
            limits: inner.limits.clone(),
            commands: receiver,
        };
        let actor = Actor::start(parts, agent).await.map_err(internal)?;
        // Ends by itself when the last handle is dropped.
        drop(tokio::spawn(actor.run()));
        Ok(SessionHandle { commands, broadcast })
    }
}
