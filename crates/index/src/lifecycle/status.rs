//! `status`: says what is, changes nothing.

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::index::{
    DebugProofCheck, Hints, IndexStatus, ManageAction, ManageHint, ManageIndexParams, ManageIndexResponse,
    ManageReason, Operation, OperationPhase, ProofReason, SkippedFiles, Warning,
};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Folder;

use super::{Target, answer};
use crate::catalog::{BuildStatus, CodebaseInfo, CodebaseState};
use crate::core::{Core, GateFacts};
use crate::gates::{self, EntryState, FingerprintGate, Verdict};
use crate::mutex::lock;
use crate::wording::progress_of;
use chartroom_search::scan::LeftOut;

/// Tells the state of one codebase.
pub(super) fn status(core: &Arc<Core>, params: &ManageIndexParams, target: &Target) -> ManageIndexResponse {
    let root = &target.root;
    let known = core.view().doc.codebases.remove(root);
    let (info, active) = core.read_context().beside_active(root, known);
    let info = info.as_ref();
    let building = active.as_ref().is_some_and(|active| active.is_build());
    let checked = core.proof(root);
    let verdict = gates::decide(
        EntryState::of(info),
        FingerprintGate::of(info, &core.fingerprint),
        building,
        checked.proof,
    );
    let progress = core.progress(root).or_else(|| progress_of(info));
    let receipt = core.receipt(root, info);
    let mut response = match verdict {
        Verdict::RequiresReindex(reason) => answer::requires_reindex(core, params, root, info, reason),
        Verdict::Ok { .. } | Verdict::NotReady if building => {
            let percentage = progress.as_ref().map_or(0.0, |progress| progress.progress_pct);
            let doing = if percentage < 10.0 {
                "Preparing and scanning files..."
            } else {
                "Processing files and generating embeddings..."
            };
            let mut text = format!("Codebase '{root}' is being indexed: {percentage:.1}%. {doing}");
            if matches!(verdict, Verdict::Ok { .. }) {
                text.push_str(" The former index answers until the new one is complete.");
            }
            answer::indexing(params, root, text, progress, active)
        }
        Verdict::NotReady => {
            let text = format!(
                "Codebase '{root}' is being indexed, as far as is known: its proof cannot be read now."
            );
            answer::indexing(params, root, text, progress, active)
        }
        Verdict::Ok { .. } => {
            answer::manage_envelope(params, root, IndexStatus::Ok, None, ready_text(root, info))
        }
        Verdict::StaleLocal(reason) => {
            let mut response = answer::stale_local(params, root, reason);
            response.warnings.push(Warning::new(
                "INDEX_STALE_LOCAL",
                "The catalog says indexed, but the index has no valid completion marker.",
            ));
            response
        }
        Verdict::Interrupted => {
            let why = receipt.as_ref().and_then(|operation| operation.message.as_deref());
            failed(params, root, why.unwrap_or("indexing was interrupted: its process ended"))
        }
        Verdict::NotIndexed => match info.map(|info| &info.state) {
            Some(CodebaseState::IndexFailed { error_message, .. }) => failed(params, root, error_message),
            _ => answer::not_indexed(params, root),
        },
    };
    if let (Verdict::Ok { .. }, false, Some(operation)) = (verdict, building, &receipt)
        && operation.phase == OperationPhase::Failed
    {
        let why = operation.message.as_deref().unwrap_or("the reason is not known");
        let text = format!(
            "The last {} failed: {why}. The former index is as it was and answers.",
            operation.action.as_str()
        );
        response.human_text.push_str(&format!("\n{text}"));
        response.warnings.push(Warning::new("LAST_BUILD_FAILED", text));
    }
    if let Some(Operation { phase: OperationPhase::Completed, message: Some(told), action, .. }) = &receipt {
        response.human_text.push_str(&format!("\nAfter the last {}: {told}.", action.as_str()));
    }
    if matches!(verdict, Verdict::Ok { unproven: true }) {
        let reason = ProofReason::ProbeFailed;
        let hints = response.hints.get_or_insert_with(Hints::default);
        hints.debug_proof_check = Some(DebugProofCheck { ok: false, reason, detail: checked.probe_error });
        response.human_text.push_str(
            "\nNote: the completion proof could not be checked now (probe_failed); the state is unchanged.",
        );
        response.warnings.push(Warning::new(
            "IGNORE_POLICY_PROBE_FAILED",
            "The completion proof could not be checked now; this says nothing about the index.",
        ));
    }
    if let Some(info) = info.filter(|_| matches!(verdict, Verdict::Ok { .. })) {
        let own = lock(&core.syncs).get(root).and_then(|sync| lock(&sync.unparsed).clone());
        let unparsed = own.unwrap_or_else(|| info.left_out.unparsed.clone());
        response.warnings.extend(answer::left_out(&LeftOut { unparsed, ..info.left_out.clone() }));
        let skipped = core.store.skipped(root).unwrap_or_else(|error| {
            tracing::debug!(root, %error, "what is not indexed cannot be read");
            SkippedFiles::default()
        });
        response.warnings.extend(answer::too_large(&skipped));
        if let Some(sentence) = skipped.sentence() {
            response.human_text.push_str(&format!("\n{sentence}"));
            response.skipped = Some(SkippedFiles { files: Vec::new(), ..skipped });
        }
    }
    let known = lock(&core.syncs).get(root).cloned();
    if let Some(why) = known.and_then(|sync| sync.polled_because()) {
        let text = format!("The folder is polled, not watched: {why}.");
        response.human_text.push_str(&format!("\n{text}"));
        response.warnings.push(Warning::new("WATCH_POLLED", text));
    }
    let vanished = lock(&core.syncs).get(root).and_then(|sync| lock(&sync.vanished).clone());
    let emptied = || info.is_some_and(has_files) && is_empty_folder(root);
    if let Some(text) = vanished.or_else(|| emptied().then(|| EMPTIED.to_owned())) {
        response.human_text.push_str(&format!("\n{text}."));
        response.warnings.push(Warning::new("FILES_VANISHED", text));
    }
    if info.is_some() && matches!(Path::new(root).try_exists(), Ok(false)) {
        response.human_text.push_str("\nThe folder is missing now (an unmounted disk?); its entry is kept.");
        response
            .warnings
            .push(Warning::new("ROOT_MISSING", "The folder is not there now; its entry is kept."));
    }
    if response.compatibility.is_none() {
        response.compatibility = Some(answer::compatibility(core, info, None));
    }
    if let Some(compatibility) = &response.compatibility {
        response
            .human_text
            .push_str(&format!("\nRuntime fingerprint: {}", compatibility.runtime_fingerprint));
        if let Some(indexed) = &compatibility.indexed_fingerprint {
            response.human_text.push_str(&format!("\nIndexed fingerprint: {indexed}"));
        }
    }
    response.operation = receipt;
    response
}

/// Said of a folder that has an index and nothing else.
const EMPTIED: &str = "the folder is empty now; is a disk not mounted? The index is kept as it was. If it is meant to be empty, run manage_index with action='sync'";

fn has_files(info: &CodebaseInfo) -> bool {
    match info.state {
        CodebaseState::Indexed { indexed_files, .. } | CodebaseState::SyncCompleted { indexed_files, .. } => {
            indexed_files > 0
        }
        CodebaseState::Indexing { .. }
        | CodebaseState::IndexFailed { .. }
        | CodebaseState::RequiresReindex { .. } => false,
    }
}

fn is_empty_folder(root: &str) -> bool {
    let folder = CanonicalRoot::open(root).ok().and_then(|root| Folder::of(&root).ok());
    folder.is_some_and(|folder| folder.names(Path::new("."), 1).is_ok_and(|names| names.is_empty()))
}

fn failed(params: &ManageIndexParams, root: &str, error: &str) -> ManageIndexResponse {
    let text = format!(
        "Indexing of codebase '{root}' failed: {error}. Run manage_index with action='create' to try again."
    );
    let mut response = answer::manage_envelope(params, root, IndexStatus::Error, None::<ManageReason>, text);
    response.hints = Some(Hints {
        create: Some(ManageHint::new(ManageAction::Create, root)),
        clear: Some(ManageHint::new(ManageAction::Clear, root)),
        ..Hints::default()
    });
    response
}

fn ready_text(root: &str, info: Option<&CodebaseInfo>) -> String {
    let when = info.map(|info| info.last_updated.as_str()).unwrap_or_default();
    match info.map(|info| &info.state) {
        Some(CodebaseState::Indexed { indexed_files, total_chunks, index_status }) => {
            let limit = match index_status {
                BuildStatus::Completed => "",
                BuildStatus::LimitReached => " The chunk limit was reached: not every file is indexed.",
            };
            format!(
                "Codebase '{root}' is indexed: {indexed_files} files, {total_chunks} chunks, as of {when}.{limit}"
            )
        }
        Some(CodebaseState::SyncCompleted {
            added, removed, modified, indexed_files, total_chunks, ..
        }) => format!(
            "Codebase '{root}' is indexed: {indexed_files} files, {total_chunks} chunks; last sync at {when}: +{added} -{removed} ~{modified}."
        ),
        _ => format!("Codebase '{root}' is indexed."),
    }
}
