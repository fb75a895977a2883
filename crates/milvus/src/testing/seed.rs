//! The seed's tests A–G with a store that is a server: whatever it answers, no read changes a byte of the catalog.

use chartroom_protocol::index::{IndexStatus, ManageAction, ProofReason};

use super::machine::Facts;
use super::machines::two;
use super::model::{Fault, Model};
use crate::names::Names;
use crate::overlay::MARKER_ROW;
use crate::trouble::TroubleKind;

const OUTAGES: [TroubleKind; 6] = [
    TroubleKind::Timeout,
    TroubleKind::Transport,
    TroubleKind::Auth,
    TroubleKind::Unavailable,
    TroubleKind::Parse,
    TroubleKind::Refused,
];

#[test]
fn a_server_that_does_not_answer_is_probe_failed_and_changes_nothing() {
    let server = Model::default();
    let elsewhere = server.seen_elsewhere();
    let (_first, second) = two(server, elsewhere.clone());
    let bytes = second.bytes();
    assert_eq!(second.facts(), Facts::ok());
    for kind in OUTAGES {
        elsewhere.always(Some(Fault::Refuse(kind)));
        assert_eq!(second.facts(), Facts::unproven(), "{kind:?}");
        assert!(second.finds("alpha"), "{kind:?}");
        elsewhere.always(None);
        assert_eq!(second.facts(), Facts::ok(), "{kind:?}");
    }
    assert_eq!(second.bytes(), bytes);
}

#[test]
fn a_server_that_was_emptied_is_stale_local_and_comes_back() {
    let server = Model::default();
    let (first, second) = two(server.clone(), server.seen_elsewhere());
    let (bytes, restore) = (second.bytes(), server.backup());
    server.empty();
    let facts = second.facts();
    assert_eq!((facts.search, facts.stale), (IndexStatus::NotIndexed, Some(ProofReason::MissingMarkerDoc)));
    assert_eq!(facts.listed, 1, "membership is not the server's");
    assert_eq!(second.bytes(), bytes);
    restore();
    assert_eq!(second.facts(), Facts::ok());
    server.empty();
    assert_eq!(first.share().status, IndexStatus::Ok, "whoever has it can share it again");
    assert_eq!(first.embedded(), 0);
    assert_eq!(second.facts(), Facts::ok());
    assert_eq!(second.bytes(), bytes);
}

#[test]
fn the_create_that_is_recommended_mends_a_machine_whose_team_lost_its_index() {
    let server = Model::default();
    let (first, second) = two(server.clone(), server.seen_elsewhere());
    server.empty();
    assert_eq!(second.facts().stale, Some(ProofReason::MissingMarkerDoc));
    let created = second.create_unforced();
    assert_eq!(created.status, IndexStatus::Ok, "{}", created.human_text);
    let told = created.operation.unwrap().message.unwrap();
    assert!(told.contains("'team/app' is gone"), "{told}");
    assert_eq!((second.facts(), second.embedded()), (Facts::ok(), 0));
    assert!(second.search("alpha").freshness_decision.unwrap().team.is_none(), "it is its own");
    // Who writes shares it again, by a create or by the sync of every merge.
    let created = first.create_unforced();
    let told = created.operation.unwrap().message.unwrap();
    assert!(told.contains("shared again, generation 1"), "{told}");
    assert_eq!((first.facts(), first.embedded()), (Facts::ok(), 0));
    server.empty();
    let synced = first.manage(ManageAction::Sync);
    assert_eq!(synced.status, IndexStatus::Ok, "{}", synced.message);
    assert!(synced.message.contains("generation 1"), "{}", synced.message);
    assert_eq!((second.adopt().status, second.facts()), (IndexStatus::Ok, Facts::ok()));
}

#[test]
fn an_outage_during_a_create_unbinds_nothing() {
    let server = Model::default();
    let elsewhere = server.seen_elsewhere();
    let (_first, second) = two(server, elsewhere.clone());
    elsewhere.always(Some(Fault::Refuse(TroubleKind::Timeout)));
    assert_eq!(second.create_unforced().status, IndexStatus::Ok);
    elsewhere.always(None);
    assert!(second.search("alpha").freshness_decision.unwrap().team.is_some(), "it is the team's as before");
}

#[test]
fn each_wrong_marker_has_its_own_outcome() {
    let server = Model::default();
    let (_first, second) = two(server.clone(), server.seen_elsewhere());
    let (bytes, restore, alias) = (second.bytes(), server.backup(), Names::of("team/app").current());
    let other_model = r#""embeddingModel":"other""#;
    for (marker, expected) in [
        (None, (IndexStatus::NotIndexed, Some(ProofReason::MissingMarkerDoc))),
        (Some("garbage".into()), (IndexStatus::NotIndexed, Some(ProofReason::InvalidPayload))),
        (Some(r#"{"kind":"x"}"#.into()), (IndexStatus::NotIndexed, Some(ProofReason::InvalidMarkerKind))),
        (
            Some(marker_text(&server, &alias).replace("\"team/app\"", "\"another\"")),
            (IndexStatus::NotIndexed, Some(ProofReason::PathMismatch)),
        ),
        (
            Some(marker_text(&server, &alias).replace(r#""embeddingModel":"model""#, other_model)),
            (IndexStatus::RequiresReindex, None),
        ),
    ] {
        server.plant(&alias, MARKER_ROW, marker.as_deref());
        let facts = second.facts();
        assert_eq!((facts.search, facts.stale), expected, "{marker:?}");
        assert_eq!(second.bytes(), bytes, "{marker:?}");
        restore();
    }
    assert_eq!(second.facts(), Facts::ok());
}

fn marker_text(server: &Model, alias: &str) -> String {
    use crate::server::{Columns, Kind, Server};
    server.get(Kind::Read, alias, &[MARKER_ROW.into()], Columns::Data).unwrap()[0].data.clone()
}

#[test]
fn create_goes_on_without_a_proof_and_is_never_already_indexed() {
    let server = Model::default();
    let elsewhere = server.seen_elsewhere();
    let (_first, second) = two(server, elsewhere.clone());
    elsewhere.always(Some(Fault::Refuse(TroubleKind::Transport)));
    let created = second.manage(ManageAction::Create);
    assert_eq!(created.status, IndexStatus::Ok, "{}", created.message);
    assert_eq!(second.embedded(), 0, "its own vectors are at hand");
    elsewhere.always(None);
    assert_eq!(second.facts(), Facts::ok());
}

#[test]
fn adopting_what_cannot_be_proven_changes_nothing() {
    let server = Model::default();
    let machine = super::machine::Machine::new(server.clone());
    assert_eq!(machine.adopt().status, IndexStatus::NotIndexed, "nothing is shared");
    server.always(Some(Fault::Refuse(TroubleKind::Timeout)));
    let refused = machine.adopt();
    assert_eq!(refused.status, IndexStatus::Error);
    assert!(refused.message.contains("cannot be reached now"), "{}", refused.message);
    assert!(machine.bytes().is_empty());
}
