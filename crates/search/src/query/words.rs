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
    ///
    /// Source is nearly all ASCII, and every text of an index comes by here three times: bytes are looked at, and a
    /// character is decoded only where one of another alphabet begins.
    fn find_identifier(&mut self) -> bool {
        self.parts.clear();
        self.given = 0;
        let bytes = self.text.as_bytes();
        let mut before = Class::Other;
        let mut before_that = Class::Other;
        // Where the character before begins.
        let mut capital = self.at;
        let mut part: Option<usize> = None;
        let mut at = self.at;
        while let Some(byte) = bytes.get(at).copied() {
            let (class, length) = match ASCII.get(usize::from(byte)) {
                Some(class) => (*class, 1),
                None => {
                    self.text[at..].chars().next().map_or((Class::Other, 1), |c| (Class::of(c), c.len_utf8()))
                }
            };
            match (part, class) {
                (_, Class::Other) if byte != b'_' => {
                    if let Some(from) = part.take() {
                        self.parts.push((from, at));
                    }
                    if !self.parts.is_empty() {
                        self.at = at + length;
                        return true;
                    }
                }
                (Some(from), Class::Other) => {
                    self.parts.push((from, at));
                    part = None;
                }
                (None, Class::Other) => {}
                (None, _) => part = Some(at),
                (Some(from), class) if class != before => {
                    let border = match (before, class) {
                        (Class::Lower, Class::Upper) => Some(at),
                        (Class::Digit, Class::Lower | Class::Upper)
                        | (Class::Lower | Class::Upper, Class::Digit) => Some(at),
                        // `HTTPServer`: the capital before the small letter begins the next word.
                        (Class::Upper, Class::Lower) if before_that == Class::Upper => Some(capital),
                        _ => None,
                    };
                    if let Some(border) = border.filter(|border| *border > from) {
                        self.parts.push((from, border));
                        part = Some(border);
                    }
                }
                (Some(_), _) => {}
            }
            (before_that, before) = (before, class);
            capital = at;
            at += length;
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

/// What the bytes of ASCII are.
const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            b'0'..=b'9' => Class::Digit,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

impl Class {
    /// Of a character beyond ASCII.
    fn of(c: char) -> Self {
        match c {
            _ if c.is_uppercase() => Self::Upper,
            _ if c.is_alphabetic() => Self::Lower,
            _ if c.is_numeric() => Self::Digit,
            _ => Self::Other,
        }
    }
}

fn push_lower(word: &mut String, part: &str) {
    if part.is_ascii() {
        let from = word.len();
        word.push_str(part);
        word[from..].make_ascii_lowercase();
    } else {
        word.extend(part.chars().flat_map(char::to_lowercase));
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_WORD, for_each_word, terms};
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

    /// What a character says beside the two before it, one character at a time.
    fn plainly(text: &str) -> Vec<String> {
        let kind = |c: char| match c {
            c if c.is_uppercase() => 'U',
            c if c.is_alphabetic() => 'l',
            c if c.is_numeric() => '0',
            c => c,
        };
        let mut terms = Vec::new();
        for name in text.split(|c| !matches!(kind(c), 'U' | 'l' | '0' | '_')) {
            let chars: Vec<char> = name.chars().collect();
            let of = |at: usize| chars.get(at).map_or(' ', |c| kind(*c));
            let mut parts: Vec<String> = vec![String::new()];
            for (at, c) in chars.iter().enumerate() {
                let before = if at > 0 { of(at - 1) } else { ' ' };
                let capitals_end = of(at) == 'U' && before == 'U' && of(at + 1) == 'l';
                let changes = of(at) != before && !(before == 'U' && of(at) == 'l');
                if capitals_end || changes {
                    parts.push(String::new());
                }
                if *c != '_' {
                    parts.last_mut().unwrap().push(*c);
                }
            }
            parts.retain(|part| !part.is_empty());
            let lower = |part: &String| part.to_lowercase();
            terms.extend(parts.iter().filter(|part| part.len() <= MAX_WORD).map(lower));
            let joined: String =
                parts.iter().flat_map(|part| part.chars().flat_map(char::to_lowercase)).collect();
            if parts.len() > 1 && joined.len() <= MAX_WORD {
                terms.push(joined);
            }
        }
        terms
    }

    #[test]
    fn encoded_data_is_no_word() {
        check(&format!("x {} y", "a".repeat(65)), "x y");
    }

    proptest! {
        #[test]
        fn bytes_say_the_same_as_characters(text in "([a-zA-Z0-9_ .]|[aA1_]|[äÖß٣字é-]){0,120}") {
            prop_assert_eq!(terms(&text), plainly(&text));
        }

        #[test]
        fn any_text_gives_lower_case_words(text in "\\PC*") {
            for_each_word(&text, |word| {
                assert!(!word.is_empty());
                assert!(!word.contains('_') && !word.contains(' '));
            });
        }
    }
}
