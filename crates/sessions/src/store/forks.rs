//! A session that begins with the conversation of another one.

use chartroom_protocol::ids::{SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Durability, Store, StoreError, StoredSession, sessions};

/// The rows of a turn lie together: what came before its first one was said before it.
const FIRST_OF_TURN: &str =
    "SELECT min(first_seq) FROM journal WHERE session = ?1 AND json_extract(json, '$.turnId') = ?2";
const COPY: &str = "
    INSERT INTO journal (session, seq, first_seq, kind, item_id, at, json, used)
    SELECT ?2, seq, first_seq, kind, item_id, at, json_set(json, '$.sessionId', ?3), used
    FROM journal WHERE session = ?1 AND first_seq < ?4 AND seq < ?4";
const NEXT_TURN: &str = "
    SELECT json_extract(json, '$.turnId') FROM journal
    WHERE session = ?1 AND json_extract(json, '$.turnId') <> ?2 AND first_seq >
        (SELECT max(seq) FROM journal WHERE session = ?1 AND json_extract(json, '$.turnId') = ?2)
    ORDER BY first_seq LIMIT 1";

impl Store {
    /// Keeps a new session with all that was said in another one before a turn, or with all of it. Tells whether the
    /// turn was there; if not, nothing is kept. It is on the disk when this returns.
    pub async fn fork_session(
        &self,
        from: &SessionId,
        before: Option<&TurnId>,
        session: StoredSession,
    ) -> Result<bool, StoreError> {
        let (from, before) = (from.clone(), before.cloned());
        self.write(Durability::Disk, move |connection| {
            let source = sessions::key(connection, &from)?;
            let Some(end) = end(connection, source, before.as_ref())? else { return Ok(false) };
            sessions::insert(connection, &session)?;
            let key = sessions::key(connection, &session.session_id)?;
            connection.prepare_cached(COPY)?.execute(params![
                source,
                key,
                session.session_id.as_str(),
                end
            ])?;
            Ok(true)
        })
        .await
    }

    /// Returns the place at which a turn begins, if the session has it.
    pub async fn turn_begins(
        &self,
        session_id: &SessionId,
        turn_id: &TurnId,
    ) -> Result<Option<u64>, StoreError> {
        let (session_id, turn_id) = (session_id.clone(), turn_id.clone());
        let first = self
            .read(move |connection| end(connection, sessions::key(connection, &session_id)?, Some(&turn_id)))
            .await?;
        Ok(first.and_then(|first| u64::try_from(first).ok()))
    }

    /// Returns the turn that came after another one, if there is one.
    pub async fn turn_after(
        &self,
        session_id: &SessionId,
        turn_id: &TurnId,
    ) -> Result<Option<TurnId>, StoreError> {
        let (session_id, turn_id) = (session_id.clone(), turn_id.clone());
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            let next = connection
                .prepare_cached(NEXT_TURN)?
                .query_row(params![key, turn_id.as_str()], |row| row.get::<_, String>(0))
                .optional()?;
            Ok(next.map(TurnId::new))
        })
        .await
    }
}

/// The row before which the copy ends.
fn end(connection: &Connection, source: i64, before: Option<&TurnId>) -> Result<Option<i64>, StoreError> {
    let Some(before) = before else { return Ok(Some(i64::MAX)) };
    let first = connection
        .prepare_cached(FIRST_OF_TURN)?
        .query_row(params![source, before.as_str()], |row| row.get(0))?;
    Ok(first)
}
