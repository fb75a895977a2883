//! The place in a file that looks most like what was looked for, so that a model can correct itself.

use similar::TextDiff;

/// Longer files are not searched for a likeness.
const MAX_LINES: usize = 20_000;
/// More of a likeness is not shown.
const MAX_SHOWN: usize = 20;
/// Less alike than this is no help.
const ALIKE: f32 = 0.5;

/// Returns `; the nearest match is at line N:` and the lines, or nothing when nothing is alike.
pub(crate) fn nearest(content: &str, wanted: &str) -> String {
    let lines: Vec<&str> = content.lines().collect();
    let wanted: Vec<&str> = wanted.lines().collect();
    let Some(at) = find(&lines, &wanted) else { return String::new() };
    let end = (at + wanted.len().clamp(1, MAX_SHOWN)).min(lines.len());
    format!("; the nearest match is at line {}:\n{}", at + 1, lines[at..end].join("\n"))
}

fn find(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    if lines.len() > MAX_LINES || wanted.iter().all(|line| line.trim().is_empty()) {
        return None;
    }
    // First by whole lines that agree but for blanks.
    let n_windows = lines.len().saturating_sub(wanted.len()) + 1;
    let agreeing = (0..n_windows.min(lines.len()))
        .map(|at| {
            let n_equal = lines[at..]
                .iter()
                .zip(wanted)
                .filter(|(line, wanted)| !wanted.trim().is_empty() && line.trim() == wanted.trim())
                .count();
            (n_equal, at)
        })
        .max_by_key(|(n_equal, at)| (*n_equal, std::cmp::Reverse(*at)))?;
    if agreeing.0 > 0 {
        return Some(agreeing.1);
    }
    // Then by the first line that says something.
    let (offset, first) = wanted.iter().enumerate().find(|(_, line)| !line.trim().is_empty())?;
    let first = clip(first.trim());
    let alike = lines
        .iter()
        .take(2_000)
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(at, line)| (TextDiff::from_chars(clip(line.trim()), first).ratio(), at))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    (alike.0 >= ALIKE).then(|| alike.1.saturating_sub(offset))
}

fn clip(line: &str) -> &str {
    match line.char_indices().nth(200) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &str = "fn one() {\n    let total = 1;\n    total\n}\n\nfn two() {}\n";

    #[track_caller]
    fn check(wanted: &str, expected: &str) {
        assert_eq!(nearest(CONTENT, wanted), expected);
    }

    #[test]
    fn lines_that_differ_in_blanks_are_found() {
        check("let total = 1;\ntotal\n", "; the nearest match is at line 2:\n    let total = 1;\n    total");
    }

    #[test]
    fn a_misspelt_line_is_found() {
        check("fn tow() {}", "; the nearest match is at line 6:\nfn two() {}");
    }

    #[test]
    fn what_is_like_nothing_is_not_made_up() {
        check("zzzzzzzz 99", "");
        check("\n\n", "");
        assert_eq!(nearest("", "x"), "");
    }
}
