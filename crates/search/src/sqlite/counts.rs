//! Words counted in the tantivy index, by the numbers of one snapshot.

use std::sync::Arc;

use tantivy::postings::Postings as _;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Searcher, TERMINATED, Term};

use super::lexical::{Fields, lexical_error, split_place};
use super::memory::Memory;
use crate::store::{ChunkWords, FileName, LexicalField, PathKind, StoreError, WordCounts, WordTable};

/// The numbers of a snapshot; made once for each.
pub(super) struct Numbers {
    table: WordTable,
    /// The file's id and the chunk's place in it.
    places: Vec<(i64, usize)>,
    /// What each segment's numbers begin with.
    bases: Vec<u32>,
}

impl Numbers {
    pub(super) fn of(searcher: &Searcher, fields: Fields, memory: &Memory) -> Result<Self, StoreError> {
        let mut numbers = Self { table: WordTable::default(), places: Vec::new(), bases: Vec::new() };
        let mut files = std::collections::HashMap::new();
        for segment in searcher.segment_readers() {
            numbers.bases.push(u32::try_from(numbers.places.len()).unwrap_or(u32::MAX));
            let places = segment.fast_fields().u64("place").map_err(lexical_error)?;
            let norms = |field| segment.get_fieldnorms_reader(field).map_err(lexical_error);
            let (symbol, path) = (norms(fields.symbol)?, norms(fields.path)?);
            let (content, stem) = (norms(fields.content)?, norms(fields.stem)?);
            for doc in 0..segment.max_doc() {
                let (id, at) = split_place(places.first(doc).unwrap_or_default());
                let entry = memory.files.get(&id).filter(|_| !segment.is_deleted(doc));
                let file = entry.map(|entry| {
                    *files.entry(id).or_insert_with(|| {
                        numbers.table.kinds.push(PathKind::of(&entry.path));
                        numbers.table.names.push(FileName::of(&entry.path));
                        numbers.table.paths.push(entry.path.clone());
                        u32::try_from(numbers.table.paths.len() - 1).unwrap_or(u32::MAX)
                    })
                });
                numbers.places.push((id, at));
                numbers.table.chunks.push(ChunkWords {
                    file,
                    symbol: symbol.fieldnorm(doc),
                    path: path.fieldnorm(doc),
                    content: content.fieldnorm(doc),
                    stem: stem.fieldnorm(doc),
                });
            }
        }
        Ok(numbers)
    }
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

    fn occurrences(
        &self,
        field: LexicalField,
        word: &str,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), StoreError> {
        let field = self.fields.of(field);
        let term = Term::from_field_text(field, word);
        for (segment, base) in self.searcher.segment_readers().iter().zip(&self.numbers.bases) {
            let index = segment.inverted_index(field).map_err(lexical_error)?;
            let postings = index
                .read_postings(&term, IndexRecordOption::WithFreqs)
                .map_err(|error| StoreError::Unavailable(format!("word index: {error}")))?;
            let Some(mut postings) = postings else { continue };
            let mut doc = postings.doc();
            while doc != TERMINATED {
                each(base + doc, postings.term_freq());
                doc = postings.advance();
            }
        }
        Ok(())
    }

    fn frequency(&self, field: LexicalField, word: &str) -> Result<u64, StoreError> {
        let term = Term::from_field_text(self.fields.of(field), word);
        self.searcher.doc_freq(&term).map_err(lexical_error)
    }

    fn chunk_id(&self, chunk: u32) -> Option<String> {
        let (file, at) = self.numbers.places.get(chunk as usize)?;
        self.memory.files.get(file)?.keys.chunks.get(*at).cloned()
    }
}
