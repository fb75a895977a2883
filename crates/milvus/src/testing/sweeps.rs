//! What nobody names any more goes, under the claim and after its grace; and nothing else does.

use std::time::Duration;

use chartroom_protocol::index::IndexStatus;

use super::machine::{Facts, Machine, PROJECT};
use super::model::{Fault, Model};
use crate::names::Names;
use crate::server::Server;
use crate::store::TERM;
use crate::sweep::Sweeping;
use crate::trouble::TroubleKind;

/// A share sweeps each time, and what the one before condemned goes.
pub(super) const AT_ONCE: Sweeping = Sweeping { every: Duration::ZERO, grace: Duration::ZERO };

fn text(round: usize) -> String {
    format!("fn round_{round}() {{}}\n")
}

#[track_caller]
fn share(machine: &Machine) -> String {
    let shared = machine.share();
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    shared.message
}

/// What holds on every server: of ten versions of a file some few are left, of which the newest is one; what another
/// project has stays; and who adopts embeds nothing.
pub(super) fn leaves_what_is_named(server: impl Server + Clone + 'static, rows: impl Fn(&str) -> usize) {
    let machine = Machine::sweeping(server.clone(), TERM, AT_ONCE);
    let other = Machine::new(server.clone());
    other.write("c.rs", &text(0));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let shared = runtime.block_on(other.service().share(&other.root, Some("another")));
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    let others = (rows("_files"), rows("_vectors"));
    for round in 0..10 {
        machine.write("c.rs", &text(round));
        share(&machine);
    }
    // Two files that stay; of the third the newest, the former one, and one that is condemned.
    assert_eq!(rows("_files") - others.0, 2 + 3);
    let per_version = others.1 / 3;
    assert!(rows("_vectors") - others.1 <= others.1 + 2 * per_version, "{} {}", rows("_vectors"), others.1);
    let laptop = Machine::new(server);
    laptop.write("c.rs", &text(9));
    assert_eq!((laptop.adopt().status, laptop.embedded()), (IndexStatus::Ok, 0));
    assert_eq!((laptop.facts(), laptop.found("round")), (Facts::ok(), machine.found("round")));
    // A version that went is made where it is needed.
    laptop.write("c.rs", &text(1));
    assert!(laptop.finds("round_1") && laptop.embedded() > 0);
}

#[test]
fn versions_that_no_generation_names_go_and_what_is_named_stays() {
    let server = Model::default();
    leaves_what_is_named(server.clone(), |end| server.rows(end));
}

#[test]
fn nothing_goes_before_its_grace_is_over_or_more_often_than_is_said() {
    for (every, grace) in [(0, 3600), (3600, 0)] {
        let server = Model::default();
        let sweeping = Sweeping { every: Duration::from_secs(every), grace: Duration::from_secs(grace) };
        let machine = Machine::sweeping(server.clone(), TERM, sweeping);
        for round in 0..6 {
            machine.write("c.rs", &text(round));
            share(&machine);
        }
        assert_eq!(server.rows("_files"), 2 + 6, "every {every} s, grace {grace} s");
    }
}

#[test]
fn a_version_that_is_named_again_is_condemned_no_more() {
    let server = Model::default();
    let machine = Machine::sweeping(server.clone(), TERM, AT_ONCE);
    for round in [0, 1, 2, 0, 3, 0, 4, 0] {
        machine.write("c.rs", &text(round));
        share(&machine);
        let laptop = Machine::new(server.seen_elsewhere());
        laptop.write("c.rs", &text(round));
        assert_eq!((laptop.adopt().status, laptop.embedded()), (IndexStatus::Ok, 0), "round {round}");
    }
}

#[test]
fn a_token_that_may_not_delete_shares_all_the_same() {
    let server = Model::default();
    let machine = Machine::sweeping(server.clone(), TERM, AT_ONCE);
    for round in 0..6 {
        machine.write("c.rs", &text(round));
        server.refuse_deletions(Some(TroubleKind::Auth));
        share(&machine);
    }
    assert_eq!(server.rows("_files"), 2 + 6);
    // With another token all of it goes.
    server.refuse_deletions(None);
    machine.write("c.rs", &text(6));
    share(&machine);
    assert_eq!(server.rows("_files"), 2 + 3);
}

/// Killed anywhere in a share that sweeps, nothing that is named is missing, and the next one goes on.
#[test]
fn a_sweep_that_is_killed_at_any_call_takes_nothing_that_is_named() {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    for at in 0.. {
        let server = Model::default();
        let ours = server.seen_elsewhere();
        let term = Duration::from_millis(5);
        let machine = Machine::sweeping(ours.clone(), term, AT_ONCE);
        for round in 0..4 {
            machine.write("c.rs", &text(round));
            share(&machine);
        }
        machine.write("c.rs", &text(4));
        ours.script((0..at).map(|_| None).chain([Some(Fault::Kill)]));
        let whole = catch_unwind(AssertUnwindSafe(|| machine.share())).is_ok();
        ours.always(None);
        let laptop = Machine::new(server.seen_elsewhere());
        laptop.write("c.rs", &text(if whole { 4 } else { 3 }));
        assert_eq!((laptop.adopt().status, laptop.embedded()), (IndexStatus::Ok, 0), "killed at {at}");
        machine.write("c.rs", &text(5));
        share(&machine);
        if whole {
            assert!(at > 20, "a share that sweeps makes more than {at} calls");
            return;
        }
    }
}

/// The one race that is left: it costs an embedding and no answer, and the next sweep mends it.
#[test]
fn what_a_sleeper_deletes_after_all_is_sent_again_by_the_next_sweep() {
    let server = Model::default();
    let writer = Machine::sweeping(server.clone(), TERM, AT_ONCE);
    for round in 0..4 {
        writer.write("c.rs", &text(round));
        share(&writer);
    }
    // Whatever a sleeper could delete: a version that is named, and its vector.
    let names = Names::of(PROJECT);
    for collection in server.collections() {
        if collection.ends_with("_files") || collection.ends_with("_vectors") {
            let ids: Vec<String> = server.ids(&collection, &names.keys()).unwrap().into_iter().collect();
            server.delete(&collection, &ids).unwrap();
        }
    }
    let laptop = Machine::new(server.seen_elsewhere());
    laptop.write("c.rs", &text(3));
    assert_eq!(laptop.adopt().status, IndexStatus::Ok);
    assert!(laptop.embedded() > 0, "it makes them itself");
    assert_eq!(laptop.found("round"), writer.found("round"), "and answers the same");
    writer.write("d.rs", "fn more() {}\n");
    share(&writer);
    let next = Machine::new(server.seen_elsewhere());
    next.write("c.rs", &text(3));
    next.write("d.rs", "fn more() {}\n");
    assert_eq!((next.adopt().status, next.embedded()), (IndexStatus::Ok, 0));
}
