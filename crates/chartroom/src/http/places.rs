//! The places of connections: few and short ones for strangers, many for those that have shown a key.
//!
//! Whoever connects is a stranger until a request of the connection has shown the bearer token, or a cookie with its
//! page's key. Strangers never wait for each other: when there are too many, the one that has waited longest goes, of the
//! peer that has most of them. So nobody without a key can keep the owner out, however many connections it opens.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::time::Instant;

use super::limits;

/// How many may be here, and for how long without a key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) strangers: usize,
    pub(super) known: usize,
    /// How long a stranger may be silent.
    pub(super) patience: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { strangers: limits::STRANGERS, known: limits::CONNECTIONS, patience: limits::STRANGER_SILENCE }
    }
}

/// All places of one server.
#[derive(Debug)]
pub(super) struct Places {
    shared: Arc<Shared>,
    all_gone: mpsc::Receiver<()>,
}

#[derive(Debug)]
struct Shared {
    bounds: Bounds,
    /// The one that has waited longest first.
    strangers: Mutex<VecDeque<Arc<Stranger>>>,
    known: Arc<Semaphore>,
}

#[derive(Debug)]
struct Stranger {
    peer: IpAddr,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It has sent no whole request since then.
    Silent(Instant),
    /// A request of it is being answered.
    Answered,
    /// It has shown a key.
    Known,
    /// Its place was given to another.
    TurnedAway,
}

/// One connection's place. A WebSocket takes it along when the connection becomes one.
#[derive(Debug, Clone)]
pub(super) struct Place {
    held: Arc<Held>,
}

#[derive(Debug)]
struct Held {
    shared: Arc<Shared>,
    stranger: Arc<Stranger>,
    permit: OnceLock<OwnedSemaphorePermit>,
    /// The last one that is dropped tells that everybody is gone.
    _open: mpsc::Sender<()>,
}

impl Places {
    /// Returns the places, and what makes a new one.
    pub(super) fn new(bounds: Bounds) -> (Self, Entrance) {
        let (open, all_gone) = mpsc::channel(1);
        let known = Arc::new(Semaphore::new(bounds.known));
        let shared = Arc::new(Shared { bounds, strangers: Mutex::default(), known });
        (Self { shared: shared.clone(), all_gone }, Entrance { shared, open })
    }

    /// Waits until the entrance is closed and every place is given back.
    pub(super) async fn all_gone(mut self) {
        // Nothing is ever sent.
        self.all_gone.recv().await;
        debug_assert!(self.shared.strangers().is_empty(), "who is gone has no place");
    }
}

/// Gives places to those who come.
#[derive(Debug)]
pub(super) struct Entrance {
    shared: Arc<Shared>,
    open: mpsc::Sender<()>,
}

impl Entrance {
    /// Gives a place to a new connection, at once; another stranger's if need be.
    pub(super) fn take(&self, peer: IpAddr) -> Place {
        let state = watch::Sender::new(State::Silent(Instant::now()));
        let stranger = Arc::new(Stranger { peer, state });
        let mut strangers = self.shared.strangers();
        strangers.push_back(stranger.clone());
        if strangers.len() > self.shared.bounds.strangers
            && let Some(leaving) = leaving(&strangers).and_then(|position| strangers.remove(position))
        {
            leaving.state.send_replace(State::TurnedAway);
        }
        drop(strangers);
        let held =
            Held { shared: self.shared.clone(), stranger, permit: OnceLock::new(), _open: self.open.clone() };
        Place { held: Arc::new(held) }
    }
}

impl Place {
    /// Notes that a request came, and when the answer is dropped that the connection is silent again.
    pub(super) fn answer(&self) -> Answering {
        self.held.stranger.change(State::Answered);
        Answering { stranger: self.held.stranger.clone() }
    }

    /// A request has shown a key: from now on nobody else can take the place. Waits while too many have one.
    pub(super) async fn keep(&self) {
        if self.held.permit.get().is_some() {
            return;
        }
        let Ok(permit) = self.held.shared.known.clone().acquire_owned().await else {
            return tracing::error!("the places were closed, which nobody does");
        };
        // A connection has one request at a time, so that nobody has set it meanwhile.
        self.held.permit.set(permit).ok();
        self.held.stranger.change(State::Known);
        self.held.shared.forget(&self.held.stranger);
    }

    /// Resolves when the connection must go: it was silent for too long, or its place was given to another.
    pub(super) async fn turned_away(&self) {
        let mut states = self.held.stranger.state.subscribe();
        loop {
            let state = *states.borrow_and_update();
            let patience = async {
                match state {
                    State::Silent(since) => {
                        tokio::time::sleep_until(since + self.held.shared.bounds.patience).await;
                    }
                    State::TurnedAway => {}
                    State::Answered | State::Known => std::future::pending().await,
                }
            };
            tokio::select! {
                () = patience => return,
                // The sender lives as long as this place.
                _ = states.changed() => {}
            }
        }
    }
}

/// Held while a request is answered.
#[derive(Debug)]
pub(super) struct Answering {
    stranger: Arc<Stranger>,
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.stranger.change(State::Silent(Instant::now()));
    }
}

impl Stranger {
    /// Who is known stays known, and who was turned away stays away.
    fn change(&self, next: State) {
        self.state.send_if_modified(|state| {
            let changes = !matches!(state, State::Known | State::TurnedAway);
            if changes {
                *state = next;
            }
            changes
        });
    }
}

impl Shared {
    fn strangers(&self) -> MutexGuard<'_, VecDeque<Arc<Stranger>>> {
        self.strangers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, stranger: &Arc<Stranger>) {
        self.strangers().retain(|one| !Arc::ptr_eq(one, stranger));
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.shared.forget(&self.stranger);
    }
}

/// Whose place is given away: of the peer with most strangers the one that has waited longest, one that is being
/// answered only when all are.
fn leaving(strangers: &VecDeque<Arc<Stranger>>) -> Option<usize> {
    let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
    for stranger in strangers {
        *counts.entry(stranger.peer).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    let of_peer = |one: &Arc<Stranger>| counts.get(&one.peer) == Some(&most);
    let silent = |one: &Arc<Stranger>| matches!(*one.state.borrow(), State::Silent(_));
    strangers
        .iter()
        .position(|one| of_peer(one) && silent(one))
        .or_else(|| strangers.iter().position(of_peer))
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn entrance(strangers: usize, known: usize) -> Entrance {
        Places::new(Bounds { strangers, known, patience: DAY }).1
    }

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([127, 0, 0, last])
    }

    fn is_away(place: &Place) -> bool {
        place.turned_away().now_or_never().is_some()
    }

    #[tokio::test]
    async fn a_stranger_too_many_takes_the_place_of_the_one_that_waits_longest() {
        let entrance = entrance(2, 1);
        let places: Vec<Place> = (0..4).map(|_| entrance.take(peer(1))).collect();
        assert_eq!(places.iter().map(is_away).collect::<Vec<_>>(), [true, true, false, false]);
    }

    #[tokio::test]
    async fn the_peer_with_most_strangers_makes_room() {
        let entrance = entrance(3, 1);
        let quiet = entrance.take(peer(2));
        let places: Vec<Place> = (0..5).map(|_| entrance.take(peer(1))).collect();
        assert!(!is_away(&quiet));
        assert_eq!(places.iter().map(is_away).collect::<Vec<_>>(), [true, true, true, false, false]);
    }

    #[tokio::test]
    async fn who_is_being_answered_goes_last() {
        let entrance = entrance(2, 1);
        let (first, second) = (entrance.take(peer(1)), entrance.take(peer(1)));
        let answering = first.answer();
        let third = entrance.take(peer(1));
        assert!(!is_away(&first) && is_away(&second));
        let _answering_too = third.answer();
        // All of the others are being answered, and so the newcomer itself is the only silent one.
        assert!(is_away(&entrance.take(peer(1))));
        drop(answering);
        let fourth = entrance.take(peer(1));
        assert!(is_away(&first) && !is_away(&third) && !is_away(&fourth));
    }

    #[tokio::test]
    async fn who_has_shown_a_key_keeps_its_place() {
        let entrance = entrance(1, 1);
        let owner = entrance.take(peer(1));
        owner.keep().await;
        let strangers: Vec<Place> = (0..10).map(|_| entrance.take(peer(1))).collect();
        assert!(!is_away(&owner) && !is_away(&strangers[9]));
        assert_eq!(entrance.shared.strangers().len(), 1);
        let next = entrance.take(peer(1));
        assert!(next.keep().now_or_never().is_none(), "there is one such place");
        drop(owner);
        next.keep().await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stranger_has_little_time_and_one_with_a_key_all_of_it() {
        let (_places, entrance) =
            Places::new(Bounds { patience: Duration::from_secs(5), ..Bounds::default() });
        let (silent, owner, slow) = (entrance.take(peer(1)), entrance.take(peer(1)), entrance.take(peer(1)));
        owner.keep().await;
        let answering = slow.answer();
        let started = Instant::now();
        silent.turned_away().await;
        assert_eq!(started.elapsed(), Duration::from_secs(5));
        tokio::time::advance(DAY).await;
        assert!(!is_away(&owner) && !is_away(&slow));
        drop(answering);
        slow.turned_away().await;
        assert_eq!(started.elapsed(), DAY + Duration::from_secs(10));
    }

    #[tokio::test]
    async fn the_end_waits_for_every_place() {
        let (places, entrance) = Places::new(Bounds::default());
        let place = entrance.take(peer(1));
        drop(entrance);
        let mut all_gone = std::pin::pin!(places.all_gone());
        assert!(all_gone.as_mut().now_or_never().is_none());
        drop(place);
        all_gone.await;
    }
}
