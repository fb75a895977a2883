//! Questions that wait for a person.

use chartroom_protocol::ids::{QuestionId, SessionId};
use chartroom_protocol::session::Question;
use rusqlite::params;

use super::{Durability, Store, StoreError, from_json, sessions, to_json};

impl Store {
    /// Keeps a pending question; asking again under the same id replaces it.
    pub async fn put_question(&self, session_id: &SessionId, question: Question) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        self.write(Durability::Process, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO questions (session, question_id, json) VALUES (?1, ?2, ?3)",
                )?
                .execute(params![key, question.question_id.as_str(), to_json(&question)])?;
            Ok(())
        })
        .await
    }

    /// Forgets a question: it was answered or withdrawn.
    pub async fn remove_question(
        &self,
        session_id: &SessionId,
        question_id: &QuestionId,
    ) -> Result<(), StoreError> {
        let session_id = session_id.clone();
        let question_id = question_id.clone();
        self.write(Durability::Process, move |connection| {
            let key = sessions::key(connection, &session_id)?;
            connection
                .prepare_cached("DELETE FROM questions WHERE session = ?1 AND question_id = ?2")?
                .execute(params![key, question_id.as_str()])?;
            Ok(())
        })
        .await
    }

    /// Returns a session's pending questions, in the order they were asked.
    pub async fn questions(&self, session_id: &SessionId) -> Result<Vec<Question>, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            let mut statement =
                connection.prepare_cached("SELECT json FROM questions WHERE session = ?1 ORDER BY rowid")?;
            let questions = statement
                .query_map([key], |row| from_json(0, &row.get::<_, String>(0)?))?
                .collect::<Result<_, _>>()?;
            Ok(questions)
        })
        .await
    }
}
