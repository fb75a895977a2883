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
        .map(|name| name.trim_end_matches('/').to_owned())
        .collect()
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
