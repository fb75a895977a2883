//! Docs that name files: the files are there. And nothing of one developer's machine is in the project.

use std::fs;

use crate::{files, root};

#[test]
fn docs_name_only_files_that_exist() {
    let mut missing = Vec::new();
    for path in files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for named in named_files(&text) {
            let beside = path.parent().map(|folder| root().join(folder).join(&named));
            if !root().join(&named).exists() && !beside.is_some_and(|beside| beside.exists()) {
                missing.push(format!("{} names {named}", path.display()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn named_files_are_the_code_spans_and_links_that_look_like_paths_of_ours() {
    let text = "See `crates/lsp/src/lib.rs`, [docs](docs/security.md), `src/a.ts` and `cargo xtask`.";
    assert_eq!(named_files(text), ["crates/lsp/src/lib.rs", "docs/security.md"]);
}

/// Paths that start at one of the project's own folders; examples such as `src/a.ts` are somebody else's.
fn named_files(text: &str) -> Vec<String> {
    const OURS: &[&str] = &["crates/", "docs/", "ui/", "xtask/", "bench/", "fuzz/", ".ci/", ".config/"];
    let spans = text.split('`').skip(1).step_by(2);
    let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    spans
        .chain(links)
        .filter(|name| OURS.iter().any(|folder| name.starts_with(folder)))
        .filter(|name| !name.contains(['*', '…', ' ', '<', '{']))
        // `path::function` names a function in a file.
        .filter_map(|name| name.split("::").next())
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect()
}

#[test]
fn functions_that_the_docs_name_are_in_the_file_that_they_name() {
    let mut missing = Vec::new();
    let mut n_named = 0;
    for path in files().into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"))
    {
        let text = fs::read_to_string(root().join(&path)).unwrap();
        for (file, function) in text.split('`').skip(1).step_by(2).filter_map(named_function) {
            n_named += 1;
            let source = fs::read_to_string(root().join(file)).unwrap_or_default();
            if !declares(&source, function) {
                missing.push(format!("{}: {file} has no {function}", path.display()));
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(n_named > 30, "the walks of ARCHITECTURE.md name their functions as `path::function`");
}

#[test]
fn tests_that_the_page_on_security_names_are_in_the_sources() {
    let sources: Vec<String> = files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| fs::read_to_string(root().join(path)).unwrap())
        .collect();
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let named: Vec<&str> = page.split('`').skip(1).step_by(2).filter_map(named_test).collect();
    let missing: Vec<&&str> =
        named.iter().filter(|name| !sources.iter().any(|source| declares(source, name))).collect();
    assert_eq!(missing, Vec::<&&str>::new());
    assert!(named.len() > 80, "{} tests are named", named.len());
}

#[test]
fn every_threat_has_a_test_that_shows_it() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let table = page.split("## Threats").nth(1).and_then(|rest| rest.split("\n## ").next()).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let shown = |row: &&&str| {
        let spans = row.split('`').skip(1).step_by(2);
        { spans }.any(|span| named_test(span).is_some() || span.starts_with("ui/"))
    };
    assert_eq!(rows.iter().filter(|row| !shown(row)).collect::<Vec<_>>(), Vec::<&&str>::new());
    assert!(rows.len() >= 17, "{} rows", rows.len());
}

/// The last part of `chartroom::guard::no_route_answers_without_a_key`, which is a sentence; a shorter name is no test.
fn named_test(span: &str) -> Option<&str> {
    let name = span.rsplit("::").next()?;
    let is_sentence = name.matches('_').count() >= 3
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    is_sentence.then_some(name)
}

#[test]
fn a_test_is_named_by_a_sentence() {
    assert_eq!(
        named_test("chartroom::guard::no_route_answers_without_a_key"),
        Some("no_route_answers_without_a_key")
    );
    assert_eq!(named_test("no_path_leads_out"), Some("no_path_leads_out"));
    for other in [
        "SpawnGate::spawn",
        "chartroom-transport::framing",
        "http::access::tests::…",
        "node_modules/.bin",
        "NODE_OPTIONS",
    ] {
        assert_eq!(named_test(other), None, "{other}");
    }
}

/// Takes `crates/lsp/src/handle.rs::check` apart.
fn named_function(span: &str) -> Option<(&str, &str)> {
    span.split_once("::").filter(|(file, _)| file.contains('/') && file.contains('.'))
}

/// A function of Rust, or a function or method of TypeScript.
fn declares(source: &str, function: &str) -> bool {
    let begins = |line: &str, start: &str| {
        line.split_once(start).is_some_and(|(before, after)| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            !before.ends_with(is_part)
                && after.strip_prefix(function).is_some_and(|rest| !rest.starts_with(is_part))
        })
    };
    source.lines().any(|line| {
        begins(line, "fn ")
            || begins(line, "function ")
            || line.trim_start().trim_start_matches("private ").starts_with(&format!("{function}("))
                && line.ends_with('{')
    })
}

#[test]
fn a_function_is_declared_and_not_only_called() {
    let rust = "pub(crate) async fn touch(&self) {\n    self.plan(x);\n}\n";
    assert!(declares(rust, "touch") && !declares(rust, "plan") && !declares(rust, "touc"));
    let page = "export function rowsOf(log) {\n  private receive(text: string): void {\n  log.apply(frame)\n";
    assert!(declares(page, "rowsOf") && declares(page, "receive") && !declares(page, "apply"));
}

#[test]
fn no_path_of_a_developers_machine_is_in_the_project() {
    let home = std::env::var("HOME").unwrap_or_default();
    let found: Vec<String> = files()
        .into_iter()
        .filter(|path| {
            let text = fs::read(root().join(path)).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            // Built from parts, so that this file does not find itself.
            let workplace = format!("/{}/{}", "work", "shared");
            text.contains(&workplace) || (home.len() > 1 && text.contains(&format!("{home}/")))
        })
        .map(|path| path.display().to_string())
        .collect();
    assert_eq!(found, Vec::<String>::new());
}
