//! What a process holds of a generation in memory: the keys of every file, and the vectors once somebody asks.
//!
//! A snapshot never changes. The next one shares the files that did not change with it, so that a sync of one file
//! costs one file.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use rusqlite::{Connection, OptionalExtension};

use super::row::{self, Keys, VectorKey};
use super::schema::{meta, store_error};
use crate::embed::{Quantised, dot};
use crate::graph::project::Project;
use crate::store::StoreError;

/// One version of a file.
pub(super) struct FileEntry {
    pub(super) id: i64,
    pub(super) path: String,
    pub(super) keys: Keys,
    vectors: OnceLock<Rows>,
}

/// Vectors of a file's chunks, one after the other.
#[derive(Default)]
struct Rows {
    values: Vec<i8>,
    scales: Vec<f32>,
}

/// A place: a file's id and a number in its list.
pub(super) type Place = (i64, u32);

/// A chunk with its likeness.
pub(super) type Near<'a> = (f32, &'a Arc<FileEntry>, usize);

/// All files as of one change counter.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) counter: i64,
    pub(super) files: BTreeMap<i64, Arc<FileEntry>>,
    by_path: HashMap<String, i64>,
    chunks: OnceLock<HashMap<u64, Place>>,
    symbols: OnceLock<HashMap<u64, Place>>,
    project: OnceLock<Project>,
}

impl Memory {
    /// Nothing yet: whatever the counter is, it is another.
    pub(super) fn unread() -> Self {
        Self { counter: -1, ..Self::default() }
    }

    /// The state of the file now, sharing what `previous` already has: what came and what went is all that is looked at.
    pub(super) fn load(db: &Connection, previous: &Self) -> Result<Self, StoreError> {
        // One transaction: the counter and the rows belong together.
        let transaction = db.unchecked_transaction().map_err(store_error)?;
        let counter = meta::<i64>(db, "counter")?.unwrap_or(0);
        let ids: Vec<i64> = {
            let mut ids = db.prepare_cached("SELECT id FROM files ORDER BY id").map_err(store_error)?;
            ids.query_map([], |row| row.get(0)).and_then(Iterator::collect).map_err(store_error)?
        };
        let mut came = Vec::new();
        {
            let mut keys =
                db.prepare_cached("SELECT path, keys FROM files WHERE id = ?1").map_err(store_error)?;
            for id in ids.iter().filter(|id| !previous.files.contains_key(id)) {
                let (path, bytes): (String, Vec<u8>) =
                    keys.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).map_err(store_error)?;
                let keys = row::unpack_keys(&bytes)?;
                came.push(Arc::new(FileEntry { id: *id, path, keys, vectors: OnceLock::new() }));
            }
        }
        transaction.finish().map_err(store_error)?;
        let went: Vec<&Arc<FileEntry>> =
            previous.files.values().filter(|entry| ids.binary_search(&entry.id).is_err()).collect();
        Ok(previous.changed(counter, &went, &came))
    }

    /// The same without some files and with others.
    fn changed(&self, counter: i64, went: &[&Arc<FileEntry>], came: &[Arc<FileEntry>]) -> Self {
        let (mut files, mut by_path) = (self.files.clone(), self.by_path.clone());
        for entry in went {
            files.remove(&entry.id);
            by_path.remove(&entry.path);
        }
        for entry in came {
            by_path.insert(entry.path.clone(), entry.id);
            files.insert(entry.id, Arc::clone(entry));
        }
        let places = |known: &OnceLock<HashMap<u64, Place>>, list: fn(&Keys) -> &Vec<String>| {
            let next = OnceLock::new();
            if let Some(known) = known.get() {
                let mut places = known.clone();
                for (id, entry) in
                    went.iter().flat_map(|entry| list(&entry.keys).iter().map(move |id| (id, entry)))
                {
                    if places.get(&hash(id)).is_some_and(|(file, _)| *file == entry.id) {
                        places.remove(&hash(id));
                    }
                }
                places.extend(came.iter().flat_map(|entry| places_of(entry, list)));
                next.get_or_init(|| places);
            }
            next
        };
        let chunks = places(&self.chunks, |keys| &keys.chunks);
        let symbols = places(&self.symbols, |keys| &keys.symbols);
        Self { counter, files, by_path, chunks, symbols, project: OnceLock::new() }
    }

    /// Where modules lie.
    pub(super) fn project(&self) -> &Project {
        self.project.get_or_init(|| {
            Project::of(self.files.values().map(|entry| (entry.path.as_str(), entry.keys.package.as_deref())))
        })
    }

    pub(super) fn at_path(&self, path: &str) -> Option<&Arc<FileEntry>> {
        self.files.get(self.by_path.get(path)?)
    }

    pub(super) fn chunk(&self, id: &str) -> Option<(&Arc<FileEntry>, usize)> {
        let places = self.chunks.get_or_init(|| self.places(|keys| &keys.chunks));
        self.find(places, id, |keys| &keys.chunks)
    }

    pub(super) fn symbol(&self, id: &str) -> Option<(&Arc<FileEntry>, usize)> {
        let places = self.symbols.get_or_init(|| self.places(|keys| &keys.symbols));
        self.find(places, id, |keys| &keys.symbols)
    }

    fn places(&self, list: fn(&Keys) -> &Vec<String>) -> HashMap<u64, Place> {
        self.files.values().flat_map(|entry| places_of(entry, list)).collect()
    }

    fn find(
        &self,
        places: &HashMap<u64, Place>,
        id: &str,
        list: fn(&Keys) -> &Vec<String>,
    ) -> Option<(&Arc<FileEntry>, usize)> {
        let (file, at) = places.get(&hash(id))?;
        let entry = self.files.get(file)?;
        let at = *at as usize;
        (list(&entry.keys).get(at)? == id).then_some((entry, at))
    }

    /// The best chunks by cosine of the files that are let in, best first.
    pub(super) fn nearest(
        &self,
        db: &Connection,
        vector: &[f32],
        limit: usize,
        allows: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<Vec<Near<'_>>, StoreError> {
        self.load_vectors(db)?;
        let query = Quantised::of(vector);
        let dimension = query.values.len();
        if dimension == 0 || limit == 0 {
            return Ok(Vec::new());
        }
        // Every core takes a part of the files; what each finds best is put together.
        let entries: Vec<&Arc<FileEntry>> = self.files.values().collect();
        let part = entries.len().div_ceil(rayon::current_num_threads().max(1)).max(MIN_PART);
        let found: Vec<Vec<Near<'_>>> =
            entries.par_chunks(part).map(|entries| nearest_of(entries, &query, limit, allows)).collect();
        let mut best: Vec<Near<'_>> = found.into_iter().flatten().collect();
        keep_best(&mut best, limit);
        Ok(best)
    }

    /// Reads the vectors of the files that have none in memory yet.
    fn load_vectors(&self, db: &Connection) -> Result<(), StoreError> {
        let missing: Vec<&Arc<FileEntry>> =
            self.files.values().filter(|entry| entry.vectors.get().is_none()).collect();
        let wanted: usize = missing.iter().map(|entry| entry.keys.vectors.len()).sum();
        // One walk over the table is cheaper than many look-ups.
        let all = if wanted > 2000 { Some(read_all(db)?) } else { None };
        let mut one = db.prepare_cached("SELECT value FROM vectors WHERE key = ?1").map_err(store_error)?;
        for entry in missing {
            let mut rows = Rows::default();
            for key in &entry.keys.vectors {
                let bytes: Option<Vec<u8>> = match &all {
                    Some(all) => all.get(key).cloned(),
                    None => one
                        .query_row([row::key_bytes(*key).as_slice()], |row| row.get(0))
                        .optional()
                        .map_err(store_error)?,
                };
                let vector = bytes
                    .and_then(|bytes| Quantised::from_bytes(&bytes))
                    .ok_or_else(|| StoreError::Corrupt(format!("a vector of {} is missing", entry.path)))?;
                rows.values.extend(vector.values);
                rows.scales.push(vector.scale);
            }
            entry.vectors.get_or_init(|| rows);
        }
        Ok(())
    }
}

/// Fewer files than this are scanned quicker by one thread.
const MIN_PART: usize = 256;

fn nearest_of<'a>(
    entries: &[&'a Arc<FileEntry>],
    query: &Quantised,
    limit: usize,
    allows: &(dyn Fn(&str) -> bool + Sync),
) -> Vec<Near<'a>> {
    let dimension = query.values.len();
    let mut best: Vec<Near<'a>> = Vec::with_capacity(limit * 2);
    let mut floor = f32::MIN;
    for entry in entries.iter().copied() {
        // Asked only of files that would be among the best: most never are.
        let mut is_let_in = None;
        let Some(rows) = entry.vectors.get() else { continue };
        if rows.values.len() != dimension * rows.scales.len() {
            continue; // another dimension: another embedder wrote it, and the fingerprint says so
        }
        for (at, (values, scale)) in rows.values.chunks_exact(dimension).zip(&rows.scales).enumerate() {
            let score = dot(values, &query.values) as f32 * scale * query.scale;
            if score > floor && *scale > 0.0 && *is_let_in.get_or_insert_with(|| allows(&entry.path)) {
                best.push((score, entry, at));
                if best.len() >= limit * 2 {
                    keep_best(&mut best, limit);
                    floor = best.last().map_or(f32::MIN, |(score, _, _)| *score);
                }
            }
        }
    }
    keep_best(&mut best, limit);
    best
}

/// The places of a file's chunks or symbols, by the hashes of their ids.
fn places_of(
    entry: &FileEntry,
    list: fn(&Keys) -> &Vec<String>,
) -> impl Iterator<Item = (u64, Place)> + use<'_> {
    (0u32..).zip(list(&entry.keys)).map(|(at, id)| (hash(id), (entry.id, at)))
}

fn read_all(db: &Connection) -> Result<HashMap<VectorKey, Vec<u8>>, StoreError> {
    let mut query = db.prepare_cached("SELECT key, value FROM vectors").map_err(store_error)?;
    let mut rows = query.query([]).map_err(store_error)?;
    let mut all = HashMap::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        let key = row.get_ref(0).map_err(store_error)?.as_blob().ok().and_then(row::key_from_bytes);
        let value: Vec<u8> = row.get(1).map_err(store_error)?;
        if let Some(key) = key {
            all.insert(key, value);
        }
    }
    Ok(all)
}

/// Best first; equal scores by path and place, which do not depend on the order of writing.
fn keep_best(best: &mut Vec<Near<'_>>, limit: usize) {
    best.sort_by(|left, right| {
        right.0.total_cmp(&left.0).then_with(|| left.1.path.cmp(&right.1.path)).then(left.2.cmp(&right.2))
    });
    best.truncate(limit);
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
