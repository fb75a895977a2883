//! What sort of question a query is, and what follows from it.

use super::words::terms;

/// What the words of a query look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// A name from the code.
    Identifier,
    /// Names among words.
    Mixed,
    /// Words only.
    Semantic,
    /// Too little to tell.
    Uncertain,
}

/// How sure the intent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confidence {
    /// Every sign says the same.
    High,
    /// Most signs do.
    Medium,
    /// It is a guess.
    Low,
}

impl Intent {
    /// Returns the word of the debug output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Identifier => "identifier",
            Self::Mixed => "mixed",
            Self::Semantic => "semantic",
            Self::Uncertain => "uncertain",
        }
    }
}

impl Confidence {
    /// Returns the word of the debug output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// A term that is looked for in labels, paths and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Lower case.
    pub text: String,
    /// A token as typed, not a part of one.
    pub whole: bool,
}

/// How a query is answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What is looked for.
    pub intent: Intent,
    /// How sure that is.
    pub confidence: Confidence,
    /// How many words it has.
    pub n_tokens: usize,
    /// Asks who uses something, not where it is defined.
    pub reference_seeking: bool,
    /// At most 8, for the evidence of single chunks.
    pub terms: Vec<Term>,
    /// Names as typed, when nothing else is asked for: their definitions come first.
    pub names: Vec<String>,
    /// How much that evidence weighs.
    pub lexical_weight: f64,
    /// Exact matches go first.
    pub pin_exact: bool,
    /// Whether vectors are asked. Identifiers need none.
    pub dense: bool,
    /// A sentence at most, and nothing in it is spelled as code is: what its words mean says where to look.
    pub in_words: bool,
    /// Words about the code, from a short question to a whole issue: which files are they about?
    pub about_files: bool,
}

impl Plan {
    /// The same, for the files that the query is about, whatever it looks like.
    pub fn about_files(mut self) -> Self {
        self.names.clear();
        (self.about_files, self.reference_seeking, self.pin_exact) = (true, false, false);
        self
    }
}

const STOPWORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "find", "for", "from", "how", "in", "is", "it", "logic",
    "of", "or", "the", "to", "used", "uses", "using", "what", "where", "which", "who", "why",
];

const MAX_TERMS: usize = 8;
/// More names than a person types to find one of them.
const MAX_NAMES: usize = 3;
/// So many words ask who uses something; more are a text that says "used" or "imported" in passing.
const SHORT: usize = 6;
/// More words than a person types to find one thing.
const LONG: usize = 12;

/// More words than a sentence has that says what one thing does.
const SENTENCE: usize = 24;

/// Says whether a word carries no meaning of its own in a question.
pub fn is_stopword(word: &str) -> bool {
    STOPWORDS.binary_search(&word).is_ok()
}

/// Plans the answer to a query without its operators.
pub fn plan(text: &str) -> Plan {
    let tokens: Vec<&str> = text
        .split_whitespace()
        .map(|token| token.trim_matches(|c: char| ",;?!()[]{}\"'`.:".contains(c)))
        .filter(|token| !token.is_empty())
        .take(512)
        .collect();
    let identifiers = tokens.iter().filter(|token| is_identifier_like(token)).count();
    let natural = tokens.iter().filter(|token| is_natural(token)).count();
    let is_long = tokens.len() > LONG;
    // A longer text has such words by chance.
    let reference_seeking = tokens.len() <= SHORT && seeks_references(text);
    let single_term = tokens.len() == 1 && is_single_term(tokens[0]);
    let (intent, confidence) = if identifiers > 0 && natural > 0 {
        (Intent::Mixed, if identifiers >= 2 { Confidence::High } else { Confidence::Medium })
    } else if identifiers > 0 {
        (Intent::Identifier, if identifiers == tokens.len() { Confidence::High } else { Confidence::Medium })
    } else if single_term {
        (Intent::Uncertain, Confidence::Medium)
    } else if natural >= 2 || tokens.len() >= 4 {
        (Intent::Semantic, Confidence::High)
    } else {
        (Intent::Uncertain, Confidence::Low)
    };
    let lexical_weight = match intent {
        Intent::Identifier => 1.35,
        Intent::Mixed => {
            if reference_seeking {
                0.18
            } else {
                0.05
            }
        }
        Intent::Uncertain => 0.60,
        Intent::Semantic => 0.0,
    };
    let only_names = matches!(intent, Intent::Identifier | Intent::Uncertain) && !reference_seeking;
    let is_name = |token: &&&str| {
        token.chars().all(|c| c.is_alphanumeric() || "_.:#$".contains(c))
            && token.chars().any(char::is_alphabetic)
    };
    let names = match only_names && tokens.len() <= MAX_NAMES {
        true => tokens.iter().filter(is_name).map(|name| (*name).to_owned()).collect(),
        false => Vec::new(),
    };
    Plan {
        intent,
        confidence,
        n_tokens: tokens.len(),
        reference_seeking,
        terms: lexical_terms(&tokens),
        names,
        lexical_weight,
        pin_exact: intent != Intent::Semantic && !reference_seeking,
        dense: intent != Intent::Identifier,
        in_words: tokens.len() <= SENTENCE && !text.split_whitespace().any(is_spelled_as_code),
        about_files: is_long
            || (!reference_seeking && matches!(intent, Intent::Semantic | Intent::Mixed) && tokens.len() > 2),
    }
}

/// Upper case, one of `_ / \ . - :`, or a digit.
pub fn is_identifier_like(token: &str) -> bool {
    token.chars().any(|c| c.is_uppercase() || c.is_ascii_digit() || "_/\\.-:".contains(c))
}

/// `snake_case`, `camelCase`, `a.b`, `a::b`, `call()`, a path, a number, or in backticks. A capital alone begins a sentence too.
fn is_spelled_as_code(token: &str) -> bool {
    let inside = token.trim_matches(|c: char| !c.is_alphanumeric());
    let is_camel = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    token.contains(['`', '_', '/', '\\'])
        || token.contains("()")
        || inside.contains(['.', ':'])
        || inside.contains(|c: char| c.is_ascii_digit())
        || inside.as_bytes().windows(2).any(is_camel)
}

fn is_natural(token: &str) -> bool {
    let lower = token.to_lowercase();
    is_stopword(&lower) || (!is_identifier_like(token) && token.chars().count() >= 4)
}

fn is_single_term(token: &str) -> bool {
    (3..=64).contains(&token.len())
        && token.starts_with(|c: char| c.is_ascii_lowercase())
        && token.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
}

fn seeks_references(text: &str) -> bool {
    let lower = text.to_lowercase();
    if lower.contains("where is") || lower.contains("who uses") {
        return true;
    }
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        matches!(
            word,
            "used"
                | "uses"
                | "usage"
                | "reference"
                | "references"
                | "referenced"
                | "caller"
                | "callers"
                | "called"
                | "import"
                | "imports"
                | "imported"
        ) || word.starts_with("instantiat")
    })
}

/// Whole tokens first, then their parts, no word twice.
fn lexical_terms(tokens: &[&str]) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    let mut add = |text: String, whole: bool| {
        if text.chars().count() >= 2 && found.len() < MAX_TERMS && !found.iter().any(|term| term.text == text)
        {
            found.push(Term { text, whole });
        }
    };
    let meaningful = |token: &&&str| !is_stopword(&token.to_lowercase());
    for token in tokens.iter().filter(meaningful) {
        add(token.to_lowercase(), true);
    }
    for token in tokens.iter().filter(meaningful) {
        for part in terms(token) {
            add(part, false);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let plan = plan(query);
        let terms: Vec<String> = plan
            .terms
            .iter()
            .map(|term| format!("{}{}", term.text, if term.whole { "" } else { "*" }))
            .collect();
        let shown = format!(
            "{}/{}{}{} {:?} [{}]",
            plan.intent.as_str(),
            plan.confidence.as_str(),
            if plan.reference_seeking { " refs" } else { "" },
            if plan.dense { "" } else { " lexical" },
            plan.lexical_weight,
            terms.join(" ")
        );
        assert_eq!(shown, expected);
    }

    #[test]
    fn the_stopwords_are_sorted_for_the_search_in_them() {
        assert!(STOPWORDS.is_sorted());
    }

    #[test]
    fn identifiers_alone_need_no_embedding() {
        check("HttpServer", "identifier/high lexical 1.35 [httpserver http* server*]");
        check("parse_request", "identifier/high lexical 1.35 [parse_request parse* request* parserequest*]");
        check("src/main.rs", "identifier/high lexical 1.35 [src/main.rs src* main* rs*]");
    }

    #[test]
    fn words_and_identifiers_together_are_mixed() {
        check(
            "where does parse_request retry",
            "mixed/medium 0.05 [does parse_request retry parse* request* parserequest*]",
        );
        check("who uses HttpServer", "mixed/medium refs 0.18 [httpserver http* server*]");
    }

    #[test]
    fn a_title_that_says_used_in_passing_is_about_files() {
        let title = plan("Parcels are sent twice when the imports of rates run late");
        assert!(title.about_files && !title.reference_seeking, "{title:?}");
        assert!(plan("who uses HttpServer").reference_seeking);
    }

    #[test]
    fn questions_are_semantic() {
        check("how are failed requests tried again", "semantic/high 0.0 [failed requests tried again]");
    }

    #[test]
    fn a_question_in_words_has_no_word_that_is_spelled_as_code() {
        let check = |query: &str, expected: bool| assert_eq!(plan(query).in_words, expected, "{query}");
        check("Returns the length of a URL, or none.", true);
        check("where do we renew the log-in?", true);
        check("max_size is not read", false);
        check("the value of maxSize is lost", false);
        check("`map` fails", false);
        check("a crash in io.read", false);
        check("Vec::push is slow", false);
        check("run() hangs", false);
        check("wrong since 2.1", false);
        check("see src/main", false);
        check(&"many words ".repeat(13), false);
    }

    #[test]
    fn one_small_word_is_uncertain() {
        check("parser", "uncertain/medium 0.6 [parser]");
        check("x", "uncertain/low 0.6 []");
        check("", "uncertain/low 0.6 []");
    }
}
