//! What cannot be: each its status, and nothing lost.

use chartroom_protocol::index::{IndexStatus, ManageAction};

use super::machine::{Facts, Machine, PROJECT};
use super::machines::two;
use super::model::{Fault, Model};
use crate::names;
use crate::server::{Row, Server};
use crate::trouble::TroubleKind;

#[test]
fn a_collection_of_another_dimension_fails_the_share_and_leaves_the_machine_as_it_was() {
    let server = Model::default();
    let machine = Machine::new(server.clone());
    assert_eq!(machine.manage(ManageAction::Create).status, IndexStatus::Ok);
    let fingerprint = chartroom_search::store::Fingerprint {
        embedding_provider: "test".into(),
        embedding_model: "model".into(),
        embedding_dimension: 4,
        vector_store_provider: "milvus".into(),
        schema_version: "hybrid_v7".into(),
    };
    server.create(&names::vectors(&fingerprint), 7).unwrap();
    let shared = machine.share();
    assert_eq!(shared.status, IndexStatus::Error);
    assert!(shared.message.contains("another dimension"), "{}", shared.message);
    assert_eq!(machine.facts(), Facts::ok(), "it is not bound");
}

#[test]
fn a_token_without_the_right_to_write_reads_and_says_so() {
    let server = Model::default();
    let elsewhere = server.seen_elsewhere();
    let (_first, second) = two(server, elsewhere.clone());
    second.write("c.rs", "fn more() {}\n");
    let bytes = second.bytes();
    elsewhere.script([None, None, None, Some(Fault::Refuse(TroubleKind::Auth))]);
    let shared = second.share();
    assert_eq!(shared.status, IndexStatus::Error, "{}", shared.message);
    assert!(shared.message.contains("What the team has is as it was"), "{}", shared.message);
    elsewhere.always(None);
    assert_eq!(second.facts(), Facts::ok());
    assert_ne!(bytes, second.bytes(), "its own sync is written down");
}

#[test]
fn a_name_that_is_none_is_refused() {
    let machine = Machine::new(Model::default());
    assert_eq!(machine.manage(ManageAction::Create).status, IndexStatus::Ok);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for name in ["", "a\nb", &"x".repeat(600)] {
        let shared = runtime.block_on(machine.service().share(&machine.root, Some(name)));
        assert_eq!(shared.status, IndexStatus::Error, "{name:?}");
        assert!(shared.message.contains("the name of a shared index"), "{}", shared.message);
        let adopted = runtime.block_on(machine.service().adopt(&machine.root, Some(name)));
        assert_eq!(adopted.status, IndexStatus::Error, "{name:?}");
    }
    let unnamed = runtime.block_on(machine.service().share(&machine.root, None));
    assert!(unnamed.message.contains("--name"), "{}", unnamed.message);
    assert_eq!(machine.facts(), Facts::ok());
}

#[test]
fn a_path_that_is_not_utf8_is_counted_and_the_rest_is_shared() {
    use std::os::unix::ffi::OsStrExt as _;
    let server = Model::default();
    let (first, second) = (Machine::new(server.clone()), Machine::new(server.seen_elsewhere()));
    for machine in [&first, &second] {
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.rs");
        std::fs::write(machine.project.join(name), "fn cafe() {}\n").unwrap();
    }
    let shared = first.share();
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    assert!(shared.message.contains("2 files, of which 2 were sent"), "{}", shared.message);
    assert_eq!((second.adopt().status, second.embedded()), (IndexStatus::Ok, 0));
    assert!(second.finds("alpha") && !second.finds("cafe"));
    let status = second.manage(ManageAction::Status);
    assert!(status.warnings.iter().any(|warning| warning.code == "NAMES_NOT_UTF8"), "{:?}", status.warnings);
    assert_eq!(second.search("x").freshness_decision.unwrap().team.unwrap().overlaid_files, 0);
}

#[test]
fn another_model_is_told_and_nothing_is_bound() {
    let server = Model::default();
    let (_first, _second) = two(server.clone(), server.seen_elsewhere());
    let mut third = Machine::new(server.seen_elsewhere());
    let own = std::sync::Arc::new(chartroom_search::sqlite::SqliteStore::open(&third.data).unwrap());
    let team = crate::store::TeamStore::new(&third.data, own, std::sync::Arc::new(server));
    third.reconfigure(std::sync::Arc::new(team), "other");
    let refused = third.adopt();
    assert_eq!(refused.status, IndexStatus::RequiresReindex);
    assert!(
        refused.message.contains(PROJECT) && refused.message.contains("test/other/4/milvus"),
        "{}",
        refused.message
    );
    assert_eq!(third.manage(ManageAction::Create).status, IndexStatus::Ok, "it can have one of its own");
    assert_eq!(third.facts(), Facts::ok());
}

#[test]
fn rows_that_are_garbage_are_not_taken() {
    let server = Model::default();
    let first = Machine::new(server.clone());
    assert_eq!(first.share().status, IndexStatus::Ok);
    for collection in server.collections().into_iter().filter(|name| name.ends_with("_files")) {
        let key = names::Names::of(PROJECT)
            .file_key("a.rs", &hash("/// Adds.\nfn alpha() {\n    beta();\n}\nfn beta() {}\n"));
        server.put(&collection, vec![Row::plain(key, "0:garbage")]).unwrap();
    }
    let second = Machine::new(server.seen_elsewhere());
    assert_eq!(second.adopt().status, IndexStatus::Ok);
    assert!(second.embedded() > 0, "that file is made here");
    assert_eq!(first.found("alpha"), second.found("alpha"));
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
