//! One writer at a time: who is asleep loses, who dies leaves what was there, and a later one goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::machine::{Facts, Machine};
use super::model::{Fault, Killed, Model};
use crate::claim::Claim;
use crate::names::Names;
use crate::server::{Row, Server};
use crate::trouble::TroubleKind;
use chartroom_protocol::index::IndexStatus;
use chartroom_search::store::team::ShareError;

const TERM: Duration = Duration::from_millis(100);

/// What holds on every server: a writer that is not heard of is taken over, and nothing it sends is taken any more.
pub(super) fn asleep(server: &dyn Server) {
    let names = Names::of("asleep");
    let mut sleeper = Claim::take(server, &names, "sleeper", TERM).unwrap();
    sleeper.put(vec![Row::plain("x", "from the sleeper")]).unwrap();
    // It sends nothing for a term.
    let mut taker = Claim::take(server, &names, "taker", TERM).unwrap();
    assert_eq!(taker.fence, sleeper.fence + 1);
    assert!(matches!(sleeper.put(vec![Row::plain("x", "late")]), Err(ShareError::Lost)));
    taker.put(vec![Row::plain("x", "from the taker")]).unwrap();
    assert!(matches!(sleeper.publish(), Err(ShareError::Lost)));
    let collection = taker.collection.clone();
    taker.publish().unwrap();
    assert_eq!(server.alias(&names.current()).unwrap(), Some(collection));
    let next = Claim::take(server, &names, "next", TERM).unwrap();
    assert_eq!(next.fence, 3);
}

#[test]
fn a_writer_that_was_asleep_can_no_longer_write() {
    asleep(&Model::default());
}

/// A writer has looked at its claim for the last time and sleeps before its swap; somebody dies while taking over, at
/// this call; somebody else takes over and publishes; it wakes up. Returns whether the one who died had enough calls.
fn swaps_late(server: &Model, at: usize) -> bool {
    let (asleep, dying, taking) = (server.seen_elsewhere(), server.seen_elsewhere(), server.clone());
    let names = Names::of("swap");
    Claim::take(server, &names, "former", TERM).unwrap().publish().unwrap();
    let mut sleeper = Claim::take(&asleep, &names, "sleeper", TERM).unwrap();
    sleeper.put(vec![Row::plain("x", "from the sleeper")]).unwrap();
    let (died, current) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None)));
    let (told, published) = (Arc::clone(&died), Arc::clone(&current));
    // The first call of a publication is the look.
    asleep.sleep_before(1, move || {
        let names = Names::of("swap");
        dying.script((0..at).map(|_| None).chain([Some(Fault::Kill)]));
        let taken = catch_unwind(AssertUnwindSafe(|| drop(Claim::take(&dying, &names, "dying", TERM))));
        told.store(taken.is_err(), Ordering::SeqCst);
        let taker = Claim::take(&taking, &names, "taker", TERM).unwrap();
        *published.lock().unwrap() = Some(taker.collection.clone());
        taker.publish().unwrap();
    });
    let (mine, late) = (sleeper.collection.clone(), sleeper.publish());
    assert!(matches!(late, Err(ShareError::Lost)), "died at call {at}: {late:?}");
    let current = current.lock().unwrap().clone();
    assert_eq!(server.alias(&names.current()).unwrap(), current, "died at call {at}");
    assert!(!server.collections().contains(&mine), "died at call {at}: what it had is gone");
    died.load(Ordering::SeqCst)
}

#[test]
fn a_sleeper_never_swaps_after_it_was_taken_over_whoever_died_meanwhile() {
    for at in 0.. {
        if !swaps_late(&Model::default(), at) {
            assert!(at > 10, "taking over makes more than {at} calls");
            return;
        }
    }
}

#[test]
fn a_claim_that_stands_for_another_collection_publishes_nothing() {
    let (server, names) = (Model::default(), Names::of("look"));
    let claim = Claim::take(&server, &names, "sleeper", TERM).unwrap();
    // One who takes over died before it dropped the sleeper's collection.
    server.create("elsewhere", Row::NO_VECTOR).unwrap();
    server.point(&names.claim(claim.fence), "elsewhere").unwrap();
    assert!(matches!(claim.publish(), Err(ShareError::Lost)));
    assert_eq!(server.alias(&names.current()), Ok(None));
}

#[test]
fn a_swap_whose_answer_is_lost_is_told_as_what_it_is() {
    // The look, then the swap.
    for (faults, told) in [
        (vec![None, Some(Fault::LoseAnswer)], Ok(1)),
        (
            vec![None, Some(Fault::LoseAnswer), Some(Fault::Refuse(TroubleKind::Transport))],
            Err("it is not known"),
        ),
        (vec![None, Some(Fault::Refuse(TroubleKind::Timeout))], Err("it is not known")),
        (vec![None, Some(Fault::Refuse(TroubleKind::Refused))], Err("scripted")),
    ] {
        let (server, names) = (Model::default(), Names::of("lost"));
        let claim = Claim::take(&server, &names, "writer", TERM).unwrap();
        server.script(faults.clone());
        let published = claim.publish().map_err(|error| error.to_string());
        match told {
            Ok(fence) => assert_eq!(published, Ok(fence), "{faults:?}"),
            Err(says) => assert!(published.as_ref().unwrap_err().contains(says), "{faults:?}: {published:?}"),
        }
    }
}

#[test]
fn a_writer_that_lives_is_never_taken_over() {
    let server = Model::default();
    let names = Names::of("busy");
    let term = Duration::from_secs(2);
    let mut writer = Claim::take(&server, &names, "writer", term).unwrap();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| Claim::take(&server, &names, "other", term).map(|claim| claim.fence));
        while !other.is_finished() {
            writer.put(vec![Row::plain("x", "y")]).unwrap();
            std::thread::yield_now();
        }
        assert!(matches!(other.join().unwrap(), Err(ShareError::Busy { owner }) if owner == "writer"));
    });
    writer.publish().unwrap();
}

#[test]
fn a_writer_that_gives_up_is_followed_at_once() {
    let server = Model::default();
    let names = Names::of("released");
    let term = Duration::from_secs(600);
    Claim::take(&server, &names, "first", term).unwrap().give_up();
    assert_eq!(Claim::take(&server, &names, "second", term).unwrap().fence, 2);
}

#[test]
fn of_many_writers_at_once_the_numbers_are_their_own() {
    let server = Model::default();
    let names = Names::of("many");
    let fences: Vec<u64> = std::thread::scope(|scope| {
        let take = |at: usize| {
            let (server, names) = (server.clone(), &names);
            move || loop {
                match Claim::take(&server, names, &format!("writer {at}"), Duration::from_millis(20)) {
                    Ok(claim) => {
                        let fence = claim.fence;
                        claim.give_up();
                        return fence;
                    }
                    Err(ShareError::Busy { .. } | ShareError::Lost) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        };
        let writers: Vec<_> = (0..8).map(|at| scope.spawn(take(at))).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let mut unique = fences.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), fences.len(), "{fences:?}");
}

#[test]
fn a_share_that_is_killed_at_any_call_leaves_the_former_index_or_the_new_one() {
    for at in 0.. {
        let server = Model::default();
        let (ours, theirs) = (server.seen_elsewhere(), server.seen_elsewhere());
        let (first, second) = (Machine::new(ours.clone()), Machine::with_term(theirs, TERM));
        assert_eq!((first.share().status, second.adopt().status), (IndexStatus::Ok, IndexStatus::Ok));
        first.write("a.rs", "fn delta() {}\n");
        ours.script((0..at).map(|_| None).chain([Some(Fault::Kill)]));
        let ended = catch_unwind(AssertUnwindSafe(|| first.share()));
        ours.always(None);
        assert_eq!(second.facts(), Facts::ok(), "killed at call {at}");
        match ended {
            Ok(shared) => {
                assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
                assert!(at > 15, "a share makes more than {at} calls");
                return;
            }
            Err(panic) => assert!(panic.is::<Killed>()),
        }
        // Another machine goes on, whatever was left.
        second.write("a.rs", "fn epsilon() {}\n");
        let shared = second.share();
        assert_eq!(shared.status, IndexStatus::Ok, "killed at call {at}: {}", shared.message);
        assert_eq!(first.facts(), Facts::ok(), "killed at call {at}");
    }
}
