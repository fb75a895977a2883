//! One sync: scan, then vectors before manifest, file by file; a crash anywhere is made good by the next one.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chartroom_protocol::index::{
    FreshnessDecision, FreshnessMode, ManageAction, Operation, OperationPhase, SyncStats,
};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Folder;

use super::Purpose;
use crate::catalog::{CodebaseInfo, CodebaseState};
use crate::core::Core;
use crate::lease::{Lease, LeaseError};
use chartroom_search::intake::{Batch, changes_of};
use chartroom_search::scan::{self, LeftOut, ScanOptions, ScannedFile};
use chartroom_search::store::{FileChange, JournalEntry};

/// Files that are parsed, embedded and committed together.
const BATCH_FILES: usize = 128;
/// How long another process's sync of the same root is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(25);

/// Why a sync did not happen.
pub(super) enum SyncError {
    /// Another process is changing this codebase.
    Conflict(LeaseError),
    /// It was tried and failed; the index is as it was, or a part further.
    Failed(String),
}

pub(super) fn sync(
    core: &Arc<Core>,
    root: &str,
    purpose: Purpose,
    signature: &str,
) -> Result<FreshnessDecision, SyncError> {
    let operation_id = format!("run_{}", uuid::Uuid::new_v4());
    let accepted_at = jiff::Timestamp::now().to_string();
    let lease = acquire(core, root, &operation_id)?;
    let failed = |message: String| SyncError::Failed(message);
    let view = core.view();
    let info = view.doc.codebases.get(root);
    let options = info.map(|info| info.options.clone()).unwrap_or_default();
    let options = ScanOptions {
        custom_extensions: options.custom_extensions,
        ignore_patterns: options.ignore_patterns,
        full_hash: false,
    };
    let mut writer = core
        .store
        .open_writer(root)
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("there is no index to sync; create it first".into()))?;
    let previous = writer.manifest().map_err(|error| failed(error.to_string()))?;
    let scan = scan::scan(Path::new(root), &previous, &options).map_err(|error| failed(error.to_string()))?;
    let mut stats = SyncStats {
        added: scan.added.len() as u64,
        removed: scan.removed.len() as u64,
        modified: scan.modified.len() as u64,
    };
    let newly_ignored = n_still_there(root, &scan.removed);

    // New text first: a file that moved finds its vectors under its old name, which goes last.
    let changed: Vec<ScannedFile> = scan.added.iter().chain(&scan.modified).cloned().collect();
    let mut unparsed = still_unparsed(info, &changed, &scan.removed);
    let mut skipped = 0;
    for files in changed.chunks(BATCH_FILES) {
        let batch = changes_of(&*core.parser, &*core.embedder, Path::new(root), files, &[&*writer])
            .map_err(|error| failed(error.to_string()))?;
        let Batch { changes, skipped: left_out, unparsed: more } = batch;
        skipped += left_out;
        unparsed.extend(more);
        writer.apply(changes).map_err(|error| failed(error.to_string()))?;
    }
    core.parser.rest();
    let rest: Vec<FileChange> = scan
        .touched
        .into_iter()
        .map(|file| FileChange::Touch(file.rel_path, file.stamp))
        .chain(scan.removed.into_iter().map(FileChange::Remove))
        .collect();
    if !rest.is_empty() {
        writer.apply(rest).map_err(|error| failed(error.to_string()))?;
    }
    if previous.unscanned != scan.unscanned {
        writer.set_unscanned(&scan.unscanned).map_err(|error| failed(error.to_string()))?;
    }
    stats.added = stats.added.saturating_sub(skipped);
    if stats != SyncStats::default() {
        let entry = JournalEntry {
            run_id: operation_id,
            action: "sync".into(),
            added: stats.added,
            removed: stats.removed,
            modified: stats.modified,
            finished_at: jiff::Timestamp::now().to_string(),
        };
        writer.journal(&entry).map_err(|error| failed(error.to_string()))?;
    }
    unparsed.sort();
    let left_out = LeftOut { unparsed, ..scan.left_out };
    let newly_unparsed = info.is_some_and(|info| info.left_out.unparsed != left_out.unparsed);
    if purpose == Purpose::Explicit {
        let counts = writer.counts().map_err(|error| failed(error.to_string()))?;
        drop(writer);
        let done = Done { stats, counts, left_out };
        record(core, root, &lease, done, signature, &accepted_at).map_err(failed)?;
    } else if newly_unparsed {
        record_left_out(core, root, left_out);
    }
    let mut decision = FreshnessDecision::of(FreshnessMode::Synced);
    decision.stats = Some(stats);
    decision.newly_ignored_files = Some(newly_ignored);
    Ok(decision)
}

/// Takes the lease; another process's sync is short, so it is waited for. A build is not.
fn acquire(core: &Core, root: &str, operation_id: &str) -> Result<Lease, SyncError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match core.leases.acquire(root, ManageAction::Sync, operation_id) {
            Ok(lease) => return Ok(lease),
            Err(LeaseError::Held(active))
                if !matches!(active.action.as_str(), "create" | "reindex" | "clear")
                    && Instant::now() < deadline =>
            {
                #[allow(clippy::disallowed_methods, reason = "another process's lease gives no signal")]
                std::thread::sleep(RETRY);
            }
            Err(conflict @ LeaseError::Held(_)) => return Err(SyncError::Conflict(conflict)),
            Err(LeaseError::Io(message)) => return Err(SyncError::Failed(message)),
        }
    }
}

/// What an explicit sync leaves in the catalog.
struct Done {
    stats: SyncStats,
    counts: chartroom_search::store::Counts,
    left_out: LeftOut,
}

/// The files that could not be parsed, without those that have other bytes now or are gone.
fn still_unparsed(info: Option<&CodebaseInfo>, changed: &[ScannedFile], removed: &[String]) -> Vec<String> {
    let gone = |path: &String| removed.contains(path) || changed.iter().any(|file| file.rel_path == *path);
    let known = info.map(|info| info.left_out.unparsed.as_slice()).unwrap_or_default();
    known.iter().filter(|path| !gone(path)).cloned().collect()
}

/// Files that left the index though they lie where they did: a rule ignores them now.
fn n_still_there(root: &str, removed: &[String]) -> u64 {
    let folder = CanonicalRoot::open(root).ok().and_then(|root| Folder::of(&root).ok());
    let is_there =
        |file: &&String| folder.as_ref().is_some_and(|folder| folder.metadata(Path::new(file)).is_ok());
    removed.iter().filter(is_there).count() as u64
}

/// Writes down what a sync left out that nobody asked for. The next explicit one says it in any case.
fn record_left_out(core: &Core, root: &str, left_out: LeftOut) {
    let view = core.catalog.read();
    let Some(info) = view.doc.codebases.get(root) else { return };
    let entry = CodebaseInfo { left_out, ..info.clone() };
    if let Err(error) = core.writer.set(root, entry) {
        core.writer.abandon(root);
        tracing::debug!(root, %error, "what a sync left out could not be saved");
    }
}

/// Writes an explicit sync down.
fn record(
    core: &Core,
    root: &str,
    lease: &Lease,
    done: Done,
    signature: &str,
    accepted_at: &str,
) -> Result<(), String> {
    let view = core.catalog.read();
    let Some(info) = view.doc.codebases.get(root) else {
        return Ok(());
    };
    let now = jiff::Timestamp::now().to_string();
    let mut entry = info.with_state(CodebaseState::synced(done.stats, done.counts), &now);
    entry.left_out = done.left_out;
    entry.lease_generation = lease.generation();
    if entry.ignore_control_signature.as_deref() != Some(signature) {
        entry.ignore_rules_version = Some(entry.ignore_rules_version.unwrap_or(0) + 1);
        entry.ignore_control_signature = Some(signature.to_owned());
    }
    entry.operation = Some(Operation {
        operation_id: lease.operation_id().to_owned(),
        action: ManageAction::Sync,
        root: root.to_owned(),
        generation: lease.generation(),
        accepted_at: accepted_at.to_owned(),
        phase: OperationPhase::Completed,
        transition_at: now,
        fingerprint: core.fingerprint.to_string(),
        writer: std::process::id(),
        message: None,
    });
    core.writer.set(root, entry).map_err(|error| {
        core.writer.abandon(root);
        error.to_string()
    })
}
