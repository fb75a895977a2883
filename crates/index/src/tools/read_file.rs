//! `read_file`: lines of a file inside a tracked codebase. Never blocked by the index's state.

use std::path::Path;

use chartroom_protocol::index::{
    FileOutlineParams, FileOutlineResponse, Hints, IndexStatus, ManageAction, NonOkReason, OpenSymbol,
    ReadFileParams, ReadFileResponse, ReadMode, ResolveMode, Span, ToolHint,
};
use chartroom_workspace::CanonicalRoot;
use chartroom_workspace::boundary::{self, ReadError};
use chartroom_workspace::limits::READ_FILE;
use serde_json::json;

use super::ToolError;
use super::file_outline;
use super::resolve::canonical_of;
use crate::core::ReadContext;
use crate::identity::{below, enclosing};

/// How many symbols are looked at when one is opened by its label.
const OPEN_LIMIT: u32 = 25;

/// Reads a range, the file's beginning, or a symbol.
pub(crate) fn read(context: ReadContext<'_>, params: &ReadFileParams) -> Result<ReadFileResponse, ToolError> {
    validate(params)?;
    let canonical = canonical_of(&params.path)?;
    let view = context.view();
    let root = enclosing(view.doc.codebases.keys().map(String::as_str), &canonical).map(ToOwned::to_owned);
    let Some(root) = root else {
        if params.open_symbol.is_some() {
            return Ok(unresolvable(params, view.doc.codebases.keys().map(String::as_str)));
        }
        return Err(ToolError(format!(
            "File '{}' is not inside a tracked codebase. list_codebases shows them.",
            params.path
        )));
    };
    let lines = Lines::open(&root, &canonical, &params.path)?;
    let file = below(&root, &canonical).unwrap_or_default();
    let mut response = ReadFileResponse {
        status: IndexStatus::Ok,
        reason: None,
        path: params.path.clone(),
        mode: params.mode,
        content: None,
        span: None,
        total_lines: Some(lines.total()),
        truncated: false,
        file: Some(file.clone()),
        outline_status: None,
        outline: None,
        matches: None,
        has_more: None,
        warnings: Vec::new(),
        message: None,
        hints: None,
    };
    let (start, end) = match &params.open_symbol {
        None => (params.start_line, params.end_line),
        Some(OpenSymbol { start_line: Some(start), end_line, .. }) => (Some(*start), *end_line),
        Some(symbol) => match open_symbol(context, &root, &file, symbol)? {
            Ok(span) => (Some(span.start_line), Some(span.end_line)),
            Err(found) => {
                response.status = found.status;
                response.reason = found.reason;
                response.message = found.message;
                response.warnings = found.warnings;
                response.hints = found.hints;
                response.matches = found.outline.filter(|outline| !outline.symbols.is_empty());
                response.total_lines = None;
                return Ok(response);
            }
        },
    };
    lines.fill(start, end, &params.path, &mut response);
    if params.mode == ReadMode::Annotated {
        annotate(context, &root, &file, &mut response);
    }
    Ok(response)
}

fn validate(params: &ReadFileParams) -> Result<(), ToolError> {
    let symbol = params.open_symbol.as_ref();
    let lines = [
        params.start_line,
        params.end_line,
        symbol.and_then(|symbol| symbol.start_line),
        symbol.and_then(|symbol| symbol.end_line),
    ];
    if lines.contains(&Some(0)) {
        return Err(ToolError("start_line and end_line count from 1.".into()));
    }
    if let (Some(start), Some(end)) = (params.start_line, params.end_line)
        && start > end
    {
        return Err(ToolError(format!("start_line {start} is after end_line {end}.")));
    }
    let empty = symbol.is_some_and(|symbol| {
        symbol.symbol_id.is_none() && symbol.symbol_label.is_none() && symbol.start_line.is_none()
    });
    if empty {
        return Err(ToolError("open_symbol needs symbolId, symbolLabel or start_line.".into()));
    }
    Ok(())
}

/// Where the symbol is, or the outline's answer that says why that is not known.
fn open_symbol(
    context: ReadContext<'_>,
    root: &str,
    file: &str,
    symbol: &OpenSymbol,
) -> Result<Result<Span, Box<FileOutlineResponse>>, ToolError> {
    let mut params = outline_params(root, file);
    params.limit_symbols = Some(OPEN_LIMIT);
    params.resolve_mode = ResolveMode::Exact;
    params.symbol_id_exact.clone_from(&symbol.symbol_id);
    params.symbol_label_exact.clone_from(&symbol.symbol_label);
    let found = file_outline::outline(context, &params)?;
    let span = found.outline.as_ref().and_then(|outline| outline.symbols.first()).map(|symbol| symbol.span);
    Ok(match (found.status, span) {
        (IndexStatus::Ok, Some(span)) => Ok(span),
        _ => Err(Box::new(found)),
    })
}

fn annotate(context: ReadContext<'_>, root: &str, file: &str, response: &mut ReadFileResponse) {
    match file_outline::outline(context, &outline_params(root, file)) {
        Ok(found) => {
            response.outline_status = Some(found.status);
            response.outline = found.outline;
            response.has_more = Some(found.has_more);
            response.warnings.extend(found.warnings);
            response.hints = found.hints;
            response.message = found.message;
        }
        Err(error) => {
            response.outline_status = Some(IndexStatus::Error);
            response.message = Some(error.0);
        }
    }
}

fn outline_params(root: &str, file: &str) -> FileOutlineParams {
    FileOutlineParams {
        path: root.into(),
        file: file.into(),
        start_line: None,
        end_line: None,
        limit_symbols: None,
        resolve_mode: ResolveMode::Outline,
        symbol_id_exact: None,
        symbol_label_exact: None,
        detail: Default::default(),
    }
}

/// A symbol of a file that no tracked codebase holds.
fn unresolvable<'a>(params: &ReadFileParams, roots: impl Iterator<Item = &'a str>) -> ReadFileResponse {
    let roots: Vec<_> = roots.collect();
    let next_steps = match roots.as_slice() {
        [only] => vec![ToolHint {
            tool: "manage_index".into(),
            args: json!({"action": ManageAction::Status, "path": only}),
        }],
        _ => vec![ToolHint { tool: "list_codebases".into(), args: json!({}) }],
    };
    ReadFileResponse {
        status: IndexStatus::RequiresReindex,
        reason: Some(NonOkReason::RequiresReindex),
        path: params.path.clone(),
        mode: params.mode,
        content: None,
        span: None,
        total_lines: None,
        truncated: false,
        file: None,
        outline_status: None,
        outline: None,
        matches: None,
        has_more: None,
        warnings: Vec::new(),
        message: Some(format!(
            "File '{}' is not inside a tracked codebase; its symbols are not known.",
            params.path
        )),
        hints: Some(Hints { next_steps: Some(next_steps), ..Hints::default() }),
    }
}

/// A file's text by lines.
struct Lines {
    text: String,
}

impl Lines {
    fn open(root: &str, canonical: &str, requested: &str) -> Result<Self, ToolError> {
        let not_found = || ToolError(format!("File '{requested}' does not exist."));
        let root = CanonicalRoot::open(root).map_err(|_| not_found())?;
        let place =
            boundary::inside(&root, Path::new(canonical)).map_err(|error| ToolError(format!("{error}.")))?;
        let (bytes, _) = place.read(READ_FILE).map_err(|error| match error {
            ReadError::Missing => not_found(),
            ReadError::Folder | ReadError::NotAFile => ToolError(format!("'{requested}' is not a file.")),
            ReadError::TooLarge { size, limit } => {
                ToolError(format!("File '{requested}' has {size} bytes; files over {limit} are not read."))
            }
            ReadError::Swapped => ToolError(format!("File '{requested}' cannot be read: {error}.")),
            ReadError::Io(error) => ToolError(format!("File '{requested}' cannot be read: {error}.")),
        })?;
        if chartroom_workspace::binary::looks_binary(&bytes[..bytes.len().min(8192)]) {
            return Err(ToolError(format!("File '{requested}' is binary.")));
        }
        let text = String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        Ok(Self { text })
    }

    fn total(&self) -> u32 {
        u32::try_from(self.text.lines().count()).unwrap_or(u32::MAX)
    }

    /// No range: the first lines. Start only: as many from there. End only: from the first. Both: exactly those.
    fn fill(&self, start: Option<u32>, end: Option<u32>, path: &str, response: &mut ReadFileResponse) {
        let total = self.total();
        let first = start.unwrap_or(1);
        let capped = first.saturating_add(ReadFileParams::MAX_LINES - 1);
        let last = end.unwrap_or(capped).min(total);
        let wanted = (first as usize).saturating_sub(1)..last as usize;
        let lines: Vec<&str> =
            self.text.lines().skip(wanted.start).take(wanted.end.saturating_sub(wanted.start)).collect();
        let mut content = lines.join("\n");
        response.truncated = end.is_none() && last < total;
        if response.truncated {
            content.push_str(&format!(
                "\n(File truncated at line {last}. To read more, call read_file with path=\"{path}\" and start_line={}.)",
                last + 1
            ));
        }
        response.span = (first <= last).then_some(Span { start_line: first, end_line: last });
        response.content = Some(content);
    }
}
