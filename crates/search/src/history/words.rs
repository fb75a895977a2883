//! BM25 over the messages of commits, and over all messages of a file as one text.

use std::collections::{BTreeMap, HashMap};

use super::History;
use crate::query::weigh::Weights;
use crate::query::words::for_each_term;
use crate::store::FileName;

const K1: f32 = 1.2;
const B: f32 = 0.75;
/// The best commits speak for their files.
const BEST_COMMITS: usize = 60;

/// What commits say of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said<'a> {
    /// The path that it had then.
    pub path: &'a str,
    /// The end of that path: see [`FileName::tail_of`].
    pub tail: u64,
    /// Higher is better.
    pub score: f32,
}

/// The words of a history, to be asked.
#[derive(Debug, Default)]
pub struct HistoryWords {
    /// The commits that have a word, and how often.
    postings: HashMap<String, Vec<(u32, u16)>>,
    /// The words of each commit.
    lengths: Vec<u32>,
    /// The files of each commit.
    files: Vec<Vec<u32>>,
    paths: Vec<String>,
    tails: Vec<u64>,
    /// The words of all messages of a file.
    file_lengths: Vec<u32>,
}

impl HistoryWords {
    /// Counts the words.
    pub fn of(history: &History) -> Self {
        let mut all = Self::default();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        for (number, commit) in (0u32..).zip(&history.commits) {
            let mut counts: BTreeMap<String, u16> = BTreeMap::new();
            let mut length = 0u32;
            for_each_term(&commit.message, |word| {
                length += 1;
                match counts.get_mut(word) {
                    Some(count) => *count = count.saturating_add(1),
                    None => drop(counts.insert(word.to_owned(), 1)),
                }
            });
            for (word, count) in counts {
                all.postings.entry(word).or_default().push((number, count));
            }
            let mut files = Vec::with_capacity(commit.files.len());
            for path in &commit.files {
                let file = *numbers.entry(path).or_insert_with(|| {
                    all.paths.push(path.clone());
                    all.tails.push(FileName::tail_of_path(path));
                    all.file_lengths.push(0);
                    u32::try_from(all.paths.len() - 1).unwrap_or(u32::MAX)
                });
                all.file_lengths[file as usize] += length;
                files.push(file);
            }
            all.files.push(files);
            all.lengths.push(length);
        }
        all
    }

    /// Whether there is nothing to ask.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// What the commits that fit best say of the files they changed.
    pub fn by_commit(&self, words: &Weights) -> Vec<Said<'_>> {
        let average = mean(&self.lengths);
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for (word, weight) in words {
            let Some(postings) = self.postings.get(word) else { continue };
            let rarity = rarity(self.lengths.len(), postings.len());
            for (commit, times) in postings {
                let at = *commit as usize;
                scores[at] +=
                    weight * rarity * saturated(f32::from(*times), self.lengths[at] as f32 / average);
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|at| scores[*at] > 0.0).collect();
        // Equal scores: the newer commit, which has the smaller number.
        order.sort_by(|left, right| scores[*right].total_cmp(&scores[*left]).then(left.cmp(right)));
        let best = order.first().map_or(1.0, |at| scores[*at]);
        let mut files = vec![0.0_f32; self.paths.len()];
        for at in order.into_iter().take(BEST_COMMITS) {
            let said = (scores[at] / best).powi(2) / (1.0 + (self.files[at].len() as f32).ln());
            for file in &self.files[at] {
                files[*file as usize] += said;
            }
        }
        self.said(&files)
    }

    /// How well all messages of a file together fit.
    pub fn by_file(&self, words: &Weights) -> Vec<Said<'_>> {
        let average = mean(&self.file_lengths);
        let mut scores = vec![0.0_f32; self.paths.len()];
        let mut times_in = vec![0.0_f32; self.paths.len()];
        let mut touched: Vec<u32> = Vec::new();
        for (word, weight) in words {
            let Some(postings) = self.postings.get(word) else { continue };
            for (commit, times) in postings {
                for file in &self.files[*commit as usize] {
                    let slot = &mut times_in[*file as usize];
                    if *slot == 0.0 {
                        touched.push(*file);
                    }
                    *slot += f32::from(*times);
                }
            }
            let rarity = rarity(self.paths.len(), touched.len());
            for file in touched.drain(..) {
                let at = file as usize;
                let times = std::mem::take(&mut times_in[at]);
                scores[at] += weight * rarity * saturated(times, self.file_lengths[at] as f32 / average);
            }
        }
        self.said(&scores)
    }

    /// The files that have a score.
    fn said(&self, scores: &[f32]) -> Vec<Said<'_>> {
        let all = self.paths.iter().zip(&self.tails).zip(scores);
        all.filter(|(_, score)| **score > 0.0)
            .map(|((path, tail), score)| Said { path, tail: *tail, score: *score })
            .collect()
    }
}

fn mean(lengths: &[u32]) -> f32 {
    let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
    (total as f32 / lengths.len().max(1) as f32).max(1.0)
}

fn rarity(n_documents: usize, n_with: usize) -> f32 {
    let (n_documents, n_with) = (n_documents as f32, n_with as f32);
    (1.0 + (n_documents - n_with + 0.5) / (n_with + 0.5)).max(1.0).ln()
}

fn saturated(times: f32, length: f32) -> f32 {
    times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length))
}

#[cfg(test)]
mod tests {
    use super::super::Commit;
    use super::*;
    use crate::query::weigh::weigh;

    fn history(commits: &[(&str, &[&str])]) -> HistoryWords {
        let commits = commits
            .iter()
            .map(|(message, files)| Commit {
                id: "a".into(),
                message: (*message).to_owned(),
                files: files.iter().map(|file| (*file).to_owned()).collect(),
            })
            .collect();
        HistoryWords::of(&History { head: "a".into(), commits })
    }

    #[test]
    fn the_files_of_the_commit_that_fits_are_found() {
        let words = history(&[
            ("Retry lost uploads", &["net/upload.rs"]),
            ("Retry lost uploads in many places", &["a.rs", "b.rs", "c.rs", "d.rs"]),
            ("Colours of the page", &["page.css"]),
        ]);
        let query = weigh("uploads are lost", "uploads are lost");
        let score = |said: &[Said<'_>], path: &str| said.iter().find(|it| it.path == path).map(|it| it.score);
        let found = words.by_commit(&query.words);
        assert!(score(&found, "net/upload.rs") > score(&found, "a.rs"), "{found:?}");
        assert_eq!(score(&found, "page.css"), None);
        let found = words.by_file(&query.title);
        assert!(score(&found, "net/upload.rs").is_some() && score(&found, "page.css").is_none(), "{found:?}");
    }

    #[test]
    fn without_commits_nothing_is_found() {
        let words = history(&[]);
        assert!(words.is_empty());
        assert!(words.by_commit(&weigh("a", "a").words).is_empty());
        assert!(words.by_file(&weigh("a", "a").words).is_empty());
    }
}
