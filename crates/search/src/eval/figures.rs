//! Places of answers as figures, with how sure they are.

use serde::{Deserialize, Serialize};

/// How often a sample is drawn again.
const DRAWS: usize = 2000;

/// The place of the first right answer, from 1.
pub fn place_of(answer: &[String], gold: &[String]) -> Option<usize> {
    answer.iter().position(|file| gold.contains(file)).map(|at| at + 1)
}

/// What is said of many rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// How many rows.
    #[serde(rename = "n")]
    pub rows: usize,
    /// The share with a right file first.
    #[serde(rename = "acc1")]
    pub at_1: f64,
    /// Among the first five.
    #[serde(rename = "acc5")]
    pub at_5: f64,
    /// Among the first ten.
    #[serde(rename = "acc10")]
    pub at_10: f64,
    /// The mean of one by the first right file's place.
    pub mrr: f64,
    /// The gain of all right files among the first ten, discounted by their places, beside the best possible.
    #[serde(rename = "ndcg10")]
    pub ndcg_10: f64,
}

impl Figures {
    /// Of answers with what should be found.
    pub fn of<'a>(answers: impl IntoIterator<Item = (&'a [String], &'a [String])>) -> Self {
        let mut sum = Self::default();
        for (answer, gold) in answers {
            sum.rows += 1;
            let Some(place) = place_of(answer, gold) else { continue };
            for (most, figure) in [(1, &mut sum.at_1), (5, &mut sum.at_5), (10, &mut sum.at_10)] {
                *figure += f64::from(u8::from(place <= most));
            }
            sum.mrr += 1.0 / place as f64;
            sum.ndcg_10 += gain(answer, gold);
        }
        let rows = sum.rows.max(1) as f64;
        for figure in [&mut sum.at_1, &mut sum.at_5, &mut sum.at_10, &mut sum.mrr, &mut sum.ndcg_10] {
            *figure /= rows;
        }
        sum
    }
}

fn gain(answer: &[String], gold: &[String]) -> f64 {
    let discount = |at: usize| 1.0 / (at as f64 + 2.0).log2();
    let found: f64 = answer
        .iter()
        .take(10)
        .enumerate()
        .filter(|(_, file)| gold.contains(file))
        .map(|(at, _)| discount(at))
        .sum();
    let best: f64 = (0..gold.len().min(10)).map(discount).sum();
    if best > 0.0 { found / best } else { 0.0 }
}

/// How much one system is ahead of another on the same rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The mean of the reciprocal ranks' differences.
    pub mean: f64,
    /// It lies between this …
    pub low: f64,
    /// … and this in 95 of 100 samples.
    pub high: f64,
}

/// Compares two lists of places row by row, by drawing rows again and again.
pub fn difference(left: &[Option<usize>], right: &[Option<usize>]) -> Difference {
    let reciprocal = |place: &Option<usize>| place.map_or(0.0, |place| 1.0 / place as f64);
    let differences: Vec<f64> =
        left.iter().zip(right).map(|(left, right)| reciprocal(left) - reciprocal(right)).collect();
    let n_rows = differences.len();
    if n_rows == 0 {
        return Difference { mean: 0.0, low: 0.0, high: 0.0 };
    }
    // A fixed seed: the same rows say the same.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut draw = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % n_rows as u64).unwrap_or(0)
    };
    let mut means: Vec<f64> =
        (0..DRAWS).map(|_| (0..n_rows).map(|_| differences[draw()]).sum::<f64>() / n_rows as f64).collect();
    means.sort_by(f64::total_cmp);
    let mean = differences.iter().sum::<f64>() / n_rows as f64;
    Difference { mean, low: means[DRAWS / 40], high: means[DRAWS - 1 - DRAWS / 40] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(files: &str) -> Vec<String> {
        files.split(' ').map(ToOwned::to_owned).collect()
    }

    #[test]
    fn figures_count_places() {
        let answers = [(list("a b c"), list("a")), (list("x b"), list("b c")), (list("x"), list("y"))];
        let figures = Figures::of(answers.iter().map(|(answer, gold)| (&answer[..], &gold[..])));
        let rounded = |figure: f64| (figure * 1000.0).round() / 1000.0;
        assert_eq!(
            [figures.at_1, figures.at_5, figures.at_10, figures.mrr, figures.ndcg_10].map(rounded),
            [0.333, 0.667, 0.667, 0.5, 0.462]
        );
    }

    #[test]
    fn a_clear_difference_is_told_from_chance() {
        let first = vec![Some(1); 60];
        let second: Vec<Option<usize>> =
            (0..60).map(|at| if at % 3 == 0 { Some(1) } else { Some(2) }).collect();
        let clear = difference(&first, &second);
        assert!(
            clear.low > 0.2 && clear.high < 0.45 && clear.low < clear.mean && clear.mean < clear.high,
            "{clear:?}"
        );
        let chance: Vec<Option<usize>> =
            (0..60).map(|at| if at % 2 == 0 { Some(1) } else { Some(2) }).collect();
        let other: Vec<Option<usize>> =
            (0..60).map(|at| if at % 2 == 1 { Some(1) } else { Some(2) }).collect();
        let chance = difference(&chance, &other);
        assert!(chance.low < 0.0 && chance.high > 0.0, "{chance:?}");
        assert_eq!(difference(&[], &[]).mean, 0.0);
    }
}
