//! Which tests exist: the Rust ones as nextest lists them, the page's ones by their titles in the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use anyhow::Context;
use ignore::Walk;
use serde::Deserialize;

use crate::process::{cargo, output, root};

/// Returns every test as docs/traceability.toml writes it.
pub(crate) fn existing_tests() -> anyhow::Result<BTreeSet<String>> {
    let mut tests = rust_tests()?;
    tests.extend(page_tests()?);
    Ok(tests)
}

/// Returns the rows of docs/benchmarks.md by their names.
pub(crate) fn measured_rows() -> anyhow::Result<BTreeSet<String>> {
    let table =
        fs::read_to_string(root().join("docs/benchmarks.md")).context("reading docs/benchmarks.md")?;
    Ok(row_names(&table))
}

fn row_names(table: &str) -> BTreeSet<String> {
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.map(str::to_owned).collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct List {
    rust_suites: BTreeMap<String, Suite>,
}

#[derive(Deserialize)]
struct Suite {
    testcases: BTreeMap<String, serde_json::Value>,
}

fn rust_tests() -> anyhow::Result<BTreeSet<String>> {
    let json = output(cargo().args([
        "nextest",
        "list",
        "--workspace",
        "--all-features",
        "--message-format",
        "json",
        "--cargo-quiet",
    ]))?;
    let list: List = serde_json::from_str(&json).context("the list of nextest")?;
    let named = list
        .rust_suites
        .into_iter()
        .flat_map(|(binary, suite)| suite.testcases.into_keys().map(move |test| format!("{binary}::{test}")));
    Ok(named.collect())
}

/// Titles are the first string argument of `test(`, `it(` or `story(` in the page's test files.
fn page_tests() -> anyhow::Result<BTreeSet<String>> {
    let mut tests = BTreeSet::new();
    for folder in ["ui/tests", "ui/browser"] {
        let folder = root().join(folder);
        if !folder.exists() {
            continue;
        }
        for entry in Walk::new(folder) {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if ![".test.ts", ".test.tsx", ".story.mjs"].iter().any(|ending| name.ends_with(ending)) {
                continue;
            }
            let relative = entry.path().strip_prefix(root())?.to_string_lossy().into_owned();
            let text = fs::read_to_string(entry.path())?;
            tests.extend(titles(&text).map(|title| format!("{relative}::{title}")));
        }
    }
    Ok(tests)
}

fn titles(text: &str) -> impl Iterator<Item = &str> {
    ["test(", "it(", "story("].into_iter().flat_map(move |call| {
        text.match_indices(call).filter_map(move |(at, _)| {
            let rest = text[at + call.len()..].trim_start();
            let quote = rest.chars().next().filter(|quote| ['"', '\'', '`'].contains(quote))?;
            rest[1..].split(quote).next()
        })
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn titles_are_the_first_string_of_each_test() {
        let text = "test('TC-7.2a: text', () => {});\n  it(\n \"two words\", f); wait(3)";
        assert_eq!(super::titles(text).collect::<Vec<_>>(), ["TC-7.2a: text", "two words"]);
    }
}
