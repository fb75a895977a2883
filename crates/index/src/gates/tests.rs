//! The whole table, row by row.

use std::fmt::Write;

use expect_test::expect;

use super::*;

const STATES: [EntryState; 5] = [
    EntryState::Absent,
    EntryState::Indexing,
    EntryState::Searchable,
    EntryState::Failed,
    EntryState::RequiresReindex,
];
const FINGERPRINTS: [FingerprintGate; 4] = [
    FingerprintGate::Match,
    FingerprintGate::Differs(ReindexReason::FingerprintMismatch),
    FingerprintGate::Differs(ReindexReason::MissingFingerprint),
    FingerprintGate::Differs(ReindexReason::LegacyUnverifiedFingerprint),
];
const PROOFS: [Proof; 7] = [
    Proof::Valid,
    Proof::StaleLocal(StaleReason::MissingMarkerDoc),
    Proof::StaleLocal(StaleReason::InvalidMarkerKind),
    Proof::StaleLocal(StaleReason::InvalidPayload),
    Proof::StaleLocal(StaleReason::PathMismatch),
    Proof::FingerprintMismatch,
    Proof::ProbeFailed,
];

fn rows() -> impl Iterator<Item = (EntryState, FingerprintGate, bool, Proof)> {
    STATES.into_iter().flat_map(|state| {
        FINGERPRINTS.into_iter().flat_map(move |fingerprint| {
            [false, true].into_iter().flat_map(move |running| {
                PROOFS.into_iter().map(move |proof| (state, fingerprint, running, proof))
            })
        })
    })
}

#[test]
fn the_whole_table_is_as_written() {
    let mut table = String::new();
    for (state, fingerprint, running, proof) in rows() {
        // The entry's fingerprint is asked only for a searchable entry; the other rows are checked below.
        if fingerprint != FingerprintGate::Match && state != EntryState::Searchable {
            continue;
        }
        let fingerprint = match fingerprint {
            FingerprintGate::Match => "match".to_string(),
            FingerprintGate::Differs(reason) => format!("{reason:?}"),
        };
        let running = if running { "running" } else { "-" };
        let proof = proof.reason().map_or("valid", chartroom_protocol::index::ProofReason::as_str);
        let gate = decide_row(state, &fingerprint, running, proof);
        writeln!(table, "{state:?} {fingerprint} {running} {proof}: {gate}").unwrap();
    }
    expect![[r#"
        Absent match - valid: NotIndexed
        Absent match - missing_marker_doc: NotIndexed
        Absent match - invalid_marker_kind: NotIndexed
        Absent match - invalid_payload: NotIndexed
        Absent match - path_mismatch: NotIndexed
        Absent match - fingerprint_mismatch: NotIndexed
        Absent match - probe_failed: NotIndexed
        Absent match running valid: NotReady
        Absent match running missing_marker_doc: NotReady
        Absent match running invalid_marker_kind: NotReady
        Absent match running invalid_payload: NotReady
        Absent match running path_mismatch: NotReady
        Absent match running fingerprint_mismatch: NotReady
        Absent match running probe_failed: NotReady
        Indexing match - valid: Ok { unproven: false }
        Indexing match - missing_marker_doc: Interrupted
        Indexing match - invalid_marker_kind: Interrupted
        Indexing match - invalid_payload: Interrupted
        Indexing match - path_mismatch: Interrupted
        Indexing match - fingerprint_mismatch: RequiresReindex(FingerprintMismatch)
        Indexing match - probe_failed: NotReady
        Indexing match running valid: NotReady
        Indexing match running missing_marker_doc: NotReady
        Indexing match running invalid_marker_kind: NotReady
        Indexing match running invalid_payload: NotReady
        Indexing match running path_mismatch: NotReady
        Indexing match running fingerprint_mismatch: NotReady
        Indexing match running probe_failed: NotReady
        Searchable match - valid: Ok { unproven: false }
        Searchable match - missing_marker_doc: StaleLocal(MissingMarkerDoc)
        Searchable match - invalid_marker_kind: StaleLocal(InvalidMarkerKind)
        Searchable match - invalid_payload: StaleLocal(InvalidPayload)
        Searchable match - path_mismatch: StaleLocal(PathMismatch)
        Searchable match - fingerprint_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable match - probe_failed: Ok { unproven: true }
        Searchable match running valid: Ok { unproven: false }
        Searchable match running missing_marker_doc: NotReady
        Searchable match running invalid_marker_kind: NotReady
        Searchable match running invalid_payload: NotReady
        Searchable match running path_mismatch: NotReady
        Searchable match running fingerprint_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable match running probe_failed: Ok { unproven: true }
        Searchable FingerprintMismatch - valid: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - missing_marker_doc: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - invalid_marker_kind: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - invalid_payload: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - path_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - fingerprint_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch - probe_failed: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running valid: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running missing_marker_doc: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running invalid_marker_kind: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running invalid_payload: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running path_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running fingerprint_mismatch: RequiresReindex(FingerprintMismatch)
        Searchable FingerprintMismatch running probe_failed: RequiresReindex(FingerprintMismatch)
        Searchable MissingFingerprint - valid: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - missing_marker_doc: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - invalid_marker_kind: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - invalid_payload: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - path_mismatch: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - fingerprint_mismatch: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint - probe_failed: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running valid: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running missing_marker_doc: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running invalid_marker_kind: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running invalid_payload: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running path_mismatch: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running fingerprint_mismatch: RequiresReindex(MissingFingerprint)
        Searchable MissingFingerprint running probe_failed: RequiresReindex(MissingFingerprint)
        Searchable LegacyUnverifiedFingerprint - valid: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - missing_marker_doc: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - invalid_marker_kind: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - invalid_payload: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - path_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - fingerprint_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint - probe_failed: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running valid: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running missing_marker_doc: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running invalid_marker_kind: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running invalid_payload: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running path_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running fingerprint_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        Searchable LegacyUnverifiedFingerprint running probe_failed: RequiresReindex(LegacyUnverifiedFingerprint)
        Failed match - valid: NotIndexed
        Failed match - missing_marker_doc: NotIndexed
        Failed match - invalid_marker_kind: NotIndexed
        Failed match - invalid_payload: NotIndexed
        Failed match - path_mismatch: NotIndexed
        Failed match - fingerprint_mismatch: NotIndexed
        Failed match - probe_failed: NotIndexed
        Failed match running valid: NotReady
        Failed match running missing_marker_doc: NotReady
        Failed match running invalid_marker_kind: NotReady
        Failed match running invalid_payload: NotReady
        Failed match running path_mismatch: NotReady
        Failed match running fingerprint_mismatch: NotReady
        Failed match running probe_failed: NotReady
        RequiresReindex match - valid: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - missing_marker_doc: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - invalid_marker_kind: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - invalid_payload: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - path_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - fingerprint_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match - probe_failed: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running valid: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running missing_marker_doc: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running invalid_marker_kind: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running invalid_payload: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running path_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running fingerprint_mismatch: RequiresReindex(LegacyUnverifiedFingerprint)
        RequiresReindex match running probe_failed: RequiresReindex(LegacyUnverifiedFingerprint)
    "#]].assert_eq(&table);
}

/// Looks the row up again by its words, so that the table's text cannot drift from what is decided.
fn decide_row(state: EntryState, fingerprint: &str, running: &str, proof: &str) -> String {
    let (_, gate, is_running, given) = rows()
        .find(|row| {
            row.0 == state
                && (row.2 == (running == "running"))
                && row.3.reason().map_or("valid", chartroom_protocol::index::ProofReason::as_str) == proof
                && match row.1 {
                    FingerprintGate::Match => fingerprint == "match",
                    FingerprintGate::Differs(reason) => fingerprint == format!("{reason:?}"),
                }
        })
        .unwrap();
    format!("{:?}", decide(state, gate, is_running, given))
}

// INV-4
#[test]
fn invariant_4_the_fingerprint_gate_comes_first_and_indexing_second() {
    for (state, fingerprint, running, proof) in rows() {
        let verdict = decide(state, fingerprint, running, proof);
        let row = format!("{state:?} {fingerprint:?} {running} {proof:?}");
        if state == EntryState::Searchable && fingerprint != FingerprintGate::Match {
            assert!(matches!(verdict, Verdict::RequiresReindex(_)), "{row}");
        }
        if running && matches!(state, EntryState::Absent | EntryState::Indexing | EntryState::Failed) {
            assert_eq!(verdict, Verdict::NotReady, "{row}");
        }
        if running {
            let not_indexed =
                matches!(verdict, Verdict::NotIndexed | Verdict::StaleLocal(_) | Verdict::Interrupted);
            assert!(!not_indexed, "a running build is never 'not indexed': {row}");
        }
    }
}

// ACC-7
#[test]
fn acceptance_7_a_failed_probe_never_changes_a_classification() {
    for (state, fingerprint, running, proof) in rows().filter(|row| row.3 == Proof::ProbeFailed) {
        let failed = decide(state, fingerprint, running, proof);
        let not_indexed =
            matches!(failed, Verdict::NotIndexed | Verdict::StaleLocal(_) | Verdict::Interrupted);
        match state {
            // Otherwise OK stays OK, requires_reindex stays that.
            EntryState::Searchable => assert!(!not_indexed, "never downgraded"),
            // What the catalog does not have does not appear either.
            EntryState::Absent | EntryState::Failed => {
                assert!(!matches!(failed, Verdict::Ok { .. }), "never upgraded");
            }
            EntryState::Indexing => assert_eq!(failed, Verdict::NotReady, "left as it is"),
            EntryState::RequiresReindex => assert!(matches!(failed, Verdict::RequiresReindex(_))),
        }
    }
}

// ACC-8
#[test]
fn acceptance_8_a_fingerprint_mismatch_is_always_requires_reindex() {
    for running in [false, true] {
        for proof in PROOFS {
            let differs = FingerprintGate::Differs(ReindexReason::FingerprintMismatch);
            assert_eq!(
                decide(EntryState::Searchable, differs, running, proof),
                Verdict::RequiresReindex(ReindexReason::FingerprintMismatch)
            );
        }
        assert_eq!(
            decide(EntryState::Searchable, FingerprintGate::Match, running, Proof::FingerprintMismatch),
            Verdict::RequiresReindex(ReindexReason::FingerprintMismatch)
        );
    }
}
