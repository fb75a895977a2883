//! The languages we know, by file name; one file each for those with a grammar.

mod bash;
mod c;
mod c_sharp;
mod cpp;
mod css;
mod dart;
mod elixir;
mod go;
mod haskell;
mod java;
mod javascript;
mod kotlin;
mod lua;
mod ocaml;
mod php;
mod python;
mod r;
mod ruby;
mod rust;
mod scala;
mod sql;
mod swift;
mod typescript;
mod zig;

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::OnceLock;

use super::grammar::{Compiled, Grammar, compile};

/// A language a file can be written in. Compared by name; cheap to copy.
#[derive(Clone, Copy)]
pub struct Language(&'static Entry);

struct Entry {
    name: &'static str,
    extensions: &'static [&'static str],
    /// Whole file names, lower case, for files without a telling extension.
    file_names: &'static [&'static str],
    grammar: Option<&'static Grammar>,
    /// The grammar is that of scripts inside of it.
    is_page: bool,
    compiled: OnceLock<Compiled>,
}

const fn parsed(name: &'static str, extensions: &'static [&'static str], grammar: &'static Grammar) -> Entry {
    Entry {
        name,
        extensions,
        file_names: &[],
        grammar: Some(grammar),
        is_page: false,
        compiled: OnceLock::new(),
    }
}

const fn page(name: &'static str, extensions: &'static [&'static str], grammar: &'static Grammar) -> Entry {
    Entry {
        name,
        extensions,
        file_names: &[],
        grammar: Some(grammar),
        is_page: true,
        compiled: OnceLock::new(),
    }
}

const fn text(name: &'static str, extensions: &'static [&'static str]) -> Entry {
    named(name, extensions, &[])
}

const fn named(
    name: &'static str,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
) -> Entry {
    Entry { name, extensions, file_names, grammar: None, is_page: false, compiled: OnceLock::new() }
}

/// The first entry that claims an extension wins. `.h` is C++: that grammar reads C headers too, not the reverse.
static LANGUAGES: [Entry; 51] = [
    parsed("rust", &["rs"], &rust::GRAMMAR),
    parsed("typescript", &["ts", "mts", "cts"], &typescript::TYPESCRIPT),
    parsed("tsx", &["tsx"], &typescript::TSX),
    parsed("javascript", &["js", "jsx", "mjs", "cjs"], &javascript::GRAMMAR),
    parsed("python", &["py", "pyi"], &python::GRAMMAR),
    parsed("go", &["go"], &go::GRAMMAR),
    parsed("java", &["java"], &java::GRAMMAR),
    // A grammar of yacc or lex holds C, and parts that are skipped as errors.
    parsed("c", &["c", "y", "l"], &c::GRAMMAR),
    parsed("cpp", &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "h", "ipp", "yy"], &cpp::GRAMMAR),
    parsed("csharp", &["cs"], &c_sharp::GRAMMAR),
    parsed("ruby", &["rb", "rake", "gemspec"], &ruby::GRAMMAR),
    parsed("php", &["php"], &php::GRAMMAR),
    parsed("bash", &["sh", "bash", "zsh"], &bash::GRAMMAR),
    parsed("lua", &["lua"], &lua::GRAMMAR),
    parsed("zig", &["zig"], &zig::GRAMMAR),
    parsed("r", &["r"], &r::GRAMMAR),
    parsed("kotlin", &["kt", "kts"], &kotlin::GRAMMAR),
    parsed("swift", &["swift"], &swift::GRAMMAR),
    parsed("scala", &["scala", "sc"], &scala::GRAMMAR),
    parsed("dart", &["dart"], &dart::GRAMMAR),
    parsed("elixir", &["ex", "exs"], &elixir::GRAMMAR),
    parsed("haskell", &["hs"], &haskell::GRAMMAR),
    parsed("ocaml", &["ml"], &ocaml::GRAMMAR),
    parsed("sql", &["sql"], &sql::GRAMMAR),
    parsed("css", &["css"], &css::GRAMMAR),
    page("vue", &["vue"], &typescript::TYPESCRIPT),
    page("svelte", &["svelte"], &typescript::TYPESCRIPT),
    page("html", &["html", "htm"], &javascript::GRAMMAR),
    text("markdown", &["md", "markdown", "mdx"]),
    text("rst", &["rst"]),
    text("asciidoc", &["adoc", "asciidoc"]),
    text("text", &["txt"]),
    text("objective-c", &["m", "mm"]),
    text("jupyter", &["ipynb"]),
    text("ocaml", &["mli"]),
    text("css", &["scss", "sass", "less"]),
    text("protobuf", &["proto"]),
    text("graphql", &["graphql", "gql"]),
    text("toml", &["toml"]),
    text("yaml", &["yaml", "yml"]),
    text("erlang", &["erl", "hrl"]),
    text("clojure", &["clj", "cljs", "cljc"]),
    text("julia", &["jl"]),
    text("perl", &["pl", "pm"]),
    text("terraform", &["tf"]),
    text("groovy", &["groovy", "gradle"]),
    named("cmake", &["cmake"], &["cmakelists.txt"]),
    named("dockerfile", &["dockerfile"], &["dockerfile", "containerfile"]),
    named("go-module", &[], &["go.mod"]),
    named("npm-package", &[], &["package.json"]),
    named("makefile", &["mk"], &["makefile", "gnumakefile", "justfile"]),
];

/// What a custom extension is when no entry claims it.
static PLAIN: Entry = text("text", &[]);

impl Language {
    /// The language of a path by its name, if it is one we index without being asked to.
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        if let Some(entry) = LANGUAGES.iter().find(|entry| entry.file_names.contains(&name.as_str())) {
            return Some(Self(entry));
        }
        let extension = Path::new(&name).extension()?.to_str()?;
        LANGUAGES.iter().find(|entry| entry.extensions.contains(&extension)).map(Self)
    }

    /// The language with this name, as stored in an index.
    pub fn named(name: &str) -> Option<Self> {
        LANGUAGES.iter().find(|entry| entry.name == name).map(Self)
    }

    /// Plain text, for files that only a custom extension brings in.
    pub fn plain() -> Self {
        Self(&PLAIN)
    }

    /// Returns the name that answers carry, e.g. `rust`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Says whether files of this language have an outline and a call graph.
    pub fn has_symbols(self) -> bool {
        self.0.grammar.is_some()
    }

    /// Says whether only the scripts inside of such a file are parsed.
    pub(crate) fn is_page(self) -> bool {
        self.0.is_page
    }

    /// Says whether files of this kind only tell where packages lie: the graph needs them, a search does not.
    pub(crate) fn is_manifest(self) -> bool {
        matches!(self.0.name, "go-module" | "npm-package")
    }

    /// Every extension with an outline and a call graph, with its dot, sorted.
    pub fn symbol_extensions() -> Vec<String> {
        let mut extensions: Vec<String> = LANGUAGES
            .iter()
            .filter(|entry| entry.grammar.is_some())
            .flat_map(|entry| entry.extensions.iter().map(|extension| format!(".{extension}")))
            .collect();
        extensions.sort();
        extensions
    }

    /// Every language that a file can have, sorted.
    pub fn names() -> Vec<&'static str> {
        let mut names: Vec<&str> = LANGUAGES.iter().map(|entry| entry.name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Says whether `lang:` takes this word: a name, a short form of one, or an extension.
    pub fn is_known(word: &str) -> bool {
        const SHORT: [&str; 12] =
            ["ts", "js", "py", "rs", "rb", "c++", "c#", "cs", "sh", "shell", "md", "tsx"];
        SHORT.contains(&word)
            || LANGUAGES.iter().any(|entry| entry.name == word || entry.extensions.contains(&word))
    }

    /// Every language with an outline and a call graph, sorted.
    pub fn symbol_languages() -> Vec<&'static str> {
        let mut names: Vec<&str> =
            LANGUAGES.iter().filter(|entry| entry.grammar.is_some()).map(|entry| entry.name).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn grammar(self) -> Option<(&'static Grammar, &'static Compiled)> {
        let grammar = self.0.grammar?;
        Some((grammar, compile(grammar, &self.0.compiled)))
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Language {}

impl Hash for Language {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.name)
    }
}
