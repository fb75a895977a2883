//! Tells the items of an agent's history that the journal lacks from those that it has.

use std::collections::{HashSet, VecDeque};

use chartroom_protocol::ids::TurnId;
use chartroom_protocol::stream::Origin;
use chartroom_protocol::upsert::{Upsert, UpsertBody};

use super::words::{self, Found};
use crate::provider::SaidTurn;
use crate::store::KnownItems;

/// What the journal has, in the terms in which the agent tells its history.
pub(super) enum News {
    Ids(Ids),
    Words { new: HashSet<TurnId>, found: HashSet<TurnId> },
}

/// An agent keeps our turn's id with a message that it got from us. Of a turn that we began the journal has all that we
/// heard; of others the items count.
pub(super) struct Ids {
    items: HashSet<String>,
    /// Turns that were begun here, in order, with what was said, until the first of them is found under its id.
    begun_here: VecDeque<(TurnId, String)>,
    /// Whether the agent has kept an id of ours. One of an old version does not; its messages are told by their words.
    keeps_ids: bool,
    /// Turns of ours under the agent's ids.
    renamed: HashSet<TurnId>,
    found: HashSet<TurnId>,
}

impl News {
    pub(super) fn by_ids(known: KnownItems) -> Self {
        Self::Ids(Ids {
            items: known.item_ids,
            begun_here: known.begun_here.into(),
            keeps_ids: false,
            renamed: HashSet::new(),
            found: HashSet::new(),
        })
    }

    pub(super) fn by_words(journal: &[SaidTurn], history: &[SaidTurn]) -> Self {
        let (mut new, mut found) = (HashSet::new(), HashSet::new());
        for (turn, place) in history.iter().zip(words::find(journal, history)) {
            match place {
                Found::New => drop(new.insert(turn.turn_id.clone())),
                Found::At(index) => found.extend(journal.get(index).map(|turn| turn.turn_id.clone())),
                Found::Elsewhere => {}
            }
        }
        Self::Words { new, found }
    }

    /// Tells whether the history is worth reading.
    pub(super) fn may_come(&self) -> bool {
        match self {
            Self::Ids(_) => true,
            Self::Words { new, .. } => !new.is_empty(),
        }
    }

    pub(super) fn is_new(&mut self, upsert: &Upsert) -> bool {
        match self {
            Self::Ids(ids) => ids.is_new(upsert),
            Self::Words { new, .. } => new.contains(&upsert.turn_id),
        }
    }

    /// Tells whether a turn of the journal stood in the history, as far as it was read.
    pub(super) fn was_found(&self, turn_id: &TurnId) -> bool {
        match self {
            Self::Ids(Ids { found, .. }) | Self::Words { found, .. } => found.contains(turn_id),
        }
    }
}

impl Ids {
    fn is_new(&mut self, upsert: &Upsert) -> bool {
        let turn_id = &upsert.turn_id;
        if self.items.contains(&format!("{turn_id}:user")) {
            self.keeps_ids = true;
            self.found.insert(turn_id.clone());
            return false;
        }
        let message = user_message(upsert);
        if !self.keeps_ids
            && self.begun_here.front().is_some_and(|(_, said)| message == Some(said.as_str()))
            && let Some((ours, _)) = self.begun_here.pop_front()
        {
            self.renamed.insert(turn_id.clone());
            self.found.insert(ours);
        }
        !self.renamed.contains(turn_id) && !self.items.contains(upsert.item_id.as_str())
    }
}

pub(super) fn user_message(upsert: &Upsert) -> Option<&str> {
    match &upsert.body {
        UpsertBody::Message { content, origin: Origin::User, .. } => Some(content),
        UpsertBody::Message { .. } | UpsertBody::Thinking { .. } | UpsertBody::ToolCall { .. } => None,
    }
}
