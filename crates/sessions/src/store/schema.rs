//! The tables, as a list of steps: step N takes a store of version N to N + 1.

use rusqlite::Connection;

use super::StoreError;

const STEPS: &[&str] = &[FIRST, PAGES, DELETED, HELD, REVIEW];

/// What a person noted beside the changes of a session.
const REVIEW: &str = "
    CREATE TABLE comments (
        session    INTEGER NOT NULL,
        comment_id TEXT NOT NULL,
        position   INTEGER NOT NULL,  -- the order in which they were begun
        json       TEXT NOT NULL,
        PRIMARY KEY (session, comment_id)
    ) WITHOUT ROWID;
    CREATE TABLE viewed (
        session INTEGER NOT NULL,
        path    TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (session, path)
    ) WITHOUT ROWID;
";

/// Whether a person has kept the queue of a session back.
const HELD: &str = "
    ALTER TABLE sessions ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
";

/// Sessions that were deleted for good, by our id and by the agent's own: its files may still be found.
const DELETED: &str = "
    CREATE TABLE deleted (session_id TEXT PRIMARY KEY) WITHOUT ROWID;
";

/// A page of history costs the page: items are read by their place, turns by their seq, and what turns used is added up
/// when they end.
const PAGES: &str = "
    DROP INDEX journal_by_item;
    CREATE INDEX journal_by_item ON journal (session, item_id) WHERE item_id IS NOT NULL;
    CREATE INDEX journal_by_place ON journal (session, first_seq, seq) WHERE kind = 'upsert';
    CREATE INDEX journal_turns ON journal (session, seq) WHERE kind = 'turn';
    ALTER TABLE journal ADD COLUMN used TEXT;  -- of a turn: what it and all before it used, as JSON
    UPDATE journal SET used = totals.used FROM (
        SELECT rowid AS row, CASE WHEN count(json_extract(json, '$.usage')) OVER upto > 0 THEN json_object(
            'inputTokens', coalesce(sum(json_extract(json, '$.usage.inputTokens')) OVER upto, 0),
            'outputTokens', coalesce(sum(json_extract(json, '$.usage.outputTokens')) OVER upto, 0),
            'cacheReadInputTokens', sum(json_extract(json, '$.usage.cacheReadInputTokens')) OVER upto,
            'cacheCreationInputTokens', sum(json_extract(json, '$.usage.cacheCreationInputTokens')) OVER upto,
            'costUsd', sum(json_extract(json, '$.usage.costUsd')) OVER upto
        ) END AS used FROM journal WHERE kind = 'turn' WINDOW upto AS (PARTITION BY session ORDER BY seq)
    ) AS totals WHERE journal.rowid = totals.row;
";

pub(super) const FIRST: &str = "
    CREATE TABLE projects (
        project_id  TEXT PRIMARY KEY,
        path        TEXT NOT NULL UNIQUE,
        name        TEXT NOT NULL,
        added_at    TEXT NOT NULL,
        removed     INTEGER NOT NULL DEFAULT 0  -- kept, so that its sessions come back with it
    );
    CREATE TABLE sessions (
        key              INTEGER PRIMARY KEY,
        session_id       TEXT NOT NULL UNIQUE,
        cli_type         TEXT NOT NULL,
        project_id       TEXT NOT NULL,
        title            TEXT,
        model            TEXT,
        mode             TEXT,
        provider_options TEXT NOT NULL,
        created_at       TEXT NOT NULL,
        last_activity    TEXT NOT NULL,
        archived         INTEGER NOT NULL DEFAULT 0,
        killed           INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX sessions_by_project ON sessions (project_id, last_activity);
    CREATE TABLE journal (
        session   INTEGER NOT NULL,
        seq       INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,  -- the seq at which the item appeared: its place in the conversation
        kind      TEXT NOT NULL,
        item_id   TEXT,
        at        TEXT NOT NULL,
        json      TEXT NOT NULL
    );
    CREATE UNIQUE INDEX journal_by_seq ON journal (session, seq);
    CREATE INDEX journal_by_item ON journal (session, item_id, seq) WHERE item_id IS NOT NULL;
    CREATE TABLE queue (
        session     INTEGER NOT NULL,
        position    INTEGER NOT NULL,
        queued_id   TEXT NOT NULL UNIQUE,
        turn_id     TEXT NOT NULL,
        params      TEXT NOT NULL,
        queued_at   TEXT NOT NULL,
        PRIMARY KEY (session, position)
    );
    CREATE TABLE questions (
        session     INTEGER NOT NULL,
        question_id TEXT NOT NULL,
        json        TEXT NOT NULL,
        PRIMARY KEY (session, question_id)
    );
";

/// The version this program writes.
pub(super) const VERSION: u32 = STEPS.len() as u32;

/// Brings a store of an older version up to date, each step in its own transaction.
pub(super) fn migrate(connection: &Connection) -> Result<(), StoreError> {
    let done = version(connection)?;
    for (step, version) in STEPS.iter().zip(1..).filter(|(_, version)| *version > done) {
        let transaction = connection.unchecked_transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", version)?;
        transaction.commit()?;
    }
    Ok(())
}

pub(super) fn version(connection: &Connection) -> Result<u32, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
