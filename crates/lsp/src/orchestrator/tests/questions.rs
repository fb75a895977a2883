//! Questions about code that not every server can answer, and places that are named by a symbol's path.

use serde_json::{Value, json};

use crate::fake::{Behaviour, Rehearsal};
use crate::{tools, uri};

/// `alpha` has the files to itself.
fn alone() -> Value {
    json!({ "servers": { "beta": { "enabled": false } } })
}

async fn ask(rehearsal: &Rehearsal, tool: &str, arguments: Value) -> String {
    let answer = tools::call(&rehearsal.orchestrator, tool, arguments).await.unwrap();
    if answer.is_error { format!("ERROR: {}", answer.text) } else { answer.text }
}

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

const FIXTURE: &str =
    "//- a.foo\nclass Shop\n  def 🐻漢total\n  def add\n//- b.foo\nclass Cart\n  def total\n";

/// A rehearsal whose `alpha` answers; `answers` are made with the addresses of the two files.
fn rehearsal(answers: impl Fn(&str, &str) -> Vec<(&'static str, Value)>) -> Rehearsal {
    let rehearsal = Rehearsal::with_config(FIXTURE, &[], alone());
    let of = |name: &str| uri::of_path(&rehearsal.project.path(name).canonicalize().unwrap());
    rehearsal.fakes.set("alpha", Behaviour::answering(&answers(&of("a.foo"), &of("b.foo"))));
    rehearsal
}

fn symbols() -> (&'static str, Value) {
    let member = |name: &str, line: u32, from: u32, to: u32| json!({ "name": name, "range": range(line, 2, to), "selectionRange": range(line, from, to) });
    let children = json!([member("total", 1, 9, 14), member("add", 2, 6, 9)]);
    let shop = json!({ "name": "Shop", "range": range(0, 0, 10), "selectionRange": range(0, 6, 10), "children": children });
    ("textDocument/documentSymbol", json!([shop]))
}

#[tokio::test(start_paused = true)]
async fn types_and_implementations_are_found_where_the_server_knows_them() {
    let rehearsal = rehearsal(|a, b| {
        vec![
            symbols(),
            ("textDocument/typeDefinition", json!({ "uri": b, "range": range(0, 6, 10) })),
            (
                "textDocument/implementation",
                json!([{ "uri": a, "range": range(1, 9, 14) }, { "uri": b, "range": range(1, 6, 11) }]),
            ),
        ]
    });
    let place = |of: &str| json!({ "filePath": "a.foo", "line": 2, "symbol": "total", "of": of });
    assert_eq!(ask(&rehearsal, "lsp_goto_definition", place("type")).await, "b.foo:1:7");
    // The bear takes two of the server's units and is one character.
    let implementations = ask(&rehearsal, "lsp_goto_definition", place("implementations")).await;
    assert_eq!(implementations, "a.foo:2:9\nb.foo:2:7");
    let wrong = ask(&rehearsal, "lsp_goto_definition", place("uses")).await;
    assert!(wrong.starts_with("ERROR: the arguments are wrong: unknown variant `uses`"), "{wrong}");
}

#[tokio::test(start_paused = true)]
async fn a_symbols_path_is_a_place() {
    let rehearsal = rehearsal(|_, b| {
        vec![symbols(), ("textDocument/implementation", json!([{ "uri": b, "range": range(1, 6, 11) }]))]
    });
    let by_path = |path: &str| json!({ "filePath": "a.foo", "symbol": path, "of": "implementations" });
    assert_eq!(ask(&rehearsal, "lsp_goto_definition", by_path("Shop/total")).await, "b.foo:2:7");
    assert_eq!(ask(&rehearsal, "lsp_goto_definition", by_path("add")).await, "b.foo:2:7");
    assert_eq!(
        ask(&rehearsal, "lsp_goto_definition", by_path("Shop/sum")).await,
        "ERROR: there is no `Shop/sum` in this file; it defines Shop (line 1)"
    );
    let nowhere = ask(&rehearsal, "lsp_hover", json!({ "filePath": "a.foo" })).await;
    assert!(nowhere.starts_with("ERROR: say where: `line`"), "{nowhere}");
}

#[tokio::test(start_paused = true)]
async fn callers_and_callees_are_listed_with_their_places() {
    let item = |name: &str, uri: &str| json!({ "name": name, "uri": uri, "range": range(1, 2, 11), "selectionRange": range(1, 6, 11) });
    let rehearsal = rehearsal(|a, b| {
        vec![
            ("textDocument/prepareCallHierarchy", json!([item("total", a)])),
            (
                "callHierarchy/incomingCalls",
                json!([{ "from": item("Cart", b), "fromRanges": [range(1, 2, 5), range(0, 0, 5)] }]),
            ),
            (
                "callHierarchy/outgoingCalls",
                json!([{ "to": item("total", b), "fromRanges": [range(1, 2, 5)] }]),
            ),
        ]
    });
    let calls = |direction: &str| json!({ "filePath": "a.foo", "line": 2, "symbol": "total", "direction": direction });
    assert_eq!(ask(&rehearsal, "lsp_calls", calls("incoming")).await, "Cart - b.foo:1:1\nCart - b.foo:2:3");
    assert_eq!(ask(&rehearsal, "lsp_calls", calls("outgoing")).await, "total - b.foo:2:7");
}

#[tokio::test(start_paused = true)]
async fn null_is_nothing_found_and_a_missing_capability_is_a_sentence() {
    let nothing = rehearsal(|a, _| {
        vec![
            ("textDocument/typeDefinition", Value::Null),
            (
                "textDocument/prepareCallHierarchy",
                json!([{ "name": "x", "uri": a, "range": range(0, 0, 1), "selectionRange": range(0, 0, 1) }]),
            ),
            ("callHierarchy/incomingCalls", Value::Null),
            ("callHierarchy/outgoingCalls", json!([])),
        ]
    });
    let of = |of: &str| json!({ "filePath": "a.foo", "line": 2, "symbol": "total", "of": of });
    let calls = |direction: &str| json!({ "filePath": "a.foo", "line": 2, "symbol": "total", "direction": direction });
    assert_eq!(ask(&nothing, "lsp_goto_definition", of("type")).await, "No type definition found");
    assert_eq!(ask(&nothing, "lsp_calls", calls("incoming")).await, "No callers found");
    assert_eq!(ask(&nothing, "lsp_calls", calls("outgoing")).await, "It calls nothing");
    assert_eq!(
        ask(&nothing, "lsp_goto_definition", of("implementations")).await,
        "ERROR: the list of implementations is not available: alpha cannot answer this"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_or_is_silent_in_the_middle_is_told_as_such() {
    let item = json!([{ "name": "x", "uri": "file:///x", "range": range(0, 0, 1), "selectionRange": range(0, 0, 1) }]);
    let calls = json!({ "filePath": "a.foo", "line": 2, "symbol": "total", "direction": "incoming" });
    for (dies_at, silent_about, expected) in [
        (Some("callHierarchy/incomingCalls"), None, "ERROR: alpha closed its connection"),
        (None, Some("callHierarchy/incomingCalls"), "ERROR: alpha did not answer: "),
    ] {
        let rehearsal = Rehearsal::with_config(FIXTURE, &[], alone());
        let behaviour = Behaviour::answering(&[("textDocument/prepareCallHierarchy", item.clone())]);
        rehearsal.fakes.set("alpha", Behaviour { dies_at, silent_about, ..behaviour });
        let answer = ask(&rehearsal, "lsp_calls", calls.clone()).await;
        assert!(answer.starts_with(expected), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_folder_is_checked_with_all_its_files() {
    let fixture = "//- src/a.foo\nfine\nERR one\n//- src/deep/b.foo\nERR two\n//- src/ok.foo\nfine\n//- src/notes.xyz\nERR no server\n//- src/c.bar\nfine\n//- other.foo\nERR elsewhere\n//- src/node_modules/m/x.foo\nERR not ours\n//- empty/x.xyz\nx\n";
    let servers = [("alpha", Behaviour::default()), ("gamma", Behaviour::silent())];
    let rehearsal = Rehearsal::with_config(fixture, &servers, alone());
    let text = ask(&rehearsal, "lsp_diagnostics", json!({ "path": "src" })).await;
    assert_eq!(
        text,
        "src/a.foo:2:1 one\nsrc/deep/b.foo:1:1 two\n2 in 2 files (3 files checked)\n\
         [1 file not known, ask again: src/c.bar]\n[gamma did not answer in time]"
    );
    assert_eq!(
        ask(&rehearsal, "lsp_diagnostics", json!({ "path": "src/ok.foo" })).await,
        "No diagnostics in 1 file"
    );
    assert_eq!(
        ask(&rehearsal, "lsp_diagnostics", json!({ "path": "src/c.bar" })).await,
        "ERROR: src/c.bar could not be checked: gamma did not answer in time"
    );
    assert_eq!(
        ask(&rehearsal, "lsp_diagnostics", json!({ "path": "empty" })).await,
        "ERROR: empty could not be checked: no language server knows a file there"
    );
    for (path, expected) in [("nowhere", "ERROR: nowhere does not exist"), ("/etc", "ERROR: File is outside")]
    {
        let text = ask(&rehearsal, "lsp_diagnostics", json!({ "path": path })).await;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_folder_is_cut_and_says_how_to_see_more() {
    let fixture: String = (0..120).map(|n| format!("//- src/f{n:03}.foo\nERR number {n}\n")).collect();
    let rehearsal = Rehearsal::new(&fixture, &[("alpha", Behaviour::default())]);
    let text = ask(&rehearsal, "lsp_diagnostics", json!({ "path": "." })).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 53, "{text}");
    assert_eq!(lines[50], "... and 70 more; name a folder or file below . to see them");
    assert_eq!(lines[51], "120 in 120 files (120 files checked)");
}
