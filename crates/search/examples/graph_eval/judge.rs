//! What a language server says of an edge that its references lack, and what a use of a macro stands for.
//!
//! A server lists references of the configuration that it has loaded. So each sure edge that it does not list is asked
//! once more, from the other end: what is defined by the name at this place, and, of a dynamic edge, what implements it or is
//! implemented by it? The answer is the same definition, another one, or none at all, as under an `#if` that is off, for a feature that is off, or behind a value of any type.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use chartroom_search::store::{GenerationReader, Symbol};
use chartroom_search::symbols::SymbolKind;
use serde_json::Value;

use crate::server::Server;
use crate::{Site, last};

/// What the server says of a place that its references lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The same definition.
    Agreed,
    /// One that implements it, or that it implements.
    Dispatched,
    /// Another one.
    Elsewhere,
    /// The file is compiled by nobody.
    NotCompiled,
    /// It knows nothing of the name there.
    Nothing,
}

impl Verdict {
    pub const ALL: [Self; 5] =
        [Self::Agreed, Self::Dispatched, Self::Elsewhere, Self::NotCompiled, Self::Nothing];

    pub fn rule(self) -> &'static str {
        match self {
            Self::Agreed => {
                "right: its references lack the place, its definition of the name there is the same"
            }
            Self::Dispatched => {
                "right: its references lack the place, it names the same among what implements the name there, or is implemented"
            }
            Self::Elsewhere => "wrong: its definition of the name there is another",
            Self::NotCompiled => "left out: in files that compile_commands.json has not",
            Self::Nothing => "left out: it knows no definition of the name there",
        }
    }
}

pub struct Judge<'a> {
    root: PathBuf,
    language: String,
    reader: &'a dyn GenerationReader,
    /// Files of C that are compiled; empty in other languages.
    compiled: HashSet<String>,
    /// The macros of C by their names.
    macros: BTreeMap<String, Vec<Symbol>>,
}

impl<'a> Judge<'a> {
    pub fn new(root: &Path, language: &str, reader: &'a dyn GenerationReader) -> Self {
        let mut judge = Self {
            root: root.to_owned(),
            language: language.to_owned(),
            reader,
            compiled: HashSet::new(),
            macros: BTreeMap::new(),
        };
        if language == "c" {
            judge.compiled = compiled(root);
            for path in reader.manifest().unwrap().files.keys() {
                for symbol in reader.symbols_in(path).unwrap() {
                    if symbol.kind == SymbolKind::Macro {
                        judge.macros.entry(last(&symbol).to_owned()).or_default().push(symbol);
                    }
                }
            }
        }
        judge
    }

    /// Where the server lists a function at the use of a macro whose body names it: those uses, and the places in the
    /// bodies that they stand for. The macro's body names the function, its use names the macro.
    pub fn macros(
        &self,
        references: &[(String, u32, u32)],
        symbol: &Symbol,
    ) -> (BTreeSet<Site>, BTreeSet<Site>) {
        let (mut uses, mut bodies) = (BTreeSet::new(), BTreeSet::new());
        for (file, line, column) in references {
            let Some(text) = self.line(file, *line) else { continue };
            let name: String = text
                .chars()
                .skip(*column as usize)
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            let Some(macros) = self.macros.get(&name).filter(|_| name != last(symbol)) else { continue };
            let inside: Vec<Site> = macros
                .iter()
                .flat_map(|known| {
                    (known.start_line..=known.end_line).map(|line| (known.rel_path.clone(), line))
                })
                .filter(|(file, line)| {
                    self.line(file, line - 1)
                        .is_some_and(|text| words(&text, last(symbol)).any(|at| text[at..].contains('(')))
                })
                .collect();
            // A macro that names it through another macro is a use of that one.
            uses.insert((file.clone(), line + 1));
            bodies.extend(inside);
        }
        (uses, bodies)
    }

    /// Asks the server what the name at a place is defined by.
    pub fn verdict(&self, server: &mut Server, site: &Site, symbol: &Symbol, is_dynamic: bool) -> Verdict {
        let (file, line) = site;
        if !self.compiled.is_empty() && !file.ends_with(".h") && !self.compiled.contains(file) {
            return Verdict::NotCompiled;
        }
        let Some(text) = self.line(file, line - 1) else { return Verdict::Nothing };
        let mut verdict = Verdict::Nothing;
        for at in words(&text, last(symbol)) {
            let column = u32::try_from(text[..at].encode_utf16().count()).unwrap();
            let found = server.definition("definition", &self.root, file, &self.language, line - 1, column);
            if found.iter().any(|(to, at)| self.is_it(symbol, to, at + 1)) {
                return Verdict::Agreed;
            }
            // A call through an interface, or of what meets one.
            let found_besides = match is_dynamic {
                true => {
                    server.definition("implementation", &self.root, file, &self.language, line - 1, column)
                }
                false => Vec::new(),
            };
            if found_besides.iter().any(|(to, at)| self.is_it(symbol, to, at + 1)) {
                return Verdict::Dispatched;
            }
            // A name that is its own definition is no use: a field `{ name }`, a parameter.
            if found.iter().any(|(to, at)| (to, at + 1) != (file, *line)) {
                verdict = Verdict::Elsewhere;
            }
        }
        verdict
    }

    fn is_it(&self, symbol: &Symbol, file: &str, line: u32) -> bool {
        if file == symbol.rel_path {
            // Overloads and definitions for several configurations are one thing.
            let same = |known: &Symbol| {
                known.qualified_name == symbol.qualified_name
                    && (known.start_line..=known.end_line).contains(&line)
            };
            return self.reader.symbols_in(file).unwrap().iter().any(same);
        }
        // C's functions are declared in headers.
        self.language == "c"
            && file.ends_with(".h")
            && self.line(file, line - 1).is_some_and(|text| words(&text, last(symbol)).next().is_some())
    }

    fn line(&self, file: &str, line: u32) -> Option<String> {
        let text = std::fs::read_to_string(self.root.join(file)).ok()?;
        text.lines().nth(line as usize).map(str::to_owned)
    }
}

/// Where a word stands in a line.
fn words<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        !is_word(text[..*at].chars().next_back()) && !is_word(text[*at + word.len()..].chars().next())
    })
}

/// The files of `compile_commands.json`, below the root.
fn compiled(root: &Path) -> HashSet<String> {
    let Ok(text) = std::fs::read_to_string(root.join("compile_commands.json")) else { return HashSet::new() };
    let commands: Value = serde_json::from_str(&text).unwrap();
    let file = |command: &Value| {
        let folder = PathBuf::from(command["directory"].as_str()?);
        let file = std::fs::canonicalize(folder.join(command["file"].as_str()?)).ok()?;
        Some(file.strip_prefix(root).ok()?.to_str()?.to_owned())
    };
    commands.as_array().into_iter().flatten().filter_map(file).collect()
}
