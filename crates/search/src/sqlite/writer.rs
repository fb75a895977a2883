//! Writing a generation: each batch of files is one transaction.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use chartroom_protocol::index::SkippedFiles;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::layout::RootFolder;
use super::lexical::{self, LexicalWriter, Stamp};
use super::row::Packed;
use super::schema::{self, meta, set_meta, store_error};
use super::{digest, reader, row};
use crate::embed::Quantised;
use crate::store::{
    Applied, Chunk, Counts, FileChange, FileRecord, FileStamp, GenerationId, GenerationWriter, JournalEntry,
    Manifest, MarkerDoc, StoreError, Symbol,
};

/// The files that went with so many changes are listed.
const KEPT_CHANGES: i64 = 256;

/// Writes one generation's database and keeps its derived index in step.
pub(super) struct Writer {
    id: GenerationId,
    db: Connection,
    lexical_folder: PathBuf,
    /// While a new generation is built, its words go straight into the derived index. None afterwards, and when that
    /// failed: the index is then made from the database by whoever opens it.
    building: Option<LexicalWriter>,
    /// Changes that the derived index has not seen.
    dirty: bool,
}

impl Writer {
    pub(super) fn create(id: GenerationId, folder: &RootFolder) -> Result<Self, StoreError> {
        let db = schema::create(&folder.database(id))?;
        let lexical_folder = folder.lexical(id);
        let building = LexicalWriter::create(&lexical_folder)
            .inspect_err(|error| tracing::warn!(%error, "index: the word index will be built later"))
            .ok();
        Ok(Self { id, db, lexical_folder, building, dirty: false })
    }

    pub(super) fn open(id: GenerationId, folder: &RootFolder) -> Result<Self, StoreError> {
        let db = schema::open_writable(&folder.database(id))?;
        Ok(Self { id, db, lexical_folder: folder.lexical(id), building: None, dirty: false })
    }

    /// Brings the derived index in step. Its failure is not the database's: a reader tries again.
    fn settle_lexical(&mut self) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        let settled = match self.building.take() {
            Some(mut building) => Stamp::of(&self.db).and_then(|stamp| building.commit(stamp)),
            None => lexical::catch_up(&self.lexical_folder, &self.db).and_then(|()| self.forget_tombstones()),
        };
        if let Err(error) = settled {
            tracing::warn!(%error, "index: the word index is behind and will be mended by the next search");
        }
    }

    /// The derived index has seen every removal, and snapshots of other processes are seldom this old.
    fn forget_tombstones(&self) -> Result<(), StoreError> {
        let until = meta::<i64>(&self.db, "counter")?.unwrap_or(0) - KEPT_CHANGES;
        if until < meta::<i64>(&self.db, "gone_from")?.unwrap_or(0) + KEPT_CHANGES {
            return Ok(());
        }
        let transaction = self.db.unchecked_transaction().map_err(store_error)?;
        self.db.execute("DELETE FROM tombstones WHERE counter <= ?1", [until]).map_err(store_error)?;
        set_meta(&self.db, "gone_from", until)?;
        transaction.commit().map_err(store_error)
    }

    /// Drops vectors that no chunk has, once they are many: a few are kept for branches that come back.
    fn forget_vectors(&self) -> Result<(), StoreError> {
        let live = meta::<i64>(&self.db, "n_chunks")?.unwrap_or(0);
        if meta::<i64>(&self.db, "n_vectors")?.unwrap_or(0) <= live + live / 2 + 2000 {
            return Ok(());
        }
        let transaction = self.db.unchecked_transaction().map_err(store_error)?;
        self.db
            .execute_batch("CREATE TEMP TABLE IF NOT EXISTS live (key BLOB PRIMARY KEY) WITHOUT ROWID; DELETE FROM live;")
            .map_err(store_error)?;
        {
            let mut files = self.db.prepare("SELECT keys FROM bodies").map_err(store_error)?;
            let mut insert =
                self.db.prepare("INSERT OR IGNORE INTO live (key) VALUES (?1)").map_err(store_error)?;
            let mut rows = files.query([]).map_err(store_error)?;
            while let Some(found) = rows.next().map_err(store_error)? {
                let keys = row::unpack_keys(&found.get::<_, Vec<u8>>(0).map_err(store_error)?)?;
                for key in &keys.vectors {
                    insert.execute([row::key_bytes(*key).as_slice()]).map_err(store_error)?;
                }
            }
        }
        self.db
            .execute_batch("DELETE FROM vectors WHERE key NOT IN (SELECT key FROM live); DELETE FROM live;")
            .map_err(store_error)?;
        let n_vectors: i64 =
            self.db.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0)).map_err(store_error)?;
        set_meta(&self.db, "n_vectors", n_vectors)?;
        transaction.commit().map_err(store_error)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // An unfinished build is thrown away, its words too.
        if self.building.is_none() {
            self.settle_lexical();
        }
    }
}

impl GenerationWriter for Writer {
    fn id(&self) -> GenerationId {
        self.id
    }

    fn apply(&mut self, changes: Vec<FileChange>) -> Result<Applied, StoreError> {
        // Packing is most of the work and needs no database: done for all files at once, on all cores.
        let packed = pack_all(&changes)?;
        let mut applied = Applied::default();
        let mut words: Vec<Words> = Vec::new();
        let mut changed = false;
        let mut n_vectors = 0;
        let transaction =
            self.db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(store_error)?;
        let counter = meta::<i64>(&transaction, "counter")?.unwrap_or(0) + 1;
        for (change, packed) in changes.into_iter().zip(packed) {
            match change {
                FileChange::Put(record) => {
                    let Put { removed, file, new_vectors } = put(&transaction, &record, packed, counter)?;
                    n_vectors += new_vectors;
                    applied.chunks_written += record.chunks.len() as u64;
                    applied.chunks_removed += removed;
                    changed = true;
                    if self.building.is_some() {
                        let FileRecord { rel_path, chunks, symbols, .. } = *record;
                        words.push(Words { file, path: rel_path, chunks, symbols });
                    }
                }
                FileChange::Remove(path) => {
                    let removed = remove(&transaction, &path, counter)?;
                    changed |= removed.is_some();
                    applied.chunks_removed += removed.unwrap_or(0);
                }
                FileChange::Touch(path, stamp) => touch(&transaction, &path, &stamp)?,
            }
        }
        if changed {
            set_meta(&transaction, "counter", counter)?;
            let n_chunks = i64::try_from(applied.chunks_written).unwrap_or(0)
                - i64::try_from(applied.chunks_removed).unwrap_or(0);
            for (name, more) in [("n_chunks", n_chunks), ("n_vectors", n_vectors)] {
                set_meta(&transaction, name, meta::<i64>(&transaction, name)?.unwrap_or(0) + more)?;
            }
        }
        transaction.commit().map_err(store_error)?;
        self.dirty |= changed;
        let added = match &self.building {
            // What was put twice or removed again while building is rare; then the words are made anew at the end.
            Some(_) if applied.chunks_removed > 0 => {
                Err(StoreError::Unavailable("files changed under a build".into()))
            }
            Some(building) => words
                .into_iter()
                .try_for_each(|file| building.add(file.file, &file.path, file.chunks, &file.symbols)),
            None => Ok(()),
        };
        if let Err(error) = added {
            tracing::debug!(%error, "index: the word index will be built at the end");
            self.building = None;
        }
        Ok(applied)
    }

    fn manifest(&self) -> Result<Manifest, StoreError> {
        reader::manifest(&self.db)
    }

    fn stamps(&self, paths: &[&str]) -> Result<Vec<Option<FileStamp>>, StoreError> {
        let mut query = self
            .db
            .prepare_cached("SELECT hash, size, mtime_ns, ctime_ns FROM files WHERE path = ?1")
            .map_err(store_error)?;
        let mut stamp = |path: &&str| query.query_row([path], reader::stamp).optional().map_err(store_error);
        paths.iter().map(&mut stamp).collect()
    }

    fn has_below(&self, folder: &str) -> Result<bool, StoreError> {
        // '0' follows '/': everything below the folder lies between the two.
        let sql = "SELECT EXISTS (SELECT 1 FROM files WHERE path >= ?1 || '/' AND path < ?1 || '0')";
        self.db.query_row(sql, [folder], |row| row.get(0)).map_err(store_error)
    }

    fn set_unscanned(&mut self, prefixes: &[String]) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(prefixes).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        set_meta(&self.db, "unscanned", text)
    }

    fn skipped(&self) -> Result<SkippedFiles, StoreError> {
        reader::skipped(&self.db)
    }

    fn set_skipped(&mut self, skipped: &SkippedFiles) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(skipped).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        set_meta(&self.db, "skipped", text)
    }

    fn known_vectors(&self, content_hashes: &[&str]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        let mut query =
            self.db.prepare_cached("SELECT value FROM vectors WHERE key = ?1").map_err(store_error)?;
        content_hashes
            .iter()
            .map(|hash| {
                let key = row::key_bytes(row::vector_key(hash));
                let bytes: Option<Vec<u8>> =
                    query.query_row([key.as_slice()], |row| row.get(0)).optional().map_err(store_error)?;
                Ok(bytes.and_then(|bytes| Quantised::from_bytes(&bytes)).map(|vector| vector.to_floats()))
            })
            .collect()
    }

    fn journal(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(entry).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.db.execute("INSERT INTO journal (entry) VALUES (?1)", [text]).map_err(store_error)?;
        // People read the last few; it must not grow with every sync of a year.
        self.db
            .execute("DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - 1000", [])
            .map_err(store_error)?;
        self.forget_vectors()?;
        if self.building.is_none() {
            self.settle_lexical();
        }
        Ok(())
    }

    fn counts(&self) -> Result<Counts, StoreError> {
        reader::counts(&self.db)
    }

    fn write_marker(&mut self, marker: &MarkerDoc) -> Result<(), StoreError> {
        let text =
            serde_json::to_string(marker).map_err(|error| StoreError::Unavailable(error.to_string()))?;
        self.settle_lexical();
        schema::settle(&self.db)?;
        self.db.execute_batch("PRAGMA synchronous = FULL").map_err(store_error)?;
        set_meta(&self.db, "marker", text)?;
        // Into the file itself, so that the log does not keep its size.
        self.db
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .and_then(|()| self.db.execute_batch("PRAGMA synchronous = NORMAL"))
            .map_err(store_error)
    }

    fn clear_marker(&mut self) -> Result<(), StoreError> {
        self.db.execute("DELETE FROM meta WHERE key = 'marker'", []).map(|_| ()).map_err(store_error)
    }

    fn payload_digest(&self) -> Result<String, StoreError> {
        digest::of(&self.db)
    }
}

/// A file's words on their way to the derived index.
struct Words {
    file: i64,
    path: String,
    chunks: Vec<Chunk>,
    symbols: Vec<Symbol>,
}

type PackedFile = Option<(row::Packed, Vec<Vec<u8>>)>;

fn pack_all(changes: &[FileChange]) -> Result<Vec<PackedFile>, StoreError> {
    use rayon::prelude::*;
    changes
        .par_iter()
        .map(|change| match change {
            FileChange::Put(record) => {
                let vectors = record.vectors.iter().map(|vector| Quantised::of(vector).to_bytes()).collect();
                row::pack(record).map(|packed| Some((packed, vectors)))
            }
            FileChange::Remove(_) | FileChange::Touch(..) => Ok(None),
        })
        .collect()
}

/// What became of a file that was put.
struct Put {
    /// The number of chunks it had.
    removed: u64,
    /// Its new id.
    file: i64,
    new_vectors: i64,
}

/// Replaces a file.
fn put(db: &Connection, record: &FileRecord, packed: PackedFile, counter: i64) -> Result<Put, StoreError> {
    let Some((packed, vectors)) = packed else {
        return Err(StoreError::Unavailable("a file was not packed".to_owned()));
    };
    if !vectors.is_empty() && vectors.len() != record.chunks.len() {
        return Err(StoreError::Unavailable(format!(
            "{} has {} chunks and {} vectors",
            record.rel_path,
            record.chunks.len(),
            vectors.len()
        )));
    }
    let removed = remove(db, &record.rel_path, counter)?.unwrap_or(0);
    let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
    let FileStamp { hash, size, mtime_ns, ctime_ns } = &record.stamp;
    db.prepare_cached(
        "INSERT INTO files (path, language, hash, size, mtime_ns, ctime_ns, indexed_at_ms, n_chunks, n_symbols,
         n_references) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )
    .and_then(|mut insert| {
        insert.insert(params![
            record.rel_path,
            packed.language,
            hash,
            i64::try_from(*size).unwrap_or(i64::MAX),
            mtime_ns,
            ctime_ns,
            now_ms(),
            number(record.chunks.len()),
            number(record.symbols.len()),
            number(packed.n_references),
        ])
    })
    .and_then(|file| {
        let sql = "INSERT INTO bodies (id, keys, content, facts, text) VALUES (?1, ?2, ?3, ?4, ?5)";
        let Packed { keys, content, facts, text, .. } = packed;
        db.prepare_cached(sql)?.execute(params![file, keys, content, facts, text])?;
        let mut insert = db.prepare_cached("INSERT OR IGNORE INTO vectors (key, value) VALUES (?1, ?2)")?;
        let mut new_vectors = 0;
        for (chunk, vector) in record.chunks.iter().zip(&vectors) {
            new_vectors += insert.execute(params![row::key_bytes(row::vector_key(&chunk.content_hash)).as_slice(), vector])?;
        }
        Ok(Put { removed, file, new_vectors: number(new_vectors) })
    })
    .map_err(store_error)
}

/// Removes a file; gives the number of chunks it had.
fn remove(db: &Connection, path: &str, counter: i64) -> Result<Option<u64>, StoreError> {
    let found: Option<(i64, i64)> = db
        .prepare_cached("DELETE FROM files WHERE path = ?1 RETURNING id, n_chunks")
        .and_then(|mut delete| delete.query_row([path], |row| Ok((row.get(0)?, row.get(1)?))).optional())
        .map_err(store_error)?;
    let Some((file, chunks)) = found else { return Ok(None) };
    db.prepare_cached("DELETE FROM bodies WHERE id = ?1")
        .and_then(|mut delete| delete.execute([file]))
        .and_then(|_| db.prepare_cached("INSERT OR IGNORE INTO tombstones (file, counter) VALUES (?1, ?2)"))
        .and_then(|mut insert| insert.execute([file, counter]))
        .map_err(store_error)?;
    Ok(Some(chunks.unsigned_abs()))
}

fn touch(db: &Connection, path: &str, stamp: &FileStamp) -> Result<(), StoreError> {
    db.prepare_cached("UPDATE files SET hash = ?2, size = ?3, mtime_ns = ?4, ctime_ns = ?5 WHERE path = ?1")
        .and_then(|mut update| {
            let size = i64::try_from(stamp.size).unwrap_or(i64::MAX);
            update.execute(params![path, stamp.hash, size, stamp.mtime_ns, stamp.ctime_ns])
        })
        .map(|_| ())
        .map_err(store_error)
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
