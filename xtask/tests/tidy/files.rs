//! Files of a workspace are opened by descriptor below its root, never by a path that was checked before.

use std::fs;
use std::path::Path;

use crate::root;

/// What touches files of a workspace and nothing else: everything here goes through `workspace::boundary`.
const WORKSPACE_ONLY: &[&str] = &[
    "crates/edits/src",
    "crates/index/src/lifecycle",
    "crates/index/src/sync",
    "crates/index/src/tools",
    "crates/index/src/watcher",
    "crates/lsp/src/client",
    "crates/lsp/src/content.rs",
    "crates/lsp/src/disk_changes.rs",
    "crates/lsp/src/orchestrator",
    "crates/lsp/src/registry",
    "crates/lsp/src/tools",
    "crates/chartroom/src/http",
    "crates/search/src/intake.rs",
    "crates/search/src/scan.rs",
    "crates/workspace/src/roots.rs",
];

/// What lies among them and opens other files: of the data folder, the kernel's own in `/proc`, and the names of folders from
/// which a project is chosen.
const OTHER_FILES: &[&str] = &[
    "crates/edits/src/locks.rs",
    "crates/chartroom/src/http/folders.rs",
    "crates/chartroom/src/http/peer.rs",
    "crates/chartroom/src/http/peer/sockets.rs",
];

/// What reads files of agents in the user's home, through `workspace::regular`.
const FILES_OF_AGENTS: &[&str] = &["crates/providers/src/acp", "crates/providers/src/claude"];

/// Ways to look at or to open a file by its path.
const BY_PATH: &[&str] = &[
    "fs::metadata(",
    "fs::read_dir(",
    "fs::read(",
    "fs::read_to_string(",
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "fs::remove_file(",
    "fs::create_dir",
    "File::open(",
    "File::create(",
    "OpenOptions",
    "tempfile_in(",
];

#[test]
fn files_of_a_workspace_are_opened_through_the_boundary() {
    let mut openings = all_openings(WORKSPACE_ONLY);
    // The folder that a caller names as a codebase, not a file below it.
    openings.retain(|opening| !(opening.contains("tools/resolve.rs") && opening.ends_with("fs::metadata(")));
    assert_eq!(openings, Vec::<String>::new());
}

#[test]
fn session_files_of_agents_are_opened_without_waiting() {
    let mut openings = all_openings(FILES_OF_AGENTS);
    // A folder is listed by its path, and how Codex's settings look is asked without opening them.
    let looks_alone = |opening: &str| opening.contains("acp/spare.rs") && opening.ends_with("fs::metadata(");
    openings.retain(|opening| !opening.ends_with("fs::read_dir(") && !looks_alone(opening));
    assert_eq!(openings, Vec::<String>::new());
}

#[test]
fn an_opening_by_path_is_found_and_one_in_a_test_is_not() {
    let source =
        "fn f() {\n    std::fs::read(p);\n}\n#[cfg(test)]\nmod tests { fn g() { std::fs::write(p, t); } }\n";
    assert_eq!(openings(source), [(2, "fs::read(")]);
}

fn all_openings(places: &[&str]) -> Vec<String> {
    let mut problems = Vec::new();
    for place in places {
        let path = root().join(place);
        assert!(path.exists(), "{place} is not there");
        look(&path, &mut problems);
    }
    problems
}

fn look(path: &Path, problems: &mut Vec<String>) {
    if path.is_dir() {
        let mut entries: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        return entries.iter().for_each(|entry| look(entry, problems));
    }
    let name = path.file_name().unwrap().to_str().unwrap();
    let in_tests = name == "tests.rs" || path.components().any(|part| part.as_os_str() == "tests");
    let opens_others = OTHER_FILES.iter().any(|place| path == root().join(place));
    if in_tests || opens_others || !name.ends_with(".rs") {
        return;
    }
    for (line, what) in openings(&fs::read_to_string(path).unwrap()) {
        problems.push(format!("{}:{line}: {what}", path.strip_prefix(root()).unwrap().display()));
    }
}

fn openings(source: &str) -> Vec<(usize, &'static str)> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let found = |line: &str| BY_PATH.iter().find(|what| line.contains(**what)).copied();
    code.lines().enumerate().filter_map(|(at, line)| Some((at + 1, found(line)?))).collect()
}
