//! The built-in servers: data, one file a language in `crates/lsp/languages/`, compiled in.
//!
//! docs/adding-a-language.md says what each key means; the tests below read every file.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::install::Install;
use super::{Quirks, When};

macro_rules! languages {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../languages/", $name, ".toml")))),*]
    };
}

/// Name and text of every language file.
const LANGUAGES: &[(&str, &str)] = languages![
    "angular" "astro" "biome" "c" "clojure" "cmake" "crystal" "csharp" "css" "dart" "deno" "docker"
    "elixir" "elm" "erlang" "eslint" "fortran" "fsharp" "gleam" "go" "graphql" "haskell" "helm" "html"
    "java" "json" "julia" "just" "kotlin" "latex" "lua" "markdown" "nim" "nix" "ocaml" "oxlint" "perl"
    "php" "prisma" "protobuf" "python" "r" "ruby" "rust" "scala" "shell" "solidity" "sql" "svelte"
    "swift" "tailwind" "terraform" "toml" "typescript" "typst" "vim" "vue" "xml" "yaml" "zig"
];

static BUILT_IN: LazyLock<Vec<BuiltIn>> = LazyLock::new(|| {
    let mut all: Vec<BuiltIn> = LANGUAGES.iter().flat_map(|(name, text)| servers(name, text)).collect();
    all.sort_by(|a, b| a.id.cmp(&b.id));
    all
});

/// One built-in server. What a project or a user changes is not here but in [`super::Server`].
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltIn {
    /// Names it in the config and in every status.
    pub id: String,
    /// For people.
    pub language: String,
    /// File name ending → the protocol's language id. An ending without a dot is a whole file name.
    pub files: BTreeMap<String, String>,
    /// The nearest of these above a file is its project's root.
    pub markers: Vec<String>,
    /// Which projects it is for.
    pub when: When,
    /// A project that holds one of these asks for this server where another would be preferred.
    pub chosen_by: Vec<String>,
    /// Servers that step aside in a project that is marked for this one.
    pub replaces: Vec<String>,
    /// The first program that is found is taken.
    pub commands: Vec<Command>,
    /// What its program says when it is only a stand-in for a server that is not installed.
    pub absent_when_it_says: Vec<String>,
    /// How it is installed.
    pub install: Install,
    /// Files without which it does not start, by name; it is started once in such a project after its installation.
    pub probe: BTreeMap<String, String>,
    /// What is different about it.
    pub quirks: Quirks,
    /// What it gets for `workspace/configuration`, by section.
    pub settings: Value,
    /// What is sent with `initialize`.
    pub initialization_options: Value,
}

/// A program and its arguments: `["pyright-langserver", "--stdio"]`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Command {
    /// Looked up in the project's tools, then on the PATH.
    pub program: String,
    /// What makes it speak LSP over its pipes.
    pub args: Vec<String>,
}

impl From<Vec<String>> for Command {
    fn from(words: Vec<String>) -> Self {
        let mut words = words.into_iter();
        Self { program: words.next().unwrap_or_default(), args: words.collect() }
    }
}

/// The built-in servers, by id.
pub fn built_in() -> &'static [BuiltIn] {
    &BUILT_IN
}

/// A file of `crates/lsp/languages/`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Language {
    language: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    markers: Vec<String>,
    server: Vec<Entry>,
}

/// One `[[server]]` of a language file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    id: String,
    /// Instead of the language's.
    language: Option<String>,
    /// Instead of the language's.
    files: Option<BTreeMap<String, String>>,
    /// Instead of the language's.
    markers: Option<Vec<String>>,
    #[serde(default)]
    only_in_marked_projects: bool,
    #[serde(default)]
    instead_of: Vec<String>,
    #[serde(default)]
    chosen_by: Vec<String>,
    #[serde(default)]
    replaces: Vec<String>,
    commands: Vec<Command>,
    #[serde(default)]
    absent_when_it_says: Vec<String>,
    install: Install,
    #[serde(default)]
    probe: BTreeMap<String, String>,
    #[serde(default)]
    quirks: Quirks,
    #[serde(default = "nothing")]
    settings: Value,
    #[serde(default = "nothing")]
    initialization_options: Value,
}

fn nothing() -> Value {
    Value::Object(serde_json::Map::new())
}

/// The servers of one language file.
fn servers(name: &str, text: &str) -> Vec<BuiltIn> {
    let language: Language = match toml::from_str(text) {
        Ok(language) => language,
        Err(error) => {
            // Ours, compiled in, and every one is read by the tests.
            debug_assert!(false, "{name}.toml: {error}");
            tracing::error!(name, %error, "a language file cannot be read");
            return Vec::new();
        }
    };
    let Language { language, files, markers, server } = language;
    let built_in = |entry: Entry| BuiltIn {
        id: entry.id,
        language: entry.language.unwrap_or_else(|| language.clone()),
        files: entry.files.unwrap_or_else(|| files.clone()),
        markers: entry.markers.unwrap_or_else(|| markers.clone()),
        when: match (entry.instead_of.is_empty(), entry.only_in_marked_projects) {
            (false, _) => When::InsteadOf(entry.instead_of),
            (true, true) => When::InMarkedProject,
            (true, false) => When::Always,
        },
        chosen_by: entry.chosen_by,
        replaces: entry.replaces,
        commands: entry.commands,
        absent_when_it_says: entry.absent_when_it_says,
        install: entry.install,
        probe: entry.probe,
        quirks: entry.quirks,
        settings: entry.settings,
        initialization_options: entry.initialization_options,
    };
    server.into_iter().map(built_in).collect()
}

#[cfg(test)]
mod tests;
