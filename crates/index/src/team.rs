//! Files that the team has parsed and embedded already are taken from there.

use std::path::Path;

use chartroom_protocol::index::TeamOverlay;
use chartroom_search::intake::{self, Batch, IntakeError};
use chartroom_search::scan::ScannedFile;
use chartroom_search::store::team::{Binding, Role};
use chartroom_search::store::{FileChange, GenerationWriter};

use crate::core::{Core, GateFacts as _};
use crate::proof::{self, Proof};

/// Reads, parses and embeds what the team does not have of these files. Without the team it only takes longer.
pub(crate) fn changes_of(
    core: &Core,
    root: &str,
    files: &[ScannedFile],
    known: &[&dyn GenerationWriter],
) -> Result<Batch, IntakeError> {
    let (mut taken, rest) = taken(core, root, files);
    let rest = rest.as_deref().unwrap_or(files);
    let mut batch = intake::changes_of(&*core.parser, &*core.embedder, Path::new(root), rest, known)?;
    if !taken.is_empty() {
        taken.append(&mut batch.changes);
        batch.changes = taken;
    }
    Ok(batch)
}

/// What the team has, and the files that it does not have; none of those when it has nothing.
fn taken(core: &Core, root: &str, files: &[ScannedFile]) -> (Vec<FileChange>, Option<Vec<ScannedFile>>) {
    let Some(team) = core.store.team() else { return (Vec::new(), None) };
    if !matches!(team.binding(root), Ok(Some(_))) {
        return (Vec::new(), None);
    }
    let stamps = intake::stamps_of(Path::new(root), files);
    let pairs = files.iter().zip(&stamps);
    let wanted: Vec<_> =
        pairs.filter_map(|(file, stamp)| Some((file.rel_path.as_str(), stamp.as_ref()?))).collect();
    let found = match team.known_files(root, &core.fingerprint, &wanted) {
        Ok(found) => found,
        Err(error) => {
            tracing::warn!(root, %error, "nothing is taken from the team's index; it is made here");
            return (Vec::new(), None);
        }
    };
    let taken: Vec<FileChange> =
        found.into_iter().flatten().map(|record| FileChange::Put(Box::new(record))).collect();
    let has = |file: &&ScannedFile| {
        taken.iter().any(|change| matches!(change, FileChange::Put(put) if put.rel_path == file.rel_path))
    };
    let rest = files.iter().filter(|file| !has(file)).cloned().collect();
    (taken, Some(rest))
}

/// After a build of a root whose team answers that it has no such index (any more): who writes it shares it again, and
/// who reads has an index of this machine alone from now on. Otherwise the build that every tool recommends would mend
/// nothing. Returns what to tell.
pub(crate) fn mend_what_is_gone(core: &Core, root: &str) -> Option<String> {
    let team = core.store.team()?;
    let Binding { project, role } = team.binding(root).ok().flatten()?;
    let Proof::StaleLocal(_) = core.proof(root).proof else { return None };
    let mended = match role {
        Role::Reader => team.unbind(root).map_err(|error| error.to_string()).map(|()| {
            format!("the team's index '{project}' is gone; this folder is indexed on this machine alone until it is shared or adopted again")
        }),
        Role::Writer => match proof::check(team.own_marker(root), root, &core.fingerprint).marker {
            Some(marker) => team.share(root, &project, &marker).map_err(|error| error.to_string()).map(|shared| {
                format!("the team's index '{project}' was gone and is shared again, generation {}", shared.generation)
            }),
            None => Err("its own generation is gone".to_owned()),
        },
    };
    Some(mended.unwrap_or_else(|error| {
        tracing::warn!(root, error, "the team's index is gone");
        format!("the team's index '{project}' is gone, and the folder is still bound to it: {error}")
    }))
}

/// What a team shares of a root, and how the root differs from it.
pub(crate) fn overlay(core: &Core, root: &str) -> Option<TeamOverlay> {
    let overlay = core.store.team()?.overlay(root)?;
    Some(TeamOverlay {
        project: overlay.project,
        generation: overlay.generation,
        completed_at: overlay.completed_at,
        overlaid_files: overlay.files,
    })
}
