//! Several machines on one server in memory: what is shared, what is not, and that nothing is embedded twice.

use std::sync::Arc;

use chartroom_protocol::index::{IndexStatus, ManageAction};
use chartroom_search::sqlite::SqliteStore;

use super::machine::{Machine, PROJECT};
use super::model::Model;
use crate::server::Server;
use crate::store::TeamStore;

/// Two machines, of which the first has shared and the second adopted.
pub(super) fn two(server: impl Server + 'static, elsewhere: impl Server + 'static) -> (Machine, Machine) {
    let (first, second) = (Machine::new(server), Machine::new(elsewhere));
    let shared = first.share();
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    assert!(first.embedded() > 0);
    let adopted = second.adopt();
    assert_eq!(adopted.status, IndexStatus::Ok, "{}", adopted.message);
    (first, second)
}

/// What holds on every server.
pub(super) fn adopts_without_embedding(server: impl Server + 'static, elsewhere: impl Server + 'static) {
    let (first, second) = two(server, elsewhere);
    assert_eq!(second.embedded(), 0, "it was all there");
    for query in ["alpha", "gamma beta", "adds"] {
        assert_eq!(first.found(query), second.found(query), "{query}");
    }
    let team = second.search("alpha").freshness_decision.unwrap().team.unwrap();
    assert_eq!((team.project.as_str(), team.generation, team.overlaid_files), (PROJECT, 1, 0));
}

/// What holds on every server.
pub(super) fn answers_of_its_own_tree(server: impl Server + 'static, elsewhere: impl Server + 'static) {
    let (first, second) = two(server, elsewhere);
    second.write("a.rs", "fn delta() {}\n");
    second.write("c.rs", "fn epsilon() {}\n");
    assert!(second.finds("delta"), "its own change");
    assert!(second.finds("epsilon"), "its own file");
    assert!(second.finds("gamma"), "and what is shared");
    let overlaid =
        |machine: &Machine| machine.search("x").freshness_decision.unwrap().team.unwrap().overlaid_files;
    assert_eq!(overlaid(&second), 2);
    assert!(!first.finds("epsilon"), "what is not shared stays where it is");

    // The second machine's change is merged: the first one has it now, and shares it.
    second.embedded();
    first.write("a.rs", "fn delta() {}\n");
    let synced = first.manage(ManageAction::Sync);
    assert_eq!(synced.status, IndexStatus::Ok, "{}", synced.message);
    assert!(synced.message.contains("generation 2"), "{}", synced.message);
    assert_eq!(overlaid(&second), 1);
    // And what the first one writes comes to the second by git, not by embedding.
    first.write("d.rs", "fn zeta() {}\n");
    assert_eq!(first.manage(ManageAction::Sync).status, IndexStatus::Ok);
    second.write("d.rs", "fn zeta() {}\n");
    assert!(second.finds("zeta"));
    assert_eq!(second.embedded(), 0);
}

#[test]
fn a_second_machine_adopts_by_proof_and_embeds_nothing() {
    let server = Model::default();
    adopts_without_embedding(server.clone(), server.seen_elsewhere());
}

#[test]
fn each_answer_is_of_its_own_tree_and_says_what_is_overlaid() {
    let server = Model::default();
    answers_of_its_own_tree(server.clone(), server.seen_elsewhere());
}

#[test]
fn what_did_not_change_is_never_sent_twice() {
    let server = Model::default();
    let (first, second) = two(server.clone(), server.seen_elsewhere());
    let (files, vectors) = (server.rows("_files"), server.rows("_vectors"));
    assert_eq!(files, 2);
    first.write("b.rs", "fn gamma() {\n    alpha();\n}\nfn eta() {}\n");
    let shared = first.share();
    assert!(shared.message.contains("of which 1 were sent"), "{}", shared.message);
    assert_eq!(server.rows("_files"), files + 1);
    assert!(server.rows("_vectors") > vectors);
    let (before, calls) = (server.collections(), server.calls());
    let shared = first.share();
    assert!(
        shared.message.contains("generation 2") && shared.message.contains("of which 0"),
        "{}",
        shared.message
    );
    assert_eq!(server.collections(), before);
    assert!(server.calls() - calls <= 3, "a share of nothing looks at the marker and the list");
    // Another machine with the same content sends nothing either.
    second.write("b.rs", "fn gamma() {\n    alpha();\n}\nfn eta() {}\n");
    assert!(second.share().message.contains("of which 0"));
}

#[test]
fn a_version_that_is_there_is_not_sent_again_though_the_list_does_not_name_it() {
    let machine = Machine::new(Model::default());
    for (round, sent) in [(0, 3), (1, 1), (2, 1), (0, 0)] {
        machine.write("c.rs", &format!("fn round_{round}() {{}}\n"));
        let message = machine.share().message;
        assert!(message.contains(&format!("of which {sent} were sent")), "{message}");
    }
}

#[test]
fn a_share_leaves_two_generations_and_no_more() {
    let server = Model::default();
    let machine = Machine::new(server.clone());
    for round in 0..5 {
        machine.write("c.rs", &format!("fn round_{round}() {{}}\n"));
        assert_eq!(machine.share().status, IndexStatus::Ok);
    }
    let generations = server.collections().iter().filter(|name| name.contains("_g")).count();
    assert_eq!(generations, 2, "{:?}", server.collections());
}

#[test]
fn an_index_moves_to_the_team_and_back_without_embedding() {
    let server = Model::default();
    let mut machine = Machine::new(server.clone());
    let embedded = Arc::new(SqliteStore::open(&machine.data).unwrap());
    machine.reconfigure(Arc::clone(&embedded) as _, "model");
    assert_eq!(machine.manage(ManageAction::Create).status, IndexStatus::Ok);
    assert!(machine.embedded() > 0);

    let team = TeamStore::new(&machine.data, Arc::clone(&embedded) as _, Arc::new(server.clone()));
    machine.reconfigure(Arc::new(team), "model");
    let bytes = machine.bytes();
    assert_eq!(machine.search("alpha").status, IndexStatus::RequiresReindex, "never silently");
    assert_eq!(machine.bytes(), bytes);
    assert_eq!(machine.share().status, IndexStatus::Ok);
    assert_eq!(machine.search("alpha").status, IndexStatus::Ok);
    assert_eq!(machine.embedded(), 0);

    machine.reconfigure(embedded, "model");
    assert_eq!(machine.search("alpha").status, IndexStatus::RequiresReindex);
    assert_eq!(machine.manage(ManageAction::Reindex).status, IndexStatus::Ok);
    assert_eq!(machine.search("alpha").status, IndexStatus::Ok);
    assert_eq!(machine.embedded(), 0);
}

#[test]
fn a_machine_that_clears_its_own_takes_nothing_from_the_team() {
    let server = Model::default();
    let (first, second) = two(server.clone(), server.seen_elsewhere());
    assert_eq!(first.manage(ManageAction::Clear).status, IndexStatus::Ok);
    assert_eq!(second.search("alpha").status, IndexStatus::Ok);
    assert_eq!(first.adopt().status, IndexStatus::Ok);
}
