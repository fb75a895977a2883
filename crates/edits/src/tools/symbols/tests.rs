//! Changes that a scripted language server proposes, on a real disk.

use std::sync::Mutex;

use chartroom_lsp::mcp::NobodyToAsk;
use chartroom_protocol::lsp::{
    CheckParams, CheckResponse, CheckScope, LspConfig, ProposedEdit, ProposedStep, fingerprint,
};
use chartroom_testkit::project::Project;
use chartroom_workspace::CanonicalRoot;
use serde_json::json;

use super::*;
use crate::FileLocks;

/// Proposes always the same, and keeps what was checked afterwards.
struct Server {
    proposal: ProposeResponse,
    checked: Mutex<Vec<CheckParams>>,
    config: LspConfig,
}

impl Checker for &Server {
    async fn check(&self, params: &CheckParams) -> Option<CheckResponse> {
        self.checked.lock().unwrap().push(params.clone());
        None
    }

    fn is_running(&self) -> bool {
        true
    }

    fn config(&self) -> Option<&LspConfig> {
        Some(&self.config)
    }
}

impl Proposer for &Server {
    async fn propose(&self, _name: &str, _arguments: Value) -> Result<ProposeResponse, String> {
        Ok(self.proposal.clone())
    }
}

const FIXTURE: &str =
    "//- a.ts\nlet 🐻 = total;\n//- b.ts\ntotal();\ntotal();\n//- c.ts\ntotal\n//- .mcp.json\n{}\n";

/// Replaces `total` by `sum` wherever it stands in a file.
fn rename_in(project: &Project, name: &str) -> ProposedStep {
    let text = project.read(name);
    let edit = |(start, found): (usize, &str)| ProposedEdit {
        start,
        end: start + found.len(),
        new_text: "sum".into(),
    };
    let edits = text.match_indices("total").map(edit).collect();
    ProposedStep::Edit { file: path(project, name), base: fingerprint(&text), edits }
}

fn path(project: &Project, name: &str) -> String {
    project.root().canonicalize().unwrap().join(name).display().to_string()
}

fn server(steps: Vec<ProposedStep>, confirm: &[&str]) -> Server {
    let confirm = confirm.iter().map(|label| (*label).to_owned()).collect();
    let change =
        ProposedChange { title: "Renamed total to sum".into(), steps, confirm, scope: CheckScope::Files };
    Server {
        proposal: ProposeResponse::Change(change),
        checked: Mutex::default(),
        config: LspConfig::default(),
    }
}

async fn call(project: &Project, server: &Server, arguments: Value) -> String {
    let root = CanonicalRoot::open(project.root()).unwrap();
    let locks = FileLocks::in_folder(project.path(".locks"));
    let edits = SymbolEdits::new(Edits::new(root, server, locks));
    let answer = edits.call("rename_symbol", arguments, &NobodyToAsk).await.unwrap();
    if answer.is_error { format!("ERROR: {}", answer.text) } else { answer.text }
}

fn all(project: &Project) -> Vec<String> {
    ["a.ts", "b.ts", "c.ts"].map(|name| project.read(name)).to_vec()
}

#[tokio::test]
async fn a_rename_is_made_in_all_files_and_each_is_looked_at() {
    let project = Project::new(FIXTURE);
    let server = server(["a.ts", "b.ts", "c.ts"].map(|name| rename_in(&project, name)).to_vec(), &[]);
    assert_eq!(
        call(&project, &server, json!({})).await,
        "Renamed total to sum, 4 places in 3 files: a.ts, b.ts, c.ts."
    );
    assert_eq!(all(&project), ["let 🐻 = sum;\n", "sum();\nsum();\n", "sum\n"]);
    let checked = server.checked.lock().unwrap();
    assert_eq!(checked[0].files.len(), 3);
}

#[tokio::test]
async fn one_file_that_changed_since_leaves_all_as_they_are() {
    let project = Project::new(FIXTURE);
    let server = server(["a.ts", "b.ts"].map(|name| rename_in(&project, name)).to_vec(), &[]);
    project.write("b.ts", "total(); // by somebody else\n");
    assert_eq!(
        call(&project, &server, json!({})).await,
        "ERROR: b.ts has changed since the language server looked at it; nothing was changed, ask again"
    );
    assert_eq!(all(&project)[..2], ["let 🐻 = total;\n", "total(); // by somebody else\n"]);
    assert_eq!(server.checked.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_preview_changes_nothing_and_its_id_makes_exactly_that() {
    let project = Project::new(FIXTURE);
    let steps = |project: &Project| ["a.ts", "b.ts"].map(|name| rename_in(project, name)).to_vec();
    let before = server(steps(&project), &[]);
    let preview = call(&project, &before, json!({ "preview": true })).await;
    let id = preview.rsplit('"').nth(1).unwrap().to_owned();
    assert_eq!(
        preview.replace(&id, "ID"),
        "Preview, nothing was changed. Renamed total to sum, 3 places in 2 files:\na.ts (line 1)\nb.ts (lines 1, 2)\nTo make exactly this change call again with previewId \"ID\"."
    );
    assert_eq!(project.read("a.ts"), "let 🐻 = total;\n");
    // What the server proposes after a change is another change.
    project.write("b.ts", "total();\n");
    let after = server(steps(&project), &[]);
    let refused = call(&project, &after, json!({ "previewId": id })).await;
    assert!(refused.starts_with("ERROR: nothing was changed: since the preview"), "{refused}");
    project.write("b.ts", "total();\ntotal();\n");
    let made = call(&project, &before, json!({ "previewId": id })).await;
    assert_eq!(made, "Renamed total to sum, 3 places in 2 files: a.ts, b.ts.");
}

#[tokio::test]
async fn what_the_server_wants_looked_at_is_made_only_by_its_preview() {
    let project = Project::new(FIXTURE);
    let server = server(vec![rename_in(&project, "a.ts")], &["in comments"]);
    let refused = call(&project, &server, json!({})).await;
    assert!(refused.contains("wants it to be looked at first (in comments)"), "{refused}");
    assert_eq!(project.read("a.ts"), "let 🐻 = total;\n");
    let id = refused.rsplit('"').nth(1).unwrap().to_owned();
    assert!(call(&project, &server, json!({ "previewId": id })).await.starts_with("Renamed"));
}

#[tokio::test]
async fn files_are_made_moved_and_removed_or_none_is() {
    let project = Project::new(FIXTURE);
    let moved = |overwrite: bool| ProposedStep::Rename {
        from: path(&project, "a.ts"),
        to: path(&project, "b.ts"),
        overwrite,
        ignore_if_exists: false,
    };
    let refused =
        call(&project, &server(vec![rename_in(&project, "c.ts"), moved(false)], &[]), json!({})).await;
    assert_eq!(refused, "ERROR: b.ts exists already; nothing is put over it");
    assert_eq!(all(&project), ["let 🐻 = total;\n", "total();\ntotal();\n", "total\n"]);
    let (new, gone) = (path(&project, "new/d.ts"), path(&project, "c.ts"));
    let steps = vec![
        moved(true),
        ProposedStep::Create { file: new.clone(), overwrite: false, ignore_if_exists: false },
        ProposedStep::Edit {
            file: new,
            base: fingerprint(""),
            edits: vec![ProposedEdit { start: 0, end: 0, new_text: "new\n".into() }],
        },
        ProposedStep::Delete { file: gone, ignore_if_not_exists: false },
    ];
    let made = call(&project, &server(steps, &[]), json!({})).await;
    assert_eq!(made, "Renamed total to sum, 4 places in 4 files: a.ts, b.ts, c.ts, new/d.ts.");
    assert_eq!(
        (project.read("b.ts"), project.read("new/d.ts")),
        ("let 🐻 = total;\n".into(), "new\n".into())
    );
    assert!(!project.path("a.ts").exists() && !project.path("c.ts").exists());
}

#[tokio::test]
async fn what_programs_run_and_what_is_outside_is_not_changed() {
    let project = Project::new(FIXTURE);
    let text = project.read(".mcp.json");
    let edits = vec![ProposedEdit { start: 0, end: 2, new_text: "{\"x\":1}".into() }];
    let guarded = ProposedStep::Edit { file: path(&project, ".mcp.json"), base: fingerprint(&text), edits };
    let refused = call(&project, &server(vec![rename_in(&project, "a.ts"), guarded], &[]), json!({})).await;
    assert!(refused.contains("a person must agree first"), "{refused}");
    let outside =
        ProposedStep::Create { file: "/tmp/x.ts".into(), overwrite: false, ignore_if_exists: false };
    let refused = call(&project, &server(vec![rename_in(&project, "a.ts"), outside], &[]), json!({})).await;
    assert!(refused.contains("is outside of the workspace"), "{refused}");
    assert_eq!(project.read("a.ts"), "let 🐻 = total;\n");
}

#[tokio::test]
async fn a_refusal_is_told_as_it_is() {
    let project = Project::new(FIXTURE);
    let mut server = server(Vec::new(), &[]);
    server.proposal = ProposeResponse::Refused { reason: "alpha cannot answer this".into() };
    assert_eq!(call(&project, &server, json!({})).await, "ERROR: alpha cannot answer this");
    server.proposal = ProposeResponse::Told { text: "No actions".into() };
    assert_eq!(call(&project, &server, json!({})).await, "No actions");
}
