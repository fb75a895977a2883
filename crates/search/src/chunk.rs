//! A file cut into chunks: every line in exactly one, aligned with definitions where the language is known.
//!
//! The size limit is the reference's (2,500 characters). We do not overlap: a definition that fits is one chunk, small
//! neighbours share one, and what is too long is cut between its own inner definitions, then between lines.

mod cut;
mod indexable;
mod prose;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

pub use indexable::{FileMeta, Refusal, indexable};

use crate::parser::{InProcess, Parser};
use crate::store::{self, Chunk};
use crate::symbols::{self, Facts, Language, Symbol};

/// No chunk is longer, but for a single line that is.
pub const MAX_CHUNK_CHARS: usize = 2500;
/// Neighbours are joined up to this many characters.
pub const JOINED_CHUNK_CHARS: usize = 1500;
/// A definition this long stands alone.
pub const ALONE_CHUNK_CHARS: usize = 500;

/// A file taken apart. The chunks carry their content hashes; vectors are made by the caller.
#[derive(Debug, Clone)]
pub struct ParsedFile {
    /// The pieces, by start line.
    pub chunks: Vec<Chunk>,
    /// The definitions, by start line.
    pub symbols: Vec<store::Symbol>,
    /// Call sites and imports.
    pub facts: Facts,
    /// The parser failed on it: there are no symbols, though its language has some.
    pub unparsed: bool,
}

/// Takes one file apart with a parser in this process, which a hostile file can take down. For tests and scales.
pub fn parse_file(path: &str, text: &str) -> ParsedFile {
    parse_file_with(&InProcess::default(), path, text)
}

/// Takes one file apart. Never fails: what cannot be parsed is split by lines.
pub fn parse_file_with(parser: &dyn Parser, path: &str, text: &str) -> ParsedFile {
    let language = Language::of(Path::new(path)).unwrap_or_else(Language::plain);
    let lines = cut::Lines::of(text);
    let extracted = match language.has_symbols() {
        true => parser.extract(path, text).map(Some),
        false => Ok(None),
    };
    let unparsed = extracted.is_err();
    let (pieces, extracted) = match extracted.ok().flatten() {
        // A page without scripts is prose.
        Some(extracted) if language.is_page() && extracted.symbols.is_empty() => {
            (prose::split(&lines, language), extracted)
        }
        Some(extracted) => (cut::by_definitions(&lines, &extracted.symbols), extracted),
        None => {
            let package = symbols::manifest::package(path, text);
            let facts = Facts { package, ..Facts::default() };
            let extracted = symbols::Extracted { facts, ..symbols::Extracted::default() };
            // What only says where packages lie is not for searches.
            let pieces = if language.is_manifest() { Vec::new() } else { prose::split(&lines, language) };
            (pieces, extracted)
        }
    };
    let mut seen = HashMap::new();
    let chunks = pieces
        .iter()
        .map(|piece| {
            let content = lines.text(piece);
            let symbol = piece.symbol.and_then(|at| extracted.symbols.get(at as usize));
            chunk(path, language, content, piece.lines(), symbol, &mut seen)
        })
        .collect();
    ParsedFile {
        chunks,
        symbols: extracted.symbols.into_iter().map(|symbol| stored(path, language, symbol)).collect(),
        facts: extracted.facts,
        unparsed,
    }
}

/// What is embedded for a chunk: where it is, what it is, and its text.
pub fn embedded_text(chunk: &Chunk) -> String {
    let mut text = String::with_capacity(chunk.content.len() + 160);
    text.push_str(chunk.rel_path.rsplit('/').next().unwrap_or_default());
    for label in chunk.breadcrumbs.iter().chain(&chunk.symbol_label) {
        text.push('\n');
        text.push_str(label);
    }
    text.push('\n');
    text.push_str(&chunk.content);
    text
}

fn chunk(
    path: &str,
    language: Language,
    content: &str,
    (start_line, end_line): (u32, u32),
    symbol: Option<&Symbol>,
    seen: &mut HashMap<blake3::Hash, u32>,
) -> Chunk {
    // Equal text twice in a file: the second has an id of its own. No line numbers, so that an edit above a chunk
    // leaves its id alone.
    let text_hash = blake3::hash(content.as_bytes());
    let ordinal = seen.entry(text_hash).or_insert(0);
    let mut id = blake3::Hasher::new();
    id.update(path.as_bytes()).update(&[0]).update(text_hash.as_bytes()).update(&ordinal.to_le_bytes());
    *ordinal += 1;
    let mut chunk = Chunk {
        id: format!("chunk_{}", &id.finalize().to_hex()[..16]),
        rel_path: path.to_owned(),
        start_line,
        end_line,
        language: language.name().to_owned(),
        content: content.to_owned(),
        breadcrumbs: symbol.map(|symbol| symbol.breadcrumbs.clone()).unwrap_or_default(),
        symbol_id: symbol.map(|symbol| symbol.id.clone()),
        symbol_label: symbol.map(|symbol| symbol.label.clone()),
        content_hash: String::new(),
    };
    chunk.content_hash = blake3::hash(embedded_text(&chunk).as_bytes()).to_hex()[..32].to_owned();
    chunk
}

fn stored(path: &str, language: Language, symbol: Symbol) -> store::Symbol {
    store::Symbol {
        symbol_id: symbol.id,
        kind: symbol.kind,
        qualified_name: symbol.qualified,
        label: symbol.label,
        rel_path: path.to_owned(),
        language: language.name().to_owned(),
        start_line: symbol.span.start,
        end_line: symbol.span.end,
    }
}
