//! Deleting for good: all that was kept of a session goes in one transaction, and the file gives the room back.
//!
//! Only the id stays, ours and the agent's own: the agent keeps its files, and discovery must not bring back what a
//! person deleted.

use std::collections::HashSet;

use chartroom_protocol::ids::{ProjectId, SessionId};
use rusqlite::{Connection, OptionalExtension};

use super::{Durability, Store, StoreError, sessions};
use crate::provider::AGENTS_ID;

impl Store {
    /// Deletes a session: its journal, its queue, its questions and what was noted about it. One that is not kept here is only remembered as
    /// deleted. It is on the disk when this returns.
    pub async fn delete_session(&self, session_id: &SessionId) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Disk, move |connection| delete(connection, &session_id)).await?;
        self.inner.writer.give_room_back();
        Ok(())
    }

    /// Deletes a project with all its sessions, and tells whether it was there. It is on the disk when this returns.
    pub async fn delete_project(&self, project_id: &ProjectId) -> Result<bool, StoreError> {
        let project_id = project_id.clone();
        let was_there = self
            .write(Durability::Disk, move |connection| {
                let sessions: Vec<String> = connection
                    .prepare_cached("SELECT session_id FROM sessions WHERE project_id = ?1")?
                    .query_map([project_id.as_str()], |row| row.get(0))?
                    .collect::<Result<_, _>>()?;
                for session_id in sessions {
                    delete(connection, &SessionId::new(session_id))?;
                }
                let n_deleted = connection
                    .prepare_cached("DELETE FROM projects WHERE project_id = ?1")?
                    .execute([project_id.as_str()])?;
                Ok(n_deleted == 1)
            })
            .await?;
        self.inner.writer.give_room_back();
        Ok(was_there)
    }

    /// Returns which of these sessions were deleted.
    pub async fn deleted_among(&self, ids: Vec<SessionId>) -> Result<HashSet<SessionId>, StoreError> {
        if ids.is_empty() {
            return Ok(HashSet::new());
        }
        self.read(move |connection| {
            let mut statement = connection.prepare_cached("SELECT 1 FROM deleted WHERE session_id = ?1")?;
            let mut deleted = HashSet::new();
            for session_id in ids {
                if statement.exists([session_id.as_str()])? {
                    deleted.insert(session_id);
                }
            }
            Ok(deleted)
        })
        .await
    }
}

fn delete(connection: &Connection, session_id: &SessionId) -> Result<(), StoreError> {
    let agents_id: Option<Option<String>> = connection
        .prepare_cached(
            "SELECT json_extract(provider_options, '$.' || ?2) FROM sessions WHERE session_id = ?1",
        )?
        .query_row([session_id.as_str(), AGENTS_ID], |row| row.get(0))
        .optional()?;
    let ids = [Some(session_id.as_str().to_owned()), agents_id.flatten()];
    for id in ids.into_iter().flatten() {
        connection.prepare_cached("INSERT OR IGNORE INTO deleted (session_id) VALUES (?1)")?.execute([id])?;
    }
    if let Some(key) = sessions::key(connection, session_id).optional()? {
        for table in ["journal", "queue", "questions", "comments", "viewed"] {
            connection.prepare_cached(&format!("DELETE FROM {table} WHERE session = ?1"))?.execute([key])?;
        }
        connection.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key])?;
    }
    Ok(())
}
