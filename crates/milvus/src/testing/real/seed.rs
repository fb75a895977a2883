//! The seed's tests A–G and its acceptance criteria on the real server, through everything that a network and a server
//! can do: asserted on the catalog's bytes and on what every read tool answers.

use chartroom_protocol::index::{IndexStatus, ManageAction};
use chartroom_testkit::proxy::Weather;
use serde_json::{Value, json};

use super::world::{LATE, OUTAGES, Outage, World};
use crate::names::Names;
use crate::overlay::MARKER_ROW;
use crate::server::{Columns, Kind, Row, Server};
use crate::testing::machine::{Facts, PROJECT};
use crate::trouble::TroubleKind;

/// The tools that only read.
const READS: [&str; 5] = ["search_codebase", "file_outline", "call_graph", "manage_index", "list_codebases"];

/// What an answer says when the proof could not be looked at.
fn unproven(answer: &Value) -> bool {
    let check = &answer["hints"]["debugProofCheck"];
    (&check["ok"], &check["reason"]) == (&json!(false), &json!("probe_failed"))
}

/// A, D, E and G; acceptance 1, 2, 3, 5 and 7.
#[test]
fn no_outage_of_a_real_server_changes_a_byte_or_an_answer() {
    let mut world = World::new();
    let (bytes, good) = (world.second.bytes(), world.second.envelopes());
    for outage in OUTAGES {
        world.begin(outage);
        for round in 0..3 {
            let answers = world.second.envelopes();
            for tool in READS {
                let answer = &answers[tool];
                assert_eq!(answer["status"], good[tool]["status"], "{outage:?} {tool} {round}: {answer}");
                let told = unproven(answer) || tool == "list_codebases";
                assert!(told, "{outage:?} {tool} {round}: {answer}");
            }
            assert_eq!(answers["list_codebases"], good["list_codebases"], "{outage:?} {round}");
            assert_eq!(answers["search_codebase"]["results"], good["search_codebase"]["results"]);
            assert_eq!(world.second.bytes(), bytes, "{outage:?} {round}");
        }
        assert_eq!(world.second.facts(), Facts::unproven(), "{outage:?}");
        world.end();
        assert_eq!(world.second.envelopes(), good, "after {outage:?}");
        assert_eq!(world.second.bytes(), bytes, "after {outage:?}");
    }
}

/// B and G; acceptance 2: a probe that failed is no proof, and a build that follows loses nothing and embeds nothing.
#[test]
fn a_create_during_an_outage_goes_on_and_is_never_already_indexed() {
    let mut world = World::new();
    world.second.embedded();
    let good = world.second.found("alpha beta gamma");
    // One of each kind: a build waits longer for a server that is silent than a search does.
    for outage in [
        Outage::Killed,
        Outage::Stopped,
        Outage::RefusedToken,
        Outage::Weather(Weather::GarbageMessages),
        Outage::Weather(Weather::Cut),
    ] {
        world.begin(outage);
        let created = world.second.create_unforced();
        assert_eq!(created.status, IndexStatus::Ok, "{outage:?}: {}", created.human_text);
        assert!(!created.human_text.contains("already indexed"), "{outage:?}: {}", created.human_text);
        assert_eq!(world.second.found("alpha beta gamma"), good, "{outage:?}");
        world.end();
        assert_eq!(world.second.facts(), Facts::ok(), "after {outage:?}");
        let again = world.second.create_unforced();
        assert_eq!(again.status, IndexStatus::Blocked, "after {outage:?}: {}", again.human_text);
        assert!(again.human_text.contains("already indexed"), "after {outage:?}: {}", again.human_text);
    }
    assert_eq!(world.second.embedded(), 0);
}

/// D and G: as often as it changes, nothing flips.
#[test]
fn a_network_that_comes_and_goes_never_flips_a_state() {
    let mut world = World::new();
    let (bytes, list) = (world.second.bytes(), world.second.envelopes()["list_codebases"].clone());
    let weathers = [Weather::HangUp, Weather::Cut, Weather::GarbageMessages, Weather::GarbageBytes];
    for round in 0..24 {
        match round % 2 {
            0 => world.begin(Outage::Weather(weathers[round / 2 % weathers.len()])),
            _ => world.end(),
        }
        let answers = world.second.envelopes();
        assert_eq!(answers["search_codebase"]["status"], "ok", "round {round}");
        assert_eq!(unproven(&answers["search_codebase"]), round % 2 == 0, "round {round}");
        assert_eq!(answers["list_codebases"], list, "round {round}");
    }
    assert_eq!(world.second.bytes(), bytes);
}

/// What is told is what happened.
#[test]
fn each_weather_is_told_by_its_kind() {
    let mut world = World::new();
    for (weather, kinds) in [
        (LATE, &[TroubleKind::Timeout][..]),
        (Weather::GarbageBytes, &[TroubleKind::Transport, TroubleKind::Parse]),
        (Weather::GarbageMessages, &[TroubleKind::Parse]),
        (Weather::EmptyMessages, &[TroubleKind::Parse]),
        (Weather::Cut, &[TroubleKind::Transport]),
        // The SDK asks again until the time to connect is over.
        (Weather::HangUp, &[TroubleKind::Transport, TroubleKind::Timeout]),
    ] {
        world.begin(Outage::Weather(weather));
        let trouble = world.line().version().unwrap_err();
        assert!(kinds.contains(&trouble.kind), "{weather:?}: {trouble:?}");
        // A connection that was there before the weather changed is met by it as well; a patient one would wait long.
        world.end();
        if weather == LATE {
            continue;
        }
        world.line().version().unwrap();
        world.break_for_the_same_client(Outage::Weather(weather));
        let alias = Names::of(PROJECT).current();
        let trouble = world.line().get(Kind::Probe, &alias, &[MARKER_ROW.into()], Columns::Data).unwrap_err();
        assert!(kinds.contains(&trouble.kind), "{weather:?}: {trouble:?}");
        world.end();
    }
}

/// The breaker's rest over, the same client finds the server again; no process has to be started anew.
#[test]
fn the_same_client_recovers_from_garbage_and_from_a_cut() {
    let mut world = World::new();
    for weather in [Weather::GarbageBytes, Weather::GarbageMessages, Weather::Cut] {
        world.begin(Outage::Weather(weather));
        assert_eq!(world.second.facts(), Facts::unproven(), "{weather:?}");
        world.end_for_the_same_client();
        super::rested(&world.second);
        assert_eq!(world.second.facts(), Facts::ok(), "{weather:?}");
        assert!(world.line().last_trouble().is_some(), "{weather:?}");
    }
}

/// C, F and G; acceptance 4 and 6. What is emptied behind our back is told, and by an ordinary answer; one call mends it.
#[test]
fn an_emptied_server_is_told_by_every_tool_and_mutates_nothing() {
    let mut world = World::new();
    world.keep();
    let bytes = world.second.bytes();
    let good = world.second.envelopes();
    world.empty();
    let first = world.second.envelopes();
    for tool in READS.into_iter().filter(|tool| *tool != "list_codebases") {
        let answer = &first[tool];
        assert_eq!(
            (&answer["status"], &answer["reason"]),
            (&json!("not_indexed"), &json!("not_indexed")),
            "{tool}"
        );
        let stale = &answer["hints"]["staleLocal"];
        assert_eq!(stale["completionProof"], "missing_marker_doc", "{tool}: {answer}");
        let create = json!({"tool": "manage_index", "args": {"action": "create", "path": world.second.root}});
        assert_eq!(stale["recommendedAction"], create, "{tool}");
    }
    let status = first["manage_index"]["humanText"].as_str().unwrap();
    assert!(status.contains("stale local index metadata") && status.contains("action='create'"), "{status}");
    assert_eq!(first["list_codebases"]["total"], 1);
    for _ in 0..5 {
        assert_eq!(world.second.envelopes(), first, "deterministic");
    }
    assert_eq!(world.second.bytes(), bytes, "membership is not the server's");

    world.restore();
    assert_eq!(world.second.envelopes(), good, "with its old data it is as before");
    assert_eq!(world.second.bytes(), bytes);
}

/// G and acceptance 8: a server that answers is believed, and each wrong marker has its own outcome.
#[test]
fn each_wrong_marker_on_a_real_server_has_its_own_outcome() {
    let mut world = World::new();
    world.keep();
    let (bytes, alias) = (world.second.bytes(), Names::of(PROJECT).current());
    let text =
        world.server().get(Kind::Read, &alias, &[MARKER_ROW.into()], Columns::Data).unwrap()[0].data.clone();
    let not_indexed = |reason: &str| ("not_indexed".to_owned(), json!(reason));
    for (marker, (status, reason)) in [
        ("garbage".to_owned(), not_indexed("invalid_payload")),
        (r#"{"kind":"x"}"#.to_owned(), not_indexed("invalid_marker_kind")),
        (text.replace("\"team/app\"", "\"another\""), not_indexed("path_mismatch")),
        (
            text.replace(r#""embeddingModel":"model""#, r#""embeddingModel":"other""#),
            ("requires_reindex".to_owned(), Value::Null),
        ),
    ] {
        world.server().put(&alias, vec![Row::plain(MARKER_ROW, marker.clone())]).unwrap();
        let answers = world.second.envelopes();
        for tool in READS.into_iter().filter(|tool| *tool != "list_codebases") {
            let answer = &answers[tool];
            assert_eq!(answer["status"], status, "{marker}, {tool}: {answer}");
            assert_eq!(
                answer["hints"]["staleLocal"]["completionProof"], reason,
                "{marker}, {tool}: {answer}"
            );
        }
        assert_eq!(world.second.bytes(), bytes, "{marker}");
    }
    // A collection that exists proves nothing.
    world.server().create("beside", Row::NO_VECTOR).unwrap();
    world.server().point(&alias, "beside").unwrap();
    let answer = &world.second.envelopes()["search_codebase"];
    assert_eq!(answer["hints"]["staleLocal"]["completionProof"], "missing_marker_doc", "{answer}");
    world.restore();
    assert_eq!(world.second.facts(), Facts::ok());
    assert_eq!(world.second.bytes(), bytes);
}

/// Restarted with old data: the answers stay this tree's, and the next share goes on from what the server has.
#[test]
fn a_server_with_old_data_changes_no_answer_and_is_shared_to_again() {
    let mut world = World::new();
    world.keep();
    world.first.write("a.rs", "fn delta() {}\n");
    assert_eq!(world.first.share().status, IndexStatus::Ok);
    world.second.write("a.rs", "fn delta() {}\n");
    assert!(world.second.finds("delta"));
    let bytes = world.second.bytes();
    world.restore();
    assert_eq!(world.second.facts(), Facts::ok());
    assert!(world.second.finds("delta"), "its tree is newer than what the server has again");
    let team = world.second.search("delta").freshness_decision.unwrap().team.unwrap();
    assert_eq!((team.generation, team.overlaid_files), (1, 1), "and that is told");
    assert_eq!(world.second.bytes(), bytes);
    world.first.embedded();
    let shared = world.first.manage(ManageAction::Sync);
    assert_eq!(shared.status, IndexStatus::Ok, "{}", shared.message);
    assert!(shared.message.contains("generation 2"), "{}", shared.message);
    assert_eq!(world.first.embedded(), 0);
    let team = world.second.search("delta").freshness_decision.unwrap().team.unwrap();
    assert_eq!((team.generation, team.overlaid_files), (2, 0));
}
