//! The blocks that follow a success message.

use chartroom_protocol::lsp::told::{BLOCK_END, BLOCK_START, LEFT_OUT, OTHER_FILES, THIS_FILE};
use chartroom_protocol::lsp::{Diagnostic, FileDiagnostics, LspConfig};

use super::escape::{escape, path_attribute};

/// All diagnostic lines of one answer; overflow lines are not counted. Not configurable.
const TOTAL_LINES: usize = 50;

/// What stands between two blocks, and between what a tool said and the first of them.
const BEFORE_HEADING: &str = "\n\n";

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Diagnostics of one file.
    pub per_file: usize,
    /// Files beside the changed ones.
    pub other_files: usize,
    /// Diagnostics of a whole answer.
    pub total: usize,
}

impl Limits {
    /// Reads the caps of the config; the total is fixed.
    pub fn of(config: &LspConfig) -> Self {
        Self {
            per_file: config.max_diagnostics_per_file,
            other_files: config.max_project_diagnostics_files,
            total: TOTAL_LINES,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::of(&LspConfig::default())
    }
}

/// Returns what follows an edit or a patch: a block for each changed file that has diagnostics, or nothing.
pub fn after_edit(files: &[FileDiagnostics], limits: Limits) -> String {
    let mut left = limits.total;
    let mut text = String::new();
    for file in files {
        push_block(&mut text, (BEFORE_HEADING, THIS_FILE, Reader::Model), file, limits, &mut left);
    }
    text
}

/// Returns what follows a write: the written file's block, then those of other files, by path.
pub fn after_write(written: &[FileDiagnostics], others: &[FileDiagnostics], limits: Limits) -> String {
    let mut left = limits.total;
    let mut text = String::new();
    for file in written {
        push_block(&mut text, (BEFORE_HEADING, THIS_FILE, Reader::Model), file, limits, &mut left);
    }
    let mut others: Vec<_> = others.iter().filter(|file| !file.diagnostics.is_empty()).collect();
    // The worst are shown, in the order of their paths.
    others.sort_by(|a, b| (b.diagnostics.len(), &a.file).cmp(&(a.diagnostics.len(), &b.file)));
    others.truncate(limits.other_files);
    others.sort_by(|a, b| a.file.cmp(&b.file));
    for file in others {
        push_block(&mut text, (BEFORE_HEADING, OTHER_FILES, Reader::Model), file, limits, &mut left);
    }
    text
}

/// Who reads a text. What a server says is escaped for a model, who must not take it for the end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// An agent.
    Model,
    /// Somebody at a terminal.
    Person,
}

/// Returns bare blocks without headings, one under the other: what `chartroom check` and `lsp_check` print.
pub fn blocks(files: &[FileDiagnostics], limits: Limits, reader: Reader) -> String {
    let mut left = limits.total;
    let mut text = String::new();
    for file in files {
        push_block(&mut text, ("\n", "", reader), file, limits, &mut left);
    }
    text.trim_start_matches('\n').to_owned()
}

fn push_block(
    text: &mut String,
    (gap, heading, reader): (&str, &str, Reader),
    file: &FileDiagnostics,
    limits: Limits,
    left: &mut usize,
) {
    if file.diagnostics.is_empty() || *left == 0 {
        return;
    }
    let mut sorted: Vec<_> = file.diagnostics.iter().collect();
    sorted.sort_by(|a, b| order(a).cmp(&order(b)));
    let n_shown = sorted.len().min(limits.per_file).min(*left);
    *left -= n_shown;
    text.push_str(gap);
    text.push_str(heading);
    text.push_str(&format!("{BLOCK_START}{}\">\n", path_attribute(&file.file)));
    for diagnostic in &sorted[..n_shown] {
        text.push_str(&match reader {
            Reader::Model => line(diagnostic),
            Reader::Person => said(diagnostic, str::to_owned),
        });
        text.push('\n');
    }
    let n_hidden = sorted.len() - n_shown;
    if n_hidden > 0 {
        text.push_str(&format!("{LEFT_OUT}{n_hidden} more\n"));
    }
    text.push_str(BLOCK_END);
}

fn order(diagnostic: &Diagnostic) -> impl Ord + '_ {
    (
        diagnostic.line,
        diagnostic.character,
        diagnostic.severity,
        diagnostic.message.as_str(),
        diagnostic.code.as_ref(),
    )
}

/// Returns one diagnostic as `SEVERITY [line:col] message (code)`, for a model; without a code the brackets are left out.
pub fn line(diagnostic: &Diagnostic) -> String {
    said(diagnostic, escape)
}

fn said(diagnostic: &Diagnostic, show: fn(&str) -> String) -> String {
    let Diagnostic { line, character, severity, message, code, .. } = diagnostic;
    let (severity, message) = (severity.as_str(), show(message));
    match code {
        Some(code) => format!("{severity} [{line}:{character}] {message} ({})", show(&code.to_string())),
        None => format!("{severity} [{line}:{character}] {message}"),
    }
}

#[cfg(test)]
mod tests;
