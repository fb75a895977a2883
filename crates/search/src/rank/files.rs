//! Which files a text is about: several scores, each divided by its best, summed.
//!
//! The recipe and what each score is worth are in docs/search-quality.md.

use std::collections::HashMap;

use super::bm25::{self, Asked};
use super::category::{self, Category};
use crate::query::weigh::WeighedQuery;
use crate::store::{StoreError, WordCounts};

/// What a file is that is seldom meant.
const DEMOTED: f32 = 0.5;
/// A file's score in the chunk views is the mean of so many of its best chunks.
const BEST_CHUNKS: usize = 3;
/// Others of the folder that speak for a file.
const NEIGHBOURS: usize = 3;

/// A file with its score and its best chunks, by number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankedFile {
    pub(super) score: f32,
    pub(super) file: u32,
    /// The best first, with what each is worth beside the first.
    pub(super) chunks: Vec<(u32, f32)>,
}

/// The best files for a query, best first; ties by path. `near` is what vectors say of each, or nothing.
pub(super) fn ranked(
    counts: &dyn WordCounts,
    query: &WeighedQuery,
    takes_part: &[bool],
    near: &[f32],
    limit: usize,
) -> Result<Vec<RankedFile>, StoreError> {
    let table = counts.table();
    let asked = Asked { words: &query.words, title: &query.title, opening: &query.opening };
    let scores = bm25::scores(counts, takes_part, &asked)?;
    let best = best_chunks(counts, &scores.chunks);
    let by_chunk = means(&best);
    let by_title = means(&best_chunks(counts, &scores.title_chunks));
    let mut total = vec![0.0_f32; table.paths.len()];
    let mentioned = mentioned(&query.paths, &table.paths, takes_part);
    for list in [&by_chunk, &scores.files, &by_title, &scores.paths, &mentioned, &scores.names] {
        add_normalised(&mut total, list);
    }
    for (score, near) in total.iter_mut().zip(near) {
        *score += near;
    }
    for (score, path) in total.iter_mut().zip(&table.paths) {
        *score *= standing(path);
    }
    let neighbours = neighbours(&total, &table.paths);
    add_normalised(&mut total, &neighbours);
    let mut order: Vec<u32> = (0u32..).take(total.len()).collect();
    order.retain(|file| total[*file as usize] > 0.0 && !best[*file as usize].is_empty());
    order.sort_by(|left, right| {
        let key = |file: &u32| (total[*file as usize], &table.paths[*file as usize]);
        let (left, right) = (key(left), key(right));
        right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1))
    });
    order.truncate(limit);
    let ranked = order.into_iter().map(|file| {
        let chunks = &best[file as usize];
        let top = chunks.first().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
        let chunks = chunks.iter().map(|(chunk, score)| (*chunk, score / top)).collect();
        RankedFile { score: total[file as usize], file, chunks }
    });
    Ok(ranked.collect())
}

/// The best chunks of each file, best first.
fn best_chunks(counts: &dyn WordCounts, scores: &[f32]) -> Vec<Vec<(u32, f32)>> {
    let table = counts.table();
    let mut best: Vec<Vec<(u32, f32)>> = vec![Vec::new(); table.paths.len()];
    for ((number, chunk), score) in (0u32..).zip(&table.chunks).zip(scores) {
        let Some(file) = chunk.file.filter(|_| *score > 0.0) else { continue };
        let list = &mut best[file as usize];
        let place = list.partition_point(|(_, known)| known >= score);
        if place < BEST_CHUNKS {
            list.insert(place, (number, *score));
            list.truncate(BEST_CHUNKS);
        }
    }
    best
}

fn means(best: &[Vec<(u32, f32)>]) -> Vec<f32> {
    best.iter()
        .map(|list| list.iter().map(|(_, score)| score).sum::<f32>() / list.len().max(1) as f32)
        .collect()
}

fn add_normalised(total: &mut [f32], scores: &[f32]) {
    let best = scores.iter().copied().fold(0.0_f32, f32::max);
    if best > 0.0 {
        for (total, score) in total.iter_mut().zip(scores) {
            *total += score / best;
        }
    }
}

/// Files that the text names: those that share the longest end with a mentioned path, the first mentioned best.
fn mentioned(paths: &[String], files: &[String], takes_part: &[bool]) -> Vec<f32> {
    let mut scores = vec![0.0_f32; files.len()];
    let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, path) in files.iter().enumerate().filter(|(at, _)| takes_part[*at]) {
        by_name.entry(path.rsplit('/').next().unwrap_or(path)).or_default().push(at);
    }
    let mut order = 0.0;
    for path in paths {
        let Some(same_name) = by_name.get(path.rsplit('/').next().unwrap_or(path)) else { continue };
        let shared = |file: &usize| {
            let (left, right) = (path.rsplit('/'), files[*file].rsplit('/'));
            left.zip(right).take_while(|(left, right)| left == right).count()
        };
        let longest = same_name.iter().map(shared).max().unwrap_or(0);
        order += 1.0;
        for file in same_name.iter().filter(|file| shared(file) == longest) {
            scores[*file] = scores[*file].max(1.0 / order);
        }
    }
    scores
}

/// What a file is worth before anything is asked.
fn standing(path: &str) -> f32 {
    let lower = path.to_ascii_lowercase();
    let seldom = [
        "example",
        "examples",
        "demo",
        "demos",
        "sample",
        "samples",
        "scripts",
        "bench",
        "benches",
        "benchmark",
        "benchmarks",
        "fixtures",
        "vendor",
        "third_party",
        "playground",
    ];
    let in_folder = lower
        .rsplit_once('/')
        .is_some_and(|(folders, _)| folders.split('/').any(|folder| seldom.contains(&folder)));
    let generated = category::of(path) == Category::Generated || lower.ends_with(".d.ts");
    if in_folder || generated || !category::is_source(&lower) { DEMOTED } else { 1.0 }
}

/// The mean of the best others of the folder.
fn neighbours(total: &[f32], paths: &[String]) -> Vec<f32> {
    let folder = |path: &str| path.rsplit_once('/').map_or(0, |(folder, _)| folder.len());
    let mut best: HashMap<&str, Vec<f32>> = HashMap::new();
    for (path, score) in paths.iter().zip(total).filter(|(_, score)| **score > 0.0) {
        let list = best.entry(&path[..folder(path)]).or_default();
        let place = list.partition_point(|known| known >= score);
        if place <= NEIGHBOURS {
            list.insert(place, *score);
            list.truncate(NEIGHBOURS + 1);
        }
    }
    let of = |(path, score): (&String, &f32)| {
        let Some(list) = best.get(&path[..folder(path)]).filter(|_| *score > 0.0) else { return 0.0 };
        // Without itself, if it is among them.
        let own = list.iter().position(|known| known == score);
        let others: Vec<f32> = list
            .iter()
            .enumerate()
            .filter(|(at, _)| Some(*at) != own)
            .map(|(_, score)| *score)
            .take(NEIGHBOURS)
            .collect();
        others.iter().sum::<f32>() / NEIGHBOURS as f32
    };
    paths.iter().zip(total).map(of).collect()
}
