//! What several servers said about one file, as one list: filtered, without doubles, in order, for people.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use chartroom_protocol::lsp::{Code, Diagnostic, Severity};
use chartroom_workspace::CanonicalRoot;

use crate::client::Client;
use crate::client::wire::Finding;
use crate::content;
use crate::position::{Encoding, to_place};

/// Merges the findings of several clients about one file.
pub(super) fn merge<'a>(
    root: &CanonicalRoot,
    file: &Path,
    relative: &str,
    parts: impl IntoIterator<Item = (&'a Client, Vec<Finding>)>,
    severities: &[Severity],
) -> Vec<Diagnostic> {
    let mut disk: Option<Option<Arc<str>>> = None;
    let parts = parts.into_iter().map(|(client, findings)| {
        let text = client.text(file).or_else(|| {
            // Only a file that a server talks about without having it open is read, once.
            if findings.is_empty() {
                None
            } else {
                disk.get_or_insert_with(|| content::read(root, file).ok()).clone()
            }
        });
        (findings, client.capabilities.encoding, text)
    });
    merge_parts(relative, parts, severities)
}

fn merge_parts(
    relative: &str,
    parts: impl IntoIterator<Item = (Vec<Finding>, Encoding, Option<Arc<str>>)>,
    severities: &[Severity],
) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let mut diagnostics = Vec::new();
    for (findings, encoding, text) in parts {
        for finding in findings {
            if !severities.contains(&finding.severity) {
                continue;
            }
            let start = to_place(finding.range.start, encoding, text.as_deref());
            let end = to_place(finding.range.end, encoding, text.as_deref());
            if !seen.insert((start, end, finding.message.clone())) {
                continue;
            }
            diagnostics.push(Diagnostic {
                file: relative.to_owned(),
                line: start.line,
                character: start.character,
                severity: finding.severity,
                message: finding.message,
                code: finding.code,
                source: finding.source,
            });
        }
    }
    drop_what_the_compiler_says_too(&mut diagnostics);
    diagnostics.sort_by(|a, b| {
        (a.line, a.character, a.severity, &a.message).cmp(&(b.line, b.character, b.severity, &b.message))
    });
    diagnostics
}

/// rust-analyzer finds some errors before the compiler does, in other words; the compiler's are the ones to keep.
fn drop_what_the_compiler_says_too(diagnostics: &mut Vec<Diagnostic>) {
    let is_of = |diagnostic: &Diagnostic, source: &str| diagnostic.source.as_deref() == Some(source);
    let compiled: BTreeSet<(u32, Code)> = diagnostics
        .iter()
        .filter(|diagnostic| is_of(diagnostic, "rustc"))
        .filter_map(|diagnostic| Some((diagnostic.line, diagnostic.code.clone()?)))
        .collect();
    diagnostics.retain(|diagnostic| {
        let code = diagnostic.code.clone().filter(|_| is_of(diagnostic, "rust-analyzer"));
        code.is_none_or(|code| !compiled.contains(&(diagnostic.line, code)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::{Position, Range};
    use crate::render::line;

    fn finding(at: u32, severity: Severity, message: &str, source: &str) -> Finding {
        let range =
            Range { start: Position { line: at, character: 0 }, end: Position { line: at, character: 3 } };
        Finding { range, severity, message: message.to_owned(), code: None, source: Some(source.to_owned()) }
    }

    #[track_caller]
    fn check(parts: Vec<Vec<Finding>>, severities: &[Severity], expected: &[&str]) {
        let parts = parts.into_iter().map(|findings| (findings, Encoding::Utf16, None));
        let lines: Vec<_> = merge_parts("a.ts", parts, severities).iter().map(line).collect();
        assert_eq!(lines, expected);
    }

    // EC-20, BR-9, REQ-FMT-070
    #[test]
    fn the_same_place_and_message_of_two_servers_is_one() {
        check(
            vec![
                vec![finding(0, Severity::Error, "unused", "ts"), finding(4, Severity::Error, "b", "ts")],
                vec![finding(0, Severity::Error, "unused", "eslint")],
            ],
            &[Severity::Error],
            &["ERROR [1:1] unused", "ERROR [5:1] b"],
        );
    }

    // EC-21
    #[test]
    fn another_message_or_place_is_another_diagnostic() {
        check(
            vec![
                vec![finding(0, Severity::Error, "unused", "ts")],
                vec![
                    finding(0, Severity::Error, "is unused", "eslint"),
                    finding(1, Severity::Error, "unused", "eslint"),
                ],
            ],
            &[Severity::Error],
            &["ERROR [1:1] is unused", "ERROR [1:1] unused", "ERROR [2:1] unused"],
        );
    }

    // EC-24, EC-25, BR-4, BR-38, REQ-FMT-060, REQ-FMT-065, REQ-FMT-066
    #[test]
    fn exactly_the_asked_severities_are_kept() {
        let all = || {
            vec![vec![
                finding(0, Severity::Error, "e", "x"),
                finding(1, Severity::Warning, "w", "x"),
                finding(2, Severity::Info, "i", "x"),
                finding(3, Severity::Hint, "h", "x"),
            ]]
        };
        check(all(), &[Severity::Error], &["ERROR [1:1] e"]);
        check(all(), &[Severity::Warning], &["WARNING [2:1] w"]);
        check(all(), &[Severity::Error, Severity::Warning], &["ERROR [1:1] e", "WARNING [2:1] w"]);
        check(all(), &[], &[]);
    }

    // REQ-FMT-040
    #[test]
    fn messages_are_escaped_once() {
        check(
            vec![vec![finding(0, Severity::Error, "Array<a> & b", "x")]],
            &[Severity::Error],
            &["ERROR [1:1] Array&lt;a&gt; &amp; b"],
        );
    }

    #[test]
    fn the_message_itself_stays_as_the_server_said_it() {
        let parts = [(vec![finding(0, Severity::Error, "Array<a> & b", "x")], Encoding::Utf16, None)];
        assert_eq!(merge_parts("a.ts", parts, &[Severity::Error])[0].message, "Array<a> & b");
    }

    #[test]
    fn an_error_that_the_rust_compiler_finds_too_is_one() {
        let coded = |at: u32, message: &str, source: &str, code: &str| Finding {
            code: Some(Code::Text(code.to_owned())),
            ..finding(at, Severity::Error, message, source)
        };
        let native = vec![
            coded(0, "expected i32, found &str", "rust-analyzer", "E0308"),
            coded(2, "expected i32, found &str", "rust-analyzer", "E0308"),
            coded(3, "no such field", "rust-analyzer", "E0560"),
        ];
        let compiled = vec![
            coded(0, "mismatched types expected `i32`, found `&str`", "rustc", "E0308"),
            coded(3, "mismatched types", "rustc", "E0308"),
        ];
        check(
            vec![native, compiled],
            &[Severity::Error],
            &[
                "ERROR [1:1] mismatched types expected `i32`, found `&amp;str` (E0308)",
                "ERROR [3:1] expected i32, found &amp;str (E0308)",
                "ERROR [4:1] mismatched types (E0308)",
                "ERROR [4:1] no such field (E0560)",
            ],
        );
    }

    // EC-16
    #[test]
    fn what_a_server_says_cannot_end_our_block() {
        check(
            vec![vec![finding(0, Severity::Error, "expected Array<string> & </diagnostics>", "ts")]],
            &[Severity::Error],
            &["ERROR [1:1] expected Array&lt;string&gt; &amp; &lt;/diagnostics&gt;"],
        );
    }
}
