//! An ACP tool call: its name, its arguments, what it said, and the card it gets.

use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::upsert::{FileDiff, ToolDetail, ToolKind};
use serde_json::{Map, Value, json};

use crate::agent_tools::EDIT_TOOLS;
use crate::diff;
use crate::json::{list, number, object, optional_text, text};

/// The shells that an agent runs its commands with.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "/bin/bash", "/usr/bin/bash", "/bin/sh", "/bin/zsh"];

/// What ACP says about a call, gathered over its updates.
#[derive(Debug, Clone, Default)]
pub(crate) struct Call {
    kind: String,
    title: String,
    input: Map<String, Value>,
    output: Option<Value>,
    content: Vec<Value>,
}

impl Call {
    /// Takes what a `tool_call` or `tool_call_update` says; what it leaves out stays.
    ///
    /// Except for the tool of an MCP server: while Codex asks about one, it calls it "Approve MCP tool call".
    pub(crate) fn take(&mut self, update: &Value) {
        let is_named = self.mcp_tool().is_some();
        if let Some(kind) = optional_text(update, "/kind") {
            kind.clone_into(&mut self.kind);
        }
        if let Some(title) = optional_text(update, "/title").filter(|_| !is_named) {
            title.clone_into(&mut self.title);
        }
        if let Some(input) = update.get("rawInput").filter(|_| !is_named) {
            self.input = object(Some(input));
        }
        if let Some(output) = update.get("rawOutput") {
            self.output = Some(output.clone());
        }
        if let Some(content) = update.get("content").and_then(Value::as_array) {
            self.content.clone_from(content);
        }
    }

    /// Returns the tool's name. ACP has none: the kind says what it is, the title what it does.
    pub(crate) fn name(&self) -> String {
        match (self.kind.as_str(), self.title.as_str()) {
            ("" | "other", "") => "tool".to_owned(),
            ("" | "other", title) => title.to_owned(),
            (kind, _) => kind.to_owned(),
        }
    }

    /// Returns the arguments as a person reads them: the exact command, without the agent's bookkeeping.
    pub(crate) fn arguments(&self) -> Map<String, Value> {
        let bookkeeping = [
            "call_id",
            "turn_id",
            "process_id",
            "started_at_ms",
            "source",
            "parsed_cmd",
            "auto_approved",
            "available_decisions",
            "reason",
            "proposed_execpolicy_amendment",
        ];
        let mut arguments: Map<String, Value> = self
            .input
            .iter()
            .filter(|(name, _)| !bookkeeping.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        // `["/bin/bash", "-lc", script]` is the script; any other command stays as it is, argument by argument. A shell
        // that lies anywhere else may be anything.
        if let Some([Value::String(shell), flag, script]) =
            arguments.get("command").and_then(Value::as_array).map(Vec::as_slice)
            && flag == "-lc"
            && SHELLS.contains(&shell.as_str())
        {
            let script = script.clone();
            arguments.insert("command".to_owned(), script);
        }
        if arguments.is_empty() && !self.title.is_empty() {
            arguments.insert("title".to_owned(), json!(self.title));
        }
        arguments
    }

    /// Returns what the tool said.
    pub(crate) fn output(&self) -> String {
        let from_raw = self.output.as_ref().and_then(|output| match output {
            Value::String(text) => Some(text.clone()),
            output => ["/formatted_output", "/aggregated_output", "/stdout"]
                .iter()
                .find_map(|pointer| optional_text(output, pointer))
                .map(str::to_owned),
        });
        from_raw.unwrap_or_else(|| {
            let texts: Vec<&str> =
                self.content.iter().filter_map(|part| optional_text(part, "/content/text")).collect();
            texts.join("\n")
        })
    }

    pub(crate) fn detail(&self) -> ToolDetail {
        let output = self.output.as_ref();
        let exit_code = output.and_then(|output| output.get("exit_code")).and_then(Value::as_i64);
        let seconds = output.and_then(|output| number(output, "/duration/secs"));
        let nanos = output.and_then(|output| number(output, "/duration/nanos")).unwrap_or_default();
        ToolDetail {
            kind: Some(self.tool_kind()),
            title: Some(self.title.clone()).filter(|title| !title.is_empty()),
            diffs: self.diffs(),
            exit_code: exit_code.and_then(|code| i32::try_from(code).ok()),
            duration_ms: seconds.map(|seconds| seconds * 1000 + nanos / 1_000_000),
            truncated_from: None,
            diagnostics: self.is_our_edit().then(|| ToldDiagnostics::read(&self.output())).flatten(),
            sandbox: None,
        }
    }

    /// Tells whether this is an edit tool of `chartroom mcp`, whose answer has the diagnostics in it.
    fn is_our_edit(&self) -> bool {
        self.mcp_tool().is_some_and(|tool| EDIT_TOOLS.contains(&tool))
    }

    /// Returns the name of an MCP server's tool, as Codex tells it.
    fn mcp_tool(&self) -> Option<&str> {
        self.input.get("server")?.as_str()?;
        self.input.get("tool")?.as_str()
    }

    fn tool_kind(&self) -> ToolKind {
        match self.kind.as_str() {
            "execute" => ToolKind::Shell,
            "edit" | "delete" | "move" => ToolKind::Edit,
            "read" => ToolKind::Read,
            "search" => ToolKind::Search,
            "fetch" => ToolKind::Web,
            // Replayed history has no kind, but the tool's own name as title.
            _ => match self.title.as_str() {
                "exec_command" | "shell" | "local_shell" => ToolKind::Shell,
                "apply_patch" => ToolKind::Edit,
                "update_plan" => ToolKind::Todo,
                _ => ToolKind::Other,
            },
        }
    }

    fn diffs(&self) -> Vec<FileDiff> {
        self.changes(diff::between)
    }

    /// Returns what the call would change, each line of it.
    pub(super) fn whole_diffs(&self) -> Vec<FileDiff> {
        self.changes(diff::whole)
    }

    fn changes(&self, compare: impl Fn(&str, &str, &str) -> FileDiff) -> Vec<FileDiff> {
        self.content
            .iter()
            .filter(|part| text(part, "/type") == "diff")
            .map(|part| compare(text(part, "/path"), text(part, "/oldText"), text(part, "/newText")))
            .collect()
    }

    /// Returns what the agent sent as the tool's input, as it came.
    pub(super) fn input(&self) -> &Map<String, Value> {
        &self.input
    }
}

/// Returns the text of an update's content, which is one block or several.
pub(crate) fn content_text(update: &Value) -> String {
    match update.get("content") {
        Some(Value::Array(_)) => list(update, "/content").iter().map(|part| text(part, "/text")).collect(),
        _ => text(update, "/content/text").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As codex-acp 0.16 tells a call of `chartroom mcp`, shortened.
    fn call(tool: &str, output: &str) -> Call {
        let mut call = Call::default();
        call.take(&json!({"title": format!("Tool: chartroom/{tool}"), "kind": "other",
            "rawInput": {"server": "chartroom", "tool": tool, "arguments": {"filePath": "a.ts"}}}));
        call.take(&json!({"title": "Approve MCP tool call", "rawInput": {"request_id": "1"}}));
        call.take(&json!({"status": "completed", "content": [{"type": "content", "content": {"type": "text", "text": output}}]}));
        call
    }

    #[test]
    fn what_an_edit_tool_of_ours_told_the_agent_is_told_apart() {
        let told = "<diagnostics file=\"a.ts\">\nERROR [1:14] x\n</diagnostics>";
        let output = format!("Created a.ts (1 line).\n\n{told}");
        let diagnostics = call("write_file", &output).detail().diagnostics.expect("it was told");
        assert_eq!((diagnostics.text.as_str(), diagnostics.errors), (told, 1));
        assert_eq!(call("write_file", &output).detail().title.as_deref(), Some("Tool: chartroom/write_file"));
        assert_eq!(call("write_file", "Created a.ts (1 line).").detail().diagnostics, None);
        // A file that was read may have such a text in it.
        assert_eq!(call("read_file", &output).detail().diagnostics, None);
    }
}
