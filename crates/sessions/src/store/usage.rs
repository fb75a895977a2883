//! What the turns of a session used, added up.

use chartroom_protocol::ids::SessionId;
use chartroom_protocol::stream::Usage;
use chartroom_protocol::turn::TurnEvent;
use rusqlite::{Connection, OptionalExtension, params};

use super::journal::seq_column;
use super::{Store, StoreError, from_json, sessions};

pub(super) const BEFORE: &str =
    "SELECT used FROM journal WHERE session = ?1 AND kind = 'turn' AND seq < ?2 ORDER BY seq DESC LIMIT 1";

/// Returns what the turns before a place used, if they used anything.
pub(super) fn before(connection: &Connection, key: i64, place: u64) -> Result<Option<Usage>, StoreError> {
    let used = connection
        .prepare_cached(BEFORE)?
        .query_row(params![key, seq_column(place)], |row| row.get::<_, Option<String>>(0))
        .optional()?;
    Ok(used.flatten().map(|json| from_json(0, &json)).transpose()?)
}

/// What the turns of a session that have ended took.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// What they used, where the agent tells.
    pub usage: Option<Usage>,
    /// How long they took together.
    pub duration_ms: u64,
}

impl Store {
    /// Returns what the turns of a session that have ended took.
    pub async fn spent(&self, session_id: &SessionId) -> Result<Spent, StoreError> {
        let session_id = session_id.clone();
        self.read(move |connection| {
            let key = sessions::key(connection, &session_id)?;
            let mut rows = connection.prepare_cached(TURNS)?;
            let texts = rows.query_map(params![key], |row| row.get::<_, String>(0))?;
            let mut spent = Spent::default();
            for text in texts {
                if let TurnEvent::TurnComplete { usage, duration_ms, .. } = from_json(0, &text?)? {
                    spent.duration_ms += duration_ms.unwrap_or_default();
                    if let Some(usage) = usage {
                        spent.usage = Some(sum(spent.usage.take(), usage));
                    }
                }
            }
            Ok(spent)
        })
        .await
    }
}

const TURNS: &str = "SELECT json FROM journal WHERE session = ?1 AND kind = 'turn' ORDER BY seq";

/// Adds what one more turn used.
pub(super) fn sum(so_far: Option<Usage>, usage: Usage) -> Usage {
    let mut sum = so_far.unwrap_or_default();
    sum.input_tokens += usage.input_tokens;
    sum.output_tokens += usage.output_tokens;
    add(&mut sum.cache_read_input_tokens, usage.cache_read_input_tokens);
    add(&mut sum.cache_creation_input_tokens, usage.cache_creation_input_tokens);
    add(&mut sum.cost_usd, usage.cost_usd);
    sum
}

/// Adds what is told; a sum of nothing told stays untold.
fn add<T: std::ops::Add<Output = T> + Default>(sum: &mut Option<T>, more: Option<T>) {
    if let Some(more) = more {
        *sum = Some(sum.take().unwrap_or_default() + more);
    }
}
