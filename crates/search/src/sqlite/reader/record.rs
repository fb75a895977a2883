//! A file as it was put, to be put elsewhere.

use rusqlite::OptionalExtension;

use super::super::row;
use super::super::schema::store_error;
use super::{Reader, stamp};
use crate::embed::Quantised;
use crate::store::{FileRecord, StoreError};

impl Reader {
    pub(super) fn record_of(&self, rel_path: &str) -> Result<Option<FileRecord>, StoreError> {
        let Some(entry) = self.memory.at_path(rel_path) else { return Ok(None) };
        let db = self.generation.db();
        let found = db
            .prepare_cached(
                "SELECT hash, size, mtime_ns, ctime_ns, language, content, text, facts, keys
                 FROM files JOIN bodies USING (id) WHERE id = ?1",
            )
            .and_then(|mut query| {
                let row = query.query_row([entry.id], |row| {
                    let blob = |at: usize| row.get::<_, Vec<u8>>(at);
                    Ok((stamp(row)?, row.get::<_, String>(4)?, blob(5)?, blob(6)?, blob(7)?, blob(8)?))
                });
                row.optional()
            })
            .map_err(store_error)?;
        let Some((stamp, language, content, text, facts, keys)) = found else { return Ok(None) };
        // What is held in memory of a file does not have the whole keys of its vectors.
        let keys = row::unpack_keys(&keys)?;
        let (chunks, symbols) = row::unpack(rel_path, &language, &keys, &content, &text)?;
        let mut value = db.prepare_cached("SELECT value FROM vectors WHERE key = ?1").map_err(store_error)?;
        let mut vectors = Vec::with_capacity(keys.vectors.len());
        for key in &keys.vectors {
            let bytes: Vec<u8> =
                value.query_row([row::key_bytes(*key).as_slice()], |row| row.get(0)).map_err(store_error)?;
            let vector = Quantised::from_bytes(&bytes)
                .ok_or_else(|| StoreError::Corrupt(format!("a vector of {rel_path} is none")))?;
            vectors.push(vector.to_floats());
        }
        let facts = row::unpack_facts(&facts)?;
        Ok(Some(FileRecord { rel_path: rel_path.to_owned(), stamp, chunks, vectors, symbols, facts }))
    }
}
