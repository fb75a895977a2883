//! Where a word stands: in which chunks, and how often in each file.

use super::bm25::PATH_TIMES;
use crate::store::{Chunks, LexicalField, StoreError, WordCounts, WordTable};

/// The chunks that have a word in one field, each once, with how often, and their files.
#[derive(Default)]
pub(super) struct Places {
    pub(super) chunks: Vec<(u32, f32)>,
    files: Vec<Run>,
    /// Some number is smaller than the one before it.
    mixed: bool,
}

/// Which files take part, so that it can be told of many at once: tests lie in folders of their own as a rule, and are
/// often most of a repository.
pub(super) struct TakesPart<'a> {
    files: &'a [bool],
    /// How many with a lower number do, for each and for one more.
    before: Vec<u32>,
}

impl<'a> TakesPart<'a> {
    pub(super) fn of(files: &'a [bool]) -> Self {
        let mut sum = 0;
        let counted = files.iter().map(|takes_part| {
            sum += u32::from(*takes_part);
            sum
        });
        Self { files, before: std::iter::once(0).chain(counted).collect() }
    }

    /// True when none of these chunks is of a file that takes part; `chunks` are in order, as a segment has them.
    fn none_of(&self, table: &WordTable, base: u32, chunks: &[u32]) -> bool {
        let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { return true };
        let Some((lowest, highest)) = table.chunks.files_between(base + first, base + last) else {
            return false;
        };
        let before = |file: usize| self.before.get(file).copied();
        lowest > highest || before(lowest as usize) == before(highest as usize + 1)
    }
}

/// Chunks of one file that follow each other.
struct Run {
    file: u32,
    /// How often they have the word.
    sum: f32,
    /// How often the last of them has it.
    last: f32,
}

impl Places {
    pub(super) fn clear(&mut self) {
        self.chunks.clear();
        self.files.clear();
        self.mixed = false;
    }

    /// Reads a word's places in the files that take part, in one pass: words that most chunks have are most of a search.
    pub(super) fn read(
        &mut self,
        counts: &dyn WordCounts,
        takes_part: &TakesPart<'_>,
        field: LexicalField,
        word: &str,
    ) -> Result<(), StoreError> {
        self.clear();
        let table = counts.table();
        let files = table.chunks.files();
        let mut before = 0;
        let mut run = Run { file: Chunks::NO_FILE, sum: 0.0, last: 0.0 };
        let Self { chunks: found, files: runs, mixed } = self;
        counts.blocks(field, word, &mut |base, chunks, times| {
            if takes_part.none_of(table, base, chunks) {
                return;
            }
            found.reserve(chunks.len());
            for (chunk, times) in chunks.iter().zip(times) {
                let chunk = base + chunk;
                let file = files.get(chunk as usize).copied().unwrap_or(Chunks::NO_FILE);
                // A chunk that is gone has a file that is none.
                if !takes_part.files.get(file as usize).copied().unwrap_or(false) {
                    continue;
                }
                let times = *times as f32;
                *mixed |= chunk < before;
                before = chunk;
                found.push((chunk, times));
                if run.file == file {
                    run.sum += times;
                    run.last = times;
                } else {
                    let done = std::mem::replace(&mut run, Run { file, sum: times, last: times });
                    if done.file != Chunks::NO_FILE {
                        runs.push(done);
                    }
                }
            }
        })?;
        if run.file != Chunks::NO_FILE {
            runs.push(run);
        }
        Ok(())
    }

    /// Files with how often the word stands in chunks of each that follow each other; a file comes once for each such run.
    /// Counts are whole numbers: their sums are exact in whatever order.
    pub(super) fn by_file(&self, mut each: impl FnMut(u32, f32)) {
        self.files.iter().for_each(|run| each(run.file, run.sum));
    }

    /// The same, with how often it stands in one of the chunks: what is in a path is in each of them as often.
    pub(super) fn in_a_chunk(&self, mut each: impl FnMut(u32, f32)) {
        self.files.iter().for_each(|run| each(run.file, run.last));
    }

    /// Each chunk's words and those of its path together, for which `together` is room.
    pub(super) fn with_path<'a>(
        &'a self,
        path: &Self,
        together: &'a mut Vec<(u32, f32)>,
    ) -> &'a [(u32, f32)] {
        // Few words are in any path.
        if path.chunks.is_empty() && !self.mixed {
            return &self.chunks;
        }
        together.clear();
        let of_path = path.chunks.iter().map(|(chunk, times)| (*chunk, PATH_TIMES * times));
        if self.mixed || path.mixed {
            together.extend(of_path);
            together.extend_from_slice(&self.chunks);
            together.sort_unstable_by_key(|(chunk, _)| *chunk);
            together.dedup_by(|(chunk, times), (kept, sum)| {
                let is_same = chunk == kept;
                if is_same {
                    *sum += *times;
                }
                is_same
            });
            return together;
        }
        let mut text = self.chunks.as_slice();
        for (chunk, times) in of_path {
            let n_before = text.iter().take_while(|(other, _)| *other < chunk).count();
            together.extend_from_slice(&text[..n_before]);
            text = &text[n_before..];
            match text.split_first() {
                Some(((other, more), rest)) if *other == chunk => {
                    together.push((chunk, times + more));
                    text = rest;
                }
                _ => together.push((chunk, times)),
            }
        }
        together.extend_from_slice(text);
        together
    }
}

/// How often a word stands in each document that has it.
pub(super) struct Tally {
    /// Where a document stands in `found`, from 1.
    places: Vec<u32>,
    found: Vec<(u32, f32)>,
}

impl Tally {
    pub(super) fn new(n_documents: usize) -> Self {
        Self { places: vec![0; n_documents], found: Vec::new() }
    }

    fn slot(&mut self, document: u32) -> &mut f32 {
        let place = &mut self.places[document as usize];
        if *place == 0 {
            self.found.push((document, 0.0));
            *place = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        }
        &mut self.found[*place as usize - 1].1
    }

    pub(super) fn add(&mut self, document: u32, times: f32) {
        *self.slot(document) += times;
    }

    pub(super) fn set(&mut self, document: u32, times: f32) {
        *self.slot(document) = times;
    }

    pub(super) fn all(&self) -> &[(u32, f32)] {
        &self.found
    }

    pub(super) fn clear(&mut self) {
        for (document, _) in self.found.drain(..) {
            self.places[document as usize] = 0;
        }
    }
}
