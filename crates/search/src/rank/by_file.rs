//! Candidates for a text: the best chunks of the files that it is about.

use std::collections::HashMap;

use super::candidates::{Candidate, Passes};
use super::channel::{Channel, ChannelWeights};
use super::files;
use super::filter::Filter;
use crate::history::HistoryWords;
use crate::paths;
use crate::query::weigh::WeighedQuery;
use crate::request::SearchError;
use crate::store::{Among, GenerationReader};

/// What another chunk of a file is worth beside its best: an answer shows more files before more of one.
const OTHER_CHUNKS: f64 = 0.5;
/// Chunks that vectors find before their likeness says nothing any more.
const NEAREST: usize = 200;

/// The best chunks of up to `limit` files. Files that the filter leaves out by their paths take no part at all, so that
/// what is common there does not count as common.
pub(super) fn candidates(
    reader: &dyn GenerationReader,
    query: &WeighedQuery,
    weights: &ChannelWeights,
    passes: &Passes,
    filter: &Filter,
    history: Option<&HistoryWords>,
    limit: usize,
) -> Result<Vec<Candidate>, SearchError> {
    let counts = reader.words()?;
    let table = counts.table();
    let all = &table.paths;
    let takes_part = filter.takes_part(table);
    // What the table knows of a path need not be found out again for each chunk.
    let allows = |path: &str| match table.number(path) {
        Some(file) => takes_part[file as usize],
        None => filter.allows_path(path, paths::category(path)),
    };
    let near = near(reader, passes, &Among::of_table(&*counts, &takes_part, &allows))?;
    let mut nearness = vec![0.0; all.len()];
    near.iter().for_each(|(path, found)| {
        if let (Some(file), Some((_, nearest))) = (table.number(path), found.first()) {
            nearness[file as usize] = *nearest;
        }
    });
    let scored = files::scored(&*counts, query, &takes_part, nearness, history)?;
    let weights = weights.with(Channel::Near, passes.near_weight);
    let ranked = files::ranked(&*counts, &scored, &weights, limit);
    let mut worth: HashMap<String, (f64, usize)> = HashMap::new();
    let mut ids = Vec::new();
    for (place, file) in ranked.iter().enumerate() {
        let words =
            file.chunks.iter().filter_map(|(chunk, beside)| Some((counts.chunk_id(*chunk)?, *beside)));
        let near = near.get(&*all[file.file as usize]).map(Vec::as_slice).unwrap_or_default();
        for (at, (id, beside)) in best_of_both(words.collect(), near).into_iter().enumerate() {
            let share = if at == 0 { 1.0 } else { OTHER_CHUNKS * f64::from(beside) };
            worth.insert(id.clone(), (f64::from(file.score) * share, place + 1));
            ids.push(id);
        }
    }
    let candidates = reader.chunks(&ids)?.into_iter().filter_map(|stored| {
        let (score, place) = worth.remove(&stored.chunk.id)?;
        Some(Candidate { score, ranks: vec![("files", place)], ..Candidate::of(stored) })
    });
    Ok(candidates.collect())
}

/// A file's chunks by what words and what vectors say of them, the best first, with what each is worth beside it.
fn best_of_both(mut chunks: Vec<(String, f32)>, near: &[(String, f32)]) -> Vec<(String, f32)> {
    let most = chunks.len().max(1);
    for (id, nearness) in near {
        match chunks.iter_mut().find(|(known, _)| known == id) {
            Some((_, worth)) => *worth += nearness,
            None => chunks.push((id.clone(), *nearness)),
        }
    }
    chunks.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    chunks.truncate(most);
    let best = chunks.first().map_or(1.0, |(_, worth)| worth.max(f32::MIN_POSITIVE));
    chunks.into_iter().map(|(id, worth)| (id, worth / best)).collect()
}

/// The nearest chunks by file, the nearest first: one for the nearest of all, nothing for the last that is looked at.
pub(super) fn near(
    reader: &dyn GenerationReader,
    passes: &Passes,
    among: &Among<'_>,
) -> Result<HashMap<String, Vec<(String, f32)>>, SearchError> {
    let found = passes.nearest(reader, NEAREST, among)?;
    let best = found.first().map_or(0.0, |(scored, _)| scored.score);
    // A folder with fewer chunks has no such last one: what has nothing in common counts nothing.
    let least = found.get(NEAREST - 1).map_or(0.0, |(scored, _)| scored.score.max(0.0));
    let mut by_path: HashMap<String, Vec<(String, f32)>> = HashMap::new();
    for (scored, path) in found {
        let nearness = (scored.score - least) / (best - least).max(f32::EPSILON);
        if nearness > 0.0 {
            by_path.entry(path).or_default().push((scored.chunk_id, nearness));
        }
    }
    Ok(by_path)
}
