//! What a killed process left in the catalog, put right under the lease by those who may write.
//!
//! Readers need none of this: the gates already see an `indexing` entry without an owner for what it is.

use chartroom_protocol::index::{FingerprintSource, ManageAction, OperationPhase};

use crate::catalog::{BuildStatus, CodebaseState};
use crate::core::{Core, GateFacts};
use crate::mutex::lock;
use crate::proof::Proof;

/// Settles what a crash left, once a process.
pub(crate) fn settle(core: &Core) {
    core.settled.call_once(|| recover(core));
}

/// Settles what a crash left: a damaged catalog is set aside, membership comes back from the markers, nothing is ever
/// removed. A folder that cannot be written is told in a notice and does not stop the reads.
pub(crate) fn recover(core: &Core) {
    match core.writer.quarantine_if_damaged() {
            Ok(None) => {}
            Ok(Some(quarantined)) => lock(&core.notices).push(format!(
                "The catalog was damaged ({}) and is set aside as '{}'. Indexed codebases are recovered from their completion markers.",
                quarantined.reason,
                quarantined.to.display()
            )),
            Err(error) => lock(&core.notices).push(format!("The catalog cannot be repaired: {error}.")),
        }
    let view = core.catalog.read();
    match crate::catalog::reconcile_non_destructive(&view.doc, &*core.store, &core.fingerprint, &core.writer)
    {
        Ok(added) if added.is_empty() => {}
        Ok(added) => tracing::info!(?added, "codebases recovered from their completion markers"),
        Err(error) => tracing::warn!(%error, "recovered codebases could not be saved"),
    }
    recover_interrupted(core);
}

/// Settles every entry whose build has no living owner: promoted by a valid marker, failed without one, and left alone
/// when the probe cannot tell.
fn recover_interrupted(core: &Core) {
    let doc = core.catalog.read().doc;
    for (root, info) in &doc.codebases {
        let unfinished = info.operation.as_ref().is_some_and(|operation| !operation.phase.is_terminal());
        let indexing = matches!(info.state, CodebaseState::Indexing { .. });
        if !indexing && !unfinished {
            continue;
        }
        let operation_id = format!("run_{}", uuid::Uuid::new_v4());
        // Held: the build is alive, here or in another process, and nobody else's business.
        let Ok(lease) = core.leases.acquire(root, ManageAction::Status, &operation_id) else {
            continue;
        };
        let now = jiff::Timestamp::now().to_string();
        let checked = core.proof(root);
        let mut entry = info.clone();
        match (checked.proof, checked.marker) {
            (Proof::ProbeFailed, _) => continue,
            (Proof::Valid | Proof::FingerprintMismatch, Some(marker)) => {
                entry.state = CodebaseState::Indexed {
                    indexed_files: marker.indexed_files,
                    total_chunks: marker.total_chunks,
                    index_status: BuildStatus::Completed,
                };
                entry.index_fingerprint = Some(marker.fingerprint.clone());
                entry.fingerprint_source = Some(FingerprintSource::Verified);
                if let Some(operation) = &mut entry.operation {
                    let finished = marker.run_id == operation.operation_id;
                    operation.phase =
                        if finished { OperationPhase::Completed } else { OperationPhase::Failed };
                    operation.message = (!finished).then(|| "its process ended".into());
                }
            }
            (Proof::Valid | Proof::FingerprintMismatch | Proof::StaleLocal(_), _) => {
                if indexing {
                    entry.state = CodebaseState::IndexFailed {
                        error_message: "indexing was interrupted: its process ended".into(),
                        last_attempted_percentage: info
                            .progress
                            .as_ref()
                            .map(|progress| progress.progress_pct),
                    };
                }
                if let Some(operation) = &mut entry.operation {
                    operation.phase = OperationPhase::Failed;
                    operation.message = Some("its process ended".into());
                }
            }
        }
        entry.progress = None;
        entry.last_updated = now.clone();
        entry.lease_generation = lease.generation();
        if let Some(operation) = &mut entry.operation {
            operation.transition_at = now;
        }
        if let Err(error) = core.writer.set(root, entry) {
            core.writer.abandon(root);
            tracing::warn!(root, %error, "an interrupted build could not be settled in the catalog");
        }
    }
}
