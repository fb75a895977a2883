//! The dependency table of ARCHITECTURE.md against the Cargo.toml files. A new edge is a design decision.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::root;

type Edges = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_crates_use_only_what_the_table_in_architecture_md_allows() {
    let allowed = table(&fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap());
    let actual = edges();
    assert_eq!(problems(&allowed, &actual), Vec::<String>::new());
}

#[test]
fn a_forbidden_edge_is_found() {
    let table = table("| crate | may use | must never know |\n|---|---|---|\n| a | b | – |\n| b | – | a |\n");
    let edges = |pairs: &[(&str, &str)]| -> Edges {
        let mut edges = Edges::from([("a".into(), BTreeSet::new()), ("b".into(), BTreeSet::new())]);
        for (from, to) in pairs {
            edges.get_mut(*from).unwrap().insert((*to).to_owned());
        }
        edges
    };
    assert_eq!(problems(&table, &edges(&[("a", "b")])), Vec::<String>::new());
    assert_eq!(problems(&table, &edges(&[("b", "a")])), ["b must not use a"]);
}

fn problems(allowed: &Edges, actual: &Edges) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, uses) in actual {
        let Some(allowed) = allowed.get(name) else {
            problems.push(format!("{name} has no row in ARCHITECTURE.md"));
            continue;
        };
        problems.extend(
            uses.iter()
                .filter(|used| !allowed.contains(*used))
                .map(|used| format!("{name} must not use {used}")),
        );
    }
    problems
}

/// Reads the rows `| crate | may use | … |`.
fn table(text: &str) -> Edges {
    let rows = text.lines().skip_while(|line| !line.starts_with("| crate |")).skip(2);
    let mut table = Edges::new();
    let mut names = BTreeSet::new();
    let rows: Vec<(String, String)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            names.insert(cells[1].to_owned());
            (cells[1].to_owned(), cells[2].to_owned())
        })
        .collect();
    for (name, may_use) in rows {
        let uses = match may_use.as_str() {
            "–" => BTreeSet::new(),
            all if all.starts_with("all") => names.iter().filter(|other| **other != name).cloned().collect(),
            list => list.split(',').map(|used| used.trim().to_owned()).collect(),
        };
        table.insert(name, uses);
    }
    assert!(!table.is_empty(), "ARCHITECTURE.md has no dependency table");
    table
}

/// Reads the edges between our own crates; testkit is a guest of every crate's tests, and only of its tests.
fn edges() -> Edges {
    let mut edges = Edges::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let manifest: toml::Table = fs::read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap();
        let mut uses = BTreeSet::new();
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(dependencies) = manifest.get(section).and_then(|section| section.as_table()) else {
                continue;
            };
            for dependency in dependencies.keys() {
                match dependency.strip_prefix("chartroom-") {
                    Some("testkit") if section == "dev-dependencies" => {}
                    // A crate's own tests may switch on its own features.
                    Some(own) if own == name => {}
                    Some(own) => drop(uses.insert(own.to_owned())),
                    None => {}
                }
            }
        }
        edges.insert(name, uses);
    }
    edges
}
