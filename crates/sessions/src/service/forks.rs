//! A conversation that goes on from an earlier point, beside the one that it came from.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{SessionId, TurnId};
use chartroom_protocol::session::{SendParams, SessionResponse, SessionState};

use super::{NewSession, SessionService, conversation};
use crate::actor::internal;
use crate::provider::{AGENTS_ID, FORKED_FROM, ForkedFrom, ProviderError};
use crate::store::StoredSession;

/// How much of a conversation is handed on as text; the newest part of it, if it is longer.
const MAX_HANDED_BYTES: usize = 256 << 10;

impl SessionService {
    /// Makes a session that begins with what was said in another one up to the end of a turn, or up to its end. The other
    /// one stays as it is.
    pub async fn fork(
        &self,
        session_id: &SessionId,
        at: Option<&TurnId>,
    ) -> Result<SessionResponse, ProviderError> {
        let before = match at {
            Some(at) => self.inner.store.turn_after(session_id, at).await.map_err(internal)?,
            None => None,
        };
        if before.is_none() {
            self.check_rests(session_id).await?;
        }
        self.fork_before(session_id, before.as_ref()).await
    }

    /// Makes a session that begins with what was said in another one before a turn, or with all of it.
    pub async fn fork_before(
        &self,
        session_id: &SessionId,
        before: Option<&TurnId>,
    ) -> Result<SessionResponse, ProviderError> {
        let stored = self.inner.store.session(session_id).await.map_err(internal)?;
        let source = stored.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        if let Some(cannot) = self.cannot_fork(session_id).await? {
            return Err(ProviderError::new(ErrorCode::NotSupported, cannot));
        }
        let agents_id = source.provider_options.get(AGENTS_ID).and_then(|id| id.as_str());
        let forked_from = ForkedFrom {
            session_id: agents_id.map_or_else(|| session_id.clone(), SessionId::from),
            before: before.cloned(),
        };
        let mut provider_options = source.provider_options.clone();
        provider_options.remove(AGENTS_ID);
        provider_options.insert(FORKED_FROM.to_owned(), forked_from.to_value());
        let now = self.inner.clock.now().iso();
        let session = StoredSession {
            session_id: SessionId::new(uuid::Uuid::new_v4().to_string()),
            provider_options,
            created_at: now.clone(),
            last_activity: now,
            archived: false,
            killed: false,
            held: false,
            ..source
        };
        let forked =
            self.inner.store.fork_session(session_id, before, session.clone()).await.map_err(internal)?;
        if !forked {
            let turn = before.map(TurnId::to_string).unwrap_or_default();
            return Err(ProviderError::new(ErrorCode::NotFound, format!("this session has no turn {turn}")));
        }
        let id = session.session_id.clone();
        self.handle(&id).await?.list(session);
        self.load(&id).await
    }

    /// Makes a session of an agent that cannot go on from an earlier point: a new one, whose first message is what was said
    /// in the other one up to the end of a turn, or up to its end.
    pub async fn fork_as_text(
        &self,
        session_id: &SessionId,
        at: Option<&TurnId>,
    ) -> Result<SessionResponse, ProviderError> {
        let store = &self.inner.store;
        let stored = store.session(session_id).await.map_err(internal)?;
        let source = stored.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        let project = store.project(&source.project_id).await.map_err(internal)?;
        let project = project.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        let mut end = None;
        if let Some(at) = at {
            let no_turn =
                || ProviderError::new(ErrorCode::NotFound, format!("this session has no turn {at}"));
            store.turn_begins(session_id, at).await.map_err(internal)?.ok_or_else(no_turn)?;
            if let Some(next) = store.turn_after(session_id, at).await.map_err(internal)? {
                end = store.turn_begins(session_id, &next).await.map_err(internal)?;
            }
        }
        if end.is_none() {
            self.check_rests(session_id).await?;
        }
        let page = store.history(session_id, end, MAX_HANDED_BYTES).await.map_err(internal)?;
        let title = self.status(session_id).await?.title;
        let mut provider_options = source.provider_options;
        provider_options.remove(AGENTS_ID);
        let new = NewSession {
            cli_type: source.cli_type,
            project,
            model: source.model,
            mode: source.mode,
            provider_options,
        };
        let made = self.create(new).await?;
        let message = conversation::as_text(&page.entries, page.earlier.is_some());
        self.send(&made.session_id, SendParams { message, images: Vec::new() }).await?;
        self.set_title(&made.session_id, &title).await?;
        Ok(made)
    }

    /// Says in words why a session's agent cannot go on from an earlier point, if it cannot.
    pub async fn cannot_fork(&self, session_id: &SessionId) -> Result<Option<String>, ProviderError> {
        let stored = self.inner.store.session(session_id).await.map_err(internal)?;
        let session = stored.ok_or_else(|| ProviderError::session_not_found(session_id))?;
        let provider = self.inner.registry.get(&session.cli_type)?;
        let cannot =
            || format!("{} cannot go on from an earlier point of a conversation", provider.agent().name);
        Ok((!provider.can_fork()).then(cannot))
    }

    /// Refuses while the agent works: what is said in a running turn is not the agent's to remember yet, and its files
    /// change.
    pub async fn check_rests(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        match self.status(session_id).await?.state {
            SessionState::Working | SessionState::NeedsYou | SessionState::Loading => {
                Err(ProviderError::new(
                    ErrorCode::InvalidRequest,
                    "the agent works on a turn; stop it, or wait for its end",
                ))
            }
            _ => Ok(()),
        }
    }
}
