//! The store's promises: nothing is overwritten, nothing accepted is lost, readers get exactly the state.

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
    // Wait for the writer to let go of the file by taking its lock.
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "wal_checkpoint", "TRUNCATE").ok();
    drop(connection);
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
    let nobody = SessionId::new("nobody");
    let (good, bad, also_good) = tokio::join!(
        store.add_project(Path::new("/one")),
        store.append(&nobody, vec![row(1, "i")]),
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

async fn check_readers(writes: Vec<u8>, compact_at: Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    let session_id = SessionId::new("s");
    let session = StoredSession {
        session_id: session_id.clone(),
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
    };
    store.insert_session(session).await.unwrap();
    // A reader that left after each seq, with what it had then.
    let mut away = vec![(0, Shown::default())];
    let mut live = Shown::default();
    for (index, item) in writes.iter().enumerate() {
        let new = row(index as u64 + 1, &format!("i{item}"));
        live.take(&new.json);
        away.push((new.seq, live.clone()));
        store.append(&session_id, vec![new]).await.unwrap();
        if compact_at.contains(&index) {
            store.compact(&session_id, 0).await.unwrap();
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
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_reader_that_left_at_any_moment_ends_with_exactly_the_state(
        writes in prop::collection::vec(0..5_u8, 1..25),
        compact_at in prop::collection::vec(0..25_usize, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check_readers(writes, compact_at));
    }
}
