//! Every vector of a generation once, in blocks that snapshots share.
//!
//! Text that stands in several places is embedded once and has one row. A search goes over the rows on all cores and asks
//! only of the best whose chunks they are. Of many rows most are kept by their upper bits: what such a row is like lies
//! between two bounds, and those that may be among the best are read whole from the database.

mod block;
mod coarse;
mod nearest;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension};

use super::row;
use super::schema::{meta, store_error};
use crate::embed::Quantised;
use crate::store::StoreError;
use block::{Asked, Block, ROWS};
use nearest::Nearest;

/// No chunk.
const NONE: u32 = u32::MAX;
/// The first so many blocks are kept whole, 65,536 rows: most repositories have fewer chunks, and their searches never read
/// a row from the database.
const WHOLE: usize = 32;

/// The rows, and the chunks that have them.
#[derive(Clone)]
pub(super) struct Vectors {
    dimension: usize,
    blocks: Vec<Arc<Block>>,
    /// How many of the blocks are whole.
    n_whole: usize,
    n_rows: u32,
    /// The keys of the first rows, sorted: a key's place is its row.
    sorted: Arc<Vec<u64>>,
    /// The keys of the rows that came later, and the rows by them.
    later: Vec<u64>,
    by_key: HashMap<u64, u32>,
    /// The newest chunk of each row, as a place in `uses`.
    newest: Vec<u32>,
    uses: Vec<Use>,
}

/// A chunk that has a row. A file's id is one version of it, so that a use is never wrong, only of a file that is gone.
#[derive(Clone, Copy)]
struct Use {
    file: u32,
    at: u32,
    /// The use of the same row before this one.
    before: u32,
}

impl Vectors {
    /// Reads all rows of a generation; the chunks, of which there are so many, are told afterwards.
    pub(super) fn read(db: &Connection, n_chunks: usize) -> Result<Self, StoreError> {
        let mut vectors = Self::read_with(db, WHOLE, n_chunks)?;
        vectors.uses.reserve_exact(n_chunks);
        Ok(vectors)
    }

    fn read_with(db: &Connection, n_whole: usize, n_chunks: usize) -> Result<Self, StoreError> {
        let mut query = db.prepare("SELECT key, value FROM vectors ORDER BY key").map_err(store_error)?;
        let mut rows = query.query([]).map_err(store_error)?;
        let mut vectors = Self {
            dimension: 0,
            blocks: Vec::new(),
            n_whole,
            n_rows: 0,
            sorted: Arc::default(),
            later: Vec::new(),
            by_key: HashMap::new(),
            newest: Vec::new(),
            uses: Vec::new(),
        };
        // About so many: room for twice as many would be kept, and what was too small be left behind.
        let n_rows =
            usize::try_from(meta::<i64>(db, "n_vectors")?.unwrap_or(0)).unwrap_or(0).min(n_chunks * 2);
        let mut keys = Vec::with_capacity(n_rows);
        vectors.newest.reserve_exact(n_rows);
        while let Some(found) = rows.next().map_err(store_error)? {
            let key = found.get_ref(0).map_err(store_error)?.as_blob().ok().and_then(row::key_from_bytes);
            let value = found.get_ref(1).map_err(store_error)?.as_blob().ok();
            if let (Some(key), Some(value)) = (key, value) {
                keys.push(row::short_key(key));
                vectors.push(value);
            }
        }
        vectors.sorted = Arc::new(keys);
        Ok(vectors)
    }

    /// Says whether so much came since it was read that it is better read anew: rows of files that are gone stay.
    pub(super) fn has_grown(&self, n_chunks: usize) -> bool {
        self.later.len() > self.sorted.len() / 2 + 4096 || self.uses.len() > n_chunks * 2 + 65536
    }

    /// The chunks of a file have these vectors, in their order.
    pub(super) fn add(&mut self, db: &Connection, file: i64, keys: &[u64]) -> Result<bool, StoreError> {
        for (at, key) in (0u32..).zip(keys) {
            let known = self.sorted.binary_search(key).ok().and_then(|row| u32::try_from(row).ok());
            let row = match known.or_else(|| self.by_key.get(key).copied()) {
                Some(row) => row,
                None => {
                    let Some(bytes) = stored(db, *key)? else { return Ok(false) };
                    let row = self.push(&bytes);
                    self.later.push(*key);
                    self.by_key.insert(*key, row);
                    row
                }
            };
            let Some(newest) = self.newest.get_mut(row as usize) else { return Ok(false) };
            let before = std::mem::replace(newest, u32::try_from(self.uses.len()).unwrap_or(NONE));
            self.uses.push(Use { file: u32::try_from(file).unwrap_or(NONE), at, before });
        }
        Ok(true)
    }

    /// Adds a row. One that has another dimension was written by another embedder, as the fingerprint says: it is like
    /// nothing.
    fn push(&mut self, bytes: &[u8]) -> u32 {
        let (scale, values) = bytes.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        if self.n_rows == 0 {
            self.dimension = values.len();
        }
        if (self.n_rows as usize).is_multiple_of(ROWS) {
            self.blocks.push(Arc::new(Block::new(self.dimension, self.blocks.len() < self.n_whole)));
        }
        if let Some(block) = self.blocks.last_mut() {
            let block = Arc::make_mut(block);
            match values.len() == self.dimension {
                true => {
                    let values: Vec<i8> = values.iter().map(|byte| byte.cast_signed()).collect();
                    block.push(&values, f32::from_le_bytes(*scale));
                }
                false => block.push(&vec![0; self.dimension], 0.0),
            }
        }
        self.newest.push(NONE);
        self.n_rows += 1;
        self.n_rows - 1
    }

    /// The rows that may be among those most like a vector of which `is_asked` knows a chunk: see [`Nearest::settle`].
    pub(super) fn nearest(
        &self,
        query: &Quantised,
        limit: usize,
        is_asked: &(dyn Fn(i64, usize) -> bool + Sync),
    ) -> Nearest {
        // A vector of nothing is like nothing.
        let is_empty = self.dimension == 0 || query.scale == 0.0 || limit == 0;
        if is_empty || query.values.len() != self.dimension {
            return Nearest::of(limit);
        }
        let asked = Asked::of(query);
        let part = self.blocks.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
        let parts = self.blocks.par_chunks(part).enumerate().map(|(number, blocks)| {
            let mut nearest = Nearest::of(limit);
            let firsts = (0_u32..).step_by(ROWS).skip(number * part);
            for (first, block) in firsts.zip(blocks) {
                block.each(first, self.dimension, &asked, |bounded| {
                    if nearest.wants(&bounded)
                        && self.uses_of(bounded.row).any(|(file, at)| is_asked(file, at))
                    {
                        nearest.add(bounded);
                    }
                });
            }
            nearest
        });
        parts.collect::<Vec<_>>().into_iter().fold(Nearest::of(limit), Nearest::with)
    }

    /// What a row is like that is not kept whole; none when the database does not have it any more, as then no file has.
    pub(super) fn likeness(
        &self,
        db: &Connection,
        query: &Quantised,
        row: u32,
    ) -> Result<Option<f32>, StoreError> {
        let at = row as usize;
        let key = self.sorted.get(at).or_else(|| self.later.get(at.checked_sub(self.sorted.len())?));
        let Some(bytes) = key.map(|key| stored(db, *key)).transpose()?.flatten() else { return Ok(None) };
        let values = Quantised::from_bytes(&bytes).filter(|row| row.values.len() == self.dimension);
        Ok(values.map(|row| block::likeness(query, &row.values, row.scale)))
    }

    /// The chunks that have a row: the file's id and the place in it. Files that are gone may be among them.
    pub(super) fn uses_of(&self, row: u32) -> impl Iterator<Item = (i64, usize)> + '_ {
        let mut next = self.newest.get(row as usize).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let used = self.uses.get(next as usize)?;
            next = used.before;
            Some((i64::from(used.file), used.at as usize))
        })
    }
}

/// The stored row whose key begins with this.
fn stored(db: &Connection, key: u64) -> Result<Option<Vec<u8>>, StoreError> {
    let first = key.to_be_bytes();
    let mut query = db
        .prepare_cached("SELECT key, value FROM vectors WHERE key >= ?1 ORDER BY key LIMIT 1")
        .map_err(store_error)?;
    let found: Option<(Vec<u8>, Vec<u8>)> = query
        .query_row([first.as_slice()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
        .map_err(store_error)?;
    Ok(found.filter(|(key, _)| key.starts_with(&first)).map(|(_, value)| value))
}
