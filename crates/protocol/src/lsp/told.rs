//! The text form of diagnostics that a model reads after an edit, and what a person is shown of it.
//!
//! `chartroom-lsp` writes this text. It reaches an agent in a hook's answer or a tool's result and comes back to us only
//! as text: in the agent's own session file, or in the result of a tool that another process of ours has answered.

use serde::{Deserialize, Serialize};

use super::Severity;

/// What stands before the block of a file that was changed.
pub const THIS_FILE: &str = "LSP errors detected in this file, please fix:\n";
/// What stands before the block of a file that another one's change has broken.
pub const OTHER_FILES: &str = "LSP errors detected in other files:\n";
/// How a file's block begins, before its path.
pub const BLOCK_START: &str = "<diagnostics file=\"";
/// How a file's block ends.
pub const BLOCK_END: &str = "</diagnostics>";
/// What stands before the number of those that were left out of a block.
pub const LEFT_OUT: &str = "... and ";

/// What stands after the number of those that the change has brought.
pub const ARE_NEW: &str = " of these are new";

/// What an agent was told about errors after it changed a file: the text word for word, and how much it says.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
#[serde(rename_all = "camelCase")]
pub struct ToldDiagnostics {
    /// What it read, word for word.
    pub text: String,
    /// How many errors are in it.
    pub errors: u32,
    /// Warnings, infos and hints.
    pub warnings: u32,
    /// Those of which it was told only that they are there.
    #[serde(default, skip_serializing_if = "crate::upsert::is_zero")]
    #[ts(optional, as = "Option<u32>")]
    pub left_out: u32,
    /// How many of them the change has brought, where the user wants that told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub new: Option<u32>,
}

impl ToldDiagnostics {
    /// Finds the diagnostics in what an agent has read; `None` when there are none in it.
    pub fn read(text: &str) -> Option<Self> {
        let start = [THIS_FILE, OTHER_FILES, BLOCK_START].iter().filter_map(|head| text.find(head)).min()?;
        let text = text[start..].trim_end();
        let mut told = Self { text: text.to_owned(), errors: 0, warnings: 0, left_out: 0, new: None };
        let mut in_block = false;
        for line in text.lines() {
            if line.starts_with(BLOCK_START) {
                in_block = true;
            } else if line == BLOCK_END {
                in_block = false;
            } else if in_block {
                told.count(line);
            } else if let Some(number) = line.strip_suffix(ARE_NEW) {
                told.new = number.parse().ok();
            }
        }
        (told.errors + told.warnings + told.left_out > 0).then_some(told)
    }

    fn count(&mut self, line: &str) {
        let left_out = line.strip_prefix(LEFT_OUT).and_then(|rest| rest.strip_suffix(" more"));
        if let Some(number) = left_out.and_then(|number| number.parse::<u32>().ok()) {
            self.left_out = self.left_out.saturating_add(number);
            return;
        }
        let word = line.split_once(" [").map(|(word, _)| word);
        match Severity::ALL.into_iter().find(|severity| Some(severity.as_str()) == word) {
            Some(Severity::Error) => self.errors += 1,
            Some(Severity::Warning | Severity::Info | Severity::Hint) => self.warnings += 1,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, u32, u32, u32)>) {
        let told = ToldDiagnostics::read(text);
        let seen = told.as_ref().map(|told| (told.text.as_str(), told.errors, told.warnings, told.left_out));
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn what_was_told_is_found_after_what_the_tool_said() {
        let told = "LSP errors detected in this file, please fix:\n<diagnostics file=\"src/a.ts\">\n\
                    ERROR [1:14] Type 'string' is not assignable to type 'number'. (2322)\n\
                    WARNING [2:1] unused\nHINT [3:1] shorter\n</diagnostics>";
        check(told, Some((told, 1, 2, 0)));
        check(&format!("The file was written.\n\n{told}\n"), Some((told, 1, 2, 0)));
        let marked = format!("{told}\n1 of these are new");
        check(&marked, Some((&marked, 1, 2, 0)));
        assert_eq!(ToldDiagnostics::read(&marked).and_then(|told| told.new), Some(1));
        assert_eq!(ToldDiagnostics::read(told).and_then(|told| told.new), None);
    }

    #[test]
    fn several_files_are_counted_together_with_what_was_left_out() {
        let told = "LSP errors detected in this file, please fix:\n<diagnostics file=\"a\">\nERROR [1:1] x\n\
                    ... and 7 more\n</diagnostics>\n\nLSP errors detected in other files:\n\
                    <diagnostics file=\"b\">\nERROR [1:1] y\n... and 3 more\n</diagnostics>";
        check(told, Some((told, 2, 0, 10)));
    }

    #[test]
    fn a_text_without_diagnostics_tells_none() {
        for text in [
            "",
            "The file was written.",
            "ERROR [1:1] of another program",
            "<diagnostics file=\"a\">\n</diagnostics>",
            "LSP errors detected in other files:\n",
            "<diagnostics file=\"a\">\n</diagnostics>\nERROR [1:1] outside",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_message_that_looks_like_our_marks_stays_a_message() {
        let told = "<diagnostics file=\"a\">\nERROR [1:1] </diagnostics> ERROR [2:2] \"... and 9 more\"\n</diagnostics>";
        check(told, Some((told, 1, 0, 0)));
    }
}
