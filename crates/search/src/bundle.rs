//! One bundle of code for a budget: the best pieces of the best files, merged, with what was found in them and how sure
//! that is.

mod confidence;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chartroom_protocol::index::{Bundle, BundleFile, BundlePiece, SearchResult, Span};

use crate::query::words::for_each_word;
use crate::store::{GenerationReader, StoreError};

/// About so many characters are a token.
const CHARS_PER_TOKEN: usize = 4;
/// What a line costs besides its text: its number.
const LINE_COST: usize = 8;
/// What a piece costs besides its lines: its heading.
const PIECE_COST: usize = 120;
/// A longer definition is shown by the lines that were found.
const WHOLE_LINES: u32 = 120;
/// Fewer lines of a definition than this say nothing.
const FEW_LINES: u32 = 5;
/// Pieces that are nearer than this become one.
const GAP: u32 = 3;

/// What is taken of one file.
#[derive(Default)]
struct Taken {
    /// Lines that are shown.
    lines: BTreeSet<u32>,
    /// The definitions that were found, with their lines.
    symbols: Vec<(Span, String)>,
}

/// Puts the results of a search together, best first, until the budget is used. `lead` is the search's.
pub fn bundle(
    reader: &dyn GenerationReader,
    results: &[SearchResult],
    query: &str,
    lead: Option<f64>,
    budget: u32,
) -> Result<Bundle, StoreError> {
    let words = words_of(query);
    let mut room = budget as usize * CHARS_PER_TOKEN;
    let mut texts: HashMap<String, BTreeMap<u32, String>> = HashMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut taken: HashMap<String, Taken> = HashMap::new();
    let mut n_left_out = 0;
    for result in results {
        let (file, whole, found, label) = described(result);
        if !texts.contains_key(&file) {
            texts.insert(file.clone(), lines_of(reader, &file)?);
        }
        let lines = &texts[&file];
        let shown = taken.get(&file).map(|taken| &taken.lines);
        let cost_of = |span: Span| -> usize {
            let new = lines
                .range(span.start_line..=span.end_line.max(span.start_line))
                .filter(|(number, _)| shown.is_none_or(|shown| !shown.contains(number)));
            PIECE_COST + new.map(|(_, line)| line.len() + LINE_COST).sum::<usize>()
        };
        let wanted = match whole.end_line.saturating_sub(whole.start_line) < WHOLE_LINES {
            true => vec![whole, found],
            false => vec![found],
        };
        let fits = |span: Span| Some((span, cost_of(span))).filter(|(_, cost)| *cost <= room);
        // What is too long for the room is shown by its first lines, if they are enough to say something.
        let beginning = || {
            let last = (found.start_line..=found.end_line)
                .rev()
                .find(|line| fits(Span { start_line: found.start_line, end_line: *line }).is_some())?;
            let span = Span { start_line: found.start_line, end_line: last };
            (last - found.start_line >= FEW_LINES).then(|| (span, cost_of(span)))
        };
        let Some((span, cost)) = wanted.into_iter().find_map(fits).or_else(beginning) else {
            n_left_out += 1;
            continue;
        };
        room -= cost;
        if !taken.contains_key(&file) {
            order.push(file.clone());
        }
        let entry = taken.entry(file).or_default();
        entry
            .lines
            .extend(lines.range(span.start_line..=span.end_line.max(span.start_line)).map(|(n, _)| *n));
        entry.symbols.extend(label.map(|label| (span, label)));
    }
    let files: Vec<BundleFile> = order
        .into_iter()
        .map(|file| {
            let pieces = pieces(&texts[&file], &taken[&file], &file, &words);
            BundleFile { file, pieces }
        })
        .collect();
    let (confidence, advice) = confidence::of(&files, &words, lead);
    Ok(Bundle { confidence, advice, files, n_left_out })
}

/// Whether one of the results has one of the query's words: in its path, its name or its text.
///
/// An embedder that only counts words has neighbours for every query, also for one that nothing in the code answers.
pub fn has_a_word(results: &[SearchResult], query: &str) -> bool {
    let words = words_of(query);
    words.is_empty()
        || results.iter().any(|result| {
            let (file, _, _, label) = described(result);
            let text = match result {
                SearchResult::Group(group) => &group.preview,
                SearchResult::Chunk(chunk) => &chunk.content,
            };
            let all = [file.as_str(), label.as_deref().unwrap_or_default(), text].join("\n").to_lowercase();
            words.iter().any(|word| all.contains(stem(word)))
        })
}

/// File, lines of the whole definition, lines that were found, label.
fn described(result: &SearchResult) -> (String, Span, Span, Option<String>) {
    match result {
        SearchResult::Group(group) => {
            let n_lines = u32::try_from(group.preview.lines().count().max(1)).unwrap_or(1);
            let found = Span {
                start_line: group.preview_line,
                end_line: group.preview_line.saturating_add(n_lines - 1),
            };
            (group.file.clone(), group.span, found, group.symbol_label.clone())
        }
        SearchResult::Chunk(chunk) => {
            (chunk.file.clone(), chunk.span, chunk.span, chunk.symbol_label.clone())
        }
    }
}

/// The lines of a file as the index has them.
fn lines_of(reader: &dyn GenerationReader, file: &str) -> Result<BTreeMap<u32, String>, StoreError> {
    let mut lines = BTreeMap::new();
    for stored in reader.chunks_in(file)? {
        let chunk = stored.chunk;
        lines.extend((chunk.start_line..).zip(chunk.content.lines().map(ToOwned::to_owned)));
    }
    Ok(lines)
}

/// The lines that are shown of a file, as pieces without gaps.
fn pieces(
    lines: &BTreeMap<u32, String>,
    taken: &Taken,
    file: &str,
    words: &BTreeSet<String>,
) -> Vec<BundlePiece> {
    let mut spans: Vec<Span> = Vec::new();
    for line in &taken.lines {
        match spans.last_mut() {
            Some(last) if line - last.end_line <= GAP => last.end_line = *line,
            _ => spans.push(Span { start_line: *line, end_line: *line }),
        }
    }
    spans
        .into_iter()
        .map(|span| {
            let text: Vec<&str> =
                lines.range(span.start_line..=span.end_line).map(|(_, line)| line.as_str()).collect();
            let text = text.join("\n");
            let overlaps =
                |other: &Span| other.start_line <= span.end_line && span.start_line <= other.end_line;
            let mut symbols: Vec<String> = Vec::new();
            for (of, label) in &taken.symbols {
                if overlaps(of) && !symbols.contains(label) {
                    symbols.push(label.clone());
                }
            }
            let why = why(file, &symbols, &text, words);
            BundlePiece { span, symbols, why, text }
        })
        .collect()
}

/// Where the query's words were found: in the name first, then in the path, then in the text.
fn why(file: &str, symbols: &[String], text: &str, words: &BTreeSet<String>) -> String {
    let names = symbols.join(" ").to_lowercase();
    let (file, text) = (file.to_lowercase(), text.to_lowercase());
    let mut parts: [(&str, Vec<&str>); 3] = [("name", vec![]), ("path", vec![]), ("text", vec![])];
    for word in words {
        let at = [&names, &file, &text].iter().position(|place| place.contains(stem(word)));
        if let Some(at) = at {
            parts[at].1.push(word);
        }
    }
    let said: Vec<String> = parts
        .iter()
        .filter(|(_, words)| !words.is_empty())
        .map(|(place, words)| format!("{place}: {}", words.join(" ")))
        .collect();
    match said.is_empty() {
        true => "near in meaning".to_owned(),
        false => said.join("; "),
    }
}

/// The words of a query that say something.
fn words_of(query: &str) -> BTreeSet<String> {
    const COMMON: &[&str] = &[
        "and", "are", "but", "can", "does", "for", "from", "has", "have", "how", "into", "its", "not",
        "that", "the", "then", "this", "was", "what", "when", "where", "which", "who", "why", "will", "with",
        "would", "you",
    ];
    let mut words = BTreeSet::new();
    for_each_word(query, |word| {
        if word.chars().count() >= 3 && !COMMON.contains(&word) {
            words.insert(word.to_owned());
        }
    });
    words
}

/// A word without its ending, roughly: `retries` and `retry` share `retr`.
fn stem(word: &str) -> &str {
    let keep = word.chars().count().saturating_sub(3).max(4);
    word.char_indices().nth(keep).map_or(word, |(at, _)| &word[..at])
}
