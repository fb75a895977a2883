//! `list_codebases`: every tracked codebase by its state. Reads only; membership never changes here.

use std::path::Path;

use chartroom_protocol::index::{CodebaseBucket, ListCodebasesResponse, ListedCodebase, ReindexReason};
use rayon::prelude::*;

use crate::catalog::{CodebaseInfo, CodebaseState};
use crate::core::{Core, GateFacts};
use crate::gates::{self, EntryState, FingerprintGate, Verdict};
use crate::mutex::lock;
use crate::proof::{Proof, StaleReason};
use crate::wording::progress_of;

/// Lists, with the proof of every entry checked.
pub(crate) fn list(core: &Core) -> ListCodebasesResponse {
    let view = core.view();
    let mut codebases: Vec<ListedCodebase> = view
        .doc
        .codebases
        .par_iter()
        .map(|(root, info)| listed(core, root, info))
        .chain(view.doc.unreadable.par_iter().map(|(root, _)| unreadable(root)))
        .collect();
    codebases.sort_by(|a, b| (a.bucket, &a.path).cmp(&(b.bucket, &b.path)));
    let mut notices = lock(&core.notices).clone();
    notices.extend(view.damage);
    ListCodebasesResponse { total: codebases.len() as u64, codebases, notices }
}

fn listed(core: &Core, root: &str, known: &CodebaseInfo) -> ListedCodebase {
    let (info, active) = core.read_context().beside_active(root, Some(known.clone()));
    let info = info.as_ref().unwrap_or(known);
    let building = active.is_some_and(|active| active.is_build());
    let checked = core.proof(root);
    let fingerprint = FingerprintGate::of(Some(info), &core.fingerprint);
    let verdict = gates::decide(EntryState::of(Some(info)), fingerprint, building, checked.proof);
    let (bucket, reason) = match verdict {
        Verdict::Ok { .. } => (CodebaseBucket::Ready, None),
        Verdict::NotReady => (CodebaseBucket::Indexing, None),
        Verdict::RequiresReindex(_)
            if fingerprint == FingerprintGate::Match && checked.proof == Proof::FingerprintMismatch =>
        {
            (CodebaseBucket::RequiresReindex, Some("completion_proof_fingerprint_mismatch".into()))
        }
        Verdict::RequiresReindex(reason) => {
            (CodebaseBucket::RequiresReindex, Some(reason_name(reason).into()))
        }
        Verdict::StaleLocal(reason) => {
            (CodebaseBucket::Failed, Some(format!("stale_local:{}", stale_name(reason))))
        }
        Verdict::Interrupted => (CodebaseBucket::Failed, Some("interrupted".into())),
        Verdict::NotIndexed => match &info.state {
            CodebaseState::IndexFailed { error_message, .. } => {
                (CodebaseBucket::Failed, Some(error_message.clone()))
            }
            _ => (CodebaseBucket::Failed, Some("not_indexed".into())),
        },
    };
    let (indexed_files, total_chunks) = match info.state {
        CodebaseState::Indexed { indexed_files, total_chunks, .. }
        | CodebaseState::SyncCompleted { indexed_files, total_chunks, .. } => {
            (Some(indexed_files), Some(total_chunks))
        }
        CodebaseState::Indexing { .. }
        | CodebaseState::IndexFailed { .. }
        | CodebaseState::RequiresReindex { .. } => (None, None),
    };
    let progress = core.progress(root).or_else(|| progress_of(Some(info)));
    ListedCodebase {
        path: root.into(),
        bucket,
        reason,
        progress_pct: progress
            .filter(|_| building || bucket == CodebaseBucket::Indexing)
            .map(|progress| progress.progress_pct),
        missing: matches!(Path::new(root).try_exists(), Ok(false)),
        indexed_files,
        total_chunks,
        last_updated: Some(info.last_updated.clone()),
    }
}

fn unreadable(root: &str) -> ListedCodebase {
    ListedCodebase {
        path: root.into(),
        bucket: CodebaseBucket::Failed,
        reason: Some("unreadable_entry".into()),
        progress_pct: None,
        missing: matches!(Path::new(root).try_exists(), Ok(false)),
        indexed_files: None,
        total_chunks: None,
        last_updated: None,
    }
}

/// The text of the tool.
pub fn render(response: &ListCodebasesResponse) -> String {
    let mut lines: Vec<String> = response.notices.iter().map(|notice| format!("Notice: {notice}")).collect();
    if response.codebases.is_empty() {
        lines.push("No codebases are currently tracked.".into());
        lines.push("Use manage_index with action='create' to index one.".into());
        return lines.join("\n");
    }
    lines.push("## Codebases".into());
    for (bucket, heading) in [
        (CodebaseBucket::Ready, "### Ready"),
        (CodebaseBucket::Indexing, "### Indexing"),
        (CodebaseBucket::RequiresReindex, "### Requires Reindex"),
        (CodebaseBucket::Failed, "### Failed"),
    ] {
        let members: Vec<_> =
            response.codebases.iter().filter(|codebase| codebase.bucket == bucket).collect();
        if members.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(heading.into());
        for codebase in members {
            let mut line = format!("- `{}`", codebase.path);
            match (bucket, codebase.progress_pct, &codebase.reason) {
                (CodebaseBucket::Ready, Some(percentage), _) => {
                    line.push_str(&format!(" (rebuilding, {percentage:.1}%)"))
                }
                (_, Some(percentage), _) => line.push_str(&format!(" ({percentage:.1}%)")),
                (_, None, Some(reason)) => line.push_str(&format!(" ({reason})")),
                (_, None, None) => {}
            }
            if codebase.missing {
                line.push_str(" (folder is missing)");
            }
            lines.push(line);
        }
    }
    lines.push(String::new());
    lines.push(format!("Total tracked: {}", response.total));
    lines.join("\n")
}

fn reason_name(reason: ReindexReason) -> &'static str {
    match reason {
        ReindexReason::LegacyUnverifiedFingerprint => "legacy_unverified_fingerprint",
        ReindexReason::FingerprintMismatch => "fingerprint_mismatch",
        ReindexReason::MissingFingerprint => "missing_fingerprint",
    }
}

fn stale_name(reason: StaleReason) -> &'static str {
    Proof::StaleLocal(reason).reason().map_or("", chartroom_protocol::index::ProofReason::as_str)
}
