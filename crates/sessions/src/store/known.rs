//! What the journal has of a conversation, to be compared with an agent's own history.

use std::borrow::Cow;
use std::collections::HashSet;

use chartroom_protocol::ids::{ItemId, SessionId, TurnId};
use serde::Deserialize;
use serde::de::IgnoredAny;

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
                    Ok((TurnId::new(row.get::<_, String>(0)?), row.get(1)?))
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
            // What a row says is read here: SQLite would read the whole text anew for each question about it.
            let mut statement = connection.prepare_cached(
                "SELECT json FROM journal WHERE session = ?1 AND seq < ?2 AND kind = 'upsert' \
                 AND NOT EXISTS (SELECT 1 FROM journal AS later WHERE later.session = journal.session \
                 AND later.item_id = journal.item_id AND later.seq > journal.seq) ORDER BY first_seq",
            )?;
            let mut turns: Vec<SaidTurn> = Vec::new();
            let mut found = statement.query(rusqlite::params![key, seq_column(before)])?;
            while let Some(row) = found.next()? {
                let Some(said) = Said::read(row.get_ref(0)?.as_str().unwrap_or_default()) else { continue };
                match (&*said.origin, turns.last_mut()) {
                    ("user", _) => turns.push(SaidTurn {
                        turn_id: TurnId::new(said.turn_id.into_owned()),
                        message: said.content.into_owned(),
                        answer: String::new(),
                    }),
                    ("agent", Some(turn)) => turn.answer = said.content.into_owned(),
                    _ => {}
                }
            }
            Ok(turns)
        })
        .await
    }
}

/// What somebody said in a conversation.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Said<'a> {
    #[serde(borrow)]
    turn_id: Cow<'a, str>,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    origin: Cow<'a, str>,
    #[serde(default, borrow)]
    content: Cow<'a, str>,
    parent_call_id: Option<IgnoredAny>,
}

impl<'a> Said<'a> {
    /// Reads a row of the journal; `None` when it is no message, or a subagent's.
    fn read(json: &'a str) -> Option<Self> {
        let said: Self = serde_json::from_str(json).ok()?;
        (said.kind == "message" && said.parent_call_id.is_none()).then_some(said)
    }
}
