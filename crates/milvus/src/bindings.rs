//! Which root of this machine belongs to which shared index: one small file a root, in the data folder.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::names;
use chartroom_search::store::StoreError;
use chartroom_search::store::team::Binding;

/// `<data>/team`.
#[derive(Debug, Clone)]
pub(crate) struct Bindings(PathBuf);

#[derive(Serialize, Deserialize)]
struct Bound {
    root: String,
    #[serde(flatten)]
    binding: Binding,
}

impl Bindings {
    pub(crate) fn below(data: &Path) -> Self {
        Self(data.join("team"))
    }

    fn path(&self, root: &str) -> PathBuf {
        self.0.join(format!("{}.json", &blake3::hash(root.as_bytes()).to_hex()[..24]))
    }

    pub(crate) fn get(&self, root: &str) -> Result<Option<Binding>, StoreError> {
        let path = self.path(root);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::Unavailable(format!("{}: {error}", path.display()))),
        };
        match serde_json::from_slice::<Bound>(&bytes) {
            Ok(bound) => Ok((bound.root == root).then_some(bound.binding)),
            Err(error) => Err(StoreError::Corrupt(format!("{}: {error}", path.display()))),
        }
    }

    pub(crate) fn set(&self, root: &str, binding: &Binding) -> Result<(), StoreError> {
        names::check_project(&binding.project).map_err(StoreError::Unavailable)?;
        let bound = Bound { root: root.to_owned(), binding: binding.clone() };
        let text = serde_json::to_vec(&bound).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        std::fs::create_dir_all(&self.0)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(self.path(root)).map_err(|error| StoreError::from(error.error))?;
        Ok(())
    }

    pub(crate) fn remove(&self, root: &str) -> Result<(), StoreError> {
        match std::fs::remove_file(self.path(root)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}
