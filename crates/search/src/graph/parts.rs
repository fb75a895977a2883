//! Steps of a chain: a field or a method of a value, and what a call gives.

use std::rc::Rc;

use super::infer::{Hold, Inferred, UNKNOWN, Value, as_value};
use super::lookup::Lookup;
use super::names::{DEPTH, Named, Site, last};
use super::project::{Family, Place};
use super::{Binding, Import};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

impl Lookup<'_> {
    /// A field of a type or of its bases.
    pub(super) fn field(&self, site: &Site, of: &Symbol, name: &str) -> Option<Inferred> {
        let site = site.deeper()?;
        let file = self.file(&of.rel_path)?;
        let place = file.place_of(of)?;
        let is_it = |binding: &&Binding| {
            binding.scope == Some(place) && binding.name == name && binding.until.is_none()
        };
        let binding = file.facts.bindings.iter().find(is_it);
        if let Some(binding) = binding {
            // A field that a method made is evaluated in that method.
            let maker = file.symbols.iter().rposition(|symbol| {
                matches!(symbol.kind, SymbolKind::Method | SymbolKind::Constructor | SymbolKind::Function)
                    && (symbol.start_line..=symbol.end_line).contains(&binding.line)
            });
            let from = maker.and_then(|at| u32::try_from(at).ok()).or(Some(place));
            let at = Site { file: Rc::clone(&file), from, line: binding.line, depth: site.depth };
            return Some(self.declared(&at, &binding.value));
        }
        self.bases(of, site.depth).iter().filter(|base| base.symbol_id != of.symbol_id).find_map(|base| {
            self.field_of_parameter(&site, of, base, name).or_else(|| self.field(&site, base, name))
        })
    }

    /// A name in a value.
    pub(super) fn member(&self, site: &Site, (value, sure): Inferred, name: &str) -> Inferred {
        match value {
            Value::Module(place, module) => {
                let found = self.in_place(&place, name, site.depth);
                if !found.is_empty() {
                    if found.iter().all(|symbol| symbol.kind == SymbolKind::Constant) {
                        return self.constant(site, &found, sure);
                    }
                    return as_value(Named::Known(found, sure.min(0.95)));
                }
                let separator = if site.file.family == Family::Rust { "::" } else { "." };
                let inner = format!("{}{separator}{name}", module.trim_end_matches('.'));
                match self.project().locate(site.file.family, &site.file.path, &inner) {
                    Some(inside) if inside.rest.is_empty() && inside != place => {
                        (Value::Module(inside, inner), sure)
                    }
                    _ => match self.given_module(&place, name, site.depth) {
                        Some(given) => (given, sure),
                        None => match self.variable(site, &place, name) {
                            (Value::Unknown, _) => self.macro_named(site, name),
                            found => found,
                        },
                    },
                }
            }
            Value::Type(of) => {
                let members = self.members(&of, name, site.depth);
                if !members.is_empty() {
                    return as_value(Named::Known(members, sure));
                }
                match self.field(site, &of, name) {
                    Some(found) => found,
                    None => (Value::Maker(of), sure),
                }
            }
            Value::Instance(types, Hold::Holds) => (Value::Instance(types, Hold::Loose), sure * 0.95),
            Value::Instance(types, hold) => {
                let mut found = Vec::new();
                for of in &types {
                    found.extend(self.members(of, name, site.depth));
                }
                if !found.is_empty() {
                    return as_value(Named::Known(
                        found,
                        if hold == Hold::Loose { sure.min(0.85) } else { sure },
                    ));
                }
                match types.iter().find_map(|of| self.field(site, of, name)) {
                    Some((Value::Unknown, _)) | None if hold == Hold::Loose => {
                        (Value::Instance(types, hold), sure * 0.95)
                    }
                    Some(found) => found,
                    // A type whose bases are not all known can have anything.
                    None => UNKNOWN,
                }
            }
            Value::Function(functions) => {
                // A property, or a function that is used as a value.
                let returned = self.called(site, (Value::Function(functions), sure));
                match returned.0 {
                    Value::Instance(..) => self.member(site, returned, name),
                    _ => UNKNOWN,
                }
            }
            Value::Maker(of) => (Value::Maker(of), sure),
            Value::Outside => (Value::Outside, sure),
            Value::Unknown => UNKNOWN,
        }
    }

    /// A module that another one gives on: `pub extern crate a as b`, `export * as b`, `from . import b`.
    fn given_module(&self, place: &Place, name: &str, depth: u8) -> Option<Value> {
        if depth >= DEPTH {
            return None;
        }
        place.files.iter().take(64).find_map(|path| {
            let file = self.file(path)?;
            if matches!(file.family, Family::Go | Family::Java | Family::C) {
                return None;
            }
            let is_given = |import: &&Import| import.local == name && !import.module.is_empty();
            match self.imported(&file, file.facts.imports.iter().find(is_given)?, depth + 1) {
                Named::Module(place, module) => Some(Value::Module(place, module)),
                _ => None,
            }
        })
    }

    /// What a call gives.
    pub(super) fn called(&self, site: &Site, (value, sure): Inferred) -> Inferred {
        match value {
            Value::Type(of) => (Value::Instance(vec![of], Hold::Is), sure),
            Value::Maker(of) => (Value::Instance(vec![of], Hold::Loose), sure * 0.9),
            Value::Instance(types, Hold::Loose) => (Value::Instance(types, Hold::Loose), sure),
            Value::Instance(types, Hold::Is) if site.file.family == Family::Script => {
                let given = types.iter().map(|of| self.result_of(site, of));
                let found = given.into_iter().find(|(value, _)| !matches!(value, Value::Unknown));
                found.map_or(UNKNOWN, |(value, inner)| (value, inner.min(sure)))
            }
            Value::Function(functions) => {
                for function in functions.iter().take(4) {
                    let (value, inner) = self.returned(site, function);
                    if !matches!(value, Value::Unknown) {
                        return (value, inner.min(sure));
                    }
                }
                UNKNOWN
            }
            // A library may well give back what was given to it.
            Value::Outside | Value::Module(..) | Value::Instance(..) | Value::Unknown => UNKNOWN,
        }
    }

    /// What a function returns.
    pub(super) fn returned(&self, site: &Site, function: &Symbol) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        if matches!(function.kind, SymbolKind::Constructor) {
            return self
                .owner_type(function)
                .map_or(UNKNOWN, |owner| (Value::Instance(vec![owner], Hold::Is), 0.95));
        }
        let Some(file) = self.file(&function.rel_path) else { return UNKNOWN };
        let Some(place) = file.place_of(function) else { return UNKNOWN };
        let binding = file
            .facts
            .bindings
            .iter()
            .find(|binding| binding.scope == Some(place) && binding.name == Binding::RETURNED);
        match binding {
            Some(binding) => {
                let at =
                    Site { file: Rc::clone(&file), from: Some(place), line: binding.line, depth: site.depth };
                self.declared(&at, &binding.value)
            }
            // Ruby's constructor has no definition.
            None if last(&function.qualified_name) == "new" => UNKNOWN,
            None => UNKNOWN,
        }
    }
}
