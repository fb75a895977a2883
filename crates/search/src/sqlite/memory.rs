//! What a process holds of a generation in memory: the keys of every file, and the vectors once somebody asks.
//!
//! Somebody who reads has a snapshot that never changes. When nobody reads, the next snapshot is the last one with the files
//! that came and went changed in it, so that a sync of one file costs one file.

mod asked;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use rusqlite::{Connection, Row};

use asked::Asked;

use super::by_id::ById;
use super::ids::{self, Ids};
use super::row::{self, Keys};
use super::schema::{self, meta, store_error};
use super::vectors::Vectors;
use crate::embed::Quantised;
use crate::graph::project::Project;
use crate::pool;
use crate::store::{Among, StoreError};

/// One version of a file.
pub(super) struct FileEntry {
    pub(super) id: i64,
    pub(super) path: Arc<str>,
    /// But for the vectors' keys, which are in `vectors`.
    pub(super) keys: Keys,
    /// The vectors by the first half of their keys, one per chunk, or none.
    vectors: Box<[u64]>,
}

/// A chunk with its likeness.
pub(super) type Near<'a> = (f32, &'a Arc<FileEntry>, usize);

/// All files as of one change counter.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) counter: i64,
    pub(super) files: BTreeMap<i64, Arc<FileEntry>>,
    by_path: HashMap<Arc<str>, i64>,
    n_chunks: usize,
    chunks: OnceLock<ById>,
    symbols: OnceLock<ById>,
    /// Hashes of the names that are defined, each with a file's id; sorted.
    defined: OnceLock<Vec<(u32, u32)>>,
    vectors: RwLock<Option<Arc<Vectors>>>,
    project: OnceLock<Project>,
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        Self {
            counter: self.counter,
            files: self.files.clone(),
            by_path: self.by_path.clone(),
            n_chunks: self.n_chunks,
            chunks: self.chunks.clone(),
            symbols: self.symbols.clone(),
            defined: self.defined.clone(),
            vectors: RwLock::new(self.known_vectors().clone()),
            // Cloned to be changed.
            project: OnceLock::new(),
        }
    }
}

impl Memory {
    /// Nothing yet: whatever the counter is, it is another.
    pub(super) fn unread() -> Self {
        Self { counter: -1, ..Self::default() }
    }

    /// Makes this the state of the database now: what came and what went is all that is looked at.
    pub(super) fn follow(&mut self, db: &Connection) -> Result<(), StoreError> {
        // One transaction: the counter and the rows belong together.
        let transaction = db.unchecked_transaction().map_err(store_error)?;
        let counter = meta::<i64>(db, "counter")?.unwrap_or(0);
        let went = match schema::gone_since(db, self.counter)? {
            Some(ids) => ids,
            None => self.not_among(db)?,
        };
        let newest = self.files.last_key_value().map_or(0, |(id, _)| *id);
        let came = entries_after(db, newest)?;
        self.project = OnceLock::new();
        let went: Vec<Arc<FileEntry>> = went.iter().filter_map(|id| self.files.remove(id)).collect();
        self.forget(&went);
        self.know(db, &came);
        transaction.finish().map_err(store_error)?;
        self.counter = counter;
        Ok(())
    }

    /// The known files that the database does not have any more.
    fn not_among(&self, db: &Connection) -> Result<Vec<i64>, StoreError> {
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = db.prepare_cached("SELECT id FROM files ORDER BY id").map_err(store_error)?;
        let ids: Vec<i64> =
            query.query_map([], |row| row.get(0)).and_then(Iterator::collect).map_err(store_error)?;
        Ok(self.files.keys().filter(|id| ids.binary_search(id).is_err()).copied().collect())
    }

    fn forget(&mut self, went: &[Arc<FileEntry>]) {
        for entry in went {
            self.n_chunks -= entry.keys.chunks.len();
            if self.by_path.get(&entry.path) == Some(&entry.id) {
                self.by_path.remove(&entry.path);
            }
            for (known, ids) in
                [(&mut self.chunks, &entry.keys.chunks), (&mut self.symbols, &entry.keys.symbols)]
            {
                if let Some(known) = known.get_mut() {
                    known.remove(short(entry.id), ids);
                }
            }
        }
        if let Some(defined) = self.defined.get_mut().filter(|_| !went.is_empty()) {
            let mut gone: Vec<u32> = went.iter().map(|entry| short(entry.id)).collect();
            gone.sort_unstable();
            defined.retain(|(_, file)| gone.binary_search(file).is_err());
        }
    }

    fn know(&mut self, db: &Connection, came: &[Arc<FileEntry>]) {
        for entry in came {
            self.n_chunks += entry.keys.chunks.len();
            self.by_path.insert(Arc::clone(&entry.path), entry.id);
            self.files.insert(entry.id, Arc::clone(entry));
            for (known, ids) in
                [(&mut self.chunks, &entry.keys.chunks), (&mut self.symbols, &entry.keys.symbols)]
            {
                if let Some(known) = known.get_mut() {
                    known.add(short(entry.id), ids);
                }
            }
        }
        for known in [&mut self.chunks, &mut self.symbols] {
            // Made anew by who asks for it next.
            if known.get().is_some_and(ById::has_grown) {
                *known = OnceLock::new();
            }
        }
        if let Some(defined) = self.defined.get_mut().filter(|_| !came.is_empty()) {
            defined.extend(came.iter().flat_map(|entry| defined_in(entry)));
            // Two sorted runs, which this sort takes as they are.
            defined.sort();
        }
        let vectors = self.vectors.get_mut().unwrap_or_else(PoisonError::into_inner);
        // What cannot be followed is read anew by who asks for it next, and who asks is told what is wrong with it.
        *vectors = vectors.take().filter(|known| !known.has_grown(self.n_chunks)).and_then(|mut known| {
            let grown = Arc::make_mut(&mut known);
            came.iter().try_for_each(|entry| add_vectors(grown, db, entry)).ok()?;
            Some(known)
        });
    }

    /// Where modules lie.
    pub(super) fn project(&self) -> &Project {
        self.project.get_or_init(|| {
            Project::of(self.files.values().map(|entry| (&*entry.path, entry.keys.package.as_deref())))
        })
    }

    pub(super) fn at_path(&self, path: &str) -> Option<&Arc<FileEntry>> {
        self.files.get(self.by_path.get(path)?)
    }

    pub(super) fn chunk(&self, id: &str) -> Option<(&Arc<FileEntry>, usize)> {
        self.find(&self.chunks, id, |keys| &keys.chunks)
    }

    pub(super) fn symbol(&self, id: &str) -> Option<(&Arc<FileEntry>, usize)> {
        self.find(&self.symbols, id, |keys| &keys.symbols)
    }

    /// The files that define something of this name, by id; others may be among them.
    pub(super) fn defining(&self, name: &str) -> impl Iterator<Item = &Arc<FileEntry>> {
        let defined = self.defined.get_or_init(|| {
            let mut defined: Vec<(u32, u32)> =
                self.files.values().flat_map(|entry| defined_in(entry)).collect();
            defined.sort_unstable();
            defined
        });
        let hash = row::name_hash(name);
        let first = defined.partition_point(|(known, _)| *known < hash);
        let of_name = defined[first..].iter().take_while(move |(known, _)| *known == hash);
        of_name.filter_map(|(_, file)| self.files.get(&i64::from(*file)))
    }

    fn find(
        &self,
        known: &OnceLock<ById>,
        id: &str,
        list: fn(&Keys) -> &Ids,
    ) -> Option<(&Arc<FileEntry>, usize)> {
        let all = || self.files.values().map(|entry| (short(entry.id), list(&entry.keys)));
        let known = known.get_or_init(|| ById::of(all()));
        let hash = ids::hash(id);
        known.files(hash).find_map(|file| {
            let entry = self.files.get(&i64::from(file))?;
            let ids = list(&entry.keys);
            let at = ids.hashes().zip(0..).filter(|(other, _)| *other == hash).map(|(_, at)| at).last()?;
            (ids.get(at)? == id).then_some((entry, at))
        })
    }

    /// The best chunks by cosine of the files that are let in, best first; equal ones by path and place, which do not depend
    /// on the order of writing.
    pub(super) fn nearest<'a>(
        &self,
        db: impl Fn() -> MutexGuard<'a, Connection>,
        vector: &[f32],
        limit: usize,
        among: &Among<'_>,
    ) -> Result<Vec<Near<'_>>, StoreError> {
        let known = self.known_vectors().clone();
        let vectors = match known {
            Some(known) => known,
            None => self.read_vectors(&db())?,
        };
        let asked = Asked::of(&self.files, among);
        let query = Quantised::of(vector);
        let is_asked = |file: i64, _: usize| asked.is_asked(file);
        let nearest = pool::install(|| vectors.nearest(&query, limit, &is_asked));
        let mut locked = None;
        let rows = nearest.settle(|row| vectors.likeness(locked.get_or_insert_with(&db), &query, row))?;
        drop(locked);
        let mut best: Vec<Near<'_>> = Vec::new();
        let mut last = None;
        for (score, row) in rows {
            // One text may stand in many files: what is less like than enough chunks need not be looked up.
            if best.len() >= limit && last != Some(score) {
                break;
            }
            last = Some(score);
            let chunks = vectors.uses_of(row).filter(|(file, _)| asked.is_asked(*file));
            best.extend(chunks.filter_map(|(file, at)| Some((score, self.files.get(&file)?, at))));
        }
        best.sort_by(|left, right| {
            right.0.total_cmp(&left.0).then_with(|| left.1.path.cmp(&right.1.path)).then(left.2.cmp(&right.2))
        });
        best.truncate(limit);
        Ok(best)
    }

    fn known_vectors(&self) -> RwLockReadGuard<'_, Option<Arc<Vectors>>> {
        self.vectors.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// All vectors, for the first who asks; the others wait.
    fn read_vectors(&self, db: &Connection) -> Result<Arc<Vectors>, StoreError> {
        let mut slot = self.vectors.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*slot {
            return Ok(Arc::clone(known));
        }
        let mut vectors = Vectors::read(db, self.n_chunks)?;
        for entry in self.files.values() {
            add_vectors(&mut vectors, db, entry)?;
        }
        let vectors = Arc::new(vectors);
        *slot = Some(Arc::clone(&vectors));
        Ok(vectors)
    }
}

fn add_vectors(vectors: &mut Vectors, db: &Connection, entry: &FileEntry) -> Result<(), StoreError> {
    match vectors.add(db, entry.id, &entry.vectors)? {
        true => Ok(()),
        false => Err(StoreError::Corrupt(format!("a vector of {} is missing", entry.path))),
    }
}

/// The files with a higher id.
fn entries_after(db: &Connection, id: i64) -> Result<Vec<Arc<FileEntry>>, StoreError> {
    let sql = "SELECT files.id, files.path, bodies.keys FROM files JOIN bodies USING (id) WHERE files.id > ?1 ORDER BY files.id";
    let mut query = db.prepare_cached(sql).map_err(store_error)?;
    let mut rows = query.query([id]).map_err(store_error)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(store_error)? {
        entries.push(Arc::new(entry_of(row)?));
    }
    Ok(entries)
}

fn entry_of(found: &Row<'_>) -> Result<FileEntry, StoreError> {
    let path: String = found.get(1).map_err(store_error)?;
    let bytes = found.get_ref(2).map_err(store_error)?;
    let mut keys =
        row::unpack_keys(bytes.as_blob().map_err(|error| StoreError::Corrupt(error.to_string()))?)?;
    let vectors = std::mem::take(&mut keys.vectors).iter().map(|key| row::short_key(*key)).collect();
    Ok(FileEntry { id: found.get(0).map_err(store_error)?, path: path.into(), keys, vectors })
}

fn defined_in(entry: &FileEntry) -> impl Iterator<Item = (u32, u32)> {
    entry.keys.defined.iter().map(|hash| (*hash, short(entry.id)))
}

/// A file's id in half the room. An index that saw four thousand million versions of files finds no new ones.
pub(super) fn short(file: i64) -> u32 {
    u32::try_from(file).unwrap_or(u32::MAX)
}
