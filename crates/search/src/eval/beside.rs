//! What ours is measured beside: plain BM25, per file and per chunk, every word the same.

use std::collections::BTreeMap;

use crate::query::words::for_each_term;
use crate::store::{LexicalField, StoreError, WordCounts};

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// What is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plain {
    /// A file as one text.
    Files,
    /// Chunks; a file is as good as its best.
    Chunks,
}

/// The files by plain BM25 over the text's words, best first.
pub fn plain_ranking(
    counts: &dyn WordCounts,
    query: &str,
    takes_part: impl Fn(&str) -> bool,
    plain: Plain,
    limit: usize,
) -> Result<Vec<String>, StoreError> {
    let table = counts.table();
    let takes_part: Vec<bool> = table.paths.iter().map(|path| takes_part(path)).collect();
    let document_of = |chunk: u32| {
        let file = table.chunks.file(chunk).filter(|file| takes_part[*file as usize])?;
        Some(if plain == Plain::Files { file } else { chunk })
    };
    let mut lengths: BTreeMap<u32, f32> = BTreeMap::new();
    for (number, content) in (0u32..).zip(table.chunks.content()) {
        if let Some(document) = document_of(number) {
            *lengths.entry(document).or_default() += *content as f32;
        }
    }
    let n_documents = lengths.len() as f32;
    let average = (lengths.values().sum::<f32>() / n_documents.max(1.0)).max(1.0);
    let mut asked: BTreeMap<String, f32> = BTreeMap::new();
    for_each_term(query, |word| *asked.entry(word.to_owned()).or_default() += 1.0);
    let mut asked: Vec<(String, f32)> = asked.into_iter().collect();
    asked.sort_by(|left, right| left.0.cmp(&right.0));
    let mut scores: BTreeMap<u32, f32> = BTreeMap::new();
    for (word, weight) in asked {
        let mut times: BTreeMap<u32, f32> = BTreeMap::new();
        counts.occurrences(LexicalField::Content, &word, &mut |chunk, count| {
            if let Some(document) = document_of(chunk) {
                *times.entry(document).or_default() += count as f32;
            }
        })?;
        let n_with = times.len() as f32;
        let rarity = (1.0 + (n_documents - n_with + 0.5) / (n_with + 0.5)).ln();
        for (document, times) in times {
            let length = 1.0 - B + B * lengths.get(&document).copied().unwrap_or(average) / average;
            *scores.entry(document).or_default() +=
                weight * rarity * times * (K1 + 1.0) / (times + K1 * length);
        }
    }
    let mut best: BTreeMap<&str, f32> = BTreeMap::new();
    for (document, score) in scores {
        let file = match plain {
            Plain::Files => Some(document),
            Plain::Chunks => table.chunks.file(document),
        };
        if let Some(path) = file.and_then(|file| table.paths.get(file as usize)) {
            let known = best.entry(&**path).or_default();
            *known = known.max(score);
        }
    }
    let mut order: Vec<(&str, f32)> = best.into_iter().collect();
    order.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(right.0)));
    Ok(order.into_iter().take(limit).map(|(path, _)| path.to_owned()).collect())
}
