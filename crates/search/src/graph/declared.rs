//! Values by what is written where they are declared: types, constants, the type around a method.

use std::rc::Rc;

use super::infer::{Hold, Inferred, UNKNOWN, Value};
use super::lookup::Lookup;
use super::names::{Named, Site, Wanted, is_type, last};
use super::project::Family;
use super::{Binding, Use, types};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

impl Lookup<'_> {
    /// The type that a site's method belongs to.
    pub(super) fn own_type(&self, site: &Site) -> Option<Rc<Symbol>> {
        let file = &site.file;
        for at in file.around(site.from) {
            let symbol = &file.symbols[at as usize];
            if is_type(symbol) && symbol.kind != SymbolKind::Impl {
                return Some(Rc::clone(symbol));
            }
            if matches!(symbol.kind, SymbolKind::Method | SymbolKind::Constructor)
                || symbol.kind == SymbolKind::Impl
            {
                let owner = if symbol.kind == SymbolKind::Impl {
                    self.impl_type(symbol)
                } else {
                    self.owner_type(symbol)
                };
                if owner.is_some() {
                    return owner;
                }
            }
        }
        None
    }

    pub(super) fn impl_type(&self, of: &Symbol) -> Option<Rc<Symbol>> {
        let file = self.file(&of.rel_path)?;
        let site = Site { file, from: None, line: of.start_line, depth: 1 };
        match self.find(&site, last(&of.qualified_name), Wanted::Type) {
            Named::Known(types, _) => types.into_iter().next(),
            _ => None,
        }
    }

    /// A type as written, or a chain.
    pub(super) fn declared(&self, site: &Site, value: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        if let Some(handed) = value.strip_prefix('~') {
            return self.handed(&site, handed);
        }
        if let Some(made) = value.strip_prefix('=') {
            return if made.is_empty() { UNKNOWN } else { self.value_of(&site, made) };
        }
        let written = types::read(value);
        let mut outside = false;
        for (names, hold) in [(&written.is, Hold::Is), (&written.holds, Hold::Holds)] {
            let mut found = Vec::new();
            let mut least = 1.0f32;
            for name in names {
                match self.type_named(&site, name) {
                    // A library's container, whatever our traits add to it: what it holds says more.
                    (Value::Instance(types, _), _)
                        if hold == Hold::Is && !written.holds.is_empty() && are_added_to(&types) =>
                    {
                        outside = true;
                    }
                    (Value::Instance(types, _), sure) => {
                        found.extend(types);
                        least = least.min(sure);
                    }
                    (Value::Outside, _) => outside = true,
                    _ => {}
                }
            }
            if !found.is_empty() {
                if hold == Hold::Is && found.iter().any(|of| self.derefs(of)) {
                    for held in &written.holds {
                        if let (Value::Instance(types, _), _) = self.type_named(&site, held) {
                            found.extend(types);
                        }
                    }
                }
                return (Value::Instance(found, hold), least);
            }
        }
        if outside { (Value::Outside, 0.0) } else { UNKNOWN }
    }

    /// Says whether a type of Rust is used as what it points to.
    fn derefs(&self, of: &Symbol) -> bool {
        Family::of(&of.language) == Family::Rust
            && self.file(&of.rel_path).is_some_and(|file| {
                file.facts.references.iter().any(|reference| {
                    reference.used == Use::Base
                        && reference.name == "Deref"
                        && file
                            .at(reference.from)
                            .is_some_and(|from| last(&from.qualified_name) == last(&of.qualified_name))
                })
            })
    }

    pub(super) fn type_named(&self, site: &Site, path: &str) -> Inferred {
        let (qualifier, name) = match path.rsplit_once('.') {
            Some((qualifier, name)) => (Some(qualifier), name),
            None => (None, path),
        };
        if matches!(name, "Self" | "self" | "static" | "this") {
            return self.own_type(site).map_or(UNKNOWN, |own| (Value::Instance(vec![own], Hold::Is), 0.96));
        }
        // A type parameter is what it is bound by.
        if qualifier.is_none()
            && site.file.family == Family::Rust
            && name.len() <= 3
            && let Some((binding, owner)) = self.bound(site, name)
        {
            return self.bound_value(site, binding, owner);
        }
        if qualifier.is_none() && site.file.family == Family::Rust && name.len() <= 3 {
            // The parameter of the type around, or of one of its `impl`s.
            let file = &site.file;
            let own = self.own_type(site);
            let is_own = |binding: &&Binding| {
                let of = file.at(binding.scope);
                binding.name == name
                    && of.is_some_and(|of| {
                        own.as_ref().is_some_and(|own| of.qualified_name == own.qualified_name)
                    })
            };
            if let Some(binding) = file.facts.bindings.iter().find(is_own) {
                return self.bound_value(site, binding, None);
            }
        }
        // A type parameter of a script is what it extends, if it says so.
        if qualifier.is_none()
            && site.file.family == Family::Script
            && let Some(found) = self.extended(site, name)
        {
            return found;
        }
        match self.find_type(site, qualifier, name) {
            Named::Known(types, sure)
                if site.file.family == Family::Script
                    && types.iter().any(|symbol| symbol.kind == SymbolKind::Type) =>
            {
                self.through_aliases(site, types, sure)
            }
            Named::Outside if is_parameter(site, name) => UNKNOWN,
            Named::Known(types, sure) => {
                let types: Vec<Rc<Symbol>> = types
                    .into_iter()
                    .filter(|symbol| is_type(symbol) || symbol.kind == SymbolKind::Type)
                    .collect();
                if types.is_empty() { UNKNOWN } else { (Value::Instance(types, Hold::Is), sure) }
            }
            Named::Outside => self.extended_outside(site, name),
            Named::Module(..) | Named::Unknown => UNKNOWN,
        }
    }

    /// A type of a library of Rust: traits of ours may have an `impl` for it.
    fn extended_outside(&self, site: &Site, name: &str) -> Inferred {
        let is_ours = |symbol: &&Rc<Symbol>| {
            symbol.kind == SymbolKind::Impl
                && Family::of(&symbol.language) == Family::Rust
                && symbol.label.contains(" for ")
        };
        match site.file.family {
            Family::Rust => {
                let ours: Vec<Rc<Symbol>> = self.named(name).iter().filter(is_ours).cloned().collect();
                if ours.is_empty() { (Value::Outside, 0.0) } else { (Value::Instance(ours, Hold::Is), 0.95) }
            }
            _ => (Value::Outside, 0.0),
        }
    }

    /// Types, with what they stand for in place of aliases.
    fn through_aliases(&self, site: &Site, types: Vec<Rc<Symbol>>, sure: f32) -> Inferred {
        let mut found: Vec<Rc<Symbol>> = Vec::new();
        let mut held = Hold::Is;
        for symbol in types {
            let inner = match symbol.kind {
                SymbolKind::Type => self.aliased(site, &symbol),
                _ => UNKNOWN,
            };
            match inner {
                (Value::Instance(of, hold), _) => {
                    held = hold;
                    found.extend(of);
                }
                _ if is_type(&symbol) || symbol.kind == SymbolKind::Type => found.push(symbol),
                _ => {}
            }
        }
        if found.is_empty() { UNKNOWN } else { (Value::Instance(found, held), sure) }
    }

    /// The value of constants: what they are bound to in their files.
    pub(super) fn constant(&self, site: &Site, symbols: &[Rc<Symbol>], sure: f32) -> Inferred {
        let Some(symbol) = symbols.first() else { return UNKNOWN };
        let Some(file) = self.file(&symbol.rel_path) else { return UNKNOWN };
        let name = last(&symbol.qualified_name);
        let around = file.place_of(symbol).and_then(|at| file.parents.get(at as usize).copied().flatten());
        let binding =
            file.facts.bindings.iter().find(|binding| binding.name == name && binding.scope == around);
        let Some(binding) = binding else { return UNKNOWN };
        let at = Site {
            file: Rc::clone(&file),
            from: around,
            line: symbol.start_line.saturating_sub(1),
            depth: site.depth,
        };
        let (value, inner) = self.declared(&at, &binding.value);
        (value, inner.min(sure))
    }
}

/// Says whether types are known by what traits of ours add to them alone.
pub(super) fn are_added_to(types: &[Rc<Symbol>]) -> bool {
    !types.is_empty() && types.iter().all(|of| of.kind == SymbolKind::Impl)
}

/// Says whether a name looks like the parameter of a generic definition, which is no library's type.
fn is_parameter(site: &Site, name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    site.file.family == Family::Script
        && first
        && letters
            .next()
            .is_none_or(|second| name.starts_with('T') && second.is_uppercase() || second.is_ascii_digit())
}
