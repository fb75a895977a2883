//! `clear`: the one tool call that removes a codebase.

use std::sync::Arc;

use chartroom_protocol::index::{IndexStatus, ManageIndexParams, ManageIndexResponse};

use super::{Target, answer};
use crate::core::Core;
use crate::mutex::lock;

/// Removes the entry and everything stored of it, failed entries too. A store that fails keeps both.
pub(super) fn clear(core: &Arc<Core>, params: &ManageIndexParams, target: &Target) -> ManageIndexResponse {
    let root = &target.root;
    let conflicts = core.owners.conflicts(&core.version, &core.fingerprint);
    if !conflicts.is_empty() {
        return answer::owner_conflict(params, root, conflicts);
    }
    let tracked = |core: &Core| {
        let view = core.view();
        view.doc.codebases.contains_key(root) || view.doc.unreadable.contains_key(root)
    };
    if !tracked(core) && core.leases.active(root).is_none() {
        return answer::not_indexed(params, root);
    }
    let operation_id = format!("run_{}", uuid::Uuid::new_v4());
    let _lease = match core.leases.acquire(root, params.action, &operation_id) {
        Ok(lease) => lease,
        Err(refusal) => return answer::refused(core, params, root, refusal),
    };
    if !tracked(core) {
        return answer::not_indexed(params, root);
    }
    if let Err(error) = core.store.drop_root(root) {
        return answer::error(
            params,
            root,
            format!("Codebase '{root}' is not cleared: {error}. Nothing was removed."),
        );
    }
    // Killed here, the entry is left without proof: reads say so and clear can be asked again.
    if let Err(error) = core.writer.remove(root) {
        core.writer.abandon(root);
        return answer::error(
            params,
            root,
            format!("The index of '{root}' is removed, but its entry is not: {error}."),
        );
    }
    lock(&core.syncs).remove(root);
    core.commits.forget(root.as_ref());
    let remaining = core.view().doc.codebases.len();
    let text = format!("Cleared codebase '{root}'. {remaining} other codebase(s) remain.");
    answer::manage_envelope(params, root, IndexStatus::Ok, None, text)
}
