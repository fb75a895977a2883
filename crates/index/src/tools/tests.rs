//! Statuses and reasons of the tools' envelopes that no other story meets.

use chartroom_protocol::index::*;
use serde_json::json;

use crate::testing::{Bench, alpha};
use crate::tools;

fn outline_exactly(bench: &Bench, label: &str) -> FileOutlineResponse {
    let params =
        json!({"path": bench.root, "file": "a.rs", "resolveMode": "exact", "symbolLabelExact": label});
    let params = serde_json::from_value(params).unwrap();
    tools::file_outline::outline(bench.core.read_context(), &params).unwrap()
}

// INDEX-READ-REASON-missing_sidecar
#[test]
fn missing_sidecar_is_not_ready_offers_a_reindex_and_leaves_search_alone() {
    let bench = Bench::indexed();
    bench.store.inner.lose_graph();
    let graph = bench.call_graph("a.rs", &alpha()).unwrap();
    assert_eq!((graph.status, graph.reason), (IndexStatus::NotReady, Some(NonOkReason::MissingSidecar)));
    assert!(!graph.supported);
    assert_eq!(graph.hints.unwrap().reindex, Some(ManageHint::new(ManageAction::Reindex, &bench.root)));
    assert_eq!((graph.nodes.len(), graph.edges.len(), graph.notes.len()), (0, 0, 0));
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok, "vectors have a proof of their own");
    assert_eq!(bench.outline("a.rs").unwrap().status, IndexStatus::Ok);
}

// INDEX-READ-unsupported, INDEX-READ-REASON-unsupported_language
#[test]
fn unsupported_language_names_what_is_supported() {
    let bench = Bench::indexed();
    std::fs::write(bench.project.join("notes.txt"), "text\n").unwrap();
    let graph = bench.call_graph("notes.txt", "sym_x").unwrap();
    assert_eq!(
        (graph.status, graph.reason),
        (IndexStatus::Unsupported, Some(NonOkReason::UnsupportedLanguage))
    );
    assert!(!graph.supported);
    let supported = graph.hints.unwrap().supported_extensions.unwrap();
    assert!(supported.iter().any(|extension| extension == ".rs"), "{supported:?}");
    let outline = bench.outline("notes.txt").unwrap();
    assert_eq!((outline.status, outline.reason), (IndexStatus::Unsupported, None));
    let message = outline.message.unwrap();
    assert!(message.starts_with("No outline for 'notes.txt'. Supported: .bash .c "), "{message}");
    assert_eq!(outline.outline, None);
}

// INDEX-READ-not_found, INDEX-READ-REASON-missing_symbol
#[test]
fn missing_symbol_is_not_found_and_says_where_to_look() {
    let bench = Bench::indexed();
    let graph = bench.call_graph("a.rs", "sym_nobody").unwrap();
    assert_eq!((graph.status, graph.reason), (IndexStatus::NotFound, Some(NonOkReason::MissingSymbol)));
    assert!(!graph.supported);
    assert_eq!(
        graph.message.as_deref(),
        Some("Symbol 'sym_nobody' is not in the index. Ask file_outline for the symbols of 'a.rs'.")
    );
    assert_eq!(bench.outline("gone.rs").unwrap().status, IndexStatus::NotFound);
    assert_eq!(outline_exactly(&bench, "nobody").status, IndexStatus::NotFound);
}

// INDEX-READ-ambiguous
#[test]
fn ambiguous_lists_every_symbol_of_the_label_and_one_is_ok() {
    let bench = Bench::new();
    std::fs::write(bench.project.join("a.rs"), "fn alpha() {}\nfn beta() {}\nfn alpha() {}\n").unwrap();
    bench.manage(ManageAction::Create);
    let found = outline_exactly(&bench, "function alpha()");
    assert_eq!((found.status, found.reason), (IndexStatus::Ambiguous, None));
    let message = found.message.as_deref().unwrap_or_default();
    let symbols = &found.outline.as_ref().unwrap().symbols;
    assert!(message.starts_with("2 symbols match in 'a.rs': sym_"), "{message}");
    assert!(message.ends_with("; ask again with symbolIdExact."), "{message}");
    assert!(
        symbols.iter().all(|symbol| message.contains(&symbol.symbol_id)),
        "each has what takes it: {message}"
    );
    let lines: Vec<_> = found.outline.unwrap().symbols.iter().map(|symbol| symbol.span.start_line).collect();
    assert_eq!(lines, [1, 3]);
    assert_eq!(outline_exactly(&bench, "function beta()").status, IndexStatus::Ok);
}

// INDEX-MANAGE-REASON-preflight_unknown
#[test]
fn preflight_unknown_goes_on_and_says_so() {
    let bench = Bench::indexed();
    let answer = bench.manage_with(bench.params(ManageAction::Reindex), Ok(&["a.rs"]));
    assert_eq!((answer.status, answer.reason), (IndexStatus::Ok, Some(ManageReason::PreflightUnknown)));
    let codes: Vec<_> = answer.warnings.iter().map(|warning| warning.code.as_str()).collect();
    assert_eq!(codes, ["REINDEX_PREFLIGHT_UNKNOWN"]);
    let preflight = answer.preflight.unwrap();
    assert_eq!(
        (preflight.outcome, preflight.confidence, preflight.probe_failed),
        (PreflightOutcome::Unknown, Confidence::Low, false)
    );
    assert_eq!(bench.manage(ManageAction::Status).operation.unwrap().phase, OperationPhase::Completed);
}

#[test]
fn a_failed_rebuild_is_told_by_status_for_as_long_as_the_former_index_answers() {
    let bench = Bench::indexed();
    // Proofs and the dropping go well; the new generation cannot be begun.
    let faults = [
        crate::testing::Fault::None,
        crate::testing::Fault::None,
        crate::testing::Fault::None,
        crate::testing::Fault::Fail,
    ];
    bench.store.script(faults);
    let answer = bench.manage_with(bench.params(ManageAction::Reindex), Ok(&["a.rs"]));
    assert_eq!(answer.status, IndexStatus::Ok, "it was begun");
    let status = bench.manage(ManageAction::Status);
    assert_eq!(status.status, IndexStatus::Ok, "the former index answers");
    assert_eq!(status.operation.as_ref().unwrap().phase, OperationPhase::Failed);
    assert_eq!(status.warnings[0].code, "LAST_BUILD_FAILED");
    assert_eq!(
        status.warnings[0].message,
        "The last reindex failed: the index store is unavailable: scripted. The former index is as it was and answers."
    );
    assert_eq!(bench.search("alpha").unwrap().status, IndexStatus::Ok);
    bench.manage(ManageAction::Reindex);
    assert_eq!(bench.manage(ManageAction::Status).warnings, [], "the next one went well");
}
