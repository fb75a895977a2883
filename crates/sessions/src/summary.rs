//! A session of ours as lists show it.

use chartroom_protocol::session::{SessionState, SessionSummary};

use crate::provider::title;
use crate::store::StoredSession;

/// Returns the entry for a session. `state` is what its task says; without one it is at rest.
pub(crate) fn summary(session: StoredSession, state: Option<SessionState>) -> SessionSummary {
    let at_rest = if session.killed { SessionState::Dead } else { SessionState::Open };
    SessionSummary {
        state: state.unwrap_or(at_rest),
        title: session.title.unwrap_or_else(|| title("")),
        session_id: session.session_id,
        cli_type: session.cli_type,
        project_id: session.project_id,
        last_activity: session.last_activity,
        discovered: false,
        archived: session.archived,
    }
}
