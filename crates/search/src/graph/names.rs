//! Which definitions a plain name can mean where it stands: by scope, import, package and re-export, then by name.

use std::rc::Rc;

use super::Import;
use super::lookup::{File, Lookup};
use super::project::{Family, Place, folder};
use crate::store::Symbol;

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
    fn accepts(self, symbol: &Symbol) -> bool {
        let kind = symbol.kind.as_str();
        match self {
            Self::Called => {
                !matches!(kind, "impl" | "module" | "namespace" | "property" | "method" | "constructor")
            }
            Self::Type => {
                matches!(kind, "class" | "struct" | "union" | "enum" | "interface" | "trait" | "type")
            }
            Self::Macro => kind == "macro",
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
            let near = nearest(distinct(same), &file.path);
            return match near.len() {
                0 if wanted == Wanted::Type || is_foreign(file.family, name) => Named::Outside,
                0 => Named::Unknown,
                1 => Named::Known(near, 0.9),
                _ => Named::Known(near, 0.6),
            };
        }
        // A type that nobody here defines is a library's; another name may be a variable.
        if wanted == Wanted::Type || is_foreign(file.family, name) { Named::Outside } else { Named::Unknown }
    }

    /// Definitions in the package of a file, in languages whose files of one package see each other.
    fn in_package(&self, file: &File, candidates: &[Rc<Symbol>]) -> Option<Vec<Rc<Symbol>>> {
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

    /// What an import means: the definitions that it names, or a module.
    pub(super) fn imported(&self, file: &File, import: &Import, depth: u8) -> Named {
        if depth >= DEPTH {
            return Named::Unknown;
        }
        if import.module.is_empty() {
            // A name given on by the file itself.
            let Some(name) = &import.name else { return Named::Unknown };
            let found = self.defined_in(&file.path, name);
            if !found.is_empty() {
                return Named::Known(found, 0.95);
            }
            let other =
                file.facts.imports.iter().find(|other| other.local == *name && other.module != import.module);
            return other.map_or(Named::Unknown, |other| self.imported(file, other, depth + 1));
        }
        let project = self.project();
        let place = project.locate(file.family, &file.path, &import.module);
        let Some(name) = import.name.as_deref().filter(|name| *name != "*") else {
            return place.map_or(Named::Outside, |place| Named::Module(place, import.module.clone()));
        };
        let inner = match file.family {
            Family::Rust => format!("{}::{name}", import.module),
            _ if import.module.ends_with('.') => format!("{}{name}", import.module),
            _ => format!("{}.{name}", import.module),
        };
        if let Some(place) = &place {
            let found = self.in_place(place, name, depth + 1);
            if !found.is_empty() {
                return Named::Known(found, 0.95);
            }
        }
        // `from package import module`, `use crate::module`.
        if matches!(file.family, Family::Python | Family::Rust)
            && let Some(module) = project.locate(file.family, &file.path, &inner)
            && module.rest.is_empty()
        {
            return Named::Module(module, inner);
        }
        match place {
            // The whole module under a name of its own: `import React from 'react'`.
            Some(place) if name == "default" => Named::Module(place, import.module.clone()),
            // It is there, but it is no definition that we know.
            Some(_) => Named::Unknown,
            None if file.family == Family::CSharp => Named::Unknown,
            None => Named::Outside,
        }
    }

    /// The definitions of a name that a module gives to others: its own, or those it takes from elsewhere.
    pub(super) fn in_place(&self, place: &Place, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        if depth >= DEPTH {
            return Vec::new();
        }
        // Modules that give each other's names on are asked once, a circle included.
        let key = (place.clone(), name.to_owned());
        if let Some(known) = self.given(&key) {
            return known.to_vec();
        }
        let found = self.given_by(place, name, depth);
        self.remember(key, &found);
        found
    }

    fn given_by(&self, place: &Place, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        let own: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| symbol.kind != "impl" && place.files.binary_search(&symbol.rel_path).is_ok())
            .filter(|symbol| match (place.rest.last(), scope(symbol)) {
                (Some(inside), Some(around)) => last(around) == inside,
                (Some(_), None) => false,
                (None, None) => true,
                (None, Some(around)) => {
                    // A namespace is no wall; a type and a function are. What `exports` has is given.
                    matches!(last(around), "exports")
                        || self.file(&symbol.rel_path).is_some_and(|file| !in_type(&file, symbol))
                }
            })
            .cloned()
            .collect();
        if !own.is_empty() {
            return distinct(own);
        }
        for path in place.files.iter().take(64) {
            let Some(file) = self.file(path) else { continue };
            if let Some(inside) = place.rest.first() {
                // A type that the module takes from elsewhere.
                let through =
                    file.facts.imports.iter().filter(|import| import.local == *inside || import.local == "*");
                for import in through {
                    let module = match &import.name {
                        _ if import.local == "*" => format!("{}::{inside}", import.module),
                        Some(of) => format!("{}::{of}", import.module),
                        // A whole crate under another name.
                        None => import.module.clone(),
                    };
                    if let Some(place) = self.project().locate(file.family, path, &module) {
                        let found = self.in_place(&place, name, depth + 1);
                        if !found.is_empty() {
                            return found;
                        }
                    }
                }
                continue;
            }
            // Go's and C's files do not give their imports on.
            if matches!(file.family, Family::Go | Family::Java | Family::C) {
                continue;
            }
            for import in file.facts.imports.iter().filter(|import| import.local == name) {
                if let Named::Known(found, _) = self.imported(&file, import, depth + 1) {
                    return found;
                }
            }
            for import in
                file.facts.imports.iter().filter(|import| import.local == "*" && !import.module.is_empty())
            {
                if let Some(place) = self.project().locate(file.family, path, &import.module)
                    && !(place.files.len() == 1 && place.files[0] == *path)
                {
                    let found = self.in_place(&place, name, depth + 1);
                    if !found.is_empty() {
                        return found;
                    }
                }
            }
        }
        Vec::new()
    }

    /// Definitions of a name at the top of one file.
    fn defined_in(&self, path: &str, name: &str) -> Vec<Rc<Symbol>> {
        let is_here = |symbol: &&Rc<Symbol>| {
            symbol.rel_path == path && symbol.kind != "impl" && scope(symbol).is_none()
        };
        self.named(name).iter().filter(is_here).cloned().collect()
    }

    /// The methods of that name that a type has, its own before its bases'.
    pub(super) fn members(&self, of: &Symbol, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        let owner = last(&of.qualified_name);
        let family = Family::of(&of.language);
        let project = self.project();
        let own: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| symbol.kind != "impl" && symbol.kind != "module")
            .filter(|symbol| scope(symbol).map(last) == Some(owner) && Family::of(&symbol.language) == family)
            .filter(|symbol| {
                symbol.rel_path == of.rel_path
                    || match family {
                        Family::Go => folder(&symbol.rel_path) == folder(&of.rel_path),
                        Family::Rust => project.same_crate(&symbol.rel_path, &of.rel_path),
                        Family::C | Family::CSharp | Family::Ruby | Family::Other(_) => true,
                        Family::Script | Family::Python | Family::Java | Family::Php | Family::Shell => false,
                    }
            })
            .cloned()
            .collect();
        let here: Vec<Rc<Symbol>> =
            own.iter().filter(|symbol| symbol.rel_path == of.rel_path).cloned().collect();
        if !here.is_empty() && family != Family::C {
            return distinct(here);
        }
        if !own.is_empty() {
            return distinct(own);
        }
        if depth >= DEPTH {
            return Vec::new();
        }
        for base in self.bases(of, depth + 1) {
            if base.symbol_id == of.symbol_id {
                continue;
            }
            let found = self.members(&base, name, depth + 1);
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// What a type extends and implements, as far as it is known.
    pub(super) fn bases(&self, of: &Symbol, depth: u8) -> Vec<Rc<Symbol>> {
        let Some(file) = self.file(&of.rel_path) else { return Vec::new() };
        let mut found = Vec::new();
        for reference in file.facts.references.iter().filter(|reference| reference.used == super::Use::Base) {
            // In Rust the clause is that of an `impl` of the same name.
            let is_of = file.at(reference.from).is_some_and(|from| {
                from.symbol_id == of.symbol_id
                    || (from.kind == "impl" && from.qualified_name == of.qualified_name)
            });
            if !is_of {
                continue;
            }
            let site = Site { file: Rc::clone(&file), from: None, line: reference.line, depth };
            if let Named::Known(types, _) =
                self.find_type(&site, reference.qualifier.as_deref(), &reference.name)
            {
                found.extend(types);
            }
        }
        found
    }

    /// A type by its name and what stands in front of it.
    pub(super) fn find_type(&self, site: &Site, qualifier: Option<&str>, name: &str) -> Named {
        let Some(qualifier) = qualifier else { return self.find(site, name, Wanted::Type) };
        let file = &site.file;
        let (head, rest) = qualifier.split_once('.').unwrap_or((qualifier, ""));
        let place = match file
            .facts
            .imports
            .iter()
            .find(|import| import.local == qualifier || import.local == head)
        {
            Some(import) => match self.imported(file, import, site.depth) {
                Named::Module(place, module) => {
                    if rest.is_empty() || import.local == qualifier {
                        Some(place)
                    } else {
                        self.project().locate(file.family, &file.path, &format!("{module}.{rest}"))
                    }
                }
                Named::Known(types, _) => {
                    let inner: Vec<Rc<Symbol>> =
                        types.iter().flat_map(|of| self.members(of, name, site.depth)).collect();
                    return if inner.is_empty() { Named::Unknown } else { Named::Known(inner, 0.9) };
                }
                other => return other,
            },
            None => self.project().locate(
                file.family,
                &file.path,
                &qualifier.replace('.', path_separator(file.family)),
            ),
        };
        let Some(place) = place else {
            // A type inside of a type, or a namespace.
            let inner: Vec<Rc<Symbol>> = self
                .named(name)
                .iter()
                .filter(|symbol| {
                    Wanted::Type.accepts(symbol) && scope(symbol).map(last) == Some(last(qualifier))
                })
                .filter(|symbol| Family::of(&symbol.language) == file.family)
                .cloned()
                .collect();
            return if inner.is_empty() {
                Named::Outside
            } else {
                Named::Known(nearest(inner, &file.path), 0.85)
            };
        };
        let found: Vec<Rc<Symbol>> = self
            .in_place(&place, name, site.depth + 1)
            .into_iter()
            .filter(|symbol| Wanted::Type.accepts(symbol))
            .collect();
        if found.is_empty() { Named::Unknown } else { Named::Known(found, 0.95) }
    }

    /// The type whose values a definition makes, when it is a constructor.
    pub(crate) fn constructed(&self, symbol: &Symbol) -> Option<Rc<Symbol>> {
        let name = last(&symbol.qualified_name);
        let is_constructor = symbol.kind == "constructor"
            || matches!(name, "__init__" | "constructor" | "__construct" | "initialize");
        if is_constructor && scope(symbol).is_some() { self.owner_type(symbol) } else { None }
    }

    /// The type that a method belongs to.
    pub(super) fn owner_type(&self, method: &Symbol) -> Option<Rc<Symbol>> {
        let around = scope(method)?;
        let is_owner = |symbol: &&Rc<Symbol>| {
            Wanted::Type.accepts(symbol) && Family::of(&symbol.language) == Family::of(&method.language)
        };
        let types: Vec<Rc<Symbol>> = self.named(last(around)).iter().filter(is_owner).cloned().collect();
        let project = self.project();
        let best = |test: &dyn Fn(&Symbol) -> bool| types.iter().find(|symbol| test(symbol)).cloned();
        best(&|symbol| symbol.rel_path == method.rel_path && symbol.qualified_name == around)
            .or_else(|| best(&|symbol| symbol.rel_path == method.rel_path))
            .or_else(|| best(&|symbol| folder(&symbol.rel_path) == folder(&method.rel_path)))
            .or_else(|| {
                best(&|symbol| {
                    Family::of(&symbol.language) == Family::Rust
                        && project.same_crate(&symbol.rel_path, &method.rel_path)
                })
            })
            .or_else(|| {
                if types.len() == 1 && Family::of(&method.language) != Family::Go {
                    types.first().cloned()
                } else {
                    None
                }
            })
    }
}

/// Names of the language itself that stand in front of calls.
fn is_foreign(family: Family, name: &str) -> bool {
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
fn path_separator(family: Family) -> &'static str {
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
    matches!(symbol.kind.as_str(), "class" | "struct" | "union" | "enum" | "interface" | "trait" | "impl")
}

/// Says whether a definition lies in a type or a function, so that its name alone does not mean it.
fn in_type(file: &File, symbol: &Symbol) -> bool {
    if scope(symbol).is_none() {
        return false;
    }
    match file.place_of(symbol) {
        Some(at) => match file.parents.get(at as usize).copied().flatten() {
            Some(_) => file
                .around(Some(at))
                .skip(1)
                .any(|at| !matches!(file.symbols[at as usize].kind.as_str(), "module" | "namespace")),
            // Qualified, and nothing around it: a method outside of its type, or an assigned path.
            None => symbol.kind == "method",
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
fn distinct(mut symbols: Vec<Rc<Symbol>>) -> Vec<Rc<Symbol>> {
    if symbols.len() > 1 {
        let is_better =
            |symbol: &Rc<Symbol>| !matches!(symbol.kind.as_str(), "constant" | "constructor" | "type");
        if symbols.iter().any(is_better) {
            symbols.retain(is_better);
        }
    }
    symbols
}

/// Languages where a bare name can be a member of the type around.
fn implicit_self(family: Family) -> bool {
    matches!(family, Family::Java | Family::CSharp | Family::C | Family::Ruby | Family::Other(_))
}

/// Languages where any file may see any name without saying from where.
fn global_scope(family: Family) -> bool {
    matches!(
        family,
        Family::C | Family::CSharp | Family::Php | Family::Ruby | Family::Shell | Family::Other(_)
    )
}
