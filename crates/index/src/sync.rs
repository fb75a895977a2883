//! Freshness: is the published generation what the folder holds, and if not, make it so.
//!
//! A sync that a search asks for changes the store's content and nothing else: the catalog's bytes are only changed by
//! `manage_index`. Requests for one root that wait together share one sync.

mod run;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use chartroom_protocol::index::{ActiveMutation, FreshnessDecision, FreshnessMode, SyncStats};
use chartroom_workspace::{CanonicalRoot, boundary};

use crate::core::{Core, GateFacts};
use crate::freshness::Seen;
use crate::lease::LeaseError;
use crate::mutex::lock;

/// A search looks again after this long when nobody watches the folder. The reference waits 180,000 ms; a scan of
/// stats is cheap enough for a second.
pub(crate) const SEARCH_THRESHOLD_MS: u64 = 1000;

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// `manage_index sync`: writes the catalog.
    Explicit,
    /// A search or the background: leaves the catalog alone.
    Passive,
}

/// What was decided, and who is in the way.
#[derive(Debug)]
pub(crate) struct Freshness {
    pub(crate) decision: FreshnessDecision,
    pub(crate) conflict: Option<LeaseError>,
}

/// Makes the index fresh enough. Blocks while a sync runs.
pub(crate) fn ensure_freshness(
    core: &Arc<Core>,
    root: &str,
    threshold_ms: u64,
    purpose: Purpose,
) -> Freshness {
    let asked = Instant::now();
    let checked_at = jiff::Timestamp::now().to_string();
    let finish = |mut decision: FreshnessDecision, conflict| {
        decision.checked_at = Some(checked_at.clone());
        decision.threshold_ms = Some(threshold_ms);
        Freshness { decision, conflict }
    };
    if !Path::new(root).is_dir() {
        return finish(FreshnessDecision::of(FreshnessMode::SkippedMissingPath), None);
    }
    if let Some(active) = core.active(root).filter(ActiveMutation::is_build) {
        let conflict = LeaseError::Held(Box::new(active));
        return finish(FreshnessDecision::of(FreshnessMode::SkippedIndexing), Some(conflict));
    }
    let sync = core.sync_of(root);
    let mut last = lock(&sync.last);
    let signature = ignore_signature(Path::new(root));
    let rules_changed = last.ignore_signature.as_ref().is_some_and(|known| *known != signature);
    let age_ms = last.began.map(|began| u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
    // Joined a sync that began after this was asked: it saw whatever the caller could have seen.
    if last.began.is_some_and(|began| began >= asked)
        && let Some(outcome) = &last.outcome
    {
        let mut decision = outcome.clone();
        decision.mode = FreshnessMode::Coalesced;
        return finish(decision, None);
    }
    if purpose == Purpose::Passive && !rules_changed {
        let recent = age_ms.is_some_and(|age| age < threshold_ms);
        if last.began.is_some() && (recent && !sync.dirty.load(Ordering::SeqCst) || sync.is_clean()) {
            let mut decision = FreshnessDecision::of(FreshnessMode::SkippedRecent);
            decision.last_sync_at = last.at.map(|at| at.to_string());
            decision.age_ms = age_ms;
            return finish(decision, None);
        }
    }
    let seen = match (sync.take_seen(), purpose) {
        (Seen::Files(files), Purpose::Passive) if last.began.is_some() && !rules_changed => {
            Seen::Files(files)
        }
        // Who asks for a sync does not trust what was seen.
        (Seen::Files(_) | Seen::Anything, _) => Seen::Anything,
    };
    let began = Instant::now();
    let (mut decision, conflict) = match run::sync(core, root, purpose, &signature, seen) {
        Ok(done) => (done, None),
        Err(run::SyncError::Conflict(conflict)) => {
            let building = matches!(&conflict, LeaseError::Held(active) if active.is_build());
            let mode = if building { FreshnessMode::SkippedIndexing } else { FreshnessMode::SyncFailed };
            let mut decision = FreshnessDecision::of(mode);
            decision.error_message = Some(conflict.to_string());
            (decision, Some(conflict))
        }
        Err(run::SyncError::Vanished(message)) => {
            *lock(&sync.vanished) = Some(message.clone());
            let mut decision = FreshnessDecision::of(FreshnessMode::SkippedVanishedFiles);
            decision.error_message = Some(message);
            (decision, None)
        }
        Err(run::SyncError::Failed(message)) => {
            let mode =
                if rules_changed { FreshnessMode::IgnoreReloadFailed } else { FreshnessMode::SyncFailed };
            let mut decision = FreshnessDecision::of(mode);
            decision.error_message = Some(message);
            (decision, None)
        }
    };
    if decision.mode == FreshnessMode::Synced {
        *lock(&sync.vanished) = None;
        if rules_changed {
            let stats = decision.stats.unwrap_or_default();
            last.ignore_rules_version += 1;
            decision.mode = FreshnessMode::ReconciledIgnoreChange;
            decision.ignore_rules_version = Some(last.ignore_rules_version);
            decision.added_files = Some(stats.added);
            // Which of the removed files are ignored now and which are gone: those still on disk are ignored.
            decision.deleted_files =
                Some(stats.removed.saturating_sub(decision.newly_ignored_files.unwrap_or(0)));
        } else {
            decision.newly_ignored_files = None;
        }
        last.began = Some(began);
        last.at = Some(jiff::Timestamp::now());
        last.ignore_signature = Some(signature);
        last.outcome = Some(decision.clone());
        decision.duration_ms = Some(u64::try_from(asked.elapsed().as_millis()).unwrap_or(u64::MAX));
        decision.last_sync_at = last.at.map(|at| at.to_string());
        decision.stats = decision.stats.or(Some(SyncStats::default()));
    } else {
        sync.mark_dirty();
    }
    drop(last);
    finish(decision, conflict)
}

/// Stat of the root's two ignore files: other text, other signature.
pub(crate) fn ignore_signature(root: &Path) -> String {
    let root = CanonicalRoot::open(root).ok();
    let metadata = |name: &str| boundary::inside(root.as_ref()?, Path::new(name)).ok()?.metadata().ok();
    [".chartroomignore", ".gitignore"]
        .map(|name| match metadata(name) {
            Some(metadata) => {
                let modified = metadata
                    .modified()
                    .ok()
                    .and_then(|time| time.duration_since(std::time::SystemTime::UNIX_EPOCH).ok())
                    .map_or(0, |age| age.as_nanos());
                format!("{name}:{modified}:{}", metadata.len())
            }
            None => format!("{name}:missing"),
        })
        .join("|")
}
