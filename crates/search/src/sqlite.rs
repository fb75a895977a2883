//! The store inside the process: one SQLite file a generation is the only truth.
//!
//! Two structures are derived from that file and can be thrown away at any time: a tantivy index for BM25, stamped
//! with the file's change counter, and the vectors in memory. Readers of other processes see each transaction whole or
//! not at all, because that is what SQLite promises and nothing else is asked.

mod by_id;
mod counts;
mod decoded;
mod digest;
mod ids;
mod layout;
mod lexical;
mod memory;
mod reader;
mod row;
mod schema;
mod vectors;
mod writer;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use chartroom_protocol::index::SkippedFiles;
use serde_json::Value;

use crate::store::{GenerationId, GenerationReader, GenerationWriter, ProbeError, StoreError, VectorStore};
use layout::{Folder, RootFolder};
use reader::{Generation, Reader};
use writer::Writer;

/// Generations below a data folder.
pub struct SqliteStore {
    folder: Folder,
    /// The published generations that this process has open, by root.
    open: Mutex<HashMap<String, Arc<Generation>>>,
}

impl SqliteStore {
    /// Uses `<data>/index/`, which is made when the first generation is.
    pub fn open(data: &Path) -> Result<Self, StoreError> {
        Ok(Self { folder: Folder::below(data), open: Mutex::new(HashMap::new()) })
    }

    /// The published generation, opened once per process.
    fn published(&self, root: &str) -> Result<Option<Arc<Generation>>, StoreError> {
        let folder = self.folder.of(root);
        // A publish between reading the name and opening the file drops the file: then the name has changed too.
        for _ in 0..8 {
            let Some(id) = folder.current()? else { return Ok(None) };
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(generation) = open.get(root).filter(|generation| generation.is(id)) {
                return Ok(Some(Arc::clone(generation)));
            }
            open.remove(root);
            match Generation::open(id, &folder) {
                Ok(generation) => {
                    let generation = Arc::new(generation);
                    open.insert(root.to_owned(), Arc::clone(&generation));
                    return Ok(Some(generation));
                }
                Err(error) if folder.current()? == Some(id) => {
                    return if folder.has_database(id)? { Err(error) } else { Ok(None) };
                }
                Err(_) => {}
            }
        }
        Err(StoreError::Unavailable(format!("the index of {root} is being replaced over and over")))
    }

    /// Every file of the published generation with one digest over all that is stored of it: two indexes of the same text
    /// have the same list, however each came to be.
    pub fn file_digests(&self, root: &str) -> Result<std::collections::BTreeMap<String, String>, StoreError> {
        let Some(generation) = self.published(root)? else { return Ok(Default::default()) };
        let digests = generation.file_digests()?;
        Ok(digests.into_iter().map(|(path, digest)| (path, digest.to_hex().to_string())).collect())
    }

    fn forget(&self, root: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(root);
    }
}

impl VectorStore for SqliteStore {
    fn provider(&self) -> &str {
        "embedded"
    }

    fn roots(&self) -> Result<Vec<String>, StoreError> {
        self.folder.roots()
    }

    fn begin_generation(&self, root: &str) -> Result<Box<dyn GenerationWriter>, StoreError> {
        let folder = self.folder.of(root);
        let id = folder.create(root)?;
        Ok(Box::new(Writer::create(id, &folder)?))
    }

    fn open_writer(&self, root: &str) -> Result<Option<Box<dyn GenerationWriter>>, StoreError> {
        let folder = self.folder.of(root);
        let Some(id) = folder.current()? else { return Ok(None) };
        if !folder.has_database(id)? {
            return Ok(None);
        }
        Ok(Some(Box::new(Writer::open(id, &folder)?)))
    }

    fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError> {
        match self.published(root)? {
            Some(generation) => Ok(Some(Box::new(Reader::new(generation)?))),
            None => Ok(None),
        }
    }

    fn read_marker(&self, root: &str) -> Result<Option<Value>, ProbeError> {
        let generation = self.published(root).map_err(schema::as_probe)?;
        match generation {
            Some(generation) => generation.marker(),
            None => Ok(None),
        }
    }

    fn skipped(&self, root: &str) -> Result<SkippedFiles, StoreError> {
        self.published(root)?.map_or_else(|| Ok(SkippedFiles::default()), |generation| generation.skipped())
    }

    fn publish(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        let folder = self.folder.of(root);
        let former = folder.current()?;
        folder.set_current(root, generation)?;
        self.forget(root);
        if let Some(former) = former.filter(|former| *former != generation) {
            remove(&folder, former)?;
        }
        Ok(())
    }

    fn discard(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        let folder = self.folder.of(root);
        if folder.current()? == Some(generation) {
            return Err(StoreError::Unavailable(format!(
                "generation {} of {root} is published",
                generation.0
            )));
        }
        remove(&folder, generation)
    }

    fn drop_unfinished(&self, root: &str) -> Result<(), StoreError> {
        let folder = self.folder.of(root);
        let current = folder.current()?;
        for generation in folder.generations()? {
            if Some(generation) != current {
                remove(&folder, generation)?;
            }
        }
        Ok(())
    }

    fn drop_root(&self, root: &str) -> Result<(), StoreError> {
        self.forget(root);
        self.folder.of(root).remove()
    }
}

fn remove(folder: &RootFolder, generation: GenerationId) -> Result<(), StoreError> {
    folder.remove_generation(generation)
}
