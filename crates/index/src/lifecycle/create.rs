//! `create`, and the second half of `reindex`: decides whether to build and prepares the job.

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::index::{
    Hints, IndexStatus, IndexingProgress, ManageAction, ManageHint, ManageIndexParams, Operation,
    OperationPhase,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::answer;
use super::{BuildJob, Managed, Target};
use crate::catalog::{CodebaseInfo, CodebaseOptions, CodebaseState};
use crate::core::{Core, GateFacts, Run};
use crate::gates::{self, EntryState, FingerprintGate, Verdict};
use crate::lease::Lease;
use crate::mutex::lock;

/// Told when the catalog says indexed and the store cannot prove it.
pub(crate) const STALE_CREATE_TEXT: &str = "Local snapshot claims indexed, but completion proof is missing/invalid; treating as not_indexed for create.";

/// Why a build is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// By `create`: an index that is proven is left alone unless forced.
    Create,
    /// By `reindex`, after its preflight.
    Reindex,
}

/// Builds unless a proven index is already there.
pub(super) fn create(core: &Arc<Core>, params: &ManageIndexParams, target: &Target, mode: Mode) -> Managed {
    let root = &target.root;
    let conflicts = core.owners.conflicts(&core.version, &core.fingerprint);
    if !conflicts.is_empty() {
        return answer::owner_conflict(params, root, conflicts).into();
    }
    let operation_id = format!("run_{}", uuid::Uuid::new_v4());
    let lease = match core.leases.acquire(root, params.action, &operation_id) {
        Ok(lease) => lease,
        Err(refusal) => return answer::refused(core, params, root, refusal).into(),
    };
    let view = core.view();
    let info = view.doc.codebases.get(root);
    let checked = core.proof(root);
    let verdict = gates::decide(
        EntryState::of(info),
        FingerprintGate::of(info, &core.fingerprint),
        false,
        checked.proof,
    );
    let force = params.force || mode == Mode::Reindex;
    let mut note = None;
    match verdict {
        Verdict::RequiresReindex(reason) if !force => {
            return answer::requires_reindex(core, params, root, info, reason).into();
        }
        // Only a valid proof makes it "already indexed"; a probe that failed does not.
        Verdict::Ok { unproven: false } if !force => return already_indexed(params, root).into(),
        Verdict::Ok { unproven: true } | Verdict::StaleLocal(_) if !force => note = Some(STALE_CREATE_TEXT),
        Verdict::Ok { .. }
        | Verdict::RequiresReindex(_)
        | Verdict::StaleLocal(_)
        | Verdict::NotReady
        | Verdict::Interrupted
        | Verdict::NotIndexed => {}
    }
    // What is there stays as it is until the new generation is proven, even if its own proof cannot be seen now: the
    // probe may have been wrong, and a failed build must not make it worse.
    let keeps_old = info.is_some_and(|info| info.state.is_searchable());
    prepare(core, params, root, lease, info.cloned(), keeps_old, note)
}

fn prepare(
    core: &Arc<Core>,
    params: &ManageIndexParams,
    root: &str,
    lease: Lease,
    previous: Option<CodebaseInfo>,
    keeps_old: bool,
    note: Option<&str>,
) -> Managed {
    let now = jiff::Timestamp::now().to_string();
    let options = match options_of(params, previous.as_ref()) {
        Ok(options) => options,
        Err(message) => return answer::error(params, root, message).into(),
    };
    let operation = Operation {
        operation_id: lease.operation_id().to_owned(),
        action: params.action,
        root: root.to_owned(),
        generation: lease.generation(),
        accepted_at: now.clone(),
        phase: OperationPhase::Accepted,
        transition_at: now.clone(),
        fingerprint: core.fingerprint.to_string(),
        writer: std::process::id(),
        message: None,
    };
    let indexing = CodebaseState::Indexing { indexing_percentage: 0.0 };
    let mut entry = match (&previous, keeps_old) {
        (Some(previous), true) => previous.with_state(previous.state.clone(), &now),
        (Some(previous), false) => previous.with_state(indexing, &now),
        (None, _) => CodebaseInfo::new(indexing, &now),
    };
    entry.operation = Some(operation.clone());
    entry.lease_generation = lease.generation();
    if !keeps_old {
        entry.options = options.clone();
        entry.index_fingerprint = Some(core.fingerprint.clone());
    }
    if let Err(error) = core.writer.set(root, entry.clone()) {
        core.writer.abandon(root);
        return answer::error(params, root, format!("Codebase '{root}' is not indexed: {error}.")).into();
    }
    let progress = IndexingProgress {
        progress_pct: 0.0,
        last_updated: now,
        phase: Some("prepare".into()),
        files_done: None,
        files_total: None,
        chunks: None,
        chunks_per_second: None,
    };
    let run = Arc::new(Run {
        operation_id: operation.operation_id.clone(),
        action: params.action,
        progress: watch::Sender::new(progress),
        cancel: CancellationToken::new(),
        ended: watch::Sender::new(false),
    });
    lock(&core.runs).insert(root.to_owned(), Arc::clone(&run));
    let mut text = format!("Started background indexing for codebase '{root}'.");
    if let Some(note) = note {
        text = format!("{note}\n{text}");
    }
    if keeps_old {
        text.push_str(" The present index answers until the new one is complete.");
    }
    let mut response = answer::manage_envelope(params, root, IndexStatus::Ok, None, text);
    response.operation = Some(operation);
    response.hints =
        Some(Hints { status: Some(ManageHint::new(ManageAction::Status, root)), ..Hints::default() });
    let job = BuildJob::new(Arc::clone(core), root.to_owned(), lease, run, entry, previous, options);
    Managed { response, job: Some(job) }
}

fn already_indexed(params: &ManageIndexParams, root: &str) -> chartroom_protocol::index::ManageIndexResponse {
    let text = format!(
        "Codebase '{root}' is already indexed. Use action='sync' to bring it up to date, or create with force=true to rebuild it."
    );
    let mut response = answer::manage_envelope(params, root, IndexStatus::Blocked, None, text);
    response.hints =
        Some(Hints { sync: Some(ManageHint::new(ManageAction::Sync, root)), ..Hints::default() });
    response
}

/// What this codebase is scanned with: what `create` says now, else what it said before.
fn options_of(
    params: &ManageIndexParams,
    previous: Option<&CodebaseInfo>,
) -> Result<CodebaseOptions, String> {
    let mut options = previous.map(|info| info.options.clone()).unwrap_or_default();
    if let Some(extensions) = &params.custom_extensions {
        options.custom_extensions = extensions
            .iter()
            .map(|extension| extension.trim())
            .filter(|extension| !extension.is_empty())
            .map(
                |extension| {
                    if extension.starts_with('.') { extension.into() } else { format!(".{extension}") }
                },
            )
            .collect();
        options.custom_extensions.sort();
        options.custom_extensions.dedup();
    }
    if let Some(patterns) = &params.ignore_patterns {
        let mut builder = ignore::gitignore::GitignoreBuilder::new(Path::new("/"));
        for pattern in patterns {
            builder
                .add_line(None, pattern)
                .map_err(|error| format!("The ignore pattern '{pattern}' cannot be understood: {error}."))?;
        }
        options.ignore_patterns = patterns.clone();
    }
    Ok(options)
}
