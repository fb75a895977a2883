//! What a person noted beside the changes of a session stays with it.

use chartroom_protocol::review::{Comment, CommentSide, CommentState};

use super::*;

fn comment(id: &str, text: &str) -> Comment {
    Comment {
        comment_id: id.to_owned(),
        path: "src/a.rs".to_owned(),
        side: CommentSide::After,
        first_line: 3,
        last_line: 4,
        quote: "fn a() {\n}".to_owned(),
        text: text.to_owned(),
        state: CommentState::Open,
    }
}

#[tokio::test]
async fn comments_and_what_was_viewed_are_there_after_a_restart_in_the_order_in_which_they_were_begun() {
    let folder = tempfile::tempdir().unwrap();
    let id = session().session_id;
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    for (name, text) in [("z", "first"), ("a", "second"), ("m", "third")] {
        store.put_comment(&id, comment(name, text)).await.unwrap();
    }
    store.put_comment(&id, Comment { state: CommentState::Sent, ..comment("z", "first") }).await.unwrap();
    store.remove_comment(&id, "m").await.unwrap();
    store.set_viewed(&id, "src/a.rs", Some("0123")).await.unwrap();
    store.set_viewed(&id, "src/b.rs", Some("4567")).await.unwrap();
    let told = store.set_viewed(&id, "src/b.rs", None).await.unwrap();
    drop(store);
    // The writer holds the lock until it has let go of the file.
    std::fs::File::open(folder.path().join("store.db.lock")).unwrap().lock().unwrap();

    let store = store_in(folder.path()).store;
    let review = store.review(&id).await.unwrap();
    assert_eq!(review, told);
    let shown: Vec<_> = review.comments.iter().map(|it| (it.text.as_str(), it.state)).collect();
    assert_eq!(shown, [("first", CommentState::Sent), ("second", CommentState::Open)]);
    assert_eq!(review.viewed, BTreeMap::from([("src/a.rs".to_owned(), "0123".to_owned())]));
}

#[tokio::test]
async fn a_deleted_session_takes_its_comments_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_in(folder.path()).store;
    store.insert_session(session()).await.unwrap();
    let id = session().session_id;
    store.put_comment(&id, comment("c", "words of mine")).await.unwrap();
    store.set_viewed(&id, "src/a.rs", Some("0123")).await.unwrap();
    store.delete_session(&id).await.unwrap();
    assert!(store.review(&id).await.is_err());
    let left = store.read(|connection| {
        let count = "SELECT (SELECT count(*) FROM comments) + (SELECT count(*) FROM viewed)";
        Ok(connection.query_row(count, [], |row| row.get::<_, i64>(0))?)
    });
    assert_eq!(left.await.unwrap(), 0);
}
