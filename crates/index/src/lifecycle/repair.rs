//! `repair`: proves that what is stored is what the folder holds, and if so writes a fresh marker.
//!
//! Nothing is embedded again. What cannot be proven is left alone and answered with `requires_reindex`.

use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::index::{
    FingerprintSource, Hints, IndexStatus, ManageAction, ManageHint, ManageIndexParams, ManageIndexResponse,
    ManageReason, ProofPart, RepairProof,
};

use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::Inside;

use super::{Target, answer};
use crate::catalog::{BuildStatus, CodebaseInfo, CodebaseState};
use crate::core::{Core, GateFacts};
use crate::proof::Proof;
use chartroom_search::chunk;
use chartroom_search::scan::{self, ScanOptions};
use chartroom_search::store::{Counts, GenerationReader, MarkerDoc, StoreError};
use chartroom_workspace::limits::INDEXED_FILE;

/// Repairs, or says why that cannot be done.
pub(super) fn repair(core: &Arc<Core>, params: &ManageIndexParams, target: &Target) -> ManageIndexResponse {
    let root = &target.root;
    let conflicts = core.owners.conflicts(&core.version, &core.fingerprint);
    if !conflicts.is_empty() {
        return answer::owner_conflict(params, root, conflicts);
    }
    let operation_id = format!("run_{}", uuid::Uuid::new_v4());
    let lease = match core.leases.acquire(root, params.action, &operation_id) {
        Ok(lease) => lease,
        Err(refusal) => return answer::refused(core, params, root, refusal),
    };
    let mut proof = RepairProof {
        collection: ProofPart::NotChecked,
        snapshot: ProofPart::NotChecked,
        marker: ProofPart::NotChecked,
        fingerprint: ProofPart::NotChecked,
        payload: ProofPart::NotChecked,
        stale_remote_chunks: ProofPart::NotChecked,
        navigation: ProofPart::NotChecked,
    };
    let reader = match core.store.open_reader(root) {
        Ok(Some(reader)) => reader,
        Ok(None) => {
            proof.collection = ProofPart::Missing;
            return needs_create(params, root, proof);
        }
        Err(error) => {
            proof.collection = ProofPart::Failed;
            return failed(params, root, proof, &error);
        }
    };
    proof.collection = ProofPart::Matched;
    let view = core.view();
    let info = view.doc.codebases.get(root);
    proof.snapshot = match info {
        Some(info) if info.state.is_searchable() => ProofPart::Matched,
        Some(_) => ProofPart::Failed,
        None => ProofPart::Missing,
    };
    let checked = core.proof(root);
    proof.marker = match checked.proof {
        Proof::Valid | Proof::FingerprintMismatch => ProofPart::Matched,
        Proof::StaleLocal(crate::proof::StaleReason::MissingMarkerDoc) => ProofPart::Missing,
        Proof::StaleLocal(_) => ProofPart::Failed,
        Proof::ProbeFailed => ProofPart::Unproven,
    };
    // The marker's own record of what made it, else the catalog's.
    let made_with = checked
        .marker
        .map(|marker| marker.fingerprint)
        .or_else(|| info.and_then(|info| info.index_fingerprint.clone()));
    proof.fingerprint = match made_with {
        Some(fingerprint) if fingerprint == core.fingerprint => ProofPart::Matched,
        Some(_) => ProofPart::Failed,
        None => ProofPart::Unproven,
    };
    if proof.fingerprint == ProofPart::Matched {
        match compare(core, root, info, &*reader) {
            Ok((payload, stale)) => {
                proof.payload = payload;
                proof.stale_remote_chunks = stale;
            }
            Err(error) => {
                proof.payload = ProofPart::Failed;
                return failed(params, root, proof, &error);
            }
        }
    }
    if proof.payload != ProofPart::Matched || proof.stale_remote_chunks != ProofPart::Matched {
        return unprovable(params, root, proof);
    }
    match seal(core, root, info, lease.generation(), &operation_id) {
        Ok(counts) => {
            proof.navigation =
                if counts.graph_built_at_ms > 0 { ProofPart::Matched } else { ProofPart::Missing };
            let text = format!(
                "Codebase '{root}' is repaired: {} files and {} chunks are proven equal to the folder, and a fresh completion marker is written.",
                counts.files, counts.chunks
            );
            let mut response = answer::manage_envelope(params, root, IndexStatus::Ok, None, text);
            response.repair_proof = Some(proof);
            response
        }
        Err(message) => {
            let mut response =
                answer::error(params, root, format!("Codebase '{root}' is not repaired: {message}."));
            response.repair_proof = Some(proof);
            response
        }
    }
}

/// Whether every file of the folder is stored with exactly its chunks, and nothing else is stored.
fn compare(
    core: &Core,
    root: &str,
    info: Option<&CodebaseInfo>,
    reader: &dyn GenerationReader,
) -> Result<(ProofPart, ProofPart), StoreError> {
    let options = info.map(|info| info.options.clone()).unwrap_or_default();
    let options = ScanOptions {
        custom_extensions: options.custom_extensions,
        ignore_patterns: options.ignore_patterns,
        full_hash: true,
        new_by_name: false,
    };
    let manifest = reader.manifest()?;
    let Ok(scan) = scan::scan(Path::new(root), &manifest, &options) else {
        return Ok((ProofPart::Unproven, ProofPart::NotChecked));
    };
    let stale = if scan.removed.is_empty() { ProofPart::Matched } else { ProofPart::Failed };
    if !scan.added.is_empty() || !scan.modified.is_empty() || !scan.unscanned.is_empty() {
        return Ok((ProofPart::Failed, stale));
    }
    let Ok(folder) = CanonicalRoot::open(root) else { return Ok((ProofPart::Unproven, stale)) };
    for rel_path in manifest.files.keys() {
        let Some(Ok((bytes, _))) = Inside::below(&folder, rel_path).map(|file| file.read(INDEXED_FILE))
        else {
            return Ok((ProofPart::Unproven, stale));
        };
        let text = String::from_utf8_lossy(&bytes);
        let wanted = chunk::parse_file_with(&*core.parser, rel_path, &text).chunks;
        let stored = reader.chunks_in(rel_path)?;
        if wanted.len() != stored.len()
            || wanted.iter().zip(&stored).any(|(wanted, stored)| *wanted != stored.chunk)
        {
            return Ok((ProofPart::Failed, stale));
        }
    }
    Ok((ProofPart::Matched, stale))
}

fn seal(
    core: &Core,
    root: &str,
    info: Option<&CodebaseInfo>,
    generation: u64,
    operation_id: &str,
) -> Result<Counts, String> {
    let mut writer = core
        .store
        .open_writer(root)
        .map_err(|error| error.to_string())?
        .ok_or("the index went away meanwhile")?;
    let counts = writer.counts().map_err(|error| error.to_string())?;
    let now = jiff::Timestamp::now().to_string();
    let marker = MarkerDoc {
        kind: MarkerDoc::KIND.into(),
        codebase_path: root.into(),
        fingerprint: core.fingerprint.clone(),
        indexed_files: counts.files,
        total_chunks: counts.chunks,
        completed_at: now.clone(),
        run_id: operation_id.into(),
    };
    writer.write_marker(&marker).map_err(|error| error.to_string())?;
    let state = CodebaseState::Indexed {
        indexed_files: counts.files,
        total_chunks: counts.chunks,
        index_status: BuildStatus::Completed,
    };
    let mut entry = info
        .map_or_else(|| CodebaseInfo::new(state.clone(), &now), |info| info.with_state(state.clone(), &now));
    entry.index_fingerprint = Some(core.fingerprint.clone());
    entry.fingerprint_source = Some(FingerprintSource::Verified);
    entry.lease_generation = generation;
    core.writer.set(root, entry).map_err(|error| error.to_string())?;
    Ok(counts)
}

fn needs_create(params: &ManageIndexParams, root: &str, proof: RepairProof) -> ManageIndexResponse {
    let text = format!(
        "Codebase '{root}' has nothing to repair: there is no index. Run manage_index with action='create'."
    );
    let mut response =
        answer::manage_envelope(params, root, IndexStatus::Blocked, Some(ManageReason::NeedsCreate), text);
    response.hints =
        Some(Hints { create: Some(ManageHint::new(ManageAction::Create, root)), ..Hints::default() });
    response.repair_proof = Some(proof);
    response
}

fn unprovable(params: &ManageIndexParams, root: &str, proof: RepairProof) -> ManageIndexResponse {
    let text = format!(
        "Codebase '{root}' cannot be proven equal to its folder. Run manage_index with action='reindex'."
    );
    let status = IndexStatus::RequiresReindex;
    let mut response =
        answer::manage_envelope(params, root, status, Some(ManageReason::RequiresReindex), text);
    response.hints =
        Some(Hints { reindex: Some(ManageHint::new(ManageAction::Reindex, root)), ..Hints::default() });
    response.repair_proof = Some(proof);
    response
}

fn failed(
    params: &ManageIndexParams,
    root: &str,
    proof: RepairProof,
    error: &StoreError,
) -> ManageIndexResponse {
    let mut response = answer::error(params, root, format!("Codebase '{root}' is not repaired: {error}."));
    response.repair_proof = Some(proof);
    response
}
