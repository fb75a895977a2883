//! Takes over what an agent's own history has and the journal lacks.

use chartroom_protocol::ids::{ItemId, SessionId, TurnId};
use chartroom_protocol::upsert::Upsert;
use futures_util::StreamExt;

use super::news::{News, user_message};
use crate::StoreError;
use crate::actor::Seqs;
use crate::clock::Clock;
use crate::provider::{History, KnownBy, SaidTurn};
use crate::store::{NewRow, RowKind, Store};

/// How many items of a history share a commit, and are in memory at once.
const IMPORT_BATCH: usize = 256;
/// A commit takes no more than this, unless one item alone does: an agent's file may have lines of megabytes.
const IMPORT_BYTES: usize = 4 * 1024 * 1024;

/// Takes over an agent's own history: all of it into an empty journal, else what the journal lacks.
pub(super) struct Import {
    pub(super) store: Store,
    pub(super) session_id: SessionId,
    pub(super) clock: Clock,
    pub(super) seqs: Seqs,
    /// The turn of the message in doubt.
    pub(super) in_doubt: Option<TurnId>,
    /// Rows from here on are of messages that the agent has not got: it is being woken for them.
    pub(super) before: u64,
}

/// What was taken over from the agent's own history.
#[derive(Default)]
pub(in crate::actor) struct Imported {
    pub(super) n_items: usize,
    pub(super) first_user_message: Option<String>,
    /// The message in doubt had come through.
    pub(super) was_taken: bool,
}

impl Import {
    /// Returns the turns that the journal has, if the agent tells turns by their words. Nothing that was said before the
    /// opening changes during it.
    pub(super) async fn said_here(&self, by_words: bool) -> Option<Result<Vec<SaidTurn>, StoreError>> {
        if by_words { Some(self.store.said_turns(&self.session_id, self.before).await) } else { None }
    }

    /// Appends what is new, in the agent's order: after what the journal has, wherever in the conversation it was said.
    /// `said` is what [`said_here`](Self::said_here) returned.
    pub(super) async fn run(
        self,
        mut history: History,
        said: Option<Result<Vec<SaidTurn>, StoreError>>,
    ) -> Result<Imported, StoreError> {
        let mut imported = Imported::default();
        let has_ids = matches!(history.turns, KnownBy::Ids);
        let mut news = match &history.turns {
            KnownBy::Ids => News::by_ids(self.store.known_items(&self.session_id, self.before).await?),
            KnownBy::Words(turns) if turns.is_empty() => News::by_words(&[], turns),
            KnownBy::Words(turns) => {
                let journal = match said {
                    Some(said) => said?,
                    None => self.store.said_turns(&self.session_id, self.before).await?,
                };
                News::by_words(&journal, turns)
            }
        };
        let mut names = Names { session_id: &self.session_id, turn: None, n_items: 0 };
        let mut rows = Vec::with_capacity(IMPORT_BATCH);
        let mut n_bytes = 0;
        while news.may_come()
            && let Some(mut upsert) = history.items.next().await
        {
            if !news.is_new(&upsert) {
                continue;
            }
            let seq = self.seqs.take();
            if !has_ids {
                names.name(&mut upsert, seq);
            }
            if let Some(message) = user_message(&upsert) {
                imported.first_user_message.get_or_insert_with(|| message.to_owned());
            }
            let json = serde_json::to_string(&upsert).expect("an upsert has string keys only");
            n_bytes += json.len();
            let kind = RowKind::Upsert(upsert.item_id.clone());
            rows.push(NewRow { seq, kind, at: self.clock.now().iso(), json: json.into() });
            imported.n_items += 1;
            if rows.len() == IMPORT_BATCH || n_bytes > IMPORT_BYTES {
                n_bytes = 0;
                self.store.append(&self.session_id, std::mem::take(&mut rows)).await?;
            }
        }
        if !rows.is_empty() {
            self.store.append(&self.session_id, rows).await?;
        }
        imported.was_taken = self.in_doubt.is_some_and(|turn_id| news.was_found(&turn_id));
        Ok(imported)
    }
}

/// Names for what an agent without ids said. Its own count begins anew at every load, and goes back when it sums its
/// history up; the journal's numbers never come twice.
struct Names<'a> {
    session_id: &'a SessionId,
    /// The agent's name for the turn, and ours.
    turn: Option<(TurnId, TurnId)>,
    n_items: usize,
}

impl Names<'_> {
    fn name(&mut self, upsert: &mut Upsert, seq: u64) {
        if self.turn.as_ref().is_none_or(|(theirs, _)| *theirs != upsert.turn_id) {
            let ours = TurnId::new(format!("{}:history:{seq}", self.session_id));
            self.turn = Some((upsert.turn_id.clone(), ours));
            self.n_items = 0;
        }
        if let Some((_, ours)) = &self.turn {
            upsert.item_id = ItemId::new(format!("{ours}:{}", self.n_items));
            upsert.turn_id = ours.clone();
            self.n_items += 1;
        }
    }
}
