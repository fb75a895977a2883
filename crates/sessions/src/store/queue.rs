//! Messages that were accepted and not yet handed to the agent, in order.

use chartroom_protocol::ids::{QueuedId, SessionId, TurnId};
use chartroom_protocol::session::SendParams;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Durability, SessionChange, Store, StoreError, from_json, sessions, to_json};

/// An accepted message. It stays here until the agent has taken it, so that no death of ours loses it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMessage {
    /// Names it in changes of the queue.
    pub queued_id: QueuedId,
    /// The id that its turn will have.
    pub turn_id: TurnId,
    /// The message with its images.
    pub params: SendParams,
    /// ISO 8601 UTC.
    pub queued_at: String,
}

/// What a message that the agent gets at once changes of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionNote {
    /// Its title, which the first message gives.
    pub title: String,
    /// ISO 8601 UTC.
    pub last_activity: String,
}

/// A message with all that is kept of it at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) session_id: SessionId,
    pub(super) message: StoredMessage,
    pub(super) note: Option<SessionNote>,
}

impl Accepted {
    pub(super) fn n_bytes(&self) -> usize {
        let params = &self.message.params;
        params.message.len() + params.images.iter().map(|image| image.data.len()).sum::<usize>()
    }
}

impl Store {
    /// Adds a message at the end, with what it changes of its session; both are on the disk when this returns.
    pub async fn push_message(
        &self,
        session_id: &SessionId,
        message: StoredMessage,
        note: Option<SessionNote>,
    ) -> Result<(), StoreError> {
        self.inner.writer.push(Accepted { session_id: session_id.clone(), message, note }).await
    }

    /// Replaces the text of a waiting message.
    pub async fn edit_message(&self, queued_id: &QueuedId, params: SendParams) -> Result<(), StoreError> {
        let queued_id = queued_id.clone();
        self.write(Durability::Disk, move |connection| {
            connection.execute(
                "UPDATE queue SET params = ?2 WHERE queued_id = ?1",
                params![queued_id.as_str(), to_json(&params)],
            )?;
            Ok(())
        })
        .await
    }

    /// Puts a waiting message before all others of its session.
    pub async fn put_message_first(&self, queued_id: &QueuedId) -> Result<(), StoreError> {
        let queued_id = queued_id.clone();
        self.write(Durability::Disk, move |connection| {
            connection.execute(
                "UPDATE queue SET position = \
                 (SELECT min(position) - 1 FROM queue AS all_of WHERE all_of.session = queue.session) \
                 WHERE queued_id = ?1",
                [queued_id.as_str()],
            )?;
            Ok(())
        })
        .await
    }

    /// Forgets a message that the agent has, with the next commit: the journal says that it was taken, by which a start
    /// after a death in between knows it. One that the database does not have yet never gets there.
    pub fn message_taken(&self, queued_id: &QueuedId) {
        self.inner.writer.taken(queued_id.clone());
    }

    /// Forgets a message that a person removed, or that came to nothing.
    ///
    /// Not synced: at worst a message comes back after a power cut, which is better than the reverse.
    pub async fn remove_message(&self, queued_id: &QueuedId) -> Result<(), StoreError> {
        let queued_id = queued_id.clone();
        self.write(Durability::Process, move |connection| remove(connection, &queued_id)).await
    }

    /// Returns the sessions that have waiting messages, in the order in which they were made.
    pub async fn sessions_with_messages(&self) -> Result<Vec<SessionId>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT session_id FROM sessions WHERE key IN (SELECT session FROM queue) ORDER BY key",
            )?;
            let sessions = statement
                .query_map([], |row| Ok(SessionId::new(row.get::<_, String>(0)?)))?
                .collect::<Result<_, _>>()?;
            Ok(sessions)
        })
        .await
    }

    /// Returns a session's waiting messages, the next one first.
    pub async fn messages(&self, session_id: &SessionId) -> Result<Vec<StoredMessage>, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            let mut statement = connection.prepare_cached(
                "SELECT queued_id, turn_id, params, queued_at FROM queue WHERE session = ?1 ORDER BY position",
            )?;
            let messages = statement.query_map([key], message)?.collect::<Result<_, _>>()?;
            Ok(messages)
        })
        .await
    }
}

/// Adds a message at the end, with what it changes of its session.
pub(super) fn push(connection: &Connection, accepted: &Accepted) -> Result<(), StoreError> {
    note(connection, accepted)?;
    let key = sessions::key(connection, &accepted.session_id)?;
    insert_one(connection, key, &accepted.message).map(drop)
}

/// Writes messages that nobody has taken yet.
pub(super) fn insert(connection: &Connection, messages: &[&Accepted]) -> Result<(), StoreError> {
    for Accepted { session_id, message, .. } in messages {
        match sessions::key(connection, session_id).optional()? {
            Some(key) => drop(insert_one(connection, key, message)?),
            None => tracing::debug!(session = %session_id, "it is deleted, and a message to it with it"),
        }
    }
    Ok(())
}

/// Tells whether it was not there before.
fn insert_one(connection: &Connection, key: i64, message: &StoredMessage) -> Result<bool, StoreError> {
    let n_inserted = connection
        .prepare_cached(
            "INSERT INTO queue (session, position, queued_id, turn_id, params, queued_at) VALUES (?1, \
             (SELECT coalesce(max(position), 0) + 1 FROM queue WHERE session = ?1), ?2, ?3, ?4, ?5) \
             ON CONFLICT (queued_id) DO NOTHING",
        )?
        .execute(params![
            key,
            message.queued_id.as_str(),
            message.turn_id.as_str(),
            to_json(&message.params),
            message.queued_at,
        ])?;
    Ok(n_inserted > 0)
}

/// Writes what a message changes of its session.
pub(super) fn note(connection: &Connection, accepted: &Accepted) -> Result<(), StoreError> {
    let Some(SessionNote { title, last_activity }) = accepted.note.clone() else { return Ok(()) };
    let change =
        SessionChange { title: Some(title), last_activity: Some(last_activity), ..SessionChange::default() };
    sessions::write_change(connection, &accepted.session_id, &change)
}

/// Writes messages that an earlier server had accepted, unless the database has them.
pub(super) fn take_over(connection: &Connection, messages: &[Accepted]) -> Result<(), StoreError> {
    for accepted in messages {
        let Some(key) = sessions::key(connection, &accepted.session_id).optional()? else { continue };
        if insert_one(connection, key, &accepted.message)? {
            note(connection, accepted)?;
        }
    }
    Ok(())
}

pub(super) fn remove(connection: &Connection, queued_id: &QueuedId) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM queue WHERE queued_id = ?1")?.execute([queued_id.as_str()])?;
    Ok(())
}

fn message(row: &Row<'_>) -> Result<StoredMessage, rusqlite::Error> {
    Ok(StoredMessage {
        queued_id: QueuedId::new(row.get::<_, String>(0)?),
        turn_id: TurnId::new(row.get::<_, String>(1)?),
        params: from_json(2, &row.get::<_, String>(2)?)?,
        queued_at: row.get(3)?,
    })
}
