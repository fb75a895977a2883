//! Words of source text: identifiers taken apart at case changes, underscores and digits, in lower case.
//!
//! `HTTPServer`, `http_server` and `httpServer` are all the words `http` and `server`; as terms they are also
//! `httpserver`, so that a whole identifier is found as a whole in whatever style it is written.

/// Longer runs are hashes and encoded data, not words.
const MAX_WORD: usize = 64;

/// Calls `f` with every word.
pub fn for_each_word(text: &str, mut f: impl FnMut(&str)) {
    run(text, false, &mut f);
}

/// Calls `f` with every word and, for an identifier of several words, with all of them joined.
pub fn for_each_term(text: &str, mut f: impl FnMut(&str)) {
    run(text, true, &mut f);
}

/// The terms of a short text.
pub fn terms(text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    for_each_term(text, |term| terms.push(term.to_owned()));
    terms
}

fn run(text: &str, joined: bool, f: &mut impl FnMut(&str)) {
    let mut words = Words::new(text, joined);
    let mut word = String::with_capacity(MAX_WORD);
    while words.next(&mut word) {
        f(&word);
    }
}

/// Walks over a text's words without allocating for each.
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
    /// The parts of the identifier at hand, as byte ranges.
    parts: Vec<(usize, usize)>,
    given: usize,
    joined: bool,
}

impl<'a> Words<'a> {
    pub(crate) fn new(text: &'a str, joined: bool) -> Self {
        Self { text, at: 0, parts: Vec::new(), given: 0, joined }
    }

    /// Writes the next word; false at the end.
    pub(crate) fn next(&mut self, word: &mut String) -> bool {
        loop {
            if let Some((from, to)) = self.parts.get(self.given).copied() {
                self.given += 1;
                if to - from > MAX_WORD {
                    continue;
                }
                word.clear();
                push_lower(word, &self.text[from..to]);
                return true;
            }
            if self.joined && self.parts.len() > 1 && self.given == self.parts.len() {
                self.given += 1;
                word.clear();
                for (from, to) in &self.parts {
                    push_lower(word, &self.text[*from..*to]);
                }
                if word.len() <= MAX_WORD {
                    return true;
                }
                continue;
            }
            if !self.find_identifier() {
                return false;
            }
        }
    }

    /// Moves to the next identifier and takes it apart.
    fn find_identifier(&mut self) -> bool {
        self.parts.clear();
        self.given = 0;
        let mut before = Class::Other;
        let mut before_that = Class::Other;
        let mut part: Option<usize> = None;
        let rest = &self.text[self.at..];
        let base = self.at;
        for (offset, c) in rest.char_indices() {
            let at = base + offset;
            let class = Class::of(c);
            if class == Class::Other && c != '_' {
                if let Some(from) = part {
                    self.parts.push((from, at));
                }
                self.at = at + c.len_utf8();
                if !self.parts.is_empty() {
                    return true;
                }
                part = None;
                (before, before_that) = (Class::Other, Class::Other);
                continue;
            }
            match (part, class) {
                (Some(from), Class::Other) => {
                    self.parts.push((from, at));
                    part = None;
                }
                (None, Class::Other) => {}
                (None, _) => part = Some(at),
                (Some(from), class) => {
                    let border = match (before, class) {
                        (Class::Lower, Class::Upper) => Some(at),
                        (Class::Digit, Class::Lower | Class::Upper)
                        | (Class::Lower | Class::Upper, Class::Digit) => Some(at),
                        // `HTTPServer`: the capital before the small letter begins the next word.
                        (Class::Upper, Class::Lower) if before_that == Class::Upper => {
                            self.text[..at].char_indices().next_back().map(|(capital, _)| capital)
                        }
                        _ => None,
                    };
                    if let Some(border) = border.filter(|border| *border > from) {
                        self.parts.push((from, border));
                        part = Some(border);
                    }
                }
            }
            (before_that, before) = (before, class);
        }
        if let Some(from) = part {
            self.parts.push((from, self.text.len()));
        }
        self.at = self.text.len();
        !self.parts.is_empty()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Other,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Lower,
            'A'..='Z' => Self::Upper,
            '0'..='9' => Self::Digit,
            _ if c.is_ascii() => Self::Other,
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_alphabetic() => Self::Lower,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }
}

fn push_lower(word: &mut String, part: &str) {
    if part.is_ascii() {
        word.extend(part.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
    } else {
        word.extend(part.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use super::{for_each_word, terms};
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(terms(text).join(" "), expected);
    }

    #[test]
    fn identifiers_are_taken_apart_and_kept_whole() {
        check("parseHTTPRequest", "parse http request parsehttprequest");
        check("parse_http_request", "parse http request parsehttprequest");
        check("MAX_SIZE", "max size maxsize");
        check("sha256sum", "sha 256 sum sha256sum");
        check("utf8", "utf 8 utf8");
        check("XMLParser2 a.b::c", "xml parser 2 xmlparser2 a b c");
        check("__init__ _x x_", "init x x");
        check("ÄpfelBaum straße", "äpfel baum äpfelbaum straße");
        check("", "");
        check("→ ∀ ()", "");
    }

    #[test]
    fn encoded_data_is_no_word() {
        check(&format!("x {} y", "a".repeat(65)), "x y");
    }

    proptest! {
        #[test]
        fn any_text_gives_lower_case_words(text in "\\PC*") {
            for_each_word(&text, |word| {
                assert!(!word.is_empty());
                assert!(!word.contains('_') && !word.contains(' '));
            });
        }
    }
}
