//! What is deleted is gone from the disk.

use super::*;

fn size(folder: &Path) -> u64 {
    let length = |suffix: &str| {
        std::fs::metadata(folder.join(format!("store.db{suffix}"))).map_or(0, |file| file.len())
    };
    ["", "-wal"].into_iter().chain(tail::SUFFIXES).map(length).sum()
}

async fn fill(store: &Store, session: StoredSession) {
    let session_id = session.session_id.clone();
    store.insert_session(session).await.unwrap();
    let mut new = row(1, "i");
    for seq in 1..=2_000 {
        new.seq = seq;
        new.kind = RowKind::Upsert(format!("i{seq}").into());
        new.json = format!(r#"{{"item":"i{seq}","pad":"{}"}}"#, "secret ".repeat(300)).into();
        store.append(&session_id, vec![new.clone()]).await.unwrap();
    }
}

async fn check_room(folder: &Path) {
    let store = store_in(folder).store;
    let small = StoredSession { session_id: "small".into(), ..session() };
    store.insert_session(small.clone()).await.unwrap();
    store.append(&small.session_id, vec![row(1, "kept")]).await.unwrap();
    fill(&store, session()).await;
    // Everything is in the database.
    store.projects().await.unwrap();
    let full = size(folder);
    assert!(full > 4 << 20, "{full}");
    store.delete_session(&session().session_id).await.unwrap();
    let began = std::time::Instant::now();
    while size(folder) > full / 10 {
        assert!(
            began.elapsed() < std::time::Duration::from_secs(60),
            "{} of {full} bytes are left",
            size(folder)
        );
        tokio::task::yield_now().await;
    }
    let page = store.history(&small.session_id, None, usize::MAX).await.unwrap();
    assert_eq!(page.entries.len(), 1);
    for suffix in ["", "-wal"].into_iter().chain(tail::SUFFIXES) {
        let bytes = std::fs::read(folder.join(format!("store.db{suffix}"))).unwrap();
        assert!(
            !bytes.windows(14).any(|window| window == b"secret secret "),
            "it is left in store.db{suffix}"
        );
    }
}

#[tokio::test]
async fn a_deleted_session_gives_its_room_back_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    check_room(folder.path()).await;
}

#[tokio::test]
async fn a_store_of_an_older_version_gives_room_back_too() {
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(folder.path().join("store.db")).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    connection.execute_batch(schema::FIRST).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    drop(connection);
    check_room(folder.path()).await;
}

#[tokio::test]
async fn a_kill_right_after_a_deletion_does_not_bring_the_session_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    store.append(&session_id, vec![row(1, "a")]).await.unwrap();
    store.delete_session(&session_id).await.unwrap();
    // An agent's last words come too late.
    store.append(&session_id, vec![row(2, "a")]).await.unwrap();
    let left = super::kill::killed(folder.path());
    let next = store_in(left.path()).store;
    assert_eq!(next.session(&session_id).await.unwrap(), None);
    assert!(next.history(&session_id, None, 1).await.is_err());
    assert_eq!(next.deleted_among(vec![session_id.clone()]).await.unwrap().len(), 1);
    // One that is made anew under the same id begins with nothing.
    next.insert_session(session()).await.unwrap();
    assert_eq!(next.history(&session_id, None, 1).await.unwrap().seq, 0);
}
