//! Where the files are: a folder per root, in it the generations and the name of the published one.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::{GenerationId, StoreError};

/// `<data>/index`.
pub(super) struct Folder(PathBuf);

/// The folder of one root, named by a hash of it.
pub(super) struct RootFolder(PathBuf);

/// What `current.json` says.
#[derive(Serialize, Deserialize)]
struct Current {
    root: String,
    generation: GenerationId,
}

impl Folder {
    pub(super) fn below(data: &Path) -> Self {
        Self(data.join("index"))
    }

    pub(super) fn of(&self, root: &str) -> RootFolder {
        RootFolder(self.0.join(&blake3::hash(root.as_bytes()).to_hex()[..24]))
    }

    /// The roots with a published generation, sorted. A folder whose name cannot be read is left out: membership is
    /// added from here, never taken away.
    pub(super) fn roots(&self) -> Result<Vec<String>, StoreError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut roots = Vec::new();
        for entry in entries {
            let folder = RootFolder(entry?.path());
            match folder.read_current() {
                Ok(Some(current)) => roots.push(current.root),
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(folder = %folder.0.display(), %error, "index: skipping a folder")
                }
            }
        }
        roots.sort();
        Ok(roots)
    }
}

impl RootFolder {
    pub(super) fn database(&self, id: GenerationId) -> PathBuf {
        self.0.join(format!("generation-{}.sqlite", id.0))
    }

    /// Whether the generation's file is there. That it cannot be looked for says nothing, and is an error.
    pub(super) fn has_database(&self, id: GenerationId) -> Result<bool, StoreError> {
        let path = self.database(id);
        path.try_exists().map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))
    }

    pub(super) fn lexical(&self, id: GenerationId) -> PathBuf {
        self.0.join(format!("generation-{}.tantivy", id.0))
    }

    pub(super) fn current(&self) -> Result<Option<GenerationId>, StoreError> {
        Ok(self.read_current()?.map(|current| current.generation))
    }

    fn read_current(&self) -> Result<Option<Current>, StoreError> {
        let path = self.0.join("current.json");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::Unavailable(format!("{}: {error}", path.display()))),
        };
        match serde_json::from_slice(&bytes) {
            Ok(current) => Ok(Some(current)),
            Err(error) => Err(StoreError::Corrupt(format!("{}: {error}", path.display()))),
        }
    }

    /// Names the published generation: written beside, synced, renamed over.
    pub(super) fn set_current(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        let current = Current { root: root.to_owned(), generation };
        let text =
            serde_json::to_vec(&current).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(self.0.join("current.json")).map_err(|error| StoreError::from(error.error))?;
        fs::File::open(&self.0)?.sync_all()?;
        Ok(())
    }

    /// Makes the empty file of the next generation.
    pub(super) fn create(&self, root: &str) -> Result<GenerationId, StoreError> {
        fs::create_dir_all(&self.0)?;
        let newest = self.generations()?.last().map_or(0, |id| id.0);
        let current = self.current().ok().flatten().map_or(0, |id| id.0);
        for number in newest.max(current) + 1.. {
            match fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(self.database(GenerationId(number)))
            {
                Ok(_) => return Ok(GenerationId(number)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Full(format!("{root} has no generation numbers left")))
    }

    /// Every generation that has a file, oldest first.
    pub(super) fn generations(&self) -> Result<Vec<GenerationId>, StoreError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut found = Vec::new();
        for entry in entries {
            let name = entry?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix("generation-"))
                .and_then(|rest| rest.split('.').next())
                .and_then(|number| number.parse().ok());
            found.extend(number.map(GenerationId));
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    pub(super) fn remove_generation(&self, id: GenerationId) -> Result<(), StoreError> {
        let database = self.database(id);
        // The derived index first: without its database it would be nobody's.
        gone(fs::remove_dir_all(self.lexical(id)))?;
        gone(fs::remove_file(lock_file(&self.lexical(id))))?;
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut path = database.clone().into_os_string();
            path.push(suffix);
            gone(fs::remove_file(path))?;
        }
        Ok(())
    }

    /// Drops everything of the root; the name of the published generation goes first.
    pub(super) fn remove(&self) -> Result<(), StoreError> {
        gone(fs::remove_file(self.0.join("current.json")))?;
        gone(fs::remove_dir_all(&self.0))
    }
}

/// The file that is locked while the derived index is written.
pub(super) fn lock_file(lexical: &Path) -> PathBuf {
    lexical.with_extension("lock")
}

/// Removing what is not there is fine.
fn gone(result: std::io::Result<()>) -> Result<(), StoreError> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
