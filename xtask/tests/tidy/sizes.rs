//! Rooms stay small: past 600 lines a second subject is hiding inside.

use std::fs;

use crate::{files, root};

const MOST_LINES: usize = 600;

#[test]
fn no_source_file_is_over_600_lines() {
    let sources = files().into_iter().filter(|path| {
        let generated = path.ends_with("ui/src/protocol.ts");
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        !generated && ["rs", "ts", "tsx", "mjs", "css"].contains(&extension)
    });
    let long: Vec<String> = sources
        .filter_map(|path| {
            let n_lines = fs::read_to_string(root().join(&path)).unwrap_or_default().lines().count();
            (n_lines > MOST_LINES).then(|| format!("{}: {n_lines} lines", path.display()))
        })
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn no_module_is_called_mod_rs() {
    let found: Vec<_> = files().into_iter().filter(|path| path.ends_with("mod.rs")).collect();
    assert_eq!(found, Vec::<std::path::PathBuf>::new());
}
