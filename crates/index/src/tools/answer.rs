//! Words and hints that every tool's answers share.

use chartroom_protocol::index::{
    Compatibility, DebugIndexing, DebugProofCheck, Hints, IndexStatus, IndexingProgress, ManageAction,
    ManageHint, NonOkReason, ProofReason, ReindexReason,
};

use super::resolve::Resolved;
use crate::catalog::{CodebaseInfo, CodebaseState};
use crate::gates::Verdict;
use crate::lifecycle::RETRY_AFTER_MS;
use crate::proof::{Proof, StaleReason};
use crate::store::Fingerprint;

/// What a read tool says when it may not answer; `None` of status means that it may.
pub(crate) struct Refusal {
    pub(crate) status: IndexStatus,
    pub(crate) reason: NonOkReason,
    pub(crate) message: String,
    pub(crate) hints: Hints,
    pub(crate) indexing: Option<IndexingProgress>,
    pub(crate) compatibility: Option<Compatibility>,
}

/// Turns a verdict into what is said about it; `Ok(hints)` when the tool may answer.
pub(crate) fn refusal(
    resolved: &Resolved,
    requested: &str,
    runtime: &Fingerprint,
) -> Result<Hints, Box<Refusal>> {
    let root = resolved.root.as_deref().unwrap_or(requested);
    let create = ManageHint::new(ManageAction::Create, root);
    let refuse = |status, reason, message: String, hints| Refusal {
        status,
        reason,
        message,
        hints,
        indexing: None,
        compatibility: None,
    };
    let refusal = match resolved.verdict {
        Verdict::Ok { unproven } => {
            return Ok(Hints {
                debug_proof_check: unproven.then(|| DebugProofCheck {
                    ok: false,
                    reason: ProofReason::ProbeFailed,
                    detail: resolved.probe_error.clone(),
                }),
                ..Hints::default()
            });
        }
        Verdict::RequiresReindex(reason) => {
            let info = resolved.info.as_ref();
            let hints =
                Hints { reindex: Some(ManageHint::new(ManageAction::Reindex, root)), ..Hints::default() };
            let message = reindex_message(info, runtime, reason);
            let mut refusal =
                refuse(IndexStatus::RequiresReindex, NonOkReason::RequiresReindex, message, hints);
            refusal.compatibility = Some(compatibility(info, runtime, Some(reason)));
            if resolved.building {
                refusal.hints.indexing = resolved.progress.clone();
            }
            refusal
        }
        Verdict::NotReady => {
            let hints = Hints {
                status: Some(ManageHint::new(ManageAction::Status, root)),
                retry_after_ms: Some(RETRY_AFTER_MS),
                debug_indexing: Some(DebugIndexing { completion_proof: "marker_doc".into() }),
                ..Hints::default()
            };
            let message = format!("Codebase '{root}' is being indexed. Try again later.");
            let mut refusal = refuse(IndexStatus::NotReady, NonOkReason::Indexing, message, hints);
            refusal.indexing = resolved.progress.clone();
            refusal
        }
        Verdict::StaleLocal(reason) => {
            let hints = crate::lifecycle::stale_hints(root, reason);
            refuse(
                IndexStatus::NotIndexed,
                NonOkReason::NotIndexed,
                stale_message(root, requested, reason),
                hints,
            )
        }
        Verdict::Interrupted => {
            let hints = Hints { create: Some(create), ..Hints::default() };
            let message =
                format!("Indexing of codebase '{root}' was interrupted: its process ended. Create it again.");
            refuse(IndexStatus::NotIndexed, NonOkReason::NotIndexed, message, hints)
        }
        Verdict::NotIndexed => {
            let hints = Hints { create: Some(create), ..Hints::default() };
            let message = format!("Codebase '{requested}' (or any parent) is not indexed.");
            refuse(IndexStatus::NotIndexed, NonOkReason::NotIndexed, message, hints)
        }
    };
    Err(Box::new(refusal))
}

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
