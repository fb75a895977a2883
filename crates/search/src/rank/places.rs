//! Where a word stands: in which chunks, and how often in each file.

use super::bm25::PATH_TIMES;
use crate::store::{LexicalField, StoreError, WordCounts};

/// The chunks that have a word in one field, each once, with how often, and their files.
#[derive(Default)]
pub(super) struct Places {
    pub(super) chunks: Vec<(u32, f32)>,
    files: Vec<u32>,
    /// Some number is smaller than the one before it.
    mixed: bool,
}

impl Places {
    pub(super) fn clear(&mut self) {
        self.chunks.clear();
        self.files.clear();
        self.mixed = false;
    }

    /// Reads a word's places in the files that take part.
    pub(super) fn read(
        &mut self,
        counts: &dyn WordCounts,
        takes_part: &[bool],
        field: LexicalField,
        word: &str,
    ) -> Result<(), StoreError> {
        self.clear();
        let table = counts.table();
        let mut last = 0;
        counts.blocks(field, word, &mut |base, chunks, times| {
            for (chunk, times) in chunks.iter().zip(times) {
                let chunk = base + chunk;
                let Some(file) = table.chunks.get(chunk as usize).and_then(|chunk| chunk.file) else {
                    continue;
                };
                if takes_part[file as usize] {
                    self.mixed |= chunk < last;
                    last = chunk;
                    self.chunks.push((chunk, *times as f32));
                    self.files.push(file);
                }
            }
        })
    }

    /// Every chunk's file with how often the word stands in the chunk.
    pub(super) fn each(&self, mut each: impl FnMut(u32, f32)) {
        self.files.iter().zip(&self.chunks).for_each(|(file, (_, times))| each(*file, *times));
    }

    /// The same, chunks of one file that follow each other added up. Counts are whole numbers: their sums are exact in
    /// whatever order.
    pub(super) fn by_file(&self, mut each: impl FnMut(u32, f32)) {
        let (mut last, mut sum) = (None, 0.0);
        self.each(|file, times| {
            if last != Some(file) {
                if let Some(last) = last.replace(file) {
                    each(last, sum);
                }
                sum = 0.0;
            }
            sum += times;
        });
        if let Some(last) = last {
            each(last, sum);
        }
    }

    /// Each chunk's words and those of its path together.
    pub(super) fn with_path(&self, path: &Self, together: &mut Vec<(u32, f32)>) {
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
            return;
        }
        let mut text = self.chunks.iter().copied().peekable();
        for (chunk, times) in of_path {
            while let Some(before) = text.next_if(|(other, _)| *other < chunk) {
                together.push(before);
            }
            let more = text.next_if(|(other, _)| *other == chunk).map_or(0.0, |(_, times)| times);
            together.push((chunk, times + more));
        }
        together.extend(text);
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
