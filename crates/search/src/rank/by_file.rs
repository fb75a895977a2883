//! Candidates for a text: the best chunks of the files that it is about.

use std::collections::HashMap;

use super::candidates::{Candidate, Passes};
use super::channel::ChannelWeights;
use super::files;
use super::filter::Filter;
use crate::history::HistoryWords;
use crate::query::weigh::WeighedQuery;
use crate::request::SearchError;
use crate::store::GenerationReader;

/// What another chunk of a file is worth beside its best: an answer shows more files before more of one.
const OTHER_CHUNKS: f64 = 0.5;

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
    let paths = &counts.table().paths;
    let kinds = &counts.table().kinds;
    let takes_part: Vec<bool> =
        paths.iter().zip(kinds).map(|(path, kind)| filter.allows_path(path, kind.category)).collect();
    let near = near(reader, passes, limit, paths)?;
    let scored = files::scored(&*counts, query, &takes_part, near, history)?;
    let ranked = files::ranked(&*counts, &scored, weights, limit);
    let mut worth: HashMap<String, (f64, usize)> = HashMap::new();
    let mut ids = Vec::new();
    for (place, file) in ranked.iter().enumerate() {
        for (at, (chunk, beside)) in file.chunks.iter().enumerate() {
            let Some(id) = counts.chunk_id(*chunk) else { continue };
            let share = if at == 0 { 1.0 } else { OTHER_CHUNKS * f64::from(*beside) };
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

/// How near each file's nearest chunk is, where vectors say more than the words themselves.
fn near(
    reader: &dyn GenerationReader,
    passes: &Passes,
    limit: usize,
    paths: &[String],
) -> Result<Vec<f32>, SearchError> {
    let found = passes.nearest(reader, limit)?;
    let mut by_path: HashMap<String, f32> = HashMap::new();
    let ids: Vec<String> = found.iter().map(|scored| scored.chunk_id.clone()).collect();
    let scores: HashMap<&str, f32> =
        found.iter().map(|scored| (scored.chunk_id.as_str(), scored.score)).collect();
    for stored in reader.chunks(&ids)? {
        let score = scores.get(stored.chunk.id.as_str()).copied().unwrap_or_default();
        let best = by_path.entry(stored.chunk.rel_path).or_default();
        *best = best.max(score);
    }
    Ok(paths.iter().map(|path| by_path.get(path).copied().unwrap_or_default()).collect())
}
