use chartroom_protocol::lsp::{Code, Severity};
use expect_test::{Expect, expect};

use super::*;

fn diagnostic(line: u32, message: &str) -> Diagnostic {
    Diagnostic {
        file: String::new(),
        line,
        character: 5,
        severity: Severity::Error,
        message: message.to_owned(),
        code: None,
        source: None,
    }
}

/// A file with one diagnostic per line number.
fn file(path: &str, lines: impl IntoIterator<Item = u32>) -> FileDiagnostics {
    let diagnostics = lines
        .into_iter()
        .map(|line| Diagnostic { file: path.to_owned(), ..diagnostic(line, &format!("wrong {line}")) })
        .collect();
    FileDiagnostics { file: path.to_owned(), diagnostics, refused: None, servers: Vec::new() }
}

fn n_lines(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("ERROR")).count()
}

#[track_caller]
fn check_edit(files: &[FileDiagnostics], limits: Limits, expected: Expect) {
    expected.assert_eq(&format!("Edited src/a.ts (1 replacement).{}", after_edit(files, limits)));
}

// REQ-FMT-010, EC-23
#[test]
fn a_line_has_severity_place_message_and_code_if_there_is_one() {
    let mut one = diagnostic(42, "Type 'string' is not assignable to type 'number'.");
    assert_eq!(line(&one), "ERROR [42:5] Type 'string' is not assignable to type 'number'.");
    one.code = Some(Code::Number(2322));
    assert_eq!(line(&one), "ERROR [42:5] Type 'string' is not assignable to type 'number'. (2322)");
    one.code = Some(Code::Text("no-undef".into()));
    one.severity = Severity::Warning;
    assert_eq!(line(&one), "WARNING [42:5] Type 'string' is not assignable to type 'number'. (no-undef)");
    one.severity = Severity::Info;
    assert!(line(&one).starts_with("INFO [42:5]"));
    one.severity = Severity::Hint;
    assert!(line(&one).starts_with("HINT [42:5]"));
}

// REQ-DIAG-010, REQ-DIAG-050, BR-74, REQ-FMT-020
#[test]
fn the_block_follows_the_success_message() {
    check_edit(
        &[file("src/a.ts", [1])],
        Limits::default(),
        expect![[r#"
            Edited src/a.ts (1 replacement).

            LSP errors detected in this file, please fix:
            <diagnostics file="src/a.ts">
            ERROR [1:5] wrong 1
            </diagnostics>"#]],
    );
}

#[test]
fn a_clean_file_adds_nothing() {
    check_edit(&[file("src/a.ts", [])], Limits::default(), expect!["Edited src/a.ts (1 replacement)."]);
    assert_eq!(after_write(&[file("a", [])], &[file("b", [])], Limits::default()), "");
}

// REQ-FMT-030
#[test]
fn lines_ascend() {
    check_edit(
        &[file("a.ts", [30, 2, 11])],
        Limits::default(),
        expect![[r#"
            Edited src/a.ts (1 replacement).

            LSP errors detected in this file, please fix:
            <diagnostics file="a.ts">
            ERROR [2:5] wrong 2
            ERROR [11:5] wrong 11
            ERROR [30:5] wrong 30
            </diagnostics>"#]],
    );
}

// EC-17, BR-5, REQ-FMT-050, REQ-FMT-055, REQ-FMT-066
#[test]
fn twenty_are_shown_and_the_rest_counted() {
    let text = after_edit(&[file("a.ts", 1..=25)], Limits::default());
    assert_eq!(n_lines(&text), 20);
    assert!(text.ends_with("ERROR [20:5] wrong 20\n... and 5 more\n</diagnostics>"), "{text}");
    let text = after_edit(&[file("a.ts", 1..=27)], Limits::default());
    assert!(text.ends_with("\n... and 7 more\n</diagnostics>"), "{text}");
}

// EC-18, BR-6, BR-7, REQ-DIAG-070
#[test]
fn a_hundred_errors_in_ten_files_stop_at_fifty_lines() {
    let others: Vec<_> = (1..=9).map(|n| file(&format!("o{n}.ts"), 1..=10)).collect();
    let text = after_write(&[file("a.ts", 1..=10)], &others, Limits::default());
    assert_eq!(n_lines(&text), 50);
    assert_eq!(text.matches("in other files:").count(), 4);
    assert!(!text.contains("o5.ts"), "{text}");
}

// REQ-DIAG-060, BR-6
#[test]
fn at_most_five_other_files() {
    let others: Vec<_> = (1..=7).map(|n| file(&format!("o{n}.ts"), [1])).collect();
    let text = after_write(&[], &others, Limits::default());
    assert_eq!(text.matches("<diagnostics").count(), 5);
}

// EC-19
#[test]
fn fifty_errors_in_the_written_file_leave_no_room_for_others() {
    let others = [file("b.ts", 1..=3)];
    let lines = |n_own: u32, per_file: usize| {
        let limits = Limits { per_file, ..Limits::default() };
        let text = after_write(&[file("a.ts", 1..=n_own)], &others, limits);
        (n_lines(&text), text.contains("b.ts"), text.contains("in other files"))
    };
    // The total is reached exactly, passed, and missed by one.
    assert_eq!(lines(50, 50), (50, false, false));
    assert_eq!(lines(60, 60), (50, false, false));
    assert_eq!(lines(49, 50), (50, true, true));
    // Cut at twenty, as it is by default, the written file leaves room.
    assert_eq!(lines(50, 20), (23, true, true));
}

// BR-8, REQ-FMT-068
#[test]
fn overflow_lines_do_not_count_toward_the_total() {
    let limits = Limits { per_file: 10, ..Limits::default() };
    let others: Vec<_> = (1..=5).map(|n| file(&format!("o{n}.ts"), 1..=12)).collect();
    let text = after_write(&[file("a.ts", [])], &others, limits);
    assert_eq!(n_lines(&text), 50);
    assert_eq!(text.matches("... and 2 more").count(), 5);
}

// BR-16, BR-76, REQ-FMT-090, REQ-DIAG-040
#[test]
fn the_written_file_is_first_then_the_others_by_path() {
    let text = after_write(
        &[file("z.ts", [1])],
        &[file("m.ts", [2]), file("b.ts", [3]), file("clean.ts", [])],
        Limits::default(),
    );
    expect![[r#"


        LSP errors detected in this file, please fix:
        <diagnostics file="z.ts">
        ERROR [1:5] wrong 1
        </diagnostics>

        LSP errors detected in other files:
        <diagnostics file="b.ts">
        ERROR [3:5] wrong 3
        </diagnostics>

        LSP errors detected in other files:
        <diagnostics file="m.ts">
        ERROR [2:5] wrong 2
        </diagnostics>"#]]
    .assert_eq(&text);
}

// REQ-DIAG-017, BR-75
#[test]
fn each_patched_file_has_its_block() {
    check_edit(
        &[file("b.ts", [1]), file("clean.ts", []), file("a.ts", [2])],
        Limits::default(),
        expect![[r#"
            Edited src/a.ts (1 replacement).

            LSP errors detected in this file, please fix:
            <diagnostics file="b.ts">
            ERROR [1:5] wrong 1
            </diagnostics>

            LSP errors detected in this file, please fix:
            <diagnostics file="a.ts">
            ERROR [2:5] wrong 2
            </diagnostics>"#]],
    );
}

#[test]
fn bare_blocks_have_no_heading() {
    expect![[r#"
        <diagnostics file="a.ts">
        ERROR [1:5] wrong 1
        </diagnostics>
        <diagnostics file="b.ts">
        ERROR [2:5] wrong 2
        </diagnostics>"#]]
    .assert_eq(&blocks(&[file("a.ts", [1]), file("b.ts", [2])], Limits::default(), Reader::Model));
}

// EC-16, REQ-FMT-040
#[test]
fn a_model_reads_it_escaped_and_a_person_as_it_is() {
    let broken = diagnostic(1, "Array<a> & </diagnostics>");
    let file = FileDiagnostics { diagnostics: vec![broken], ..file("a.ts", []) };
    let text = |reader| blocks(std::slice::from_ref(&file), Limits::default(), reader);
    assert_eq!(
        text(Reader::Model),
        "<diagnostics file=\"a.ts\">\nERROR [1:5] Array&lt;a&gt; &amp; &lt;/diagnostics&gt;\n</diagnostics>"
    );
    assert_eq!(
        text(Reader::Person),
        "<diagnostics file=\"a.ts\">\nERROR [1:5] Array<a> & </diagnostics>\n</diagnostics>"
    );
}

// REQ-DIAG-060
#[test]
fn the_worst_of_the_other_files_are_shown_by_path() {
    let others = [file("a.ts", [1]), file("b.ts", [1, 2]), file("c.ts", [1]), file("z.ts", [1, 2, 3])];
    let text = after_write(&[], &others, Limits { other_files: 2, ..Limits::default() });
    let shown: Vec<_> = text.lines().filter(|line| line.starts_with("<diagnostics")).collect();
    assert_eq!(shown, ["<diagnostics file=\"b.ts\">", "<diagnostics file=\"z.ts\">"]);
}
