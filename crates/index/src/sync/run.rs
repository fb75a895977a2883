//! One sync: scan, then vectors before manifest, file by file; a crash anywhere is made good by the next one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chartroom_protocol::index::{
    FreshnessDecision, FreshnessMode, ManageAction, Operation, OperationPhase, SkippedFiles, SyncStats,
};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Folder;

use super::Purpose;
use crate::catalog::CodebaseState;
use crate::core::Core;
use crate::freshness::Seen;
use crate::lease::{Lease, LeaseError};
use crate::mutex::lock;
use chartroom_search::intake::Batch;
use chartroom_search::scan::{self, LeftOut, Scan, ScanOptions, ScannedFile};
use chartroom_search::store::{FileChange, GenerationWriter, JournalEntry};

/// Files that are parsed, embedded and committed together.
const BATCH_FILES: usize = 128;
/// How long another process's sync of the same root is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
const RETRY: Duration = Duration::from_millis(25);

/// Why a sync did not happen.
pub(super) enum SyncError {
    /// Another process is changing this codebase.
    Conflict(LeaseError),
    /// The folder has no files any more, or far fewer: nothing was done, because nobody said that this is meant.
    Vanished(String),
    /// It was tried and failed; the index is as it was, or a part further.
    Failed(String),
}

pub(super) fn sync(
    core: &Arc<Core>,
    root: &str,
    purpose: Purpose,
    signature: &str,
    seen: Seen,
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
        new_by_name: false,
    };
    let mut writer = core
        .store
        .open_writer(root)
        .map_err(|error| failed(error.to_string()))?
        .ok_or_else(|| failed("there is no index to sync; create it first".into()))?;
    let look = match seen {
        Seen::Files(files) => look_at(&*writer, root, &files, &options),
        Seen::Anything => Ok(None),
    };
    let (previous, scan) = match look.map_err(&failed)? {
        Some(found) => found,
        None => {
            let previous = writer.manifest().map_err(|error| failed(error.to_string()))?;
            let scan = scan::scan(Path::new(root), &previous, &options)
                .map_err(|error| failed(error.to_string()))?;
            let n_files = previous.files.len() as u64;
            (Previous { n_files, unscanned: previous.unscanned, whole: true }, scan)
        }
    };
    let mut stats = SyncStats {
        added: scan.added.len() as u64,
        removed: scan.removed.len() as u64,
        modified: scan.modified.len() as u64,
    };
    let newly_ignored = n_still_there(root, &scan.removed);
    let n_gone = stats.removed.saturating_sub(newly_ignored);
    if purpose == Purpose::Passive && has_vanished(previous.n_files, n_gone) {
        let known = previous.n_files;
        return Err(SyncError::Vanished(format!(
            "{n_gone} of the {known} indexed files are not there any more; is a disk not mounted? The index is kept as it was. If they are meant to be gone, run manage_index with action='sync'"
        )));
    }

    // New text first: a file that moved finds its vectors under its old name, which goes last.
    let changed: Vec<ScannedFile> = scan.added.iter().chain(&scan.modified).cloned().collect();
    let own = core.sync_of(root);
    let known = lock(&own.unparsed).clone();
    let known = known.or_else(|| info.map(|info| info.left_out.unparsed.clone())).unwrap_or_default();
    let mut unparsed = still_unparsed(known, &changed, &scan.removed);
    let (mut skipped, mut not_taken) = (0, scan.skipped);
    for files in changed.chunks(BATCH_FILES) {
        let batch = crate::team::changes_of(core, root, files, &[&*writer])
            .map_err(|error| failed(error.to_string()))?;
        let Batch { changes, skipped: left_out, unparsed: more, refused, unreadable: _ } = batch;
        not_taken.extend(refused);
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
    if previous.whole {
        let now = SkippedFiles::of(not_taken);
        if writer.skipped().map_err(|error| failed(error.to_string()))? != now {
            writer.set_skipped(&now).map_err(|error| failed(error.to_string()))?;
        }
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
    *lock(&own.unparsed) = Some(unparsed.clone());
    let left_out = LeftOut { unparsed, ..scan.left_out };
    if purpose == Purpose::Explicit {
        let counts = writer.counts().map_err(|error| failed(error.to_string()))?;
        drop(writer);
        let done = Done { stats, counts, left_out };
        record(core, root, &lease, done, signature, &accepted_at).map_err(failed)?;
    }
    let mut decision = FreshnessDecision::of(FreshnessMode::Synced);
    decision.stats = Some(stats);
    decision.newly_ignored_files = Some(newly_ignored);
    Ok(decision)
}

/// What is known of the manifest before a sync.
struct Previous {
    n_files: u64,
    unscanned: Vec<String>,
    /// Every file of the folder is looked at.
    whole: bool,
}

/// Looks at the files that were seen changing and at nothing else; none when that is not enough: a folder came or went, or
/// what came is to be told as left out.
fn look_at(
    writer: &dyn GenerationWriter,
    root: &str,
    files: &BTreeSet<String>,
    options: &ScanOptions,
) -> Result<Option<(Previous, Scan)>, String> {
    let paths: Vec<&str> = files.iter().map(String::as_str).collect();
    let stamps = writer.stamps(&paths).map_err(|error| error.to_string())?;
    let (mut known, mut new) = (Vec::new(), Vec::new());
    for (path, stamp) in paths.into_iter().zip(stamps) {
        match stamp {
            Some(stamp) => known.push((path.to_owned(), stamp)),
            None if scan::is_folder(Path::new(root), path) => return Ok(None),
            None if scan::could_be_new(Path::new(root), path, options) => new.push(path.to_owned()),
            None if writer.has_below(path).map_err(|error| error.to_string())? => return Ok(None),
            None => {}
        }
    }
    let scan = scan::scan_files(Path::new(root), known, &new, options).map_err(|error| error.to_string())?;
    // A file that is no text, or cannot be looked at: what is left out is counted over the whole folder.
    if !scan.skipped.is_empty() || !scan.unscanned.is_empty() {
        return Ok(None);
    }
    // Only a loss of files is compared with how many there were.
    let n_files = match scan.removed.is_empty() {
        true => u64::MAX,
        false => writer.counts().map_err(|error| error.to_string())?.files,
    };
    let unscanned = scan.unscanned.clone();
    Ok(Some((Previous { n_files, unscanned, whole: false }, scan)))
}

/// Whether so many files are gone that it is rather the folder that is not what it was: all, or more than four of five
/// of a folder that had some.
fn has_vanished(n_known: u64, n_gone: u64) -> bool {
    const SOME: u64 = 20;
    n_gone > 0 && (n_gone == n_known || n_known >= SOME && n_gone * 5 > n_known * 4)
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
fn still_unparsed(mut known: Vec<String>, changed: &[ScannedFile], removed: &[String]) -> Vec<String> {
    let gone = |path: &String| removed.contains(path) || changed.iter().any(|file| file.rel_path == *path);
    known.retain(|path| !gone(path));
    known
}

/// Files that left the index though they lie where they did: a rule ignores them now.
fn n_still_there(root: &str, removed: &[String]) -> u64 {
    let folder = CanonicalRoot::open(root).ok().and_then(|root| Folder::of(&root).ok());
    let is_there =
        |file: &&String| folder.as_ref().is_some_and(|folder| folder.metadata(Path::new(file)).is_ok());
    removed.iter().filter(is_there).count() as u64
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
