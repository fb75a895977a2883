//! Files that the team has parsed and embedded already are taken from there.

use std::path::Path;

use chartroom_protocol::index::TeamOverlay;
use chartroom_search::intake::{self, Batch, IntakeError};
use chartroom_search::scan::ScannedFile;
use chartroom_search::store::{FileChange, GenerationWriter};

use crate::core::Core;

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
