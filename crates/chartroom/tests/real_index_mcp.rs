//! The index's tools through a client that nobody here wrote: the MCP inspector's command line.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in its helpers")]

use std::path::Path;
use std::process::{Command, Stdio};

use chartroom_testkit::tools;
use serde_json::{Value, json};

struct Story {
    _dir: tempfile::TempDir,
    data: std::path::PathBuf,
    project: std::path::PathBuf,
}

impl Story {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let (data, project) = (base.join("data"), base.join("project"));
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(
            project.join("a.py"),
            "def alpha(x):\n    return beta(x)\n\n\ndef beta(y):\n    return y\n",
        )
        .unwrap();
        Self { _dir: dir, data, project }
    }

    fn command(&self, program: &Path) -> Command {
        #[allow(
            clippy::disallowed_methods,
            reason = "the client stands outside; it starts the server itself"
        )]
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.data)
            .env("CHARTROOM_HOME", &self.data)
            .current_dir(&self.project)
            .stdin(Stdio::null());
        command
    }

    /// One request through the inspector; the whole JSON it prints.
    fn inspect(&self, arguments: &[&str]) -> Value {
        let mut command = self.command(&tools::npm_bin("inspector", "mcp-inspector"));
        command.args(["--cli", env!("CARGO_BIN_EXE_chartroom"), "mcp", "--only", "index"]).args(arguments);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}: {text}\n{}", String::from_utf8_lossy(&output.stderr))
        })
    }

    fn call(&self, tool: &str, arguments: &[(&str, Value)]) -> Value {
        let arguments: Vec<String> = arguments
            .iter()
            .map(|(name, value)| {
                format!("{name}={}", value.as_str().map_or_else(|| value.to_string(), Into::into))
            })
            .collect();
        let mut all = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in &arguments {
            all.extend(["--tool-arg", argument]);
        }
        self.inspect(&all)
    }

    fn project(&self) -> Value {
        json!(self.project.to_str().unwrap())
    }
}

#[test]
fn every_index_tool_answers_a_client_that_nobody_here_wrote() {
    let story = Story::new();
    let listed = story.inspect(&["--method", "tools/list"]);
    let names: Vec<_> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["call_graph", "file_outline", "list_codebases", "manage_index", "read_file", "search_codebase"]
    );
    for tool in listed["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["type"], "object");
        assert_eq!(tool["outputSchema"], Value::Null, "an agent pays for each: {tool}");
    }

    // Not indexed yet: an answer, no error.
    let path = story.project();
    let search = story.call("search_codebase", &[("path", path.clone()), ("query", json!("alpha"))]);
    assert_eq!(search["structuredContent"]["status"], "not_indexed", "{search}");
    assert_ne!(search["isError"], true, "a non-ok envelope is never isError");

    // The inspector's server ends with each call, so the build is made by the command line, which waits for it.
    let mut create = story.command(Path::new(env!("CARGO_BIN_EXE_chartroom")));
    let created = create.args(["index", "create", "--json"]).arg(&story.project).output().unwrap();
    let created: Value = serde_json::from_slice(&created.stdout).unwrap();
    assert_eq!(created["status"], "ok", "{created}");

    let status = story.call("manage_index", &[("action", json!("status")), ("path", path.clone())]);
    assert_eq!(status["structuredContent"]["status"], "ok", "{status}");
    let search = story.call("search_codebase", &[("path", path.clone()), ("query", json!("alpha"))]);
    let text = search["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("1. a.py:1-2  function alpha(x)"), "{search}");
    assert_eq!(search["structuredContent"], Value::Null, "{search}");
    let full = json!("full");
    let outline = story
        .call("file_outline", &[("path", path.clone()), ("file", json!("a.py")), ("detail", full.clone())]);
    let symbols = outline["structuredContent"]["outline"]["symbols"].as_array().unwrap().clone();
    let beta =
        symbols.iter().find(|symbol| symbol["symbolLabel"].as_str().unwrap().contains("beta")).unwrap();
    let reference = beta["callGraphHint"]["symbolRef"].clone();
    let graph = story
        .call("call_graph", &[("path", path.clone()), ("symbolRef", reference.clone()), ("detail", full)]);
    assert_eq!(graph["structuredContent"]["status"], "ok", "{graph}");
    assert_eq!(graph["structuredContent"]["edges"].as_array().unwrap().len(), 1, "alpha calls beta: {graph}");
    let file = json!(story.project.join("a.py").to_str().unwrap());
    let read = story.call("read_file", &[("path", file), ("start_line", json!(1)), ("end_line", json!(1))]);
    assert_eq!(read["content"][0]["text"], "def alpha(x):", "{read}");
    let list = story.call("list_codebases", &[]);
    assert!(list["content"][0]["text"].as_str().unwrap().contains("### Ready"), "{list}");

    // Bad input is an error in words.
    let bad = story.call("manage_index", &[("action", json!("explode")), ("path", json!("/x"))]);
    assert_eq!(bad["isError"], true, "{bad}");
    let bad = story.call("search_codebase", &[("path", json!("/no/such/folder")), ("query", json!("x"))]);
    assert_eq!(bad["isError"], true, "{bad}");
    // A folder that is not there is a manage_index envelope all the same.
    let missing =
        story.call("manage_index", &[("action", json!("create")), ("path", json!("/no/such/folder"))]);
    assert_eq!(missing["structuredContent"]["status"], "error", "{missing}");
    assert_ne!(missing["isError"], true);

    // So it is with the tools that read: what is not there is an envelope, what makes no sense an error.
    let unknown = story.call("file_outline", &[("path", path.clone()), ("file", json!("gone.py"))]);
    assert_eq!(unknown["structuredContent"]["status"], "not_found", "{unknown}");
    assert_ne!(unknown["isError"], true, "{unknown}");
    let mut gone = reference;
    gone["symbolId"] = json!("sym_gone");
    let unknown = story.call("call_graph", &[("path", path.clone()), ("symbolRef", gone)]);
    assert_eq!(unknown["structuredContent"]["status"], "not_found", "{unknown}");
    assert_ne!(unknown["isError"], true, "{unknown}");
    for (tool, arguments) in [
        ("file_outline", vec![("path", path.clone())]),
        ("call_graph", vec![("path", path.clone()), ("symbolRef", json!("no object"))]),
        ("read_file", vec![("path", json!("/no/such/file"))]),
        ("read_file", vec![]),
        ("list_codebases", vec![("nonsense", json!("x"))]),
    ] {
        let bad = story.call(tool, &arguments);
        assert_eq!(bad["isError"], true, "{tool}: {bad}");
        assert!(!bad["content"][0]["text"].as_str().unwrap().is_empty(), "{tool}: {bad}");
    }
}
