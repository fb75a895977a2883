//! Words counted in the tantivy index, by the numbers of one snapshot.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, SegmentReader, Term};

use super::lexical::{Fields, lexical_error, split_place};
use super::memory::{Memory, short};
use crate::store::{ChunkWords, EachBlock, LexicalField, StoreError, WordCounts, WordTable};

/// The numbers of a snapshot. Those of the next one are the same, but for the segments of the index that came or went and
/// the chunks that were deleted.
#[derive(Default, Clone)]
pub(super) struct Numbers {
    table: WordTable,
    /// The newest id of each file.
    ids: Vec<u32>,
    /// The file's id and the chunk's place in it.
    places: Vec<(u32, u32)>,
    segments: HashMap<SegmentId, Segment>,
    /// How many numbers belong to segments that are gone.
    n_unused: u32,
}

/// What is numbered of a segment.
#[derive(Clone, Copy)]
struct Segment {
    /// The number of its first chunk.
    base: u32,
    n_chunks: u32,
    n_deleted: u32,
}

impl Segment {
    fn numbers(self) -> std::ops::Range<u32> {
        self.base..self.base + self.n_chunks
    }
}

impl Numbers {
    /// Makes these the numbers of what the index and the files are now.
    pub(super) fn follow(
        &mut self,
        searcher: &Searcher,
        fields: Fields,
        memory: &Memory,
    ) -> Result<(), StoreError> {
        // Half of it is gone: what is left is better numbered anew.
        if self.n_unused as usize * 2 > self.places.len() {
            *self = Self::default();
        }
        let readers = searcher.segment_readers();
        if self.places.is_empty() {
            let n_chunks = readers.iter().map(|reader| reader.max_doc() as usize).sum();
            self.places.reserve_exact(n_chunks);
            self.table.reserve_chunks(n_chunks);
        }
        let gone = |id: &SegmentId| !readers.iter().any(|reader| reader.segment_id() == *id);
        for id in self.segments.keys().copied().filter(gone).collect::<Vec<_>>() {
            let Some(segment) = self.segments.remove(&id) else { continue };
            self.n_unused += segment.n_chunks;
            segment.numbers().for_each(|number| self.table.remove_chunk(number));
        }
        for reader in readers {
            match self.segments.get_mut(&reader.segment_id()) {
                None => self.add(reader, fields, memory)?,
                Some(segment) if segment.n_deleted != reader.num_deleted_docs() => {
                    segment.n_deleted = reader.num_deleted_docs();
                    let base = segment.base;
                    for doc in (0..reader.max_doc()).filter(|doc| reader.is_deleted(*doc)) {
                        self.table.remove_chunk(base + doc);
                    }
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn number(&mut self, id: i64, path: &Arc<str>) -> u32 {
        let number = self.table.add_shared_file(path);
        self.ids.resize(self.table.paths.len(), u32::MAX);
        self.ids[number as usize] = short(id);
        number
    }

    fn add(&mut self, reader: &SegmentReader, fields: Fields, memory: &Memory) -> Result<(), StoreError> {
        let base = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let places = reader.fast_fields().u64("place").map_err(lexical_error)?;
        let norms = |field| reader.get_fieldnorms_reader(field).map_err(lexical_error);
        let (symbol, path) = (norms(fields.symbol)?, norms(fields.path)?);
        let (content, stem) = (norms(fields.content)?, norms(fields.stem)?);
        // The chunks of a file follow each other.
        let mut last: Option<(i64, Option<u32>)> = None;
        for doc in 0..reader.max_doc() {
            let (id, at) = split_place(places.first(doc).unwrap_or_default());
            let file = match last {
                Some((known, file)) if known == id => file,
                _ => memory.files.get(&id).map(|entry| self.number(id, &entry.path)),
            };
            last = Some((id, file));
            self.places.push((short(id), u32::try_from(at).unwrap_or(u32::MAX)));
            self.table.add_chunk(match file.filter(|_| !reader.is_deleted(doc)) {
                None => ChunkWords::default(),
                file => ChunkWords {
                    file,
                    symbol: words(symbol.fieldnorm(doc)),
                    path: words(path.fieldnorm(doc)),
                    content: words(content.fieldnorm(doc)),
                    stem: words(stem.fieldnorm(doc)),
                },
            });
        }
        let segment = Segment { base, n_chunks: reader.max_doc(), n_deleted: reader.num_deleted_docs() };
        self.segments.insert(reader.segment_id(), segment);
        Ok(())
    }
}

/// What is not farther away is mostly in the next block, which is had sooner without looking for it.
const FAR: u32 = 128;

fn words(count: u32) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

/// One snapshot that can be counted in.
pub(super) struct Counts {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) numbers: Arc<Numbers>,
    pub(super) memory: Arc<Memory>,
}

impl WordCounts for Counts {
    fn table(&self) -> &WordTable {
        &self.numbers.table
    }

    fn blocks(&self, field: LexicalField, word: &str, each: &mut EachBlock<'_>) -> Result<(), StoreError> {
        let field = self.fields.of(field);
        let term = Term::from_field_text(field, word);
        for reader in self.searcher.segment_readers() {
            let Some(segment) = self.numbers.segments.get(&reader.segment_id()) else { continue };
            let index = reader.inverted_index(field).map_err(lexical_error)?;
            let postings = index
                .read_block_postings(&term, IndexRecordOption::WithFreqs)
                .map_err(|error| StoreError::Unavailable(format!("word index: {error}")))?;
            let Some(mut postings) = postings else { continue };
            while !postings.docs().is_empty() {
                let wanted = each(segment.base, postings.docs(), postings.freqs());
                let (first, last) = (postings.docs().first().copied(), postings.docs().last().copied());
                // What is passed by is not even unpacked.
                match wanted.checked_sub(segment.base).filter(|wanted| *wanted > last.unwrap_or(0) + FAR) {
                    Some(wanted) if wanted >= segment.n_chunks => break,
                    Some(wanted) => {
                        postings.seek(wanted);
                        // There is no block behind the last, and that one stays.
                        if postings.docs().first().copied() == first {
                            break;
                        }
                    }
                    None => postings.advance(),
                }
            }
        }
        Ok(())
    }

    fn frequency(&self, field: LexicalField, word: &str) -> Result<u64, StoreError> {
        let term = Term::from_field_text(self.fields.of(field), word);
        self.searcher.doc_freq(&term).map_err(lexical_error)
    }

    fn file_ids(&self) -> &[u32] {
        &self.numbers.ids
    }

    fn chunk_id(&self, chunk: u32) -> Option<String> {
        let (file, at) = self.numbers.places.get(chunk as usize)?;
        self.memory.files.get(&i64::from(*file))?.keys.chunks.get(*at as usize)
    }
}
