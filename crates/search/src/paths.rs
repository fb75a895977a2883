//! What sort of file a path is, what that is worth in each scope, and how often such a file is meant at all.

use std::path::Path;

use chartroom_protocol::index::SearchScope;

use crate::symbols::Language;

/// The sort of a file, by its path alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// Prose about the code.
    Docs,
    /// Tests and what they need.
    Tests,
    /// Written by a program.
    Generated,
    /// Where a program begins.
    Entrypoint,
    /// Below a folder `core`.
    Core,
    /// Below a folder `src`.
    SrcRuntime,
    /// Anything else.
    Neutral,
}

/// The first category that matches.
pub fn category(path: &str) -> Category {
    let lower = path.to_ascii_lowercase();
    let segments: Vec<&str> = lower.split('/').collect();
    let (name, folders) = segments.split_last().map_or(("", &[][..]), |(name, folders)| (*name, folders));
    let in_folder = |names: &[&str]| folders.iter().any(|folder| names.contains(folder));
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    if in_folder(&["docs", "doc", "documentation", "guide", "guides"])
        || ends(&[".md", ".mdx", ".markdown", ".rst", ".adoc", ".txt"])
    {
        Category::Docs
    } else if in_folder(&[
        "test",
        "tests",
        "__tests__",
        "spec",
        "specs",
        "testing",
        "testdata",
        "e2e",
        "__mocks__",
    ]) || folders
        .iter()
        .any(|folder| [".tests", "-tests", "_tests"].iter().any(|end| folder.ends_with(end)))
        || name.contains(".test.")
        || name.contains(".spec.")
        || name.starts_with("test_")
        || ends(&["tests.rs"])
        || is_test_name(path)
    {
        Category::Tests
    } else if in_folder(&["dist", "build", "coverage", ".next", "generated"])
        || ends(&[".min.js", ".min.css"])
    {
        Category::Generated
    } else if ["main.", "index.", "app.", "server.", "cli.", "entry."]
        .iter()
        .any(|start| name.starts_with(start))
    {
        Category::Entrypoint
    } else if in_folder(&["core"]) {
        Category::Core
    } else if in_folder(&["src"]) {
        Category::SrcRuntime
    } else {
        Category::Neutral
    }
}

/// `parser_test.go`, `ParserTest.java`, `parser_spec.rb`.
fn is_test_name(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    ["_test", "_tests", "_spec", "-test", "-spec", "Test", "Tests", "TestCase", "Spec"]
        .iter()
        .any(|end| stem.ends_with(end))
}

/// Says whether a file holds a program, and not prose, data or style.
pub fn is_source(path: &str) -> bool {
    let other = [
        "markdown",
        "rst",
        "asciidoc",
        "text",
        "jupyter",
        "html",
        "css",
        "toml",
        "yaml",
        "cmake",
        "dockerfile",
        "go-module",
        "npm-package",
        "makefile",
    ];
    Language::of(Path::new(path)).is_some_and(|language| !other.contains(&language.name()))
}

/// What a file is worth that is seldom meant.
const DEMOTED: f32 = 0.5;

/// Folders whose files are seldom meant.
const SELDOM: &[&str] = &[
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "example",
    "examples",
    "fixtures",
    "playground",
    "sample",
    "samples",
    "scripts",
    "single_include",
    "third_party",
    "vendor",
];

/// What a file is worth before anything is asked.
pub fn standing(path: &str) -> f32 {
    let lower = path.to_ascii_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let in_folder = folders.split('/').any(|folder| SELDOM.contains(&folder));
    // All of a library in one file, made for those who copy it.
    let is_copy = name.contains("amalgamated") || name.contains("amalgamation");
    let generated = category(path) == Category::Generated || name.ends_with(".d.ts") || is_copy;
    if in_folder || generated || !is_source(&lower) { DEMOTED } else { 1.0 }
}

/// Says whether a file is one that a search in the default scope is for: a program, no test, nothing generated.
pub fn is_searched(path: &str) -> bool {
    is_source(&path.to_ascii_lowercase())
        && !matches!(category(path), Category::Docs | Category::Tests | Category::Generated)
}

impl Category {
    /// Says whether a search in this scope is for it.
    pub fn is_in(self, scope: SearchScope) -> bool {
        let prose = matches!(self, Self::Docs | Self::Tests);
        match scope {
            SearchScope::Runtime => !prose,
            SearchScope::Docs => prose,
            SearchScope::Mixed => true,
        }
    }

    /// The reference's, but for entry points: there they were worth 1.4, which put a `main` before the definition
    /// that was asked for.
    pub fn multiplier(self, scope: SearchScope) -> f64 {
        match (scope, self) {
            (SearchScope::Runtime, Self::Entrypoint) => 1.10,
            (SearchScope::Runtime, Self::Core) => 1.10,
            (SearchScope::Runtime, Self::SrcRuntime) => 1.05,
            (SearchScope::Runtime, Self::Neutral) => 1.00,
            (SearchScope::Runtime, Self::Tests) => 0.65,
            (SearchScope::Runtime, Self::Docs) => 0.55,
            (SearchScope::Runtime | SearchScope::Docs, Self::Generated) => 0.40,
            (SearchScope::Mixed, Self::Entrypoint) => 1.05,
            (SearchScope::Mixed, Self::Core) => 1.05,
            (SearchScope::Mixed, Self::SrcRuntime) => 1.05,
            (SearchScope::Mixed, Self::Neutral) => 1.00,
            (SearchScope::Mixed, Self::Tests | Self::Docs) => 0.90,
            (SearchScope::Mixed, Self::Generated) => 0.70,
            (SearchScope::Docs, Self::Entrypoint | Self::Core | Self::SrcRuntime) => 0.50,
            (SearchScope::Docs, Self::Neutral) => 0.80,
            (SearchScope::Docs, Self::Tests) => 1.10,
            (SearchScope::Docs, Self::Docs) => 1.20,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Category, category, standing};

    #[test]
    fn paths_have_a_category() {
        for (path, expected) in [
            ("docs/a.py", Category::Docs),
            ("README.md", Category::Docs),
            ("tests/a.py", Category::Tests),
            ("src/a.test.ts", Category::Tests),
            ("src/test_a.py", Category::Tests),
            ("web/dist/a.js", Category::Generated),
            ("src/main.rs", Category::Entrypoint),
            ("lib/core/a.rs", Category::Core),
            ("src/a.rs", Category::SrcRuntime),
            ("lib/a.rb", Category::Neutral),
        ] {
            assert_eq!(category(path), expected, "{path}");
        }
    }

    #[test]
    fn what_is_seldom_meant_is_worth_less() {
        for path in [
            "examples/a.rs",
            "single_include/all.hpp",
            "extras/lib_amalgamated.cpp",
            "types/a.d.ts",
            "a.json",
        ] {
            assert!(standing(path) < 1.0, "{path}");
        }
        assert_eq!(standing("src/example.rs"), 1.0);
    }
}
