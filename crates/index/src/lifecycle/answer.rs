//! The envelopes of `manage_index`, so that every action says the same thing in the same words.

use chartroom_protocol::index::{
    ActiveMutation, Compatibility, Hints, IndexStatus, IndexingProgress, ManageAction, ManageHint,
    ManageIndexParams, ManageIndexResponse, ManageReason, OperationPhase, ReindexReason, RuntimeOwner,
    SkipReason, SkippedFiles, Warning,
};

use crate::catalog::CodebaseInfo;
use crate::core::{Core, Ended, GateFacts};
use crate::lease::LeaseError;
use crate::proof::StaleReason;
use crate::wording::{RETRY_AFTER_MS, progress_of, reindex_message, stale_hints, stale_message};
use chartroom_search::scan::LeftOut;

/// An envelope that says `text`.
pub(crate) fn manage_envelope(
    params: &ManageIndexParams,
    root: &str,
    status: IndexStatus,
    reason: Option<ManageReason>,
    text: impl Into<String>,
) -> ManageIndexResponse {
    let text = text.into();
    ManageIndexResponse {
        tool: "manage_index".into(),
        version: 1,
        action: params.action,
        path: root.into(),
        status,
        reason,
        message: text.clone(),
        human_text: text,
        warnings: Vec::new(),
        hints: None,
        preflight: None,
        repair_proof: None,
        compatibility: None,
        freshness_decision: None,
        operation: None,
        skipped: None,
    }
}

/// It was tried and failed.
pub(super) fn error(params: &ManageIndexParams, root: &str, text: String) -> ManageIndexResponse {
    manage_envelope(params, root, IndexStatus::Error, None, text)
}

/// There is nothing here.
pub(super) fn not_indexed(params: &ManageIndexParams, root: &str) -> ManageIndexResponse {
    let text = format!("Codebase '{root}' is not indexed.");
    let mut response =
        manage_envelope(params, root, IndexStatus::NotIndexed, Some(ManageReason::NotIndexed), text);
    response.hints =
        Some(Hints { create: Some(ManageHint::new(ManageAction::Create, root)), ..Hints::default() });
    response
}

/// The catalog says indexed, the store has no proof.
pub(super) fn stale_local(
    params: &ManageIndexParams,
    root: &str,
    reason: StaleReason,
) -> ManageIndexResponse {
    let text = format!(
        "{} Run manage_index with action='create' on '{root}' to rebuild it.",
        stale_message(root, root, reason)
    );
    let mut response =
        manage_envelope(params, root, IndexStatus::NotIndexed, Some(ManageReason::NotIndexed), text);
    response.hints = Some(stale_hints(root, reason));
    response
}

/// Only a reindex helps.
pub(super) fn requires_reindex(
    core: &Core,
    params: &ManageIndexParams,
    root: &str,
    info: Option<&CodebaseInfo>,
    reason: ReindexReason,
) -> ManageIndexResponse {
    let text = format!(
        "{} Run manage_index with action='reindex' on '{root}'.",
        reindex_message(info, &core.fingerprint, reason)
    );
    let status = IndexStatus::RequiresReindex;
    let mut response = manage_envelope(params, root, status, Some(ManageReason::RequiresReindex), text);
    response.hints =
        Some(Hints { reindex: Some(ManageHint::new(ManageAction::Reindex, root)), ..Hints::default() });
    response.compatibility = Some(compatibility(core, info, Some(reason)));
    response
}

/// A build runs.
pub(super) fn indexing(
    params: &ManageIndexParams,
    root: &str,
    text: String,
    progress: Option<IndexingProgress>,
    active: Option<ActiveMutation>,
) -> ManageIndexResponse {
    let mut response =
        manage_envelope(params, root, IndexStatus::NotReady, Some(ManageReason::Indexing), text);
    response.hints = Some(Hints {
        status: Some(ManageHint::new(ManageAction::Status, root)),
        retry_after_ms: Some(RETRY_AFTER_MS),
        indexing: progress,
        active_mutation: active,
        ..Hints::default()
    });
    response
}

/// What somebody may look for in vain.
pub(super) fn left_out(left_out: &LeftOut) -> Vec<Warning> {
    let LeftOut { unreadable_folders, unreadable_files, not_utf8, ignore_files, unparsed } = left_out;
    let mut warnings = Vec::new();
    if !ignore_files.is_empty() {
        let text = format!("Ignore files that do not count: {}.", ignore_files.join("; "));
        warnings.push(Warning::new("IGNORE_FILES_LEFT_OUT", text));
    }
    if !unparsed.is_empty() {
        let named: Vec<&str> = unparsed.iter().take(LeftOut::NAMED).map(String::as_str).collect();
        let text = format!(
            "{} file(s) could not be parsed and are indexed by lines, without symbols: '{}'{}.",
            unparsed.len(),
            named.join("', '"),
            if unparsed.len() > named.len() { ", …" } else { "" }
        );
        warnings.push(Warning::new("FILES_UNPARSED", text));
    }
    if !unreadable_folders.is_empty() {
        let names = unreadable_folders.join("', '");
        let text =
            format!("Folders that cannot be read are not followed: '{names}'. Mend their permissions.");
        warnings.push(Warning::new("FOLDERS_UNREADABLE", text));
    }
    let mut count = |code: &str, number: u64, text: &str| {
        if number > 0 {
            warnings.push(Warning::new(code, format!("{number} {text}")));
        }
    };
    count("FILES_UNREADABLE", *unreadable_files, "file(s) cannot be read and are not indexed.");
    count(
        "NAMES_NOT_UTF8",
        *not_utf8,
        "file(s) or folder(s) have names that are not UTF-8 and are not indexed.",
    );
    warnings
}

/// What was skipped for its size has a code of its own: scripts look for it.
pub(super) fn too_large(skipped: &SkippedFiles) -> Option<Warning> {
    let count = skipped.reasons.iter().find(|count| count.reason == SkipReason::TooLarge)?.count;
    Some(Warning::new("FILES_TOO_LARGE", format!("{count} file(s) over the size limit are not indexed.")))
}

/// The lease was not given: a build answers `not_ready`, any other mutation `blocked`.
pub(super) fn refused(
    core: &Core,
    params: &ManageIndexParams,
    root: &str,
    refusal: LeaseError,
) -> ManageIndexResponse {
    match refusal {
        LeaseError::Held(active) if active.is_build() => {
            let view = core.view();
            let progress = core.progress(root).or_else(|| progress_of(view.doc.codebases.get(root)));
            let text =
                format!("Codebase '{root}' is being indexed (process {}). Try again later.", active.pid);
            indexing(params, root, text, progress, Some(*active))
        }
        LeaseError::Held(active) => {
            let text = format!(
                "Another {} of codebase '{root}' is running in process {}.",
                active.action, active.pid
            );
            let reason = Some(ManageReason::MutationInProgress);
            let mut response = manage_envelope(params, root, IndexStatus::Blocked, reason, text);
            response.hints = Some(Hints {
                status: Some(ManageHint::new(ManageAction::Status, root)),
                retry_after_ms: Some(RETRY_AFTER_MS),
                active_mutation: Some(*active),
                ..Hints::default()
            });
            response
        }
        LeaseError::Io(message) => error(
            params,
            root,
            format!(
                "Codebase '{root}' cannot be changed: {message}. Is the data folder '{}' writable?",
                core.data.display()
            ),
        ),
    }
}

/// A server with another set-up uses this data folder.
pub(super) fn owner_conflict(
    params: &ManageIndexParams,
    root: &str,
    owners: Vec<RuntimeOwner>,
) -> ManageIndexResponse {
    let text = format!(
        "Codebase '{root}' is not changed: another Chartroom (process {}) uses this data folder with another version or model. End it or use its configuration.",
        owners.first().map_or(0, |owner| owner.pid)
    );
    let reason = Some(ManageReason::RuntimeOwnerConflict);
    let mut response = manage_envelope(params, root, IndexStatus::Blocked, reason, text);
    response.hints = Some(Hints { runtime_owners: Some(owners), ..Hints::default() });
    response
}

/// The result of a build: the state after it, in the words of the action that asked for it. A build that failed is an
/// error even where the former index still answers.
pub(crate) fn finished(
    started: ManageIndexResponse,
    mut status: ManageIndexResponse,
    ended: Option<Ended>,
) -> ManageIndexResponse {
    let answers = status.status == IndexStatus::Ok;
    let operation = status.operation.as_ref().filter(|operation| {
        started.operation.as_ref().is_some_and(|begun| begun.operation_id == operation.operation_id)
    });
    let end = ended.map(|ended| (ended.phase, ended.message)).or_else(|| {
        operation
            .filter(|operation| operation.phase.is_terminal())
            .map(|operation| (operation.phase, operation.message.clone()))
    });
    if let Some((phase, message)) = end.filter(|(phase, _)| *phase != OperationPhase::Completed) {
        let failed = if phase == OperationPhase::Cancelled { "was ended" } else { "failed" };
        let mut text =
            format!("Indexing of codebase '{}' {failed}: {}.", started.path, message.unwrap_or_default());
        text.push_str(if answers {
            " The former index is as it was and answers."
        } else {
            " Nothing is indexed; run it again once the cause is gone."
        });
        status.status = IndexStatus::Error;
        status.reason = None;
        status.message = text.clone();
        status.human_text = text;
    }
    if status.status == IndexStatus::Ok {
        status.reason = started.reason;
    }
    status.action = started.action;
    status.preflight = started.preflight;
    let mut warnings = started.warnings;
    warnings.append(&mut status.warnings);
    status.warnings = warnings;
    status
}

/// What the index was made with and what this runtime is.
pub(crate) fn compatibility(
    core: &Core,
    info: Option<&CodebaseInfo>,
    reason: Option<ReindexReason>,
) -> Compatibility {
    crate::wording::compatibility(info, &core.fingerprint, reason)
}
