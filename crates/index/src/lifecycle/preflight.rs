//! `reindex`: looks first whether a sync would do.

use std::sync::Arc;

use chartroom_protocol::index::{
    Confidence, Hints, IndexStatus, ManageAction, ManageHint, ManageIndexParams, ManageReason, Preflight,
    PreflightOutcome, Warning,
};

use super::{ChangedFiles, Managed, Target, answer, create};
use crate::core::{Core, GateFacts};
use crate::gates::{self, EntryState, FingerprintGate, Verdict};

/// Runs the preflight, then builds.
pub(super) fn reindex(
    core: &Arc<Core>,
    params: &ManageIndexParams,
    target: &Target,
    changed: Option<ChangedFiles>,
) -> Managed {
    let root = &target.root;
    let view = core.view();
    let info = view.doc.codebases.get(root);
    let verdict = gates::decide(
        EntryState::of(info),
        FingerprintGate::of(info, &core.fingerprint),
        false,
        core.proof(root).proof,
    );
    let preflight = preflight_of(verdict, changed);
    if preflight.outcome == PreflightOutcome::ReindexUnnecessaryIgnoreOnly
        && !params.allow_unnecessary_reindex
    {
        let text = format!(
            "Only ignore files changed in '{root}'; a sync follows them without a rebuild. Use action='sync', or reindex with allowUnnecessaryReindex=true."
        );
        let reason = Some(ManageReason::UnnecessaryReindexIgnoreOnly);
        let mut response = answer::manage_envelope(params, root, IndexStatus::Blocked, reason, text);
        let mut override_reindex = ManageHint::new(ManageAction::Reindex, root);
        override_reindex.args.allow_unnecessary_reindex = Some(true);
        response.hints = Some(Hints {
            sync: Some(ManageHint::new(ManageAction::Sync, root)),
            override_reindex: Some(override_reindex),
            ..Hints::default()
        });
        response.warnings.push(Warning::new(
            "REINDEX_UNNECESSARY_IGNORE_ONLY",
            "Every changed file is an ignore file; a sync is enough.",
        ));
        response.preflight = Some(preflight);
        return response.into();
    }
    let mut managed = create::create(core, params, target, create::Mode::Reindex);
    if managed.job.is_some() {
        match preflight.outcome {
            PreflightOutcome::ReindexRequired => return managed,
            PreflightOutcome::ProbeFailed => managed.response.warnings.push(Warning::new(
                "IGNORE_POLICY_PROBE_FAILED",
                "git could not say which files changed; the rebuild goes on.",
            )),
            PreflightOutcome::Unknown => {
                managed.response.reason = Some(ManageReason::PreflightUnknown);
                managed.response.warnings.push(Warning::new(
                    "REINDEX_PREFLIGHT_UNKNOWN",
                    "It is not known whether a sync would be enough; the rebuild goes on.",
                ));
            }
            PreflightOutcome::ReindexUnnecessaryIgnoreOnly => managed.response.warnings.push(Warning::new(
                "REINDEX_UNNECESSARY_IGNORE_ONLY",
                "Every changed file is an ignore file; a sync would have been enough.",
            )),
        }
        managed.response.preflight = Some(preflight);
    }
    managed
}

fn preflight_of(verdict: Verdict, changed: Option<ChangedFiles>) -> Preflight {
    let clean = matches!(verdict, Verdict::Ok { .. });
    let (outcome, confidence) = match changed {
        _ if !clean => (PreflightOutcome::ReindexRequired, Confidence::High),
        None | Some(Err(_)) => (PreflightOutcome::ProbeFailed, Confidence::Low),
        Some(Ok(files)) if !files.is_empty() && files.iter().all(|file| is_ignore_file(file)) => {
            (PreflightOutcome::ReindexUnnecessaryIgnoreOnly, Confidence::High)
        }
        Some(Ok(_)) => (PreflightOutcome::Unknown, Confidence::Low),
    };
    Preflight { outcome, confidence, probe_failed: outcome == PreflightOutcome::ProbeFailed }
}

fn is_ignore_file(file: &str) -> bool {
    matches!(file.rsplit('/').next(), Some(".gitignore" | ".chartroomignore"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartroom_protocol::index::ReindexReason;

    #[track_caller]
    fn check(verdict: Verdict, changed: Result<&[&str], ()>, expected: (PreflightOutcome, Confidence)) {
        let changed = changed
            .map(|files| files.iter().map(|file| (*file).to_owned()).collect())
            .map_err(|()| "no git".to_owned());
        let preflight = preflight_of(verdict, Some(changed));
        assert_eq!((preflight.outcome, preflight.confidence), expected);
        assert_eq!(preflight.probe_failed, expected.0 == PreflightOutcome::ProbeFailed);
    }

    #[test]
    fn every_preflight_outcome() {
        let ok = Verdict::Ok { unproven: false };
        let reindex = Verdict::RequiresReindex(ReindexReason::FingerprintMismatch);
        check(reindex, Ok(&[".gitignore"]), (PreflightOutcome::ReindexRequired, Confidence::High));
        check(Verdict::NotIndexed, Err(()), (PreflightOutcome::ReindexRequired, Confidence::High));
        check(ok, Err(()), (PreflightOutcome::ProbeFailed, Confidence::Low));
        let ignore_only = (PreflightOutcome::ReindexUnnecessaryIgnoreOnly, Confidence::High);
        check(ok, Ok(&[".gitignore", "sub/.chartroomignore"]), ignore_only);
        check(ok, Ok(&[".gitignore", "a.rs"]), (PreflightOutcome::Unknown, Confidence::Low));
        check(ok, Ok(&[]), (PreflightOutcome::Unknown, Confidence::Low));
    }
}
