//! The store's promises: nothing is overwritten, nothing accepted is lost, readers get exactly the state.

mod cost;
mod kill;
mod main_file;
mod pages;
mod review;
mod room;

use std::collections::BTreeMap;
use std::path::Path;

use chartroom_protocol::ids::SessionId;
use proptest::prelude::*;

use super::*;

fn store_in(folder: &Path) -> Opened {
    Store::open(&folder.join("store.db")).unwrap()
}

#[tokio::test]
async fn a_store_of_a_newer_version_is_set_aside_with_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    connection.execute_batch("CREATE TABLE future (x); INSERT INTO future VALUES (42)").unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let opened = store_in(folder.path());
    let set_aside = opened.set_aside.unwrap();
    assert_eq!(set_aside.reason, SetAsideReason::Newer { version: 99 });
    assert!(set_aside.to_string().contains("written by a newer chartroom (version 99"), "{set_aside}");
    let kept = Connection::open(&set_aside.kept_as).unwrap();
    let value: i64 = kept.query_row("SELECT x FROM future", [], |row| row.get(0)).unwrap();
    assert_eq!(value, 42);
    assert_eq!(opened.store.projects().await.unwrap(), []);
}

#[tokio::test]
async fn a_damaged_store_is_set_aside_byte_for_byte() {
    for damage in [b"this is no database at all, not even nearly".to_vec(), Vec::from([0x5a; 20_000])] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        std::fs::write(&path, &damage).unwrap();
        let opened = store_in(folder.path());
        let set_aside = opened.set_aside.unwrap();
        assert!(matches!(set_aside.reason, SetAsideReason::Damaged { .. }), "{set_aside}");
        assert_eq!(std::fs::read(&set_aside.kept_as).unwrap(), damage);
        opened.store.add_project(folder.path()).await.unwrap();
    }
}

#[tokio::test]
async fn pages_that_were_overwritten_in_the_middle_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    drop(store_in(folder.path()));
    // The writer holds the lock until it has let go of the file.
    std::fs::File::open(folder.path().join("store.db.lock")).unwrap().lock().unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in &mut bytes[4096..8192] {
        *byte = 0xff;
    }
    for suffix in ["-wal", "-shm"] {
        std::fs::remove_file(folder.path().join(format!("store.db{suffix}"))).ok();
    }
    std::fs::write(&path, &bytes).unwrap();
    let set_aside = store_in(folder.path()).set_aside.unwrap();
    assert!(matches!(set_aside.reason, SetAsideReason::Damaged { .. }), "{set_aside}");
}

#[tokio::test]
async fn a_second_server_on_one_store_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let first = store_in(folder.path());
    let second = Store::open(&folder.path().join("store.db"));
    assert!(matches!(second.err(), Some(StoreError::Locked { .. })));
    drop(first);
}

#[tokio::test]
async fn projects_are_added_once_removed_and_come_back_under_their_id() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    let AddedProject::Added(project) = store.add_project(Path::new("/a/b")).await.unwrap() else {
        panic!("it is new")
    };
    assert_eq!(project.name, "b");
    assert_eq!(store.add_project(Path::new("/a/b")).await.unwrap(), AddedProject::Duplicate(project.clone()));
    assert!(store.remove_project(&project.project_id).await.unwrap());
    assert!(!store.remove_project(&project.project_id).await.unwrap());
    assert_eq!(store.projects().await.unwrap(), []);
    assert_eq!(store.add_project(Path::new("/a/b")).await.unwrap(), AddedProject::Added(project));
}

#[tokio::test]
async fn one_failed_write_does_not_take_its_neighbours_in_the_same_commit_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    let (nobody, question) = (SessionId::new("nobody"), "q".into());
    let (good, bad, also_good) = tokio::join!(
        store.add_project(Path::new("/one")),
        store.remove_question(&nobody, &question),
        store.add_project(Path::new("/two")),
    );
    assert!(good.is_ok() && also_good.is_ok());
    assert!(matches!(bad, Err(StoreError::Database(_))), "{bad:?}");
    assert_eq!(store.projects().await.unwrap().len(), 2);
}

fn row(seq: u64, item: &str) -> NewRow {
    NewRow {
        seq,
        kind: RowKind::Upsert(item.into()),
        at: String::new(),
        json: format!(r#"{{"item":"{item}","seq":{seq}}}"#).into(),
    }
}

/// What a reader shows: items in the order they came to it, each with its last content.
#[derive(Debug, Default, Clone, PartialEq)]
struct Shown {
    order: Vec<String>,
    content: BTreeMap<String, String>,
}

impl Shown {
    fn take(&mut self, json: &str) {
        let item = json.split('"').nth(3).unwrap().to_owned();
        if self.content.insert(item.clone(), json.to_owned()).is_none() {
            self.order.push(item);
        }
    }
}

fn session() -> StoredSession {
    StoredSession {
        session_id: "s".into(),
        cli_type: "fake".into(),
        project_id: "p".into(),
        title: None,
        model: None,
        mode: None,
        provider_options: serde_json::Map::new(),
        created_at: String::new(),
        last_activity: String::new(),
        archived: false,
        killed: false,
        held: false,
    }
}

/// Reads a conversation page by page, the newest first; one line per page, from its first item to its last.
async fn check_pages(rows: &[(&str, &str)], max_bytes: usize, expect: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    let session_id = session().session_id;
    store.insert_session(session()).await.unwrap();
    let turn = r#"{"type":"turn_complete","turnId":"t","sessionId":"s","status":"completed",
                   "usage":{"inputTokens":10,"outputTokens":2,"costUsd":0.5}}"#;
    for (at, (item, json)) in rows.iter().enumerate() {
        let kind = if *item == "turn" { RowKind::Turn } else { RowKind::Upsert((*item).into()) };
        let json = if *item == "turn" { turn } else { *json };
        let new = NewRow { seq: at as u64 + 1, kind, at: String::new(), json: json.into() };
        store.append(&session_id, vec![new]).await.unwrap();
    }
    let mut before = None;
    let mut pages = Vec::new();
    loop {
        let page = store.history(&session_id, before, max_bytes).await.unwrap();
        let items: Vec<_> = page.entries.iter().map(|json| json.split('"').nth(3).unwrap()).collect();
        let used = page.earlier_usage.map_or_else(String::new, |usage| {
            format!("; before: {} in, {} out, {:?}", usage.input_tokens, usage.output_tokens, usage.cost_usd)
        });
        pages.push(format!("{} and {} turns{used}", items.join(" "), page.turns.len()));
        before = page.earlier;
        if before.is_none() {
            break;
        }
    }
    assert_eq!(pages, expect);
}

#[tokio::test]
async fn a_page_of_history_begins_where_a_person_spoke_and_tells_what_was_used_before_it() {
    // Each row has about 60 bytes.
    let asks = |item| format!(r#"{{"item":"{item}","origin":"user","pad":"{}"}}"#, "x".repeat(20));
    let says = |item| format!(r#"{{"item":"{item}","origin":"agent","pad":"{}"}}"#, "x".repeat(19));
    let nested = |item| format!(r#"{{"item":"{item}","origin":"user","parentCallId":"c","pad":"x"}}"#);
    let texts = [asks("q1"), says("a1"), asks("q2"), nested("n2"), says("a2"), asks("q3"), says("a3")];
    let [q1, a1, q2, n2, a2, q3, a3] = texts.each_ref().map(String::as_str);
    let rows = [
        ("q1", q1),
        ("a1", a1),
        ("turn", ""),
        ("q2", q2),
        ("n2", n2),
        ("a2", a2),
        ("turn", ""),
        ("q3", q3),
        ("a3", a3),
        ("turn", ""),
    ];
    let whole = ["q1 a1 q2 n2 a2 q3 a3 and 3 turns"];
    check_pages(&rows, usize::MAX, &whole).await;
    let by_turns = [
        "q3 a3 and 1 turns; before: 20 in, 4 out, Some(1.0)",
        "q2 n2 a2 and 1 turns; before: 10 in, 2 out, Some(0.5)",
        "q1 a1 and 1 turns",
    ];
    check_pages(&rows, 100, &by_turns).await;
    // A question that is too far away is not waited for, and there is always something on a page.
    let one_by_one = [
        "a3 and 1 turns; before: 20 in, 4 out, Some(1.0)",
        "q3 and 0 turns; before: 20 in, 4 out, Some(1.0)",
        "a2 and 1 turns; before: 10 in, 2 out, Some(0.5)",
        "n2 and 0 turns; before: 10 in, 2 out, Some(0.5)",
        "q2 and 0 turns; before: 10 in, 2 out, Some(0.5)",
        "a1 and 1 turns",
        "q1 and 0 turns",
    ];
    check_pages(&rows, 1, &one_by_one).await;
}

async fn check_readers(writes: Vec<u8>, compact_at: Vec<usize>, taken_over_at: Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    let session_id = session().session_id;
    store.insert_session(session()).await.unwrap();
    // A reader that left after each seq, with what it had then.
    let mut away = vec![(0, Shown::default())];
    let mut live = Shown::default();
    for (index, item) in writes.iter().enumerate() {
        let new = row(index as u64 + 1, &format!("i{item}"));
        live.take(&new.json);
        away.push((new.seq, live.clone()));
        store.append(&session_id, vec![new]).await.unwrap();
        if compact_at.contains(&index) {
            store.compact(&session_id, 0);
        }
        if taken_over_at.contains(&index) {
            store.history(&session_id, None, 1).await.unwrap();
        }
    }
    let mut whole = Shown::default();
    let page = store.history(&session_id, None, usize::MAX).await.unwrap();
    page.entries.iter().for_each(|json| whole.take(json));
    assert_eq!(whole, live, "the history is the state");
    for (seq, mut shown) in away {
        match store.backlog(&session_id, seq).await.unwrap() {
            Backlog::Rows(rows) => rows.iter().for_each(|row| shown.take(&row.json)),
            Backlog::Gone => shown = whole.clone(),
        }
        assert_eq!(shown, live, "a reader that left after {seq}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_reader_that_left_at_any_moment_ends_with_exactly_the_state(
        writes in prop::collection::vec(0..5_u8, 1..25),
        compact_at in prop::collection::vec(0..25_usize, 0..4),
        taken_over_at in prop::collection::vec(0..25_usize, 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check_readers(writes, compact_at, taken_over_at));
    }
}
