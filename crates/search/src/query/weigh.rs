//! How much each word of a long query says about the place that is looked for.
//!
//! An issue is mostly words that every issue has. A word counts more when it comes often, stands in the title, or looks
//! like a name of the code; less when issues are full of it.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use super::forms::{FORM_WEIGHT, other_forms};
use super::stems::stem;
use super::words::for_each_term;

/// A query of so many words is a line, not a text.
pub const LINE_TOKENS: usize = 30;
/// What a number says, beside a word.
const NUMBER: f32 = 0.65;
/// What a word says that always stands in a name like `aName`: such a name has its words and all of them joined, so that it
/// would count more than once.
const IN_CAMEL_CASE: f32 = 0.7;
/// What another form of a word says, in a text.
const FORM_IN_TEXT: f32 = 0.92;
/// The definitions of a file are asked with the beginning of the text alone.
const OPENING_CHARS: usize = 600;
/// Of a very long text the words that say most are asked for.
const MAX_WORDS: usize = 320;
/// So many names of modules are looked at, each of so many parts.
const MAX_MODULES: usize = 300;
const MODULE_PARTS: std::ops::RangeInclusive<usize> = 2..=12;

/// What words say that issues are full of.
static ISSUE_WORDS: LazyLock<Said> = LazyLock::new(|| Said::of(include_str!("issue_words.txt"), 1.0));
/// The same for a line, where few words have to say all.
static LINE_WORDS: LazyLock<Said> = LazyLock::new(|| Said::of(include_str!("line_words.txt"), 0.748));

/// How much words say.
struct Said {
    words: HashMap<&'static str, f32>,
    other: f32,
}

impl Said {
    fn of(table: &'static str, other: f32) -> Self {
        let lines =
            table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(' '));
        Self { words: lines.filter_map(|(word, weight)| Some((word, weight.parse().ok()?))).collect(), other }
    }

    fn by(&self, word: &str) -> f32 {
        self.words.get(word).copied().unwrap_or(self.other)
    }
}

/// Words with their weights, sorted by word.
pub type Weights = BTreeMap<String, f32>;

/// A query whose words are weighed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WeighedQuery {
    /// How many words it has, separated by space.
    pub n_tokens: usize,
    /// All of it.
    pub words: Weights,
    /// Its first line.
    pub title: Weights,
    /// Its first few hundred characters.
    pub opening: Weights,
    /// The stems of its words.
    pub stems: Weights,
    /// Paths and file names that it mentions, in order, with `/`.
    pub paths: Vec<String>,
    /// Names of modules that it mentions, each in its parts, in lower case.
    pub modules: Vec<Vec<String>>,
}

impl WeighedQuery {
    /// Whether it is a line, each of whose few words matters.
    pub fn is_line(&self) -> bool {
        self.n_tokens <= LINE_TOKENS
    }
}

/// Weighs a query. `title` is its first line.
pub fn weigh(title: &str, text: &str) -> WeighedQuery {
    let text = without_addresses(&without_comments(text));
    let n_tokens = text.split_whitespace().count();
    let is_line = n_tokens <= LINE_TOKENS;
    let (said, of_form): (&Said, f32) =
        if is_line { (&LINE_WORDS, FORM_WEIGHT) } else { (&ISSUE_WORDS, FORM_IN_TEXT) };
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    count(&text, &mut counts, |count, looks| {
        count.times += 1.0;
        count.camel += f32::from(looks.camel);
        count.marked |= looks.marked;
    });
    count(title, &mut counts, |count, looks| {
        count.in_title = true;
        count.marked |= looks.marked;
    });
    let mut weights: Weights = counts
        .iter()
        .map(|(word, count)| (word.clone(), count.weight(word, is_line) * said.by(word)))
        .collect();
    let only = |part: &str| {
        let mut words = Weights::new();
        for_each_term(part, |word| {
            if let Some(weight) = weights.get(word) {
                words.insert(word.to_owned(), *weight);
            }
        });
        words
    };
    let opening: String = text.chars().take(OPENING_CHARS).collect();
    let (title, opening) = (only(title), only(&opening));
    let mut stems = Weights::new();
    for (word, weight) in &weights {
        let known: &mut f32 = stems.entry(stem(word).to_owned()).or_default();
        *known = known.max(*weight);
    }
    for (word, weight) in weights.clone() {
        for form in other_forms(&word) {
            weights.entry(form).or_insert(weight * of_form);
        }
    }
    let paths = mentioned_paths(&text);
    let (words, stems) = (heaviest(weights), heaviest(stems));
    WeighedQuery { n_tokens, words, title, opening, stems, paths, modules: modules_of(&text) }
}

/// What the place of a word looks like.
#[derive(Clone, Copy)]
struct Looks {
    marked: bool,
    camel: bool,
}

#[derive(Default)]
struct Count {
    times: f32,
    /// How often of these in a name like `aName`.
    camel: f32,
    in_title: bool,
    /// In backticks, or looks like a name of the code.
    marked: bool,
}

impl Count {
    fn weight(&self, word: &str, is_line: bool) -> f32 {
        let all = self.times.ln_1p() + 2.0 * f32::from(self.in_title) + f32::from(self.marked);
        if is_line {
            return all;
        }
        let number = if word.bytes().all(|byte| byte.is_ascii_digit()) { NUMBER } else { 1.0 };
        let camel = IN_CAMEL_CASE.powf(self.camel / self.times.max(1.0));
        all * number * camel
    }
}

fn count(text: &str, counts: &mut BTreeMap<String, Count>, add: impl Fn(&mut Count, Looks)) {
    for line in text.lines() {
        let fence = line.trim_start().starts_with("```");
        for (at, part) in line.split('`').enumerate() {
            let quoted = !fence && at % 2 == 1;
            for token in part.split_whitespace() {
                let marked = quoted || is_name(token);
                for name in token.split(|c: char| !c.is_alphanumeric() && c != '_') {
                    let looks = Looks { marked, camel: is_camel(name) };
                    for_each_term(name, |word| add(counts.entry(word.to_owned()).or_default(), looks));
                }
            }
        }
    }
}

/// Says whether a token of prose can only be a name: `snake_case`, `camelCase`, `a.b`, `a::b`, `call()`.
fn is_name(token: &str) -> bool {
    let token = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '(' && c != ')');
    let chars: Vec<char> = token.chars().collect();
    let inner = |at: usize| {
        let (Some(before), Some(after)) = (chars.get(at.wrapping_sub(1)), chars.get(at + 1)) else {
            return false;
        };
        before.is_alphanumeric() && after.is_alphanumeric()
    };
    token.ends_with("()")
        || token.contains("::")
        || chars.iter().enumerate().any(|(at, c)| match c {
            '_' | '.' => inner(at) && chars.iter().any(|c| c.is_alphabetic()),
            c => c.is_uppercase() && at > 0 && chars[at - 1].is_lowercase(),
        })
}

/// `aName`.
fn is_camel(name: &str) -> bool {
    name.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

fn heaviest(weights: Weights) -> Weights {
    if weights.len() <= MAX_WORDS {
        return weights;
    }
    let mut order: Vec<(String, f32)> = weights.into_iter().collect();
    order.sort_by(|left, right| right.1.total_cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    order.into_iter().take(MAX_WORDS).collect()
}

/// Templates of issues are full of them.
fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        // One that never ends is none.
        let Some((_, after)) = comment.split_once("-->") else {
            kept.push_str(comment);
            return kept;
        };
        kept.push(' ');
        rest = after;
    }
    kept + rest
}

/// Addresses lead away from the code, but for their last part when it names a file of it.
fn without_addresses(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("http") {
        let (before, address) = rest.split_at(at);
        kept.push_str(before);
        if address.starts_with("http://") || address.starts_with("https://") {
            let end =
                address.find(|c: char| c.is_whitespace() || "\"'<>)`".contains(c)).unwrap_or(address.len());
            kept.push(' ');
            rest = &address[end..];
        } else {
            kept.push_str("http");
            rest = &address[4..];
        }
    }
    kept + rest
}

/// Tokens that are paths or file names, each once, in order.
fn mentioned_paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let is_part = |c: char| c.is_alphanumeric() || "_-./\\@+~".contains(c);
    for token in text.split(|c: char| !is_part(c)) {
        let token = token.replace('\\', "/");
        let token = token.trim_matches(|c: char| "./~-+@".contains(c));
        let name = token.rsplit('/').next().unwrap_or(token);
        let is_file = name.rsplit_once('.').is_some_and(|(stem, extension)| {
            stem.len() > 1
                && (1..=5).contains(&extension.len())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        });
        if is_file && paths.len() < 64 && !paths.iter().any(|known| known == token) {
            paths.push(token.to_owned());
        }
    }
    paths
}

/// Names of modules in a text, in lower case, each once.
pub fn modules_of(text: &str) -> Vec<Vec<String>> {
    let mut modules: Vec<Vec<String>> = Vec::new();
    for token in text.split(|c: char| !(c.is_alphanumeric() || "_.:/\\-".contains(c))) {
        let parts: Vec<String> = token
            .split(['.', ':', '/', '\\'])
            .filter(|part| !part.is_empty())
            .map(str::to_lowercase)
            .collect();
        if MODULE_PARTS.contains(&parts.len()) && modules.len() < MAX_MODULES && !modules.contains(&parts) {
            modules.push(parts);
        }
    }
    modules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(query: &WeighedQuery, word: &str) -> f32 {
        query.words.get(word).copied().unwrap_or_default()
    }

    #[test]
    fn names_and_the_title_weigh_more_than_what_every_issue_says() {
        let query = weigh(
            "Crash in reader",
            "Crash in reader\n<!-- please fill in the version -->\nSteps to reproduce: `flush` then parse_header fails.\nsee https://example.org/frobnicate",
        );
        assert!(weight(&query, "reader") > weight(&query, "flush"), "the title weighs most: {query:?}");
        assert!(weight(&query, "flush") > weight(&query, "fails"), "a quoted word is a name");
        assert!(
            weight(&query, "parseheader") > weight(&query, "steps"),
            "a name weighs more than a word of issues"
        );
        assert!(weight(&query, "the") < 0.1 && weight(&query, "reproduce") < weight(&query, "crash"));
        assert_eq!(
            (weight(&query, "version"), weight(&query, "frobnicate")),
            (0.0, 0.0),
            "comments and addresses are none"
        );
        assert_eq!(query.title.keys().map(String::as_str).collect::<Vec<_>>(), ["crash", "in", "reader"]);
    }

    #[test]
    fn in_a_text_numbers_and_parts_of_one_name_say_less_and_other_forms_nearly_the_same() {
        let in_text =
            |line: &str, word: &str| weight(&weigh("x", &format!("x\n{line}{}", " filler".repeat(30))), word);
        let in_line = |line: &str, word: &str| weight(&weigh("x", line), word);
        assert!(in_text("turtle 4711", "4711") < 0.7 * in_text("turtle 4711", "turtle"), "a number");
        assert_eq!(
            in_line("turtle 4711", "4711"),
            in_line("turtle 4711", "turtle"),
            "in a line it may be all there is"
        );
        let pigeon = |line: &str| in_text(line, "pigeon");
        assert!(
            pigeon("the aPigeon flies") < 0.75 * pigeon("the a_pigeon flies"),
            "counted as two words and one of both"
        );
        let [always, once] = ["aPigeon and aPigeon", "aPigeon and a_pigeon"].map(pigeon);
        assert!(always < once && once < pigeon("a_pigeon and a_pigeon"), "{always} {once}");
        assert_eq!(in_line("the aPigeon flies", "pigeon"), in_line("the a_pigeon flies", "pigeon"));
        let form =
            |weight: &dyn Fn(&str, &str) -> f32| weight("turtles", "turtle") / weight("turtles", "turtles");
        assert!(form(&in_text) > 0.9 && form(&in_line) < 0.7, "{} {}", form(&in_text), form(&in_line));
    }

    #[test]
    fn a_line_has_a_table_of_its_own() {
        let the = |text: &str| {
            let query = weigh("x", text);
            weight(&query, "the") / weight(&query, "pigeon")
        };
        assert!(the("where does the pigeon fly") < 0.1, "it is mostly words that say nothing");
        assert!(
            the(&format!("the pigeon{}", " filler".repeat(30))) > 0.4,
            "a text has others that are rarer in the index"
        );
    }

    #[test]
    fn mentioned_files_are_found_in_order() {
        let query = weigh(
            "x",
            "at lib\\net\\http.rb:12 and ./src/main.rs, (`setup.cfg`), e.g. 1.5 or src/main.rs again",
        );
        assert_eq!(query.paths, ["lib/net/http.rb", "src/main.rs", "setup.cfg"]);
    }

    #[test]
    fn any_text_is_weighed() {
        let (words, modules) = ("word ".repeat(9000), "a.b ".repeat(9000) + &"c.".repeat(9000));
        for text in
            ["", "<!-- never ends", "http", "https://", "`", "```", "中文 查询", "...::", &words, &modules]
        {
            let query = weigh("", text);
            assert!(query.words.len() <= MAX_WORDS && query.modules.len() <= MAX_MODULES);
        }
    }
}
