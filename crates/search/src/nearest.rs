//! "Did you mean": the known word with the smallest edit distance.

/// Returns the nearest of `known` to `word`, if any is near enough to be a slip of the finger.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (distance(&fold(word), &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= word.chars().count().max(candidate.len()) / 2)
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

/// `diagnostic_timeout`, `diagnostic-timeout` and `diagnosticTimeout` are the same word to a person.
fn fold(word: &str) -> Vec<char> {
    word.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The number of letters to insert, remove, replace or swap with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let replace = last[j] + usize::from(x != y);
            let mut best = replace.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let known = ["host", "port", "token", "diagnosticTimeout", "firstTouchTimeout"];
        assert_eq!(nearest(word, known), expected, "{word}");
    }

    #[test]
    fn a_slip_of_the_finger_finds_its_word() {
        check("prot", Some("port"));
        check("hots", Some("host"));
        check("Port", Some("port"));
        check("tokne", Some("token"));
        check("diagnostic_timeout", Some("diagnosticTimeout"));
        check("firstTouchTimout", Some("firstTouchTimeout"));
    }

    #[test]
    fn a_word_like_no_other_finds_none() {
        check("zzzzzz", None);
        check("", None);
    }
}
