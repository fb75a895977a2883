//! Files that are ignored and in the user's repository all the same. Nothing lists one as new when it is there again after it
//! was gone, so that which of them our index lacks is remembered.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{fields, stamp};
use crate::git::{Git, Question, owned};
use crate::place::{bytes, from_bytes};
use crate::record::replace;
use crate::{CheckpointError, io};

/// The note of them: what the user's index looked like, then each path behind a sign, ended by NUL.
pub(super) const SEEN: &str = "seen-index";

/// Whether our index has a path; not known of one that was listed just now.
type Known = BTreeMap<PathBuf, Option<bool>>;

/// Those of one folder.
pub(super) struct Tracked {
    /// What the user's index looks like.
    stamp: String,
    paths: Known,
    /// As it was noted.
    noted: Option<Vec<u8>>,
}

impl Tracked {
    /// Those that are noted, or a new list if the user's index has changed since.
    pub(super) async fn of(git: &Git) -> Result<Self, CheckpointError> {
        let index = git.place.repository.as_ref().map(|repository| repository.git_dir.join("index"));
        let Some((index, stamp)) = index.and_then(|index| stamp(&index).map(|stamp| (index, stamp))) else {
            return Ok(Self { stamp: String::new(), paths: BTreeMap::new(), noted: None });
        };
        let noted = std::fs::read(git.store.as_path().join(SEEN)).ok();
        if let Some((seen, paths)) = noted.as_deref().and_then(read)
            && seen == stamp.as_bytes()
        {
            return Ok(Self { stamp, paths, noted });
        }
        let mut arguments = owned(&["ls-files", "-z", "-c", "-i", "--exclude-standard", "--"]);
        arguments.push(git.place.below_top().into());
        let listed = git.run(Question { arguments, input: Vec::new(), index: Some(&index) }).await;
        // An index in parts cannot be read from elsewhere: what is ignored is left out then.
        let listed = listed.unwrap_or_else(|error| {
            tracing::debug!("the user's index was not read: {error}");
            Vec::new()
        });
        let paths = fields(&listed).map(|path| (from_bytes(path), None)).collect();
        Ok(Self { stamp, paths, noted })
    }

    /// Those of which our index does not know: all that are listed for the first time, and others that are there again.
    pub(super) fn to_look_at(&self, top: &Path) -> impl Iterator<Item = PathBuf> {
        let is_there = |path: &Path| top.join(path).symlink_metadata().is_ok();
        let is_meant = move |(path, is_known): &(&PathBuf, &Option<bool>)| match is_known {
            Some(true) => false,
            Some(false) => is_there(path),
            None => true,
        };
        self.paths.iter().filter(is_meant).map(|(path, _)| path.clone()).collect::<Vec<_>>().into_iter()
    }

    /// Notes whether our index is going to have a path, if it is one of these.
    pub(super) fn note(&mut self, path: &Path, is_known: bool) {
        if let Some(known) = self.paths.get_mut(path) {
            *known = Some(is_known);
        }
    }

    /// Writes the note, if it says something else now.
    pub(super) fn write(&self, git: &Git) -> Result<(), CheckpointError> {
        let mut text = self.stamp.clone().into_bytes();
        for (path, is_known) in &self.paths {
            text.extend([0, if *is_known == Some(true) { b'+' } else { b'-' }]);
            text.extend(bytes(path));
        }
        if self.noted.as_ref() == Some(&text) {
            return Ok(());
        }
        replace(&git.store.as_path().join(SEEN), &text).map_err(io("noting which index was seen"))
    }
}

/// Those that our index lacks, as the note says.
pub(crate) fn lacking(git: &Git) -> Vec<PathBuf> {
    let noted = std::fs::read(git.store.as_path().join(SEEN)).unwrap_or_default();
    let (_, paths) = read(&noted).unwrap_or_default();
    let lacking = paths.into_iter().filter(|(_, is_known)| *is_known != Some(true));
    lacking.map(|(path, _)| git.place.top().join(path)).collect()
}

fn read(noted: &[u8]) -> Option<(&[u8], Known)> {
    let mut fields = noted.split(|byte| *byte == 0);
    let stamp = fields.next()?;
    let paths = fields.filter_map(|field| {
        let (sign, path) = field.split_first()?;
        Some((from_bytes(path), Some(*sign == b'+')))
    });
    Some((stamp, paths.collect()))
}
