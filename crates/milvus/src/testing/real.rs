//! The same on the real server, which is killed, stopped, emptied, restarted with old data, and answered for by garbage.

mod bad_input;
mod database;
mod line;
mod place;
mod seed;
mod sequences;
mod tls;
mod tokens;
mod world;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::index::{IndexStatus, ProofReason};
use chartroom_search::sqlite::SqliteStore;
use chartroom_search::store::team::ShareError;
use chartroom_testkit::milvus::Lite;
use place::Place;
use rustix::process::{Pid, Signal, kill_process};

use super::machine::Facts;
use super::machines::{adopts_without_embedding, answers_of_its_own_tree, two};
use super::{claims, suite, sweeps};
use crate::claim::Claim;
use crate::grpc::{Address, MilvusServer};
use crate::names::Names;
use crate::server::{Columns, Kind, Row, Server};
use crate::store::TeamStore;
use crate::trouble::TroubleKind;

fn connect(uri: String) -> MilvusServer {
    let address = Address { uri, token: Some("root:Milvus".into()), database: None, ca_file: None };
    // A loaded machine is slow, and no trouble.
    MilvusServer::new(address).unwrap().with_patience(Duration::from_secs(10))
}

/// What the machines of the tests make their indexes with.
fn fingerprint() -> chartroom_search::store::Fingerprint {
    chartroom_search::store::Fingerprint {
        embedding_provider: "test".into(),
        embedding_model: "model".into(),
        embedding_dimension: 4,
        vector_store_provider: "milvus".into(),
        schema_version: "hybrid_v7".into(),
    }
}

fn lite() -> (tempfile::TempDir, Lite) {
    let data = tempfile::tempdir().unwrap();
    let server = Lite::start(&data.path().join("milvus"));
    (data, server)
}

#[test]
fn the_teams_store_on_a_real_server_keeps_its_promises() {
    for place in Place::all() {
        let data = tempfile::tempdir().unwrap();
        let own = Arc::new(SqliteStore::open(data.path()).unwrap());
        suite::suite(&TeamStore::new(data.path(), own, Arc::new(place.connect())));
    }
}

#[test]
fn machines_share_through_a_real_server() {
    for place in Place::all() {
        adopts_without_embedding(place.connect(), place.connect());
    }
}

#[test]
fn each_answer_is_of_its_own_tree_on_a_real_server() {
    for place in Place::all() {
        answers_of_its_own_tree(place.connect(), place.connect());
    }
}

#[test]
fn a_writer_that_was_asleep_can_no_longer_write_to_a_real_server() {
    for place in Place::all() {
        claims::asleep(&place.connect());
    }
}

#[test]
fn a_sleeper_never_swaps_the_alias_of_a_real_server_after_it_was_taken_over() {
    for place in Place::all() {
        let (names, term) = (Names::of("swap"), Duration::from_secs(1));
        let line = place.line();
        let mut sleeper = Claim::take(&line, &names, "sleeper", term).unwrap();
        sleeper.put(vec![Row::plain("x", "from the sleeper")]).unwrap();
        let (server, theirs) = (place.connect(), names.clone());
        // It has looked at its claim, and sleeps before the swap.
        line.sleep_before_point(move || {
            let mut taker = Claim::take(&server, &theirs, "taker", term).unwrap();
            taker.put(vec![Row::plain("x", "from the taker")]).unwrap();
            taker.publish().unwrap();
        });
        assert!(matches!(sleeper.publish(), Err(ShareError::Lost)));
        let found = line.get(Kind::Read, &names.current(), &["x".into()], Columns::Data).unwrap();
        assert_eq!(found[0].data, "from the taker");
    }
}

#[test]
fn versions_that_no_generation_names_go_from_a_real_server() {
    for place in Place::all() {
        sweeps::leaves_what_is_named(place.line(), |end| place.rows(end));
    }
}

#[test]
fn rows_aliases_and_collections_are_what_the_model_says() {
    for place in Place::all() {
        rows_aliases_and_collections(&place);
    }
}

fn rows_aliases_and_collections(place: &Place) {
    let server = place.connect();
    assert_eq!(server.dimension("c1"), Ok(None));
    assert_eq!(
        server.get(Kind::Read, "c1", &["x".into()], Columns::Data).unwrap_err().kind,
        TroubleKind::Missing
    );
    assert_eq!(server.put("c1", vec![Row::plain("x", "y")]).unwrap_err().kind, TroubleKind::Missing);
    server.create("c1", 2).unwrap();
    server.create("c1", 2).unwrap();
    server.create("c2", 2).unwrap();
    assert_eq!(server.create("c1", 3).unwrap_err().kind, TroubleKind::Shape);
    let long = "ü".repeat(30_000);
    let rows =
        (0..300).map(|at| Row::plain(format!("row{at}"), if at == 7 { &long } else { "text" })).collect();
    server.put("c1", rows).unwrap();
    server.put("c1", vec![Row::plain("row8", "again")]).unwrap();
    let ids: Vec<String> = (0..310).map(|at| format!("row{at}")).collect();
    let found = server.get(Kind::Read, "c1", &ids, Columns::Data).unwrap();
    assert_eq!(found.len(), 300);
    let text = |id: &str| found.iter().find(|row| row.id == id).unwrap().data.clone();
    assert_eq!((text("row7"), text("row8"), text("row9")), (long, "again".into(), "text".into()));
    assert_eq!(server.get(Kind::Read, "c1", &ids, Columns::Vectors).unwrap()[0].vector, [1.0, 0.0]);
    // More than one query lists: the next digit parts them.
    let hex: Vec<String> = (0..100_u64).map(|at| format!("k_{}", blake3::hash(&at.to_le_bytes()))).collect();
    let rows = hex.iter().map(|id| Row::plain(id, "")).chain([Row::plain("kx0", "")]);
    server.put("c1", rows.collect()).unwrap();
    let listed = place.connect().with_listed(7).ids("c1", "k_").unwrap();
    assert_eq!(listed, hex.iter().cloned().collect());
    server.delete("c1", &hex[..50]).unwrap();
    server.delete("c1", &hex[..50]).unwrap();
    assert_eq!(server.ids("c1", "k_").unwrap(), hex[50..].iter().cloned().collect());
    assert_eq!(server.delete("none", &hex).unwrap_err().kind, TroubleKind::Missing);
    assert_eq!(server.ids("none", "").unwrap_err().kind, TroubleKind::Missing);
    assert_eq!(server.alias("al"), Ok(None));
    assert_eq!(
        (server.claim("al", "c1"), server.claim("al", "c1"), server.claim("al", "c2")),
        (Ok(true), Ok(true), Ok(false))
    );
    assert_eq!(server.get(Kind::Read, "al", &["row1".into()], Columns::Ids).unwrap().len(), 1);
    server.point("al", "c2").unwrap();
    assert_eq!(server.alias("al"), Ok(Some("c2".into())));
    assert_eq!(server.point("al", "c3").unwrap_err().kind, TroubleKind::Missing);
    server.drop_alias("al").unwrap();
    server.drop_alias("al").unwrap();
    server.drop_collection("c1").unwrap();
    server.drop_collection("c1").unwrap();
    assert_eq!(server.alias("al"), Ok(None));
    assert!(server.version().unwrap().contains("milvus"));
}

#[test]
fn machines_that_make_one_collection_at_once_all_have_it() {
    let (_dir, lite) = lite();
    let servers: Vec<MilvusServer> = (0..6).map(|_| connect(lite.address())).collect();
    servers.iter().for_each(|server| drop(server.version().unwrap()));
    for round in 0..10 {
        let name = format!("at_once_{round}");
        let together = std::sync::Barrier::new(servers.len());
        std::thread::scope(|scope| {
            for server in &servers {
                let (name, together) = (&name, &together);
                scope.spawn(move || {
                    together.wait();
                    server.create(name, 2).unwrap();
                    server.put(name, vec![Row::plain("x", "y")]).unwrap();
                    assert_eq!(server.get(Kind::Read, name, &["x".into()], Columns::Ids).unwrap().len(), 1);
                });
            }
        });
    }
}

#[test]
fn a_real_server_that_is_killed_stopped_emptied_and_restarted_with_old_data() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("milvus");
    let mut lite = Lite::start(&data);
    let (first, second) = two(connect(lite.address()), connect(lite.address()));
    let bytes = second.bytes();
    assert_eq!(second.facts(), Facts::ok());

    lite.kill();
    assert_eq!(second.facts(), Facts::unproven(), "killed");
    assert!(second.finds("alpha"));
    let old = dir.path().join("old");
    copy(&data, &old);
    lite.restart();
    rested(&second);
    assert_eq!(second.facts(), Facts::ok(), "restarted");

    lite.pause();
    assert_eq!(second.facts(), Facts::unproven(), "stopped");
    lite.resume();
    rested(&second);
    assert_eq!(second.facts(), Facts::ok(), "going on");

    first.write("a.rs", "fn delta() {}\n");
    assert_eq!(first.share().status, IndexStatus::Ok);
    assert_eq!(second.facts(), Facts::ok());
    lite.kill();
    std::fs::remove_dir_all(&data).unwrap();
    copy(&old, &data);
    lite.restart();
    rested(&second);
    assert_eq!(second.facts(), Facts::ok(), "with old data");
    assert_eq!(second.search("x").freshness_decision.unwrap().team.unwrap().generation, 1);

    lite.kill();
    std::fs::remove_dir_all(&data).unwrap();
    lite.restart();
    rested(&second);
    let facts = second.facts();
    assert_eq!(
        (facts.search, facts.stale),
        (IndexStatus::NotIndexed, Some(ProofReason::MissingMarkerDoc)),
        "emptied"
    );
    assert_eq!((facts.listed, second.bytes()), (1, bytes));
    first.embedded();
    let shared = first.share();
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    assert_eq!((first.embedded(), second.facts()), (0, Facts::ok()));
}

/// Waits until the breaker lets the next probe through.
fn rested(machine: &super::machine::Machine) {
    for _ in 0..200 {
        if machine.search("x").hints.is_none_or(|hints| hints.debug_proof_check.is_none()) {
            return;
        }
        #[allow(clippy::disallowed_methods, reason = "the breaker's rest is a time, and no signal ends it")]
        std::thread::sleep(Duration::from_millis(250));
    }
    panic!("the server was never asked again");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

const CHILD: &str = "CHARTROOM_TEST_SLEEPER";

/// The other half of the test below, in a process of its own: it writes until it can no longer, and says why.
#[test]
fn sleeper() {
    let Ok(address) = std::env::var(CHILD) else { return };
    let (server, names) = (connect(address), Names::of("paused"));
    let mut claim = Claim::take(&server, &names, "sleeper", Duration::from_secs(2)).unwrap();
    println!("claimed");
    let lost = loop {
        if let Err(error) = claim.put(vec![Row::plain("x", "from the sleeper")]) {
            break error;
        }
    };
    assert!(matches!(lost, ShareError::Lost), "{lost}");
    assert!(matches!(claim.publish(), Err(ShareError::Lost)));
    println!("lost");
}

#[test]
fn a_process_that_is_stopped_and_wakes_up_can_no_longer_write() {
    let (_dir, lite) = lite();
    #[allow(clippy::disallowed_methods, reason = "the test itself, in a process that can be stopped")]
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "testing::real::sleeper", "--nocapture"])
        .env(CHILD, lite.address())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.ends_with("claimed")));
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::STOP).unwrap();

    let (server, names) = (connect(lite.address()), Names::of("paused"));
    let mut claim = Claim::take(&server, &names, "taker", Duration::from_secs(2)).unwrap();
    assert_eq!(claim.fence, 2);
    kill_process(pid, Signal::CONT).unwrap();
    assert!(lines.any(|line| line.ends_with("lost")), "it found out");
    assert!(child.wait().unwrap().success());
    claim.put(vec![Row::plain("x", "from the taker")]).unwrap();
    claim.publish().unwrap();
    let found = server.get(Kind::Read, &names.current(), &["x".into()], Columns::Data).unwrap();
    assert_eq!(found[0].data, "from the taker");
}
