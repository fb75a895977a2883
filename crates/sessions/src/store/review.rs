//! What a person noted beside the changes of a session.

use std::collections::BTreeMap;

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::review::{Comment, Review};
use rusqlite::{Connection, params};

use super::{Durability, Store, StoreError, from_json, sessions, to_json};

/// A comment keeps its place when it is changed.
const PUT_COMMENT: &str = "
    INSERT INTO comments (session, comment_id, position, json) VALUES (?1, ?2,
        (SELECT coalesce(max(position), 0) + 1 FROM comments WHERE session = ?1), ?3)
    ON CONFLICT (session, comment_id) DO UPDATE SET json = excluded.json";

impl Store {
    /// Returns all notes of a session.
    pub async fn review(&self, session_id: &SessionId) -> Result<Review, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| Ok(read(connection, sessions::key(connection, &session_id)?)?)).await
    }

    /// Keeps a comment, or what has become of it. It is on the disk when this returns.
    pub async fn put_comment(&self, session_id: &SessionId, comment: Comment) -> Result<Review, StoreError> {
        self.note(session_id, move |connection, key| {
            connection
                .prepare_cached(PUT_COMMENT)?
                .execute(params![key, comment.comment_id, to_json(&comment)])
                .map(drop)
        })
        .await
    }

    /// Forgets a comment. It is on the disk when this returns.
    pub async fn remove_comment(
        &self,
        session_id: &SessionId,
        comment_id: &str,
    ) -> Result<Review, StoreError> {
        let comment_id = comment_id.to_owned();
        self.note(session_id, move |connection, key| {
            connection
                .prepare_cached("DELETE FROM comments WHERE session = ?1 AND comment_id = ?2")?
                .execute(params![key, comment_id])
                .map(drop)
        })
        .await
    }

    /// Notes which content of a file was looked at, or that it was not. It is on the disk when this returns.
    pub async fn set_viewed(
        &self,
        session_id: &SessionId,
        path: &str,
        content: Option<&str>,
    ) -> Result<Review, StoreError> {
        let (path, content) = (path.to_owned(), content.map(str::to_owned));
        self.note(session_id, move |connection, key| match content {
            Some(content) => connection
                .prepare_cached("INSERT OR REPLACE INTO viewed (session, path, content) VALUES (?1, ?2, ?3)")?
                .execute(params![key, path, content])
                .map(drop),
            None => connection
                .prepare_cached("DELETE FROM viewed WHERE session = ?1 AND path = ?2")?
                .execute(params![key, path])
                .map(drop),
        })
        .await
    }

    async fn note(
        &self,
        session_id: &SessionId,
        change: impl FnOnce(&Connection, i64) -> Result<(), rusqlite::Error> + Send + 'static,
    ) -> Result<Review, StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Disk, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            change(connection, key)?;
            Ok(read(connection, key)?)
        })
        .await
    }
}

fn read(connection: &Connection, key: i64) -> Result<Review, rusqlite::Error> {
    let comments = connection
        .prepare_cached("SELECT json FROM comments WHERE session = ?1 ORDER BY position")?
        .query_map([key], |row| from_json(0, &row.get::<_, String>(0)?))?
        .collect::<Result<_, _>>()?;
    let viewed = connection
        .prepare_cached("SELECT path, content FROM viewed WHERE session = ?1")?
        .query_map([key], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<BTreeMap<String, String>, _>>()?;
    Ok(Review { comments, viewed })
}
