//! Which files a text is about: several scores, each divided by its best, summed.
//!
//! The recipe and what each score is worth are in docs/search-quality.md.

use super::channel::{Channel, ChannelWeights, N_CHANNELS};
use super::{bm25, chunk_scores, mentioned, past};
use crate::history::HistoryWords;
use crate::pool;
use crate::query::weigh::WeighedQuery;
use crate::store::{FileWords, PathKind, StoreError, WordCounts, WordTable};

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

/// What is known of every file for one query.
pub(super) struct Scored {
    /// Of each channel but the neighbours the files' scores, the best 1.
    pub(super) channels: [Vec<f32>; N_CHANNELS],
    /// The best chunks of each file.
    best: Vec<Best>,
}

/// Scores every file. `near` is what vectors say of each, or nothing.
pub(super) fn scored(
    counts: &dyn WordCounts,
    query: &WeighedQuery,
    takes_part: &[bool],
    near: Vec<f32>,
    history: Option<&HistoryWords>,
) -> Result<Scored, StoreError> {
    let table = counts.table();
    let by_name = || {
        let mentioned = mentioned::by_path(&query.paths, table, takes_part);
        let modules = mentioned::by_module(&query.modules, table, takes_part);
        (bm25::file_names(table, takes_part, &query.stems), mentioned, modules)
    };
    let by_words = || {
        bm25::scores(
            counts,
            takes_part,
            query,
            |chunks| best_chunks(table, takes_part, chunks),
            |best| means(&best),
        )
    };
    let (of_words, (file_names, mentioned, modules)) = pool::install(|| rayon::join(by_words, by_name));
    let scores = of_words?;
    let mut channels: [Vec<f32>; N_CHANNELS] = std::array::from_fn(|_| Vec::new());
    let mut set = |channel: Channel, scores: Vec<f32>| {
        channels[channel as usize] = beside_the_best(scores, &table.kinds);
    };
    set(Channel::Chunks, means(&scores.chunks));
    set(Channel::Definitions, definitions(table, &scores.files));
    set(Channel::Files, scores.files);
    set(Channel::Title, scores.title_chunks);
    set(Channel::Paths, scores.paths);
    set(Channel::FileNames, file_names);
    set(Channel::Mentioned, mentioned);
    set(Channel::Modules, modules);
    set(Channel::Names, scores.names);
    set(Channel::StemChunks, scores.stem_chunks);
    set(Channel::StemFiles, scores.stem_files);
    if let Some(history) = history.filter(|history| !history.is_empty()) {
        set(Channel::Commits, past::of_files(&history.by_commit(&query.words), table, takes_part));
        set(Channel::Messages, past::of_files(&history.by_file(&query.title), table, takes_part));
    }
    channels[Channel::Near as usize] = near;
    Ok(Scored { channels, best: scores.chunks })
}

/// How much each file defines that has any word of the query: of two that fit alike the one that more is done in is
/// changed more often.
fn definitions(table: &WordTable, found: &[f32]) -> Vec<f32> {
    let of =
        |(words, found): (&FileWords, &f32)| if *found > 0.0 { (words.symbol as f32).ln_1p() } else { 0.0 };
    table.files.iter().zip(found).map(of).collect()
}

/// The best files, best first; ties by path.
pub(super) fn ranked(
    counts: &dyn WordCounts,
    scored: &Scored,
    weights: &ChannelWeights,
    limit: usize,
) -> Vec<RankedFile> {
    let table = counts.table();
    let best = &scored.best;
    let mut total = vec![0.0_f32; table.paths.len()];
    for channel in Channel::ALL {
        let weight = weights.of(channel);
        for (total, score) in total.iter_mut().zip(&scored.channels[channel as usize]) {
            *total += weight * weights.counted(*score);
        }
    }
    for (score, kind) in total.iter_mut().zip(&table.kinds) {
        *score *= weights.standing(kind.standing);
    }
    let weight = weights.of(Channel::Neighbours);
    if weight > 0.0 {
        let neighbours = normalised(neighbours(&total, table));
        for (total, score) in total.iter_mut().zip(neighbours) {
            *total += weight * score;
        }
    }
    let mut order: Vec<u32> = (0u32..).take(total.len()).collect();
    // A file that only vectors know has no best chunk by words.
    let near = |file: u32| {
        scored.channels[Channel::Near as usize].get(file as usize).is_some_and(|near| *near > 0.0)
    };
    order.retain(|file| total[*file as usize] > 0.0 && (!best[*file as usize].is_empty() || near(*file)));
    let by_score = |left: &u32, right: &u32| {
        let key = |file: &u32| (total[*file as usize], &table.paths[*file as usize]);
        let (left, right) = (key(left), key(right));
        right.0.total_cmp(&left.0).then_with(|| left.1.cmp(right.1))
    };
    // Only those that are shown have to be in order.
    if limit < order.len() {
        order.select_nth_unstable_by(limit, by_score);
        order.truncate(limit);
    }
    order.sort_by(by_score);
    let ranked = order.into_iter().map(|file| {
        let best = best[file as usize];
        let top = best.chunks().next().map_or(1.0, |(_, score)| score.max(f32::MIN_POSITIVE));
        let chunks = best.chunks().map(|(chunk, score)| (chunk, score / top)).collect();
        RankedFile { score: total[file as usize], file, chunks }
    });
    ranked.collect()
}

/// The best chunks of one file, best first: each with its score in the upper half of a number, and in the lower one its own,
/// turned round, so that of equal ones that with the lower number goes first. Scores are above nothing, and such numbers
/// have the order of their bits.
#[derive(Debug, Clone, Copy, Default)]
struct Best([u64; BEST_CHUNKS]);

impl Best {
    fn chunks(&self) -> impl Iterator<Item = (u32, f32)> {
        let halves = |both: u64| ((both >> 32) as u32, both as u32);
        self.0.into_iter().filter(|both| *both > 0).map(move |both| {
            let (score, chunk) = halves(both);
            (!chunk, f32::from_bits(score))
        })
    }

    fn is_empty(&self) -> bool {
        self.0[0] == 0
    }

    /// Which of them it comes before cannot be foreseen: each of the places takes the better one and passes the other on.
    #[inline]
    fn add(&mut self, chunk: u32, score: f32) {
        let mut both = u64::from(score.to_bits()) << 32 | u64::from(!chunk);
        for place in &mut self.0 {
            (*place, both) = ((*place).max(both), (*place).min(both));
        }
    }
}

fn best_chunks(table: &WordTable, takes_part: &[bool], scored: &chunk_scores::Scored) -> Vec<Best> {
    let mut best = vec![Best::default(); table.paths.len()];
    let files = table.chunks.files();
    scored.each_range(|first, scores| {
        let files = files.get(first as usize..).unwrap_or_default();
        for ((chunk, score), file) in (first..).zip(scores).zip(files) {
            // Some scores are of files that take no part, or are gone.
            let takes_part = takes_part.get(*file as usize).is_some_and(|takes_part| *takes_part);
            if takes_part && *score > 0.0 {
                best[*file as usize].add(chunk, *score);
            }
        }
    });
    best
}

fn means(best: &[Best]) -> Vec<f32> {
    let mean = |best: &Best| match best.chunks().count() {
        0 => 0.0,
        n_chunks => best.chunks().map(|(_, score)| score).sum::<f32>() / n_chunks as f32,
    };
    best.iter().map(mean).collect()
}

/// Each score divided by the best of the files that are meant as a rule: an example that says everything at once does not
/// make all others small.
fn beside_the_best(scores: Vec<f32>, kinds: &[PathKind]) -> Vec<f32> {
    // Most score nothing in most channels: their kinds are not looked at.
    let best = scores.iter().zip(kinds).fold(0.0_f32, |best, (score, kind)| {
        if *score > best && kind.standing >= 1.0 { *score } else { best }
    });
    match best > 0.0 {
        true => scores.into_iter().map(|score| (score / best).min(1.0)).collect(),
        false => normalised(scores),
    }
}

fn normalised(mut scores: Vec<f32>) -> Vec<f32> {
    let best = scores.iter().copied().fold(0.0_f32, f32::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
    scores
}

/// The mean of the best others of the folder.
fn neighbours(total: &[f32], table: &WordTable) -> Vec<f32> {
    const KEPT: usize = NEIGHBOURS + 1;
    let folder = |file: usize| table.files[file].folder as usize;
    // One more than are asked for: a file is none of its own neighbours.
    let mut best = vec![[0.0_f32; KEPT]; table.n_folders()];
    for (file, score) in total.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        let list = &mut best[folder(file)];
        let place = list.partition_point(|known| known >= score);
        if place < KEPT {
            list[place..].rotate_right(1);
            list[place] = *score;
        }
    }
    let of = |(file, score): (usize, &f32)| {
        if *score <= 0.0 {
            return 0.0;
        }
        let list = &best[folder(file)];
        // Without itself, if it is among them.
        let own = list.iter().position(|known| known == score);
        let others = list.iter().enumerate().filter(|(at, _)| Some(*at) != own).map(|(_, score)| *score);
        others.take(NEIGHBOURS).sum::<f32>() / NEIGHBOURS as f32
    };
    total.iter().enumerate().map(of).collect()
}
