//! BM25 over views of the same words: chunks, whole files, paths, the names that files define.

use std::collections::{HashMap, HashSet};

use crate::query::weigh::{WeighedQuery, Weights};
use crate::store::{FileName, LexicalField, StoreError, WordCounts, WordTable};

const K1: f32 = 1.2;
/// A word of the path counts as often in each chunk of the file.
const PATH_TIMES: f32 = 5.0;

/// The share of what all words could say together that may be left out.
const LEFT_OUT: f32 = 0.02;

/// Documents of one kind, with their scores so far.
struct View {
    lengths: Vec<f32>,
    scores: Vec<f32>,
    n_documents: f32,
    average: f32,
    b: f32,
}

impl View {
    /// `lengths` has a document for each number; one that does not take part is negative.
    fn new(lengths: Vec<f32>, b: f32) -> Self {
        let n_documents = lengths.iter().filter(|length| **length >= 0.0).count() as f32;
        let total: f32 = lengths.iter().filter(|length| **length >= 0.0).sum();
        let scores = vec![0.0; lengths.len()];
        Self { lengths, scores, n_documents, average: (total / n_documents.max(1.0)).max(1.0), b }
    }

    /// Adds one word with its weight; `times` has each document once.
    fn add(&mut self, weight: f32, times: &[(u32, f32)]) {
        let n_with = times.len() as f32;
        let rarity = rarity(self.n_documents, n_with);
        for (document, times) in times {
            let at = *document as usize;
            let length = 1.0 - self.b + self.b * self.lengths[at] / self.average;
            self.scores[at] += weight * rarity * times * (K1 + 1.0) / (times + K1 * length);
        }
    }
}

/// How much a word says that so many documents have.
fn rarity(n_documents: f32, n_with: f32) -> f32 {
    (1.0 + (n_documents - n_with + 0.5) / (n_with + 0.5)).max(1.0).ln()
}

/// Scores by chunk or by file, as numbered in the table.
pub(super) struct Scores {
    /// The whole query in each chunk.
    pub(super) chunks: Vec<f32>,
    /// The title in each chunk.
    pub(super) title_chunks: Vec<f32>,
    /// The whole query in each file.
    pub(super) files: Vec<f32>,
    /// The whole query in each path.
    pub(super) paths: Vec<f32>,
    /// The opening in the names that a file defines.
    pub(super) names: Vec<f32>,
    /// Stems in each chunk.
    pub(super) stem_chunks: Vec<f32>,
    /// Stems in each file.
    pub(super) stem_files: Vec<f32>,
}

/// Counts the words in the files that take part.
pub(super) fn scores(
    counts: &dyn WordCounts,
    takes_part: &[bool],
    asked: &WeighedQuery,
) -> Result<Scores, StoreError> {
    let table = counts.table();
    let file_of = |chunk: u32| {
        table
            .chunks
            .get(chunk as usize)
            .and_then(|chunk| chunk.file)
            .filter(|file| takes_part[*file as usize])
    };
    let n_files = table.paths.len();
    let mut chunk_lengths = vec![-1.0; table.chunks.len()];
    let mut file_lengths: Vec<f32> = takes_part.iter().map(|takes| if *takes { 0.0 } else { -1.0 }).collect();
    let (mut path_lengths, mut name_lengths) = (file_lengths.clone(), file_lengths.clone());
    for (chunk, length) in table.chunks.iter().zip(&mut chunk_lengths) {
        let Some(file) = chunk.file.filter(|file| takes_part[*file as usize]) else { continue };
        let file = file as usize;
        *length = chunk.content as f32 + PATH_TIMES * chunk.path as f32;
        file_lengths[file] += chunk.content as f32;
        path_lengths[file] = chunk.path as f32;
        name_lengths[file] += chunk.symbol as f32;
    }
    let mut chunks = View::new(chunk_lengths.clone(), 0.75);
    let mut title_chunks = View::new(chunk_lengths, 0.75);
    let mut files = View::new(file_lengths, 0.75);
    let mut paths = View::new(path_lengths, 0.5);
    let mut names = View::new(name_lengths, 0.6);
    let mut in_chunks = Tally::new(table.chunks.len());
    let (mut in_files, mut in_paths, mut in_names) =
        (Tally::new(n_files), Tally::new(n_files), Tally::new(n_files));
    let said = worth_asking(counts, LexicalField::Content, &asked.words)?;
    for (word, weight) in &asked.words {
        if said.contains(word.as_str()) {
            counts.occurrences(LexicalField::Content, word, &mut |chunk, times| {
                if let Some(file) = file_of(chunk) {
                    in_chunks.add(chunk, times as f32);
                    in_files.add(file, times as f32);
                }
            })?;
        }
        counts.occurrences(LexicalField::Path, word, &mut |chunk, times| {
            if let Some(file) = file_of(chunk) {
                in_chunks.add(chunk, PATH_TIMES * times as f32);
                in_paths.set(file, times as f32);
            }
        })?;
        for (file, times) in in_paths.all() {
            in_files.add(*file, PATH_TIMES * times);
        }
        chunks.add(*weight, in_chunks.all());
        files.add(*weight, in_files.all());
        paths.add(*weight, in_paths.all());
        if let Some(weight) = asked.title.get(word) {
            title_chunks.add(*weight, in_chunks.all());
        }
        if let Some(weight) = asked.opening.get(word) {
            counts.occurrences(LexicalField::Symbol, word, &mut |chunk, times| {
                if let Some(file) = file_of(chunk) {
                    in_names.add(file, times as f32);
                }
            })?;
            names.add(*weight, in_names.all());
        }
        for tally in [&mut in_chunks, &mut in_files, &mut in_paths, &mut in_names] {
            tally.clear();
        }
    }
    let (stem_chunks, stem_files) = by_stems(counts, takes_part, asked)?;
    Ok(Scores {
        chunks: chunks.scores,
        title_chunks: title_chunks.scores,
        files: files.scores,
        paths: paths.scores,
        names: names.scores,
        stem_chunks,
        stem_files,
    })
}

/// The words that together say nearly all there is to say. The others are in most chunks: reading where would cost most
/// of a search.
fn worth_asking<'a>(
    counts: &dyn WordCounts,
    field: LexicalField,
    words: &'a Weights,
) -> Result<HashSet<&'a str>, StoreError> {
    let n_chunks = counts.table().chunks.len() as f32;
    let mut most: Vec<(f32, &str)> = Vec::with_capacity(words.len());
    for (word, weight) in words {
        let n_with = counts.frequency(field, word)? as f32;
        if n_with > 0.0 {
            most.push((weight * rarity(n_chunks, n_with), word));
        }
    }
    let mut left = most.iter().map(|(most, _)| most).sum::<f32>() * LEFT_OUT;
    most.sort_by(|left, right| left.0.total_cmp(&right.0).then_with(|| left.1.cmp(right.1)));
    let is_said = |(most, _): &(f32, &str)| {
        left -= most;
        left < 0.0
    };
    Ok(most.into_iter().filter(is_said).map(|(_, word)| word).collect())
}

/// The stems of the whole query in each chunk and in each file.
fn by_stems(
    counts: &dyn WordCounts,
    takes_part: &[bool],
    asked: &WeighedQuery,
) -> Result<(Vec<f32>, Vec<f32>), StoreError> {
    let table = counts.table();
    let takes_part = |file: &u32| takes_part[*file as usize];
    let mut chunk_lengths = vec![-1.0; table.chunks.len()];
    let mut file_lengths = vec![-1.0_f32; table.paths.len()];
    for (chunk, length) in table.chunks.iter().zip(&mut chunk_lengths) {
        let Some(file) = chunk.file.filter(takes_part) else { continue };
        *length = chunk.stem as f32;
        let file = &mut file_lengths[file as usize];
        *file = file.max(0.0) + chunk.stem as f32;
    }
    let (mut chunks, mut files) = (View::new(chunk_lengths, 0.75), View::new(file_lengths, 0.75));
    let (mut in_chunks, mut in_files) = (Tally::new(table.chunks.len()), Tally::new(table.paths.len()));
    let said = worth_asking(counts, LexicalField::Stem, &asked.stems)?;
    for (stem, weight) in asked.stems.iter().filter(|(stem, _)| said.contains(stem.as_str())) {
        counts.occurrences(LexicalField::Stem, stem, &mut |chunk, times| {
            let file = table.chunks.get(chunk as usize).and_then(|chunk| chunk.file).filter(takes_part);
            if let Some(file) = file {
                in_chunks.add(chunk, times as f32);
                in_files.add(file, times as f32);
            }
        })?;
        chunks.add(*weight, in_chunks.all());
        files.add(*weight, in_files.all());
        in_chunks.clear();
        in_files.clear();
    }
    Ok((chunks.scores, files.scores))
}

/// The stems of the whole query in the name of each file.
pub(super) fn file_names(table: &WordTable, takes_part: &[bool], stems: &Weights) -> Vec<f32> {
    let mut found: HashMap<u64, Vec<(u32, f32)>> =
        stems.keys().map(|stem| (FileName::hash_of(stem), Vec::new())).collect();
    let mut lengths = vec![-1.0; table.names.len()];
    for ((number, name), takes) in (0u32..).zip(&table.names).zip(takes_part) {
        if !takes {
            continue;
        }
        lengths[number as usize] = name.stems.len() as f32;
        for stem in &name.stems {
            let Some(files) = found.get_mut(stem) else { continue };
            match files.last_mut() {
                Some((last, times)) if *last == number => *times += 1.0,
                _ => files.push((number, 1.0)),
            }
        }
    }
    let mut names = View::new(lengths, 0.5);
    for (stem, weight) in stems {
        names.add(*weight, found.get(&FileName::hash_of(stem)).map_or(&[], Vec::as_slice));
    }
    names.scores
}

/// How often a word stands in each document that has it.
struct Tally {
    /// Where a document stands in `found`, from 1.
    places: Vec<u32>,
    found: Vec<(u32, f32)>,
}

impl Tally {
    fn new(n_documents: usize) -> Self {
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

    fn add(&mut self, document: u32, times: f32) {
        *self.slot(document) += times;
    }

    fn set(&mut self, document: u32, times: f32) {
        *self.slot(document) = times;
    }

    fn all(&self) -> &[(u32, f32)] {
        &self.found
    }

    fn clear(&mut self) {
        for (document, _) in self.found.drain(..) {
            self.places[document as usize] = 0;
        }
    }
}
