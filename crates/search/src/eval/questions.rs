//! Short questions made from the code itself: names, and sentences that say what a function does.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::paths::is_searched;
use crate::store::{GenerationReader, StoreError, Symbol};

/// A shorter name is a word of every language.
const MIN_NAME: usize = 5;
/// Words of a sentence that can be asked.
const WORDS: std::ops::RangeInclusive<usize> = 5..=24;

/// A question with the file that answers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// What is asked.
    pub text: String,
    /// The file.
    pub file: String,
    /// Where in the file, the first and the last line from 1: of a name its definition, of a sentence its comment.
    pub lines: (u32, u32),
}

/// Names that one searched file defines, at most `most`, chosen by a hash.
pub fn names(reader: &dyn GenerationReader, most: usize) -> Result<Vec<Question>, StoreError> {
    let mut defined: BTreeMap<String, Vec<Question>> = BTreeMap::new();
    for file in reader.manifest()?.files.into_keys() {
        for symbol in reader.symbols_in(&file)? {
            let name = last_name(&symbol);
            if name.len() >= MIN_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                let lines = (symbol.start_line, symbol.end_line);
                let question = Question { text: name.to_owned(), file: file.clone(), lines };
                defined.entry(name.to_owned()).or_default().push(question);
            }
        }
    }
    let once = defined.into_values().filter_map(|mut all| match all.len() {
        1 => all.pop().filter(|only| is_searched(&only.file)),
        _ => None,
    });
    Ok(chosen(once.collect(), most))
}

/// First sentences of comments before definitions, one a file, at most `most`, chosen by a hash. `text` gives a file.
pub fn sentences(
    reader: &dyn GenerationReader,
    most: usize,
    text: impl Fn(&str) -> Option<String>,
) -> Result<Vec<Question>, StoreError> {
    let mut found = Vec::new();
    for file in reader.manifest()?.files.into_keys().filter(|file| is_searched(file)) {
        let Some(text) = text(&file) else { continue };
        let lines: Vec<&str> = text.lines().collect();
        let documented = reader.symbols_in(&file)?.into_iter().filter_map(|symbol| {
            let (text, lines) = comment_of(&lines, symbol.start_line as usize)?;
            Some(Question { text, file: file.clone(), lines })
        });
        found.extend(chosen(documented.collect(), 1));
    }
    Ok(chosen(found, most))
}

/// A file without the lines of a comment; the others keep their numbers.
pub fn without_lines(text: &str, (first, last): (u32, u32)) -> String {
    let kept =
        (1u32..).zip(text.lines()).map(|(at, line)| if (first..=last).contains(&at) { "" } else { line });
    kept.collect::<Vec<&str>>().join("\n") + "\n"
}

fn last_name(symbol: &Symbol) -> &str {
    symbol.qualified_name.rsplit(['.', ':']).next().unwrap_or_default()
}

/// The same questions for the same code, however it was walked.
fn chosen(mut questions: Vec<Question>, most: usize) -> Vec<Question> {
    let key = |question: &Question| {
        *blake3::hash(format!("{} {}", question.file, question.text).as_bytes()).as_bytes()
    };
    questions.sort_by_cached_key(key);
    questions.truncate(most);
    questions
}

/// The first sentence of the comment of a definition that begins in line `start` (from 1), with the comment's lines: the
/// comment before it, or a Python docstring after its head.
fn comment_of(lines: &[&str], start: usize) -> Option<(String, (u32, u32))> {
    before(lines, start).or_else(|| docstring(lines, start))
}

fn before(lines: &[&str], start: usize) -> Option<(String, (u32, u32))> {
    let marks = ["///", "//!", "//", "/**", "/*", "*/", "* ", "#", "--"];
    let is_comment = |line: &str| line == "*" || marks.iter().any(|mark| line.starts_with(mark));
    let is_attribute = |line: &str| line.starts_with("#[") || line.starts_with('@');
    let mut last = start.checked_sub(1)?;
    while last > 0 && is_attribute(lines.get(last - 1)?.trim()) {
        last -= 1;
    }
    let mut first = last;
    while first > 0 && is_comment(lines[first - 1].trim()) && !is_attribute(lines[first - 1].trim()) {
        first -= 1;
    }
    let text: Vec<&str> = lines
        .get(first..last)?
        .iter()
        .map(|line| line.trim().trim_matches(['/', '*', '#', '!', '-', ' ']))
        .collect();
    Some((sentence(&text)?, place(first, last)))
}

fn docstring(lines: &[&str], start: usize) -> Option<(String, (u32, u32))> {
    let head = lines
        .get(start.checked_sub(1)?..)?
        .iter()
        .take(12)
        .position(|line| line.trim_end().ends_with(':'))?;
    let first = start + head;
    let line = lines.get(first)?.trim();
    let quotes = ["\"\"\"", "'''"]
        .into_iter()
        .find(|quotes| line.trim_start_matches(['r', 'R']).starts_with(quotes))?;
    let mut last = first;
    let mut text = vec![line.trim_start_matches(['r', 'R']).trim_start_matches(quotes)];
    while !text.last().is_some_and(|line| line.contains(quotes)) && last - first < 80 {
        last += 1;
        text.push(lines.get(last)?.trim());
    }
    let text: Vec<&str> = text.iter().map(|line| line.trim_end_matches(quotes)).collect();
    Some((sentence(&text)?, place(first, last + 1)))
}

fn place(first: usize, end: usize) -> (u32, u32) {
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    (number(first + 1), number(end))
}

/// The first sentence of a comment, if it can be asked.
fn sentence(lines: &[&str]) -> Option<String> {
    let paragraph: Vec<&str> = lines
        .iter()
        .copied()
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty() && !line.starts_with('@'))
        .collect();
    let text = paragraph.join(" ");
    let end = text.find(". ").unwrap_or(text.len());
    let text = text[..end].trim_end_matches('.').trim();
    let words = text.split_whitespace().count();
    let lower = text.to_lowercase();
    let refused =
        ["copyright", "license", "todo", "fixme", "eslint", "http", "generated", "{@", "noqa", "==="];
    let plain =
        text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count() * 10 > text.chars().count() * 8;
    let fits = WORDS.contains(&words) && plain && text.starts_with(char::is_alphabetic);
    (fits && !refused.iter().any(|word| lower.contains(word))).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, start: usize, expected: Option<(&str, (u32, u32))>) {
        let lines: Vec<&str> = text.lines().collect();
        let found = comment_of(&lines, start);
        assert_eq!(found.as_ref().map(|(text, lines)| (text.as_str(), *lines)), expected);
    }

    #[test]
    fn the_first_sentence_of_a_comment_is_found_in_many_languages() {
        let says = "Gives back what was lent before";
        check(
            "/// Gives back what was lent before. Twice.\n/// More.\n#[inline]\nfn a() {}\n",
            4,
            Some((says, (1, 2))),
        );
        check(
            "x();\n/**\n * Gives back what was lent before.\n * @return x\n */\nvoid a() {}\n",
            6,
            Some((says, (2, 5))),
        );
        check("# Gives back what was lent\n# before\ndef a; end\n", 3, Some((says, (1, 2))));
        check(
            "def a(\n    b):\n    \"\"\"Gives back what was lent before.\n\n    More.\n    \"\"\"\n    pass\n",
            1,
            Some((says, (3, 6))),
        );
        check("// TODO give back what was lent before\nfn a() {}\n", 2, None);
        check("// Too short.\nfn a() {}\n", 2, None);
        check("fn a() {}\n", 1, None);
    }

    #[test]
    fn a_comment_is_taken_out_and_the_lines_keep_their_numbers() {
        assert_eq!(without_lines("a\nb\nc\nd\n", (2, 3)), "a\n\n\nd\n");
    }
}
