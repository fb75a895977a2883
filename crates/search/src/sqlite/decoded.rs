//! Rows taken apart, kept for the next question about the same files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, OptionalExtension};

use super::memory::FileEntry;
use super::row;
use super::schema::store_error;
use crate::store::{Chunk, StoreError, Symbol};
use crate::symbols::Facts;

/// Everything of one version of a file.
pub(super) struct Decoded {
    pub(super) indexed_at_ms: i64,
    pub(super) chunks: Vec<Chunk>,
    pub(super) symbols: Vec<Symbol>,
}

/// How many files are kept. A search looks at fewer than a hundred.
const KEPT: usize = 400;

/// Files by id. An id is one version, so that nothing here is ever out of date.
#[derive(Default)]
pub(super) struct Cache {
    files: Mutex<HashMap<i64, Arc<Decoded>>>,
}

impl Cache {
    /// The file, or none when this version is gone.
    pub(super) fn file(
        &self,
        db: &Connection,
        entry: &FileEntry,
    ) -> Result<Option<Arc<Decoded>>, StoreError> {
        let lock = || self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(decoded) = lock().get(&entry.id) {
            return Ok(Some(Arc::clone(decoded)));
        }
        let Some(decoded) = load(db, entry)? else { return Ok(None) };
        let decoded = Arc::new(decoded);
        let mut files = lock();
        if files.len() >= KEPT {
            files.clear();
        }
        files.insert(entry.id, Arc::clone(&decoded));
        Ok(Some(decoded))
    }
}

pub(super) fn load(db: &Connection, entry: &FileEntry) -> Result<Option<Decoded>, StoreError> {
    let mut query = db
        .prepare_cached(
            "SELECT language, indexed_at_ms, content, text FROM files JOIN bodies USING (id) WHERE id = ?1",
        )
        .map_err(store_error)?;
    let row: Option<(String, i64, Vec<u8>, Vec<u8>)> = query
        .query_row([entry.id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()
        .map_err(store_error)?;
    let Some((language, indexed_at_ms, content, text)) = row else { return Ok(None) };
    let (chunks, symbols) = row::unpack(&entry.path, &language, &entry.keys, &content, &text)?;
    Ok(Some(Decoded { indexed_at_ms, chunks, symbols }))
}

/// The file's call sites and imports.
pub(super) fn facts(db: &Connection, id: i64) -> Result<Facts, StoreError> {
    let bytes: Option<Vec<u8>> = db
        .prepare_cached("SELECT facts FROM bodies WHERE id = ?1")
        .and_then(|mut query| query.query_row([id], |row| row.get(0)).optional())
        .map_err(store_error)?;
    bytes.map_or_else(|| Ok(Facts::default()), |bytes| row::unpack_facts(&bytes))
}
