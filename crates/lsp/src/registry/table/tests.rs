//! Every language file is read, and what people and package managers rely on is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::*;
use crate::registry::PackageManager;

#[test]
fn every_file_of_the_folder_is_compiled_in_and_names_are_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("languages");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let compiled: Vec<&str> = LANGUAGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(compiled, files.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn every_file_can_be_read_and_ids_are_unique() {
    let ids: Vec<String> = LANGUAGES
        .iter()
        .flat_map(|(name, text)| {
            let language: Language =
                toml::from_str(text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
            assert!(!language.server.is_empty(), "{name}.toml has no server");
            language.server.into_iter().map(|server| server.id)
        })
        .collect();
    let unique: BTreeSet<&String> = ids.iter().collect();
    assert_eq!(unique.len(), ids.len(), "{ids:?}");
    assert_eq!(built_in().len(), ids.len());
    for id in ids {
        assert!(id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)), "{id}");
    }
}

#[test]
fn every_server_has_files_a_command_and_a_way_to_install_it() {
    for server in built_in() {
        let id = &server.id;
        assert!(!server.files.is_empty() && !server.language.is_empty(), "{id}");
        for (name, language_id) in &server.files {
            assert!(!name.is_empty() && !name.contains(['/', '*']) && name != ".", "{id}: {name}");
            assert!(!language_id.is_empty() && !language_id.contains(' '), "{id}: {language_id}");
        }
        assert!(!server.commands.is_empty(), "{id}");
        for command in &server.commands {
            let is_bare = !command.program.is_empty() && !command.program.contains(['/', ' ']);
            assert!(is_bare, "{id}: {} is not the bare name of a program", command.program);
        }
        assert!(!server.install.hint().is_empty(), "{id}");
        for marker in &server.markers {
            assert!(!marker.is_empty() && !marker.contains('/'), "{id}: {marker}");
        }
        let is_marked = server.when == When::InMarkedProject;
        assert!(
            !is_marked || !server.markers.is_empty(),
            "{id} is only for marked projects and has no marker"
        );
    }
}

#[test]
fn a_package_is_a_name_that_its_package_manager_takes_and_never_an_option() {
    for server in built_in() {
        for manager in PackageManager::ALL {
            for package in server.install.packages(manager) {
                let (name, rest) = (package.trim_start_matches('@'), package.strip_prefix('@').is_some());
                let plain = |c: char| c.is_ascii_alphanumeric() || "/._-@=~^<>".contains(c);
                assert!(name.starts_with(|c: char| c.is_ascii_alphanumeric()), "{}: {package}", server.id);
                assert!(package.chars().all(plain), "{}: {package}", server.id);
                assert!(!rest || manager == PackageManager::Npm, "{}: {package}", server.id);
                let is_module = package.contains('.') && package.contains("/") && package.contains('@');
                assert!(manager != PackageManager::Go || is_module, "{}: {package}", server.id);
            }
        }
        let hint = server.install.hint();
        assert!(!hint.contains('\n') && hint.len() < 160, "{}: {hint}", server.id);
    }
}

#[test]
fn others_that_are_named_are_there_and_share_a_file() {
    let by_id: BTreeMap<&str, &BuiltIn> =
        built_in().iter().map(|server| (server.id.as_str(), server)).collect();
    for server in built_in() {
        let instead_of = match &server.when {
            When::InsteadOf(others) => others.as_slice(),
            When::Always | When::InMarkedProject => &[],
        };
        for other in instead_of.iter().chain(&server.replaces) {
            let other =
                by_id.get(other.as_str()).unwrap_or_else(|| panic!("{}: there is no {other}", server.id));
            assert!(other.id != server.id, "{}", server.id);
            assert!(
                server.files.keys().any(|name| other.files.contains_key(name)),
                "{} {}",
                server.id,
                other.id
            );
        }
        assert!(server.replaces.is_empty() || server.when == When::InMarkedProject, "{}", server.id);
        assert!(server.chosen_by.is_empty() || !instead_of.is_empty(), "{}", server.id);
    }
}

/// The order that docs/adding-a-language.md tells: one server for every project, others only where a project asks for them
/// or the first is not there.
#[test]
fn an_ending_belongs_to_one_server_in_every_project_and_to_others_only_where_they_are_asked_for() {
    let mut always: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for server in built_in().iter().filter(|server| server.when == When::Always) {
        for name in server.files.keys() {
            always.entry(name).or_default().push(&server.id);
        }
    }
    let conflicts: Vec<_> = always.iter().filter(|(_, ids)| ids.len() > 1).collect();
    assert!(conflicts.is_empty(), "{conflicts:?}");
    for server in built_in() {
        let When::InsteadOf(others) = &server.when else { continue };
        for name in server.files.keys().filter(|name| always.contains_key(name.as_str())) {
            let first = always[name.as_str()][0];
            assert!(others.iter().any(|other| other == first), "{}: {name} belongs to {first}", server.id);
        }
    }
}

/// Servers with a story of their own, in tests/real_languages.rs and tests/real_language_servers.rs.
const WITH_A_STORY: &[&str] = &[
    "angular",
    "astro",
    "bash-language-server",
    "biome",
    "buf",
    "clangd",
    "css",
    "deno",
    "docker",
    "docker-compose",
    "eslint",
    "fortls",
    "gopls",
    "graphql",
    "html",
    "intelephense",
    "json",
    "just-lsp",
    "oxlint",
    "postgrestools",
    "prisma",
    "pyright",
    "ruff",
    "rumdl",
    "rust-analyzer",
    "solidity",
    "sql-language-server",
    "sqruff",
    "svelte",
    "tailwindcss",
    "tombi",
    "ty",
    "typescript",
    "vim-language-server",
    "vue",
    "yaml",
];

/// Why servers that npm, PyPI, crates.io or Debian carry have none.
const WITHOUT_A_STORY: &[(&str, &str)] = &[
    ("`cmake-language-server`", "it reports no errors and finds no definitions; it completes and explains"),
    ("`elm-language-server`", "it wants the Elm compiler and packages, which come from their own sites"),
    (
        "`neocmakelsp`, `protols`, `taplo`, `texlab`, `tinymist`",
        "crates.io has only their source, which takes longer to build than all tests to run",
    ),
];

/// The others: the command line as it is known from each server's use elsewhere, written down here apart from our files.
const DOCUMENTED: &[&str] = &[
    "clojure-lsp: clojure-lsp",
    "cmake-language-server: cmake-language-server",
    "crystalline: crystalline",
    "csharp-ls: csharp-ls",
    "dart: dart language-server --protocol=lsp",
    "digestif: digestif",
    "elixir-ls: elixir-ls | language_server.sh",
    "elm-language-server: elm-language-server",
    "elp: elp server",
    "erlang_ls: erlang_ls --transport stdio",
    "expert: expert --stdio",
    "fsautocomplete: fsautocomplete",
    "gleam: gleam lsp",
    "haskell-language-server: haskell-language-server-wrapper --lsp | haskell-language-server --lsp",
    "helm-ls: helm_ls serve",
    "jdtls: jdtls",
    "julia-languageserver: julia --startup-file=no --history-file=no -e using LanguageServer; runserver()",
    "kotlin-language-server: kotlin-language-server",
    "kotlin-lsp: kotlin-lsp --stdio",
    "lemminx: lemminx",
    "lua-language-server: lua-language-server",
    "markdown-oxide: markdown-oxide",
    "marksman: marksman server",
    "metals: metals",
    "neocmakelsp: neocmakelsp stdio",
    "nil: nil",
    "nimlangserver: nimlangserver",
    "nixd: nixd",
    "ocamllsp: ocamllsp",
    "omnisharp: OmniSharp --languageserver | omnisharp --languageserver",
    "perlnavigator: perlnavigator --stdio",
    "phpactor: phpactor language-server",
    "pls: pls",
    "protols: protols",
    "r-languageserver: R --no-echo -e languageserver::run()",
    "ruby-lsp: ruby-lsp",
    "solargraph: solargraph stdio",
    "sorbet: srb typecheck --lsp --disable-watchman",
    "sourcekit-lsp: sourcekit-lsp",
    "sqls: sqls",
    "taplo: taplo lsp stdio",
    "terraform-ls: terraform-ls serve",
    "texlab: texlab",
    "tflint: tflint --langserver",
    "tinymist: tinymist lsp",
    "tofu-ls: tofu-ls serve",
    "zls: zls",
];

#[test]
fn a_server_without_a_story_is_started_as_its_documentation_says() {
    let told = |server: &BuiltIn| {
        let line = |command: &Command| {
            std::iter::once(&command.program).chain(&command.args).cloned().collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = server.commands.iter().map(line).collect();
        format!("{}: {}", server.id, lines.join(" | "))
    };
    let without: Vec<&BuiltIn> =
        built_in().iter().filter(|server| !WITH_A_STORY.contains(&server.id.as_str())).collect();
    assert_eq!(without.into_iter().map(told).collect::<Vec<_>>(), DOCUMENTED);
    for id in WITH_A_STORY {
        assert!(built_in().iter().any(|server| server.id == *id), "there is no {id}");
    }
}

/// A story that is named above and gone from the file would be a claim that nothing holds.
#[test]
fn every_story_that_is_named_is_told() {
    let stories = [
        include_str!("../../../tests/real_languages.rs"),
        include_str!("../../../tests/real_language_servers.rs"),
    ];
    let elsewhere =
        [("eslint", "eslint"), ("typescript", "typescript_7"), ("pyright", "pyright"), ("ty", "ty_")];
    for id in WITH_A_STORY {
        let named = format!("id: \"{id}\"");
        let words = elsewhere.iter().find(|(known, _)| known == id).map_or(*id, |(_, words)| words);
        let is_told = stories[0].contains(&named)
            || stories[0].contains(&format!("async fn {id}_"))
            || stories[1].contains(&words.replace('-', "_"));
        assert!(is_told, "{id} has no story");
    }
}

/// `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_page_of_languages_lists_every_server() {
    let mut rows: Vec<String> = built_in()
        .iter()
        .map(|server| {
            let files: Vec<String> = server.files.keys().map(|name| format!("`{name}`")).collect();
            let hint = server.install.hint();
            let tried = if WITH_A_STORY.contains(&server.id.as_str()) { "yes" } else { "" };
            format!("| {} | `{}` | {} | {hint} | {tried} |", server.language, server.id, files.join(" "))
        })
        .collect();
    rows.sort_by_key(|row| row.to_lowercase());
    let head = "# Languages\n\nThe language servers that Chartroom knows. Each is used when it is installed, in the project, by `chartroom lsp install ID` or on \
                PATH;\nwhere several know one kind of file, [adding-a-language.md](adding-a-language.md) says which is used. A test keeps this page.\n\n\
                | language | id | files | how it is installed | tried here |\n|---|---|---|---|---|\n";
    let why = WITHOUT_A_STORY.iter().map(|(ids, why)| format!("- {ids}: {why}\n")).collect::<String>();
    let tried = "The tests try the real server where the last column says so: an error is reported, and not any more when it is mended, and a \
                 definition is found.\nOf the others it is tested how they are started. Some of them are in the registries that the tests install from, and are \
                 not tried because:\n\n";
    let page = format!("{head}{}\n\n{tried}{why}", rows.join("\n"));
    expect_test::expect_file!["../../../../../docs/languages.md"].assert_eq(&page);
}
