//! What the journal has of a conversation, to be compared with an agent's own history.

use std::collections::HashSet;

use chartroom_protocol::ids::{ItemId, SessionId, TurnId};

use super::journal::seq_column;
use super::{Durability, Store, StoreError, sessions};
use crate::provider::SaidTurn;

/// The items of a session by their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownItems {
    /// The items that the journal has.
    pub item_ids: HashSet<String>,
    /// The turns that were begun here, in order, with what the person said.
    pub begun_here: Vec<(TurnId, String)>,
}

impl Store {
    /// Returns the ids of all items and the messages that were sent from here before a row.
    pub async fn known_items(&self, session_id: &SessionId, before: u64) -> Result<KnownItems, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            // The index has the ids; only what was said here is read from the rows.
            let item_ids = connection
                .prepare_cached(
                    "SELECT DISTINCT item_id FROM journal WHERE session = ?1 AND item_id IS NOT NULL",
                )?
                .query_map([key], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let begun_here = connection
                .prepare_cached(
                    "SELECT json_extract(json, '$.turnId'), json_extract(json, '$.content') FROM journal \
                     WHERE session = ?1 AND seq < ?2 AND item_id LIKE '%:user' ORDER BY seq",
                )?
                .query_map(rusqlite::params![key, seq_column(before)], |row| {
                    Ok((TurnId(row.get(0)?), row.get(1)?))
                })?
                .collect::<Result<_, _>>()?;
            Ok(KnownItems { item_ids, begun_here })
        })
        .await
    }

    /// Forgets an item, so that it comes after the others when it is appended again.
    pub async fn forget_item(&self, session_id: &SessionId, item_id: &ItemId) -> Result<(), StoreError> {
        let (session_id, item_id) = (session_id.clone(), item_id.clone());
        self.write(Durability::Process, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            connection
                .prepare_cached("DELETE FROM journal WHERE session = ?1 AND item_id = ?2")?
                .execute(rusqlite::params![key, item_id.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Returns the turns that a person began before a row, in order, each with the agent's last words.
    pub async fn said_turns(&self, session_id: &SessionId, before: u64) -> Result<Vec<SaidTurn>, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            let mut statement = connection.prepare_cached(
                "SELECT json_extract(json, '$.turnId'), json_extract(json, '$.origin'), \
                 json_extract(json, '$.content') FROM journal \
                 WHERE session = ?1 AND seq < ?2 AND kind = 'upsert' AND json_extract(json, '$.type') = 'message' \
                 AND json_extract(json, '$.parentCallId') IS NULL \
                 AND NOT EXISTS (SELECT 1 FROM journal AS later WHERE later.session = journal.session \
                 AND later.item_id = journal.item_id AND later.seq > journal.seq) ORDER BY first_seq",
            )?;
            let mut turns: Vec<SaidTurn> = Vec::new();
            let mut found = statement.query(rusqlite::params![key, seq_column(before)])?;
            while let Some(row) = found.next()? {
                let content: String = row.get(2)?;
                match (row.get_ref(1)?.as_str(), turns.last_mut()) {
                    (Ok("user"), _) => turns.push(SaidTurn {
                        turn_id: TurnId(row.get(0)?),
                        message: content,
                        answer: String::new(),
                    }),
                    (Ok("agent"), Some(turn)) => turn.answer = content,
                    _ => {}
                }
            }
            Ok(turns)
        })
        .await
    }
}
