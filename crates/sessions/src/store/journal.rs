//! The journal: what each session said, under a sequence number per session.
//!
//! A row is kept, then shown. Kept means that it survives the death of this process: it is in the tail (see
//! [`tail`](super::tail)) or in the database, which takes the tail's rows over every six seconds. A reader of the
//! database waits until it has everything that was kept before, so the two are one journal to it; a server that was
//! killed takes the tail over before anything else. So a reader that saw a row finds it, or a later state of its item,
//! after every death of ours.
//!
//! Only the state matters to a reader, so of each item at most two rows are kept while its turn runs: the first,
//! which holds its place in the conversation, and the last, which holds its content. When the turn has ended the
//! first goes too. A reader that was away takes the rows after the last seq it has; where the missing first rows
//! would put new items in another order than the conversation's, it takes the whole state instead.

use std::collections::HashSet;

use chartroom_protocol::ids::{ItemId, SessionId, TurnId};
use chartroom_protocol::stream::{Origin, Usage};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use rusqlite::{Connection, OptionalExtension, params};

use super::{Payload, Store, StoreError, from_json, sessions, usage};

/// A page that would begin in the middle of a turn may become this many times as large to begin with its question.
const STRETCH: usize = 2;

const COMPACT: &str = "DELETE FROM journal WHERE session = ?1 AND first_seq >= ?2 AND seq = first_seq \
                     AND kind = 'upsert' AND EXISTS (SELECT 1 FROM journal AS later \
                     WHERE later.session = ?1 AND later.kind = 'upsert' \
                     AND later.first_seq = journal.first_seq AND later.seq > journal.seq)";
const AFTER: &str =
    "SELECT seq, first_seq, kind, json FROM journal WHERE session = ?1 AND seq > ?2 ORDER BY seq";
const ITEMS_BEFORE: &str = "SELECT first_seq, json FROM journal WHERE session = ?1 AND kind = 'upsert' AND first_seq < ?2 \
         ORDER BY first_seq DESC, seq DESC";
const TURNS_BETWEEN: &str =
    "SELECT json FROM journal WHERE session = ?1 AND kind = 'turn' AND seq >= ?2 AND seq < ?3 ORDER BY seq";
const ANSWERED: &str = "SELECT 1 FROM journal WHERE session = ?1 AND kind = 'turn' \
             AND json_extract(json, '$.type') = 'turn_complete' \
             AND json_extract(json, '$.status') = 'completed' ORDER BY seq LIMIT 1";
const LAST_TURNS: &str = "SELECT json FROM (SELECT seq, json FROM journal WHERE session = ?1 AND kind = 'turn' \
         ORDER BY seq DESC LIMIT 1000) ORDER BY seq";
const LAST_ITEMS: &str =
    "SELECT json FROM journal WHERE session = ?1 AND kind = 'upsert' ORDER BY seq DESC LIMIT 1000";
const LAST_SEQ: &str = "SELECT coalesce(max(seq), 0) FROM journal WHERE session = ?1";

/// All of them, for the test that looks at their plans.
#[cfg(test)]
pub(super) const STATEMENTS: [&str; 8] =
    [COMPACT, AFTER, ITEMS_BEFORE, TURNS_BETWEEN, ANSWERED, LAST_TURNS, LAST_ITEMS, LAST_SEQ];

/// A row to be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    /// The place in the session's sequence.
    pub seq: u64,
    /// What the row is about.
    pub kind: RowKind,
    /// ISO 8601 UTC.
    pub at: String,
    /// The payload as it goes over the socket.
    pub json: Payload,
}

/// What a journal row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKind {
    /// A state of this item.
    Upsert(ItemId),
    /// A turn's begin or end.
    Turn,
}

/// A row as a reader takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// The place in the session's sequence.
    pub seq: u64,
    /// Whether it is a turn's begin or end.
    pub is_turn: bool,
    /// The payload as it was written.
    pub json: String,
}

/// What a reader that was away is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backlog {
    /// These, in order.
    Rows(Vec<JournalRow>),
    /// Rows would not do; take the whole state.
    Gone,
}

/// The whole state up to `seq`, as JSON texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryPage {
    /// The last place that is contained.
    pub seq: u64,
    /// The last upsert of each item, in the order the items appeared.
    pub entries: Vec<String>,
    /// The turn events of the page, in order.
    pub turns: Vec<String>,
    /// The place before which there is more, if there is.
    pub earlier: Option<u64>,
    /// What the turns before that place used, if they used anything.
    pub earlier_usage: Option<Usage>,
}

/// What a dead process left open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenState {
    /// The last place that was given out.
    pub last_seq: u64,
    /// Turns that began and have no end.
    pub turns: Vec<TurnEvent>,
    /// Among the last turns, those that ended and those in which the agent said something.
    pub taken: HashSet<TurnId>,
    /// Turns whose user message is shown, among the last ones.
    pub said: HashSet<TurnId>,
    /// Whether the agent ever ended a turn, or came with a history: it has kept the conversation.
    pub kept: bool,
    /// Items of those turns that were being written, at their last state.
    pub items: Vec<Upsert>,
}

impl Store {
    /// Appends rows in the order of their seq, and forgets what lies between an item's first row and this one. When this
    /// returns they survive the death of this process.
    pub async fn append(&self, session_id: &SessionId, rows: Vec<NewRow>) -> Result<(), StoreError> {
        self.inner.writer.append(session_id, rows).await
    }

    /// Forgets the first rows of items that have later ones, from `since` on: their turn has ended. It is done with the
    /// next commit; what a death leaves undone makes the journal longer than it need be, and nothing else.
    pub fn compact(&self, session_id: &SessionId, since: u64) {
        let session_id = session_id.clone();
        self.inner.writer.later(move |connection| {
            let Some(key) = sessions::key(connection, &session_id).optional()? else { return Ok(()) };
            connection.prepare_cached(COMPACT)?.execute(params![key, seq_column(since)])?;
            Ok(())
        });
    }

    /// Returns what a reader that has everything up to `after` is missing.
    pub async fn backlog(&self, session_id: &SessionId, after: u64) -> Result<Backlog, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| backlog(connection, sessions::key(connection, &session_id)?, after)).await
    }

    /// Returns the state: the newest items that fit into about `max_bytes` (at least one), before `before` if given.
    /// A page begins where a person spoke, if that is not far.
    pub async fn history(
        &self,
        session_id: &SessionId,
        before: Option<u64>,
        max_bytes: usize,
    ) -> Result<HistoryPage, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            history(connection, sessions::key(connection, &session_id)?, before, max_bytes)
        })
        .await
    }

    /// Returns what is open and where the journal ends.
    pub async fn open_state(&self, session_id: &SessionId) -> Result<OpenState, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| open_state(connection, sessions::key(connection, &session_id)?)).await
    }
}

fn backlog(connection: &Connection, key: i64, after: u64) -> Result<Backlog, StoreError> {
    if after > last_seq(connection, key)? {
        // The reader knows more than we do: this is not the journal it read.
        return Ok(Backlog::Gone);
    }
    let mut statement = connection.prepare_cached(AFTER)?;
    let mut found = statement.query(params![key, seq_column(after)])?;
    let mut rows: Vec<JournalRow> = Vec::new();
    let mut last_new_place = after;
    while let Some(row) = found.next()? {
        let seq = seq_value(row.get(0)?);
        let place = seq_value(row.get(1)?);
        let is_turn = row.get_ref(2)?.as_str().is_ok_and(|kind| kind == "turn");
        let appears_here = !is_turn
            && place > after
            && (place == seq || rows.binary_search_by_key(&place, |row| row.seq).is_err());
        if appears_here {
            if place < last_new_place {
                // Its first row is compacted away, and an item that belongs after it was sent before.
                return Ok(Backlog::Gone);
            }
            last_new_place = place;
        }
        rows.push(JournalRow { seq, is_turn, json: row.get(3)? });
    }
    Ok(Backlog::Rows(rows))
}

fn history(
    connection: &Connection,
    key: i64,
    before: Option<u64>,
    max_bytes: usize,
) -> Result<HistoryPage, StoreError> {
    let before_column = before.map_or(i64::MAX, seq_column);
    let mut page = HistoryPage { seq: last_seq(connection, key)?, ..HistoryPage::default() };
    // Of an item's rows the last comes first, and is the one that counts.
    let mut statement = connection.prepare_cached(ITEMS_BEFORE)?;
    let mut found = statement.query(params![key, before_column])?;
    let mut n_bytes: usize = 0;
    let mut oldest = None;
    while let Some(row) = found.next()? {
        let place = seq_value(row.get(0)?);
        if oldest == Some(place) {
            continue;
        }
        let json: String = row.get(1)?;
        n_bytes = n_bytes.saturating_add(json.len());
        if n_bytes > max_bytes
            && let Some(first) = page.entries.last()
            && (n_bytes > max_bytes.saturating_mul(STRETCH) || is_question(first))
        {
            page.earlier = oldest;
            break;
        }
        oldest = Some(place);
        page.entries.push(json);
    }
    page.entries.reverse();
    if let Some(place) = page.earlier {
        page.earlier_usage = usage::before(connection, key, place)?;
    }
    let from = page.earlier.map_or(0, seq_column);
    let mut statement = connection.prepare_cached(TURNS_BETWEEN)?;
    page.turns = statement
        .query_map(params![key, from, before_column], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(page)
}

/// Tells whether a person said it, and to the agent itself.
fn is_question(json: &str) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Speaker {
        origin: Option<Origin>,
        parent_call_id: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_str(json)
        .is_ok_and(|item: Speaker| item.origin == Some(Origin::User) && item.parent_call_id.is_none())
}

fn open_state(connection: &Connection, key: i64) -> Result<OpenState, StoreError> {
    let mut state = OpenState { last_seq: last_seq(connection, key)?, ..OpenState::default() };
    state.kept = connection.prepare_cached(ANSWERED)?.exists([key])?;
    // A turn is open only if it was when the last server died, and turns follow one another.
    let mut statement = connection.prepare_cached(LAST_TURNS)?;
    let mut found = statement.query([key])?;
    while let Some(row) = found.next()? {
        let event: TurnEvent = from_json(0, row.get_ref(0)?.as_str().unwrap_or_default())?;
        if event.is_terminal() {
            state.taken.insert(event.turn_id().clone());
            state.turns.retain(|open| open.turn_id() != event.turn_id());
        } else {
            state.turns.push(event);
        }
    }
    let mut statement = connection.prepare_cached(LAST_ITEMS)?;
    let mut seen = HashSet::new();
    let mut found = statement.query([key])?;
    while let Some(row) = found.next()? {
        let upsert: Upsert = from_json(0, row.get_ref(0)?.as_str().unwrap_or_default())?;
        if !seen.insert(upsert.item_id.clone()) {
            continue;
        }
        if let UpsertBody::Message { origin: Origin::User, .. } = &upsert.body {
            state.said.insert(upsert.turn_id.clone());
        } else {
            // What came from the agent's own history has no turns here.
            let is_ours = state.taken.contains(&upsert.turn_id)
                || state.turns.iter().any(|turn| *turn.turn_id() == upsert.turn_id);
            state.kept |= !is_ours;
            state.taken.insert(upsert.turn_id.clone());
        }
        if matches!(upsert.status, UpsertStatus::Create | UpsertStatus::Update)
            && state.turns.iter().any(|turn| *turn.turn_id() == upsert.turn_id)
        {
            state.items.push(upsert);
        }
    }
    state.items.reverse();
    Ok(state)
}

pub(super) fn last_seq(connection: &Connection, key: i64) -> Result<u64, rusqlite::Error> {
    connection.prepare_cached(LAST_SEQ)?.query_row([key], |row| row.get(0)).map(seq_value)
}

/// SQLite's integers are signed; a seq that counts from one never gets near the end of either.
pub(super) fn seq_column(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn seq_value(column: i64) -> u64 {
    u64::try_from(column).unwrap_or(0)
}
