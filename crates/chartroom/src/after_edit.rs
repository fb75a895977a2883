//! What an agent reads after its own tools have written a file: its diagnostics.

use chartroom_edits::{Baseline, Changed, feedback};
use chartroom_lsp::LspHandle;
use chartroom_protocol::lsp::{CheckScope, FileText};
use serde_json::Value;

/// The tools of Claude Code that write a file, as a hook's matcher.
pub(crate) const TOOLS: &str = "Write|Edit|MultiEdit";

/// A file that a tool has written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mutation {
    pub(crate) file: String,
    pub(crate) scope: CheckScope,
}

impl Mutation {
    /// Reads a tool's name and arguments; nothing for a tool that writes no file.
    pub(crate) fn read(tool_name: &str, input: &Value) -> Option<Self> {
        let scope = match tool_name {
            "Edit" | "MultiEdit" => CheckScope::Files,
            "Write" => CheckScope::Project,
            _ => return None,
        };
        Some(Self { file: input.get("file_path")?.as_str()?.to_owned(), scope })
    }

    /// Returns what the language servers say; nothing when they have nothing to say, or are not there.
    pub(crate) async fn diagnostics(self, lsp: &LspHandle) -> Option<String> {
        let written = vec![FileText { file_path: self.file, text: None }];
        let changed = Changed { written, removed: Vec::new() };
        let text = feedback(lsp, changed, self.scope, Baseline::default()).await;
        Some(text.trim_start().to_owned()).filter(|text| !text.is_empty())
    }
}
