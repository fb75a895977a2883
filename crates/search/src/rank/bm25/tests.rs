//! The scores are those of the plain way, to the last bit: every document of every word looked up by itself.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::store::{ChunkWords, EachBlock};

const WORDS: [&str; 4] = ["cookie", "render", "session", "token"];

/// One chunk's counts of each word: in its text, in its labels.
type Made = (u8, [u8; 4], [u8; 4]);

/// Chunks that were made up, in segments whose numbers need not be in order.
struct Counted {
    table: WordTable,
    chunks: Vec<Made>,
    segments: Vec<std::ops::Range<u32>>,
}

fn in_path(file: u8, word: usize) -> u32 {
    u32::from(file as usize % 5 == word)
}

impl Counted {
    fn of(chunks: Vec<Made>, n_segments: usize, turned: bool, gone: &BTreeSet<u32>) -> Self {
        let mut table = WordTable::default();
        for (file, text, labels) in &chunks {
            let sum = |counts: &[u8]| counts.iter().map(|count| u16::from(*count)).sum();
            let file = table.add_file(&format!("src/folder{}/file{file}.py", file % 3));
            let (content, symbol) = (sum(text), sum(labels));
            table.add_chunk(ChunkWords { file: Some(file), symbol, path: 3, content, stem: content });
        }
        gone.iter().for_each(|chunk| table.remove_chunk(*chunk));
        let n_chunks = u32::try_from(chunks.len()).unwrap();
        let part = n_chunks.div_ceil(u32::try_from(n_segments).unwrap()).max(1);
        let mut segments: Vec<_> =
            (0..n_chunks).step_by(part as usize).map(|at| at..(at + part).min(n_chunks)).collect();
        if turned {
            segments.reverse();
        }
        Self { table, chunks, segments }
    }

    fn times(&self, field: LexicalField, word: usize, chunk: u32) -> u32 {
        let (file, text, labels) = &self.chunks[chunk as usize];
        match field {
            LexicalField::Content | LexicalField::Stem => text[word].into(),
            LexicalField::Symbol => labels[word].into(),
            LexicalField::Path => in_path(*file, word),
        }
    }
}

impl WordCounts for Counted {
    fn table(&self) -> &WordTable {
        &self.table
    }

    fn blocks(&self, field: LexicalField, word: &str, each: &mut EachBlock<'_>) -> Result<(), StoreError> {
        let Some(word) = WORDS.iter().position(|known| *known == word) else { return Ok(()) };
        for segment in &self.segments {
            let has = segment.clone().filter(|chunk| self.times(field, word, *chunk) > 0);
            let (chunks, times): (Vec<u32>, Vec<u32>) =
                has.map(|chunk| (chunk - segment.start, self.times(field, word, chunk))).unzip();
            let mut wanted = 0;
            for (chunks, times) in chunks.chunks(3).zip(times.chunks(3)) {
                if chunks.iter().any(|chunk| segment.start + chunk >= wanted) {
                    wanted = each(segment.start, chunks, times);
                }
            }
        }
        Ok(())
    }

    fn frequency(&self, field: LexicalField, word: &str) -> Result<u64, StoreError> {
        let mut n_chunks = 0;
        self.occurrences(field, word, &mut |_, _| n_chunks += 1)?;
        Ok(n_chunks)
    }

    fn chunk_id(&self, _: u32) -> Option<String> {
        None
    }
}

/// How often a word stands in each document that takes part.
type Times = BTreeMap<u32, f32>;

fn of_field(counts: &Counted, takes_part: &[bool], field: LexicalField, word: &str) -> (Times, Times) {
    let (mut chunks, mut files) = (Times::new(), Times::new());
    let add = &mut |chunk: u32, times: u32| {
        let Some(file) = counts.table.chunks.file(chunk) else { return };
        if takes_part[file as usize] {
            chunks.insert(chunk, times as f32);
            *files.entry(file).or_default() += times as f32;
        }
    };
    counts.occurrences(field, word, add).unwrap();
    (chunks, files)
}

/// Adds one word to the scores of documents of this length.
fn add(
    scores: &mut [f32],
    weight: f32,
    times: &Times,
    size: (u64, u64),
    b: f32,
    length: impl Fn(u32) -> f32,
) {
    let average = (size.1 as f32 / (size.0 as f32).max(1.0)).max(1.0);
    let rarity = rarity(size.0 as f32, times.len() as f32);
    for (document, times) in times {
        let length = 1.0 - b + b * length(*document) / average;
        scores[*document as usize] += weight * rarity * times * (K1 + 1.0) / (times + K1 * length);
    }
}

/// The plain way: all scores in the order of `Scores`.
fn plain(counts: &Counted, takes_part: &[bool], asked: &WeighedQuery) -> [Vec<f32>; 7] {
    let table = &counts.table;
    let sizes = Sizes::of(table, takes_part);
    let (n_files, n_chunks) = (table.paths.len(), table.chunks.len());
    let [mut chunks, mut title, mut stems] = std::array::from_fn(|_| vec![0.0; n_chunks]);
    let [mut files, mut paths, mut names, mut stem_files] = std::array::from_fn(|_| vec![0.0; n_files]);
    let in_each = (sizes.chunks, sizes.content + 5 * sizes.path_in_chunks);
    let words_of = chunk_words(table);
    let said = worth_asking(counts, LexicalField::Content, &asked.words).unwrap();
    for (word, weight) in &asked.words {
        let (mut in_chunks, mut in_files) = of_field(counts, takes_part, LexicalField::Content, word);
        if !said.contains(word.as_str()) {
            (in_chunks, in_files) = Default::default();
        }
        let (path_chunks, _) = of_field(counts, takes_part, LexicalField::Path, word);
        let mut in_paths = Times::new();
        for (chunk, times) in path_chunks {
            *in_chunks.entry(chunk).or_default() += PATH_TIMES * times;
            in_paths.insert(table.chunks.file(chunk).unwrap(), times);
        }
        for (file, times) in &in_paths {
            *in_files.entry(*file).or_default() += PATH_TIMES * times;
        }
        let n_with = if said.contains(word.as_str()) { in_files.len() as u64 } else { sizes.files };
        let of_paths = if in_paths.is_empty() { 1.0 } else { IN_PATHS };
        let more = if asked.is_line() { 1.0 } else { by_files(sizes.files as f32, n_with as f32) * of_paths };
        let weight = *weight * more;
        add(&mut chunks, weight, &in_chunks, in_each, 0.75, |chunk| words_of(chunk) as f32);
        if let Some(weight) = asked.title.get(word) {
            add(&mut title, *weight * more, &in_chunks, in_each, 0.75, |chunk| words_of(chunk) as f32);
        }
        let size = |words| (sizes.files, words);
        let file = |file: u32| table.files[file as usize];
        add(&mut files, weight, &in_files, size(sizes.content), 0.75, |at| file(at).content as f32);
        add(&mut paths, weight, &in_paths, size(sizes.path), 0.5, |at| file(at).path as f32);
        if let Some(weight) = asked.opening.get(word) {
            let (_, in_names) = of_field(counts, takes_part, LexicalField::Symbol, word);
            add(&mut names, *weight * more, &in_names, size(sizes.symbol), 0.6, |at| file(at).symbol as f32);
        }
    }
    let said = worth_asking(counts, LexicalField::Stem, &asked.stems).unwrap();
    for (stem, weight) in asked.stems.iter().filter(|(stem, _)| said.contains(stem.as_str())) {
        let (in_chunks, in_files) = of_field(counts, takes_part, LexicalField::Stem, stem);
        let more = by_files(sizes.files as f32, in_files.len() as f32);
        let weight = if asked.is_line() { *weight } else { *weight * more };
        let stems_of = |chunk: u32| table.chunks.stem()[chunk as usize] as f32;
        add(&mut stems, weight, &in_chunks, (sizes.chunks, sizes.stem), 0.75, stems_of);
        let stems_of = |file: u32| table.files[file as usize].stem as f32;
        add(&mut stem_files, weight, &in_files, (sizes.files, sizes.stem), 0.75, stems_of);
    }
    [chunks, title, files, paths, names, stems, stem_files]
}

fn weights(of: &[f32]) -> Weights {
    WORDS
        .iter()
        .zip(of)
        .filter(|(_, weight)| **weight > 0.0)
        .map(|(word, weight)| ((*word).into(), *weight))
        .collect()
}

#[test]
fn a_word_counts_more_the_fewer_files_have_it_and_most_in_three_or_less() {
    let counted = |n_with: f32| by_files(500.0, n_with);
    assert!(counted(1.0) > counted(3.0) && counted(10.0) > counted(100.0) && counted(100.0) > counted(500.0));
    assert!(counted(3.0) / counted(4.0) > 1.4, "few files say more than their number");
    assert!((0.7..0.8).contains(&counted(500.0)), "what every file has still counts: {}", counted(500.0));
    for (n_files, n_with) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)] {
        assert!(
            (0.5..3.0).contains(&by_files(n_files, n_with)),
            "one file or none: {}",
            by_files(n_files, n_with)
        );
    }
}

/// The scores of the chunks that take part; others may have some too, which nobody looks at.
fn of_those(scored: &Scored, table: &WordTable, takes_part: &[bool]) -> Vec<f32> {
    let mut all = vec![0.0; table.chunks.len()];
    scored.each_range(|first, scores| {
        for (chunk, score) in (first..).zip(scores) {
            if table.chunks.file(chunk).is_some_and(|file| takes_part[file as usize]) {
                all[chunk as usize] = *score;
            }
        }
    });
    all
}

proptest! {
    #[test]
    fn any_chunks_have_the_scores_of_the_plain_way(
        mut made in vec((0..7u8, any::<[bool; 4]>(), any::<[u8; 4]>(), any::<[bool; 4]>()), 1..40),
        apart in any::<bool>(), turned in any::<bool>(), n_segments in 1..5usize,
        gone in proptest::collection::btree_set(0..40u32, 0..6),
        takes_part in vec(any::<bool>(), 7), asked in vec(0.0..3.0f32, 4), title in vec(0.0..3.0f32, 4),
        n_tokens in prop_oneof![Just(5usize), Just(50)],
    ) {
        // The chunks of a file follow each other, as a build puts them, or do not.
        if !apart {
            made.sort_by_key(|(file, ..)| *file);
        }
        let counts = |has: [bool; 4], times: [u8; 4]| {
            std::array::from_fn(|word| if has[word] { 1 + times[word] % 9 } else { 0 })
        };
        let chunks = made.into_iter().map(|(file, has, times, labels)| (file, counts(has, times), counts(labels, times)));
        let counted = Counted::of(chunks.collect(), n_segments, turned, &gone);
        let query = WeighedQuery {
            words: weights(&asked), title: weights(&title), opening: weights(&title), stems: weights(&asked),
            n_tokens, ..WeighedQuery::default()
        };
        let of_those = |scored: &Scored| of_those(scored, &counted.table, &takes_part);
        let scores = scores(&counted, &takes_part, &query, of_those, |chunks| chunks).unwrap();
        let Scores { chunks, title_chunks, files, paths, names, stem_chunks, stem_files } = scores;
        let all = [chunks, title_chunks, files, paths, names, stem_chunks, stem_files];
        prop_assert_eq!(all, plain(&counted, &takes_part, &query));
    }
}
