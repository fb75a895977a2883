//! What a chunk itself shows of a query's terms: in its label, its path, its text.

use crate::query::plan::{Intent, Plan};
use crate::store::Chunk;

/// The best a chunk has to show.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Evidence {
    pub(super) score: f64,
    /// A whole term is a word of the label or a segment of the path.
    pub(super) exact: bool,
    /// A term is what the chunk defines.
    pub(super) defines: bool,
}

/// Weighs one chunk.
pub(super) fn of(plan: &Plan, chunk: &Chunk) -> Evidence {
    let label = chunk.symbol_label.as_deref().unwrap_or_default().to_lowercase();
    let path = chunk.rel_path.to_lowercase();
    let content = chunk.content.to_lowercase();
    let mut evidence = Evidence::default();
    for term in &plan.terms {
        let factor = match (term.whole, plan.intent == Intent::Identifier || plan.reference_seeking) {
            (true, _) => 1.0,
            (false, true) => 0.18,
            (false, false) => 0.35,
        };
        let declares = declares(&content, &term.text);
        let weight = if plan.reference_seeking {
            referring(&term.text, &label, &path, &content, declares)
        } else {
            let (weight, exact) = plain(&term.text, &label, &path, &content, declares);
            evidence.exact |= exact && term.whole;
            weight
        };
        evidence.defines |=
            term.whole && !plan.reference_seeking && (declares || defined_name(&label) == term.text);
        evidence.score = evidence.score.max(weight * factor);
    }
    evidence
}

fn plain(term: &str, label: &str, path: &str, content: &str, declares: bool) -> (f64, bool) {
    if defined_name(label) == term {
        (1.50, true)
    } else if declares {
        (1.40, true)
    } else if has_word(label, term) {
        (1.30, true)
    } else if path.split('/').any(|segment| segment == term || stem(segment) == term) || path == term {
        (1.20, true)
    } else if has_word(content, term) {
        (0.90, false)
    } else if label.contains(term) {
        (0.55, false)
    } else if path.contains(term) {
        (0.45, false)
    } else if content.contains(term) {
        (0.25, false)
    } else {
        (0.0, false)
    }
}

/// Who uses it: a call weighs most, its own declaration least.
fn referring(term: &str, label: &str, path: &str, content: &str, declares: bool) -> f64 {
    if uses(content, term) && !declares {
        1.60
    } else if imports(content, term) && !declares {
        0.75
    } else if has_word(content, term) {
        if declares { 0.10 } else { 1.25 }
    } else if content.contains(term) {
        if declares { 0.08 } else { 0.30 }
    } else if label.contains(term) || path.contains(term) {
        0.04
    } else {
        0.0
    }
}

/// The name in a label: `method run(a)` is `run`.
fn defined_name(label: &str) -> &str {
    let label = label.strip_prefix("async ").unwrap_or(label);
    let name = label.split_once(' ').map_or(label, |(_, name)| name);
    let name = name.split(['(', '<']).next().unwrap_or(name).trim();
    name.rsplit(['.', ':']).next().unwrap_or(name)
}

const DECLARATIONS: &[&str] = &[
    "def ",
    "fn ",
    "class ",
    "struct ",
    "enum ",
    "trait ",
    "interface ",
    "type ",
    "function ",
    "func ",
    "const ",
    "static ",
    "let ",
    "var ",
    "module ",
    "namespace ",
    "macro_rules! ",
    "union ",
    "record ",
    "mod ",
    "function* ",
];

/// Says whether the text declares the term: the word before it says so.
fn declares(content: &str, term: &str) -> bool {
    occurrences(content, term).any(|at| {
        let before = &content[..at];
        DECLARATIONS.iter().any(|word| {
            before.ends_with(word)
                && before[..before.len() - word.len()].chars().next_back().is_none_or(|c| !is_word(c))
        })
    })
}

/// Called, made, or assigned.
fn uses(content: &str, term: &str) -> bool {
    occurrences(content, term).any(|at| {
        let after = content[at + term.len()..].trim_start();
        let before = content[..at].trim_end();
        after.starts_with('(')
            || after.starts_with("!(")
            || after.starts_with("::")
            || before.ends_with("new")
            || before.ends_with('=')
    })
}

fn imports(content: &str, term: &str) -> bool {
    content.lines().any(|line| {
        let line = line.trim_start();
        let imports = ["import ", "from ", "use ", "pub use ", "#include", "require", "using "]
            .iter()
            .any(|word| line.starts_with(word));
        imports && has_word(line, term)
    })
}

fn has_word(text: &str, term: &str) -> bool {
    occurrences(text, term).next().is_some()
}

/// Where the term stands as a word of its own.
fn occurrences<'a>(text: &'a str, term: &'a str) -> impl Iterator<Item = usize> + 'a {
    let whole = move |at: usize| {
        let before = text[..at].chars().next_back().is_none_or(|c| !is_word(c));
        let after = text[at + term.len()..].chars().next().is_none_or(|c| !is_word(c));
        before && after
    };
    text.match_indices(term).map(|(at, _)| at).filter(move |at| !term.is_empty() && whole(*at)).take(64)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn stem(segment: &str) -> &str {
    segment.split('.').next().unwrap_or(segment)
}
