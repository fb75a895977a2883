//! What an agent pays for: the bytes of the tools' descriptions and of their default answers, over the real MCP.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/program.rs"]
mod program;
#[path = "common/stdio.rs"]
mod stdio;

use std::fmt::Write as _;

use program::{Home, wait_until};
use serde_json::{Value, json};
use stdio::McpClient;

/// `tools/list` of every tool.
const LIST_BYTES: usize = 16_000;
/// A default answer of a search.
const SEARCH_BYTES: usize = 8_000;

/// A server on a project of many long functions that all match.
fn begin() -> (Home, String, McpClient) {
    let home = Home::new();
    std::fs::create_dir(home.path().join("shop")).unwrap();
    for file in 0..30 {
        let mut text = String::new();
        for function in 0..10 {
            writeln!(text, "def retry_login_{file}_{function}(request, session, attempts=3):").unwrap();
            writeln!(text, "    \"\"\"Retries the login of a session, number {file} {function}.\"\"\"")
                .unwrap();
            for line in 0..30 {
                writeln!(text, "    session.retry(request, login={line}, note=\"{}\")", "x".repeat(60))
                    .unwrap();
            }
            writeln!(text, "    return session\n").unwrap();
        }
        home.write(&format!("shop/retry{file}.py"), &text);
    }
    let project = home.path().join("shop").display().to_string();
    let mut mcp = McpClient::start(home.command(&["mcp", "--root", &project]));
    mcp.tool("manage_index", json!({"action": "create", "path": project}));
    wait_until("it is indexed", || {
        let status = mcp.tool("manage_index", json!({"action": "status", "path": project}));
        status["structuredContent"]["status"] == "ok"
    });
    (home, project, mcp)
}

fn text(answer: &Value) -> &str {
    assert_ne!(answer["isError"], true, "{answer}");
    answer["content"][0]["text"].as_str().unwrap()
}

#[test]
fn an_agent_is_told_little_and_can_ask_for_more() {
    let (home, project, mut mcp) = begin();

    let listed = mcp.request("tools/list", json!({}));
    assert!(listed["tools"].as_array().unwrap().len() >= 15, "every tool is there");
    let bytes = listed.to_string().len();
    assert!(bytes <= LIST_BYTES, "tools/list has {bytes} bytes");

    // A search: text alone, with what the next question needs.
    let query = "retry the login of a session";
    let search = mcp.tool("search_codebase", json!({"path": project, "query": query}));
    let bytes = search.to_string().len();
    assert!(bytes <= SEARCH_BYTES + 1_000, "an answer has {bytes} bytes with its escapes");
    let brief = text(&search);
    assert!(brief.len() <= SEARCH_BYTES, "{} bytes", brief.len());
    assert_eq!(search["structuredContent"], Value::Null);
    assert!(brief.contains("sym_") && brief.contains("def retry_login_"), "{brief}");
    let full = mcp.tool("search_codebase", json!({"path": project, "query": query, "detail": "full"}));
    assert_eq!(full["structuredContent"]["results"].as_array().unwrap().len(), 25);

    // Lines, name and text of a result are of one symbol.
    for result in full["structuredContent"]["results"].as_array().unwrap() {
        let (span, label) = (&result["span"], result["symbolLabel"].as_str().unwrap());
        let n_lines = span["endLine"].as_u64().unwrap() - span["startLine"].as_u64().unwrap() + 1;
        assert_eq!(n_lines, 33, "{label}: {span}");
        let name = label.trim_start_matches("function ").split('(').next().unwrap();
        let preview = result["preview"].as_str().unwrap();
        assert!(preview.starts_with(&format!("def {name}(")), "{label}: {preview}");
        assert_eq!(result["previewLine"], span["startLine"], "{label}");
    }

    // A budget: one bundle, no longer than that, with numbered lines and why they were found.
    for budget in [500, 2_000] {
        let bundle = mcp.tool("search_codebase", json!({"path": project, "query": query, "budget": budget}));
        let bundle = text(&bundle);
        assert!(bundle.len() <= budget * 4 + 400, "{budget}: {} bytes", bundle.len());
        assert!(bundle.contains("confidence: "), "{bundle}");
        let is_numbered_code = |line: &str| {
            let parts = line.trim_start().split_once("  ");
            parts.is_some_and(|(number, code)| {
                number.parse::<u32>().is_ok() && code.starts_with("def retry_login_")
            })
        };
        assert!(bundle.lines().any(is_numbered_code), "{bundle}");
        assert!(bundle.contains("[name: login retry"), "{bundle}");
    }

    // An outline is as short as on the command line, and a name from it is enough to ask for calls.
    let outline = mcp.tool("file_outline", json!({"path": project, "file": "retry3.py"}));
    let (_, printed, _) = home.run(&["outline", &format!("{project}/retry3.py")]);
    assert_eq!(text(&outline), printed);
    let reference = json!({"file": "retry3.py", "symbolId": "retry_login_3_4"});
    let calls = mcp.tool("call_graph", json!({"path": project, "symbolRef": reference}));
    assert!(text(&calls).starts_with("no calls known of function retry_login_3_4("), "{calls}");

    // What nothing answers is not answered with noise.
    let nothing = mcp.tool("search_codebase", json!({"path": project, "query": "zebra quagga okapi"}));
    assert!(text(&nothing).contains("Nothing in this index matches"), "{nothing}");
}
