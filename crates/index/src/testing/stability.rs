//! The seed's invariants, acceptance criteria and test plan, by their names.

use chartroom_protocol::index::*;
use serde_json::{Value, json};

use super::{Bench, Fault, alpha};
use crate::definitions;
use crate::lifecycle;

fn not_indexed(status: IndexStatus) -> bool {
    status == IndexStatus::NotIndexed
}

/// Asks every read tool once and returns the catalog's bytes before and after.
fn read_everything(bench: &Bench) -> (Vec<u8>, Vec<u8>) {
    let before = bench.bytes();
    bench.facts();
    let symbol = alpha();
    if let Err(error) = bench.call_graph("a.rs", &symbol) {
        assert!(!error.0.is_empty());
    }
    (before, bench.bytes())
}

// ISS-INDEX-STABILITY-A
#[test]
fn foreground_handlers_never_reconcile() {
    let bench = Bench::indexed();
    let listings = bench.store.listings();
    for fault in [None, Some(Fault::Fail), Some(Fault::Empty), Some(Fault::Corrupt)] {
        bench.store.always(fault);
        let (before, after) = read_everything(&bench);
        assert_eq!(before, after, "{fault:?}");
    }
    assert_eq!(bench.store.listings(), listings, "no read asked the store for its members");
}

// ISS-INDEX-STABILITY-B
#[test]
fn create_proceeds_on_searchable_without_proof() {
    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    let response = bench.manage(ManageAction::Create);
    assert_eq!(response.status, IndexStatus::Ok);
    let text = "Local snapshot claims indexed, but completion proof is missing/invalid; treating as not_indexed for create.";
    assert!(response.human_text.contains(text), "{}", response.human_text);
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::Ok, "it is proven now");
}

// ISS-INDEX-STABILITY-C
#[test]
fn status_warns_of_a_stale_entry_and_says_what_to_do() {
    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    let response = bench.manage(ManageAction::Status);
    assert_eq!((response.status, response.reason), (IndexStatus::NotIndexed, Some(ManageReason::NotIndexed)));
    assert!(response.human_text.contains("stale local index metadata"), "{}", response.human_text);
    assert!(response.human_text.contains("action='create'"), "{}", response.human_text);
    assert!(response.human_text.contains("Runtime fingerprint:"), "{}", response.human_text);
    let stale = response.hints.unwrap().stale_local.unwrap();
    assert_eq!(stale.completion_proof, ProofReason::MissingMarkerDoc);
    assert_eq!(stale.recommended_action, ManageHint::new(ManageAction::Create, &bench.root));
    assert!(response.compatibility.is_some());
}

// ISS-INDEX-STABILITY-D
#[test]
fn the_list_is_stable_under_repeated_transient_failures() {
    let bench = Bench::indexed();
    let expected = bench.list();
    for round in 0..50 {
        bench.store.script([[Fault::Fail, Fault::None, Fault::Delay][round % 3]]);
        assert_eq!(bench.list(), expected, "round {round}");
    }
    bench.store.script([Fault::Empty]);
    let listed = bench.list();
    assert_eq!(listed.total, 1, "membership never drops");
    assert_eq!(listed.codebases[0].reason.as_deref(), Some("stale_local:missing_marker_doc"));
    assert_eq!(bench.list(), expected, "and it is ready again with the next good probe");
}

// ISS-INDEX-STABILITY-E
#[test]
fn an_empty_or_failing_store_changes_no_membership_and_no_bytes() {
    let bench = Bench::indexed();
    let bytes = bench.bytes();
    let good = bench.facts();
    for fault in [Fault::Fail, Fault::Empty, Fault::Corrupt] {
        bench.store.always(Some(fault));
        for _ in 0..10 {
            let facts = bench.facts();
            assert_eq!(facts.listed.len(), 1, "{fault:?}");
            if fault == Fault::Fail {
                assert_eq!(facts.status, IndexStatus::Ok, "a failing probe is no news");
                assert_eq!(facts.listed, good.listed);
                assert_ne!(facts.search, Ok(IndexStatus::NotIndexed));
            }
            assert_eq!(bench.bytes(), bytes, "{fault:?}");
        }
        bench.store.always(None);
        assert_eq!(bench.facts(), good, "as before once the store is back");
    }
}

// ISS-INDEX-STABILITY-F, INDEX-PROOF-missing_marker_doc
#[tokio::test]
async fn a_stale_answer_is_an_ordinary_answer_and_mutates_nothing() {
    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    let bytes = bench.bytes();
    let first = serde_json::to_value(bench.search("alpha").unwrap()).unwrap();
    assert_eq!(first["status"], "not_indexed");
    assert_eq!(first["reason"], "not_indexed");
    assert_eq!(first["hints"]["staleLocal"]["completionProof"], "missing_marker_doc");
    for _ in 0..5 {
        assert_eq!(serde_json::to_value(bench.search("alpha").unwrap()).unwrap(), first, "deterministic");
    }
    assert_eq!(bench.bytes(), bytes);

    // The classifier of the transports and of the CLI: an envelope is an answer, whatever its status.
    let service = bench.service();
    let arguments = json!({"path": bench.root, "query": "alpha"});
    let answer = definitions::call(&service, "search_codebase", arguments).await;
    assert!(!answer.is_error, "tool-level, never a protocol failure, so nothing retries it");
    assert_eq!(answer.structured.unwrap()["status"], "not_indexed");
}

// ISS-INDEX-STABILITY-G, INDEX-PROOF-probe_failed
#[test]
fn probe_failures_never_flip_and_each_outcome_has_its_mapping() {
    let bench = Bench::indexed();
    for round in 0..20 {
        bench.store.script([if round % 2 == 0 { Fault::Fail } else { Fault::None }]);
        let response = bench.search("alpha").unwrap();
        assert_eq!(response.status, IndexStatus::Ok, "round {round}");
        assert_eq!(response.results.len(), 1);
        let check = response.hints.and_then(|hints| hints.debug_proof_check);
        assert_eq!(check.is_some(), round % 2 == 0, "the diagnosis is told, round {round}");
    }
    bench.store.script([Fault::Empty]);
    let hints = bench.search("alpha").unwrap().hints.unwrap();
    assert_eq!(hints.stale_local.unwrap().completion_proof, ProofReason::MissingMarkerDoc);

    let mut bench = bench;
    bench.restart_with("another model");
    let response = bench.search("alpha").unwrap();
    assert_eq!(
        (response.status, response.reason),
        (IndexStatus::RequiresReindex, Some(NonOkReason::RequiresReindex))
    );
}

// INV-1
#[test]
fn reads_never_delete_a_tracked_codebase() {
    let bench = Bench::indexed();
    std::fs::rename(&bench.project, bench.project.with_file_name("unmounted")).unwrap();
    let bytes = bench.bytes();
    for _ in 0..3 {
        let listed = bench.list();
        assert_eq!(listed.total, 1);
        assert!(listed.codebases[0].missing, "a missing root is told, not dropped");
        bench.manage(ManageAction::Status);
        assert_eq!(bench.search("alpha").unwrap().results.len(), 1, "the index still answers");
    }
    assert_eq!(bench.bytes(), bytes);
}

// INV-2
#[test]
fn the_store_may_confirm_and_repair_but_never_delete() {
    let mut bench = Bench::indexed();
    std::fs::write(bench.core.catalog.path(), "damaged").unwrap();
    assert_eq!(bench.list().total, 1, "a reader that knew it keeps it");
    bench.restart();
    assert_eq!(bench.entry().unwrap().state.name(), "indexed", "the marker brings it back");
    bench.store.always(Some(Fault::Empty));
    bench.restart();
    bench.store.always(None);
    assert_eq!(bench.list().total, 1, "an empty store removes nothing, not even at start");
}

// INV-3
#[test]
fn already_indexed_needs_a_searchable_entry_and_a_valid_proof() {
    let bench = Bench::indexed();
    let response = bench.manage(ManageAction::Create);
    assert_eq!(response.status, IndexStatus::Blocked);
    assert!(response.human_text.contains("is already indexed"));
    bench.store.script([Fault::Fail]);
    let response = bench.manage(ManageAction::Create);
    assert_eq!(response.status, IndexStatus::Ok, "a failed probe is no proof: {}", response.human_text);
}

// INV-4, INDEX-READ-not_ready, INDEX-READ-REASON-indexing
#[test]
fn requires_reindex_and_not_ready_stay_authoritative() {
    let bench = Bench::new();
    let managed = lifecycle::manage(&bench.core, bench.params(ManageAction::Create), None);
    for fault in [None, Some(Fault::Fail), Some(Fault::Empty), Some(Fault::Corrupt)] {
        bench.store.always(fault);
        let response = bench.search("alpha").unwrap();
        assert_eq!(
            (response.status, response.reason),
            (IndexStatus::NotReady, Some(NonOkReason::Indexing)),
            "{fault:?}"
        );
    }
    bench.store.always(None);
    managed.job.unwrap().run();
    let mut bench = bench;
    bench.restart_with("another model");
    for fault in [None, Some(Fault::Fail), Some(Fault::Empty), Some(Fault::Corrupt)] {
        bench.store.always(fault);
        assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::RequiresReindex, "{fault:?}");
    }
}

// INV-5
#[test]
fn side_effects_come_from_lifecycle_actions_only() {
    let mut bench = Bench::indexed();
    let bytes = bench.bytes();
    let writes = bench.store.writes();
    bench.outline("a.rs").unwrap();
    bench.call_graph("a.rs", &alpha()).unwrap();
    bench.list();
    bench.manage(ManageAction::Status);
    assert_eq!(bench.store.writes(), writes);

    // A search follows a changed file in the store, and the catalog's bytes stay.
    std::fs::write(bench.project.join("c.rs"), "fn delta() {}\n").unwrap();
    assert_eq!(bench.search("delta").unwrap().results.len(), 1);
    assert_eq!(bench.bytes(), bytes);

    // A runtime with another model looks and leaves no trace.
    bench.restart_with("another model");
    bench.facts();
    assert_eq!(bench.bytes(), bytes);
    bench.restart();
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok, "the first runtime is not poisoned");
}

// INV-6
#[test]
fn a_generation_that_exists_proves_nothing() {
    let bench = Bench::indexed();
    for marker in
        [None, Some(json!({})), Some(json!("x")), Some(json!({"kind": "chartroom_index_completion_v0"}))]
    {
        bench.store.inner.plant_marker(&bench.root, marker);
        assert!(not_indexed(bench.search("alpha").unwrap().status), "its chunks are there, its proof is not");
    }
}

// INV-7
#[test]
fn list_codebases_is_a_read_and_its_membership_is_stable() {
    let bench = Bench::indexed();
    let bytes = bench.bytes();
    for fault in [Fault::Fail, Fault::Empty, Fault::Corrupt, Fault::Delay] {
        bench.store.always(Some(fault));
        assert_eq!(bench.list().total, 1, "{fault:?}");
    }
    assert_eq!(bench.bytes(), bytes);
}

// ACC-1
#[test]
fn repeated_create_status_search_list_never_flaps() {
    let bench = Bench::indexed();
    let good = bench.facts();
    for _ in 0..10 {
        assert_eq!(bench.manage(ManageAction::Create).status, IndexStatus::Blocked);
        assert_eq!(bench.facts(), good);
    }
}

// ACC-2
#[test]
fn already_indexed_is_never_said_without_proof() {
    let bench = Bench::indexed();
    let good: Value = json!({
        "kind": "chartroom_index_completion_v1", "codebasePath": bench.root, "fingerprint": bench.core.fingerprint,
        "indexedFiles": 1, "totalChunks": 1, "completedAt": "2026-01-01T00:00:00Z", "runId": "run_x",
    });
    let broken = |field: &str, value: Value| {
        let mut marker = good.clone();
        marker[field] = value;
        Some(marker)
    };
    for marker in [
        None,
        broken("kind", json!("other")),
        broken("codebasePath", json!("/elsewhere")),
        broken("completedAt", json!("never")),
        broken("totalChunks", json!(-1)),
    ] {
        bench.store.inner.plant_marker(&bench.root, marker.clone());
        let response = bench.manage(ManageAction::Create);
        assert!(!response.human_text.contains("already indexed"), "{marker:?}");
        assert_eq!(response.status, IndexStatus::Ok);
    }
    bench.store.inner.plant_marker(&bench.root, Some(good));
    assert!(bench.manage(ManageAction::Create).human_text.contains("already indexed"));
}

// ACC-3
#[test]
fn no_foreground_tool_prunes() {
    let bench = Bench::indexed();
    std::fs::rename(&bench.project, bench.project.with_file_name("gone")).unwrap();
    bench.store.always(Some(Fault::Empty));
    let (before, after) = read_everything(&bench);
    assert_eq!(before, after, "a root that is gone and a store that is empty: exactly what prune would take");
    bench.store.always(None);
    bench.store.inner.plant_marker(&bench.root, None);
    let doc = bench.core.catalog.read().doc;
    let pruned = crate::catalog::prune(&doc, &*bench.core.store, &bench.core.writer).unwrap();
    assert_eq!(pruned, std::slice::from_ref(&bench.root), "the explicit command does");
}

// ACC-4
#[test]
fn a_stale_entry_is_told_with_the_same_instructions_everywhere() {
    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    let expected = ManageHint::new(ManageAction::Create, &bench.root);
    let search = bench.search("alpha").unwrap();
    let outline = bench.outline("a.rs").unwrap();
    let graph = bench.call_graph("a.rs", &alpha()).unwrap();
    let message = format!(
        "Codebase '{}' has stale local index metadata; completion proof is missing or invalid (reason: missing_marker_doc).",
        bench.root
    );
    for (status, text, hints) in [
        (search.status, search.message, search.hints),
        (outline.status, outline.message, outline.hints),
        (graph.status, graph.message, graph.hints),
    ] {
        assert!(not_indexed(status));
        assert_eq!(text.as_deref(), Some(message.as_str()));
        let hints = hints.unwrap();
        assert_eq!(hints.create.as_ref(), Some(&expected));
        assert_eq!(hints.stale_local.unwrap().recommended_action, expected);
    }
}

// ACC-5
#[test]
fn transient_store_failures_delete_nothing() {
    let bench = Bench::indexed();
    bench.store.always(Some(Fault::Fail));
    for action in [ManageAction::Sync, ManageAction::Status, ManageAction::Clear, ManageAction::Repair] {
        let response = bench.manage(action);
        assert!(bench.entry().is_some(), "{action:?}: {}", response.message);
    }
    bench.store.always(None);
    assert_eq!(bench.search("alpha").unwrap().results.len(), 1);
}

// ACC-6
#[test]
fn stale_answers_keep_the_reason_contract() {
    let bench = Bench::indexed();
    bench.store.inner.plant_marker(&bench.root, None);
    assert_eq!(bench.search("alpha").unwrap().reason, Some(NonOkReason::NotIndexed));
    assert_eq!(bench.outline("a.rs").unwrap().reason, Some(NonOkReason::NotIndexed));
    assert_eq!(bench.call_graph("a.rs", "x").unwrap().reason, Some(NonOkReason::NotIndexed));
}

// ACC-7
#[test]
fn a_failing_probe_downgrades_no_answer() {
    let bench = Bench::indexed();
    for _ in 0..10 {
        bench.store.script([Fault::Fail]);
        assert_eq!(bench.outline("a.rs").unwrap().status, IndexStatus::Ok);
        bench.store.script([Fault::Fail]);
        assert_eq!(bench.call_graph("a.rs", &alpha()).unwrap().status, IndexStatus::Ok);
        bench.store.script([Fault::Fail]);
        let status = bench.manage(ManageAction::Status);
        assert_eq!(status.status, IndexStatus::Ok);
        assert_eq!(status.hints.unwrap().debug_proof_check.unwrap().reason, ProofReason::ProbeFailed);
    }
}

// ACC-8, INDEX-PROOF-fingerprint_mismatch, INDEX-MANAGE-requires_reindex, INDEX-MANAGE-REASON-requires_reindex,
// INDEX-READ-requires_reindex, INDEX-READ-REASON-requires_reindex
#[test]
fn a_fingerprint_mismatch_is_requires_reindex_in_every_tool() {
    let mut bench = Bench::indexed();
    bench.restart_with("another model");
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::RequiresReindex);
    assert_eq!(bench.outline("a.rs").unwrap().status, IndexStatus::RequiresReindex);
    assert_eq!(bench.call_graph("a.rs", "x").unwrap().status, IndexStatus::RequiresReindex);
    assert_eq!(bench.manage(ManageAction::Status).status, IndexStatus::RequiresReindex);
    assert_eq!(bench.manage(ManageAction::Sync).status, IndexStatus::RequiresReindex);
    assert_eq!(bench.manage(ManageAction::Create).status, IndexStatus::RequiresReindex);
    assert_eq!(bench.manage(ManageAction::Repair).status, IndexStatus::RequiresReindex);
    assert_eq!(bench.list().codebases[0].bucket, CodebaseBucket::RequiresReindex);
    assert_eq!(bench.manage(ManageAction::Sync).reason, Some(ManageReason::RequiresReindex));
    assert_eq!(bench.search("alpha").unwrap().reason, Some(NonOkReason::RequiresReindex));
    let text = bench.search("alpha").unwrap().message.unwrap();
    assert_eq!(
        text,
        "Index fingerprint mismatch. Indexed with test/model/1/memory/hybrid_v7, current runtime is test/another model/1/memory/hybrid_v7."
    );
    assert_eq!(bench.manage(ManageAction::Reindex).status, IndexStatus::Ok);
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok);
}
