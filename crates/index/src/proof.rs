//! `validate_completion_proof`: the only judge of whether an index is complete.
//!
//! That a generation exists proves nothing; only its marker does. A probe that could not be completed proves nothing
//! either way: it never makes a codebase indexed and never makes it not indexed.

use std::path::Path;

use chartroom_protocol::index::ProofReason;
use serde_json::Value;

use crate::identity::canonical_root;
use chartroom_search::store::{Fingerprint, MarkerDoc, ProbeError, VectorStore};

/// What the marker says about a root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// A marker of ours, for this root, made with this runtime's fingerprint.
    Valid,
    /// The probe succeeded and there is no (usable) marker for this root.
    StaleLocal(StaleReason),
    /// A good marker, made with another fingerprint.
    FingerprintMismatch,
    /// The probe could not be completed.
    ProbeFailed,
}

/// Why a successful probe found no usable marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StaleReason {
    /// There is none.
    MissingMarkerDoc,
    /// Its kind is another.
    InvalidMarkerKind,
    /// Its fields are not what they must be.
    InvalidPayload,
    /// It is another root's.
    PathMismatch,
}

impl Proof {
    /// The reason as it stands on the wire; none for a valid proof.
    pub fn reason(self) -> Option<ProofReason> {
        match self {
            Self::Valid => None,
            Self::StaleLocal(StaleReason::MissingMarkerDoc) => Some(ProofReason::MissingMarkerDoc),
            Self::StaleLocal(StaleReason::InvalidMarkerKind) => Some(ProofReason::InvalidMarkerKind),
            Self::StaleLocal(StaleReason::InvalidPayload) => Some(ProofReason::InvalidPayload),
            Self::StaleLocal(StaleReason::PathMismatch) => Some(ProofReason::PathMismatch),
            Self::FingerprintMismatch => Some(ProofReason::FingerprintMismatch),
            Self::ProbeFailed => Some(ProofReason::ProbeFailed),
        }
    }
}

/// A proof with what was read on the way.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The verdict.
    pub proof: Proof,
    /// The marker, when it is a good one (valid or of another fingerprint).
    pub marker: Option<MarkerDoc>,
    /// Why the probe failed, in words.
    pub probe_error: Option<String>,
}

/// Probes the store and judges what it says about `root`.
pub fn validate_completion_proof(store: &dyn VectorStore, root: &str, runtime: &Fingerprint) -> Checked {
    check(store.read_marker(root), root, runtime)
}

/// Judges the answer of a probe.
pub(crate) fn check(probe: Result<Option<Value>, ProbeError>, root: &str, runtime: &Fingerprint) -> Checked {
    let document = match probe {
        Err(error) => {
            return Checked { proof: Proof::ProbeFailed, marker: None, probe_error: Some(error.to_string()) };
        }
        Ok(None) => return stale(StaleReason::MissingMarkerDoc),
        Ok(Some(document)) => document,
    };
    let Value::Object(object) = &document else {
        return stale(StaleReason::InvalidPayload);
    };
    if object.get("kind").and_then(Value::as_str) != Some(MarkerDoc::KIND) {
        return stale(StaleReason::InvalidMarkerKind);
    }
    // Counts that are negative, fractional or infinite do not fit their fields and fail here.
    let Ok(marker) = serde_json::from_value::<MarkerDoc>(document) else {
        return stale(StaleReason::InvalidPayload);
    };
    if marker.codebase_path.trim().is_empty() || marker.completed_at.parse::<jiff::Timestamp>().is_err() {
        return stale(StaleReason::InvalidPayload);
    }
    if canonical_root(Path::new(&marker.codebase_path)) != canonical_root(Path::new(root)) {
        return stale(StaleReason::PathMismatch);
    }
    let proof = if marker.fingerprint == *runtime { Proof::Valid } else { Proof::FingerprintMismatch };
    Checked { proof, marker: Some(marker), probe_error: None }
}

fn stale(reason: StaleReason) -> Checked {
    Checked { proof: Proof::StaleLocal(reason), marker: None, probe_error: None }
}

#[cfg(test)]
mod tests;
