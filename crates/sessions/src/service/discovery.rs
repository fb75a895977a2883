//! Conversations that the user had with an agent outside Chartroom.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chartroom_protocol::ids::{CliType, ProjectId, SessionId};

use super::SessionService;
use crate::actor::internal;
use crate::provider::{DiscoveredSession, ProviderError, title};
use crate::registry::Registry;
use crate::store::{StoredProject, StoredSession};

/// What was found when a project was last listed.
#[derive(Default)]
pub(super) struct Discovered {
    found: Mutex<HashMap<SessionId, (ProjectId, CliType, DiscoveredSession)>>,
}

impl Discovered {
    /// Asks every provider. One that fails is logged and leaves the others' sessions on the list.
    pub(super) async fn find(
        &self,
        registry: &Registry,
        project: &StoredProject,
    ) -> Vec<(CliType, DiscoveredSession)> {
        let mut list = Vec::new();
        for provider in registry.all() {
            match provider.discover(&project.path).await {
                Ok(sessions) => {
                    list.extend(sessions.into_iter().map(|session| (provider.cli_type().clone(), session)));
                }
                Err(error) => {
                    tracing::warn!(agent = %provider.cli_type(), "its sessions cannot be listed: {error}");
                }
            }
        }
        let mut found = self.lock();
        found.retain(|_, (project_id, ..)| *project_id != project.project_id);
        found.extend(list.iter().map(|(cli_type, session)| {
            let known = (project.project_id.clone(), cli_type.clone(), session.clone());
            (session.session_id.clone(), known)
        }));
        list
    }

    pub(super) fn get(&self, session_id: &SessionId) -> Option<(ProjectId, CliType, DiscoveredSession)> {
        self.lock().get(session_id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, (ProjectId, CliType, DiscoveredSession)>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionService {
    /// Makes a session that was found outside one of ours; one that is ours stays as it is.
    pub(super) async fn adopt(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        let store = &self.inner.store;
        if store.session(session_id).await.map_err(internal)?.is_some() {
            return Ok(());
        }
        if !store.deleted_among(vec![session_id.clone()]).await.map_err(internal)?.is_empty() {
            return Err(ProviderError::session_not_found(session_id));
        }
        let mut found = self.inner.discovered.get(session_id);
        if found.is_none() {
            for project in store.projects().await.map_err(internal)? {
                self.inner.discovered.find(&self.inner.registry, &project).await;
            }
            found = self.inner.discovered.get(session_id);
        }
        let (project_id, cli_type, session) =
            found.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        let adopted = StoredSession {
            session_id: session.session_id,
            cli_type,
            project_id,
            title: Some(title(&session.first_message)),
            model: None,
            mode: None,
            provider_options: serde_json::Map::new(),
            created_at: self.inner.clock.now().iso(),
            last_activity: session.last_activity,
            archived: false,
            killed: false,
            held: false,
        };
        store.insert_session(adopted.clone()).await.map_err(internal)?;
        self.handle(session_id).await?.list(adopted);
        Ok(())
    }
}
