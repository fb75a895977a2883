//! Every file's scores for a text, channel by channel: what weights are chosen from.

use super::candidates::Passes;
use super::channel::{Channel, ChannelWeights, N_CHANNELS};
use super::filter::Filter;
use super::{by_file, files, title};
use crate::embed::Embedder;
use crate::paths;
use crate::query::weigh::{WeighedQuery, weigh};
use crate::query::{operators, plan};
use crate::request::{SearchError, SearchRequest};
use crate::store::{Among, GenerationReader, WordCounts};

/// One file that takes part.
#[derive(Debug, Clone, PartialEq)]
pub struct StudiedFile {
    /// Below the root.
    pub path: String,
    /// What it is worth before anything is asked.
    pub standing: f32,
    /// Its score in each channel; that of the neighbours follows from the others and is 0 here.
    pub channels: [f32; N_CHANNELS],
}

/// The files in the order that they would have without each channel, at most `limit`.
pub fn rankings_without(
    reader: &dyn GenerationReader,
    request: &SearchRequest,
    channels: &[Channel],
    limit: usize,
) -> Result<Vec<Vec<String>>, SearchError> {
    let (counts, query, scored) = scores(reader, request)?;
    let weights = ChannelWeights::of_query(&query, request.ask);
    let in_words = plan::plan(&operators::parse(&request.query).text).in_words;
    let weights = if in_words { weights.in_words() } else { weights };
    let path = |file: &files::RankedFile| counts.table().paths[file.file as usize].to_string();
    let without = |channel: &Channel| {
        let weights = weights.with(*channel, 0.0);
        files::ranked(&*counts, &scored, &weights, limit).iter().map(path).collect()
    };
    Ok(channels.iter().map(without).collect())
}

fn scores(
    reader: &dyn GenerationReader,
    request: &SearchRequest,
) -> Result<(Box<dyn WordCounts>, WeighedQuery, files::Scored), SearchError> {
    let parsed = operators::parse(&request.query);
    let (filter, _) = Filter::new(request, &parsed.operators);
    let query = weigh(&title(&request.query), &parsed.text);
    let counts = reader.words()?;
    let table = counts.table();
    let takes_part = filter.takes_part(table);
    let scored = files::scored(&*counts, &query, &takes_part, Vec::new(), request.history.as_deref())?;
    Ok((counts, query, scored))
}

/// The files that have any score, and whether the text is a short question in words.
pub fn study(
    reader: &dyn GenerationReader,
    embedder: &dyn Embedder,
    request: &SearchRequest,
) -> Result<(Vec<StudiedFile>, bool), SearchError> {
    let parsed = operators::parse(&request.query);
    let (filter, _) = Filter::new(request, &parsed.operators);
    let plan = plan::plan(&parsed.text);
    let allows = |path: &str| filter.allows_path(path, paths::category(path));
    let near =
        by_file::near(reader, &Passes::prepare(embedder, &plan, &parsed.text), &Among::paths(&allows))?;
    let (counts, _, scored) = scores(reader, request)?;
    let paths = &counts.table().paths;
    let score = |at: usize, channel: Channel| match channel {
        Channel::Near => near.get(&*paths[at]).and_then(|found| found.first()).map_or(0.0, |(_, near)| *near),
        _ => scored.channels[channel as usize].get(at).copied().unwrap_or_default(),
    };
    let studied = paths.iter().enumerate().map(|(at, path)| StudiedFile {
        path: path.to_string(),
        standing: counts.table().kinds[at].standing,
        channels: Channel::ALL.map(|channel| score(at, channel)),
    });
    let studied = studied.filter(|file| file.channels.iter().any(|score| *score > 0.0)).collect();
    Ok((studied, plan.in_words))
}
