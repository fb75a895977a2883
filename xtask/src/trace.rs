//! Traceability: every id of the seeds has a line, every line names tests that exist, and a Rust test has its ids in a
//! comment directly above it.

mod comments;
mod ids;
mod references;

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::process::root;

/// What shows an id.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Word(String),
    NotApplicable {
        #[serde(rename = "not-applicable")]
        reason: String,
    },
    /// Tests, rows of the benchmarks, or both.
    Shown {
        #[serde(default)]
        tests: Vec<String>,
        #[serde(default)]
        bench: Vec<String>,
    },
}

pub(crate) fn run() -> anyhow::Result<()> {
    let path = root().join("docs/traceability.toml");
    let text = fs::read_to_string(&path).context("reading docs/traceability.toml")?;
    let sections: BTreeMap<String, BTreeMap<String, Entry>> =
        toml::from_str(&text).context("docs/traceability.toml")?;
    let entries: BTreeMap<&str, &Entry> =
        sections.values().flatten().map(|(id, entry)| (id.as_str(), entry)).collect();

    let tests = references::existing_tests()?;
    let rows = references::measured_rows()?;
    let mut problems = Vec::new();
    let (mut n_shown, mut n_pending, mut n_not_applicable) = (0, 0, 0);
    for id in ids::all() {
        match entries.get(id.as_str()) {
            None => problems.push(format!("{id} has no line")),
            Some(Entry::Word(word)) if word == "pending" => n_pending += 1,
            Some(Entry::Word(word)) => problems.push(format!("{id}: `{word}` is none of the known forms")),
            Some(Entry::NotApplicable { reason }) if reason.trim().len() < 10 => {
                problems.push(format!("{id} is not applicable without a reason"));
            }
            Some(Entry::NotApplicable { .. }) => n_not_applicable += 1,
            Some(Entry::Shown { tests, bench }) if tests.is_empty() && bench.is_empty() => {
                problems.push(format!("{id} names no test and no row of the benchmarks"));
            }
            Some(Entry::Shown { tests: named, bench }) => {
                n_shown += 1;
                for test in named.iter().filter(|test| !tests.contains(*test)) {
                    problems.push(format!("{id}: there is no test `{test}`"));
                }
                for row in bench.iter().filter(|row| !rows.contains(*row)) {
                    problems.push(format!("{id}: docs/benchmarks.md has no row `{row}`"));
                }
            }
        }
    }
    let named = entries.iter().flat_map(|(id, entry)| match entry {
        Entry::Shown { tests, .. } => tests.iter().map(|test| (*id, test.as_str())).collect(),
        Entry::Word(_) | Entry::NotApplicable { .. } => Vec::new(),
    });
    let rust_tests = tests.iter().filter(|test| !test.starts_with("ui/")).cloned().collect();
    problems.extend(comments::drift(named, &rust_tests)?);
    let known = ids::all();
    for id in entries.keys() {
        if !known.iter().any(|known| known == id) {
            problems.push(format!("{id} is no id of the seeds"));
        }
    }
    eprintln!("traceability: {n_shown} shown, {n_pending} pending, {n_not_applicable} not applicable");
    if !problems.is_empty() {
        bail!("docs/traceability.toml:\n  {}", problems.join("\n  "));
    }
    Ok(())
}
