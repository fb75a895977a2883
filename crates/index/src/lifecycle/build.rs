//! A build: a new generation beside the old one, proven, then swapped in.
//!
//! The order is what makes a crash harmless: chunks, then the marker, then the swap, then the catalog. Killed before
//! the swap, the old generation answers and the leftover is dropped by the next build; killed after it, the marker
//! proves the new one whatever the catalog still says.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chartroom_protocol::index::{FingerprintSource, IndexingProgress, OperationPhase, SkippedFiles};

use crate::catalog::{BuildStatus, CodebaseInfo, CodebaseOptions, CodebaseState, SaveError};
use crate::core::{Core, Ended, GateFacts, Run};
use crate::lease::Lease;
use crate::mutex::lock;
use crate::proof::{self, Proof};
use chartroom_search::embed::EmbedError;
use chartroom_search::intake::{Batch, IntakeError};
use chartroom_search::scan::{self, LeftOut, ScanError, ScanOptions};
use chartroom_search::store::{
    Counts, Fingerprint, GenerationWriter, JournalEntry, Manifest, MarkerDoc, StoreError,
};

/// More than this is not indexed; the answer says so.
const CHUNK_LIMIT: u64 = 450_000;
/// Files that are parsed, embedded and committed together.
const BATCH_FILES: usize = 128;
/// Progress goes to the catalog at most this often.
const SAVE_EVERY: Duration = Duration::from_millis(2000);
/// How often the result of a build is tried when another process keeps the catalog busy (2 s each).
const FINAL_SAVES: usize = 15;

/// A build that is ready to run. Dropped unrun, it gives its lease back and the entry reads as interrupted.
pub(crate) struct BuildJob {
    core: Arc<Core>,
    root: String,
    /// Given back before anybody is told of the end.
    lease: Option<Lease>,
    lease_generation: u64,
    run: Arc<Run>,
    /// As it stands in the catalog now.
    entry: CodebaseInfo,
    /// The entry as it was before; a searchable one stays if this fails.
    previous: Option<CodebaseInfo>,
    options: CodebaseOptions,
    left_out: LeftOut,
    /// Set when it has run.
    end: Option<(OperationPhase, Option<String>)>,
}

/// Why a build came to nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    #[error(transparent)]
    Scan(#[from] ScanError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
    #[error("it was cancelled")]
    Cancelled,
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl From<IntakeError> for BuildError {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::Root(error) => Self::Scan(error),
            IntakeError::Embed(error) => Self::Embed(error),
        }
    }
}

impl BuildError {
    fn phase(&self) -> OperationPhase {
        match self {
            Self::Cancelled => OperationPhase::Cancelled,
            Self::Scan(_) | Self::Store(_) | Self::Embed(_) | Self::Save(_) => OperationPhase::Failed,
        }
    }
}

impl BuildJob {
    pub(super) fn new(
        core: Arc<Core>,
        root: String,
        lease: Lease,
        run: Arc<Run>,
        entry: CodebaseInfo,
        previous: Option<CodebaseInfo>,
        options: CodebaseOptions,
    ) -> Self {
        Self {
            core,
            root,
            lease_generation: lease.generation(),
            lease: Some(lease),
            run,
            entry,
            previous,
            options,
            left_out: LeftOut::default(),
            end: None,
        }
    }

    /// Builds to the end. What comes of it stands in the catalog.
    pub(crate) fn run(mut self) {
        let outcome = self.build();
        self.core.parser.rest();
        let saved = match outcome {
            Ok((counts, status)) => {
                self.end = Some((OperationPhase::Completed, None));
                self.succeed(counts, status)
            }
            Err(error) => {
                self.end = Some((error.phase(), Some(error.to_string())));
                self.fail(&error)
            }
        };
        if let Err(error) = saved {
            // The marker (or its absence) still tells the truth; only the receipt is missing.
            tracing::error!(root = self.root, %error, "the end of a build could not be saved");
        }
    }

    fn build(&mut self) -> Result<(Counts, BuildStatus), BuildError> {
        let core = Arc::clone(&self.core);
        core.store.drop_unfinished(&self.root)?;
        let mut writer = core.store.begin_generation(&self.root)?;
        let generation = writer.id();
        let built = self.fill(&mut *writer);
        drop(writer);
        match built {
            Ok(done) => {
                core.store.publish(&self.root, generation)?;
                Ok(done)
            }
            Err(error) => {
                if let Err(trouble) = core.store.discard(&self.root, generation) {
                    tracing::warn!(root = self.root, %trouble, "an unfinished generation is left for the next build to drop");
                }
                Err(error)
            }
        }
    }

    fn fill(&mut self, writer: &mut dyn GenerationWriter) -> Result<(Counts, BuildStatus), BuildError> {
        let core = Arc::clone(&self.core);
        self.phase(OperationPhase::Scanning, 5.0, None);
        let options = ScanOptions {
            custom_extensions: self.options.custom_extensions.clone(),
            ignore_patterns: self.options.ignore_patterns.clone(),
            new_by_name: true,
            full_hash: false,
        };
        let scan = scan::scan(Path::new(&self.root), &Manifest::default(), &options)?;
        self.left_out = scan.left_out;
        let mut skipped = scan.skipped;
        let former = self.former();
        let total = scan.added.len();
        let started = Instant::now();
        let (mut done, mut chunks, mut saved_at) = (0, 0, Instant::now());
        let mut status = BuildStatus::Completed;
        self.phase(OperationPhase::Processing, 10.0, Some((0, total as u64, 0, started)));
        for batch in scan.added.chunks(BATCH_FILES) {
            if self.run.cancel.is_cancelled() {
                return Err(BuildError::Cancelled);
            }
            let known: Vec<&dyn GenerationWriter> = former.iter().map(|former| &**former).collect();
            let known = [&[&*writer as &dyn GenerationWriter], known.as_slice()].concat();
            let Batch { changes, unparsed, unreadable, refused, skipped: _ } =
                crate::team::changes_of(&core, &self.root, batch, &known)?;
            // The batches come in the order of their paths.
            self.left_out.unparsed.extend(unparsed);
            self.left_out.unreadable_files += unreadable;
            skipped.extend(refused);
            chunks += writer.apply(changes)?.chunks_written;
            done += batch.len();
            let percentage = 10.0 + 90.0 * done as f64 / total.max(1) as f64;
            let counts = Some((done as u64, total as u64, chunks, started));
            if saved_at.elapsed() >= SAVE_EVERY {
                saved_at = Instant::now();
                self.phase(OperationPhase::Processing, percentage, counts);
            } else {
                self.tell(percentage, "process", counts);
            }
            if chunks >= CHUNK_LIMIT {
                status = BuildStatus::LimitReached;
                break;
            }
        }
        self.phase(OperationPhase::Publishing, 100.0, Some((done as u64, total as u64, chunks, started)));
        writer.set_unscanned(&scan.unscanned)?;
        writer.set_skipped(&SkippedFiles::of(skipped))?;
        let now = jiff::Timestamp::now().to_string();
        writer.journal(&JournalEntry {
            run_id: self.run.operation_id.clone(),
            action: self.run.action.as_str().into(),
            added: done as u64,
            removed: 0,
            modified: 0,
            finished_at: now.clone(),
        })?;
        let counts = writer.counts()?;
        writer.write_marker(&MarkerDoc {
            kind: MarkerDoc::KIND.into(),
            codebase_path: self.root.clone(),
            fingerprint: core.fingerprint.clone(),
            indexed_files: counts.files,
            total_chunks: counts.chunks,
            completed_at: now,
            run_id: self.run.operation_id.clone(),
        })?;
        Ok((counts, status))
    }

    /// The generation that is replaced, and of a linked worktree its repository's: where the vectors were made by the same
    /// model, text that is there is not embedded again. Without them the build only takes longer.
    fn former(&self) -> Vec<Box<dyn GenerationWriter>> {
        let main = super::worktree::main_of(Path::new(&self.root));
        let main = main.and_then(|main| main.into_os_string().into_string().ok());
        let roots = [Some(self.root.clone()), main];
        roots.into_iter().flatten().filter_map(|root| self.proven(&root)).collect()
    }

    /// Opens a generation to be asked for its vectors. That of another root is its own lease's to write: nothing is.
    fn proven(&self, root: &str) -> Option<Box<dyn GenerationWriter>> {
        let checked = match self.core.store.team() {
            // Its own: the team's may be out of reach.
            Some(team) => proof::check(team.own_marker(root), root, &self.core.fingerprint),
            None => self.core.proof(root),
        };
        let made_alike = checked.marker.is_some_and(|marker| {
            // Another store holds the same vectors.
            let ours = &self.core.fingerprint;
            let store = ours.vector_store_provider.clone();
            Fingerprint { vector_store_provider: store, ..marker.fingerprint } == *ours
        });
        if self.core.embedder.dimension() == 0 || !made_alike {
            return None;
        }
        self.core.store.open_writer(root).unwrap_or_else(|error| {
            tracing::debug!(root, %error, "no vectors are taken over");
            None
        })
    }

    fn succeed(&mut self, counts: Counts, status: BuildStatus) -> Result<(), SaveError> {
        let now = jiff::Timestamp::now().to_string();
        let state = CodebaseState::Indexed {
            indexed_files: counts.files,
            total_chunks: counts.chunks,
            index_status: status,
        };
        let mut entry = self.entry.with_state(state, &now);
        entry.options = self.options.clone();
        entry.left_out = self.left_out.clone();
        entry.index_fingerprint = Some(self.core.fingerprint.clone());
        entry.fingerprint_source = Some(FingerprintSource::Verified);
        entry.reindex_reason = None;
        entry.progress = None;
        entry.ignore_control_signature = Some(crate::sync::ignore_signature(Path::new(&self.root)));
        let told = crate::team::mend_what_is_gone(&self.core, &self.root);
        self.end = Some((OperationPhase::Completed, told.clone()));
        self.conclude(&mut entry, OperationPhase::Completed, told, &now);
        self.core.sync_of(&self.root).built();
        self.save_finally(entry)
    }

    fn fail(&mut self, error: &BuildError) -> Result<(), SaveError> {
        let now = jiff::Timestamp::now().to_string();
        tracing::warn!(root = self.root, %error, "a build failed");
        let mut entry = self.entry.with_state(self.state_after_failure(error), &now);
        if let Some(previous) = self.previous.as_ref().filter(|previous| previous.state.is_searchable()) {
            // The old index is as it was; only the receipt tells of the attempt.
            entry = previous.with_state(previous.state.clone(), &now);
        }
        entry.operation = self.entry.operation.clone();
        entry.progress = None;
        self.conclude(&mut entry, error.phase(), Some(error.to_string()), &now);
        self.save_finally(entry)
    }

    /// What a codebase without a searchable entry is after a failed build. An earlier process may have published a
    /// generation and died before it could say so: the marker knows.
    fn state_after_failure(&self, error: &BuildError) -> CodebaseState {
        let was_indexing = self
            .previous
            .as_ref()
            .filter(|previous| matches!(previous.state, CodebaseState::Indexing { .. }))
            .map(|previous| previous.state.clone());
        let checked = self.core.proof(&self.root);
        match (checked.marker, was_indexing) {
            (Some(marker), _) => CodebaseState::Indexed {
                indexed_files: marker.indexed_files,
                total_chunks: marker.total_chunks,
                index_status: BuildStatus::Completed,
            },
            (None, Some(indexing)) if checked.proof == Proof::ProbeFailed => indexing,
            (None, _) => CodebaseState::IndexFailed {
                error_message: error.to_string(),
                last_attempted_percentage: Some(self.run.progress.borrow().progress_pct),
            },
        }
    }

    fn conclude(&self, entry: &mut CodebaseInfo, phase: OperationPhase, message: Option<String>, now: &str) {
        entry.lease_generation = self.lease_generation;
        if let Some(operation) = &mut entry.operation {
            operation.phase = phase;
            operation.transition_at = now.into();
            operation.message = message;
        }
    }

    fn save_finally(&self, entry: CodebaseInfo) -> Result<(), SaveError> {
        let mut result = self.core.writer.set(&self.root, entry.clone());
        for _ in 1..FINAL_SAVES {
            match &result {
                Err(SaveError::Busy(_)) => result = self.core.writer.set(&self.root, entry.clone()),
                Ok(()) | Err(SaveError::Write { .. } | SaveError::Unreadable(_)) => break,
            }
        }
        result
    }

    /// Tells where the build is, in the catalog too. A save that fails here is not worth failing the build for.
    fn phase(&mut self, phase: OperationPhase, percentage: f64, counts: Option<(u64, u64, u64, Instant)>) {
        let name = match phase {
            OperationPhase::Scanning => "scan",
            OperationPhase::Publishing => "publish",
            OperationPhase::Accepted
            | OperationPhase::Processing
            | OperationPhase::Completed
            | OperationPhase::Failed
            | OperationPhase::Blocked
            | OperationPhase::Cancelled => "process",
        };
        self.tell(percentage, name, counts);
        let now = jiff::Timestamp::now().to_string();
        if let CodebaseState::Indexing { indexing_percentage } = &mut self.entry.state {
            *indexing_percentage = percentage;
        }
        self.entry.last_updated = now.clone();
        self.entry.progress = Some(self.run.progress.borrow().clone());
        if let Some(operation) = &mut self.entry.operation {
            operation.phase = phase;
            operation.transition_at = now;
        }
        if let Err(error) = self.core.writer.set(&self.root, self.entry.clone()) {
            tracing::debug!(%error, "progress could not be saved");
        }
    }

    fn tell(&self, percentage: f64, phase: &str, counts: Option<(u64, u64, u64, Instant)>) {
        self.run.progress.send_replace(IndexingProgress {
            progress_pct: (percentage * 10.0).round() / 10.0,
            last_updated: jiff::Timestamp::now().to_string(),
            phase: Some(phase.into()),
            files_done: counts.map(|(done, ..)| done),
            files_total: counts.map(|(_, total, ..)| total),
            chunks: counts.map(|(_, _, chunks, _)| chunks),
            chunks_per_second: counts.map(|(_, _, chunks, started)| {
                (chunks as f64 / started.elapsed().as_secs_f64().max(0.001)).round()
            }),
        });
    }
}

impl Drop for BuildJob {
    fn drop(&mut self) {
        let (phase, message) =
            self.end.take().unwrap_or((OperationPhase::Failed, Some("it was not run to its end".into())));
        // First: whoever finds no run any more finds how it ended.
        let ended = Ended { operation_id: self.run.operation_id.clone(), phase, message };
        lock(&self.core.ends).insert(self.root.clone(), ended);
        let mut runs = lock(&self.core.runs);
        if runs.get(&self.root).is_some_and(|run| run.operation_id == self.run.operation_id) {
            runs.remove(&self.root);
        }
        drop(runs);
        // Whoever waits for the end may want the lease at once.
        drop(self.lease.take());
        self.run.ended.send_replace(true);
    }
}
