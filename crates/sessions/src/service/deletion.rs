//! Deleting for good.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{ProjectId, SessionId};

use super::{SessionService, commands};
use crate::actor::{Command, internal};
use crate::feed::{Broadcast, Change};
use crate::provider::ProviderError;

impl SessionService {
    /// Deletes a session with all that is kept of it. Its agent is ended first, with a turn that runs; the agent's own
    /// files stay, and discovery does not bring it back. Dropping this future does not stop half of it.
    pub async fn delete(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        let service = self.clone();
        let session_id = session_id.clone();
        spawned(async move {
            let is_ours = service.inner.store.session(&session_id).await.map_err(internal)?.is_some();
            if !is_ours && service.inner.discovered.get(&session_id).is_none() {
                return Err(ProviderError::session_not_found(&session_id));
            }
            service.end_agents(std::slice::from_ref(&session_id)).await;
            // Held over the deletion, so that nobody brings the session up from what is about to go.
            let mut sessions = service.inner.sessions.lock().await;
            service.inner.store.delete_session(&session_id).await.map_err(internal)?;
            let handle = sessions.remove(&session_id);
            service.tell_removed(session_id, handle.map(|handle| handle.broadcast));
            Ok(())
        })
        .await
    }

    /// Deletes a project with all its sessions. Its folder stays as it is.
    pub async fn delete_project(&self, project_id: &ProjectId) -> Result<(), ProviderError> {
        let service = self.clone();
        let project_id = project_id.clone();
        spawned(async move {
            service.project(&project_id).await?;
            let stored = service.inner.store.sessions_of(&project_id).await.map_err(internal)?;
            let ids: Vec<SessionId> = stored.into_iter().map(|session| session.session_id).collect();
            service.end_agents(&ids).await;
            let mut sessions = service.inner.sessions.lock().await;
            service.inner.store.delete_project(&project_id).await.map_err(internal)?;
            for session_id in ids {
                let handle = sessions.remove(&session_id);
                service.tell_removed(session_id, handle.map(|handle| handle.broadcast));
            }
            Ok(())
        })
        .await
    }

    /// Ends the agents of those sessions that run, and waits until their processes are gone.
    async fn end_agents(&self, ids: &[SessionId]) {
        let handles: Vec<_> = {
            let sessions = self.inner.sessions.lock().await;
            ids.iter().filter_map(|id| sessions.get(id).cloned()).collect()
        };
        let endings = handles.iter().map(|handle| commands::ask(handle, |reply| Command::Kill { reply }));
        for ended in futures_util::future::join_all(endings).await {
            if let Err(error) = ended {
                // With its last handle the session lets go of the agent, which ends it too.
                tracing::warn!("a session that is deleted did not end its agent: {error}");
            }
        }
    }

    /// Tells every page that a session is gone: those that follow it, and those that only list it.
    fn tell_removed(&self, session_id: SessionId, broadcast: Option<std::sync::Arc<Broadcast>>) {
        match broadcast {
            Some(broadcast) => broadcast.change(Change::Removed),
            None => {
                Broadcast::new(session_id, String::new(), self.inner.overview.clone()).change(Change::Removed)
            }
        }
    }
}

async fn spawned(
    work: impl Future<Output = Result<(), ProviderError>> + Send + 'static,
) -> Result<(), ProviderError> {
    tokio::spawn(work).await.unwrap_or_else(|failed| {
        Err(ProviderError::new(ErrorCode::Internal, format!("the deletion was cut off: {failed}")))
    })
}
