//! The modules of a library form layers: no two of them need each other in a circle.
//!
//! cargo refuses a cycle of crates, nobody refuses one of modules. The graph is read from the paths `crate::module` in
//! the code; tests may look at everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{files, root};

/// The crates whose modules are checked.
const LAYERED: &[&str] = &["crates/index", "crates/search"];

type Graph = BTreeMap<String, BTreeSet<String>>;

#[test]
fn the_modules_of_the_index_have_no_cycles() {
    for folder in LAYERED {
        let mut graph = Graph::new();
        for path in files().iter().map(|path| path.display().to_string()) {
            let Some(inner) = path.strip_prefix(&format!("{folder}/src/")) else { continue };
            if is_test(inner) || !inner.ends_with(".rs") || inner == "lib.rs" {
                continue;
            }
            let module = inner.split(['/', '.']).next().unwrap_or_default();
            let text = fs::read_to_string(root().join(&path)).unwrap();
            let used = used_modules(&text, inner.contains('/'));
            graph
                .entry(module.to_owned())
                .or_default()
                .extend(used.into_iter().filter(|used| used != module));
        }
        assert!(graph.len() > 5, "{folder} has hardly a module: the graph is not read");
        assert_eq!(cycles(&graph), Vec::<String>::new(), "{folder}");
    }
}

#[test]
fn a_cycle_is_found_and_tests_are_no_part_of_it() {
    let graph = |pairs: &[(&str, &str)]| -> Graph {
        let mut graph = Graph::new();
        for (module, text) in pairs {
            graph.insert((*module).to_owned(), used_modules(text, false));
        }
        graph
    };
    let lines = graph(&[
        ("a", "use crate::b::Thing;\nfn f() { crate::c::g() }\n"),
        ("b", "use crate::{c, d::{e, f}};\n"),
        ("c", "// use crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
        ("d", ""),
    ]);
    assert_eq!(cycles(&lines), Vec::<String>::new());
    let circle = graph(&[
        ("a", "use crate::b;"),
        ("b", "use crate::{\n    c,\n    d,\n};"),
        ("c", "use super::a;"),
        ("d", ""),
    ]);
    assert_eq!(cycles(&circle), ["a, b, c"]);
}

fn is_test(inner: &str) -> bool {
    let parts: Vec<&str> = inner.split(['/', '.']).collect();
    parts.iter().any(|part| matches!(*part, "tests" | "testing"))
}

/// The modules of this crate that a file names. In a file at the crate's root `super` is the crate.
fn used_modules(text: &str, nested: bool) -> BTreeSet<String> {
    let code = crate::invariants::code(text);
    let mut used = BTreeSet::new();
    let starts: &[&str] = if nested { &["crate::"] } else { &["crate::", "super::"] };
    for start in starts {
        for (at, _) in code.match_indices(start) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':') {
                continue;
            }
            used.extend(first_names(&code[at + start.len()..]));
        }
    }
    used
}

/// `a::b` names `a`; `{a, b::{c, d}}` names `a` and `b`.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '_').collect()
    };
    let Some(list) = path.strip_prefix('{') else {
        return vec![name(path)].into_iter().filter(|name| !name.is_empty()).collect();
    };
    let mut names = Vec::new();
    let mut depth = 0;
    let mut expects_name = true;
    for (at, character) in list.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => expects_name = true,
            character if expects_name && !character.is_whitespace() => {
                names.extend(Some(name(&list[at..])).filter(|name| !name.is_empty()));
                expects_name = false;
            }
            _ => {}
        }
    }
    names
}

/// The groups of modules that reach each other, each as `a, b`.
fn cycles(graph: &Graph) -> Vec<String> {
    let reachable = |from: &str| -> BTreeSet<&str> {
        let mut seen = BTreeSet::new();
        let mut next: Vec<&str> = graph.get(from).into_iter().flatten().map(String::as_str).collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(graph.get(module).into_iter().flatten().map(String::as_str));
            }
        }
        seen
    };
    let mut groups = BTreeSet::new();
    for module in graph.keys() {
        let reached = reachable(module);
        if reached.contains(module.as_str()) {
            let group: Vec<&str> =
                reached.iter().copied().filter(|other| reachable(other).contains(module.as_str())).collect();
            groups.insert(group.join(", "));
        }
    }
    groups.into_iter().collect()
}
