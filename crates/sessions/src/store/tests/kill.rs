//! A server that is killed: what its files hold at that moment is all that the next one has.

use chartroom_protocol::session::SendParams;

use super::*;

/// The files as a kill would leave them, in a folder of their own. The tail goes first: what the writer takes over
/// while the others are copied is then in both.
pub(super) fn killed(folder: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for suffix in tail::SUFFIXES.into_iter().chain(["-wal", ""]) {
        let name = format!("store.db{suffix}");
        std::fs::copy(folder.join(&name), left.path().join(&name)).unwrap();
    }
    left
}

async fn shown(store: &Store, session_id: &SessionId) -> Shown {
    let mut shown = Shown::default();
    let page = store.history(session_id, None, usize::MAX).await.unwrap();
    page.entries.iter().for_each(|json| shown.take(json));
    shown
}

#[tokio::test]
async fn what_a_killed_server_had_kept_is_in_the_journal_of_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    let mut live = Shown::default();
    for seq in 1..=60 {
        let new = row(seq, &format!("i{}", seq / 4));
        live.take(&new.json);
        store.append(&session_id, vec![new]).await.unwrap();
        match seq % 20 {
            // Something else is written at once, and the rows with it.
            7 => drop(store.add_project(Path::new("/a")).await.unwrap()),
            11 => store.compact(&session_id, 0),
            _ => {}
        }
        let left = killed(folder.path());
        let next = store_in(left.path());
        assert_eq!(next.set_aside, None);
        assert_eq!(shown(&next.store, &session_id).await, live, "killed after {seq}");
        let state = next.store.backlog(&session_id, seq).await.unwrap();
        assert_eq!(state, Backlog::Rows(Vec::new()), "a reader that saw {seq} misses nothing");
        // The next server goes on where the first one was.
        next.store.append(&session_id, vec![row(seq + 1, "next")]).await.unwrap();
        let Backlog::Rows(rows) = next.store.backlog(&session_id, seq).await.unwrap() else {
            panic!("{seq}")
        };
        assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [seq + 1]);
    }
}

#[tokio::test]
async fn rows_wait_for_the_database_only_so_long_and_a_reader_sees_them_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    let n_rows = |connection: &Connection| -> i64 {
        connection.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap()
    };
    let beside = open::reader(&folder.path().join("store.db")).unwrap();
    store.append(&session_id, vec![row(1, "i")]).await.unwrap();
    assert_eq!(shown(&store, &session_id).await.order, ["i"]);
    assert_eq!(n_rows(&beside), 1);
    // Without a reader the clock writes them: nothing else asks the store here.
    store.append(&session_id, vec![row(2, "j")]).await.unwrap();
    let kept = std::time::Instant::now();
    while n_rows(&beside) < 2 {
        assert!(kept.elapsed() < std::time::Duration::from_secs(60), "the row was never written");
        tokio::task::yield_now().await;
    }
    drop(beside);
    // And the tail is empty again.
    store.projects().await.unwrap();
    let n_rows = || tail::Tail::open(&folder.path().join("store.db")).unwrap().2.rows.len();
    while n_rows() > 0 {
        assert!(kept.elapsed() < std::time::Duration::from_secs(60), "the tail was never emptied");
        tokio::task::yield_now().await;
    }
}

fn message(id: &str) -> StoredMessage {
    StoredMessage {
        queued_id: id.into(),
        turn_id: id.into(),
        params: SendParams { message: id.to_owned(), images: Vec::new() },
        queued_at: "2026-01-01T00:00:09.000Z".to_owned(),
    }
}

fn note(title: &str, at: &str) -> SessionNote {
    SessionNote { title: title.to_owned(), last_activity: at.to_owned() }
}

/// Keeps a row and then a message; returns how many messages and rows the database has when the message is answered. What a
/// kill would leave then has both.
async fn kept_with_a_message() -> (i64, i64) {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    let beside = open::reader(&folder.path().join("store.db")).unwrap();
    let count = |table: &str| {
        let count = format!("SELECT count(*) FROM {table}");
        beside.query_row(&count, [], |row| row.get(0)).unwrap()
    };
    store.append(&session_id, vec![row(1, "i")]).await.unwrap();
    store.push_message(&session_id, message("m"), Some(note("named", "b"))).await.unwrap();
    let counted = (count("queue"), count("journal"));
    let left = killed(folder.path());
    let next = store_in(left.path()).store;
    assert_eq!(shown(&next, &session_id).await.order, ["i"]);
    assert_eq!(next.messages(&session_id).await.unwrap(), [message("m")]);
    let noted = next.session(&session_id).await.unwrap().unwrap();
    assert_eq!((noted.title.as_deref(), noted.last_activity.as_str()), (Some("named"), "b"));
    // Killed once more before the tail was emptied: what is taken over twice is there once.
    let again = killed(left.path());
    for suffix in tail::SUFFIXES {
        let name = format!("store.db{suffix}");
        std::fs::copy(folder.path().join(&name), again.path().join(&name)).unwrap();
    }
    assert_eq!(store_in(again.path()).store.messages(&session_id).await.unwrap(), [message("m")]);
    counted
}

#[tokio::test]
async fn a_message_is_kept_before_the_answer_and_goes_on_waiting_for_the_database_as_rows_do() {
    let mut seen = Vec::new();
    // On a machine with much to do their time may come in between.
    while seen.len() < 20 && !seen.contains(&(0, 0)) {
        seen.push(kept_with_a_message().await);
    }
    assert!(seen.contains(&(0, 0)), "{seen:?}");
}

#[tokio::test]
async fn messages_of_a_killed_server_are_in_their_order_and_none_is_lost_whatever_was_written_between() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    let mut waiting = Vec::new();
    for number in 0..60 {
        // Long ones do not go through the tail.
        let mut new = message(&format!("m{number}"));
        if number % 9 == 4 {
            new.params.message = "long ".repeat(20_000);
        }
        store.push_message(&session_id, new.clone(), None).await.unwrap();
        waiting.push(new);
        match number % 10 {
            3 => store.message_taken(&waiting.remove(0).queued_id),
            5 => store.remove_message(&waiting.remove(1).queued_id).await.unwrap(),
            7 => drop(store.add_project(Path::new("/a")).await.unwrap()),
            8 => {
                let first = waiting.pop().unwrap();
                store.put_message_first(&first.queued_id).await.unwrap();
                waiting.insert(0, first);
            }
            9 => store.message_taken(&waiting.pop().unwrap().queued_id),
            _ => {}
        }
        let left = killed(folder.path());
        let mut found = store_in(left.path()).store.messages(&session_id).await.unwrap();
        // That one was taken is told by the journal; the queue may still have it.
        found.retain(|message| waiting.contains(message));
        assert_eq!(found, waiting, "killed after {number}");
    }
    assert_eq!(store.messages(&session_id).await.unwrap(), waiting);
}

#[tokio::test]
async fn a_message_beside_what_waits_changes_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    store.push_message(&session_id, message("m1"), None).await.unwrap();
    store.append(&session_id, vec![row(1, "i")]).await.unwrap();
    store.message_taken(&"m1".into());
    store.touch_session(&session_id, "a".to_owned());
    store.push_message(&session_id, message("m2"), Some(note("named", "b"))).await.unwrap();
    assert_eq!(store.messages(&session_id).await.unwrap(), [message("m2")]);
    assert_eq!(store.session(&session_id).await.unwrap().unwrap().last_activity, "b");
    // While the disk is full it is refused, and what waits is not lost by it.
    store.append(&session_id, vec![row(2, "j")]).await.unwrap();
    store.pretend_full(true).await.unwrap();
    let mut long = message("m3");
    long.params.message = "x".repeat(1 << 20);
    assert!(store.push_message(&session_id, long, None).await.is_err());
    store.pretend_full(false).await.unwrap();
    assert_eq!(shown(&store, &session_id).await.order, ["i", "j"]);
    assert_eq!(store.messages(&session_id).await.unwrap(), [message("m2")]);
}

#[tokio::test]
async fn rows_that_find_the_disk_full_are_written_when_there_is_room_and_no_more_are_taken_before() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    store.append(&session_id, vec![row(1, "a")]).await.unwrap();
    store.pretend_full(true).await.unwrap();
    // More than a page, less than what is written by itself: the tail takes it, the database cannot.
    let long = |seq, item: &str| {
        let mut row = row(seq, item);
        row.json = format!(r#"{{"item":"{item}","pad":"{}"}}"#, "x".repeat(30_000)).into();
        row
    };
    store.append(&session_id, vec![long(2, "b")]).await.unwrap();
    store.history(&session_id, None, usize::MAX).await.unwrap();
    let refused = store.append(&session_id, vec![long(3, "c")]).await.unwrap_err();
    assert!(refused.to_string().starts_with("the disk of the data folder is full"), "{refused}");
    let left = killed(folder.path());
    assert_eq!(shown(&store_in(left.path()).store, &session_id).await.order, ["a", "b"]);
    store.pretend_full(false).await.unwrap();
    store.append(&session_id, vec![long(3, "c")]).await.unwrap();
    assert_eq!(shown(&store, &session_id).await.order, ["a", "b", "c"]);
}

#[tokio::test]
async fn a_kept_row_that_follows_nothing_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let session_id = session().session_id;
    store.append(&session_id, vec![row(1, "a")]).await.unwrap();
    store.messages(&session_id).await.unwrap();
    // As after a power cut that took the rows between from the database.
    store.append(&session_id, vec![row(5, "e")]).await.unwrap();
    let left = killed(folder.path());
    drop(store);
    let next = store_in(left.path()).store;
    assert_eq!(shown(&next, &session_id).await.order, ["a"]);
}
