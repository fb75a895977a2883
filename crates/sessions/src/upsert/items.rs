//! The items in flight, in the order they began, found by their id and by their call.

use std::collections::{BTreeMap, VecDeque};

use chartroom_protocol::ids::{CallId, ItemId, TurnId};
use chartroom_protocol::turn::TurnStatus;

use super::item::{Body, Item};
use crate::hash::{HashMap, HashSet};

/// Calls of ended turns whose result may still come (an agent's background work), and ids that are done with.
const KEPT: usize = 1024;

#[derive(Default)]
pub(super) struct Items {
    next: u64,
    /// By the order in which they began: whatever is said about several of them is said in this order.
    open: BTreeMap<u64, Item>,
    by_id: HashMap<ItemId, u64>,
    by_call: HashMap<CallId, u64>,
    closed: Recent<ItemId>,
    answered: Recent<CallId>,
    /// Calls without a result whose turn is over. They say nothing by themselves.
    late: VecDeque<Item>,
}

impl Items {
    /// Begins an item; one that has begun or ended before stays as it is.
    pub(super) fn open(&mut self, item: Item) {
        if self.by_id.contains_key(&item.item_id) || self.closed.contains(&item.item_id) {
            return;
        }
        let place = self.next;
        self.next += 1;
        self.by_id.insert(item.item_id.clone(), place);
        if let Body::Call(call) = &item.body {
            self.by_call.insert(call.call_id.clone(), place);
        }
        self.open.insert(place, item);
    }

    pub(super) fn get_mut(&mut self, item_id: &ItemId) -> Option<&mut Item> {
        self.open.get_mut(self.by_id.get(item_id)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Item> {
        self.open.values()
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Item> {
        self.open.values_mut()
    }

    pub(super) fn is_closed(&self, item_id: &ItemId) -> bool {
        self.closed.contains(item_id)
    }

    /// Ends an item: it is not found again, and cannot begin again.
    pub(super) fn close(&mut self, item_id: &ItemId) -> Option<Item> {
        let place = *self.by_id.get(item_id)?;
        self.remove(place)
    }

    /// Ends the call that a result answers, of this turn or of one that is over.
    pub(super) fn close_call(&mut self, call_id: &CallId) -> Option<Item> {
        let item = match self.by_call.get(call_id).copied() {
            Some(place) => self.remove(place),
            None => {
                let index = self
                    .late
                    .iter()
                    .position(|item| matches!(&item.body, Body::Call(call) if call.call_id == *call_id))?;
                self.late.remove(index)
            }
        };
        self.answered(call_id);
        item
    }

    pub(super) fn is_answered(&self, call_id: &CallId) -> bool {
        self.answered.contains(call_id)
    }

    pub(super) fn answered(&mut self, call_id: &CallId) {
        self.answered.insert(call_id.clone());
    }

    /// Takes the items of a turn that ends.
    pub(super) fn end_turn(&mut self, turn_id: &TurnId) -> Vec<Item> {
        let places: Vec<u64> =
            self.open.iter().filter(|(_, item)| item.turn_id == *turn_id).map(|(place, _)| *place).collect();
        places.into_iter().filter_map(|place| self.remove(place)).collect()
    }

    /// Keeps a call whose turn is over, in case its result comes with a later turn; a cancelled turn's does not count.
    pub(super) fn end_call(&mut self, item: Item, status: TurnStatus) {
        let Body::Call(call) = &item.body else { return };
        match status {
            TurnStatus::Completed => {
                if self.late.len() == KEPT {
                    self.late.pop_front();
                }
                self.late.push_back(item);
            }
            TurnStatus::Cancelled => self.answered.insert(call.call_id.clone()),
        }
    }

    /// Ends an item in the middle, a call with what its output has said so far: nothing follows for it.
    pub(super) fn cut(&mut self, item_id: &ItemId) -> Option<(Item, Option<String>)> {
        let partial_output = self.partial_output(item_id);
        let item = self.close(item_id)?;
        if let Body::Call(call) = &item.body {
            self.answered.insert(call.call_id.clone());
        }
        Some((item, partial_output))
    }

    /// Returns what the output of a call has said so far.
    pub(super) fn partial_output(&self, item_id: &ItemId) -> Option<String> {
        let Body::Call(call) = &self.open.get(self.by_id.get(item_id)?)?.body else { return None };
        self.open.values().find_map(|item| match &item.body {
            Body::Output { call_id, content } if *call_id == call.call_id && !content.is_empty() => {
                Some(content.clone())
            }
            Body::Output { .. } | Body::Text(_) | Body::Call(_) => None,
        })
    }

    /// Takes items, each call with what its output has said so far.
    pub(super) fn take(&mut self, which: impl Fn(&Item) -> bool) -> Vec<(Item, Option<String>)> {
        let places: Vec<u64> =
            self.open.iter().filter(|(_, item)| which(item)).map(|(place, _)| *place).collect();
        let mut outputs = HashMap::default();
        let mut taken = Vec::new();
        for place in places {
            let Some(item) = self.remove(place) else { continue };
            match item.body {
                Body::Output { call_id, content } if !content.is_empty() => {
                    outputs.insert(call_id, content);
                }
                _ => taken.push(item),
            }
        }
        taken
            .into_iter()
            .map(|item| {
                let output = match &item.body {
                    Body::Call(call) => outputs.remove(&call.call_id),
                    Body::Text(_) | Body::Output { .. } => None,
                };
                (item, output)
            })
            .collect()
    }

    fn remove(&mut self, place: u64) -> Option<Item> {
        let item = self.open.remove(&place)?;
        self.by_id.remove(&item.item_id);
        if let Body::Call(call) = &item.body {
            self.by_call.remove(&call.call_id);
        }
        self.closed.insert(item.item_id.clone());
        Some(item)
    }
}

/// A set that forgets its oldest members.
struct Recent<T> {
    order: VecDeque<T>,
    members: HashSet<T>,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { order: VecDeque::new(), members: HashSet::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Recent<T> {
    fn insert(&mut self, member: T) {
        if !self.members.insert(member.clone()) {
            return;
        }
        if self.order.len() == KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.members.remove(&oldest);
        }
        self.order.push_back(member);
    }

    fn contains(&self, member: &T) -> bool {
        self.members.contains(member)
    }
}
