//! Every outcome and every reason of the validator.

use serde_json::json;

use super::*;

fn runtime() -> Fingerprint {
    Fingerprint {
        embedding_provider: "static".into(),
        embedding_model: "m".into(),
        embedding_dimension: 256,
        vector_store_provider: "embedded".into(),
        schema_version: "hybrid_v3".into(),
    }
}

fn marker(root: &str) -> Value {
    json!({
        "kind": "chartroom_index_completion_v1",
        "codebasePath": root,
        "fingerprint": runtime(),
        "indexedFiles": 3,
        "totalChunks": 9,
        "completedAt": "2026-01-01T00:00:00Z",
        "runId": "run_1",
    })
}

fn with(field: &str, value: Value) -> Value {
    let mut marker = marker("/repo");
    marker[field] = value;
    marker
}

#[track_caller]
fn expect(probe: Result<Option<Value>, ProbeError>, expected: Proof) {
    assert_eq!(check(probe, "/repo", &runtime()).proof, expected);
}

// INDEX-PROOF-valid
#[test]
fn a_marker_with_every_field_right_is_valid() {
    expect(Ok(Some(marker("/repo"))), Proof::Valid);
    expect(Ok(Some(marker("/repo/"))), Proof::Valid);
    assert_eq!(Proof::Valid.reason(), None);
}

// INDEX-PROOF-missing_marker_doc
#[test]
fn missing_marker_doc_is_a_successful_probe_that_found_nothing() {
    expect(Ok(None), Proof::StaleLocal(StaleReason::MissingMarkerDoc));
}

// INDEX-PROOF-invalid_marker_kind
#[test]
fn invalid_marker_kind_is_any_other_kind() {
    for kind in [json!("chartroom_index_completion_v0"), json!(""), json!(1), Value::Null] {
        expect(Ok(Some(with("kind", kind))), Proof::StaleLocal(StaleReason::InvalidMarkerKind));
    }
}

// INDEX-PROOF-invalid_payload
#[test]
fn invalid_payload_is_any_field_that_is_not_what_it_must_be() {
    for document in [
        json!("text"),
        json!([1]),
        Value::Null,
        with("codebasePath", json!("")),
        with("codebasePath", json!(7)),
        with("fingerprint", Value::Null),
        with("fingerprint", json!("static/m")),
        with("fingerprint", json!({"embeddingProvider": "static"})),
        with("indexedFiles", json!("3")),
        with("indexedFiles", json!(-1)),
        with("totalChunks", json!(1.5)),
        with("totalChunks", Value::Null),
        with("completedAt", json!("yesterday")),
        with("completedAt", json!(5)),
    ] {
        let text = document.to_string();
        let checked = check(Ok(Some(document)), "/repo", &runtime());
        assert_eq!(checked.proof, Proof::StaleLocal(StaleReason::InvalidPayload), "{text}");
    }
}

// INDEX-PROOF-path_mismatch
#[test]
fn path_mismatch_is_another_root_and_a_symlink_to_this_one_is_not() {
    expect(Ok(Some(marker("/repo2"))), Proof::StaleLocal(StaleReason::PathMismatch));
    expect(Ok(Some(marker("/repo/sub"))), Proof::StaleLocal(StaleReason::PathMismatch));

    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let checked = check(Ok(Some(marker(link.to_str().unwrap()))), real.to_str().unwrap(), &runtime());
    assert_eq!(checked.proof, Proof::Valid);
}

// INDEX-PROOF-fingerprint_mismatch
#[test]
fn fingerprint_mismatch_is_any_of_the_five_fields() {
    for (field, value) in [
        ("embeddingProvider", json!("openai")),
        ("embeddingModel", json!("other")),
        ("embeddingDimension", json!(128)),
        ("vectorStoreProvider", json!("milvus")),
        ("schemaVersion", json!("dense_v3")),
    ] {
        let mut document = marker("/repo");
        document["fingerprint"][field] = value;
        let checked = check(Ok(Some(document)), "/repo", &runtime());
        assert_eq!(checked.proof, Proof::FingerprintMismatch, "{field}");
        assert!(checked.marker.is_some(), "the marker itself is good");
    }
}

// INDEX-PROOF-probe_failed
#[test]
fn probe_failed_is_every_probe_that_could_not_be_completed() {
    let text = || "x".to_string();
    for error in [
        ProbeError::Io(text()),
        ProbeError::Locked(text()),
        ProbeError::Corrupt(text()),
        ProbeError::Timeout(text()),
        ProbeError::Transport(text()),
        ProbeError::Auth(text()),
        ProbeError::Unavailable(text()),
        ProbeError::Parse(text()),
    ] {
        expect(Err(error), Proof::ProbeFailed);
    }
    assert_eq!(Proof::ProbeFailed.reason(), Some(ProofReason::ProbeFailed));
}
