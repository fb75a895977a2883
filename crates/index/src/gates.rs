//! What may be answered, as data: state × fingerprint × running × proof → verdict.
//!
//! The seed's precedence, in one place, for every tool that reads:
//! 1. `requires_reindex` (the fingerprint gate, at the entry or at the marker),
//! 2. `not_ready`, reason `indexing`,
//! 3. `not_indexed`, stale entries without proof included.

use chartroom_protocol::index::{FingerprintSource, ReindexReason};

use crate::catalog::{CodebaseInfo, CodebaseState};
use crate::proof::{Proof, StaleReason};
use chartroom_search::store::Fingerprint;

/// What the catalog says, without its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryState {
    /// No entry.
    Absent,
    /// A first build.
    Indexing,
    /// `indexed` or `sync_completed`.
    Searchable,
    /// The last build failed.
    Failed,
    /// An entry of an older format.
    RequiresReindex,
}

/// How the entry's fingerprint compares with this runtime's. Computed at every read, never written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FingerprintGate {
    /// Equal in all five fields.
    Match,
    /// Not equal, not there, or not to be relied on.
    Differs(ReindexReason),
}

/// What a read tool may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Answer. `unproven`: the probe failed, which is told and changes nothing.
    Ok {
        /// See above.
        unproven: bool,
    },
    /// Only a reindex helps.
    RequiresReindex(ReindexReason),
    /// A build runs and nothing proven is there yet.
    NotReady,
    /// The catalog says indexed, the store has no proof.
    StaleLocal(StaleReason),
    /// A first build was cut short; its process is gone.
    Interrupted,
    /// Nothing to answer from.
    NotIndexed,
}

/// Decides. `running` is whether a live process holds the root's lease for a build.
pub fn decide(state: EntryState, fingerprint: FingerprintGate, running: bool, proof: Proof) -> Verdict {
    match (state, running) {
        (EntryState::RequiresReindex, _) => {
            Verdict::RequiresReindex(ReindexReason::LegacyUnverifiedFingerprint)
        }
        (EntryState::Searchable, _) => searchable(fingerprint, running, proof),
        (EntryState::Indexing | EntryState::Absent | EntryState::Failed, true) => Verdict::NotReady,
        (EntryState::Indexing, false) => interrupted(proof),
        (EntryState::Absent | EntryState::Failed, false) => Verdict::NotIndexed,
    }
}

fn searchable(fingerprint: FingerprintGate, running: bool, proof: Proof) -> Verdict {
    match (fingerprint, proof) {
        (FingerprintGate::Differs(reason), _) => Verdict::RequiresReindex(reason),
        (FingerprintGate::Match, Proof::FingerprintMismatch) => {
            Verdict::RequiresReindex(ReindexReason::FingerprintMismatch)
        }
        (FingerprintGate::Match, Proof::Valid) => Verdict::Ok { unproven: false },
        (FingerprintGate::Match, Proof::ProbeFailed) => Verdict::Ok { unproven: true },
        (FingerprintGate::Match, Proof::StaleLocal(_)) if running => Verdict::NotReady,
        (FingerprintGate::Match, Proof::StaleLocal(reason)) => Verdict::StaleLocal(reason),
    }
}

/// A first build whose process is gone. Its marker alone says whether it came to its end: the process may have died
/// between the marker and the catalog. A probe that fails changes nothing: it stays "indexing" until one succeeds.
fn interrupted(proof: Proof) -> Verdict {
    match proof {
        Proof::Valid => Verdict::Ok { unproven: false },
        Proof::FingerprintMismatch => Verdict::RequiresReindex(ReindexReason::FingerprintMismatch),
        Proof::StaleLocal(_) => Verdict::Interrupted,
        Proof::ProbeFailed => Verdict::NotReady,
    }
}

impl EntryState {
    /// The state of an entry.
    pub fn of(info: Option<&CodebaseInfo>) -> Self {
        match info.map(|info| &info.state) {
            None => Self::Absent,
            Some(CodebaseState::Indexing { .. }) => Self::Indexing,
            Some(CodebaseState::Indexed { .. } | CodebaseState::SyncCompleted { .. }) => Self::Searchable,
            Some(CodebaseState::IndexFailed { .. }) => Self::Failed,
            Some(CodebaseState::RequiresReindex { .. }) => Self::RequiresReindex,
        }
    }
}

impl FingerprintGate {
    /// Compares an entry with this runtime.
    pub fn of(info: Option<&CodebaseInfo>, runtime: &Fingerprint) -> Self {
        let Some(info) = info else {
            return Self::Match;
        };
        match (&info.fingerprint_source, &info.index_fingerprint) {
            (Some(FingerprintSource::AssumedV2), _) => {
                Self::Differs(ReindexReason::LegacyUnverifiedFingerprint)
            }
            (_, None) => Self::Differs(ReindexReason::MissingFingerprint),
            (_, Some(indexed)) if indexed == runtime => Self::Match,
            (_, Some(_)) => Self::Differs(ReindexReason::FingerprintMismatch),
        }
    }
}

#[cfg(test)]
mod tests;
