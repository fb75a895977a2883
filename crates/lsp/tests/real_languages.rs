//! One story for each built-in server that a package registry carries: an error is reported, mended, and a definition is
//! found where the server knows any. `cargo xtask tools` installs them; the servers of everyday use have stories of their own
//! in real_language_servers.rs.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "common/stage.rs"]
mod stage;

use std::sync::Arc;
use std::time::Duration;

use chartroom_lsp::Orchestrator;
use chartroom_protocol::lsp::{CheckOutcome, CheckParams, FileText, Freshness, ServerOutcome};
use serde_json::json;
use stage::Stage;

/// What a server is shown.
struct Story {
    /// The server that is meant; others may know the file too.
    id: &'static str,
    /// The npm sets that the project has; none for a server that comes from PyPI.
    modules: &'static [&'static str],
    /// The other files of the project.
    project: &'static str,
    file: &'static str,
    broken: &'static str,
    fine: &'static str,
    /// A line of the fine text, a name on it, and where that is defined.
    definition: Option<(u32, &'static str, &'static str)>,
}

const NPM: &[&str] = &["languages"];
const MORE: &[&str] = &["languages-more"];
const VSCODE: &[&str] = &["eslint"];
const STRICT: &str =
    "//- package.json\n{\"name\":\"p\"}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true}}\n";

const ANGULAR: &str = "//- angular.json\n{}\n//- tsconfig.json\n{\"compilerOptions\":{\"strict\":true,\"experimentalDecorators\":true,\"target\":\"es2022\",\"module\":\"es2022\",\"moduleResolution\":\"bundler\"},\"angularCompilerOptions\":{\"strictTemplates\":true}}\n";

async fn tell(story: Story) {
    let Story { id, file, broken, fine, .. } = story;
    let config = r#"{"includeSeverities":["error","warning"]}"#;
    let stage = Stage::with_config(story.project, story.modules, config);
    for round in 0..2 {
        let lines = stage.write(file, broken).await;
        assert!(!lines.is_empty(), "{id}, round {round}: the error was not reported");
        let lines = stage.write(file, fine).await;
        assert_eq!(lines, Vec::<String>::new(), "{id}, round {round}: mended, and still reported");
    }
    let running: Vec<String> = stage.running().into_iter().map(|(id, ..)| id).collect();
    assert!(running.iter().any(|running| running == id), "{id} is not among {running:?}");
    if let Some((line, symbol, place)) = story.definition {
        let arguments = json!({ "filePath": file, "line": line, "symbol": symbol });
        assert_eq!(stage.ask("lsp_goto_definition", arguments).await, place, "{id}");
    }
    stage.end().await;
}

macro_rules! stories {
    ($($name:ident: $story:expr;)*) => {
        $(#[tokio::test]
        async fn $name() {
            tell($story).await;
        })*
    };
}

stories! {
    php: Story {
        id: "intelephense", modules: NPM, project: "", file: "a.php",
        broken: "<?php\nfunction greet(string $n): string { return $n; }\necho greet('x') +;\n",
        fine: "<?php\nfunction greet(string $n): string { return $n; }\necho greet('x');\n",
        definition: Some((3, "greet", "a.php:2:10")),
    };
    svelte: Story {
        id: "svelte", modules: NPM, project: STRICT, file: "a.svelte",
        broken: "<script lang=\"ts\">\n  const count: number = \"x\";\n</script>\n<p>{count}</p>\n",
        fine: "<script lang=\"ts\">\n  const count: number = 1;\n</script>\n<p>{count}</p>\n",
        definition: Some((4, "count", "a.svelte:2:9")),
    };
    vue: Story {
        id: "vue", modules: NPM, project: STRICT, file: "a.vue",
        broken: "<script setup lang=\"ts\">\nconst count: number = \"x\";\ncount.toFixed();\n</script>\n<template><p>a</p></template>\n",
        fine: "<script setup lang=\"ts\">\nconst count: number = 1;\ncount.toFixed();\n</script>\n<template><p>a</p></template>\n",
        definition: Some((3, "count", "a.vue:2:7")),
    };
    astro: Story {
        id: "astro", modules: NPM, project: STRICT, file: "a.astro",
        broken: "---\nconst count: number = \"x\";\n---\n<p>{count}</p>\n",
        fine: "---\nconst count: number = 1;\n---\n<p>{count}</p>\n",
        definition: Some((4, "count", "a.astro:2:7")),
    };
    oxlint: Story {
        id: "oxlint", modules: NPM, project: "//- .oxlintrc.json\n{\"rules\":{\"no-debugger\":\"error\"}}\n", file: "a.ts",
        broken: "debugger;\n",
        fine: "export const a = 1;\n",
        definition: None,
    };
    deno: Story {
        id: "deno", modules: MORE, project: "//- deno.json\n{}\n", file: "a.ts",
        broken: "export const a: number = \"x\";\nexport const b = a;\n",
        fine: "export const a: number = 1;\nexport const b = a;\n",
        definition: Some((2, "a", "a.ts:1:14")),
    };
    angular: Story {
        id: "angular", modules: MORE, project: ANGULAR, file: "a.ts",
        broken: "import { Component } from \"@angular/core\";\n@Component({ selector: \"app-a\", template: \"<p>{{ nope }}</p>\" })\nexport class A {\n  count = 1;\n}\n",
        fine: "import { Component } from \"@angular/core\";\n@Component({ selector: \"app-a\", template: \"<p>{{ count }}</p>\" })\nexport class A {\n  count = 1;\n}\n",
        definition: Some((2, "count", "a.ts:4:3")),
    };
    tailwind: Story {
        id: "tailwindcss", modules: MORE,
        project: "//- tailwind.config.js\nmodule.exports = { content: [\"./*.html\"] };\n//- package.json\n{\"name\":\"p\"}\n",
        file: "a.css",
        broken: "@tailwind nope;\n",
        fine: "@tailwind base;\n",
        definition: None,
    };
    compose: Story {
        id: "docker-compose", modules: MORE, project: "", file: "compose.yaml",
        broken: "services:\n  a: [\n",
        fine: "services:\n  a:\n    image: x\n",
        definition: None,
    };
    graphql: Story {
        id: "graphql", modules: MORE,
        project: "//- .graphqlrc.yml\nschema: schema.graphql\ndocuments: \"*.graphql\"\n//- schema.graphql\ntype Query { a: Int }\n",
        file: "q.graphql",
        broken: "query Q { nope }\n",
        fine: "query Q { a }\n",
        definition: Some((1, "a", "schema.graphql:1:14")),
    };
    postgres: Story {
        id: "postgrestools", modules: MORE, project: "//- postgrestools.jsonc\n{}\n", file: "a.sql",
        broken: "SELECT\n  *\nFORM\n  users\n",
        fine: "SELECT\n  *\nFROM\n  users\n",
        definition: None,
    };
    sql: Story {
        id: "sql-language-server", modules: MORE, project: "", file: "a.sql",
        broken: "SELECT * FORM users;\n",
        fine: "SELECT\n  *\nFROM\n  users\n",
        definition: None,
    };
    yaml: Story {
        id: "yaml", modules: NPM, project: "", file: "a.yaml",
        broken: "a: 1\nb: [1, 2\n",
        fine: "base: &base\n  x: 1\nother: *base\n",
        definition: Some((3, "base", "a.yaml:2:3")),
    };
    shell: Story {
        id: "bash-language-server", modules: NPM, project: "", file: "a.sh",
        broken: "#!/bin/bash\ngreet() {\n  if [ 1 ]; then echo hi\n}\ngreet\n",
        fine: "#!/bin/bash\ngreet() {\n  echo hi\n}\ngreet\n",
        definition: Some((5, "greet", "a.sh:2:1")),
    };
    docker: Story {
        id: "docker", modules: NPM, project: "", file: "Dockerfile",
        broken: "FROM alpine AS base\nRUNN ls\nFROM base\n",
        fine: "FROM alpine AS base\nRUN ls\nFROM base\n",
        definition: Some((3, "base", "Dockerfile:1:16")),
    };
    prisma: Story {
        id: "prisma", modules: NPM, project: "//- package.json\n{\"name\":\"p\"}\n", file: "schema.prisma",
        broken: "datasource db {\n  provider = \"sqlite\"\n}\nmodel User {\n  id Int @id\n  posts Postt[]\n}\nmodel Post {\n  id Int @id\n  user User @relation(fields: [userId], references: [id])\n  userId Int\n}\n",
        fine: "datasource db {\n  provider = \"sqlite\"\n}\nmodel User {\n  id Int @id\n  posts Post[]\n}\nmodel Post {\n  id Int @id\n  user User @relation(fields: [userId], references: [id])\n  userId Int\n}\n",
        definition: Some((6, "Post", "schema.prisma:8:7")),
    };
    biome: Story {
        id: "biome", modules: NPM, project: "//- biome.json\n{}\n", file: "a.ts",
        broken: "export const a = 1;\ndebugger;\n",
        fine: "export const a = 1;\n",
        definition: None,
    };
    // Its definitions are of the text before the last change.
    vim: Story {
        id: "vim-language-server", modules: NPM, project: "", file: "a.vim",
        broken: "function! Greet()\n  echo \"x\"\nendfunction\ncall Greet(\n",
        fine: "function! Greet()\n  echo \"x\"\nendfunction\ncall Greet()\n",
        definition: None,
    };
    // Where its package says that it is, with a version: its own rules want that, and say so when they have been looked at.
    protobuf: Story {
        id: "buf", modules: NPM, project: "//- buf.yaml\nversion: v2\n", file: "a/v1/a.proto",
        broken: "syntax = \"proto3\";\npackage a.v1;\nmessage User {\n  Nope x = 1;\n}\nmessage Box { User u = 1; }\n",
        fine: "syntax = \"proto3\";\npackage a.v1;\nmessage User {\n  string x = 1;\n}\nmessage Box { User u = 1; }\n",
        definition: Some((6, "User", "a/v1/a.proto:3:9")),
    };
    css: Story {
        id: "css", modules: VSCODE, project: "", file: "a.css",
        broken: "a { color: ;; }\nb { \n",
        fine: ":root { --c: red; }\na { color: var(--c); }\n",
        definition: Some((2, "--c", "a.css:1:9")),
    };
    html: Story {
        id: "html", modules: VSCODE, project: "", file: "a.html",
        broken: "<html><style>a { color: </style><script>let = ;</script></html>\n",
        fine: "<html><body></body></html>\n",
        definition: None,
    };
    json_files: Story {
        id: "json", modules: VSCODE, project: "", file: "a.json",
        broken: "{\"a\": 1,, }\n",
        fine: "{\"a\": 1}\n",
        definition: None,
    };
    toml_files: Story {
        id: "tombi", modules: &[], project: "//- tombi.toml\n\n", file: "a.toml",
        broken: "a = 1\nb = [\n",
        fine: "a = 1\n",
        definition: None,
    };
    ruff: Story {
        id: "ruff", modules: &[], project: "//- ruff.toml\n\n", file: "a.py",
        broken: "import os\nprint(1\n",
        fine: "print(1)\n",
        definition: None,
    };
    fortran: Story {
        id: "fortls", modules: &[], project: "", file: "a.f90",
        broken: "module m\n  implicit none\ncontains\n  subroutine greet(x)\n    integer, intent(in) :: x\n    integer :: x\n  end subroutine\nend module\nprogram p\n  use m\n  call greet(1)\nend program\n",
        fine: "module m\n  implicit none\ncontains\n  subroutine greet(x)\n    integer, intent(in) :: x\n  end subroutine\nend module\nprogram p\n  use m\n  call greet(1)\nend program\n",
        definition: Some((10, "greet", "a.f90:4:14")),
    };
    just: Story {
        id: "just-lsp", modules: &[], project: "", file: "justfile",
        broken: "build: nope\n  echo x\n",
        fine: "dep:\n  echo y\nbuild: dep\n  echo x\n",
        definition: Some((3, "dep", "justfile:1:1")),
    };
    sqruff: Story {
        id: "sqruff", modules: &[], project: "//- .sqruff\n[sqruff]\ndialect = ansi\n", file: "a.sql",
        broken: "SELECT  a from   b\n",
        fine: "SELECT a FROM b\n",
        definition: None,
    };
    markdown: Story {
        id: "rumdl", modules: &[], project: "//- .rumdl.toml\n\n", file: "a.md",
        broken: "# A\n#B\n",
        fine: "# A\n\nText.\n",
        definition: None,
    };
}

/// It gets its compiler over the network. Without one it publishes that nothing is wrong: that is not believed.
#[tokio::test]
async fn solidity_without_its_compiler_is_not_clean() {
    let text = |value: &str| {
        format!(
            "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\ncontract A {{\n  uint256 x;\n  function f() public {{ x = {value}; }}\n}}\n"
        )
    };
    let stage = Stage::with_settings_folder("//- package.json\n{\"name\":\"p\"}\n", MORE, "hardhat-nodejs");
    for value in ["", "1"] {
        stage.project.write("a.sol", &text(value));
        let files = vec![FileText { file_path: "a.sol".to_owned(), text: None }];
        let response = stage.orchestrator.check(CheckParams { files, ..CheckParams::default() }).await;
        let [CheckOutcome { outcome: ServerOutcome::Answered { freshness, said }, .. }] = &*response.servers
        else {
            panic!("{:?}", response.servers)
        };
        match freshness {
            Freshness::Current => assert_eq!(response.files[0].diagnostics.is_empty(), value == "1"),
            Freshness::Failed => {
                assert!(said.as_ref().is_some_and(|said| said.contains("compiler")), "{said:?}")
            }
            Freshness::Loading | Freshness::TimedOut => panic!("{freshness:?}"),
        }
    }
    let arguments = json!({ "filePath": "a.sol", "line": 5, "symbol": "x" });
    assert_eq!(stage.ask("lsp_goto_definition", arguments).await, "a.sol:4:11");
    stage.end().await;
}

#[tokio::test]
async fn beyond_the_memory_budget_the_server_that_was_not_used_for_longest_stops_and_comes_back() {
    let stage = Stage::with_config("", NPM, r#"{"memoryBudget":1}"#);
    assert_eq!(stage.write("Dockerfile", "FROM alpine\nRUNN ls\n").await.len(), 1);
    assert_eq!(stage.write("a.yaml", "a: [1\n").await.len(), 1);
    let running = || stage.running().into_iter().map(|(id, ..)| id).collect::<Vec<_>>();
    assert_eq!(running(), ["docker", "yaml"]);
    let takes = |id: &str| {
        let rows = stage.orchestrator.status();
        rows.into_iter().find(|row| row.id == id).unwrap().rss_bytes.unwrap()
    };
    let mebibyte = 1024 * 1024;
    assert!(takes("docker") > 10 * mebibyte && takes("yaml") > 10 * mebibyte);
    let housekeeping = tokio::spawn(Orchestrator::run_housekeeping(Arc::downgrade(&stage.orchestrator)));
    let mut look = tokio::time::interval(Duration::from_millis(50));
    while running() != ["yaml"] {
        look.tick().await;
    }
    housekeeping.abort();
    assert_eq!(stage.write("Dockerfile", "FROM alpine\nRUNNN ls\n").await.len(), 1);
    assert_eq!(running(), ["docker", "yaml"]);
    stage.end().await;
}
