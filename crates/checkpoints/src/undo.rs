//! Takes back what happened between two records, and nothing else.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chartroom_protocol::changes::Restored;

use crate::CheckpointError;
use crate::changes;
use crate::record::Checkpoint;
use crate::records::Records;
use crate::restore::Wanted;

impl Records {
    /// Makes the files that differ between two records what they were at the first. A file that was changed since the
    /// second is left alone and named.
    pub async fn undo(&self, before: &Checkpoint, after: &Checkpoint) -> Result<Restored, CheckpointError> {
        let changed = self.paths_between(before, after).await?;
        let now = self.locked_now().await?;
        let since = changes::names(&self.git, (&after.commit, &now)).await?;
        let since: BTreeSet<PathBuf> = since.into_iter().map(|(_, path)| path).collect();
        let (left_alone, paths): (Vec<PathBuf>, Vec<PathBuf>) =
            changed.into_iter().partition(|path| since.contains(path));
        let mut restored = match paths.is_empty() {
            // No paths would be all of them.
            true => Restored {
                checkpoint: before.id.clone(),
                undo: None,
                written: Vec::new(),
                removed: Vec::new(),
                conflicts: Vec::new(),
            },
            false => self.restore(before, &Wanted { paths, ..Wanted::default() }).await?,
        };
        restored.conflicts.extend(left_alone.iter().map(|path| path.to_string_lossy().into_owned()));
        restored.conflicts.sort();
        Ok(restored)
    }

    /// The files that differ between two records; of a renamed one both names.
    pub async fn paths_between(
        &self,
        before: &Checkpoint,
        after: &Checkpoint,
    ) -> Result<Vec<PathBuf>, CheckpointError> {
        let names = changes::names(&self.git, (&before.commit, &after.commit)).await?;
        Ok(names.into_iter().map(|(_, path)| path).collect())
    }
}
