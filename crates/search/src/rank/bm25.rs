//! BM25 over views of the same words: chunks, whole files, paths, the names that files define.

use std::collections::{HashMap, HashSet};

use super::chunk_scores::{self, Lengths, Marks, Scored, Weighed, Word};
use super::hashes::Hashes;
use super::places::{Counted, InPaths, TakesPart, Tally};
use crate::query::weigh::{WeighedQuery, Weights};
use crate::store::{FileName, LexicalField, StoreError, WordCounts, WordTable};

pub(super) const K1: f32 = 1.2;
/// A word of the path counts as often in each chunk of the file.
pub(super) const PATH_TIMES: f32 = 5.0;

/// A word that so many files have at most counts so many times.
const FEW_FILES: f32 = 3.0;
const IN_FEW: f32 = 1.5;
/// By its power of e a word in one file counts more than one in as many as the root of all, and that more than one in all.
const FOR_RARITY: f32 = 0.5;
/// What a word counts more that is in the path of some file.
const IN_PATHS: f32 = 1.15;

/// The share of what all words could say together that may be left out.
const LEFT_OUT: f32 = 0.02;

/// Files, with their scores so far.
struct View<L> {
    /// How long a file is, in words.
    length: L,
    scores: Vec<f32>,
    n_documents: f32,
    average: f32,
    b: f32,
}

impl<L: Fn(u32) -> f32> View<L> {
    /// `size` is how many files take part, and how many words they have together.
    fn of(length: L, n_numbers: usize, size: (u64, u64), b: f32) -> Self {
        let (n_documents, total) = (size.0 as f32, size.1 as f32);
        let average = (total / n_documents.max(1.0)).max(1.0);
        Self { length, scores: vec![0.0; n_numbers], n_documents, average, b }
    }

    /// Adds one word with its weight; `times` has each file once.
    fn add(&mut self, weight: f32, times: &[(u32, f32)]) {
        let weight = weight * rarity(self.n_documents, times.len() as f32);
        for (file, times) in times {
            let length = 1.0 - self.b + self.b * (self.length)(*file) / self.average;
            let least = times + K1 * length;
            self.scores[*file as usize] += weight * times * (K1 + 1.0) / least;
        }
    }
}

/// How much a word says that so many documents have.
pub(super) fn rarity(n_documents: f32, n_with: f32) -> f32 {
    (1.0 + (n_documents - n_with + 0.5) / (n_with + 0.5)).max(1.0).ln()
}

/// How much more a word counts for being in few files, beside what BM25 makes of it: learned, as docs/search-quality.md says.
/// `n_with` of `n_files` have it.
fn by_files(n_files: f32, n_with: f32) -> f32 {
    let rarity = ((n_files + 1.0) / (n_with + 1.0)).ln() / (n_files + 1.0).ln().max(f32::MIN_POSITIVE);
    let few = if n_with <= FEW_FILES { IN_FEW } else { 1.0 };
    (FOR_RARITY * (rarity - 0.5)).exp() * few
}

/// Scores by file, as numbered in the table. Those of the chunks are what the caller makes of them.
pub(super) struct Scores<C, M> {
    /// The whole query in each chunk.
    pub(super) chunks: C,
    /// The title in each chunk.
    pub(super) title_chunks: M,
    /// The whole query in each file.
    pub(super) files: Vec<f32>,
    /// The whole query in each path.
    pub(super) paths: Vec<f32>,
    /// The opening in the names that a file defines.
    pub(super) names: Vec<f32>,
    /// Stems in each chunk.
    pub(super) stem_chunks: M,
    /// Stems in each file.
    pub(super) stem_files: Vec<f32>,
}

/// The sizes of the files that take part, added up.
#[derive(Default)]
struct Sizes {
    files: u64,
    chunks: u64,
    symbol: u64,
    path: u64,
    /// The words of the path, for each chunk.
    path_in_chunks: u64,
    content: u64,
    stem: u64,
}

impl Sizes {
    fn of(table: &WordTable, takes_part: &[bool]) -> Self {
        let mut sizes = Self::default();
        for (file, _) in table.files.iter().zip(takes_part).filter(|(_, takes)| **takes) {
            sizes.files += 1;
            sizes.chunks += u64::from(file.n_chunks);
            sizes.symbol += u64::from(file.symbol);
            sizes.path += u64::from(file.path);
            sizes.path_in_chunks += u64::from(file.path) * u64::from(file.n_chunks);
            sizes.content += u64::from(file.content);
            sizes.stem += u64::from(file.stem);
        }
        sizes
    }
}

/// Counts the words in the files that take part. Words and stems are counted at the same time, and so is `best_of` them
/// found, and of the title and the stems what `mean_of` makes of that.
pub(super) fn scores<C: Send, M: Send>(
    counts: &dyn WordCounts,
    takes_part: &[bool],
    asked: &WeighedQuery,
    best_of: impl Fn(&Scored) -> C + Sync,
    mean_of: impl Fn(C) -> M + Sync,
) -> Result<Scores<C, M>, StoreError> {
    let sizes = Sizes::of(counts.table(), takes_part);
    let takes_part = &TakesPart::of(counts.table(), takes_part);
    let by_words = || {
        let found = by_words(counts, takes_part, &sizes, asked)?;
        let of_title = || mean_of(best_of(&found.title_chunks));
        let (chunks, title_chunks) = rayon::join(|| best_of(&found.chunks), of_title);
        Ok::<_, StoreError>((chunks, title_chunks, found))
    };
    let by_stems = || {
        let (chunks, files) = by_stems(counts, takes_part, &sizes, asked)?;
        Ok::<_, StoreError>((mean_of(best_of(&chunks)), files))
    };
    let (of_words, of_stems) = rayon::join(by_words, by_stems);
    let (chunks, title_chunks, ByWords { files, paths, names, .. }) = of_words?;
    let (stem_chunks, stem_files) = of_stems?;
    Ok(Scores { chunks, title_chunks, files, paths, names, stem_chunks, stem_files })
}

/// All but the stems.
struct ByWords {
    chunks: Scored,
    title_chunks: Scored,
    files: Vec<f32>,
    paths: Vec<f32>,
    names: Vec<f32>,
}

fn by_words(
    counts: &dyn WordCounts,
    takes_part: &TakesPart<'_>,
    sizes: &Sizes,
    asked: &WeighedQuery,
) -> Result<ByWords, StoreError> {
    let table = counts.table();
    let (n_files, n_chunks) = (table.paths.len(), table.chunks.len());
    let in_each = (sizes.chunks, sizes.content + PATH_TIMES as u64 * sizes.path_in_chunks);
    let lengths = Lengths::of(chunk_words(table), in_each, 0.75);
    let (mut chunks, mut title_chunks) = (Scored::new(n_chunks), Scored::new(n_chunks));
    let of_file = |file: u32| &table.files[file as usize];
    let of = |words: u64| (sizes.files, words);
    let mut files = View::of(|file| of_file(file).content as f32, n_files, of(sizes.content), 0.75);
    let mut paths = View::of(|file| of_file(file).path as f32, n_files, of(sizes.path), 0.5);
    let mut names = View::of(|file| of_file(file).symbol as f32, n_files, of(sizes.symbol), 0.6);
    let (mut in_files, mut in_names) = (Tally::new(n_files), Tally::new(n_files));
    let mut marks = Marks::default();
    let said = worth_asking(counts, LexicalField::Content, &asked.words)?;
    let n_files = sizes.files as f32;
    let words: Vec<(&str, f32)> = asked.words.iter().map(|(word, weight)| (word.as_str(), *weight)).collect();
    let read = |found: &mut Found, (word, _): (&str, f32)| {
        found.in_paths.read(counts, takes_part, word)?;
        found.in_text.clear();
        if said.contains(word) {
            let in_paths = Some(&found.in_paths);
            found.in_text.read(counts, takes_part, LexicalField::Content, word, in_paths)?;
        }
        match asked.opening.contains_key(word) {
            true => found.in_labels.read(counts, takes_part, LexicalField::Symbol, word, None),
            false => Ok(()),
        }
    };
    read_ahead(&words, read, |Found { in_text, in_paths, in_labels }: &Found, (word, weight)| {
        let in_files = in_text.by_file(Some(in_paths), &mut in_files);
        let said = said.contains(word).then_some(&in_text.kept);
        // What is not looked up is in most files.
        let found = if said.is_some() { in_files.len() as f32 } else { n_files };
        let more = match asked.is_line() {
            true => 1.0,
            false => by_files(n_files, found) * if in_paths.files.is_empty() { 1.0 } else { IN_PATHS },
        };
        let other = asked.title.get(word).map(|weight| (*weight * more, &mut title_chunks));
        let n_chunks = in_text.n_chunks + in_paths.n_chunks - in_text.n_in_paths;
        let places =
            Word { text: word, field: LexicalField::Content, said, n_chunks, in_paths: Some(in_paths) };
        let weighed = Weighed { weight: weight * more, scored: &mut chunks, other };
        chunk_scores::add(counts, takes_part, &lengths, &places, weighed, &mut marks)?;
        files.add(weight * more, in_files);
        paths.add(weight * more, &in_paths.files);
        if let Some(weight) = asked.opening.get(word) {
            names.add(*weight * more, in_labels.by_file(None, &mut in_names));
        }
        Ok(())
    })?;
    Ok(ByWords { chunks, title_chunks, files: files.scores, paths: paths.scores, names: names.scores })
}

/// Where a word was found.
#[derive(Default)]
struct Found {
    in_text: Counted,
    in_paths: InPaths,
    in_labels: Counted,
}

/// Reads words in their order and gives each to `take`. While one is taken, the next is read by whichever thread is free:
/// words have more to add up than stems, and the thread of those would be idle at the end.
fn read_ahead<W: Copy + Send + Sync, R: Default + Send + Sync>(
    words: &[W],
    read: impl Fn(&mut R, W) -> Result<(), StoreError> + Sync,
    mut take: impl FnMut(&R, W) -> Result<(), StoreError> + Send,
) -> Result<(), StoreError> {
    let (mut now, mut next) = (R::default(), R::default());
    if let Some(first) = words.first() {
        read(&mut now, *first)?;
    }
    for (at, word) in words.iter().enumerate() {
        let following = words.get(at + 1);
        let ahead = || following.map_or(Ok(()), |following| read(&mut next, *following));
        let (taken, ahead) = rayon::join(|| take(&now, *word), ahead);
        taken.and(ahead)?;
        std::mem::swap(&mut now, &mut next);
    }
    Ok(())
}

/// A chunk's words, those of its path as often as they count.
#[inline]
fn chunk_words(table: &WordTable) -> impl Fn(u32) -> u32 + '_ {
    let (content, path) = (table.chunks.content(), table.chunks.path());
    move |chunk| u32::from(content[chunk as usize]) + PATH_TIMES as u32 * u32::from(path[chunk as usize])
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
    takes_part: &TakesPart<'_>,
    sizes: &Sizes,
    asked: &WeighedQuery,
) -> Result<(Scored, Vec<f32>), StoreError> {
    let table = counts.table();
    let (of_chunks, of_files) = (table.chunks.stem(), &table.files);
    let chunk_stems = |chunk: u32| u32::from(of_chunks[chunk as usize]);
    let file_stems = |file: u32| of_files[file as usize].stem as f32;
    let lengths = Lengths::of(chunk_stems, (sizes.chunks, sizes.stem), 0.75);
    let mut chunks = Scored::new(of_chunks.len());
    let mut files = View::of(file_stems, of_files.len(), (sizes.files, sizes.stem), 0.75);
    let mut in_files = Tally::new(table.paths.len());
    let mut marks = Marks::default();
    let said = worth_asking(counts, LexicalField::Stem, &asked.stems)?;
    let stems: Vec<(&str, f32)> = asked
        .stems
        .iter()
        .filter(|(stem, _)| said.contains(stem.as_str()))
        .map(|(stem, weight)| (stem.as_str(), *weight))
        .collect();
    let read = |found: &mut Counted, (stem, _): (&str, f32)| {
        found.read(counts, takes_part, LexicalField::Stem, stem, None)
    };
    read_ahead(&stems, read, |in_text: &Counted, (stem, weight)| {
        let in_files = in_text.by_file(None, &mut in_files);
        let n_with = in_files.len() as f32;
        let weight = if asked.is_line() { weight } else { weight * by_files(sizes.files as f32, n_with) };
        let n_chunks = in_text.n_chunks;
        let places = Word {
            text: stem,
            field: LexicalField::Stem,
            said: Some(&in_text.kept),
            n_chunks,
            in_paths: None,
        };
        let weighed = Weighed { weight, scored: &mut chunks, other: None };
        chunk_scores::add(counts, takes_part, &lengths, &places, weighed, &mut marks)?;
        files.add(weight, in_files);
        Ok(())
    })?;
    Ok((chunks, files.scores))
}

/// The stems of the whole query in the name of each file.
pub(super) fn file_names(table: &WordTable, takes_part: &[bool], stems: &Weights) -> Vec<f32> {
    let mut found: HashMap<u64, Vec<(u32, f32)>> =
        stems.keys().map(|stem| (FileName::hash_of(stem), Vec::new())).collect();
    let asked = Hashes::of(found.keys().copied());
    let (mut n_files, mut n_words) = (0, 0);
    for ((number, name), takes) in (0u32..).zip(&table.names).zip(takes_part) {
        if !takes {
            continue;
        }
        n_files += 1;
        n_words += name.stems.len() as u64;
        for stem in name.stems.iter().filter(|stem| asked.may_have(**stem)) {
            let Some(files) = found.get_mut(stem) else { continue };
            match files.last_mut() {
                Some((last, times)) if *last == number => *times += 1.0,
                _ => files.push((number, 1.0)),
            }
        }
    }
    let length = |file: u32| table.names[file as usize].stems.len() as f32;
    let mut names = View::of(length, table.names.len(), (n_files, n_words), 0.5);
    for (stem, weight) in stems {
        names.add(*weight, found.get(&FileName::hash_of(stem)).map_or(&[], Vec::as_slice));
    }
    names.scores
}

#[cfg(test)]
mod tests;
