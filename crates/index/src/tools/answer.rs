//! What a read tool says when it may not answer.

use chartroom_protocol::index::{
    Compatibility, DebugIndexing, DebugProofCheck, Hints, IndexStatus, IndexingProgress, ManageAction,
    ManageHint, NonOkReason, ProofReason,
};

use super::resolve::Resolved;
use crate::gates::Verdict;
use crate::wording::{RETRY_AFTER_MS, compatibility, reindex_message, stale_hints, stale_message};
use chartroom_search::store::Fingerprint;

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
            let hints = stale_hints(root, reason);
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
