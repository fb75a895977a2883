//! The journal: what each session said, under a sequence number per session.
//!
//! Only the state matters to a reader, so of each item at most two rows are kept while its turn runs: the first,
//! which holds its place in the conversation, and the last, which holds its content. When the turn has ended the
//! first goes too. A reader that was away takes the rows after the last seq it has; where the missing first rows
//! would put new items in another order than the conversation's, it takes the whole state instead.

use std::collections::HashSet;
use std::sync::Arc;

use chartroom_protocol::ids::{ItemId, SessionId, TurnId};
use chartroom_protocol::stream::{Origin, Usage};
use chartroom_protocol::turn::TurnEvent;
use chartroom_protocol::upsert::{Upsert, UpsertBody, UpsertStatus};
use rusqlite::{Connection, params};

use super::{Durability, Store, StoreError, from_json, sessions};

/// A page that would begin in the middle of a turn may become this many times as large to begin with its question.
const STRETCH: usize = 2;

/// A row to be appended. The JSON is made once and goes to the readers as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRow {
    pub seq: u64,
    pub kind: RowKind,
    /// ISO 8601 UTC.
    pub at: String,
    pub json: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowKind {
    Upsert(ItemId),
    Turn,
}

/// A row as a reader takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    pub seq: u64,
    pub is_turn: bool,
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
    pub seq: u64,
    /// The last upsert of each item, in the order the items appeared.
    pub entries: Vec<String>,
    pub turns: Vec<String>,
    /// The place before which there is more, if there is.
    pub earlier: Option<u64>,
    /// What the turns before that place used, if they used anything.
    pub earlier_usage: Option<Usage>,
}

/// What a dead process left open.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OpenState {
    pub last_seq: u64,
    /// Turns that began and have no end.
    pub turns: Vec<TurnEvent>,
    /// Every turn that ended, and of the last ones those in which the agent said something.
    pub taken: HashSet<TurnId>,
    /// Turns whose user message is shown, among the last ones.
    pub said: HashSet<TurnId>,
    /// Whether the agent ever ended a turn, or came with a history: it has kept the conversation.
    pub kept: bool,
    /// Items of those turns that were being written, at their last state.
    pub items: Vec<Upsert>,
}

impl Store {
    /// Appends rows in the order of their seq, and forgets what lies between an item's first row and this one.
    pub async fn append(&self, session_id: &SessionId, rows: Vec<NewRow>) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Process, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            for row in &rows {
                append(connection, key, row)?;
            }
            Ok(())
        })
        .await
    }

    /// Forgets the first rows of items that have later ones, from `since` on: their turn has ended.
    pub async fn compact(&self, session_id: &SessionId, since: u64) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Process, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            connection
                .prepare_cached(
                    "DELETE FROM journal WHERE session = ?1 AND seq >= ?2 AND item_id IS NOT NULL AND EXISTS \
                     (SELECT 1 FROM journal AS later WHERE later.session = journal.session \
                      AND later.item_id = journal.item_id AND later.seq > journal.seq)",
                )?
                .execute(params![key, seq_column(since)])?;
            Ok(())
        })
        .await
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

fn append(connection: &Connection, key: i64, row: &NewRow) -> Result<(), StoreError> {
    let seq = seq_column(row.seq);
    match &row.kind {
        RowKind::Turn => {
            connection
                .prepare_cached(
                    "INSERT INTO journal (session, seq, first_seq, kind, item_id, at, json) \
                     VALUES (?1, ?2, ?2, 'turn', NULL, ?3, ?4)",
                )?
                .execute(params![key, seq, row.at, &*row.json])?;
        }
        RowKind::Upsert(item_id) => {
            connection
                .prepare_cached(
                    "INSERT INTO journal (session, seq, first_seq, kind, item_id, at, json) VALUES (?1, ?2, \
                     coalesce((SELECT min(first_seq) FROM journal WHERE session = ?1 AND item_id = ?3), ?2), \
                     'upsert', ?3, ?4, ?5)",
                )?
                .execute(params![key, seq, item_id.as_str(), row.at, &*row.json])?;
            connection
                .prepare_cached(
                    "DELETE FROM journal WHERE session = ?1 AND item_id = ?3 AND seq > first_seq AND seq < ?2",
                )?
                .execute(params![key, seq, item_id.as_str()])?;
        }
    }
    Ok(())
}

fn backlog(connection: &Connection, key: i64, after: u64) -> Result<Backlog, StoreError> {
    if after > last_seq(connection, key)? {
        // The reader knows more than we do: this is not the journal it read.
        return Ok(Backlog::Gone);
    }
    let mut statement = connection.prepare_cached(
        "SELECT seq, first_seq, kind, json FROM journal WHERE session = ?1 AND seq > ?2 ORDER BY seq",
    )?;
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
    // Only places are sorted: what is said there is read as far as the page goes.
    let mut statement = connection.prepare_cached(
        "SELECT first_seq, rowid FROM journal WHERE session = ?1 AND kind = 'upsert' AND first_seq < ?2 \
         AND NOT EXISTS (SELECT 1 FROM journal AS later WHERE later.session = journal.session \
         AND later.item_id = journal.item_id AND later.seq > journal.seq) ORDER BY first_seq DESC",
    )?;
    let mut found = statement.query(params![key, before_column])?;
    let mut content = connection.prepare_cached(
        "SELECT json, json_extract(json, '$.origin') IS 'user' \
         AND json_extract(json, '$.parentCallId') IS NULL FROM journal WHERE rowid = ?1",
    )?;
    let mut n_bytes: usize = 0;
    // The oldest so far: its place, and whether a person said it.
    let mut oldest: Option<(u64, bool)> = None;
    while let Some(row) = found.next()? {
        let (json, is_question): (String, bool) =
            content.query_row([row.get::<_, i64>(1)?], |row| Ok((row.get(0)?, row.get(1)?)))?;
        n_bytes = n_bytes.saturating_add(json.len());
        if let Some((place, by_user)) = oldest
            && n_bytes > max_bytes
            && (by_user || n_bytes > max_bytes.saturating_mul(STRETCH))
        {
            page.earlier = Some(place);
            break;
        }
        oldest = Some((seq_value(row.get(0)?), is_question));
        page.entries.push(json);
    }
    page.entries.reverse();
    if let Some(place) = page.earlier {
        page.earlier_usage = usage_before(connection, key, place)?;
    }
    let from = page.earlier.map_or(0, seq_column);
    let mut statement = connection.prepare_cached(
        "SELECT json FROM journal WHERE session = ?1 AND kind = 'turn' AND seq >= ?2 AND seq < ?3 ORDER BY seq",
    )?;
    page.turns = statement
        .query_map(params![key, from, before_column], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(page)
}

/// Adds up what the turns before a place used.
fn usage_before(connection: &Connection, key: i64, place: u64) -> Result<Option<Usage>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT json FROM journal WHERE session = ?1 AND kind = 'turn' AND seq < ?2 ORDER BY seq",
    )?;
    let mut found = statement.query(params![key, seq_column(place)])?;
    let mut sum: Option<Usage> = None;
    while let Some(row) = found.next()? {
        let event: TurnEvent = from_json(0, row.get_ref(0)?.as_str().unwrap_or_default())?;
        let TurnEvent::TurnComplete { usage: Some(usage), .. } = event else { continue };
        let sum = sum.get_or_insert_default();
        sum.input_tokens += usage.input_tokens;
        sum.output_tokens += usage.output_tokens;
        add(&mut sum.cache_read_input_tokens, usage.cache_read_input_tokens);
        add(&mut sum.cache_creation_input_tokens, usage.cache_creation_input_tokens);
        add(&mut sum.cost_usd, usage.cost_usd);
    }
    Ok(sum)
}

/// Adds what is told; a sum of nothing told stays untold.
fn add<T: std::ops::Add<Output = T> + Default>(sum: &mut Option<T>, more: Option<T>) {
    if let Some(more) = more {
        *sum = Some(sum.take().unwrap_or_default() + more);
    }
}

fn open_state(connection: &Connection, key: i64) -> Result<OpenState, StoreError> {
    let mut state = OpenState { last_seq: last_seq(connection, key)?, ..OpenState::default() };
    let mut statement = connection
        .prepare_cached("SELECT json FROM journal WHERE session = ?1 AND kind = 'turn' ORDER BY seq")?;
    let mut found = statement.query([key])?;
    while let Some(row) = found.next()? {
        let event: TurnEvent = from_json(0, row.get_ref(0)?.as_str().unwrap_or_default())?;
        state.kept |= event.is_answered();
        if event.is_terminal() {
            state.taken.insert(event.turn_id().clone());
            state.turns.retain(|open| open.turn_id() != event.turn_id());
        } else {
            state.turns.push(event);
        }
    }
    let mut statement = connection.prepare_cached(
        "SELECT json FROM journal WHERE session = ?1 AND kind = 'upsert' ORDER BY seq DESC LIMIT 1000",
    )?;
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

fn last_seq(connection: &Connection, key: i64) -> Result<u64, rusqlite::Error> {
    connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM journal WHERE session = ?1")?
        .query_row([key], |row| row.get(0))
        .map(seq_value)
}

/// SQLite's integers are signed; a seq that counts from one never gets near the end of either.
fn seq_column(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

fn seq_value(column: i64) -> u64 {
    u64::try_from(column).unwrap_or(0)
}
