//! What keeping an event costs: nothing is compiled anew for it, and an item that is written once is one row.

use chartroom_protocol::session::SendParams;
use rusqlite::StatementStatus;

use super::*;

/// Uses a statement as the store does, several times, and returns how often it was compiled anew.
fn n_compiled_anew(connection: &Connection, statement: &str) -> i32 {
    let mut n_anew = 0;
    for value in 1..4_i64 {
        let mut used = connection.prepare_cached(statement).unwrap();
        for index in 1..=used.parameter_count() {
            used.raw_bind_parameter(index, value).unwrap();
        }
        let mut rows = used.raw_query();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        n_anew += used.get_status(StatementStatus::RePrepare);
    }
    n_anew
}

#[tokio::test]
async fn a_statement_that_was_used_before_is_not_compiled_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let _opened = store_in(folder.path());
    let writer = Connection::open(&path).unwrap();
    open::prepare(&writer).unwrap();
    let reader = open::reader(&path).unwrap();
    let of_both = journal::STATEMENTS.into_iter().chain([rows::KNOWN, rows::REPLACE, usage::BEFORE]);
    for statement in of_both {
        assert_eq!(n_compiled_anew(&writer, statement), 0, "writing: {statement}");
        if statement.starts_with("SELECT") {
            assert_eq!(n_compiled_anew(&reader, statement), 0, "reading: {statement}");
        }
    }
}

/// Keeps rows of these items, one after the other, together; returns which rows the database has, as item and seq.
async fn written(items: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    let rows = items.iter().zip(1..).map(|(item, seq)| match *item {
        "turn" => {
            let json =
                r#"{"type":"turn_started","turnId":"t","sessionId":"s","modelId":"m","providerId":"p"}"#;
            NewRow { seq, kind: RowKind::Turn, at: String::new(), json: json.into() }
        }
        item => row(seq, item),
    });
    store.append(&session_id, rows.collect()).await.unwrap();
    store.history(&session_id, None, usize::MAX).await.unwrap();
    let connection = open::reader(&folder.path().join("store.db")).unwrap();
    let mut statement = connection
        .prepare(
            "SELECT coalesce(item_id, 'turn') || ' ' || seq || ' at ' || first_seq FROM journal ORDER BY seq",
        )
        .unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn of_an_item_that_nothing_crossed_only_the_last_row_is_written_in_its_first_place() {
    assert_eq!(written(&["a", "a", "a"]).await, ["a 3 at 1"]);
    assert_eq!(written(&["a", "a", "b", "b", "c"]).await, ["a 2 at 1", "b 4 at 3", "c 5 at 5"]);
    // What began or happened between has its place behind the first row.
    assert_eq!(written(&["a", "b", "a"]).await, ["a 1 at 1", "b 2 at 2", "a 3 at 1"]);
    assert_eq!(written(&["a", "turn", "a"]).await, ["a 1 at 1", "turn 2 at 2", "a 3 at 1"]);
}

fn message(number: usize) -> StoredMessage {
    StoredMessage {
        queued_id: format!("q{number}").as_str().into(),
        turn_id: format!("t{number}").as_str().into(),
        params: SendParams { message: "do this and that".to_owned(), images: Vec::new() },
        queued_at: format!("2026-01-01T00:00:{number:02}.000Z"),
    }
}

/// Returns how many pages were written for messages of a session, each with what its turn writes.
async fn n_pages(n_messages: usize, taken: bool) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    store.checkpoint().await.unwrap();
    for number in 0..n_messages {
        let StoredMessage { queued_id, queued_at, .. } = message(number);
        let note = SessionNote { title: "named".to_owned(), last_activity: queued_at.clone() };
        store.push_message(&session_id, message(number), Some(note)).await.unwrap();
        let seq = 1 + 2 * number as u64;
        store.append(&session_id, vec![row(seq, &format!("user{number}"))]).await.unwrap();
        store.append(&session_id, vec![row(seq + 1, &format!("agent{number}"))]).await.unwrap();
        if taken {
            store.message_taken(&queued_id);
        }
        store.compact(&session_id, seq);
        store.touch_session(&session_id, queued_at);
    }
    // What waits is written for a reader.
    assert_eq!(store.messages(&session_id).await.unwrap().is_empty(), taken);
    let log = folder.path().join("store.db-wal").metadata().unwrap().len();
    // A head of 32 bytes, then pages with a head of 24.
    log.saturating_sub(32) / (4096 + 24)
}

#[tokio::test]
async fn messages_that_the_agent_takes_at_once_share_a_commit_and_are_never_written_to_the_queue() {
    // The journal with its indexes and the session with its own; the queue would be three more.
    const PAGES: u64 = 6;
    let mut seen = Vec::new();
    // On a machine with much to do there may be a commit in between.
    while seen.len() < 10 && seen.iter().all(|n_pages| *n_pages > PAGES) {
        seen.push(n_pages(20, true).await);
    }
    assert!(seen.iter().any(|n_pages| *n_pages <= PAGES), "{seen:?}");
    let written = n_pages(20, false).await;
    assert!(written >= PAGES + 3, "the count sees a queue that is written: {written}");
}
