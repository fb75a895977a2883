//! The words and hints that every answer shares, so that one state is told in one way wherever it shows.

use chartroom_protocol::index::{
    Compatibility, Hints, IndexingProgress, ManageAction, ManageHint, ProofReason, ReindexReason, StaleLocal,
};
use chartroom_search::store::Fingerprint;

use crate::catalog::{CodebaseInfo, CodebaseState};
use crate::proof::{Proof, StaleReason};

/// What the reference waits before it looks again.
pub(crate) const RETRY_AFTER_MS: u64 = 2000;

/// The words for a stale entry; the same wherever it shows.
pub(crate) fn stale_message(root: &str, requested: &str, reason: StaleReason) -> String {
    let reason = Proof::StaleLocal(reason).reason().map_or("", ProofReason::as_str);
    let mut text = format!(
        "Codebase '{root}' has stale local index metadata; completion proof is missing or invalid (reason: {reason})."
    );
    if requested != root {
        text.push_str(&format!(" Requested path: '{requested}'."));
    }
    text
}

/// The words for an index that this runtime cannot use.
pub(crate) fn reindex_message(
    info: Option<&CodebaseInfo>,
    runtime: &Fingerprint,
    reason: ReindexReason,
) -> String {
    let indexed = info.and_then(|info| info.index_fingerprint.as_ref());
    match (reason, indexed, info.map(|info| &info.state)) {
        (_, _, Some(CodebaseState::RequiresReindex { message })) => message.clone(),
        (ReindexReason::FingerprintMismatch, Some(indexed), _) if indexed != runtime => {
            format!("Index fingerprint mismatch. Indexed with {indexed}, current runtime is {runtime}.")
        }
        (ReindexReason::FingerprintMismatch, _, _) => {
            format!(
                "Index fingerprint mismatch. The completion marker was made with another runtime than {runtime}."
            )
        }
        (ReindexReason::MissingFingerprint, _, _) => "The index does not say what it was made with.".into(),
        (ReindexReason::LegacyUnverifiedFingerprint, _, _) => {
            "The index comes from an older format and what it was made with is not verified.".into()
        }
    }
}

/// What the index was made with and what this runtime is.
pub(crate) fn compatibility(
    info: Option<&CodebaseInfo>,
    runtime: &Fingerprint,
    reason: Option<ReindexReason>,
) -> Compatibility {
    Compatibility {
        runtime_fingerprint: runtime.to_string(),
        indexed_fingerprint: info.and_then(|info| info.index_fingerprint.as_ref()).map(ToString::to_string),
        fingerprint_source: info.and_then(|info| info.fingerprint_source),
        reindex_reason: reason,
        status_at_check: info.map_or("not_found", |info| info.state.name()).into(),
    }
}

/// How far a build is, as of the catalog.
pub(crate) fn progress_of(info: Option<&CodebaseInfo>) -> Option<IndexingProgress> {
    let info = info?;
    let percentage = match info.state {
        CodebaseState::Indexing { indexing_percentage } => indexing_percentage,
        _ => return info.progress.clone(),
    };
    Some(info.progress.clone().unwrap_or(IndexingProgress {
        progress_pct: percentage,
        last_updated: info.last_updated.clone(),
        phase: None,
        files_done: None,
        files_total: None,
        chunks: None,
        chunks_per_second: None,
    }))
}

/// What a stale answer offers, the same everywhere.
pub(crate) fn stale_hints(root: &str, reason: StaleReason) -> Hints {
    let create = ManageHint::new(ManageAction::Create, root);
    Hints {
        create: Some(create.clone()),
        stale_local: Proof::StaleLocal(reason)
            .reason()
            .map(|completion_proof| StaleLocal { completion_proof, recommended_action: create }),
        ..Hints::default()
    }
}
