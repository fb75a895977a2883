//! What is known of each session beside its journal.

use chartroom_protocol::ids::{CliType, ProjectId, SessionId};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Map, Value};

use super::{Durability, Store, StoreError, from_json, to_json};

/// A session as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredSession {
    /// The CLI's own id.
    pub session_id: SessionId,
    /// The agent that runs it.
    pub cli_type: CliType,
    /// The project whose folder it works in.
    pub project_id: ProjectId,
    /// None until the first user message names it.
    pub title: Option<String>,
    /// The model that was last in use, where the agent tells.
    pub model: Option<String>,
    /// The permission mode that was last in use, where the agent tells.
    pub mode: Option<String>,
    /// What it was created with, and what the provider must remember.
    pub provider_options: Map<String, Value>,
    /// ISO 8601 UTC, like the next.
    pub created_at: String,
    /// ISO 8601 UTC.
    pub last_activity: String,
    /// Put away by the user.
    pub archived: bool,
    /// Ended by a person: not on the list of active sessions until it is loaded again.
    pub killed: bool,
    /// A person has kept its queue back.
    pub held: bool,
}

/// One change to a session; what it does not name stays.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionChange {
    /// A new title.
    pub title: Option<String>,
    /// Another model.
    pub model: Option<String>,
    /// Another permission mode.
    pub mode: Option<String>,
    /// ISO 8601 UTC.
    pub last_activity: Option<String>,
    /// Put away, or back into the list.
    pub archived: Option<bool>,
    /// Ended by the user, or begun again.
    pub killed: Option<bool>,
    /// Its queue is kept back by a person, or goes on.
    pub held: Option<bool>,
    /// All of them; what was there before is replaced.
    pub provider_options: Option<Map<String, Value>>,
}

const COLUMNS: &str = "session_id, cli_type, project_id, title, model, mode, provider_options, created_at, \
                       last_activity, archived, killed, held";

/// Keeps a new session; one that is known already is left as it is.
pub(super) fn insert(connection: &Connection, session: &StoredSession) -> Result<(), StoreError> {
    connection.execute(
        &format!(
            "INSERT INTO sessions ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
             ON CONFLICT (session_id) DO NOTHING"
        ),
        params![
            session.session_id.as_str(),
            session.cli_type.as_str(),
            session.project_id.as_str(),
            session.title,
            session.model,
            session.mode,
            to_json(&session.provider_options),
            session.created_at,
            session.last_activity,
            session.archived,
            session.killed,
            session.held,
        ],
    )?;
    Ok(())
}

impl Store {
    /// Keeps a new session; one that is known already is left as it is.
    pub async fn insert_session(&self, session: StoredSession) -> Result<(), StoreError> {
        self.write(Durability::Disk, move |connection| insert(connection, &session)).await
    }

    /// Returns a session's row.
    pub async fn session(&self, session_id: &SessionId) -> Result<Option<StoredSession>, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let found = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE session_id = ?1"))?
                .query_row([session_id.as_str()], session)
                .optional()?;
            Ok(found)
        })
        .await
    }

    /// Returns a project's sessions, the last active first; archived and killed ones too.
    pub async fn sessions_of(&self, project_id: &ProjectId) -> Result<Vec<StoredSession>, StoreError> {
        let project_id = project_id.clone();
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM sessions WHERE project_id = ?1 ORDER BY last_activity DESC, session_id"
            ))?;
            let sessions = statement.query_map([project_id.as_str()], session)?.collect::<Result<_, _>>()?;
            Ok(sessions)
        })
        .await
    }

    /// Writes what is set, and leaves the rest alone.
    pub async fn change_session(
        &self,
        session_id: &SessionId,
        change: SessionChange,
    ) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Process, move |connection| write_change(connection, &session_id, &change))
            .await
    }
}

impl Store {
    /// Marks a session as not ended any more, with the next commit: the agent that was started for it would not outlive
    /// this process either.
    pub fn revived(&self, session_id: &SessionId) {
        let session_id = session_id.clone();
        let change = SessionChange { killed: Some(false), ..SessionChange::default() };
        self.inner.writer.later(move |connection| write_change(connection, &session_id, &change));
    }

    /// Notes when something last happened in a session, with the next commit. A message that is accepted meanwhile is later.
    pub fn touch_session(&self, session_id: &SessionId, at: String) {
        let session_id = session_id.clone();
        self.inner.writer.later(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE sessions SET last_activity = max(last_activity, ?2) WHERE session_id = ?1",
                )?
                .execute(params![session_id.as_str(), at])?;
            Ok(())
        });
    }
}

/// Writes what is set of a change, and leaves the rest alone.
pub(super) fn write_change(
    connection: &Connection,
    session_id: &SessionId,
    change: &SessionChange,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE sessions SET title = coalesce(?2, title), model = coalesce(?3, model), \
             mode = coalesce(?4, mode), last_activity = coalesce(?5, last_activity), \
             archived = coalesce(?6, archived), killed = coalesce(?7, killed), \
             provider_options = coalesce(?8, provider_options), held = coalesce(?9, held) WHERE session_id = ?1",
        )?
        .execute(params![
            session_id.as_str(),
            change.title,
            change.model,
            change.mode,
            change.last_activity,
            change.archived,
            change.killed,
            change.provider_options.as_ref().map(to_json),
            change.held,
        ])?;
    Ok(())
}

/// Returns the short key that the other tables use for a session.
pub(super) fn key(connection: &Connection, session_id: &SessionId) -> Result<i64, rusqlite::Error> {
    connection
        .prepare_cached("SELECT key FROM sessions WHERE session_id = ?1")?
        .query_row([session_id.as_str()], |row| row.get(0))
}

fn session(row: &Row<'_>) -> Result<StoredSession, rusqlite::Error> {
    Ok(StoredSession {
        session_id: SessionId::new(row.get::<_, String>(0)?),
        cli_type: CliType::new(row.get::<_, String>(1)?),
        project_id: ProjectId::new(row.get::<_, String>(2)?),
        title: row.get(3)?,
        model: row.get(4)?,
        mode: row.get(5)?,
        provider_options: from_json(6, &row.get::<_, String>(6)?)?,
        created_at: row.get(7)?,
        last_activity: row.get(8)?,
        archived: row.get(9)?,
        killed: row.get(10)?,
        held: row.get(11)?,
    })
}
