//! Which subscription of each session counts while it is on its way: the last one, unless it was taken back.

use std::collections::HashMap;

use chartroom_protocol::ids::SessionId;

#[derive(Debug, Default)]
pub(super) struct Wanted {
    numbers: HashMap<SessionId, u64>,
    last: u64,
}

impl Wanted {
    /// Notes a subscription that begins; it is known by [`Wanted::last`] from now on.
    pub(super) fn begin(&mut self, session_id: &SessionId) {
        self.last += 1;
        self.numbers.insert(session_id.clone(), self.last);
    }

    /// The number of the subscription that began last.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Notes that a subscription was taken back.
    pub(super) fn take_back(&mut self, session_id: &SessionId) {
        self.numbers.remove(session_id);
    }

    /// Notes that a subscription is ready or has failed, and tells whether it still counts.
    pub(super) fn end(&mut self, session_id: &SessionId, number: u64) -> bool {
        let counts = self.numbers.get(session_id) == Some(&number);
        if counts {
            self.numbers.remove(session_id);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_subscription_counts_and_only_until_it_ends() {
        let session = SessionId::new("s");
        let mut wanted = Wanted::default();
        wanted.begin(&session);
        let first = wanted.last();
        wanted.begin(&session);
        let second = wanted.last();
        assert!(!wanted.end(&session, first));
        assert!(wanted.end(&session, second));
        assert!(!wanted.end(&session, second));
        wanted.begin(&session);
        wanted.take_back(&session);
        assert!(!wanted.end(&session, wanted.last()));
        assert!(wanted.numbers.is_empty());
    }
}
