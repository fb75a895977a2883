//! The tools' answers as an agent reads them: short text that leaves nothing out that the next question needs.
//!
//! An agent pays for every byte, so that a default answer is text alone and has a size; whoever wants every field asks
//! for it with `detail: "full"`.

use std::collections::BTreeMap;

use chartroom_protocol::index::{
    Bundle, CallGraphResponse, FileOutlineResponse, IndexStatus, SearchCodebaseResponse, SearchResult,
    SearchScope, Span, Warning,
};

/// The most that a default answer of a search takes, in bytes.
pub const SEARCH_BYTES: usize = 8_000;

/// What the headings of all results may take together; more results than that are counted, not named.
const HEADING_BYTES: usize = 5_000;
/// A longer line says little.
const LINE_CHARS: usize = 160;
/// How many lines the results show, by their place; the rest is named only.
const LINES: &[(usize, usize)] = &[(3, 14), (10, 4)];

/// The results of a search, best first: each with its lines, its symbol and its id, the first ones with their code.
pub fn search(response: &SearchCodebaseResponse) -> String {
    if let Some(bundle) = &response.bundle {
        return bundled(response, bundle);
    }
    let mut text = heading(response);
    if response.results.is_empty() {
        text.push_str(&nothing(response));
        return text;
    }
    let headings: Vec<String> =
        response.results.iter().enumerate().map(|(at, result)| title(at + 1, result)).collect();
    let mut room = HEADING_BYTES;
    let n_named = headings
        .iter()
        .take_while(|heading| {
            let fits = heading.len() <= room;
            room = room.saturating_sub(heading.len());
            fits
        })
        .count();
    let named: usize = headings.iter().take(n_named).map(String::len).sum();
    let mut room = SEARCH_BYTES.saturating_sub(text.len() + named + 200);
    for (at, (result, heading)) in response.results.iter().zip(&headings).take(n_named).enumerate() {
        text.push_str(heading);
        let n_lines = LINES.iter().find(|(before, _)| at < *before).map_or(0, |(_, lines)| *lines);
        let code = code(result, n_lines, room);
        room = room.saturating_sub(code.len());
        text.push_str(&code);
    }
    if response.results.len() > n_named {
        text.push_str(&format!("… {} more\n", response.results.len() - n_named));
    }
    text.push_str("More: read_file (path, start_line, end_line), call_graph (symbolRef), search_codebase with budget (one bundle of code) or detail='full'.\n");
    text
}

/// The symbols of a file, a line each.
pub fn outline(response: &FileOutlineResponse) -> String {
    let Some(outline) = &response.outline else {
        return format!("{}\n", response.message.as_deref().unwrap_or("no outline"));
    };
    let mut text = warnings(&response.warnings);
    if let Some(message) = &response.message {
        text.push_str(&format!("{message}\n"));
    }
    // Which of several is meant is said by its id alone.
    let with_ids = response.status == IndexStatus::Ambiguous;
    for symbol in &outline.symbols {
        let Span { start_line, end_line } = symbol.span;
        text.push_str(&format!("{start_line:>6}-{end_line:<6} {}", symbol.symbol_label));
        if with_ids {
            text.push_str(&format!("  {}", symbol.symbol_id));
        }
        text.push('\n');
    }
    if response.has_more {
        text.push_str("… there are more: ask with start_line and end_line, or a larger limitSymbols\n");
    }
    text
}

/// The calls around a symbol, a line each.
pub fn calls(graph: &CallGraphResponse) -> String {
    if graph.status != IndexStatus::Ok {
        return format!("{}\n", graph.message.as_deref().unwrap_or("no call graph"));
    }
    let names: BTreeMap<&str, String> = graph
        .nodes
        .iter()
        .map(|node| {
            let label = node.symbol_label.as_deref().unwrap_or(&node.symbol_id);
            (node.symbol_id.as_str(), format!("{label} ({}:{})", node.file, node.span.start_line))
        })
        .collect();
    let name = |id: &str| names.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let mut text = warnings(&graph.warnings);
    for edge in &graph.edges {
        let (from, to) = (name(&edge.src_symbol_id), name(&edge.dst_symbol_id));
        let (file, line) = (&edge.site.file, edge.site.start_line);
        let perhaps = if edge.confidence < 0.8 { " perhaps" } else { "" };
        text.push_str(&format!("{from} -> {to}  at {file}:{line}  {:.2}{perhaps}\n", edge.confidence));
    }
    let (n_shown, total) = (graph.edges.len() as u64, graph.total_edge_count);
    let next = u64::from(graph.offset) + n_shown;
    if n_shown == 0 {
        let of = graph.nodes.first().map(|node| format!(" of {}", name(&node.symbol_id)));
        let of = of.unwrap_or_default();
        let is_own = |id: &Option<String>| id.as_deref() == Some(graph.symbol_ref.symbol_id.as_str());
        let n_open = graph.notes.iter().filter(|note| is_own(&note.symbol_id)).count();
        let open = match n_open {
            0 => String::new(),
            _ => format!("; {n_open} in it mean nothing that is in the index"),
        };
        text.push_str(&format!("no calls known{of}{open}\n"));
    } else if total > n_shown {
        let rest = if next < total { format!("; offset {next} gives the next") } else { String::new() };
        text.push_str(&format!("{n_shown} of {total}{rest}\n"));
    }
    text
}

/// One bundle: whole pieces of code with their line numbers, file by file.
fn bundled(response: &SearchCodebaseResponse, bundle: &Bundle) -> String {
    let mut text = heading(response);
    text.push_str(&format!("confidence: {}\n", bundle.confidence.as_str()));
    for line in &bundle.advice {
        text.push_str(&format!("{line}\n"));
    }
    if bundle.files.is_empty() {
        text.push_str(&nothing(response));
    }
    for file in &bundle.files {
        text.push_str(&format!("\n## {}\n", file.file));
        for piece in &file.pieces {
            let Span { start_line, end_line } = piece.span;
            let symbols = piece.symbols.join(", ");
            text.push_str(&format!("{start_line}-{end_line} {symbols} [{}]\n", piece.why));
            for (number, line) in (start_line..).zip(piece.text.lines()) {
                text.push_str(&format!("{number:>5}  {line}\n"));
            }
        }
    }
    if bundle.n_left_out > 0 {
        text.push_str(&format!(
            "\n… {} more results are left out; ask with a larger budget\n",
            bundle.n_left_out
        ));
    }
    text
}

fn heading(response: &SearchCodebaseResponse) -> String {
    let root = response.codebase_path.as_deref().unwrap_or(&response.path);
    let left_out = match response.scope {
        SearchScope::Runtime => " (code that runs; scope='mixed' has tests and docs too)",
        SearchScope::Mixed | SearchScope::Docs => "",
    };
    let found = format!("{} results in {root}{left_out}\n", response.results.len());
    format!("{found}{}", warnings(&response.warnings))
}

/// What is said when there is nothing: that it is so, and what may help.
fn nothing(response: &SearchCodebaseResponse) -> String {
    let said =
        response.message.clone().unwrap_or_else(|| "Nothing in this index matches the query.".to_owned());
    format!("{said}\n")
}

fn title(number: usize, result: &SearchResult) -> String {
    let (file, span, label, id) = match result {
        SearchResult::Group(group) => (&group.file, group.span, &group.symbol_label, &group.symbol_id),
        SearchResult::Chunk(chunk) => (&chunk.file, chunk.span, &chunk.symbol_label, &chunk.symbol_id),
    };
    let mut text = format!("{number}. {file}:{}-{}", span.start_line, span.end_line);
    for part in [label, id].into_iter().flatten() {
        text.push_str(&format!("  {}", shortened(part)));
    }
    if let SearchResult::Group(group) = result
        && let Some(role) = group.role
    {
        text.push_str(&format!("  [{}]", role.as_str()));
    }
    text.push('\n');
    text
}

/// The first lines of a result, with their numbers.
fn code(result: &SearchResult, n_lines: usize, room: usize) -> String {
    let (first, body) = match result {
        SearchResult::Group(group) => (group.preview_line, &group.preview),
        SearchResult::Chunk(chunk) => (chunk.span.start_line, &chunk.content),
    };
    let mut text = String::new();
    for (number, line) in (first..).zip(body.lines()).take(n_lines) {
        let line = format!("{number:>5}  {}\n", shortened(line));
        if text.len() + line.len() > room {
            break;
        }
        text.push_str(&line);
    }
    text
}

fn shortened(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line.to_owned(),
    }
}

fn warnings(warnings: &[Warning]) -> String {
    warnings.iter().map(|warning| format!("{}: {}\n", warning.code, warning.message)).collect()
}
