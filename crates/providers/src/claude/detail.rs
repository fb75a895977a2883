//! What the page shows of a Claude tool beside its text: which card, the diff, the exit code, how long it took.

use std::time::Duration;

use chartroom_protocol::lsp::ToldDiagnostics;
use chartroom_protocol::upsert::{FileDiff, ToolDetail, ToolKind};
use serde_json::{Map, Value};

use crate::diff;
use crate::json::{optional_text, text};

/// Returns which card a tool of this name gets.
pub fn kind(tool_name: &str) -> ToolKind {
    match tool_name {
        "Bash" | "BashOutput" | "KillBash" | "KillShell" | "Monitor" => ToolKind::Shell,
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Read" | "NotebookRead" => ToolKind::Read,
        "Grep" | "Glob" | "LS" | "ToolSearch" => ToolKind::Search,
        "WebFetch" | "WebSearch" => ToolKind::Web,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => ToolKind::Todo,
        "Task" | "Agent" => ToolKind::Subagent,
        name if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// Returns the detail of a call before it runs, for the permission dialog: what would be changed.
pub fn of_call(tool_name: &str, arguments: &Value) -> ToolDetail {
    ToolDetail {
        kind: Some(kind(tool_name)),
        title: optional_text(arguments, "/description").map(str::to_owned),
        diffs: proposed(tool_name, arguments),
        ..ToolDetail::default()
    }
}

/// Returns the detail of a finished call.
pub fn of_result(
    tool_name: &str,
    arguments: Option<&Map<String, Value>>,
    result: Option<&Value>,
    output: &str,
    duration: Option<Duration>,
) -> ToolDetail {
    let kind = kind(tool_name);
    let description = arguments.and_then(|arguments| arguments.get("description")).and_then(Value::as_str);
    ToolDetail {
        kind: Some(kind),
        title: description.filter(|description| !description.is_empty()).map(str::to_owned),
        diffs: result.map(changed).unwrap_or_default(),
        exit_code: (kind == ToolKind::Shell).then(|| exit_code(result, output)).flatten(),
        duration_ms: duration.map(|duration| duration.as_millis() as u64),
        truncated_from: None,
        diagnostics: tells_diagnostics(tool_name).then(|| ToldDiagnostics::read(output)).flatten(),
        sandbox: None,
    }
}

/// Tells whether this is an edit tool of `chartroom mcp`, whose answer has the diagnostics in it.
fn tells_diagnostics(tool_name: &str) -> bool {
    let name = tool_name.strip_prefix("mcp__").and_then(|name| name.split_once("__"));
    name.is_some_and(|(_, tool)| crate::agent_tools::EDIT_TOOLS.contains(&tool))
}

/// Returns the text of a tool result's content: a string, or blocks of which the text ones count.
pub fn result_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(blocks)) => {
            let parts: Vec<&str> = blocks
                .iter()
                .map(|block| match text(block, "/type") {
                    "image" => "[image]",
                    _ => text(block, "/text"),
                })
                .collect();
            parts.join("\n")
        }
        _ => String::new(),
    }
}

/// The CLI says a failed command's code in its text only: "Exit code 3".
fn exit_code(result: Option<&Value>, output: &str) -> Option<i32> {
    if let Some(code) = output.strip_prefix("Exit code ") {
        let digits: String = code.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        return digits.parse().ok();
    }
    let ran = result.is_some_and(|result| result.get("stdout").is_some());
    let interrupted =
        result.and_then(|result| result.get("interrupted")).and_then(Value::as_bool).unwrap_or(false);
    (ran && !interrupted).then_some(0)
}

/// What an edit really changed.
fn changed(result: &Value) -> Vec<FileDiff> {
    let Some(path) = optional_text(result, "/filePath") else { return Vec::new() };
    let patch =
        result.get("structuredPatch").filter(|patch| patch.as_array().is_some_and(|hunks| !hunks.is_empty()));
    if let Some(patch) = patch {
        return vec![diff::from_structured_patch(path, patch)];
    }
    // A new file comes with its content and no patch.
    let is_new = text(result, "/type") == "create" || result.get("originalFile") == Some(&Value::Null);
    match optional_text(result, "/content") {
        Some(content) if is_new => vec![diff::between(path, "", content)],
        _ => Vec::new(),
    }
}

/// What an edit would change, as far as its arguments tell.
fn proposed(tool_name: &str, arguments: &Value) -> Vec<FileDiff> {
    let path = diff::path_of(arguments, &["/file_path", "/notebook_path"]);
    match tool_name {
        "Write" => vec![diff::whole(path, "", text(arguments, "/content"))],
        "Edit" => vec![diff::whole(path, text(arguments, "/old_string"), text(arguments, "/new_string"))],
        "MultiEdit" => crate::json::list(arguments, "/edits")
            .iter()
            .map(|edit| diff::whole(path, text(edit, "/old_string"), text(edit, "/new_string")))
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_card_follows_from_the_tools_name() {
        let cards = [
            ("Bash", ToolKind::Shell),
            ("Edit", ToolKind::Edit),
            ("Read", ToolKind::Read),
            ("Grep", ToolKind::Search),
            ("WebFetch", ToolKind::Web),
            ("mcp__charts__search", ToolKind::Mcp),
            ("TodoWrite", ToolKind::Todo),
            ("Task", ToolKind::Subagent),
            ("SomethingNew", ToolKind::Other),
        ];
        for (name, expected) in cards {
            assert_eq!(kind(name), expected, "{name}");
        }
    }

    #[test]
    fn a_failed_command_has_its_exit_code_and_a_good_one_zero() {
        let code =
            |result: Value, output: &str| of_result("Bash", None, Some(&result), output, None).exit_code;
        assert_eq!(code(json!("Error: Exit code 3"), "Exit code 3\nboom"), Some(3));
        assert_eq!(code(json!({"stdout": "A", "stderr": "", "interrupted": false}), "A"), Some(0));
        assert_eq!(code(json!({"stdout": "", "interrupted": true}), ""), None);
        assert_eq!(code(json!("Error: no, not now"), "no, not now"), None);
    }

    #[test]
    fn an_edit_shows_the_patch_that_was_applied() {
        let result = json!({"filePath": "/p/a.txt", "oldString": "a", "newString": "b", "originalFile": "a\n",
            "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-a", "+b"]}]});
        let detail = of_result("Edit", None, Some(&result), "ok", Some(Duration::from_millis(12)));
        assert_eq!(
            (detail.diffs[0].path.as_str(), detail.diffs[0].added, detail.diffs[0].removed),
            ("/p/a.txt", 1, 1)
        );
        assert_eq!(detail.duration_ms, Some(12));
    }

    #[test]
    fn a_new_file_shows_its_content_as_added() {
        let result = json!({"type": "create", "filePath": "/p/n.txt", "content": "x\ny\n", "structuredPatch": [], "originalFile": null});
        assert_eq!(of_result("Write", None, Some(&result), "ok", None).diffs[0].added, 2);
    }

    #[test]
    fn a_permission_dialog_shows_what_would_change() {
        let call = of_call("Edit", &json!({"file_path": "/p/a", "old_string": "x", "new_string": "y\nz"}));
        assert_eq!((call.diffs[0].added, call.diffs[0].removed), (2, 1));
        let shell = of_call("Bash", &json!({"command": "ls", "description": "list files"}));
        assert_eq!(shell.title.as_deref(), Some("list files"));
    }
}
