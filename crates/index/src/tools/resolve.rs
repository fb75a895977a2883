//! From a requested path to the codebase that answers for it, and whether it may.

use std::path::Path;

use chartroom_protocol::index::IndexingProgress;

use super::ToolError;
use crate::catalog::CodebaseInfo;
use crate::core::ReadContext;
use crate::gates::{self, EntryState, FingerprintGate, Verdict};
use crate::identity::{below, canonical_root};
use crate::wording::progress_of;

/// What was found for a path.
pub(crate) struct Resolved {
    /// The codebase; none when nothing tracked encloses the path.
    pub(crate) root: Option<String>,
    /// What is asked about inside of it, with `/`; empty for all of it.
    pub(crate) below: String,
    pub(crate) info: Option<CodebaseInfo>,
    pub(crate) verdict: Verdict,
    pub(crate) probe_error: Option<String>,
    /// A build runs.
    pub(crate) building: bool,
    pub(crate) progress: Option<IndexingProgress>,
}

/// Finds the codebase of a folder (or of a file in it).
///
/// Nested codebases: the nearest that can answer, unless a nearer one must be reindexed first. A folder that is missing
/// but tracked is fine: the index can still answer.
pub(crate) fn resolve(context: ReadContext<'_>, path: &str) -> Result<Resolved, ToolError> {
    let canonical = canonical_of(path)?;
    let view = context.view();
    let mut roots: Vec<&String> =
        view.doc.codebases.keys().filter(|root| below(root, &canonical).is_some()).collect();
    roots.sort_by_key(|root| std::cmp::Reverse(root.len()));
    if roots.is_empty() {
        let exists = std::fs::metadata(&canonical)
            .map_err(|error| ToolError(format!("Path '{path}' cannot be opened: {error}.")))?;
        if !exists.is_dir() {
            return Err(ToolError(format!("Path '{path}' is not a directory.")));
        }
    }
    let mut best: Option<Resolved> = None;
    for root in roots {
        let resolved = judge(context, root, view.doc.codebases.get(root).cloned(), &canonical);
        if matches!(resolved.verdict, Verdict::RequiresReindex(_) | Verdict::Ok { .. }) {
            return Ok(resolved);
        }
        if best.as_ref().is_none_or(|best| rank(resolved.verdict) > rank(best.verdict)) {
            best = Some(resolved);
        }
    }
    if let Some(best) = best {
        return Ok(best);
    }
    // Nothing is tracked here, but a build may have begun that has not written its entry yet.
    Ok(judge(context, &canonical, None, &canonical))
}

pub(crate) fn canonical_of(path: &str) -> Result<String, ToolError> {
    if path.trim().is_empty() || path.contains('\0') {
        return Err(ToolError("The path is empty or holds a NUL character. Give an absolute path.".into()));
    }
    canonical_root(Path::new(path))
        .to_str()
        .map(ToOwned::to_owned)
        .ok_or_else(|| ToolError(format!("Path '{path}' is not valid UTF-8.")))
}

fn judge(context: ReadContext<'_>, root: &str, known: Option<CodebaseInfo>, path: &str) -> Resolved {
    let (info, active) = context.beside_active(root, known);
    let building = active.is_some_and(|active| active.is_build());
    let checked = context.gate.proof(root);
    let verdict = gates::decide(
        EntryState::of(info.as_ref()),
        FingerprintGate::of(info.as_ref(), context.fingerprint),
        building,
        checked.proof,
    );
    Resolved {
        root: (info.is_some() || building).then(|| root.to_owned()),
        below: below(root, path).unwrap_or_default(),
        verdict,
        probe_error: checked.probe_error,
        progress: context.gate.progress(root).or_else(|| progress_of(info.as_ref())),
        building,
        info,
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Ok { .. } | Verdict::RequiresReindex(_) => 4,
        Verdict::NotReady => 3,
        Verdict::StaleLocal(_) => 2,
        Verdict::Interrupted => 1,
        Verdict::NotIndexed => 0,
    }
}
