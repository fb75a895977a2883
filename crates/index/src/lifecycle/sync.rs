//! `sync`: brings the published generation up to date and writes that down.

use std::sync::Arc;

use chartroom_protocol::index::{
    ActiveMutation, FreshnessMode, Hints, IndexStatus, ManageAction, ManageHint, ManageIndexParams,
    ManageIndexResponse,
};

use super::{Target, answer};
use crate::core::{Core, GateFacts};
use crate::gates::{self, EntryState, FingerprintGate, Verdict};
use crate::lease::LeaseError;
use crate::sync::{self, Freshness, Purpose};

/// Syncs now, whatever the last one's age.
pub(super) fn sync(core: &Arc<Core>, params: &ManageIndexParams, target: &Target) -> ManageIndexResponse {
    let root = &target.root;
    let conflicts = core.owners.conflicts(&core.version, &core.fingerprint);
    if !conflicts.is_empty() {
        return answer::owner_conflict(params, root, conflicts);
    }
    let known = core.view().doc.codebases.remove(root);
    let (info, active) = core.read_context().beside_active(root, known);
    let info = info.as_ref();
    if let Some(active) = active.filter(ActiveMutation::is_build) {
        return answer::refused(core, params, root, LeaseError::Held(Box::new(active)));
    }
    let checked = core.proof(root);
    let verdict = gates::decide(
        EntryState::of(info),
        FingerprintGate::of(info, &core.fingerprint),
        false,
        checked.proof,
    );
    match verdict {
        Verdict::Ok { .. } => {}
        Verdict::RequiresReindex(reason) => {
            return answer::requires_reindex(core, params, root, info, reason);
        }
        Verdict::StaleLocal(reason) => return answer::stale_local(params, root, reason),
        Verdict::NotReady | Verdict::Interrupted | Verdict::NotIndexed => {
            return answer::not_indexed(params, root);
        }
    }
    let Freshness { decision, conflict } = sync::ensure_freshness(core, root, 0, Purpose::Explicit);
    if let Some(conflict) = conflict {
        return answer::refused(core, params, root, conflict);
    }
    let failure = decision.error_message.clone().unwrap_or_else(|| "the reason is not known".into());
    let (status, text) = match decision.mode {
        FreshnessMode::Synced
        | FreshnessMode::ReconciledIgnoreChange
        | FreshnessMode::Coalesced
        | FreshnessMode::SkippedRecent => (IndexStatus::Ok, synced_text(root, &decision)),
        FreshnessMode::IgnoreReloadFailed
        | FreshnessMode::SyncFailed
        | FreshnessMode::SkippedVanishedFiles => (
            IndexStatus::Error,
            format!("Sync of codebase '{root}' failed: {failure}. The index is as it was."),
        ),
        FreshnessMode::SkippedMissingPath => (
            IndexStatus::Error,
            format!("Codebase '{root}' is missing on disk; its entry and index are kept."),
        ),
        FreshnessMode::SkippedIndexing => {
            (IndexStatus::NotReady, format!("Codebase '{root}' is being indexed. Try again later."))
        }
        FreshnessMode::SkippedRequiresReindex => {
            (IndexStatus::RequiresReindex, format!("Codebase '{root}' must be reindexed first."))
        }
    };
    let mut response = answer::manage_envelope(params, root, status, None, text);
    if status != IndexStatus::Ok {
        response.hints =
            Some(Hints { status: Some(ManageHint::new(ManageAction::Status, root)), ..Hints::default() });
    }
    response.freshness_decision = Some(decision);
    let view = core.view();
    if let Some(info) = view.doc.codebases.get(root) {
        response.operation = info.operation.clone();
        response.warnings.extend(answer::left_out(&info.left_out));
        response.warnings.extend(core.store.skipped(root).ok().as_ref().and_then(answer::too_large));
    }
    response
}

fn synced_text(root: &str, decision: &chartroom_protocol::index::FreshnessDecision) -> String {
    let stats = decision.stats.unwrap_or_default();
    if stats.added + stats.removed + stats.modified == 0 {
        return format!("No changes detected in codebase '{root}'.");
    }
    format!(
        "Synced codebase '{root}': +{} added, -{} removed, ~{} modified.",
        stats.added, stats.removed, stats.modified
    )
}
