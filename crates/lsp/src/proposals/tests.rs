//! What becomes of a server's answer, with a server in memory: the right bytes, or a sentence.

use std::time::Duration;

use chartroom_protocol::lsp::{ProposeResponse, ProposedStep};
use serde_json::{Value, json};

use crate::fake::{Behaviour, Rehearsal};
use crate::registry::Quirks;
use crate::{proposals, uri};

const FIXTURE: &str = "//- a.foo\nclass Shop\n  def 🐻漢total\n  total total\n//- b.foo\ntotal\n";

fn range(line: u32, from: u32, to: u32) -> Value {
    json!({ "start": { "line": line, "character": from }, "end": { "line": line, "character": to } })
}

fn edit(line: u32, from: u32, to: u32) -> Value {
    json!({ "range": range(line, from, to), "newText": "sum" })
}

/// `alpha` answers; `answers` are made with the address of the root.
fn rehearsal(behaviour: Behaviour, answers: impl Fn(&str) -> Vec<(&'static str, Value)>) -> Rehearsal {
    let alone = json!({ "servers": { "beta": { "enabled": false } } });
    let rehearsal = Rehearsal::with_config(FIXTURE, &[], alone);
    let root = uri::of_path(&rehearsal.project.root().canonicalize().unwrap());
    let answers = answers(&root).into_iter().collect();
    rehearsal.fakes.set("alpha", Behaviour { answers, ..behaviour });
    rehearsal
}

/// Says what is proposed: for each file the texts that are replaced, by what.
async fn propose(rehearsal: &Rehearsal, name: &str, arguments: Value) -> String {
    let root = rehearsal.project.root().canonicalize().unwrap().display().to_string();
    let text = match proposals::propose(&rehearsal.orchestrator, name, arguments).await {
        ProposeResponse::Told { text } => text,
        ProposeResponse::Refused { reason } => format!("REFUSED: {reason}"),
        ProposeResponse::Change(change) => {
            let mut lines = vec![change.title];
            for step in change.steps {
                lines.push(match step {
                    ProposedStep::Edit { file, edits, .. } => {
                        let text = std::fs::read_to_string(&file).unwrap_or_default();
                        let edits = edits.iter().map(|edit| {
                            format!(
                                "{}`{}`→`{}`",
                                edit.start,
                                text.get(edit.start..edit.end).unwrap_or("?"),
                                edit.new_text
                            )
                        });
                        format!("{file} {}", edits.collect::<Vec<_>>().join(" "))
                    }
                    other => format!("{other:?}"),
                });
            }
            lines.extend(change.confirm.iter().map(|label| format!("confirm {label}")));
            lines.join("\n")
        }
    };
    text.replace(&root, "ROOT")
}

fn rename() -> Value {
    json!({ "filePath": "a.foo", "line": 3, "symbol": "total", "newName": "sum" })
}

#[tokio::test(start_paused = true)]
async fn places_are_bytes_whatever_the_server_counts_in() {
    for (encoding, from, to) in [(None, 9, 14), (Some("utf-8"), 13, 18), (Some("utf-32"), 8, 13)] {
        let behaviour = Behaviour { encoding, ..Behaviour::default() };
        let rehearsal = rehearsal(behaviour, |root| {
            let changes = json!({ format!("{root}/b.foo"): [edit(0, 0, 5)],
                format!("{root}/a.foo"): [edit(2, 8, 13), edit(1, from, to), edit(2, 2, 7)] });
            vec![("textDocument/rename", json!({ "changes": changes }))]
        });
        assert_eq!(
            propose(&rehearsal, "rename_symbol", rename()).await,
            "Renamed total to sum\nROOT/a.foo 24`total`→`sum` 32`total`→`sum` 38`total`→`sum`\nROOT/b.foo 0`total`→`sum`",
            "{encoding:?}"
        );
        // Each file was open when the answer that counts was given.
        let seen = rehearsal.fakes.seen();
        let asked = seen.iter().rposition(|what| what.contains("textDocument/rename")).unwrap();
        assert!(seen[..asked].contains(&"alpha didOpen b.foo".to_owned()), "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn files_are_made_moved_and_removed_in_order_and_what_needs_a_look_is_told() {
    let rehearsal = rehearsal(Behaviour::default(), |root| {
        let (a, b, c) = (format!("{root}/a.foo"), format!("{root}/b.foo"), format!("{root}/c.foo"));
        let mut marked = edit(0, 0, 5);
        marked["annotationId"] = json!("k");
        let changes = json!([
            { "kind": "rename", "oldUri": b, "newUri": c },
            { "textDocument": { "uri": c, "version": null }, "edits": [marked] },
            { "kind": "create", "uri": format!("{root}/d.foo"), "options": { "ignoreIfExists": true } },
            { "kind": "delete", "uri": a },
        ]);
        let annotations = json!({ "k": { "label": "in a comment", "needsConfirmation": true } });
        vec![("textDocument/rename", json!({ "documentChanges": changes, "changeAnnotations": annotations }))]
    });
    let proposed = propose(&rehearsal, "rename_symbol", rename()).await;
    assert!(proposed.contains("Rename { from: \"ROOT/b.foo\", to: \"ROOT/c.foo\""), "{proposed}");
    assert!(proposed.contains("Create { file: \"ROOT/d.foo\""), "{proposed}");
    assert!(proposed.ends_with("confirm in a comment"), "{proposed}");
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_made_as_it_was_meant_is_refused_as_a_whole() {
    let outside = tempfile::tempdir().unwrap();
    let outside = uri::of_path(outside.path());
    let version = |root: &str| json!({ "documentChanges": [{ "textDocument": { "uri": format!("{root}/a.foo"), "version": 7 }, "edits": [] }] });
    let changes = |uri: String, edits: Value| json!({ "changes": { uri: edits } });
    type Answer<'a> = Box<dyn Fn(&str) -> Value + 'a>;
    let cases: Vec<(Answer<'_>, &str)> = vec![
        (
            Box::new(|_| changes(format!("{outside}/x.foo"), json!([edit(0, 0, 1)]))),
            "it would change what is not to be changed: ",
        ),
        (
            Box::new(|root| changes(format!("{root}/node_modules/m/x.foo"), json!([]))),
            "it would change what is not to be changed: ",
        ),
        (
            Box::new(|_| changes("untitled:x".to_owned(), json!([]))),
            "it would change untitled:x, which is no file",
        ),
        (
            Box::new(|root| changes(format!("{root}/a.foo"), json!([edit(2, 2, 7), edit(2, 5, 9)]))),
            "its edits of a.foo overlap",
        ),
        (
            Box::new(|root| changes(format!("{root}/a.foo"), json!([edit(9, 0, 1)]))),
            "it names a place that a.foo does not have; the file may have changed, ask again",
        ),
        (
            Box::new(|root| changes(format!("{root}/a.foo"), json!([edit(1, 7, 14)]))),
            "it names a place that a.foo does not have",
        ),
        (
            Box::new(|root| changes(format!("{root}/gone.foo"), json!([edit(0, 0, 1)]))),
            "it would change gone.foo: the file does not exist",
        ),
        (Box::new(version), "a.foo has changed since the server looked at it; ask again"),
        (
            Box::new(
                |root| json!({ "documentChanges": [{ "kind": "snippet", "uri": format!("{root}/a.foo") }] }),
            ),
            "it has a part of a kind that is not known here: snippet",
        ),
    ];
    for (answer, expected) in cases {
        let rehearsal = rehearsal(Behaviour::default(), |root| vec![("textDocument/rename", answer(root))]);
        let proposed = propose(&rehearsal, "rename_symbol", rename()).await;
        let expected = format!("REFUSED: alpha proposed a rename that was not made: {expected}");
        assert!(proposed.starts_with(&expected), "{proposed}\n{expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_cannot_does_not_know_dies_or_is_silent_is_a_sentence() {
    let cannot = rehearsal(Behaviour::default(), |_| Vec::new());
    assert_eq!(
        propose(&cannot, "rename_symbol", rename()).await,
        "REFUSED: rename is not available: alpha cannot answer this"
    );
    let nothing = rehearsal(Behaviour::default(), |_| vec![("textDocument/rename", Value::Null)]);
    assert_eq!(
        propose(&nothing, "rename_symbol", rename()).await,
        "REFUSED: alpha finds nothing to rename to `sum` on line 3"
    );
    let method = "textDocument/rename";
    for (behaviour, expected) in [
        (Behaviour { dies_at: Some(method), ..Behaviour::default() }, "REFUSED: alpha closed its connection"),
        (Behaviour { silent_about: Some(method), ..Behaviour::default() }, "REFUSED: alpha did not answer: "),
    ] {
        let rehearsal = rehearsal(behaviour, |_| vec![(method, Value::Null)]);
        let proposed = propose(&rehearsal, "rename_symbol", rename()).await;
        assert!(proposed.starts_with(expected), "{proposed}");
    }
    let same = json!({ "filePath": "a.foo", "line": 3, "symbol": "total", "newName": "total" });
    assert_eq!(
        propose(&nothing, "rename_symbol", same).await,
        "REFUSED: newName is the name that it has, or empty"
    );
}

#[tokio::test(start_paused = true)]
async fn a_rename_waits_until_the_project_is_loaded() {
    let loading = Behaviour { loads_for: Some(std::time::Duration::from_secs(3600)), ..Behaviour::default() };
    let rehearsal = rehearsal(loading, |root| {
        vec![("textDocument/rename", json!({ "changes": { format!("{root}/a.foo"): [edit(2, 2, 7)] } }))]
    });
    assert_eq!(
        propose(&rehearsal, "rename_symbol", rename()).await,
        "REFUSED: alpha is still loading the project (Indexing), so a rename could miss some uses; ask again in a moment"
    );
}

fn symbols() -> (&'static str, Value) {
    let total = json!({ "name": "total", "range": range(1, 2, 14), "selectionRange": range(1, 9, 14) });
    let whole = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 2, "character": 13 } });
    let shop =
        json!({ "name": "Shop", "range": whole, "selectionRange": range(0, 6, 10), "children": [total] });
    ("textDocument/documentSymbol", json!([shop]))
}

#[tokio::test(start_paused = true)]
async fn a_symbol_is_edited_by_its_path() {
    let rehearsal = rehearsal(Behaviour::default(), |_| vec![symbols()]);
    let edit = |action: &str, text: Option<&str>| json!({ "filePath": "a.foo", "symbol": "Shop/total", "action": action, "text": text });
    assert_eq!(
        propose(&rehearsal, "edit_symbol", edit("replace", Some("def sum"))).await,
        "Replaced Shop/total\nROOT/a.foo 11`  def 🐻漢total`→`  def sum`"
    );
    assert_eq!(
        propose(&rehearsal, "edit_symbol", edit("insert_after", Some("def sum"))).await,
        "Inserted after Shop/total\nROOT/a.foo 29``→`\n  def sum`"
    );
    assert_eq!(propose(&rehearsal, "edit_symbol", edit("replace", None)).await, "REFUSED: give the `text`");
    let unknown = json!({ "filePath": "a.foo", "symbol": "sum", "action": "delete" });
    assert_eq!(
        propose(&rehearsal, "edit_symbol", unknown).await,
        "REFUSED: there is no `sum` in this file; it defines Shop (line 1)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_symbol_is_deleted_only_when_nothing_else_uses_it() {
    let delete = json!({ "filePath": "a.foo", "symbol": "Shop/total", "action": "delete" });
    let used = rehearsal(Behaviour::default(), |root| {
        let at =
            |file: &str, line: u32| json!({ "uri": format!("{root}/{file}"), "range": range(line, 2, 7) });
        vec![symbols(), ("textDocument/references", json!([at("b.foo", 0), at("a.foo", 2), at("a.foo", 1)]))]
    });
    assert_eq!(
        propose(&used, "edit_symbol", delete.clone()).await,
        "REFUSED: Shop/total was not deleted: it is used in 2 places: a.foo:3:3, b.foo:1:3"
    );
    let unused = rehearsal(Behaviour::default(), |root| {
        let own = json!({ "uri": format!("{root}/a.foo"), "range": range(1, 9, 14) });
        vec![symbols(), ("textDocument/references", json!([own]))]
    });
    assert_eq!(
        propose(&unused, "edit_symbol", delete).await,
        "Deleted Shop/total, which nothing used\nROOT/a.foo 11`  def 🐻漢total\n`→``"
    );
}

#[tokio::test(start_paused = true)]
async fn nothing_is_renamed_or_deleted_by_a_server_that_has_not_looked_at_the_whole_project() {
    let indexing = |loads_for| Behaviour {
        loads_for: Some(Duration::from_secs(loads_for)),
        quirks: Quirks { index_progress: Some("load"), ..Quirks::NONE },
        ..Behaviour::default()
    };
    let delete = json!({ "filePath": "a.foo", "symbol": "Shop/total", "action": "delete" });
    for (loads_for, is_refused) in [(3_600, true), (1, false)] {
        let rehearsal = rehearsal(indexing(loads_for), |root| {
            let changes = json!({ "changes": { format!("{root}/a.foo"): [edit(2, 2, 7)] } });
            vec![symbols(), ("textDocument/references", json!([])), ("textDocument/rename", changes)]
        });
        for (tool, arguments) in [("rename_symbol", rename()), ("edit_symbol", delete.clone())] {
            let told = propose(&rehearsal, tool, arguments).await;
            let refusal = told.starts_with("REFUSED: alpha has not looked at the whole project yet");
            assert_eq!(refusal, is_refused, "{tool}: {told}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn actions_are_listed_and_one_is_made_when_it_is_named() {
    let rehearsal = rehearsal(Behaviour::default(), |root| {
        let change = json!({ "changes": { format!("{root}/a.foo"): [edit(2, 2, 7)] } });
        let actions = json!([
            { "title": "Mend it", "kind": "quickfix", "isPreferred": true, "edit": change },
            { "title": "Later", "kind": "refactor.extract", "data": 1 },
            { "title": "Run it", "command": "x" },
            { "title": "Never", "kind": "quickfix", "disabled": { "reason": "no" } },
        ]);
        vec![
            ("textDocument/codeAction", actions),
            ("codeAction/resolve", json!({ "title": "Later", "edit": change })),
        ]
    });
    let on_line = |more: Value| {
        let mut arguments = json!({ "filePath": "a.foo", "line": 3 });
        arguments.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        arguments
    };
    let list = propose(&rehearsal, "code_actions", on_line(json!({}))).await;
    let lines: Vec<&str> = list.lines().collect();
    let shown: Vec<&str> = lines.iter().map(|line| &line[9..]).collect();
    assert_eq!(
        shown,
        [
            "quickfix: Mend it (preferred)",
            "refactor.extract: Later",
            "action: Run it (cannot be applied here: a command of the server)"
        ]
    );
    let id = |line: usize| lines[line][1..7].to_owned();
    assert_eq!(
        propose(&rehearsal, "code_actions", on_line(json!({ "apply": id(0) }))).await,
        "Applied `Mend it`\nROOT/a.foo 32`total`→`sum`"
    );
    let later = propose(&rehearsal, "code_actions", on_line(json!({ "apply": id(1) }))).await;
    assert_eq!(later, "Applied `Later`\nROOT/a.foo 32`total`→`sum`");
    assert_eq!(
        propose(&rehearsal, "code_actions", on_line(json!({ "apply": id(2) }))).await,
        "REFUSED: `Run it` is a command that alpha would run by itself; commands of servers are not run here"
    );
    let wrong = propose(&rehearsal, "code_actions", on_line(json!({ "apply": "nope" }))).await;
    assert!(wrong.starts_with("REFUSED: there is no action nope for line 3 now; ["), "{wrong}");
    let only = propose(&rehearsal, "code_actions", on_line(json!({ "kind": "refactor" }))).await;
    assert_eq!(only.lines().count(), 1, "{only}");
    let nowhere = json!({ "filePath": "a.foo", "line": 99 });
    assert_eq!(
        propose(&rehearsal, "code_actions", nowhere).await,
        "REFUSED: a.foo has no line 99; lines count from 1"
    );
    assert!(!rehearsal.fakes.seen().iter().any(|what| what.contains("executeCommand")));
}
