//! `call_graph`: who calls a symbol and whom it calls, breadth first.

use std::collections::{BTreeMap, BTreeSet};

use chartroom_protocol::index::{
    CallDirection, CallEdge, CallGraphParams, CallGraphResponse, CallKind, CallNode, CallNote, CallNoteType,
    CallSite, FreshnessDecision, FreshnessMode, GraphSummary, IndexStatus, ManageAction, ManageHint,
    NonOkReason, Span, Warning,
};

use super::ToolError;
use super::answer::refusal;
use super::file_outline::inside;
use super::resolve::resolve;
use crate::core::ReadContext;
use chartroom_search::store::{self, EdgeKind, GenerationReader, NoteKind, StoreError, Symbol};
use chartroom_search::symbols::Language;

/// From where on an edge is said before those that only may be.
const SURE: f32 = 0.8;

/// Answers from the index; never syncs.
pub(crate) fn call_graph(
    context: ReadContext<'_>,
    params: &CallGraphParams,
) -> Result<CallGraphResponse, ToolError> {
    validate(params)?;
    let resolved = resolve(context, &params.path)?;
    let mut response = empty(params, resolved.root.clone());
    let mut hints = match refusal(&resolved, &params.path, context.fingerprint) {
        Ok(hints) => hints,
        Err(refusal) => {
            if refusal.status == IndexStatus::RequiresReindex {
                response.freshness_decision =
                    Some(FreshnessDecision::of(FreshnessMode::SkippedRequiresReindex));
            }
            refuse(&mut response, refusal.status, refusal.reason);
            response.message = Some(refusal.message);
            response.hints = refusal.hints.some();
            response.indexing = refusal.indexing;
            response.compatibility = refusal.compatibility;
            return Ok(response);
        }
    };
    let root = resolved.root.unwrap_or_default();
    let file = inside(&root, &params.symbol_ref.file)?;
    let failed =
        |error: StoreError| ToolError(format!("The call graph of '{root}' cannot be read: {error}."));
    let Some(reader) = context.store.open_reader(&root).map_err(failed)? else {
        return Err(ToolError(format!(
            "The index of '{root}' is gone; run manage_index with action='status'."
        )));
    };
    let extensions = Language::symbol_extensions();
    if !extensions.iter().any(|extension| file.to_ascii_lowercase().ends_with(extension.as_str())) {
        refuse(&mut response, IndexStatus::Unsupported, NonOkReason::UnsupportedLanguage);
        response.message = Some(format!("No call graph for '{file}'. Supported: {}.", extensions.join(" ")));
        hints.supported_extensions = Some(extensions);
        response.hints = hints.some();
        return Ok(response);
    }
    let counts = reader.counts().map_err(failed)?;
    if counts.graph_built_at_ms == 0 && counts.files > 0 {
        // Search goes on without it: the proof of the vectors is another one.
        refuse(&mut response, IndexStatus::NotReady, NonOkReason::MissingSidecar);
        response.message = Some(format!("The call graph of '{root}' is missing; a reindex makes it."));
        hints.reindex = Some(ManageHint::new(ManageAction::Reindex, &root));
        response.hints = hints.some();
        return Ok(response);
    }
    let start = match reader.symbol(&params.symbol_ref.symbol_id).map_err(failed)? {
        Some(symbol) => Some(symbol),
        None => match named(&*reader, &file, &params.symbol_ref.symbol_id).map_err(failed)? {
            Named::One(symbol) => Some(symbol),
            Named::None => None,
            Named::Several(message) => {
                refuse(&mut response, IndexStatus::Ambiguous, NonOkReason::MissingSymbol);
                response.message = Some(message);
                response.hints = hints.some();
                return Ok(response);
            }
        },
    };
    let Some(start) = start else {
        refuse(&mut response, IndexStatus::NotFound, NonOkReason::MissingSymbol);
        response.message = Some(format!(
            "Symbol '{}' is not in the index. Ask file_outline for the symbols of '{file}'.",
            params.symbol_ref.symbol_id
        ));
        response.hints = hints.some();
        return Ok(response);
    };
    walk(&*reader, start, params, &mut response).map_err(failed)?;
    response.sidecar = Some(GraphSummary {
        built_at: jiff::Timestamp::from_millisecond(counts.graph_built_at_ms)
            .ok()
            .map(|time| time.to_string()),
        node_count: counts.symbols,
        edge_count: counts.edges,
    });
    response.hints = hints.some();
    Ok(response)
}

/// What a name means in a file.
enum Named {
    None,
    One(Symbol),
    /// With the ids to choose from.
    Several(String),
}

/// Finds a symbol by its name or label: an outline names them so, and an agent asks with what it read.
fn named(reader: &dyn GenerationReader, file: &str, name: &str) -> Result<Named, StoreError> {
    let is_it = |symbol: &Symbol| {
        let last = symbol.qualified_name.rsplit('.').next();
        symbol.label == name || symbol.qualified_name == name || last == Some(name)
    };
    let mut found: Vec<Symbol> = reader.symbols_in(file)?.into_iter().filter(is_it).collect();
    if found.len() > 1 {
        let ids: Vec<String> = found
            .iter()
            .map(|symbol| format!("{} (line {}): {}", symbol.label, symbol.start_line, symbol.symbol_id))
            .collect();
        return Ok(Named::Several(format!(
            "{} symbols of '{file}' are called '{name}'; ask again with one of these ids: {}.",
            found.len(),
            ids.join("; ")
        )));
    }
    Ok(found.pop().map_or(Named::None, Named::One))
}

fn validate(params: &CallGraphParams) -> Result<(), ToolError> {
    if params.symbol_ref.file.trim().is_empty() || params.symbol_ref.symbol_id.trim().is_empty() {
        let text = "symbolRef needs a file and a symbolId, as search_codebase and file_outline give them.";
        return Err(ToolError(format!("{{\"error\":\"invalid_symbol_ref\",\"message\":\"{text}\"}}")));
    }
    if params.depth.is_some_and(|depth| !(1..=CallGraphParams::MAX_DEPTH).contains(&depth)) {
        return Err(ToolError(format!("depth must be between 1 and {}.", CallGraphParams::MAX_DEPTH)));
    }
    if params.limit == Some(0) {
        return Err(ToolError("limit must be at least 1.".into()));
    }
    Ok(())
}

/// Follows edges by depth, in sorted order, until the limit.
fn walk(
    reader: &dyn GenerationReader,
    start: Symbol,
    params: &CallGraphParams,
    response: &mut CallGraphResponse,
) -> Result<(), StoreError> {
    let (offset, limit) = (params.offset.unwrap_or(0) as usize, response.limit as usize);
    let mut nodes = BTreeMap::from([(start.symbol_id.clone(), start.clone())]);
    let mut seen = BTreeSet::new();
    let mut frontier = vec![start.symbol_id.clone()];
    let mut seen_nodes = BTreeSet::from([start.symbol_id.clone()]);
    let mut total = 0;
    for _ in 0..response.depth {
        let mut next = BTreeSet::new();
        for symbol_id in &frontier {
            let mut edges = Vec::new();
            if matches!(params.direction, CallDirection::Callers | CallDirection::Both) {
                edges.extend(reader.callers(symbol_id)?);
            }
            if matches!(params.direction, CallDirection::Callees | CallDirection::Both) {
                edges.extend(reader.callees(symbol_id)?);
            }
            // What is sure is not pushed out of an answer by what only may be.
            edges.sort_by_key(|edge| edge.confidence < SURE);
            for edge in edges {
                let key = (
                    edge.src_symbol_id.clone(),
                    edge.dst_symbol_id.clone(),
                    edge.site_file.clone(),
                    edge.site_line,
                );
                if !seen.insert(key) {
                    continue;
                }
                total += 1;
                if total > offset + limit {
                    continue;
                }
                for end in [&edge.src_symbol_id, &edge.dst_symbol_id] {
                    let is_new = seen_nodes.insert(end.clone());
                    if is_new {
                        next.insert(end.clone());
                    }
                    if total > offset
                        && !nodes.contains_key(end)
                        && let Some(symbol) = reader.symbol(end)?
                    {
                        nodes.insert(end.clone(), symbol);
                    }
                }
                if total > offset {
                    response.edges.push(call_edge(edge));
                }
            }
        }
        frontier = next.into_iter().collect();
        // The next step is not looked at when this one has filled the answer.
        if total > offset + limit {
            break;
        }
    }
    response.total_edge_count = total as u64;
    let files: BTreeSet<&String> = nodes.values().map(|symbol| &symbol.rel_path).collect();
    let mut notes = Vec::new();
    for file in files {
        notes.extend(
            reader
                .notes_in(file)?
                .into_iter()
                .filter(|note| note.symbol_id.as_ref().is_none_or(|symbol_id| nodes.contains_key(symbol_id))),
        );
    }
    response.total_note_count = notes.len() as u64;
    response.notes_truncated = notes.len() > CallGraphParams::MAX_NOTES;
    if response.notes_truncated {
        response
            .warnings
            .push(Warning::new("CALL_GRAPH_NOTES_TRUNCATED", "There are more notes than an answer holds."));
    }
    notes.truncate(CallGraphParams::MAX_NOTES);
    response.notes = notes.into_iter().map(call_note).collect();
    response.returned_note_count = response.notes.len() as u64;
    let mut nodes: Vec<Symbol> = nodes.into_values().collect();
    nodes.sort_by(|a, b| {
        (&a.rel_path, a.start_line, &a.symbol_id).cmp(&(&b.rel_path, b.start_line, &b.symbol_id))
    });
    response.nodes = nodes.into_iter().map(call_node).collect();
    Ok(())
}

fn call_node(symbol: Symbol) -> CallNode {
    CallNode {
        symbol_id: symbol.symbol_id,
        symbol_label: Some(symbol.label),
        file: symbol.rel_path,
        language: symbol.language,
        span: Span { start_line: symbol.start_line, end_line: symbol.end_line },
    }
}

fn call_edge(edge: store::CallEdge) -> CallEdge {
    CallEdge {
        src_symbol_id: edge.src_symbol_id,
        dst_symbol_id: edge.dst_symbol_id,
        kind: match edge.kind {
            EdgeKind::Call => CallKind::Call,
            EdgeKind::Import => CallKind::Import,
            EdgeKind::Dynamic => CallKind::Dynamic,
            EdgeKind::Implements => CallKind::Implements,
        },
        site: CallSite { file: edge.site_file, start_line: edge.site_line },
        confidence: (f64::from(edge.confidence) * 100.0).round() / 100.0,
    }
}

fn call_note(note: store::GraphNote) -> CallNote {
    CallNote {
        r#type: match note.kind {
            NoteKind::UnresolvedEdge => CallNoteType::UnresolvedEdge,
            NoteKind::DynamicEdge => CallNoteType::DynamicEdge,
            NoteKind::MissingSymbolMetadata => CallNoteType::MissingSymbolMetadata,
        },
        file: note.file,
        start_line: note.start_line,
        symbol_id: note.symbol_id,
        detail: note.detail,
    }
}

fn refuse(response: &mut CallGraphResponse, status: IndexStatus, reason: NonOkReason) {
    response.status = status;
    response.reason = Some(reason);
    response.supported = false;
}

fn empty(params: &CallGraphParams, codebase_path: Option<String>) -> CallGraphResponse {
    CallGraphResponse {
        status: IndexStatus::Ok,
        reason: None,
        path: params.path.clone(),
        codebase_path,
        symbol_ref: params.symbol_ref.clone(),
        supported: true,
        direction: params.direction,
        depth: params.depth.unwrap_or(1),
        limit: params.limit.unwrap_or(CallGraphParams::DEFAULT_LIMIT),
        nodes: Vec::new(),
        edges: Vec::new(),
        total_edge_count: 0,
        offset: params.offset.unwrap_or(0),
        notes: Vec::new(),
        warnings: Vec::new(),
        notes_truncated: false,
        total_note_count: 0,
        returned_note_count: 0,
        sidecar: None,
        message: None,
        hints: None,
        indexing: None,
        compatibility: None,
        freshness_decision: None,
    }
}
