//! `share` and `adopt`: what makes a codebase's index a team's, and what takes it from there.

use std::sync::Arc;

use chartroom_protocol::index::{
    FingerprintSource, FreshnessMode, IndexStatus, ManageAction, ManageIndexParams, ManageIndexResponse,
    ManageReason,
};
use chartroom_search::store::team::{Binding, Role, ShareError, Team};
use chartroom_search::store::{Fingerprint, MarkerDoc};

use super::{Target, answer};
use crate::core::Core;
use crate::proof::{self, Proof};
use crate::sync::{self, Purpose};

/// What has to be done before this codebase is bound or shared.
pub(crate) enum Next {
    /// Nothing can be done; this says why.
    Refuse(Box<ManageIndexResponse>),
    /// It has no index here.
    Create,
    /// It has.
    Go,
}

/// What both begin with.
struct Asked<'a> {
    team: &'a dyn Team,
    root: String,
    project: String,
}

fn asked<'a>(
    core: &'a Core,
    params: &ManageIndexParams,
    project: Option<&str>,
) -> Result<Asked<'a>, Box<ManageIndexResponse>> {
    let refuse = |root: &str, text: String| Box::new(answer::error(params, root, text));
    let target = Target::of(params).map_err(|text| refuse(&params.path, text))?;
    let root = target.root.clone();
    target.check_folder().map_err(|text| refuse(&root, text))?;
    let Some(team) = core.store.team() else {
        let text = "The index is kept on this machine alone. Name a server in the config: [index] store = { provider = \"milvus\", address = \"http://host:19530\" }.";
        return Err(refuse(&root, text.into()));
    };
    let bound = team.binding(&root).map_err(|error| refuse(&root, error.to_string()))?;
    let Some(project) = project.map(ToOwned::to_owned).or(bound.map(|binding| binding.project)) else {
        return Err(refuse(&root, "Say under which name the team knows this codebase: --name NAME.".into()));
    };
    Ok(Asked { team, root, project })
}

/// Whether a codebase can be shared as it is. An index that was kept on this machine alone becomes the team's store's.
pub(crate) fn before_share(core: &Core, params: &ManageIndexParams, project: Option<&str>) -> Next {
    match asked(core, params, project) {
        Ok(asked) => ready(core, params, &asked),
        Err(refusal) => Next::Refuse(refusal),
    }
}

/// Looks whether the team has what is to be adopted, and binds the codebase to it.
pub(crate) fn before_adopt(core: &Core, params: &ManageIndexParams, project: Option<&str>) -> Next {
    let asked = match asked(core, params, project) {
        Ok(asked) => asked,
        Err(refusal) => return Next::Refuse(refusal),
    };
    let Asked { team, root, project } = &asked;
    let refuse = |status, reason, text: String| {
        Next::Refuse(Box::new(answer::manage_envelope(params, root, status, reason, text)))
    };
    let checked = proof::check(team.shared_marker(root, project), root, &core.fingerprint);
    match (checked.proof, checked.marker) {
        (Proof::Valid, _) => {}
        (Proof::FingerprintMismatch, marker) => {
            let theirs = marker.map(|marker| marker.fingerprint.to_string()).unwrap_or_default();
            let text = format!(
                "The team's index '{project}' is made with {theirs}, this runtime is {}. Set [index] embedding as the team has it.",
                core.fingerprint
            );
            return refuse(IndexStatus::RequiresReindex, Some(ManageReason::RequiresReindex), text);
        }
        (Proof::StaleLocal(_), _) => {
            let text = format!("Nothing complete is shared under the name '{project}'. Share it first.");
            return refuse(IndexStatus::NotIndexed, Some(ManageReason::NotIndexed), text);
        }
        (Proof::ProbeFailed, _) => {
            let why = checked.probe_error.unwrap_or_default();
            let text = format!("The team's index cannot be reached now ({why}). Nothing was changed.");
            return refuse(IndexStatus::Error, None, text);
        }
    }
    let binding = Binding { project: project.clone(), role: Role::Reader };
    if let Err(error) = team.bind(root, &binding) {
        return refuse(IndexStatus::Error, None, format!("Codebase '{root}' is not bound: {error}."));
    }
    ready(core, params, &asked)
}

/// Whether this machine has a generation of its own that is whole.
fn ready(core: &Core, params: &ManageIndexParams, asked: &Asked<'_>) -> Next {
    let Asked { team, root, .. } = asked;
    let checked = proof::check(team.own_marker(root), root, &core.fingerprint);
    match (checked.proof, checked.marker) {
        (Proof::Valid, _) => Next::Go,
        (Proof::FingerprintMismatch, Some(marker)) if differs_in_store(&marker, &core.fingerprint) => {
            match take_over(core, params, root, marker) {
                Ok(()) => Next::Go,
                Err(refusal) => Next::Refuse(refusal),
            }
        }
        (Proof::ProbeFailed, _) => {
            let why = checked.probe_error.unwrap_or_default();
            Next::Refuse(Box::new(answer::error(
                params,
                root,
                format!("The index of this machine cannot be read ({why})."),
            )))
        }
        // A build says by itself what is in its way.
        (Proof::StaleLocal(_) | Proof::FingerprintMismatch, _) => Next::Create,
    }
}

fn differs_in_store(marker: &MarkerDoc, ours: &Fingerprint) -> bool {
    let store = ours.vector_store_provider.clone();
    Fingerprint { vector_store_provider: store, ..marker.fingerprint.clone() } == *ours
}

/// The generation that another store's config made is this one's: only its marker and its entry say otherwise.
fn take_over(
    core: &Core,
    params: &ManageIndexParams,
    root: &str,
    marker: MarkerDoc,
) -> Result<(), Box<ManageIndexResponse>> {
    let operation = format!("run_{}", uuid::Uuid::new_v4());
    let lease = core
        .leases
        .acquire(root, ManageAction::Sync, &operation)
        .map_err(|conflict| Box::new(answer::refused(core, params, root, conflict)))?;
    let failed = |error: String| Box::new(answer::error(params, root, error));
    let writer = core.store.open_writer(root).map_err(|error| failed(error.to_string()))?;
    let mut writer = writer.ok_or_else(|| failed("The index is gone.".into()))?;
    let marker = MarkerDoc { fingerprint: core.fingerprint.clone(), ..marker };
    writer.write_marker(&marker).map_err(|error| failed(error.to_string()))?;
    drop(writer);
    let view = core.catalog.read();
    if let Some(info) = view.doc.codebases.get(root) {
        let now = jiff::Timestamp::now().to_string();
        let mut entry = info.with_state(info.state.clone(), &now);
        entry.index_fingerprint = Some(core.fingerprint.clone());
        entry.fingerprint_source = Some(FingerprintSource::Verified);
        entry.lease_generation = lease.generation();
        core.writer.set(root, entry).map_err(|error| {
            core.writer.abandon(root);
            failed(error.to_string())
        })?;
    }
    Ok(())
}

/// Brings this machine's generation up to date.
fn sync_now(
    core: &Arc<Core>,
    params: &ManageIndexParams,
    root: &str,
) -> Result<(), Box<ManageIndexResponse>> {
    let sync::Freshness { decision, conflict } = sync::ensure_freshness(core, root, 0, Purpose::Explicit);
    if let Some(conflict) = conflict {
        return Err(Box::new(answer::refused(core, params, root, conflict)));
    }
    match decision.mode {
        FreshnessMode::Synced
        | FreshnessMode::ReconciledIgnoreChange
        | FreshnessMode::Coalesced
        | FreshnessMode::SkippedRecent => Ok(()),
        _ => {
            let why = decision.error_message.unwrap_or_else(|| "the reason is not known".into());
            Err(Box::new(answer::error(params, root, format!("Sync of '{root}' failed: {why}."))))
        }
    }
}

/// Syncs and shares. The codebase is bound when it is shared, and not before.
pub(crate) fn share(
    core: &Arc<Core>,
    params: &ManageIndexParams,
    project: Option<&str>,
) -> ManageIndexResponse {
    let Asked { team, root, project } = match asked(core, params, project) {
        Ok(asked) => asked,
        Err(refusal) => return *refusal,
    };
    if let Err(refusal) = sync_now(core, params, &root) {
        return *refusal;
    }
    let checked = proof::check(team.own_marker(&root), &root, &core.fingerprint);
    let Some(marker) = checked.marker.filter(|_| checked.proof == Proof::Valid) else {
        return answer::not_indexed(params, &root);
    };
    let shared = match team.share(&root, &project, &marker) {
        Ok(shared) => shared,
        Err(ShareError::Busy { owner }) => {
            let text = format!("'{project}' is being shared by {owner}. Try again later.");
            let reason = Some(ManageReason::MutationInProgress);
            return answer::manage_envelope(params, &root, IndexStatus::Blocked, reason, text);
        }
        Err(error @ ShareError::Unanswered(_)) => {
            let text = format!("'{project}': {error}. Share again: what was sent is not sent twice.");
            return answer::error(params, &root, text);
        }
        Err(error @ (ShareError::Lost | ShareError::Store(_))) => {
            let text = format!("'{project}' was not shared: {error}. What the team has is as it was.");
            return answer::error(params, &root, text);
        }
    };
    let binding = Binding { project: project.clone(), role: Role::Writer };
    if let Err(error) = team.bind(&root, &binding) {
        return answer::error(params, &root, format!("'{project}' is shared, but not remembered: {error}."));
    }
    let text = format!(
        "Shared '{root}' as '{project}', generation {}: {} files, of which {} were sent with {} vectors ({} bytes).",
        shared.generation, shared.files, shared.files_sent, shared.vectors_sent, shared.bytes_sent
    );
    answer::manage_envelope(params, &root, IndexStatus::Ok, None, text)
}

/// Says that the codebase is adopted, when its own generation is there already.
pub(crate) fn adopted(core: &Arc<Core>, params: &ManageIndexParams) -> ManageIndexResponse {
    let Asked { team, root, project } = match asked(core, params, None) {
        Ok(asked) => asked,
        Err(refusal) => return *refusal,
    };
    if let Err(refusal) = sync_now(core, params, &root) {
        return *refusal;
    }
    let differs = match team.overlay(&root) {
        Some(overlay) => format!(" {} files of this folder are not in it.", overlay.files),
        None => String::new(),
    };
    let text = format!("Codebase '{root}' reads the team's index '{project}'.{differs}");
    answer::manage_envelope(params, &root, IndexStatus::Ok, None, text)
}
