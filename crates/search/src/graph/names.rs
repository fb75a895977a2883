//! Which definitions a plain name can mean where it stands: by scope, import, package and re-export, then by name.

use std::rc::Rc;

use super::lookup::{File, Lookup};
use super::project::{Family, Place, folder};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

/// How deep re-exports, bases and values are followed.
pub(super) const DEPTH: u8 = 20;

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Something that can be called: a function, a type, a macro, a constant that holds one.
    Called,
    Type,
    Macro,
}

/// What a name means.
#[derive(Debug, Clone)]
pub(super) enum Named {
    /// These definitions; one of them when there are several.
    Known(Vec<Rc<Symbol>>, f32),
    /// A module.
    Module(Place, String),
    /// Something that is not in the index.
    Outside,
    /// Nobody says.
    Unknown,
}

/// Where a name stands.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) file: Rc<File>,
    /// The definition around it.
    pub(super) from: Option<u32>,
    pub(super) line: u32,
    pub(super) depth: u8,
}

impl Site {
    pub(super) fn deeper(&self) -> Option<Self> {
        (self.depth < DEPTH).then(|| Self { depth: self.depth + 1, ..self.clone() })
    }
}

impl Wanted {
    pub(super) fn accepts(self, symbol: &Symbol) -> bool {
        let kind = symbol.kind;
        match self {
            Self::Called => !matches!(
                kind,
                SymbolKind::Impl
                    | SymbolKind::Module
                    | SymbolKind::Namespace
                    | SymbolKind::Property
                    | SymbolKind::Method
                    | SymbolKind::Constructor
            ),
            Self::Type => {
                matches!(
                    kind,
                    SymbolKind::Class
                        | SymbolKind::Struct
                        | SymbolKind::Union
                        | SymbolKind::Enum
                        | SymbolKind::Interface
                        | SymbolKind::Trait
                        | SymbolKind::Type
                )
            }
            Self::Macro => kind == SymbolKind::Macro,
        }
    }
}

impl Lookup<'_> {
    /// What a plain name means at a site.
    pub(super) fn find(&self, site: &Site, name: &str, wanted: Wanted) -> Named {
        let file = &site.file;
        let all = self.named(name);
        let same: Vec<Rc<Symbol>> = all
            .iter()
            .filter(|symbol| wanted.accepts(symbol) && Family::of(&symbol.language) == file.family)
            .cloned()
            .collect();
        let same = without_renames(file.family, same);
        let here: Vec<&Rc<Symbol>> = same.iter().filter(|symbol| symbol.rel_path == file.path).collect();
        // Nested, from the inside out.
        for at in file.around(site.from) {
            let around = &file.symbols[at as usize];
            let is_inner = |symbol: &&&Rc<Symbol>| scope(symbol) == Some(around.qualified_name.as_str());
            let inner: Vec<Rc<Symbol>> =
                here.iter().filter(is_inner).map(|symbol| Rc::clone(symbol)).collect();
            let is_seen = !is_type(around) || implicit_self(file.family);
            if !inner.is_empty() && is_seen {
                return Named::Known(distinct(inner), 0.96);
            }
            if wanted == Wanted::Called && is_type(around) && implicit_self(file.family) {
                let members = self.members(around, name, site.depth);
                if !members.is_empty() {
                    return Named::Known(members, 0.93);
                }
            }
        }
        if wanted == Wanted::Called
            && implicit_self(file.family)
            && let Some(owner) = file.at(site.from).and_then(|from| self.owner_type(from))
        {
            let members = self.members(&owner, name, site.depth);
            if !members.is_empty() {
                return Named::Known(members, 0.93);
            }
        }
        let top: Vec<Rc<Symbol>> =
            here.iter().filter(|symbol| !in_type(file, symbol)).map(|symbol| Rc::clone(symbol)).collect();
        if !top.is_empty() {
            return Named::Known(distinct(top), 0.96);
        }
        // Named by an import.
        for import in file.facts.imports.iter().rev().filter(|import| import.local == name) {
            match self.imported(file, import, site.depth) {
                Named::Known(found, sure) => {
                    let fitting: Vec<Rc<Symbol>> =
                        found.iter().filter(|symbol| wanted.accepts(symbol)).cloned().collect();
                    return if fitting.is_empty() {
                        Named::Known(found, sure)
                    } else {
                        Named::Known(fitting, sure)
                    };
                }
                Named::Unknown => {}
                other => return other,
            }
        }
        if let Some(near) = self.in_package(file, &same) {
            return Named::Known(near, 0.95);
        }
        // Everything of a module.
        for import in
            file.facts.imports.iter().filter(|import| import.local == "*" && !import.module.is_empty())
        {
            if let Some(place) = self.project().locate(file.family, &file.path, &import.module) {
                let found: Vec<Rc<Symbol>> = self
                    .in_place(&place, name, site.depth + 1)
                    .into_iter()
                    .filter(|symbol| wanted.accepts(symbol))
                    .filter(|found| {
                        // A header can have the rename alone, the function lies in a file of code.
                        file.family != Family::C
                            || same.iter().any(|symbol| symbol.symbol_id == found.symbol_id)
                    })
                    .collect();
                if !found.is_empty() {
                    return Named::Known(found, 0.93);
                }
            }
        }
        if wanted == Wanted::Macro && !same.is_empty() {
            return Named::Known(nearest(distinct(same), &file.path), 0.9);
        }
        if global_scope(file.family) {
            let near = nearest(self.seen_from(file, distinct(same)), &file.path);
            // Alternatives of several configurations in one file are one thing.
            let one_thing = near.windows(2).all(|two| {
                two[0].rel_path == two[1].rel_path && two[0].qualified_name == two[1].qualified_name
            });
            return match near.len() {
                0 if wanted == Wanted::Type || is_foreign(file.family, name) => Named::Outside,
                0 => Named::Unknown,
                1 => Named::Known(near, 0.9),
                _ if one_thing && file.family == Family::C => Named::Known(near, 0.9),
                _ => Named::Known(near, 0.6),
            };
        }
        // A type that nobody here defines is a library's; another name may be a variable.
        if wanted == Wanted::Type || is_foreign(file.family, name) { Named::Outside } else { Named::Unknown }
    }

    /// Definitions in the package of a file, in languages whose files of one package see each other.
    pub(super) fn in_package(&self, file: &File, candidates: &[Rc<Symbol>]) -> Option<Vec<Rc<Symbol>>> {
        if !matches!(file.family, Family::Go | Family::Java) {
            return None;
        }
        let clause = self.project().clause(&file.path);
        let found: Vec<Rc<Symbol>> = candidates
            .iter()
            .filter(|symbol| {
                let near = folder(&symbol.rel_path) == folder(&file.path);
                let says = self.project().clause(&symbol.rel_path);
                match file.family {
                    Family::Java => (near || clause.is_some()) && says == clause,
                    _ => near && says == clause,
                }
            })
            .filter(|symbol| scope(symbol).is_none())
            .cloned()
            .collect();
        (!found.is_empty()).then_some(found)
    }
}

/// Names of the language itself that stand in front of calls.
pub(super) fn is_foreign(family: Family, name: &str) -> bool {
    let is_capital = name.starts_with(|c: char| c.is_uppercase());
    match family {
        Family::Script => {
            is_capital
                || matches!(
                    name,
                    "console" | "process" | "window" | "document" | "globalThis" | "module" | "require"
                )
        }
        Family::Rust | Family::Java | Family::CSharp | Family::Python => is_capital,
        _ => false,
    }
}

/// What separates the names of a path where modules are located.
pub(super) fn path_separator(family: Family) -> &'static str {
    if family == Family::Rust { "::" } else { "." }
}

/// The name without what is around it.
pub(super) fn last(qualified: &str) -> &str {
    qualified.rsplit('.').next().unwrap_or(qualified)
}

/// What is around a definition, as it is qualified.
pub(super) fn scope(symbol: &Symbol) -> Option<&str> {
    symbol.qualified_name.rsplit_once('.').map(|(around, _)| around)
}

pub(super) fn is_type(symbol: &Symbol) -> bool {
    matches!(
        symbol.kind,
        SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Union
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Impl
    )
}

/// Says whether a definition lies in a type or a function, so that its name alone does not mean it.
pub(super) fn in_type(file: &File, symbol: &Symbol) -> bool {
    if scope(symbol).is_none() {
        return false;
    }
    match file.place_of(symbol) {
        Some(at) => match file.parents.get(at as usize).copied().flatten() {
            Some(_) => file.around(Some(at)).skip(1).any(|at| {
                !matches!(file.symbols[at as usize].kind, SymbolKind::Module | SymbolKind::Namespace)
            }),
            // Qualified, and nothing around it: a method outside of its type, or an assigned path.
            None => symbol.kind == SymbolKind::Method,
        },
        None => false,
    }
}

/// Those nearest to a file, when there are several.
pub(super) fn nearest(mut symbols: Vec<Rc<Symbol>>, path: &str) -> Vec<Rc<Symbol>> {
    let shared = |other: &str| other.split('/').zip(path.split('/')).take_while(|(a, b)| a == b).count();
    if let Some(best) = symbols.iter().map(|symbol| shared(&symbol.rel_path)).max() {
        symbols.retain(|symbol| shared(&symbol.rel_path) == best);
    }
    symbols
}

/// Overloads and conditional definitions of one thing in a file are all meant; a type is meant before its parts.
pub(super) fn distinct(mut symbols: Vec<Rc<Symbol>>) -> Vec<Rc<Symbol>> {
    if symbols.len() > 1 {
        let is_better = |symbol: &Rc<Symbol>| {
            !matches!(symbol.kind, SymbolKind::Constant | SymbolKind::Constructor | SymbolKind::Type)
        };
        if symbols.iter().any(is_better) {
            symbols.retain(is_better);
        }
    }
    symbols
}

/// Leaves out C's `#define read z_read` where there is a function `read`: it only renames what is meant.
fn without_renames(family: Family, mut symbols: Vec<Rc<Symbol>>) -> Vec<Rc<Symbol>> {
    if family == Family::C && symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function) {
        symbols.retain(|symbol| symbol.kind != SymbolKind::Macro || symbol.label.contains('('));
    }
    symbols
}

/// Languages where a bare name can be a member of the type around.
pub(super) fn implicit_self(family: Family) -> bool {
    matches!(family, Family::Java | Family::CSharp | Family::C | Family::Ruby | Family::Other(_))
}

/// Languages where any file may see any name without saying from where.
pub(super) fn global_scope(family: Family) -> bool {
    matches!(
        family,
        Family::C | Family::CSharp | Family::Php | Family::Ruby | Family::Shell | Family::Other(_)
    )
}
