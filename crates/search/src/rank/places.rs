//! Where a word stands: how often in each file, and in how many chunks.
//!
//! A word's places are looked at twice, to be counted and then to be added up. Those of words that most chunks have are read
//! twice for it and never kept, since they would take more memory than all else of a search.

use std::hint::select_unpredictable;

use super::bm25::PATH_TIMES;
use crate::store::{Chunks, LexicalField, StoreError, WordCounts, WordTable};

/// How many chunks that follow each other are told of at once.
pub(super) const RANGE: u32 = 128;

/// Which files take part, so that it can be told of many chunks at once: tests lie in folders of their own as a rule, and
/// are often most of a repository.
pub(super) struct TakesPart<'a> {
    files: &'a [bool],
    /// For each [`RANGE`] of chunks: the next, from these on, of which some take part.
    next: Vec<u32>,
}

impl<'a> TakesPart<'a> {
    pub(super) fn of(table: &WordTable, files: &'a [bool]) -> Self {
        let n_ranges = table.chunks.len().div_ceil(RANGE as usize);
        let mut next = vec![u32::MAX; n_ranges];
        let takes_part = |file: u32| files.get(file as usize).copied().unwrap_or(false);
        for (chunks, _) in table.chunks.runs().filter(|(_, file)| takes_part(*file)) {
            for range in chunks.start / RANGE..chunks.end.div_ceil(RANGE) {
                next[range as usize] = range;
            }
        }
        let mut following = u32::MAX;
        for next in next.iter_mut().rev() {
            following = following.min(*next);
            *next = following;
        }
        Self { files, next }
    }

    fn file(&self, file: u32) -> bool {
        self.files.get(file as usize).copied().unwrap_or(false)
    }

    /// The first chunk, from this one on, that may take part; there may be none.
    fn from(&self, chunk: u32) -> u32 {
        let range = chunk / RANGE;
        match self.next.get(range as usize) {
            Some(next) if *next == range => chunk,
            Some(next) => next.saturating_mul(RANGE),
            None => u32::MAX,
        }
    }

    /// Calls `each` with a word's places, those left out that can be passed by at once. Some that are given do not take
    /// part.
    pub(super) fn places(
        &self,
        counts: &dyn WordCounts,
        field: LexicalField,
        word: &str,
        mut each: impl FnMut(u32, &[u32], &[u32]),
    ) -> Result<(), StoreError> {
        counts.blocks(field, word, &mut |base, chunks, times| {
            let (Some(first), Some(last)) = (chunks.first(), chunks.last()) else { return 0 };
            if self.from(base + first) <= base + last {
                each(base, chunks, times);
            }
            self.from(base + last + 1)
        })
    }
}

/// So many places of a word are kept between the two looks at them.
const KEPT: usize = 1 << 16;

/// Places as they were read, as long as they are few.
#[derive(Default)]
pub(super) struct Kept {
    /// What is added to the numbers of so many chunks.
    bases: Vec<(u32, usize)>,
    chunks: Vec<u32>,
    times: Vec<u32>,
    are_too_many: bool,
}

impl Kept {
    fn clear(&mut self) {
        self.bases.clear();
        self.chunks.clear();
        self.times.clear();
        self.are_too_many = false;
    }

    fn add(&mut self, base: u32, chunks: &[u32], times: &[u32]) {
        self.are_too_many |= self.chunks.len() + chunks.len() > KEPT;
        if !self.are_too_many {
            self.bases.push((base, chunks.len()));
            self.chunks.extend_from_slice(chunks);
            self.times.extend_from_slice(times);
        }
    }

    /// Calls `each` with all of them; false when they have to be read again.
    pub(super) fn places(&self, mut each: impl FnMut(u32, &[u32], &[u32])) -> bool {
        let mut left = (self.chunks.as_slice(), self.times.as_slice());
        for (base, n_chunks) in self.bases.iter().filter(|_| !self.are_too_many) {
            let (chunks, times) = (left.0.split_at(*n_chunks), left.1.split_at(*n_chunks));
            each(*base, chunks.0, times.0);
            left = (chunks.1, times.1);
        }
        !self.are_too_many
    }
}

/// A word in the files that take part.
#[derive(Default)]
pub(super) struct Counted {
    /// How many chunks have it.
    pub(super) n_chunks: u32,
    /// How often each file has it. A file whose chunks do not follow each other comes several times.
    files: Vec<(u32, f32)>,
    /// Some file is not higher than the one before it.
    are_mixed: bool,
    /// How many of the chunks are in files whose paths have it too.
    pub(super) n_in_paths: u32,
    pub(super) kept: Kept,
}

impl Counted {
    pub(super) fn clear(&mut self) {
        self.n_chunks = 0;
        self.n_in_paths = 0;
        self.are_mixed = false;
        self.files.clear();
        self.kept.clear();
    }

    /// Counts a word in a field.
    pub(super) fn read(
        &mut self,
        counts: &dyn WordCounts,
        takes_part: &TakesPart<'_>,
        field: LexicalField,
        word: &str,
        in_paths: Option<&InPaths>,
    ) -> Result<(), StoreError> {
        self.clear();
        let files = counts.table().chunks.files();
        let mut last = Run::default();
        let mut runs = [last; 2 * BLOCK];
        takes_part.places(counts, field, word, |base, chunks, times| {
            self.kept.add(base, chunks, times);
            // At which chunk another file begins cannot be foreseen, and to guess wrong costs more than all else here: so
            // nothing is decided. Each place of `runs` is written until the next one is.
            for (chunks, times) in chunks.chunks(BLOCK).zip(times.chunks(BLOCK)) {
                let (mut at, mut now) = (0, last);
                runs[0] = last;
                for (chunk, times) in chunks.iter().zip(times) {
                    let file = files.get((base + chunk) as usize).copied().unwrap_or(Chunks::NO_FILE);
                    let is_same = file == now.file;
                    at = select_unpredictable(is_same, at, at + 1);
                    let n_chunks = select_unpredictable(is_same, now.n_chunks, 0) + 1;
                    let sum = select_unpredictable(is_same, now.sum, 0) + times;
                    now = Run { file, n_chunks, sum };
                    // Not more than there are places.
                    runs[at & (2 * BLOCK - 1)] = now;
                }
                runs[..at].iter().for_each(|run| self.done(*run, takes_part, in_paths));
                last = now;
            }
        })?;
        self.done(last, takes_part, in_paths);
        Ok(())
    }

    fn done(&mut self, run: Run, takes_part: &TakesPart<'_>, in_paths: Option<&InPaths>) {
        // A chunk that is gone has a file that is none.
        if !takes_part.file(run.file) {
            return;
        }
        self.are_mixed |= self.files.last().is_some_and(|(last, _)| *last >= run.file);
        // Counts are whole numbers: their sums are exact.
        self.files.push((run.file, run.sum as f32));
        self.n_chunks += run.n_chunks;
        let is_in_path = in_paths.is_some_and(|paths| paths.times(run.file) > 0.0);
        self.n_in_paths += if is_in_path { run.n_chunks } else { 0 };
    }

    /// How often each file has the word, once each; `tally` is room for that, and what its path says is added.
    pub(super) fn by_file<'a>(
        &'a self,
        in_paths: Option<&InPaths>,
        tally: &'a mut Tally,
    ) -> &'a [(u32, f32)] {
        let of_paths = in_paths.map(|paths| paths.files.as_slice()).unwrap_or_default();
        if !self.are_mixed && of_paths.is_empty() {
            return &self.files;
        }
        tally.clear();
        self.files.iter().for_each(|(file, times)| tally.add(*file, *times));
        // A word stands as often in the path of each chunk of a file.
        of_paths.iter().for_each(|(file, times)| tally.add(*file, PATH_TIMES * times));
        &tally.found
    }
}

/// How many places are looked at in one go: as many as a block of the word index has.
const BLOCK: usize = 128;

/// Chunks of one file that follow each other.
#[derive(Clone, Copy)]
struct Run {
    file: u32,
    n_chunks: u32,
    /// How often they have the word.
    sum: u32,
}

impl Default for Run {
    fn default() -> Self {
        Self { file: Chunks::NO_FILE, n_chunks: 0, sum: 0 }
    }
}

/// A word in the paths of the files that take part.
#[derive(Default)]
pub(super) struct InPaths {
    /// How often by file.
    times: Vec<f32>,
    /// The files whose paths have it, each once.
    pub(super) files: Vec<(u32, f32)>,
    /// How many chunks they have.
    pub(super) n_chunks: u32,
}

impl InPaths {
    /// Counts a word; each chunk of a file has the same path.
    pub(super) fn read(
        &mut self,
        counts: &dyn WordCounts,
        takes_part: &TakesPart<'_>,
        word: &str,
    ) -> Result<(), StoreError> {
        self.times.resize(counts.table().paths.len(), 0.0);
        self.files.drain(..).for_each(|(file, _)| self.times[file as usize] = 0.0);
        self.n_chunks = 0;
        let files = counts.table().chunks.files();
        takes_part.places(counts, LexicalField::Path, word, |base, chunks, times| {
            for (chunk, times) in chunks.iter().zip(times) {
                let file = files.get((base + chunk) as usize).copied().unwrap_or(Chunks::NO_FILE);
                if !takes_part.file(file) {
                    continue;
                }
                self.n_chunks += 1;
                let known = &mut self.times[file as usize];
                if *known == 0.0 {
                    *known = *times as f32;
                    self.files.push((file, *known));
                }
            }
        })
    }

    /// How often the word stands in the path of a file that takes part.
    #[inline]
    pub(super) fn times(&self, file: u32) -> f32 {
        self.times.get(file as usize).copied().unwrap_or(0.0)
    }
}

/// How often a word stands in each file.
pub(super) struct Tally {
    /// Where a file stands in `found`, from 1.
    places: Vec<u32>,
    found: Vec<(u32, f32)>,
}

impl Tally {
    pub(super) fn new(n_files: usize) -> Self {
        Self { places: vec![0; n_files], found: Vec::new() }
    }

    fn add(&mut self, file: u32, times: f32) {
        let place = &mut self.places[file as usize];
        if *place == 0 {
            self.found.push((file, 0.0));
            *place = u32::try_from(self.found.len()).unwrap_or(u32::MAX);
        }
        self.found[*place as usize - 1].1 += times;
    }

    fn clear(&mut self) {
        for (file, _) in self.found.drain(..) {
            self.places[file as usize] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::ChunkWords;

    #[test]
    fn chunks_are_passed_by_up_to_the_next_that_may_take_part() {
        let mut table = WordTable::default();
        for at in 0..3000_u32 {
            let file = table.add_file(&format!("{}.rs", at / 10));
            table.add_chunk(ChunkWords { file: Some(file), ..ChunkWords::default() });
        }
        for takes_part in
            [|_| true, |_| false, |at: usize| at == 120, |at: usize| (50..=51).contains(&at) || at >= 299]
        {
            let files: Vec<bool> = (0..300).map(takes_part).collect();
            let chosen = TakesPart::of(&table, &files);
            for chunk in 0..3100 {
                let next = (chunk..3000).find(|chunk| files[*chunk as usize / 10]).unwrap_or(u32::MAX);
                let from = chosen.from(chunk);
                assert!((chunk..=next).contains(&from), "{chunk}: {from} of {next}");
                let mut beside = (from / RANGE * RANGE..3000).take(RANGE as usize);
                let has_any = beside.any(|chunk| files[chunk as usize / 10]);
                assert!(from == u32::MAX || has_any, "{chunk}: {from} is given in vain");
            }
        }
    }

    #[test]
    fn what_is_kept_is_given_as_it_was_read_unless_it_is_too_much() {
        let mut kept = Kept::default();
        kept.add(100, &[1, 2], &[7, 8]);
        kept.add(500, &[0], &[9]);
        let mut given = Vec::new();
        assert!(kept.places(|base, chunks, times| given.push((base, chunks.to_vec(), times.to_vec()))));
        assert_eq!(given, [(100, vec![1, 2], vec![7, 8]), (500, vec![0], vec![9])]);
        kept.add(600, &vec![3; KEPT - 2], &vec![1; KEPT - 2]);
        assert!(!kept.places(|_, _, _| panic!("they are read again")));
        kept.clear();
        assert!(kept.places(|_, _, _| panic!("there are none")));
    }
}
