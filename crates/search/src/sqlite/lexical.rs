//! BM25 over identifier-split text: a tantivy index that follows the database.
//!
//! Its commits carry the change counter of the database they describe. Whoever opens it brings it up to that counter
//! first: a few files by adding and deleting them, anything else by building it anew. A folder that cannot be written
//! gets an index in memory.

mod tokens;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tantivy::collector::TopDocs;
use tantivy::directory::MmapDirectory;
use tantivy::merge_policy::LogMergePolicy;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, Query, TermQuery};
use tantivy::schema::{
    Field, INDEXED, IndexRecordOption, NumericOptions, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

use super::layout::lock_file;
use super::row;
use super::schema::{gone_since, meta, store_error};
use crate::store::{Chunk, LexicalField, LexicalTerm, StoreError, Symbol};

/// Changes with the fields or the tokens: an index with another one is built anew.
const FORMAT: &str = "2";
/// A whole project is worth two threads; a few files are not.
const BUILD_THREADS: usize = 2;
const FOLLOW_THREADS: usize = 1;
const WRITER_MEMORY: usize = 24 << 20;
/// A sync puts together what syncs have left behind; larger segments stay as the build made them, since whoever waits for
/// one file should not wait for a merge of all.
const MERGED_BY_A_SYNC: usize = 10_000;
/// Of a long query the rarest terms decide; the others cost time.
const MAX_TERMS: usize = 48;

/// What is indexed of a chunk.
#[derive(Clone, Copy)]
pub(super) struct Fields {
    pub(super) symbol: Field,
    pub(super) path: Field,
    pub(super) content: Field,
    pub(super) stem: Field,
    /// The file's id, to delete by.
    file: Field,
    /// The file's id and the chunk's number in one.
    place: Field,
}

impl Fields {
    pub(super) fn of(self, field: LexicalField) -> Field {
        match field {
            LexicalField::Symbol => self.symbol,
            LexicalField::Path => self.path,
            LexicalField::Content => self.content,
            LexicalField::Stem => self.stem,
        }
    }
}

/// An open index.
pub(super) struct Lexical {
    index: Index,
    reader: IndexReader,
    fields: Fields,
    /// Where it is, or none when it is in memory.
    folder: Option<PathBuf>,
    stamp: Stamp,
}

/// What of the database an index describes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) counter: i64,
    /// The newest file id it has seen.
    pub(super) last_file: i64,
}

impl Stamp {
    /// What the database is at now.
    pub(super) fn of(db: &Connection) -> Result<Self, StoreError> {
        let last_file = db
            .prepare_cached("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'files'")
            .and_then(|mut query| query.query_row([], |row| row.get(0)))
            .map_err(store_error)?;
        Ok(Self { counter: meta::<i64>(db, "counter")?.unwrap_or(0), last_file })
    }

    /// What the last commit of an index says.
    fn read(index: &Index) -> Result<Self, StoreError> {
        let metas = index.load_metas().map_err(lexical_error)?;
        let read = |payload: &str| {
            let mut parts = payload.strip_prefix(FORMAT)?.strip_prefix(':')?.split(':');
            Some(Self { counter: parts.next()?.parse().ok()?, last_file: parts.next()?.parse().ok()? })
        };
        metas
            .payload
            .as_deref()
            .and_then(read)
            .ok_or_else(|| StoreError::Corrupt("the word index has no stamp".to_owned()))
    }
}

/// Adds chunks to an index that is being written.
pub(super) struct LexicalWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl Lexical {
    /// Opens the index of a database and brings it up to date.
    pub(super) fn open(folder: &Path, db: &Connection) -> Result<Self, StoreError> {
        let stamp = Stamp::of(db)?;
        if let Ok(lexical) = Self::on_disk(folder)
            && lexical.stamp == stamp
        {
            return Ok(lexical);
        }
        match catch_up(folder, db).and_then(|()| Self::on_disk(folder)) {
            Ok(lexical) => Ok(lexical),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "index: the word index is kept in memory");
                Self::in_memory(db)
            }
        }
    }

    /// Brings the index to what the database says now.
    pub(super) fn refresh(&mut self, db: &Connection) -> Result<(), StoreError> {
        let stamp = Stamp::of(db)?;
        if stamp == self.stamp {
            return Ok(());
        }
        // Mostly the writer has done it: then only what changed of the index is opened.
        if self.folder.is_some() && Stamp::read(&self.index).is_ok_and(|written| written == stamp) {
            self.reader.reload().map_err(lexical_error)?;
            self.stamp = stamp;
            return Ok(());
        }
        *self = match &self.folder {
            Some(folder) => Self::open(&folder.clone(), db)?,
            None => Self::in_memory(db)?,
        };
        Ok(())
    }

    fn on_disk(folder: &Path) -> Result<Self, StoreError> {
        let (index, stamp) = opened(folder)?;
        Self::reading(index, Some(folder.to_owned()), stamp)
    }

    fn in_memory(db: &Connection) -> Result<Self, StoreError> {
        let index = Index::create_in_ram(schema().0);
        let stamp = fill(&index, db)?;
        Self::reading(index, None, stamp)
    }

    fn reading(index: Index, folder: Option<PathBuf>, stamp: Stamp) -> Result<Self, StoreError> {
        tokens::register(&index);
        let reader =
            index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into().map_err(lexical_error)?;
        Ok(Self { index, reader, fields: schema().1, folder, stamp })
    }

    /// What the index describes, to count in.
    pub(super) fn counted(&self) -> (tantivy::Searcher, Fields, Stamp) {
        (self.reader.searcher(), self.fields, self.stamp)
    }

    /// The best chunks by BM25, as places, best first.
    pub(super) fn search(
        &self,
        terms: &[LexicalTerm],
        limit: usize,
    ) -> Result<Vec<(f32, i64, usize)>, StoreError> {
        let searcher = self.reader.searcher();
        let mut weighted: Vec<(u64, Term, f32)> = Vec::new();
        for term in terms {
            let tantivy_term = Term::from_field_text(self.fields.of(term.field), &term.text);
            let frequency = searcher.doc_freq(&tantivy_term).map_err(lexical_error)?;
            if frequency > 0 {
                weighted.push((frequency, tantivy_term, term.weight));
            }
        }
        weighted.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| left.1.cmp(&right.1)));
        weighted.truncate(MAX_TERMS);
        if weighted.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let clauses: Vec<(Occur, Box<dyn Query>)> = weighted
            .into_iter()
            .map(|(_, term, weight)| {
                let query = TermQuery::new(term, IndexRecordOption::WithFreqs);
                (Occur::Should, Box::new(BoostQuery::new(Box::new(query), weight)) as Box<dyn Query>)
            })
            .collect();
        let top = searcher
            .search(&BooleanQuery::new(clauses), &TopDocs::with_limit(limit).order_by_score())
            .map_err(lexical_error)?;
        let mut columns = Vec::new();
        for segment in searcher.segment_readers() {
            columns.push(segment.fast_fields().u64("place").map_err(lexical_error)?);
        }
        let places = top.into_iter().filter_map(|(score, address)| {
            let place = columns.get(address.segment_ord as usize)?.first(address.doc_id)?;
            let (file, at) = split_place(place);
            Some((score, file, at))
        });
        Ok(places.collect())
    }
}

impl LexicalWriter {
    /// Starts an index for a database that is being built.
    pub(super) fn create(folder: &Path) -> Result<Self, StoreError> {
        let index = empty(folder)?;
        Self::new(&index, BUILD_THREADS)
    }

    fn new(index: &Index, threads: usize) -> Result<Self, StoreError> {
        tokens::register(index);
        let writer =
            index.writer_with_num_threads(threads, WRITER_MEMORY * threads).map_err(lexical_error)?;
        Ok(Self { writer, fields: schema().1 })
    }

    /// Adds the chunks of one version of a file.
    pub(super) fn add(
        &self,
        file: i64,
        path: &str,
        chunks: Vec<Chunk>,
        symbols: &[Symbol],
    ) -> Result<(), StoreError> {
        let Fields { symbol, path: path_field, content, stem, file: file_field, place } = self.fields;
        for (at, chunk) in chunks.into_iter().enumerate() {
            let mut document = TantivyDocument::default();
            document.add_text(symbol, labels(&chunk, symbols));
            document.add_text(path_field, path);
            document.add_text(stem, &chunk.content);
            document.add_text(content, chunk.content);
            document.add_u64(file_field, file.unsigned_abs());
            document.add_u64(place, join_place(file, at));
            self.writer.add_document(document).map_err(lexical_error)?;
        }
        Ok(())
    }

    pub(super) fn remove(&self, file: i64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.file, file.unsigned_abs()));
    }

    /// Makes it durable, stamped with what it now describes.
    pub(super) fn commit(&mut self, stamp: Stamp) -> Result<(), StoreError> {
        let mut commit = self.writer.prepare_commit().map_err(lexical_error)?;
        commit.set_payload(&format!("{FORMAT}:{}:{}", stamp.counter, stamp.last_file));
        commit.commit().map(|_| ()).map_err(lexical_error)
    }
}

/// The labels a chunk is found by: its own, and those of the definitions that begin in it.
fn labels(chunk: &Chunk, symbols: &[Symbol]) -> String {
    let mut text = chunk.symbol_label.clone().unwrap_or_default();
    let inside = symbols.iter().filter(|symbol| {
        (chunk.start_line..=chunk.end_line).contains(&symbol.start_line)
            && chunk.symbol_id.as_ref() != Some(&symbol.symbol_id)
    });
    for symbol in inside {
        text.push('\n');
        text.push_str(row::last_name(&symbol.qualified_name));
    }
    text
}

/// The index in a folder, and what it describes.
fn opened(folder: &Path) -> Result<(Index, Stamp), StoreError> {
    let directory =
        MmapDirectory::open(folder).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    let index = Index::open(directory).map_err(lexical_error)?;
    if index.schema() != schema().0 {
        return Err(StoreError::Corrupt("the word index has other fields".to_owned()));
    }
    let stamp = Stamp::read(&index)?;
    Ok((index, stamp))
}

/// Writes what is missing in a folder, under a lock between processes.
pub(super) fn catch_up(folder: &Path, db: &Connection) -> Result<(), StoreError> {
    let lock = fs::OpenOptions::new().create(true).append(true).open(lock_file(folder))?;
    lock.lock()?;
    let stamp = Stamp::of(db)?;
    // Somebody else may have done it while we waited.
    let known = match opened(folder) {
        Ok((_, known)) if known == stamp => return Ok(()),
        Ok((index, known)) if known.counter < stamp.counter => Some((index, known)),
        _ => None,
    };
    let caught_up = known.map_or(Ok(false), |(index, known)| follow(&index, known, db));
    if !caught_up.unwrap_or(false) {
        rebuild(folder, db)?;
    }
    Ok(())
}

/// Applies what changed since the index's stamp. `false` when that cannot be told.
fn follow(index: &Index, known: Stamp, db: &Connection) -> Result<bool, StoreError> {
    let transaction = db.unchecked_transaction().map_err(store_error)?;
    let stamp = Stamp::of(db)?;
    let new: i64 = db
        .query_row("SELECT count(*) FROM files WHERE id > ?1", [known.last_file], |row| row.get(0))
        .map_err(store_error)?;
    // Many new files: building anew is as quick, and leaves one clean index.
    if new > 2000 {
        return Ok(false);
    }
    let Some(gone) = gone_since(db, known.counter)? else { return Ok(false) };
    let mut writer = LexicalWriter::new(index, FOLLOW_THREADS)?;
    let mut merges = LogMergePolicy::default();
    merges.set_max_docs_before_merge(MERGED_BY_A_SYNC);
    writer.writer.set_merge_policy(Box::new(merges));
    gone.into_iter().for_each(|file| writer.remove(file));
    for_each_file(db, known.last_file, |file, path, chunks, symbols| {
        writer.add(file, path, chunks, symbols)
    })?;
    transaction.finish().map_err(store_error)?;
    writer.commit(stamp)?;
    // Without this a merge is given up each time, and every sync leaves one more small segment behind.
    writer.writer.wait_merging_threads().map_err(lexical_error)?;
    Ok(true)
}

fn rebuild(folder: &Path, db: &Connection) -> Result<(), StoreError> {
    let index = empty(folder)?;
    fill(&index, db).map(|_| ())
}

fn empty(folder: &Path) -> Result<Index, StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    fs::create_dir_all(folder)?;
    Index::create_in_dir(folder, schema().0).map_err(lexical_error)
}

fn fill(index: &Index, db: &Connection) -> Result<Stamp, StoreError> {
    let transaction = db.unchecked_transaction().map_err(store_error)?;
    let stamp = Stamp::of(db)?;
    let mut writer = LexicalWriter::new(index, BUILD_THREADS)?;
    for_each_file(db, 0, |file, path, chunks, symbols| writer.add(file, path, chunks, symbols))?;
    transaction.finish().map_err(store_error)?;
    writer.commit(stamp)?;
    Ok(stamp)
}

/// Every file with an id above `after`, taken apart.
fn for_each_file(
    db: &Connection,
    after: i64,
    mut f: impl FnMut(i64, &str, Vec<Chunk>, &[Symbol]) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut query = db
        .prepare("SELECT id, path, language, keys, content, text FROM files JOIN bodies USING (id) WHERE id > ?1 ORDER BY id")
        .map_err(store_error)?;
    let mut rows = query.query([after]).map_err(store_error)?;
    while let Some(row) = rows.next().map_err(store_error)? {
        let id: i64 = row.get(0).map_err(store_error)?;
        let path: String = row.get(1).map_err(store_error)?;
        let language: String = row.get(2).map_err(store_error)?;
        let blob = |at: usize| row.get::<_, Vec<u8>>(at).map_err(store_error);
        let keys = row::unpack_keys(&blob(3)?)?;
        let (chunks, symbols) = row::unpack(&path, &language, &keys, &blob(4)?, &blob(5)?)?;
        f(id, &path, chunks, &symbols)?;
    }
    Ok(())
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexed_by = |tokenizer| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_index_option(IndexRecordOption::WithFreqs);
        TextOptions::default().set_indexing_options(indexing)
    };
    let text = indexed_by(tokens::NAME);
    let fields = Fields {
        symbol: builder.add_text_field("symbol", text.clone()),
        path: builder.add_text_field("path", text.clone()),
        content: builder.add_text_field("content", text),
        stem: builder.add_text_field("stem", indexed_by(tokens::STEMS)),
        file: builder.add_u64_field("file", INDEXED),
        place: builder.add_u64_field("place", NumericOptions::default().set_fast()),
    };
    (builder.build(), fields)
}

const CHUNK_BITS: u32 = 20;

fn join_place(file: i64, at: usize) -> u64 {
    file.unsigned_abs() << CHUNK_BITS | (at as u64 & ((1 << CHUNK_BITS) - 1))
}

pub(super) fn split_place(place: u64) -> (i64, usize) {
    let file = i64::try_from(place >> CHUNK_BITS).unwrap_or(i64::MAX);
    (file, (place & ((1 << CHUNK_BITS) - 1)) as usize)
}

pub(super) fn lexical_error(error: tantivy::TantivyError) -> StoreError {
    StoreError::Unavailable(format!("word index: {error}"))
}
