//! How sure a bundle is: by the first file's lead over the second where files were ranked, else by how many of the query's
//! words the best file has.

use std::collections::BTreeSet;

use chartroom_protocol::index::{BundleFile, SearchConfidence};

use super::stem;

/// From this lead on an answer is as sure as that. Chosen with the bins of both halves of the development set in view; on the check half the
/// first file is right in 87 of 100 answers of the first, in 38 to 65 of the second, in 39 of those below (docs/search-quality.md).
const FROM_LEAD: &[(f64, SearchConfidence)] =
    &[(0.30, SearchConfidence::High), (0.03, SearchConfidence::Medium)];
/// From this share of the query's words on an answer is as sure as that: for names, which are not ranked by file.
const FROM: &[(f64, SearchConfidence)] = &[(0.75, SearchConfidence::High), (0.40, SearchConfidence::Medium)];
/// More words than this are an issue's text, of which no file has most.
const MANY_WORDS: usize = 12;
/// Words that are named as missing.
const NAMED: usize = 8;

/// The confidence, and what to do when it is low.
pub(super) fn of(
    files: &[BundleFile],
    words: &BTreeSet<String>,
    lead: Option<f64>,
) -> (SearchConfidence, Vec<String>) {
    let best = files.first().map(text_of).unwrap_or_default();
    let everything: String = files.iter().map(text_of).collect();
    let n_found = words.iter().filter(|word| best.contains(stem(word))).count();
    let share = n_found as f64 / words.len().clamp(1, MANY_WORDS) as f64;
    let at = |table: &[(f64, SearchConfidence)], value: f64| {
        let found = table.iter().find(|(from, _)| value >= *from);
        found.map_or(SearchConfidence::Low, |(_, confidence)| *confidence)
    };
    let by_words = at(FROM, share);
    // A lead is worth nothing where the best file has hardly a word of the query.
    let confidence = match lead {
        Some(lead) if by_words != SearchConfidence::Low => at(FROM_LEAD, lead),
        _ => by_words,
    };
    let mut advice = Vec::new();
    if confidence == SearchConfidence::Low {
        let why = match by_words {
            SearchConfidence::Low => "the best file has few of the query's words",
            SearchConfidence::Medium | SearchConfidence::High => "other files fit the query as well",
        };
        advice.push(format!("This is a guess: {why}."));
        let missing: Vec<&str> = words
            .iter()
            .filter(|word| !everything.contains(stem(word)))
            .map(String::as_str)
            .take(NAMED)
            .collect();
        if !missing.is_empty() {
            advice.push(format!("Not found: {}.", missing.join(", ")));
        }
        advice.push(
            "Ask with a name from the code (a function, a type, an option, an error's text), or narrow it with path: or lang:."
                .to_owned(),
        );
    }
    (confidence, advice)
}

fn text_of(file: &BundleFile) -> String {
    let mut text = file.file.to_lowercase();
    for piece in &file.pieces {
        text.push('\n');
        text.push_str(&piece.symbols.join(" ").to_lowercase());
        text.push('\n');
        text.push_str(&piece.text.to_lowercase());
    }
    text
}
