//! BM25 of every chunk, added up word by word.

use super::bm25::{K1, PATH_TIMES, rarity};
use super::places::{InPaths, Kept, RANGE, TakesPart};
use crate::store::{LexicalField, StoreError, WordCounts};

/// Longer chunks are seldom, and what their length makes of a word is found out for each.
const KNOWN_LENGTHS: u32 = 4096;

/// The scores of chunks so far. Some are of chunks that take no part.
#[derive(Clone)]
pub(super) struct Scored {
    scores: Vec<f32>,
    /// Which [`RANGE`] of chunks have any.
    ranges: Vec<bool>,
}

impl Scored {
    pub(super) fn new(n_chunks: usize) -> Self {
        let n_ranges = n_chunks.div_ceil(RANGE as usize);
        Self { scores: vec![0.0; n_chunks], ranges: vec![false; n_ranges] }
    }

    /// Adds what `of` makes of each chunk and how often it has a word.
    #[inline]
    fn add(&mut self, places: impl Iterator<Item = (u32, f32)>, of: impl Fn(u32, f32) -> f32) {
        let Self { scores, ranges } = self;
        let (scores, ranges) = (scores.as_mut_slice(), ranges.as_mut_slice());
        for (chunk, times) in places {
            scores[chunk as usize] += of(chunk, times);
            ranges[(chunk / RANGE) as usize] = true;
        }
    }

    /// Calls `each` with the chunks of each [`RANGE`] that has any: the number of the first, and their scores.
    pub(super) fn each_range(&self, mut each: impl FnMut(u32, &[f32])) {
        let ranges = (0u32..).step_by(RANGE as usize).zip(self.scores.chunks(RANGE as usize));
        for ((first, scores), _) in ranges.zip(&self.ranges).filter(|(_, has_any)| **has_any) {
            each(first, scores);
        }
    }
}

/// What a word's times in a chunk are divided by, besides themselves.
pub(super) struct Lengths<L> {
    /// How many words a chunk has.
    of_chunk: L,
    n_documents: f32,
    average: f32,
    b: f32,
    /// For each of the first lengths.
    known: Vec<f32>,
}

impl<L: Fn(u32) -> u32> Lengths<L> {
    /// `size` is how many chunks take part, and how many words they have together.
    pub(super) fn of(of_chunk: L, size: (u64, u64), b: f32) -> Self {
        let (n_documents, total) = (size.0 as f32, size.1 as f32);
        let mut lengths = Self {
            of_chunk,
            n_documents,
            average: (total / n_documents.max(1.0)).max(1.0),
            b,
            known: Vec::new(),
        };
        lengths.known = (0..KNOWN_LENGTHS).map(|length| lengths.of_length(length)).collect();
        lengths
    }

    fn of_length(&self, length: u32) -> f32 {
        K1 * (1.0 - self.b + self.b * length as f32 / self.average)
    }

    #[inline]
    fn of_chunk(&self, chunk: u32) -> f32 {
        let length = (self.of_chunk)(chunk);
        self.known.get(length as usize).copied().unwrap_or_else(|| self.of_length(length))
    }
}

/// One or two queries whose words are looked up once.
pub(super) struct Weighed<'a> {
    pub(super) weight: f32,
    pub(super) scored: &'a mut Scored,
    /// The second query has the word as well.
    pub(super) other: Option<(f32, &'a mut Scored)>,
}

/// A word with where it stands.
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) field: LexicalField,
    /// Its places in the field, where they are looked at.
    pub(super) said: Option<&'a Kept>,
    /// How many chunks have it, in their text or in their path.
    pub(super) n_chunks: u32,
    pub(super) in_paths: Option<&'a InPaths>,
}

/// Chunks that have the word in their text.
#[derive(Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    fn clear(&mut self, n_chunks: usize) {
        self.0.clear();
        self.0.resize(n_chunks.div_ceil(64), 0);
    }

    fn set(&mut self, chunk: u32) {
        self.0[chunk as usize / 64] |= 1 << (chunk % 64);
    }

    fn has(&self, chunk: u32) -> bool {
        self.0[chunk as usize / 64] & 1 << (chunk % 64) != 0
    }
}

/// Adds a word to the score of each chunk that has it.
pub(super) fn add<L: Fn(u32) -> u32 + Sync>(
    counts: &dyn WordCounts,
    takes_part: &TakesPart<'_>,
    lengths: &Lengths<L>,
    word: &Word<'_>,
    weighed: Weighed<'_>,
    marks: &mut Marks,
) -> Result<(), StoreError> {
    let rarity = rarity(lengths.n_documents, word.n_chunks as f32);
    let Weighed { weight, scored, mut other } = weighed;
    let of = |weight: f32| {
        let weight = weight * rarity;
        move |chunk: u32, times: f32| weight * times * (K1 + 1.0) / (times + lengths.of_chunk(chunk))
    };
    let in_paths = word.in_paths.filter(|in_paths| in_paths.n_chunks > 0);
    // Few words are in any path. Where a chunk has it in its text too, both count at once.
    let files = counts.table().chunks.files();
    if in_paths.is_some() {
        marks.clear(files.len());
    }
    if let Some(kept) = word.said {
        let mut each = |base: u32, chunks: &[u32], times: &[u32]| {
            let places = chunks.iter().zip(times).map(|(chunk, times)| (base + chunk, *times as f32));
            match in_paths {
                None => add_to_both(scored, &mut other, places, of, weight),
                Some(in_paths) => {
                    let with_path = |(chunk, times): (u32, f32)| {
                        (chunk, times + PATH_TIMES * in_paths.times(files[chunk as usize]))
                    };
                    chunks.iter().for_each(|chunk| marks.set(base + chunk));
                    add_to_both(scored, &mut other, places.map(with_path), of, weight);
                }
            }
        };
        if !kept.places(&mut each) {
            takes_part.places(counts, word.field, word.text, each)?;
        }
    }
    if in_paths.is_none() {
        return Ok(());
    }
    takes_part.places(counts, LexicalField::Path, word.text, |base, chunks, times| {
        let places =
            chunks.iter().zip(times).map(|(chunk, times)| (base + chunk, PATH_TIMES * *times as f32));
        let in_path_alone = places.filter(|(chunk, _)| !marks.has(*chunk));
        add_to_both(scored, &mut other, in_path_alone, of, weight);
    })
}

#[inline]
fn add_to_both<F: Fn(u32, f32) -> f32>(
    scored: &mut Scored,
    other: &mut Option<(f32, &mut Scored)>,
    places: impl Iterator<Item = (u32, f32)> + Clone,
    of: impl Fn(f32) -> F,
    weight: f32,
) {
    if let Some((weight, other)) = other {
        other.add(places.clone(), of(*weight));
    }
    scored.add(places, of(weight));
}
