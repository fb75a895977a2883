//! BM25 over views of the same words: chunks, whole files, paths, the names that files define.

use crate::query::weigh::Weights;
use crate::store::{LexicalField, StoreError, WordCounts};

const K1: f32 = 1.2;
/// A word of the path counts as often in each chunk of the file.
const PATH_TIMES: f32 = 5.0;

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
        let rarity = (1.0 + (self.n_documents - n_with + 0.5) / (n_with + 0.5)).max(1.0).ln();
        for (document, times) in times {
            let at = *document as usize;
            let length = 1.0 - self.b + self.b * self.lengths[at] / self.average;
            self.scores[at] += weight * rarity * times * (K1 + 1.0) / (times + K1 * length);
        }
    }
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
}

/// Which query a word belongs to, with its weight there.
pub(super) struct Asked<'a> {
    pub(super) words: &'a Weights,
    pub(super) title: &'a Weights,
    pub(super) opening: &'a Weights,
}

/// Counts the words in the files that take part.
pub(super) fn scores(
    counts: &dyn WordCounts,
    takes_part: &[bool],
    asked: &Asked<'_>,
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
    for (word, weight) in asked.words {
        counts.occurrences(LexicalField::Content, word, &mut |chunk, times| {
            if let Some(file) = file_of(chunk) {
                in_chunks.add(chunk, times as f32);
                in_files.add(file, times as f32);
            }
        })?;
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
    Ok(Scores {
        chunks: chunks.scores,
        title_chunks: title_chunks.scores,
        files: files.scores,
        paths: paths.scores,
        names: names.scores,
    })
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
