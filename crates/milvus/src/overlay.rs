//! What the team's generation says of itself, and how this tree differs from it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::names::Names;
use crate::packing;
use crate::server::{Columns, Kind, Server};
use crate::trouble::{Trouble, TroubleKind};
use chartroom_search::store::team::Overlay;
use chartroom_search::store::{MarkerDoc, StoreError};

/// The row of the completion marker.
pub(crate) const MARKER_ROW: &str = "__chartroom_index_completion_marker_v1__";
/// The row of the list of files.
pub(crate) const FILES_ROW: &str = "files";

/// Path to hash of content.
pub(crate) type Files = BTreeMap<String, String>;

/// The marker of the generation that answers; none when there is none, or no such project.
pub(crate) fn marker(server: &dyn Server, names: &Names) -> Result<Option<Value>, Trouble> {
    let found = server.get(Kind::Probe, &names.current(), &[MARKER_ROW.to_owned()], Columns::Data);
    let rows = match found {
        Ok(rows) => rows,
        Err(trouble) if trouble.kind == TroubleKind::Missing => return Ok(None),
        Err(trouble) => return Err(trouble),
    };
    // A marker that is no JSON was read all right; the validator says what is wrong with it.
    Ok(rows
        .first()
        .map(|row| serde_json::from_str(&row.data).unwrap_or_else(|_| Value::String(row.data.clone()))))
}

/// The files of a generation, by the name of its collection or an alias.
pub(crate) fn files(server: &dyn Server, kind: Kind, collection: &str) -> Result<Files, StoreError> {
    document(server, kind, collection, FILES_ROW)?
        .ok_or_else(|| StoreError::Corrupt("the shared index has no list of files".into()))
}

/// A packed document of a generation; none when it has none.
pub(crate) fn document<T: DeserializeOwned>(
    server: &dyn Server,
    kind: Kind,
    collection: &str,
    id: &str,
) -> Result<Option<T>, StoreError> {
    let rows = server.get(kind, collection, &[id.to_owned()], Columns::Data)?;
    let Some(first) = rows.into_iter().next() else { return Ok(None) };
    let more: Vec<String> =
        (1..=packing::more_parts(&first.data)?).map(|at| packing::part_id(id, at)).collect();
    let mut texts = vec![first.data];
    if !more.is_empty() {
        let found = server.get(kind, collection, &more, Columns::Data)?;
        let mut found: HashMap<String, String> = found.into_iter().map(|row| (row.id, row.data)).collect();
        for id in &more {
            texts.push(
                found
                    .remove(id)
                    .ok_or_else(|| StoreError::Corrupt("a document of the shared index is cut off".into()))?,
            );
        }
    }
    packing::unpack(&texts.iter().map(String::as_str).collect::<Vec<_>>()).map(Some)
}

/// The files that are new, other or gone.
pub(crate) fn differing(ours: &Files, theirs: &Files) -> u64 {
    let other = ours.iter().filter(|(path, hash)| theirs.get(*path) != Some(hash)).count();
    let gone = theirs.keys().filter(|path| !ours.contains_key(*path)).count();
    (other + gone) as u64
}

/// What was last seen of each root's team.
#[derive(Default)]
pub(crate) struct Seen(Mutex<HashMap<String, Known>>);

#[derive(Default)]
struct Known {
    /// The marker that was seen last, with its number.
    marker: Option<(u64, MarkerDoc)>,
    /// The files of that number.
    files: Option<(u64, Files)>,
    /// What was counted; gone when either side changes.
    overlay: Option<Overlay>,
}

impl Seen {
    fn with<T>(&self, root: &str, work: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(known.entry(root.to_owned()).or_default())
    }

    /// A marker was read.
    pub(crate) fn marker(&self, root: &str, document: &Value) {
        let generation = document.get("generation").and_then(Value::as_u64);
        let marker = serde_json::from_value::<MarkerDoc>(document.clone()).ok();
        self.with(root, |known| {
            let now = generation.zip(marker);
            if known.marker != now {
                *known = Known { marker: now, files: known.files.take(), overlay: None };
            }
        });
    }

    /// This machine's own generation is being changed.
    pub(crate) fn changed(&self, root: &str) {
        self.with(root, |known| known.overlay = None);
    }

    /// Nothing is known any more.
    pub(crate) fn forget(&self, root: &str) {
        self.with(root, |known| *known = Known::default());
    }

    /// How this tree differs. The list of files is asked for once a generation of the team; when it cannot be had, the
    /// answer goes without.
    pub(crate) fn overlay(
        &self,
        root: &str,
        project: &str,
        ours: impl FnOnce() -> Option<Files>,
        theirs: impl FnOnce() -> Result<Files, StoreError>,
    ) -> Option<Overlay> {
        let (generation, marker, at_hand) = self.with(root, |known| {
            let (generation, marker) = known.marker.clone()?;
            let at_hand = known.files.as_ref().is_some_and(|(of, _)| *of == generation);
            Some((generation, marker, known.overlay.clone().ok_or(at_hand)))
        })?;
        match at_hand {
            Ok(overlay) => return Some(overlay),
            Err(true) => {}
            Err(false) => match theirs() {
                Ok(files) => self.with(root, |known| known.files = Some((generation, files))),
                Err(error) => {
                    tracing::debug!(root, %error, "the team's list of files cannot be had now");
                    return None;
                }
            },
        }
        let ours = ours()?;
        self.with(root, |known| {
            let (of, theirs) = known.files.as_ref()?;
            let overlay = Overlay {
                project: project.to_owned(),
                generation: *of,
                completed_at: marker.completed_at,
                files: differing(&ours, theirs),
            };
            known.overlay = Some(overlay.clone());
            Some(overlay)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_other_and_gone_files_differ() {
        let files = |pairs: &[(&str, &str)]| -> Files {
            pairs.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned())).collect()
        };
        let theirs = files(&[("a", "1"), ("b", "1"), ("c", "1")]);
        assert_eq!(differing(&theirs, &theirs), 0);
        assert_eq!(differing(&files(&[("a", "1"), ("b", "2"), ("d", "1")]), &theirs), 3);
    }
}
