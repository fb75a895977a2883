//! One hash over everything a search can see, so that two generations can be compared.

use rusqlite::{Connection, OptionalExtension};

use super::row;
use super::schema::store_error;
use crate::store::StoreError;

/// The digest of a generation: files by path, whatever order they were written in.
pub(super) fn of(db: &Connection) -> Result<String, StoreError> {
    let mut hasher = blake3::Hasher::new();
    for (_, digest) in files(db)? {
        hasher.update(digest.as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

/// Every file with the digest of its path, text, chunks, symbols, references and vectors.
pub(super) fn files(db: &Connection) -> Result<Vec<(String, blake3::Hash)>, StoreError> {
    let mut files = db
        .prepare("SELECT path, language, hash, keys, content, facts, text FROM files JOIN bodies USING (id) ORDER BY path")
        .map_err(store_error)?;
    let mut vector = db.prepare("SELECT value FROM vectors WHERE key = ?1").map_err(store_error)?;
    let mut digests = Vec::new();
    let mut rows = files.query([]).map_err(store_error)?;
    while let Some(found) = rows.next().map_err(store_error)? {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for column in 0..3 {
            part(found.get::<_, String>(column).map_err(store_error)?.as_bytes());
        }
        // Equal content is packed to equal bytes.
        let keys_bytes: Vec<u8> = found.get(3).map_err(store_error)?;
        part(&keys_bytes);
        for column in 4..7 {
            part(&found.get::<_, Vec<u8>>(column).map_err(store_error)?);
        }
        for key in &row::unpack_keys(&keys_bytes)?.vectors {
            let value: Option<Vec<u8>> = vector
                .query_row([row::key_bytes(*key).as_slice()], |row| row.get(0))
                .optional()
                .map_err(store_error)?;
            part(&value.unwrap_or_default());
        }
        digests.push((found.get(0).map_err(store_error)?, hasher.finalize()));
    }
    Ok(digests)
}
