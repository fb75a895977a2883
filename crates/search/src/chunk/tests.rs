//! Where files are cut.

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::{MAX_CHUNK_CHARS, ParsedFile, parse_file, parse_file_with};
use crate::parser::InProcess;

/// Prints the lines, size and label of each chunk.
#[track_caller]
fn check(path: &str, source: &str, expected: Expect) {
    let parsed = parse_file(path, source);
    covers(&parsed, source);
    let mut out = String::new();
    for chunk in &parsed.chunks {
        let label = chunk.symbol_label.as_deref().unwrap_or("-");
        let within = chunk.breadcrumbs.join(" > ");
        let within = if within.is_empty() { within } else { format!(" in {within}") };
        out +=
            &format!("{}-{} ({}) {label}{within}\n", chunk.start_line, chunk.end_line, chunk.content.len());
    }
    expected.assert_eq(&out);
}

/// Every line is in exactly one chunk, and the chunks say the truth about their lines.
#[track_caller]
fn covers(parsed: &ParsedFile, source: &str) {
    let joined: String = parsed.chunks.iter().map(|chunk| chunk.content.as_str()).collect();
    assert_eq!(joined, source);
    let mut line = 1;
    for chunk in &parsed.chunks {
        assert_eq!(chunk.start_line, line);
        line += chunk.content.split_inclusive('\n').count() as u32;
        assert_eq!(chunk.end_line + 1, line);
        let single_line = chunk.start_line == chunk.end_line;
        assert!(chunk.content.len() <= MAX_CHUNK_CHARS || single_line, "{}", chunk.content.len());
    }
    let mut ids: Vec<&str> = parsed.chunks.iter().map(|chunk| chunk.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), parsed.chunks.len());
}

/// A Python function of about so many bytes.
fn function(name: &str, size: usize) -> String {
    let mut text = format!("def {name}(a):\n");
    while text.len() < size {
        text += "    a = a + 1\n";
    }
    text + "\n"
}

#[test]
fn small_neighbours_share_a_chunk() {
    let source = format!("import os\n\n{}{}", function("first", 60), function("second", 60));
    check(
        "a.py",
        &source,
        expect![[r#"
        1-14 (154) -
    "#]],
    );
}

#[test]
fn a_long_definition_stands_alone_with_its_comment() {
    let source = format!(
        "import os\n\n{}\n# Says why.\n{}{}",
        function("first", 900),
        function("second", 900),
        function("third", 900)
    );
    check(
        "a.py",
        &source,
        expect![[r#"
        1-69 (923) function first(a)
        70-136 (924) function second(a)
        137-202 (911) function third(a)
    "#]],
    );
}

#[test]
fn a_class_that_is_too_long_is_cut_between_its_methods() {
    let method = |name: &str, size| {
        function(name, size).lines().map(|line| format!("    {line}\n")).collect::<String>()
    };
    let source = format!(
        "class Long:\n    x = 1\n\n{}{}{}",
        method("one", 1200),
        method("two", 1200),
        method("three", 60)
    );
    check(
        "a.py",
        &source,
        expect![[r#"
            1-90 (1574) method Long.one(a) in class Long
            91-183 (1646) class Long
        "#]],
    );
}

#[test]
fn a_function_that_is_too_long_is_cut_between_lines() {
    check(
        "a.py",
        &function("huge", 6000),
        expect![[r#"
        1-178 (2491) function huge(a)
        179-356 (2492) function huge(a)
        357-430 (1023) function huge(a)
    "#]],
    );
}

#[test]
fn markdown_is_cut_at_headings() {
    let text = "words and more words\n".repeat(30);
    let source =
        format!("# Title\n\n{text}\n## Install\n\n{text}\n```sh\n# not a heading\n```\n\n## Use\n\nshort\n");
    check(
        "README.md",
        &source,
        expect![[r#"
        1-33 (640) -
        34-73 (684) -
    "#]],
    );
}

#[test]
fn other_text_is_cut_after_blank_lines() {
    let source = format!("{}\n", "key: value\n".repeat(80)).repeat(5);
    check(
        "a.yaml",
        &source,
        expect![[r#"
        1-162 (1762) -
        163-324 (1762) -
        325-405 (881) -
    "#]],
    );
}

#[test]
fn an_empty_file_has_no_chunks() {
    check("a.rs", "", expect![[r#""#]]);
}

#[test]
fn one_endless_line_is_one_chunk() {
    check(
        "a.txt",
        &"x".repeat(10_000),
        expect![[r#"
        1-1 (10000) -
    "#]],
    );
}

#[test]
fn without_time_to_parse_a_file_is_cut_by_lines() {
    let source = function("f", 4000).repeat(20);
    let parsed = parse_file_with(&InProcess { budget: std::time::Duration::ZERO }, "a.py", &source);
    covers(&parsed, &source);
    assert!(parsed.symbols.is_empty());
}

#[test]
fn chunk_ids_survive_edits_above() {
    let tail = function("second", 900);
    let before = parse_file("a.py", &format!("{}{tail}", function("first", 900)));
    let after = parse_file("a.py", &format!("import x\n{}{tail}", function("first", 1200)));
    assert_eq!(before.chunks.last().unwrap().id, after.chunks.last().unwrap().id);
    assert_eq!(before.chunks.last().unwrap().content_hash, after.chunks.last().unwrap().content_hash);
    assert_ne!(before.chunks.last().unwrap().start_line, after.chunks.last().unwrap().start_line);
}

const NAMES: &[&str] = &[
    "a.rs", "a.ts", "a.tsx", "a.js", "a.py", "a.go", "a.java", "a.c", "a.cpp", "a.cs", "a.rb", "a.php",
    "a.sh", "a.lua", "a.zig", "a.r", "a.kt", "a.swift", "a.scala", "a.dart", "a.ex", "a.hs", "a.ml", "a.sql",
    "a.css", "a.vue", "a.html", "a.md", "a.txt",
];

/// Pieces of source that, thrown together, look like something in each language.
const PIECES: &[&str] = &[
    "class A {\n",
    "}\n",
    "def f(x):\n",
    "    return x\n",
    "fn g() {\n",
    "function h() {\n",
    "// c\n",
    "# c\n",
    "\n",
    "  a.b(c)\n",
    "end\n",
    "impl X for Y {\n",
    "\"\"\"\n",
    "/*",
    "*/",
    "export const z = () => {\n",
    "namespace n {\n",
    "#include <x>\n",
    "é→\n",
    "\t",
    "((((",
    "use a::{b, c};\n",
    "import x from 'y'\n",
    "\r\n",
    "@d\n",
    "x = 1; y = 2\n",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_line_of_any_source_is_covered(pieces in prop::collection::vec(0..PIECES.len(), 0..200)) {
        let source: String = pieces.iter().map(|at| PIECES[*at]).collect();
        for name in NAMES {
            covers(&parse_file(name, &source), &source);
        }
    }

    #[test]
    fn random_bytes_are_taken_apart_without_trouble(bytes in prop::collection::vec(any::<u8>(), 0..4000)) {
        let text = String::from_utf8_lossy(&bytes);
        for name in NAMES {
            covers(&parse_file(name, &text), &text);
        }
    }
}
