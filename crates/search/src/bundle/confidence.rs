//! How sure a bundle is, by how many of the query's words the best file has.

use std::collections::BTreeSet;

use chartroom_protocol::index::{BundleFile, SearchConfidence};

use super::stem;

/// From this share of the query's words on an answer is as sure as that. Data: to be chosen on the check half of the
/// development set, where it says how often the first file was the right one.
const FROM: &[(f64, SearchConfidence)] = &[(0.75, SearchConfidence::High), (0.40, SearchConfidence::Medium)];
/// More words than this are an issue's text, of which no file has most.
const MANY_WORDS: usize = 12;
/// Words that are named as missing.
const NAMED: usize = 8;

/// The confidence, and what to do when it is low.
pub(super) fn of(files: &[BundleFile], words: &BTreeSet<String>) -> (SearchConfidence, Vec<String>) {
    let best = files.first().map(text_of).unwrap_or_default();
    let everything: String = files.iter().map(text_of).collect();
    let n_found = words.iter().filter(|word| best.contains(stem(word))).count();
    let share = n_found as f64 / words.len().clamp(1, MANY_WORDS) as f64;
    let confidence = FROM
        .iter()
        .find(|(from, _)| share >= *from)
        .map_or(SearchConfidence::Low, |(_, confidence)| *confidence);
    let mut advice = Vec::new();
    if confidence == SearchConfidence::Low {
        advice.push("This is a guess: the best file has few of the query's words.".to_owned());
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
