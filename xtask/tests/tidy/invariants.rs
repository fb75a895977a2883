//! The invariants of ARCHITECTURE.md that a search in the source can hold, and that each of them names what holds it.

use std::fs;
use std::path::Path;

use crate::{files, root};

/// A piece of source that is no test: its path and its code.
struct Source {
    path: String,
    text: String,
}

/// The sources of the crates below any of these paths, without tests, fakes and the testkit.
fn sources(below: &[&str]) -> Vec<Source> {
    let is_test = |path: &str| {
        [
            "/tests/",
            "/tests.rs",
            "/testing/",
            "/testing.rs",
            "/fake.rs",
            "/bin/",
            "crates/testkit/",
            "/properties.rs",
        ]
        .iter()
        .any(|part| path.contains(part))
    };
    files()
        .into_iter()
        .map(|path| path.display().to_string())
        .filter(|path| path.starts_with("crates/") && path.contains("/src/") && path.ends_with(".rs"))
        .filter(|path| below.iter().any(|start| path.starts_with(start)) && !is_test(path))
        .map(|path| Source { text: code(&fs::read_to_string(root().join(&path)).unwrap()), path })
        .collect()
}

/// Returns the lines that are code of the program itself: no comments, and nothing from a module of tests on.
pub(crate) fn code(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim_start().starts_with("//")).peekable();
    let mut code = Vec::new();
    while let Some(line) = lines.next() {
        let of_tests = line.trim() == "#[cfg(test)]";
        if of_tests && lines.peek().is_some_and(|next| next.starts_with("mod ") && next.ends_with('{')) {
            break;
        }
        code.push(line);
    }
    code.join("\n")
}

/// Returns the places in `sources` that hold one of these words, as `path: word`.
fn found(sources: &[Source], words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        for word in words {
            if source.text.match_indices(word).any(|(at, _)| starts_a_word(&source.text, at)) {
                found.push(format!("{}: {word}", source.path));
            }
        }
    }
    found
}

fn starts_a_word(text: &str, at: usize) -> bool {
    !text[..at].chars().next_back().is_some_and(|before| before.is_alphanumeric() || before == '_')
}

#[test]
fn comments_and_tests_are_no_code_and_words_begin_where_they_begin() {
    let text = "use a::Mutex;\n// Mutex::new\nfn f() { SqliteStore::open() }\n#[cfg(test)]\nmod tests {\n panic\n}\n";
    let source = [Source { path: "a.rs".to_owned(), text: code(text) }];
    assert_eq!(found(&source, &["Mutex", "Store::open(", "panic"]), ["a.rs: Mutex"]);
}

/// Where Serialize is derived outside of `protocol`, and why that is no wire of ours.
const SERIALIZED_ELSEWHERE: &[(&str, &str)] = &[
    ("crates/chartroom/src/cli/install/record.rs", "our own file: installed.json"),
    ("crates/chartroom/src/http/access/", "our own file: devices.json"),
    ("crates/chartroom/src/http/secret.rs", "our own file: hashes in devices.json"),
    ("crates/checkpoints/src/", "the list of records, which only this crate reads, and its lines for people"),
    ("crates/index/src/catalog/", "our own file: codebases.json"),
    ("crates/index/src/file_lock.rs", "our own files: who holds a lock"),
    ("crates/index/src/lease", "our own files: who writes which codebase"),
    ("crates/milvus/src/", "rows on the team's server and our own file, which only this crate reads"),
    ("crates/repository/src/undo.rs", "our own files: what can be undone"),
    ("crates/repository/src/worktrees/record.rs", "our own files: which worktrees were made"),
    ("crates/search/src/eval/", "a file that a person asked for: rows and answers of a measurement"),
    ("crates/search/src/history.rs", "our own file: what commits say"),
    ("crates/search/src/scan/", "our own file: rows of the index"),
    ("crates/search/src/sqlite/", "our own file: rows of the index"),
    ("crates/search/src/store/data.rs", "our own file: rows of the index"),
    ("crates/search/src/store/team.rs", "our own file: which folder is shared"),
    ("crates/search/src/symbols", "our own file: rows of the index"),
    ("crates/search/src/embed/openai.rs", "the embedding service's protocol"),
    ("crates/lsp/src/position.rs", "the language server protocol"),
    ("crates/transport/src/rpc/message.rs", "JSON-RPC itself"),
    ("crates/workspace/src/gate/record.rs", "our own files: what was started"),
    ("crates/workspace/src/trust", "our own file: trust.json"),
];

#[test]
fn only_protocol_derives_serialize_for_what_crosses_a_socket_or_a_pipe() {
    let derives = |source: &&Source| {
        let attributes = source.text.split("derive(").skip(1).filter_map(|rest| rest.split(')').next());
        attributes.into_iter().any(|list| list.split(',').any(|name| name.trim().ends_with("Serialize")))
    };
    let sources = sources(&["crates/"]);
    let others: Vec<&str> = sources
        .iter()
        .filter(|source| !source.path.starts_with("crates/protocol/"))
        .filter(derives)
        .map(|source| source.path.as_str())
        .collect();
    let argued = |path: &&&str| !SERIALIZED_ELSEWHERE.iter().any(|(start, _)| path.starts_with(start));
    assert_eq!(others.iter().filter(argued).collect::<Vec<_>>(), Vec::<&&str>::new());
    // An exception that nothing needs any more is taken away.
    let needless =
        SERIALIZED_ELSEWHERE.iter().filter(|(start, _)| !others.iter().any(|path| path.starts_with(start)));
    assert_eq!(needless.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
}

#[test]
fn sessions_names_no_cli() {
    let sources = sources(&["crates/sessions/"]);
    assert_eq!(
        found(&sources, &["claude", "Claude", "codex", "Codex", "gemini", "Gemini"]),
        Vec::<String>::new()
    );
}

#[test]
fn translation_and_the_upsert_processor_do_no_io_and_read_no_clock() {
    let sources = sources(&[
        "crates/providers/src/claude/translate",
        "crates/providers/src/acp/translate",
        "crates/sessions/src/upsert",
    ]);
    assert!(sources.len() >= 5, "they have moved");
    let impure =
        ["tokio::", "std::fs", "std::env", "std::process", "Instant::now", "SystemTime::now", "async fn"];
    assert_eq!(found(&sources, &impure), Vec::<String>::new());
}

#[test]
fn what_one_task_owns_is_behind_no_lock() {
    let sources = sources(&["crates/sessions/src/actor", "crates/lsp/src/client"]);
    assert!(sources.len() >= 10, "they have moved");
    assert_eq!(found(&sources, &["Mutex", "RwLock"]), Vec::<String>::new());
}

/// What another crate implements and the front door puts together.
const CONSTRUCTORS: &[&str] = &[
    "SpawnGate::new(",
    "SpawnGate::with_environment(",
    "TrustStore::open(",
    "GateLauncher::new(",
    "ServicePool::new(",
    "IndexService::open(",
    "Store::open(",
    "SessionService::new(",
    "ClaudeProvider::new(",
    "AcpProvider::new(",
];

#[test]
fn only_the_app_constructs_concrete_implementations() {
    let mut sources = sources(&["crates/"]);
    let (app, others): (Vec<_>, Vec<_>) = sources.drain(..).partition(|source| {
        source.path == "crates/chartroom/src/app.rs" || source.path.starts_with("crates/chartroom/src/app/")
    });
    assert_eq!(found(&others, CONSTRUCTORS), Vec::<String>::new());
    // The list is alive: the app does construct them, but for a gate with another environment, which tests have.
    let built = found(&app, CONSTRUCTORS);
    let unused = CONSTRUCTORS.iter().filter(|name| !built.iter().any(|line| line.ends_with(*name)));
    assert_eq!(unused.collect::<Vec<_>>(), [&"SpawnGate::with_environment("]);
}

#[test]
fn every_invariant_names_what_holds_it() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## Invariants\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rust: String = files()
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| fs::read_to_string(root().join(path)).unwrap())
        .collect();
    let mut problems = Vec::new();
    let mut n_invariants = 0;
    for invariant in section.split("\n\n").flat_map(items) {
        n_invariants += 1;
        let Some((_, holders)) = invariant.split_once("Held by ") else {
            problems.push(format!("nothing holds: {invariant}"));
            continue;
        };
        for holder in holders.split('`').skip(1).step_by(2) {
            if !exists(holder, &rust) {
                problems.push(format!("there is no {holder}"));
            }
        }
    }
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(n_invariants, 13);
}

/// The numbered items of a list, each on one line.
fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines() {
        let number = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        match items.last_mut() {
            Some(item) if !number => item.push_str(&format!(" {}", line.trim())),
            _ if number => items.push(line.to_owned()),
            _ => {}
        }
    }
    items
}

/// A test or function, a type, a file, or a lint by its name; `a::b::name` counts by its last part.
fn exists(holder: &str, rust: &str) -> bool {
    let name = holder.rsplit("::").next().unwrap_or(holder);
    let declared = ["fn", "struct", "enum", "trait", "mod"].iter().any(|kind| {
        rust.match_indices(&format!("{kind} {name}")).any(|(at, found)| {
            !rust[at + found.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
        })
    });
    declared || (holder.contains(['/', '.']) && root().join(Path::new(holder)).exists())
}
