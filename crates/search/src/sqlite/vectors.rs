//! Every vector of a generation once, in blocks that snapshots share.
//!
//! Text that stands in several places is embedded once and has one row. A search goes over the rows on all cores and asks
//! only of the best whose chunks they are.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension};

use super::row::{self, VectorKey};
use super::schema::store_error;
use crate::embed::{Quantised, dot};
use crate::store::StoreError;

/// Rows of a block: small enough to be copied when the last one grows while others read it.
const BLOCK: usize = 2048;
/// No chunk.
const NONE: u32 = u32::MAX;

/// The rows, and the chunks that have them.
#[derive(Default, Clone)]
pub(super) struct Vectors {
    dimension: usize,
    blocks: Vec<Arc<Block>>,
    n_rows: u32,
    /// The keys of the first rows, sorted: a key's place is its row.
    sorted: Arc<[u64]>,
    /// The rows that came later.
    later: HashMap<u64, u32>,
    /// The newest chunk of each row, as a place in `uses`.
    newest: Vec<u32>,
    uses: Vec<Use>,
}

#[derive(Default, Clone)]
struct Block {
    values: Vec<i8>,
    scales: Vec<f32>,
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
    /// Reads all rows of a generation; the chunks are told afterwards.
    pub(super) fn read(db: &Connection) -> Result<Self, StoreError> {
        let mut query = db.prepare("SELECT key, value FROM vectors ORDER BY key").map_err(store_error)?;
        let mut rows = query.query([]).map_err(store_error)?;
        let mut vectors = Self::default();
        let mut keys = Vec::new();
        while let Some(found) = rows.next().map_err(store_error)? {
            let key = found.get_ref(0).map_err(store_error)?.as_blob().ok().and_then(row::key_from_bytes);
            let value = found.get_ref(1).map_err(store_error)?.as_blob().ok();
            if let (Some(key), Some(value)) = (key, value) {
                keys.push(short(key));
                vectors.push(value);
            }
        }
        vectors.sorted = keys.into();
        Ok(vectors)
    }

    /// Says whether so much came since it was read that it is better read anew: rows of files that are gone stay.
    pub(super) fn has_grown(&self, n_chunks: usize) -> bool {
        self.later.len() > self.sorted.len() / 2 + 4096 || self.uses.len() > n_chunks * 2 + 65536
    }

    /// The chunks of a file have these vectors, in their order.
    pub(super) fn add(&mut self, db: &Connection, file: i64, keys: &[VectorKey]) -> Result<bool, StoreError> {
        let mut query = db.prepare_cached("SELECT value FROM vectors WHERE key = ?1").map_err(store_error)?;
        for (at, key) in (0u32..).zip(keys) {
            let known = self.sorted.binary_search(&short(*key)).ok().and_then(|row| u32::try_from(row).ok());
            let row = match known.or_else(|| self.later.get(&short(*key)).copied()) {
                Some(row) => row,
                None => {
                    let bytes: Option<Vec<u8>> = query
                        .query_row([row::key_bytes(*key).as_slice()], |row| row.get(0))
                        .optional()
                        .map_err(store_error)?;
                    let Some(bytes) = bytes else { return Ok(false) };
                    let row = self.push(&bytes);
                    self.later.insert(short(*key), row);
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
        if (self.n_rows as usize).is_multiple_of(BLOCK) {
            self.blocks.push(Arc::default());
        }
        if let Some(block) = self.blocks.last_mut() {
            let block = Arc::make_mut(block);
            if block.values.capacity() == 0 {
                block.values.reserve_exact(BLOCK * self.dimension);
            }
            let fits = values.len() == self.dimension;
            block.scales.push(if fits { f32::from_le_bytes(*scale) } else { 0.0 });
            match fits {
                true => block.values.extend(values.iter().map(|byte| i8::from_le_bytes([*byte]))),
                false => block.values.resize(block.values.len() + self.dimension, 0),
            }
        }
        self.newest.push(NONE);
        self.n_rows += 1;
        self.n_rows - 1
    }

    /// The rows that are most like a vector among those of which `is_asked` knows a chunk, with their likeness: `limit`,
    /// and those that are as like as the last.
    pub(super) fn nearest(
        &self,
        query: &Quantised,
        limit: usize,
        is_asked: &(dyn Fn(i64, usize) -> bool + Sync),
    ) -> Vec<(f32, u32)> {
        // A vector of nothing is like nothing.
        let is_empty = self.dimension == 0 || query.scale == 0.0 || limit == 0;
        if is_empty || query.values.len() != self.dimension {
            return Vec::new();
        }
        let part = self.blocks.len().div_ceil(rayon::current_num_threads().max(1)).max(1);
        let parts = self.blocks.par_chunks(part).enumerate().map(|(number, blocks)| {
            let first = number * part * BLOCK;
            self.nearest_of(first, blocks, query, limit, is_asked)
        });
        let mut best: Vec<(f32, u32)> = parts.collect::<Vec<_>>().into_iter().flatten().collect();
        keep_best(&mut best, limit);
        best
    }

    fn nearest_of(
        &self,
        first: usize,
        blocks: &[Arc<Block>],
        query: &Quantised,
        limit: usize,
        is_asked: &(dyn Fn(i64, usize) -> bool + Sync),
    ) -> Vec<(f32, u32)> {
        let mut best: Vec<(f32, u32)> = Vec::with_capacity(limit * 2);
        let (mut floor, mut most) = (f32::MIN, limit * 2);
        let mut row = u32::try_from(first).unwrap_or(NONE);
        for block in blocks {
            for (values, scale) in block.values.chunks_exact(self.dimension).zip(&block.scales) {
                let score = dot(values, &query.values) as f32 * scale * query.scale;
                if score >= floor && *scale > 0.0 && self.uses_of(row).any(|(file, at)| is_asked(file, at)) {
                    best.push((score, row));
                    if best.len() >= most {
                        keep_best(&mut best, limit);
                        most = best.len().max(limit) * 2;
                        floor = best.get(limit - 1).map_or(f32::MIN, |(score, _)| *score);
                    }
                }
                row += 1;
            }
        }
        keep_best(&mut best, limit);
        best
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

/// Best first; what is as good as the last that is kept is kept too.
fn keep_best(best: &mut Vec<(f32, u32)>, limit: usize) {
    best.sort_unstable_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    if let Some((last, _)) = best.get(limit - 1).copied() {
        let n_kept = best.partition_point(|(score, _)| *score >= last);
        best.truncate(n_kept);
    }
}

/// The first half of a key, in the order of the table.
fn short(key: VectorKey) -> u64 {
    key.0.swap_bytes()
}
