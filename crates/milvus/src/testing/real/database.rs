//! The `database` setting.

use std::sync::Arc;

use chartroom_protocol::index::IndexStatus;
use chartroom_search::sqlite::SqliteStore;

use super::fingerprint;
use super::line::PATIENT;
use super::place::Place;
use crate::grpc::{Address, MilvusServer};
use crate::names::{self, Names};
use crate::server::Server;
use crate::store::TeamStore;
use crate::testing::machine::{Facts, Machine, PROJECT};

#[test]
fn what_is_shared_in_one_database_is_not_seen_from_another() {
    let place = Place::lite();
    let (ours, theirs) = (place.database(), place.database());
    let first = Machine::new(ours.line());
    let shared = first.share();
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    let second = Machine::new(ours.line());
    assert_eq!((second.adopt().status, second.embedded()), (IndexStatus::Ok, 0));
    for elsewhere in [&theirs, &place] {
        let stranger = Machine::new(elsewhere.line());
        assert_eq!(stranger.adopt().status, IndexStatus::NotIndexed);
        assert_eq!(elsewhere.connect().alias(&Names::of(PROJECT).current()), Ok(None));
        assert_eq!(elsewhere.connect().dimension(&names::files(&fingerprint())), Ok(None));
    }
    // The same name in another database is another project.
    let third = Machine::new(theirs.line());
    third.write("a.rs", "fn other() {}\n");
    assert_eq!(third.share().status, IndexStatus::Ok);
    assert_eq!((first.facts(), second.facts(), third.facts()), (Facts::ok(), Facts::ok(), Facts::ok()));
    assert_eq!(second.search("x").freshness_decision.unwrap().team.unwrap().overlaid_files, 0);
    let address = ours.connect().address();
    assert!(address.contains(ours.address.database.as_ref().unwrap()), "{address}");
}

#[test]
fn a_database_that_is_not_there_is_told_by_its_name_and_proves_nothing() {
    let place = Place::lite();
    let mut machine = Machine::new(place.line());
    assert_eq!(machine.share().status, IndexStatus::Ok);
    let bytes = machine.bytes();
    let elsewhere = || {
        let address = Address { database: Some("no_such".into()), ..place.address.clone() };
        MilvusServer::new(address).unwrap().with_patience(PATIENT)
    };
    let own = Arc::new(SqliteStore::open(&machine.data).unwrap());
    machine.reconfigure(Arc::new(TeamStore::new(&machine.data, own, Arc::new(elsewhere()))), "model");
    assert_eq!(machine.facts(), Facts::unproven(), "that is no answer of the team's index");
    assert_eq!(machine.bytes(), bytes);

    let stranger = Machine::new(elsewhere());
    let adopted = stranger.adopt();
    assert_eq!(adopted.status, IndexStatus::Error, "{}", adopted.message);
    assert!(adopted.message.contains("no_such") && stranger.bytes().is_empty(), "{}", adopted.message);
    assert!(adopted.message.contains("[index] store"), "{}", adopted.message);
    let shared = stranger.share();
    assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message);
    assert!(shared.message.contains("no_such"), "{}", shared.message);
}
