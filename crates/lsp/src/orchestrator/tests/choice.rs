//! Which of several servers that know a file are used for it.

use serde_json::json;

use crate::fake::{Behaviour, Rehearsal};

/// The servers that a check starts, of those that are installed.
async fn used(fixture: &str, installed: &[&str], file: &str) -> Vec<String> {
    let servers: Vec<_> = installed.iter().map(|id| (*id, Behaviour::default())).collect();
    let rehearsal = Rehearsal::with_config(fixture, &servers, json!({}));
    rehearsal.check(file).await;
    let mut launched: Vec<String> =
        rehearsal.fakes.launched.lock().unwrap().iter().map(|(id, _)| id.clone()).collect();
    launched.sort();
    launched
}

#[tokio::test(start_paused = true)]
async fn linters_stand_beside_a_type_checker_where_the_project_has_their_config() {
    let all = ["typescript", "eslint", "biome", "oxlint", "deno"];
    assert_eq!(used("//- a.ts\nx\n", &all, "a.ts").await, ["typescript"]);
    assert_eq!(used("//- biome.json\n{}\n//- a.ts\nx\n", &all, "a.ts").await, ["biome", "typescript"]);
    let both = "//- .oxlintrc.json\n{}\n//- eslint.config.js\n\n//- a.ts\nx\n";
    assert_eq!(used(both, &all, "a.ts").await, ["eslint", "oxlint", "typescript"]);
    let python = ["pyright", "ty", "ruff"];
    assert_eq!(used("//- ruff.toml\n\n//- a.py\nx\n", &python, "a.py").await, ["pyright", "ruff"]);
}

#[tokio::test(start_paused = true)]
async fn a_project_of_denos_has_deno_instead_of_typescript() {
    let all = ["typescript", "deno"];
    assert_eq!(used("//- deno.json\n{}\n//- a.ts\nx\n", &all, "a.ts").await, ["deno"]);
    // TypeScript would not know its imports, whether Deno is there or not.
    assert_eq!(used("//- deno.json\n{}\n//- a.ts\nx\n", &["typescript"], "a.ts").await, Vec::<String>::new());
    // A package of another kind below keeps its own server, and a Deno package below a Node one has Deno.
    let mixed = "//- deno.json\n{}\n//- web/package.json\n{}\n//- web/a.ts\nx\n";
    assert_eq!(used(mixed, &all, "web/a.ts").await, ["typescript"]);
    let below = "//- package.json\n{}\n//- edge/deno.json\n{}\n//- edge/a.ts\nx\n";
    assert_eq!(used(below, &all, "edge/a.ts").await, ["deno"]);
}

#[tokio::test(start_paused = true)]
async fn a_second_choice_is_used_where_the_first_is_missing_or_the_project_asks_for_it() {
    let php = "//- a.php\nx\n";
    assert_eq!(used(php, &["intelephense", "phpactor"], "a.php").await, ["intelephense"]);
    assert_eq!(used(php, &["phpactor"], "a.php").await, ["phpactor"]);
    let asks = "//- .solargraph.yml\n\n//- a.rb\nx\n";
    assert_eq!(used(asks, &["ruby-lsp", "solargraph"], "a.rb").await, ["solargraph"]);
    assert_eq!(used(asks, &["ruby-lsp"], "a.rb").await, ["ruby-lsp"]);
}

#[tokio::test(start_paused = true)]
async fn where_neither_is_installed_only_the_first_is_told_of() {
    let rehearsal = Rehearsal::new("//- a.php\nx\n", &[]);
    let file = chartroom_protocol::lsp::FileText { file_path: "a.php".to_owned(), text: None };
    let params = chartroom_protocol::lsp::CheckParams { files: vec![file], ..Default::default() };
    let servers = rehearsal.orchestrator.check(params).await.servers;
    assert_eq!(servers.iter().map(|server| server.id.as_str()).collect::<Vec<_>>(), ["intelephense"]);
}
