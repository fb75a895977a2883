use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;

use chartroom_protocol::lsp::{CheckParams, CheckResponse, Diagnostic, FileDiagnostics, LspConfig, Severity};
use chartroom_testkit::project::Project;
use expect_test::{Expect, expect};

use chartroom_lsp::mcp::NobodyToAsk;
use chartroom_protocol::lsp::CheckScope;

use super::*;
use crate::feedback::NoChecker;

/// Answers every check with what it was told, and keeps what it was asked.
#[derive(Default)]
struct Scripted {
    config: LspConfig,
    asked: Mutex<Vec<CheckParams>>,
    /// What the disk had when it was asked.
    seen: Mutex<Vec<String>>,
    errors: Vec<(&'static str, &'static str)>,
    before: Vec<(&'static str, &'static str)>,
    dead: bool,
    /// Whether the first question is the one before the change.
    asked_before: bool,
    /// Files that it did not look at.
    unknown: Vec<String>,
    /// Why no file is checked, if none is.
    refuses: Option<&'static str>,
}

fn diagnostics(file: &str, messages: &[(&'static str, &'static str)]) -> FileDiagnostics {
    let diagnostics = messages
        .iter()
        .filter(|(of, _)| *of == file)
        .map(|(_, message)| Diagnostic {
            file: file.to_owned(),
            line: 1,
            character: 1,
            severity: Severity::Error,
            message: (*message).to_owned(),
            code: None,
            source: None,
        })
        .collect();
    FileDiagnostics { file: file.to_owned(), diagnostics, refused: None, servers: Vec::new() }
}

impl Checker for &Scripted {
    async fn check(&self, params: &CheckParams) -> Option<CheckResponse> {
        let is_before = self.asked_before && self.asked.lock().unwrap().is_empty();
        self.asked.lock().unwrap().push(params.clone());
        for file in &params.files {
            self.seen.lock().unwrap().push(std::fs::read_to_string(&file.file_path).unwrap_or_default());
        }
        if self.dead {
            return None;
        }
        let errors = if is_before { &self.before } else { &self.errors };
        let files: Vec<FileDiagnostics> = params
            .files
            .iter()
            .map(|file| FileDiagnostics {
                refused: self.refuses.map(str::to_owned),
                ..diagnostics(file.file_path.rsplit('/').next().unwrap(), errors)
            })
            .collect();
        let others = match params.scope {
            CheckScope::Files => Vec::new(),
            CheckScope::Project => vec![diagnostics("other.ts", errors)],
        };
        Some(CheckResponse { files, others, unknown: self.unknown.clone(), servers: Vec::new(), epoch: 1 })
    }

    fn is_running(&self) -> bool {
        !self.dead
    }

    fn config(&self) -> Option<&LspConfig> {
        Some(&self.config)
    }
}

/// The tools of the project, with locks that go with it.
fn edits<C: Checker>(project: &Project, checker: C) -> Edits<C> {
    let locks = project.path(".locks");
    Edits::new(CanonicalRoot::open(project.root()).unwrap(), checker, FileLocks::in_folder(locks))
}

async fn call(project: &Project, checker: &Scripted, name: &str, arguments: Value) -> String {
    let answer = edits(project, checker).call(name, arguments, &NobodyToAsk).await.unwrap();
    let text = answer.text.replace(&project.root().display().to_string(), "ROOT");
    if answer.is_error { format!("ERROR: {text}") } else { text }
}

#[track_caller]
fn check(actual: &str, expected: Expect) {
    expected.assert_eq(actual);
}

// BR-1, REQ-DIAG-010, REQ-DIAG-020
#[tokio::test]
async fn the_file_is_written_before_anything_is_checked_and_success_comes_first() {
    let project = Project::new("//- a.ts\nlet a = 1;\n");
    let checker = Scripted { errors: vec![("a.ts", "Type <x>")], ..Scripted::default() };
    let text =
        call(&project, &checker, "edit_file", json!({ "filePath": "a.ts", "oldText": "1", "newText": "''" }))
            .await;
    check(
        &text,
        expect![[r#"
            Edited a.ts (1 replacement).

            LSP errors detected in this file, please fix:
            <diagnostics file="a.ts">
            ERROR [1:1] Type &lt;x&gt;
            </diagnostics>"#]],
    );
    assert_eq!(*checker.seen.lock().unwrap(), ["let a = '';\n"]);
    // The disk counts: another change may be there before this one is checked.
    assert_eq!(checker.asked.lock().unwrap()[0].files[0].text, None);
}

// BR-2, REQ-DIAG-030
#[tokio::test]
async fn an_edit_reports_the_edited_file_alone() {
    let project = Project::new("//- a.ts\nx\n");
    let checker = Scripted { errors: vec![("other.ts", "broken")], ..Scripted::default() };
    let text =
        call(&project, &checker, "edit_file", json!({ "filePath": "a.ts", "oldText": "x", "newText": "y" }))
            .await;
    assert_eq!(text, "Edited a.ts (1 replacement).");
    assert_eq!(checker.asked.lock().unwrap()[0].scope, CheckScope::Files);
}

// BR-3, BR-36, REQ-DIAG-040, REQ-DIAG-045
#[tokio::test]
async fn a_write_reports_other_files_too() {
    let project = Project::new("//- a.ts\nx\n");
    let checker = Scripted { errors: vec![("other.ts", "broken"), ("a.ts", "bad")], ..Scripted::default() };
    let text =
        call(&project, &checker, "write_file", json!({ "filePath": "a.ts", "content": "y\nz\n" })).await;
    check(
        &text,
        expect![[r#"
            Wrote a.ts (2 lines).

            LSP errors detected in this file, please fix:
            <diagnostics file="a.ts">
            ERROR [1:1] bad
            </diagnostics>

            LSP errors detected in other files:
            <diagnostics file="other.ts">
            ERROR [1:1] broken
            </diagnostics>"#]],
    );
}

#[tokio::test]
async fn a_write_says_how_many_files_were_not_looked_at() {
    let project = Project::new("//- a.ts\nx\n");
    let unknown = vec!["b.ts".to_owned(), "c.ts".to_owned()];
    let mut checker = Scripted { errors: vec![("a.ts", "bad")], unknown, ..Scripted::default() };
    let write = json!({ "filePath": "a.ts", "content": "y\n" });
    let text = call(&project, &checker, "write_file", write.clone()).await;
    assert!(text.ends_with("</diagnostics>\n2 files that may depend on it were not looked at"), "{text}");
    // A time-out alone is no news.
    checker.errors.clear();
    assert_eq!(call(&project, &checker, "write_file", write).await, "Wrote a.ts (1 line).");
}

// BR-17, BR-75, REQ-DIAG-015, REQ-DIAG-017
#[tokio::test]
async fn a_patch_checks_each_modified_file_in_one_request() {
    let project = Project::new("//- a.ts\na\n//- b.ts\nb\n//- gone.ts\ng\n//- old.ts\no\n");
    let checker = Scripted {
        errors: vec![("a.ts", "one"), ("b.ts", "two"), ("new.ts", "moved")],
        ..Scripted::default()
    };
    let patch = "*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+A\n*** Update File: b.ts\n@@\n-b\n+B\n*** Delete File: gone.ts\n*** Update File: old.ts\n*** Move to: new.ts\n*** End Patch\n";
    let text = call(&project, &checker, "apply_patch", json!({ "patch": patch })).await;
    check(
        &text,
        expect![[r#"
            Patched 4 files: a.ts, b.ts, gone.ts, new.ts.

            LSP errors detected in this file, please fix:
            <diagnostics file="a.ts">
            ERROR [1:1] one
            </diagnostics>

            LSP errors detected in this file, please fix:
            <diagnostics file="b.ts">
            ERROR [1:1] two
            </diagnostics>"#]],
    );
    let asked = checker.asked.lock().unwrap();
    assert_eq!(asked.len(), 1);
    let names = |paths: Vec<&str>| -> Vec<String> {
        paths.iter().map(|path| path.rsplit('/').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(asked[0].files.iter().map(|file| file.file_path.as_str()).collect()), ["a.ts", "b.ts"]);
    assert_eq!(names(asked[0].removed.iter().map(String::as_str).collect()), ["gone.ts", "old.ts"]);
    assert_eq!((project.read("new.ts").as_str(), project.path("gone.ts").exists()), ("o\n", false));
}

// EC-37, EC-38, BR-11, REQ-SCOPE-020, REQ-SCOPE-025
#[tokio::test]
async fn deletes_and_renames_alone_check_and_start_nothing() {
    let project = Project::new("//- a.ts\na\n//- b.ts\nb\n");
    let checker = Scripted { dead: true, ..Scripted::default() };
    let patch =
        "*** Begin Patch\n*** Delete File: a.ts\n*** Update File: b.ts\n*** Move to: c.ts\n*** End Patch\n";
    let text = call(&project, &checker, "apply_patch", json!({ "patch": patch })).await;
    assert_eq!(text, "Patched 2 files: a.ts, c.ts.");
    assert!(checker.asked.lock().unwrap().is_empty());
}

// REQ-GRACE-010
#[tokio::test]
async fn a_file_that_no_server_knows_is_edited_without_a_word() {
    let project = Project::new("//- a.xyz\nx\n");
    let checker =
        Scripted { refuses: Some("no language server knows this kind of file"), ..Scripted::default() };
    let edit = json!({ "filePath": "a.xyz", "oldText": "x", "newText": "y" });
    assert_eq!(call(&project, &checker, "edit_file", edit).await, "Edited a.xyz (1 replacement).");
    let write = json!({ "filePath": "b.xyz", "content": "z\n" });
    assert_eq!(call(&project, &checker, "write_file", write).await, "Created b.xyz (1 line).");
    assert_eq!((project.read("a.xyz"), project.read("b.xyz")), ("y\n".into(), "z\n".into()));
}

// EC-44, BR-13, BR-37, REQ-GRACE-050, REQ-GRACE-055, REQ-GRACE-010
#[tokio::test]
async fn a_failing_service_is_never_seen() {
    let project = Project::new("//- a.ts\nx\n");
    let dead = Scripted { dead: true, ..Scripted::default() };
    let edit = json!({ "filePath": "a.ts", "oldText": "x", "newText": "y" });
    assert_eq!(call(&project, &dead, "edit_file", edit).await, "Edited a.ts (1 replacement).");
    assert_eq!(project.read("a.ts"), "y\n");
    // Byte for byte what it is without any language service.
    let edit = json!({ "filePath": "a.ts", "oldText": "y", "newText": "x" });
    let bare = edits(&project, NoChecker).call("edit_file", edit, &NobodyToAsk).await.unwrap();
    assert_eq!(bare, ToolAnswer::ok("Edited a.ts (1 replacement)."));
}

#[tokio::test]
async fn new_errors_are_told_apart_when_the_user_asks_for_it() {
    let project = Project::new("//- a.ts\nx\n");
    let checker = Scripted {
        config: LspConfig { mark_new: true, ..LspConfig::default() },
        before: vec![("a.ts", "old")],
        asked_before: true,
        errors: vec![("a.ts", "old"), ("a.ts", "brought")],
        ..Scripted::default()
    };
    let text =
        call(&project, &checker, "edit_file", json!({ "filePath": "a.ts", "oldText": "x", "newText": "y" }))
            .await;
    assert!(text.ends_with("</diagnostics>\n1 of these are new"), "{text}");
}

#[tokio::test]
async fn a_failed_edit_says_why_and_changes_nothing() {
    let project =
        Project::new("//- a.ts\nlet total = 1;\nx x\n//- sub/b.ts\nb\n//- node_modules/m/i.ts\nm\n");
    std::fs::write(project.path("bin.dat"), b"a\0b").unwrap();
    std::fs::write(project.path("latin.ts"), b"\xe9").unwrap();
    project.write("locked.ts", "l\n");
    std::fs::set_permissions(project.path("locked.ts"), std::fs::Permissions::from_mode(0o444)).unwrap();
    std::os::unix::fs::symlink("/etc", project.path("out")).unwrap();
    let checker = Scripted::default();
    let mut answers = String::new();
    for (file, old) in [
        ("a.ts", "let totl = 1;"),
        ("a.ts", "x"),
        ("none.ts", "x"),
        ("sub", "x"),
        ("bin.dat", "a"),
        ("latin.ts", "x"),
        ("locked.ts", "l"),
        ("../outside.ts", "x"),
        ("/etc/passwd", "root"),
        ("out/passwd", "root"),
        ("node_modules/m/i.ts", "m"),
        ("", "x"),
    ] {
        let arguments = json!({ "filePath": file, "oldText": old, "newText": "changed" });
        answers += &call(&project, &checker, "edit_file", arguments).await;
        answers.push('\n');
    }
    check(
        &answers,
        expect![[r#"
            ERROR: the text was not found in a.ts; the nearest match is at line 1:
            let total = 1;
            ERROR: the text occurs 2 times in a.ts (lines 2, 2); give more of its surroundings, or set replaceAll
            ERROR: none.ts does not exist
            ERROR: sub is a folder
            ERROR: bin.dat is a binary file
            ERROR: latin.ts is not valid UTF-8
            ERROR: locked.ts is read-only
            ERROR: ../outside.ts is outside of the workspace ROOT
            ERROR: /etc/passwd is outside of the workspace ROOT
            ERROR: out/passwd is outside of the workspace ROOT
            ERROR: node_modules/m/i.ts belongs to a dependency, not to the workspace ROOT
            ERROR: the path is empty
        "#]],
    );
    assert_eq!(project.read("a.ts"), "let total = 1;\nx x\n");
    assert!(checker.asked.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_patch_that_fails_in_its_last_file_changes_none() {
    let project = Project::new("//- a.ts\na\n//- b.ts\nb\n");
    let patch =
        "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-a\n+A\n--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-zzz\n+B\n";
    let text = call(&project, &Scripted::default(), "apply_patch", json!({ "patch": patch })).await;
    assert!(text.starts_with("ERROR: the text was not found in b.ts:\nzzz"), "{text}");
    assert_eq!(project.read("a.ts"), "a\n");
}

#[tokio::test]
async fn a_write_makes_folders_and_keeps_endings_mark_and_mode() {
    let project = Project::new("//- dos.txt\nx\n");
    std::fs::write(project.path("dos.txt"), "\u{feff}a\r\nb\r\n").unwrap();
    std::fs::set_permissions(project.path("dos.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let checker = Scripted::default();
    let text =
        call(&project, &checker, "write_file", json!({ "filePath": "dos.txt", "content": "c\nd\n" })).await;
    assert_eq!(text, "Wrote dos.txt (2 lines).");
    assert_eq!(project.read("dos.txt"), "\u{feff}c\r\nd\r\n");
    assert_eq!(project.path("dos.txt").metadata().unwrap().permissions().mode() & 0o777, 0o755);
    let text =
        call(&project, &checker, "write_file", json!({ "filePath": "neu/Größe b.ts", "content": "1" })).await;
    assert_eq!(text, "Created neu/Größe b.ts (1 line).");
    assert_eq!(project.read("neu/Größe b.ts"), "1");
}

#[tokio::test]
async fn wrong_arguments_are_explained() {
    let project = Project::new("//- a\nx\n");
    let text = call(&project, &Scripted::default(), "edit_file", json!({ "filePath": "a" })).await;
    assert_eq!(text, "ERROR: the arguments are wrong: missing field `oldText`");
    assert!(edits(&project, NoChecker).call("nope", json!({}), &NobodyToAsk).await.is_none());
}
