//! A server that did not answer is not asked again at once: whoever searches waits once, not at every search.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::server::Kind;
use crate::trouble::Trouble;

/// How long a kind of call is refused after it met an outage.
pub(crate) const REST: Duration = Duration::from_secs(5);

/// One breaker a kind of call.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    open: Mutex<HashMap<Kind, (Instant, Trouble)>>,
    last: Mutex<Option<(String, String)>>,
}

impl Breaker {
    /// The trouble that is still too fresh for another call.
    pub(crate) fn check(&self, kind: Kind, now: Instant) -> Result<(), Trouble> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match open.get(&kind) {
            Some((until, trouble)) if now < *until => {
                let seconds = (*until - now).as_secs() + 1;
                let text = format!("{} (not asked again for {seconds} s)", trouble.text);
                Err(Trouble::new(trouble.kind, text))
            }
            _ => Ok(()),
        }
    }

    /// Takes note of how a call ended.
    pub(crate) fn note<T>(&self, kind: Kind, ended: Instant, outcome: &Result<T, Trouble>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Err(trouble) if trouble.is_outage() => drop(open.insert(kind, (ended + REST, trouble.clone()))),
            _ => drop(open.remove(&kind)),
        }
        if let Err(trouble) = outcome
            && trouble.is_worth_telling()
        {
            let at = jiff::Timestamp::now().to_string();
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((trouble.text.clone(), at));
        }
    }

    /// The last trouble that a person should hear of.
    pub(crate) fn last(&self) -> Option<(String, String)> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trouble::TroubleKind;

    #[test]
    fn an_outage_of_one_kind_rests_that_kind_alone_and_ends() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        let outage: Result<(), _> = Err(Trouble::new(TroubleKind::Timeout, "late"));
        breaker.note(Kind::Probe, now, &outage);
        let refused = breaker.check(Kind::Probe, now).unwrap_err();
        assert_eq!(refused.kind, TroubleKind::Timeout);
        assert!(refused.text.starts_with("late (not asked again for"), "{}", refused.text);
        assert_eq!(breaker.check(Kind::Read, now), Ok(()));
        assert_eq!(breaker.check(Kind::Probe, now + REST), Ok(()));
        breaker.note(Kind::Probe, now, &Ok(()));
        assert_eq!(breaker.check(Kind::Probe, now), Ok(()));
        assert_eq!(breaker.last().unwrap().0, "late");
    }

    #[test]
    fn a_refusal_of_a_server_that_serves_opens_nothing() {
        let (breaker, now) = (Breaker::default(), Instant::now());
        for kind in [TroubleKind::Auth, TroubleKind::Missing, TroubleKind::Refused, TroubleKind::Shape] {
            breaker.note(Kind::Probe, now, &Err::<(), _>(Trouble::new(kind, "no")));
            assert_eq!(breaker.check(Kind::Probe, now), Ok(()), "{kind:?}");
        }
    }
}
