//! How rows of the journal get into the database.

use std::collections::BTreeMap;

use chartroom_protocol::ids::{ItemId, SessionId};
use chartroom_protocol::turn::TurnEvent;
use rusqlite::{Connection, OptionalExtension, params};

use super::journal::{NewRow, RowKind, last_seq, seq_column};
use super::{StoreError, from_json, sessions, to_json, usage};
use crate::hash::HashMap;

pub(super) const KNOWN: &str =
    "SELECT min(first_seq), max(seq) FROM journal WHERE session = ?1 AND item_id = ?2";
pub(super) const REPLACE: &str =
    "UPDATE journal SET seq = ?3, at = ?4, json = ?5 WHERE session = ?1 AND seq = ?2";

/// Rows that a session said at once, in the order of their seq.
pub(super) struct Batch {
    pub(super) session_id: SessionId,
    pub(super) rows: Vec<NewRow>,
}

impl Batch {
    pub(super) fn n_bytes(&self) -> usize {
        self.rows.iter().map(|row| row.json.len()).sum()
    }
}

/// Writes batches of any sessions. Fails only if the transaction cannot go on.
pub(super) fn write(connection: &Connection, batches: &[&Batch]) -> Result<(), StoreError> {
    let mut places: HashMap<&SessionId, usize> = HashMap::default();
    let mut sessions: Vec<(&SessionId, Vec<&NewRow>)> = Vec::new();
    for batch in batches {
        let place = *places.entry(&batch.session_id).or_insert_with(|| {
            sessions.push((&batch.session_id, Vec::new()));
            sessions.len() - 1
        });
        sessions[place].1.extend(&batch.rows);
    }
    for (session_id, rows) in sessions {
        match sessions::key(connection, session_id).optional()? {
            Some(key) => write_session(connection, key, &rows)?,
            None => tracing::debug!(session = %session_id, "it is deleted, and what it said with it"),
        }
    }
    Ok(())
}

/// Writes rows that were kept by an earlier server, each session's in the order of their seq, unless the database has them. One
/// that does not follow what is there is left out: a power cut lost what was before it, and a reader must not take it for
/// the whole.
pub(super) fn take_over(connection: &Connection, kept: &[(SessionId, NewRow)]) -> Result<(), StoreError> {
    let mut sessions: BTreeMap<&SessionId, Vec<&NewRow>> = BTreeMap::new();
    for (session_id, row) in kept {
        sessions.entry(session_id).or_default().push(row);
    }
    for (session_id, mut rows) in sessions {
        let Some(key) = sessions::key(connection, session_id).optional()? else { continue };
        let mut last_seq = last_seq(connection, key)?;
        rows.retain(|row| {
            let follows = row.seq == last_seq + 1;
            if follows {
                last_seq = row.seq;
            } else if row.seq > last_seq {
                tracing::warn!(session = %session_id, seq = row.seq, last_seq, "a kept row follows nothing and is dropped");
            }
            follows
        });
        write_session(connection, key, &rows)?;
    }
    Ok(())
}

/// Of each item at most two rows are kept: the first, which holds its place, and the last, which holds its content. Where
/// nothing else came between the two, the last alone says both, and half as many rows are written.
fn write_session(connection: &Connection, key: i64, rows: &[&NewRow]) -> Result<(), StoreError> {
    let items = items(rows);
    for (index, row) in rows.iter().enumerate() {
        let written = match &row.kind {
            RowKind::Turn => write_turn(connection, key, row),
            RowKind::Upsert(item_id) => match items.get(item_id) {
                Some(item) if item.last == index => write_item(connection, key, item_id, item, row),
                Some(_) | None => continue,
            },
        };
        match written {
            Err(StoreError::Database(error))
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
            {
                // It would fail for ever, and keep every other session's rows from the database.
                tracing::error!(seq = row.seq, "a row was numbered twice and is dropped: {error}");
            }
            written => written?,
        }
    }
    Ok(())
}

/// What rows that are written together say of one item.
struct Written<'a> {
    first: &'a NewRow,
    /// Where its last row is among them.
    last: usize,
    /// How many items and turns had been told of up to its first row.
    n_before: usize,
    /// Another item or a turn came between its first row and its last.
    is_crossed: bool,
}

fn items<'a>(rows: &[&'a NewRow]) -> HashMap<&'a ItemId, Written<'a>> {
    let mut items: HashMap<&ItemId, Written<'_>> = HashMap::default();
    let mut n_told = 0;
    for (index, row) in rows.iter().copied().enumerate() {
        let RowKind::Upsert(item_id) = &row.kind else {
            n_told += 1;
            continue;
        };
        let item = items.entry(item_id).or_insert_with(|| {
            n_told += 1;
            Written { first: row, last: index, n_before: n_told, is_crossed: false }
        });
        item.last = index;
        item.is_crossed = n_told > item.n_before;
    }
    items
}

fn write_item(
    connection: &Connection,
    key: i64,
    item_id: &ItemId,
    item: &Written<'_>,
    last: &NewRow,
) -> Result<(), StoreError> {
    let known: (Option<i64>, Option<i64>) = connection
        .prepare_cached(KNOWN)?
        .query_row(params![key, item_id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let insert = |row: &NewRow, place: i64| {
        connection
            .prepare_cached(
                "INSERT INTO journal (session, seq, first_seq, kind, item_id, at, json) \
                 VALUES (?1, ?2, ?3, 'upsert', ?4, ?5, ?6)",
            )?
            .execute(params![key, seq_column(row.seq), place, item_id.as_str(), row.at, &*row.json])
            .map(drop)
    };
    match known {
        (Some(place), Some(newest)) if newest > place => {
            connection.prepare_cached(REPLACE)?.execute(params![
                key,
                newest,
                seq_column(last.seq),
                last.at,
                &*last.json
            ])?;
        }
        (Some(place), Some(_)) => insert(last, place)?,
        (None, _) | (_, None) => {
            let place = seq_column(item.first.seq);
            if item.is_crossed {
                insert(item.first, place)?;
            }
            insert(last, place)?;
        }
    }
    Ok(())
}

/// Beside each turn's end stands what all turns up to it used, so that a page of history need not add it up.
fn write_turn(connection: &Connection, key: i64, row: &NewRow) -> Result<(), StoreError> {
    let used = usage::before(connection, key, row.seq)?;
    let used = match from_json(0, &row.json)? {
        TurnEvent::TurnComplete { usage: Some(usage), .. } => Some(usage::sum(used, usage)),
        TurnEvent::TurnComplete { .. } | TurnEvent::TurnStarted { .. } | TurnEvent::TurnError { .. } => used,
    };
    connection
        .prepare_cached(
            "INSERT INTO journal (session, seq, first_seq, kind, item_id, at, json, used) \
             VALUES (?1, ?2, ?2, 'turn', NULL, ?3, ?4, ?5)",
        )?
        .execute(params![key, seq_column(row.seq), row.at, &*row.json, used.as_ref().map(to_json)])?;
    Ok(())
}
