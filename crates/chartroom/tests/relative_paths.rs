//! A relative path means a file of the session's own folder, whatever tool gets it and wherever the server was started.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::path::{Path, PathBuf};

use program::{Home, wait_until};
use serde_json::{Value, json};
use stdio::McpClient;

/// The arguments that name a file or a folder.
const PATHS: [&str; 3] = ["path", "filePath", "patch"];

/// Two indexed projects with a file of the same name; the server stands in the other one.
fn begin() -> (Home, PathBuf, McpClient) {
    let home = Home::new();
    let base = home.path().canonicalize().unwrap();
    let [project, other] = ["project", "other"].map(|name| base.join(name));
    for (folder, function) in [(&project, "of_project"), (&other, "of_other")] {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("same.py"), format!("def {function}():\n    return 1\n")).unwrap();
    }
    std::fs::write(other.join("elsewhere.py"), "def of_other_alone():\n    return 1\n").unwrap();
    let mut command = home.command(&["mcp", "--root", project.to_str().unwrap()]);
    command.current_dir(&other);
    let mut mcp = McpClient::start(command);
    for folder in [&project, &other] {
        let path = folder.to_str().unwrap();
        mcp.tool("manage_index", json!({ "action": "create", "path": path }));
        wait_until("it is indexed", || {
            let status = mcp.tool("manage_index", json!({ "action": "status", "path": path }));
            status["structuredContent"]["status"] == "ok"
        });
    }
    (home, project, mcp)
}

/// What a tool is called with to reach `file`.
fn arguments(tool: &str, file: &str, symbol: &str) -> Value {
    match tool {
        "manage_index" => json!({ "action": "status", "path": "." }),
        "search_codebase" => json!({ "path": ".", "query": "return 1" }),
        "file_outline" => json!({ "path": ".", "file": file }),
        "call_graph" => {
            json!({ "path": ".", "symbolRef": { "file": file, "symbolId": symbol }, "direction": "both" })
        }
        "read_file" => json!({ "path": file }),
        "edit_file" => json!({ "filePath": file, "oldText": "return 1", "newText": "return 2" }),
        "write_file" => json!({ "filePath": file, "content": "def of_project():\n    return 3\n" }),
        "apply_patch" => {
            json!({ "patch": format!("*** Begin Patch\n*** Update File: {file}\n@@\n-    return 3\n+    return 4\n*** End Patch") })
        }
        "lsp_check" | "lsp_document_symbols" => json!({ "filePath": file }),
        "lsp_find_references" | "lsp_goto_definition" | "lsp_hover" => {
            json!({ "filePath": file, "line": 1, "character": 5 })
        }
        "lsp_calls" => json!({ "filePath": file, "line": 1, "character": 5, "direction": "incoming" }),
        "rename_symbol" => {
            json!({ "filePath": file, "line": 1, "symbol": "of_project", "newName": "of_all" })
        }
        "edit_symbol" => json!({ "filePath": file, "symbol": "of_project", "action": "delete" }),
        "code_actions" => json!({ "filePath": file, "line": 1 }),
        "lsp_diagnostics" => json!({ "path": file }),
        other => panic!("{other} takes a path: give it arguments here"),
    }
}

#[test]
fn every_tool_takes_a_relative_path_from_the_sessions_root() {
    let (_home, project, mut mcp) = begin();
    let other = project.with_file_name("other");
    let listed = mcp.request("tools/list", json!({}));
    let takes_a_path =
        |tool: &&Value| PATHS.iter().any(|name| !tool["inputSchema"]["properties"][name].is_null());
    let tools: Vec<&str> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter(takes_a_path)
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    for name in ["manage_index", "read_file", "edit_file", "apply_patch"] {
        assert!(tools.contains(&name), "{tools:?}");
    }
    let outline = mcp.tool("file_outline", json!({ "path": project, "file": "same.py", "detail": "full" }));
    let symbol =
        outline["structuredContent"]["outline"]["symbols"][0]["symbolId"].as_str().unwrap().to_owned();
    // The patch comes after the edits, whose text it finds.
    for tool in tools.iter().copied().filter(|tool| *tool != "apply_patch").chain(["apply_patch"]) {
        let answer = mcp.tool(tool, arguments(tool, "same.py", &symbol)).to_string();
        assert!(
            !answer.contains("of_other") && !answer.contains(other.to_str().unwrap()),
            "{tool}: {answer}"
        );
        if !needs_a_server(tool) {
            let own =
                answer.contains("of_project") || answer.contains(project.to_str().unwrap()) || changes(tool);
            assert!(own && !answer.contains("\"isError\":true"), "{tool}: {answer}");
        }
        let alone = mcp.tool(tool, arguments(tool, "elsewhere.py", &symbol)).to_string();
        assert!(!alone.contains("of_other"), "{tool}: {alone}");
    }
    assert_eq!(read(&project, "same.py"), "def of_project():\n    return 4\n");
    assert_eq!(read(&other, "same.py"), "def of_other():\n    return 1\n");
    assert_eq!(read(&other, "elsewhere.py"), "def of_other_alone():\n    return 1\n");
}

/// No server runs in a folder that nobody trusts.
fn needs_a_server(tool: &str) -> bool {
    tool.starts_with("lsp_") || ["rename_symbol", "edit_symbol", "code_actions"].contains(&tool)
}

fn changes(tool: &str) -> bool {
    ["edit_file", "write_file", "apply_patch"].contains(&tool)
}

fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}
