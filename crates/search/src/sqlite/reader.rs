//! Reading a generation: snapshots that stay as they are while others write.

mod calls;
mod record;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chartroom_protocol::index::SkippedFiles;
use rusqlite::Connection;
use serde_json::Value;

use super::counts::{self, Numbers};
use super::decoded::{Cache, Decoded};
use super::layout::RootFolder;
use super::lexical::{Fields, Lexical, Stamp};
use super::memory::{FileEntry, Memory};
use super::schema::{self, as_probe, meta, store_error};
use super::{digest, row};
use crate::store::{
    Among, CallEdge, Counts, FileRecord, FileStamp, GenerationId, GenerationReader, GraphNote, LexicalTerm,
    Manifest, ProbeError, Scored, StoreError, StoredChunk, Symbol, WordCounts,
};
use crate::symbols;

/// An open generation, shared by every reader of this process.
pub(super) struct Generation {
    id: GenerationId,
    db: Mutex<Connection>,
    memory: Mutex<Arc<Memory>>,
    lexical: Mutex<Option<Lexical>>,
    lexical_folder: std::path::PathBuf,
    /// The numbers of the last snapshot that was counted in.
    numbers: Mutex<Option<(Stamp, Arc<Numbers>)>>,
    cache: Cache,
}

impl Generation {
    pub(super) fn open(id: GenerationId, folder: &RootFolder) -> Result<Self, StoreError> {
        Ok(Self {
            id,
            db: Mutex::new(schema::open_readable(&folder.database(id))?),
            memory: Mutex::new(Arc::new(Memory::unread())),
            lexical: Mutex::new(None),
            lexical_folder: folder.lexical(id),
            numbers: Mutex::new(None),
            cache: Cache::default(),
        })
    }

    pub(super) fn is(&self, id: GenerationId) -> bool {
        self.id == id
    }

    pub(super) fn marker(&self) -> Result<Option<Value>, ProbeError> {
        let text: Option<String> = meta(&self.db(), "marker").map_err(as_probe)?;
        // A marker that is no JSON was read all right; the validator says what is wrong with it.
        Ok(text.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))))
    }

    pub(super) fn skipped(&self) -> Result<SkippedFiles, StoreError> {
        skipped(&self.db())
    }

    pub(super) fn file_digests(&self) -> Result<Vec<(String, blake3::Hash)>, StoreError> {
        digest::files(&self.db())
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the word index as it is now.
    fn with_lexical<T>(&self, work: impl FnOnce(&Lexical) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut lexical = self.lexical.lock().unwrap_or_else(PoisonError::into_inner);
        let db = self.db();
        let open = match &mut *lexical {
            Some(open) => {
                open.refresh(&db)?;
                open
            }
            empty => empty.insert(Lexical::open(&self.lexical_folder, &db)?),
        };
        drop(db);
        work(open)
    }

    /// The numbers of a snapshot.
    fn numbers(
        &self,
        searcher: &tantivy::Searcher,
        fields: Fields,
        stamp: Stamp,
        memory: &Memory,
    ) -> Result<Arc<Numbers>, StoreError> {
        // Somebody wrote since the snapshot was taken: these numbers are good for this one question.
        if stamp.counter != memory.counter {
            let mut numbers = Numbers::default();
            numbers.follow(searcher, fields, memory)?;
            return Ok(Arc::new(numbers));
        }
        let mut known = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut numbers = match known.take() {
            Some((of, numbers)) if of == stamp => {
                *known = Some((of, Arc::clone(&numbers)));
                return Ok(numbers);
            }
            Some((_, numbers)) => numbers,
            None => Arc::default(),
        };
        Arc::make_mut(&mut numbers).follow(searcher, fields, memory)?;
        *known = Some((stamp, Arc::clone(&numbers)));
        Ok(numbers)
    }

    /// The newest snapshot.
    fn snapshot(&self) -> Result<Arc<Memory>, StoreError> {
        let db = self.db();
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        if meta::<i64>(&db, "counter")?.unwrap_or(0) != memory.counter {
            Arc::make_mut(&mut memory).follow(&db)?;
        }
        Ok(Arc::clone(&memory))
    }
}

/// One snapshot of a generation.
pub(super) struct Reader {
    generation: Arc<Generation>,
    memory: Arc<Memory>,
}

impl Reader {
    pub(super) fn new(generation: Arc<Generation>) -> Result<Self, StoreError> {
        let memory = generation.snapshot()?;
        Ok(Self { generation, memory })
    }

    fn file(&self, entry: &FileEntry) -> Result<Option<Arc<Decoded>>, StoreError> {
        self.generation.cache.file(&self.generation.db(), entry)
    }
}

impl GenerationReader for Reader {
    fn id(&self) -> GenerationId {
        self.generation.id
    }

    fn counts(&self) -> Result<Counts, StoreError> {
        counts(&self.generation.db())
    }

    fn manifest(&self) -> Result<Manifest, StoreError> {
        manifest(&self.generation.db())
    }

    fn lexical(&self, terms: &[LexicalTerm], limit: usize) -> Result<Vec<Scored>, StoreError> {
        // A file that changed after this snapshot has another id there: ask for some more, then leave those out.
        let found = self.generation.with_lexical(|open| open.search(terms, limit + 16))?;
        let known = found.into_iter().filter_map(|(score, file, at)| {
            let chunk_id = self.memory.files.get(&file)?.keys.chunks.get(at)?;
            Some(Scored { chunk_id, score })
        });
        let mut scored: Vec<Scored> = known.collect();
        scored.sort_by(|left, right| {
            right.score.total_cmp(&left.score).then_with(|| left.chunk_id.cmp(&right.chunk_id))
        });
        scored.truncate(limit);
        Ok(scored)
    }

    fn words(&self) -> Result<Box<dyn WordCounts>, StoreError> {
        let (searcher, fields, stamp) = self.generation.with_lexical(|open| Ok(open.counted()))?;
        let numbers = self.generation.numbers(&searcher, fields, stamp, &self.memory)?;
        Ok(Box::new(counts::Counts { searcher, fields, numbers, memory: Arc::clone(&self.memory) }))
    }

    fn dense(&self, vector: &[f32], limit: usize) -> Result<Vec<Scored>, StoreError> {
        let found = self.dense_in(vector, limit, &Among::paths(&|_| true))?;
        Ok(found.into_iter().map(|(scored, _)| scored).collect())
    }

    fn dense_in(
        &self,
        vector: &[f32],
        limit: usize,
        among: &Among<'_>,
    ) -> Result<Vec<(Scored, String)>, StoreError> {
        let nearest = self.memory.nearest(|| self.generation.db(), vector, limit, among)?;
        let mut found: Vec<(Scored, String)> = nearest
            .into_iter()
            .filter_map(|(score, entry, at)| {
                let chunk_id = entry.keys.chunks.get(at)?;
                Some((Scored { chunk_id, score }, entry.path.to_string()))
            })
            .collect();
        found.sort_by(|(left, _), (right, _)| {
            right.score.total_cmp(&left.score).then_with(|| left.chunk_id.cmp(&right.chunk_id))
        });
        Ok(found)
    }

    fn chunks(&self, ids: &[String]) -> Result<Vec<StoredChunk>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let Some((entry, at)) = self.memory.chunk(id) else { continue };
            let Some(file) = self.file(entry)? else { continue };
            found.extend(
                file.chunks
                    .get(at)
                    .map(|chunk| StoredChunk { chunk: chunk.clone(), indexed_at_ms: file.indexed_at_ms }),
            );
        }
        Ok(found)
    }

    fn chunks_in(&self, rel_path: &str) -> Result<Vec<StoredChunk>, StoreError> {
        let Some(entry) = self.memory.at_path(rel_path) else { return Ok(Vec::new()) };
        let Some(file) = self.file(entry)? else { return Ok(Vec::new()) };
        let mut chunks: Vec<StoredChunk> = file
            .chunks
            .iter()
            .map(|chunk| StoredChunk { chunk: chunk.clone(), indexed_at_ms: file.indexed_at_ms })
            .collect();
        chunks.sort_by_key(|stored| (stored.chunk.start_line, stored.chunk.end_line));
        Ok(chunks)
    }

    fn record(&self, rel_path: &str) -> Result<Option<FileRecord>, StoreError> {
        self.record_of(rel_path)
    }

    fn symbols_in(&self, rel_path: &str) -> Result<Vec<Symbol>, StoreError> {
        let Some(entry) = self.memory.at_path(rel_path) else { return Ok(Vec::new()) };
        let Some(file) = self.file(entry)? else { return Ok(Vec::new()) };
        let mut symbols = file.symbols.clone();
        symbols.sort_by_key(|symbol| (symbol.start_line, symbol.end_line));
        Ok(symbols)
    }

    fn symbol(&self, symbol_id: &str) -> Result<Option<Symbol>, StoreError> {
        if let Some((entry, at)) = self.memory.symbol(symbol_id) {
            return Ok(self.file(entry)?.and_then(|file| file.symbols.get(at).cloned()));
        }
        self.file_symbol(symbol_id)
    }

    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError> {
        let mut found = Vec::new();
        for entry in self.memory.defining(name) {
            let Some(file) = self.file(entry)? else { continue };
            found.extend(
                file.symbols.iter().filter(|symbol| row::last_name(&symbol.qualified_name) == name).cloned(),
            );
        }
        found.sort_by(|left, right| {
            (&left.rel_path, left.start_line, &left.symbol_id).cmp(&(
                &right.rel_path,
                right.start_line,
                &right.symbol_id,
            ))
        });
        Ok(found)
    }

    fn files_defining(&self, name: &str) -> Result<usize, StoreError> {
        Ok(self.memory.defining(name).count())
    }

    fn callees(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        self.callees_of(symbol_id)
    }

    fn callers(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        self.callers_of(symbol_id)
    }

    fn notes_in(&self, rel_path: &str) -> Result<Vec<GraphNote>, StoreError> {
        self.notes_of(rel_path)
    }

    fn payload_digest(&self) -> Result<String, StoreError> {
        digest::of(&self.generation.db())
    }
}

impl Reader {
    /// The symbol that stands for a whole file, by its id.
    fn file_symbol(&self, symbol_id: &str) -> Result<Option<Symbol>, StoreError> {
        let entry =
            self.memory.files.values().find(|entry| symbols::file_symbol(&entry.path, 1).id == symbol_id);
        let Some(entry) = entry else { return Ok(None) };
        let Some(file) = self.file(entry)? else { return Ok(None) };
        let lines = file.chunks.last().map_or(1, |chunk| chunk.end_line);
        let symbol = symbols::file_symbol(&entry.path, lines);
        Ok(Some(Symbol {
            symbol_id: symbol.id,
            kind: symbol.kind,
            qualified_name: symbol.qualified,
            label: symbol.label,
            rel_path: entry.path.to_string(),
            language: file.chunks.first().map_or_else(|| "text".to_owned(), |chunk| chunk.language.clone()),
            start_line: symbol.span.start,
            end_line: symbol.span.end,
        }))
    }
}

/// What no index of before wrote down is nothing.
pub(super) fn skipped(db: &Connection) -> Result<SkippedFiles, StoreError> {
    let text: Option<String> = meta(db, "skipped")?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

pub(super) fn manifest(db: &Connection) -> Result<Manifest, StoreError> {
    let unscanned: Option<String> = meta(db, "unscanned")?;
    let unscanned = unscanned.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let mut query = db
        .prepare_cached("SELECT hash, size, mtime_ns, ctime_ns, path FROM files ORDER BY path")
        .map_err(store_error)?;
    let files = query
        .query_map([], |row| Ok((row.get(4)?, stamp(row)?)))
        .and_then(Iterator::collect)
        .map_err(store_error)?;
    Ok(Manifest { files, unscanned })
}

/// A stamp, from the columns hash, size, mtime_ns, ctime_ns.
pub(super) fn stamp(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileStamp> {
    let size: i64 = row.get(1)?;
    Ok(FileStamp {
        hash: row.get(0)?,
        size: size.unsigned_abs(),
        mtime_ns: row.get(2)?,
        ctime_ns: row.get(3)?,
    })
}

pub(super) fn counts(db: &Connection) -> Result<Counts, StoreError> {
    db.query_row(
        "SELECT count(*), coalesce(sum(n_chunks), 0), coalesce(sum(n_symbols), 0), coalesce(sum(n_references), 0),
         coalesce(max(indexed_at_ms), 0) FROM files",
        [],
        |row| {
            let count = |at: usize| row.get::<_, i64>(at).map(i64::unsigned_abs);
            Ok(Counts {
                files: count(0)?,
                chunks: count(1)?,
                symbols: count(2)?,
                // Call sites: which definition each means is decided when it is asked for.
                edges: count(3)?,
                notes: 0,
                graph_built_at_ms: row.get(4)?,
            })
        },
    )
    .map_err(store_error)
}
