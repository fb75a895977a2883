//! How rows of the journal get into the database.

use std::collections::HashMap;

use chartroom_protocol::ids::{ItemId, SessionId};
use chartroom_protocol::turn::TurnEvent;
use rusqlite::{Connection, OptionalExtension, params};

use super::journal::{NewRow, RowKind, last_seq, seq_column};
use super::{StoreError, from_json, sessions, to_json, usage};

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
    let mut places: HashMap<&SessionId, usize> = HashMap::new();
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

/// Writes a row that was kept by an earlier server, unless the database has it. One that does not follow what the database
/// has is left out: a power cut lost what was before it, and a reader must not take it for the whole.
pub(super) fn take_over(
    connection: &Connection,
    session_id: SessionId,
    row: NewRow,
) -> Result<(), StoreError> {
    let Some(key) = sessions::key(connection, &session_id).optional()? else { return Ok(()) };
    let last_seq = last_seq(connection, key)?;
    if row.seq == last_seq + 1 {
        write(connection, &[&Batch { session_id, rows: vec![row] }])?;
    } else if row.seq > last_seq {
        tracing::warn!(session = %session_id, seq = row.seq, last_seq, "a kept row follows nothing and is dropped");
    }
    Ok(())
}

/// Of each item at most two rows are kept: the first, which holds its place, and the last, which holds its content.
fn write_session(connection: &Connection, key: i64, rows: &[&NewRow]) -> Result<(), StoreError> {
    let mut last_of: HashMap<&ItemId, usize> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        if let RowKind::Upsert(item_id) = &row.kind {
            last_of.insert(item_id, index);
        }
    }
    let mut first_of: HashMap<&ItemId, &NewRow> = HashMap::new();
    for (index, row) in rows.iter().enumerate() {
        let written = match &row.kind {
            RowKind::Turn => write_turn(connection, key, row),
            RowKind::Upsert(item_id) => {
                let first = *first_of.entry(item_id).or_insert(row);
                if last_of.get(item_id) != Some(&index) {
                    continue;
                }
                write_item(connection, key, item_id, first, row)
            }
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

fn write_item(
    connection: &Connection,
    key: i64,
    item_id: &ItemId,
    first: &NewRow,
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
            let place = seq_column(first.seq);
            insert(first, place)?;
            if last.seq != first.seq {
                insert(last, place)?;
            }
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
