//! Membership from the stores' own markers. Adds and repairs, never removes.

use crate::proof::{self, Proof};
use chartroom_search::store::{Fingerprint, MarkerDoc, VectorStore};

use super::entry::{BuildStatus, CodebaseInfo, CodebaseState};
use super::load::CatalogDoc;
use super::writer::{CatalogWriter, SaveError};

/// The entries that the stores' markers prove and the catalog does not have.
///
/// Strong proof only: a marker of ours for exactly this root. Its fingerprint may be another runtime's; the entry
/// then carries that fingerprint and the gate asks for a reindex at read time.
pub(crate) fn recovered(
    doc: &CatalogDoc,
    store: &dyn VectorStore,
    runtime: &Fingerprint,
) -> Vec<(String, CodebaseInfo)> {
    let roots = match store.roots() {
        Ok(roots) => roots,
        Err(error) => {
            tracing::warn!(%error, "the store's roots cannot be listed; the catalog stays as it is");
            return Vec::new();
        }
    };
    let mut found = Vec::new();
    for root in roots {
        if doc.codebases.contains_key(&root) || doc.unreadable.contains_key(&root) {
            continue;
        }
        let checked = proof::check(store.read_marker(&root), &root, runtime);
        match (checked.proof, checked.marker) {
            (Proof::Valid | Proof::FingerprintMismatch, Some(marker)) => {
                found.push((root, entry_of(&marker)))
            }
            (Proof::Valid | Proof::FingerprintMismatch | Proof::StaleLocal(_) | Proof::ProbeFailed, _) => {}
        }
    }
    found
}

/// Adds what the markers prove. Roots that are `indexing`, and every other root that is there, are not touched.
pub(crate) fn reconcile_non_destructive(
    doc: &CatalogDoc,
    store: &dyn VectorStore,
    runtime: &Fingerprint,
    writer: &CatalogWriter,
) -> Result<Vec<String>, SaveError> {
    let mut added = Vec::new();
    for (root, info) in recovered(doc, store, runtime) {
        writer.set(&root, info)?;
        added.push(root);
    }
    Ok(added)
}

/// Removes the entries whose root is gone from the disk *and* whose store has nothing. Explicit maintenance only;
/// no tool calls it.
pub(crate) fn prune(
    doc: &CatalogDoc,
    store: &dyn VectorStore,
    writer: &CatalogWriter,
) -> Result<Vec<String>, SaveError> {
    let mut removed = Vec::new();
    for root in doc.codebases.keys() {
        let nothing_stored = matches!(store.read_marker(root), Ok(None));
        if nothing_stored && matches!(std::path::Path::new(root).try_exists(), Ok(false)) {
            writer.remove(root)?;
            removed.push(root.clone());
        }
    }
    Ok(removed)
}

pub(super) fn entry_of(marker: &MarkerDoc) -> CodebaseInfo {
    let state = CodebaseState::Indexed {
        indexed_files: marker.indexed_files,
        total_chunks: marker.total_chunks,
        index_status: BuildStatus::Completed,
    };
    let mut info = CodebaseInfo::new(state, &marker.completed_at);
    info.index_fingerprint = Some(marker.fingerprint.clone());
    info.fingerprint_source = Some(chartroom_protocol::index::FingerprintSource::Verified);
    info
}
