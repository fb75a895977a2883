//! Candidates as the answer shows them.

use std::collections::HashMap;
use std::path::Path;

use chartroom_protocol::index::{
    CallGraphHint, CallGraphUnsupported, GroupBy, NavigationContext, NavigationFallback, ResultMode,
    SearchChunk, SearchGroup, SearchResult, Span, StalenessBucket, SymbolRef, ToolHint,
};
use serde_json::{Value, json};

use super::candidates::Candidate;
use super::group::{self, Group};
use crate::query::plan::Plan;
use crate::request::{SearchError, SearchRequest};
use crate::store::{Chunk, GenerationReader, Symbol};
use crate::symbols::Language;

const PREVIEW: usize = 4000;
const FRESH_MS: i64 = 30 * 60 * 1000;
const AGING_MS: i64 = 24 * 60 * 60 * 1000;

/// The results, and their files in order.
pub(super) fn results(
    reader: &dyn GenerationReader,
    request: &SearchRequest,
    plan: &Plan,
    ranked: Vec<Candidate>,
) -> Result<(Vec<SearchResult>, Vec<String>), SearchError> {
    let mut symbols: HashMap<String, Vec<Symbol>> = HashMap::new();
    let mut described = Vec::with_capacity(ranked.len());
    for candidate in ranked {
        let path = &candidate.stored.chunk.rel_path;
        if !symbols.contains_key(path) {
            symbols.insert(path.clone(), reader.symbols_in(path)?);
        }
        let symbol =
            group::symbol_of(&candidate, plan, symbols.get(path).map_or(&[], Vec::as_slice)).cloned();
        described.push((candidate, symbol));
    }
    let results: Vec<SearchResult> = match request.result_mode {
        ResultMode::Raw => described
            .into_iter()
            .take(request.limit)
            .map(|(candidate, symbol)| SearchResult::Chunk(chunk(request, candidate, symbol)))
            .collect(),
        ResultMode::Grouped => group::grouped(described, request.group_by, plan, request.limit)
            .into_iter()
            .map(|group| SearchResult::Group(Box::new(shown(request, group))))
            .collect(),
    };
    let files = results
        .iter()
        .map(|result| match result {
            SearchResult::Group(group) => group.file.clone(),
            SearchResult::Chunk(chunk) => chunk.file.clone(),
        })
        .collect();
    Ok((results, files))
}

fn chunk(request: &SearchRequest, candidate: Candidate, symbol: Option<Symbol>) -> SearchChunk {
    let debug = request.debug.then(|| debug(&candidate));
    let stored = candidate.stored;
    SearchChunk {
        file: stored.chunk.rel_path,
        span: Span { start_line: stored.chunk.start_line, end_line: stored.chunk.end_line },
        language: stored.chunk.language,
        content: stored.chunk.content,
        score: candidate.score,
        indexed_at: timestamp(stored.indexed_at_ms),
        staleness_bucket: staleness(stored.indexed_at_ms, request.now_ms),
        symbol_id: symbol.as_ref().map(|symbol| symbol.symbol_id.clone()),
        symbol_label: symbol.map(|symbol| symbol.label),
        debug,
    }
}

fn shown(request: &SearchRequest, group: Group) -> SearchGroup {
    let (start_line, end_line) = match (&group.symbol, request.group_by) {
        // Lines, name and text of a result are of one definition, whatever other chunks came to it.
        (Some(symbol), GroupBy::Symbol) => (symbol.start_line, symbol.end_line),
        (None, _) | (Some(_), GroupBy::File) => group.span(),
    };
    let span = Span { start_line, end_line };
    let best = group.best();
    let (preview_line, shown) = part_of(&best.stored.chunk, span);
    let file = best.stored.chunk.rel_path.clone();
    let newest = group.candidates.iter().map(|candidate| candidate.stored.indexed_at_ms).max().unwrap_or(0);
    let supported = Language::named(&best.stored.chunk.language).is_some_and(Language::has_symbols);
    let call_graph_hint = match &group.symbol {
        Some(symbol) if supported => CallGraphHint::supported(SymbolRef {
            file: file.clone(),
            symbol_id: symbol.symbol_id.clone(),
            symbol_label: Some(symbol.label.clone()),
            span: Some(Span { start_line: symbol.start_line, end_line: symbol.end_line }),
        }),
        _ if supported => CallGraphHint::unsupported(CallGraphUnsupported::MissingSymbol),
        _ => CallGraphHint::unsupported(CallGraphUnsupported::UnsupportedLanguage),
    };
    let navigation_fallback =
        (!call_graph_hint.supported).then(|| fallback(request, &file, &span, supported));
    let group_id = match &group.symbol {
        Some(symbol) => symbol.symbol_id.clone(),
        None => {
            let hash = blake3::hash(format!("{file}:{start_line}-{end_line}").as_bytes());
            format!("grp_{}", &hash.to_hex()[..16])
        }
    };
    SearchGroup {
        group_id,
        span,
        language: best.stored.chunk.language.clone(),
        symbol_id: group.symbol.as_ref().map(|symbol| symbol.symbol_id.clone()),
        symbol_label: group.symbol.as_ref().map(|symbol| symbol.label.clone()),
        role: None,
        score: best.score,
        indexed_at: timestamp(newest),
        staleness_bucket: staleness(newest, request.now_ms),
        collapsed_chunk_count: u32::try_from(group.candidates.len()).unwrap_or(u32::MAX),
        call_graph_hint,
        navigation_fallback,
        preview: preview(&shown),
        preview_line,
        debug: request.debug.then(|| debug(best)),
        file,
    }
}

fn fallback(request: &SearchRequest, file: &str, span: &Span, outline: bool) -> NavigationFallback {
    let absolute_path = Path::new(&request.root).join(file).display().to_string();
    let (start_line, end_line) = (span.start_line, span.end_line);
    NavigationFallback {
        message: NavigationFallback::MESSAGE.to_owned(),
        context: NavigationContext {
            codebase_root: request.root.clone(),
            relative_file: file.to_owned(),
            absolute_path: absolute_path.clone(),
        },
        read_span: ToolHint {
            tool: "read_file".to_owned(),
            args: json!({ "path": absolute_path, "start_line": start_line, "end_line": end_line }),
        },
        file_outline_window: outline.then(|| ToolHint {
            tool: "file_outline".to_owned(),
            args: json!({
                "path": request.root, "file": file, "start_line": start_line, "end_line": end_line,
                "resolveMode": "outline",
            }),
        }),
    }
}

/// The lines of a chunk that lie in a span, with the number of the first; all of them when none does.
fn part_of(chunk: &Chunk, span: Span) -> (u32, String) {
    let inside: Vec<(u32, &str)> = (chunk.start_line..)
        .zip(chunk.content.lines())
        .filter(|(number, _)| (span.start_line..=span.end_line).contains(number))
        .collect();
    match inside.first() {
        Some((first, _)) => {
            let lines: Vec<&str> = inside.iter().map(|(_, line)| *line).collect();
            (*first, lines.join("\n"))
        }
        None => (chunk.start_line, chunk.content.clone()),
    }
}

fn preview(content: &str) -> String {
    match content.char_indices().nth(PREVIEW) {
        Some((at, _)) => format!("{}...", &content[..at]),
        None => content.to_owned(),
    }
}

fn timestamp(ms: i64) -> Option<String> {
    (ms > 0).then(|| jiff::Timestamp::from_millisecond(ms).ok().map(|time| time.to_string())).flatten()
}

fn staleness(indexed_at_ms: i64, now_ms: i64) -> StalenessBucket {
    match now_ms.saturating_sub(indexed_at_ms) {
        _ if indexed_at_ms <= 0 => StalenessBucket::Unknown,
        age if age <= FRESH_MS => StalenessBucket::Fresh,
        age if age <= AGING_MS => StalenessBucket::Aging,
        _ => StalenessBucket::Stale,
    }
}

fn debug(candidate: &Candidate) -> Value {
    let ranks: serde_json::Map<String, Value> =
        candidate.ranks.iter().map(|(pass, rank)| ((*pass).to_owned(), json!(rank))).collect();
    json!({
        "fusion": candidate.fusion,
        "lexical": candidate.lexical,
        "multiplier": candidate.multiplier,
        "exact": candidate.exact,
        "defines": candidate.defines,
        "ranks": ranks,
    })
}
