//! Types with what belongs to them: methods, bases, and the type that a method is of.

use std::rc::Rc;

use super::lookup::Lookup;
use super::names::{DEPTH, Named, Site, Wanted, distinct, last, nearest, path_separator, scope};
use super::project::{Family, folder};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

impl Lookup<'_> {
    /// The methods of that name that a type has, its own before its bases'.
    pub(super) fn members(&self, of: &Symbol, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        let owner = last(&of.qualified_name);
        let family = Family::of(&of.language);
        let project = self.project();
        let own: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| symbol.kind != SymbolKind::Impl && symbol.kind != SymbolKind::Module)
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
                    || (from.kind == SymbolKind::Impl && from.qualified_name == of.qualified_name)
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
        let is_constructor = symbol.kind == SymbolKind::Constructor
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
