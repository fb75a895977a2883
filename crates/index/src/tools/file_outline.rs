//! `file_outline`: the symbols of one file, as of the last sync.

use std::path::Path;

use chartroom_protocol::index::{
    CallGraphHint, FileOutlineParams, FileOutlineResponse, IndexStatus, Outline, OutlineSymbol, ResolveMode,
    Span, SymbolRef, Warning,
};
use chartroom_workspace::{CanonicalRoot, boundary};

use super::ToolError;
use super::answer::refusal;
use super::resolve::resolve;
use crate::catalog::CodebaseInfo;
use crate::core::ReadContext;
use crate::identity::normalize_rel_path;
use chartroom_search::scan::{self, ScanOptions};
use chartroom_search::store::Symbol;
use chartroom_search::symbols::Language;

/// Answers from the index; never syncs.
pub(crate) fn outline(
    context: ReadContext<'_>,
    params: &FileOutlineParams,
) -> Result<FileOutlineResponse, ToolError> {
    validate(params)?;
    let resolved = resolve(context, &params.path)?;
    let mut response = FileOutlineResponse {
        status: IndexStatus::Ok,
        reason: None,
        path: params.path.clone(),
        codebase_path: resolved.root.clone(),
        file: params.file.clone(),
        outline: None,
        has_more: false,
        warnings: Vec::new(),
        message: None,
        hints: None,
        indexing: None,
        compatibility: None,
    };
    let mut hints = match refusal(&resolved, &params.path, context.fingerprint) {
        Ok(hints) => hints,
        Err(refusal) => {
            response.status = refusal.status;
            response.reason = Some(refusal.reason);
            response.message = Some(refusal.message);
            response.hints = refusal.hints.some();
            response.indexing = refusal.indexing;
            response.compatibility = refusal.compatibility;
            return Ok(response);
        }
    };
    let root = resolved.root.unwrap_or_default();
    let file = inside(&root, &params.file)?;
    response.file.clone_from(&file);
    if let Some(refused) = unsupported(&root, &file) {
        response.status = refused.0;
        response.message = Some(refused.1);
        hints.supported_extensions = refused.2;
        response.hints = hints.some();
        return Ok(response);
    }
    let failed = |error: chartroom_search::store::StoreError| {
        ToolError(format!("The outline of '{file}' cannot be read: {error}."))
    };
    let Some(reader) = context.store.open_reader(&root).map_err(failed)? else {
        return Err(ToolError(format!(
            "The index of '{root}' is gone; run manage_index with action='status'."
        )));
    };
    let mut symbols = reader.symbols_in(&file).map_err(failed)?;
    let is_known = reader.manifest().map_err(failed)?.files.contains_key(&file);
    if symbols.is_empty() {
        response.warnings.push(why_empty(&root, &file, is_known, resolved.info.as_ref()));
    }
    symbols.retain(|symbol| overlaps(symbol, params));
    match params.resolve_mode {
        ResolveMode::Outline => {
            let limit = params.limit_symbols.unwrap_or(FileOutlineParams::DEFAULT_LIMIT) as usize;
            response.has_more = symbols.len() > limit;
            symbols.truncate(limit);
        }
        ResolveMode::Exact => {
            symbols.retain(|symbol| is_exactly(symbol, params));
            response.status = match symbols.len() {
                0 => IndexStatus::NotFound,
                1 => IndexStatus::Ok,
                _ => IndexStatus::Ambiguous,
            };
            response.message = match symbols.len() {
                0 => Some(format!("No such symbol in '{file}'.")),
                1 => None,
                found => {
                    let list: Vec<String> = symbols
                        .iter()
                        .take(FileOutlineParams::DEFAULT_LIMIT as usize)
                        .map(|symbol| {
                            format!("{} is {} at {}", symbol.symbol_id, symbol.label, symbol.start_line)
                        })
                        .collect();
                    let list = list.join(", ");
                    Some(format!("{found} symbols match in '{file}': {list}; ask again with symbolIdExact."))
                }
            };
        }
    }
    response.outline = Some(Outline { symbols: symbols.into_iter().map(outline_symbol).collect() });
    response.hints = hints.some();
    Ok(response)
}

/// Why there is nothing to show of a file that exists.
fn why_empty(root: &str, file: &str, is_known: bool, info: Option<&CodebaseInfo>) -> Warning {
    if is_known {
        let failed = info.is_some_and(|info| info.left_out.unparsed.iter().any(|path| path == file));
        let text = if failed {
            "The parser failed on this file: it is indexed by lines, without symbols."
        } else {
            "The file has no symbols in the index."
        };
        return Warning::new("OUTLINE_MISSING_SYMBOL_METADATA", text);
    }
    let custom_extensions = info.map(|info| info.options.custom_extensions.clone()).unwrap_or_default();
    let options = ScanOptions { custom_extensions, ..ScanOptions::default() };
    let text = match scan::why_not(Path::new(root), file, &options) {
        Some(reason) => format!("'{file}' is not indexed. It is a file {}.", reason.words()),
        None => format!(
            "'{file}' is not in the index: an ignore rule names it, or it came after the last sync (run manage_index with action='sync')."
        ),
    };
    Warning::new("FILE_NOT_INDEXED", text)
}

fn validate(params: &FileOutlineParams) -> Result<(), ToolError> {
    if params.resolve_mode == ResolveMode::Exact
        && params.symbol_id_exact.is_none()
        && params.symbol_label_exact.is_none()
    {
        return Err(ToolError("resolveMode 'exact' needs symbolIdExact or symbolLabelExact.".into()));
    }
    let zero = |line: Option<u32>| line == Some(0);
    if zero(params.start_line) || zero(params.end_line) || params.limit_symbols == Some(0) {
        return Err(ToolError("start_line, end_line and limitSymbols count from 1.".into()));
    }
    if let (Some(start), Some(end)) = (params.start_line, params.end_line)
        && start > end
    {
        return Err(ToolError(format!("start_line {start} is after end_line {end}.")));
    }
    Ok(())
}

/// The file as the manifest spells it. An absolute path inside the root is fine, anything outside is not.
pub(super) fn inside(root: &str, file: &str) -> Result<String, ToolError> {
    let relative = if Path::new(file).is_absolute() {
        crate::identity::below(root, file).unwrap_or_else(|| "..".into())
    } else {
        file.to_owned()
    };
    normalize_rel_path(&relative)
        .ok_or_else(|| ToolError(format!("File '{file}' is outside of codebase '{root}'.")))
}

type Refused = (IndexStatus, String, Option<Vec<String>>);

fn unsupported(root: &str, file: &str) -> Option<Refused> {
    let path = Path::new(file);
    let place = CanonicalRoot::open(Path::new(root)).ok().and_then(|root| boundary::inside(&root, path).ok());
    if !place.is_some_and(|place| place.is_file()) {
        return Some((IndexStatus::NotFound, format!("File '{file}' does not exist in '{root}'."), None));
    }
    let extensions = Language::symbol_extensions();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extensions.iter().any(|known| known.trim_start_matches('.').eq_ignore_ascii_case(extension)) {
        return None;
    }
    let text = format!("No outline for '{file}'. Supported: {}.", extensions.join(" "));
    Some((IndexStatus::Unsupported, text, Some(extensions)))
}

fn overlaps(symbol: &Symbol, params: &FileOutlineParams) -> bool {
    params.start_line.is_none_or(|start| symbol.end_line >= start)
        && params.end_line.is_none_or(|end| symbol.start_line <= end)
}

fn is_exactly(symbol: &Symbol, params: &FileOutlineParams) -> bool {
    params.symbol_id_exact.as_ref().is_none_or(|id| symbol.symbol_id == *id)
        && params.symbol_label_exact.as_ref().is_none_or(|label| {
            symbol.label == *label
                || symbol.qualified_name == *label
                || symbol.qualified_name.rsplit('.').next() == Some(label)
        })
}

/// A symbol as answers show it.
pub(super) fn outline_symbol(symbol: Symbol) -> OutlineSymbol {
    let span = Span { start_line: symbol.start_line, end_line: symbol.end_line };
    OutlineSymbol {
        call_graph_hint: CallGraphHint::supported(SymbolRef {
            file: symbol.rel_path,
            symbol_id: symbol.symbol_id.clone(),
            symbol_label: Some(symbol.label.clone()),
            span: Some(span),
        }),
        symbol_id: symbol.symbol_id,
        symbol_label: symbol.label,
        kind: symbol.kind.as_str().to_owned(),
        span,
    }
}
