//! Any text as source, through the grammar, the chunks, the symbols and the graph. The first byte says the language.
//!
//! What the parser itself cannot bear is borne by a helper process; here short texts must not take it down.
#![no_main]

use std::time::Duration;

use chartroom_search::chunk::{embedded_text, parse_file_with};
use chartroom_search::parser::InProcess;

const EXTENSIONS: &[&str] =
    &["rs", "ts", "tsx", "js", "py", "go", "java", "c", "cpp", "cs", "rb", "php", "sh", "md", "txt"];

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let Ok(text) = std::str::from_utf8(rest) else { return };
    let extension = EXTENSIONS[usize::from(*first) % EXTENSIONS.len()];
    let parser = InProcess { budget: Duration::from_secs(1) };
    let parsed = parse_file_with(&parser, &format!("a.{extension}"), text);
    let n_lines = text.lines().count() as u32 + 1;
    for chunk in &parsed.chunks {
        assert!(chunk.start_line >= 1 && chunk.start_line <= chunk.end_line && chunk.end_line <= n_lines);
        embedded_text(chunk);
    }
    for symbol in &parsed.symbols {
        assert!(symbol.start_line >= 1 && symbol.start_line <= symbol.end_line && symbol.end_line <= n_lines);
    }
});
