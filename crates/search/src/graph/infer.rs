//! What an expression is: types by what is written at variables, parameters, fields and results.
//!
//! No unification and no flow: a chain is followed step by step through declarations, and the first step that nobody
//! declares ends it with "unknown".

use std::rc::Rc;

use super::lookup::Lookup;
use super::names::{Named, Site, Wanted, is_type, last, scope};
use super::project::{Family, Place};
use super::{Binding, types};
use crate::store::Symbol;
use crate::symbols::chain::{self, Step};

/// How a value holds its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// It is one.
    Is,
    /// It is a container of them.
    Holds,
    /// It came out of a container, or is still one.
    Loose,
}

/// What an expression is.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Module(Place, String),
    /// The type itself.
    Type(Rc<Symbol>),
    /// A value of one of these types.
    Instance(Vec<Rc<Symbol>>, Hold),
    /// A function of these.
    Function(Vec<Rc<Symbol>>),
    /// Something of a type that the index has not: a derived constructor.
    Maker(Rc<Symbol>),
    Outside,
    Unknown,
}

/// A value and how sure it is.
pub(super) type Inferred = (Value, f32);

const UNKNOWN: Inferred = (Value::Unknown, 0.0);

impl Lookup<'_> {
    /// What a chain is at a site.
    pub(super) fn value_of(&self, site: &Site, text: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        let steps = chain::steps(text);
        let Some((mut value, mut at)) = self.head(&site, &steps) else { return UNKNOWN };
        while at < steps.len() {
            value = match (steps[at], value) {
                (Step::Name(name), value) => self.member(&site, value, name),
                (Step::Call, value) => self.called(&site, value),
                (Step::Element | Step::Inside, (Value::Instance(types, Hold::Holds | Hold::Loose), sure)) => {
                    (Value::Instance(types, Hold::Loose), sure)
                }
                (Step::Element | Step::Inside, value) => value,
            };
            at += 1;
        }
        value
    }

    /// The value of a chain's first name, and how many steps that took.
    fn head(&self, site: &Site, steps: &[Step<'_>]) -> Option<(Inferred, usize)> {
        let Some(Step::Name(name)) = steps.first().copied() else { return None };
        let file = &site.file;
        // `import a.b.c` binds a path.
        if file.family == Family::Python {
            let mut path = name.to_owned();
            let mut best = None;
            for (at, step) in steps.iter().enumerate().skip(1) {
                let Step::Name(next) = step else { break };
                path = format!("{path}.{next}");
                if let Some(import) =
                    file.facts.imports.iter().find(|import| import.local == path && import.name.is_none())
                {
                    best = Some((import, at + 1));
                }
            }
            if let Some((import, taken)) = best {
                return Some((as_value(self.imported(file, import, site.depth)), taken));
            }
        }
        // Paths of Rust begin with words that are no names.
        if file.family == Family::Rust
            && matches!(name, "crate" | "super" | "self")
            && matches!(steps.get(1), Some(Step::Name(_)) | None)
            && !(name == "self" && self.own_type(site).is_some())
        {
            return Some(self.rust_path(site, steps));
        }
        // `super()` is what `super` is elsewhere.
        let taken = if name == "super" && steps.get(1) == Some(&Step::Call) { 2 } else { 1 };
        Some((self.name_value(site, name), taken))
    }

    /// `crate.a.b.T`: as many names as are modules.
    fn rust_path(&self, site: &Site, steps: &[Step<'_>]) -> (Inferred, usize) {
        let names: Vec<&str> = steps
            .iter()
            .map_while(|step| if let Step::Name(name) = step { Some(*name) } else { None })
            .collect();
        let file = &site.file;
        // The words themselves first, then as far as there are modules.
        let lead = names.iter().take_while(|name| matches!(**name, "crate" | "super" | "self")).count();
        let mut taken = lead;
        let mut best = self.project().locate(Family::Rust, &file.path, &names[..lead].join("::"));
        for count in lead + 1..=names.len() {
            match self.project().locate(Family::Rust, &file.path, &names[..count].join("::")) {
                Some(place) if place.rest.is_empty() => {
                    best = Some(place);
                    taken = count;
                }
                _ => break,
            }
        }
        let module = names[..taken].join("::");
        (best.map_or(UNKNOWN, |place| (Value::Module(place, module), 0.95)), taken.max(1))
    }

    /// The type that a site's method belongs to.
    pub(super) fn own_type(&self, site: &Site) -> Option<Rc<Symbol>> {
        let file = &site.file;
        for at in file.around(site.from) {
            let symbol = &file.symbols[at as usize];
            if is_type(symbol) && symbol.kind != "impl" {
                return Some(Rc::clone(symbol));
            }
            if matches!(symbol.kind.as_str(), "method" | "constructor") || symbol.kind == "impl" {
                let owner =
                    if symbol.kind == "impl" { self.impl_type(symbol) } else { self.owner_type(symbol) };
                if owner.is_some() {
                    return owner;
                }
            }
        }
        None
    }

    fn impl_type(&self, of: &Symbol) -> Option<Rc<Symbol>> {
        let file = self.file(&of.rel_path)?;
        let site = Site { file, from: None, line: of.start_line, depth: 1 };
        match self.find(&site, last(&of.qualified_name), Wanted::Type) {
            Named::Known(types, _) => types.into_iter().next(),
            _ => None,
        }
    }

    /// What a name stands for in its scope.
    fn name_value(&self, site: &Site, name: &str) -> Inferred {
        let file = &site.file;
        if matches!(name, "self" | "this" | "Self" | "cls" | "static" | "@")
            && let Some(own) = self.own_type(site)
        {
            let value = if matches!(name, "Self" | "static") {
                Value::Type(own)
            } else {
                Value::Instance(vec![own], Hold::Is)
            };
            return (value, 0.96);
        }
        if matches!(name, "super" | "base" | "parent")
            && let Some(own) = self.own_type(site)
        {
            let bases = self.bases(&own, site.depth + 1);
            return if bases.is_empty() {
                (Value::Outside, 0.0)
            } else {
                (Value::Instance(bases, Hold::Is), 0.95)
            };
        }
        if let Some((binding, owner)) = self.bound(site, name) {
            return self.bound_value(site, binding, owner);
        }
        // A field of the own type, where it needs no `this`.
        if matches!(file.family, Family::Java | Family::CSharp | Family::C | Family::Ruby | Family::Php)
            && let Some(own) = self.own_type(site)
            && let Some(found) = self.field(site, &own, name)
        {
            return found;
        }
        let found = self.find(site, name, Wanted::Called);
        match found {
            Named::Unknown => match self.inner_module(site, name) {
                Some(place) => (Value::Module(place, name.to_owned()), 0.95),
                None => self.imported_value(site, name),
            },
            // A constant stands for what it was made of.
            Named::Known(symbols, sure) if symbols.iter().all(|symbol| symbol.kind == "constant") => {
                self.constant(site, &symbols, sure)
            }
            other => as_value(other),
        }
    }

    /// The binding of a name that is seen at a site.
    fn bound<'f>(&self, site: &'f Site, name: &str) -> Option<(&'f Binding, Option<u32>)> {
        let file = &site.file;
        let bindings = || file.facts.bindings.iter().filter(|binding| binding.name == name);
        for at in file.around(site.from) {
            if is_type(&file.symbols[at as usize]) {
                continue;
            }
            // The last one above the site; below it when the name is used in a closure before.
            let inside = || bindings().filter(|binding| binding.scope == Some(at));
            let above = inside().rfind(|binding| binding.line <= site.line);
            if let Some(binding) = above.or_else(|| inside().next()) {
                return Some((binding, Some(at)));
            }
        }
        bindings()
            .find(|binding| binding.scope.is_none() && binding.value != "=")
            .map(|binding| (binding, None))
    }

    /// Says whether a name is a local variable that nothing more is known about.
    pub(super) fn is_local(&self, site: &Site, name: &str) -> bool {
        self.bound(site, name).is_some_and(|(_, scope)| scope.is_some())
    }

    fn bound_value(&self, site: &Site, binding: &Binding, owner: Option<u32>) -> Inferred {
        // Evaluated where it is written, just before its own line: `x = x.next()` means another x.
        let line = binding.line.saturating_sub(u32::from(binding.value.starts_with('=')));
        let at = Site { from: owner, line, ..site.clone() };
        self.declared(&at, &binding.value)
    }

    /// A type as written, or a chain.
    fn declared(&self, site: &Site, value: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
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
                    (Value::Instance(types, _), sure) => {
                        found.extend(types);
                        least = least.min(sure);
                    }
                    (Value::Outside, _) => outside = true,
                    _ => {}
                }
            }
            if !found.is_empty() {
                return (Value::Instance(found, hold), least);
            }
        }
        if outside { (Value::Outside, 0.0) } else { UNKNOWN }
    }

    fn type_named(&self, site: &Site, path: &str) -> Inferred {
        let (qualifier, name) = match path.rsplit_once('.') {
            Some((qualifier, name)) => (Some(qualifier), name),
            None => (None, path),
        };
        if name == "Self" || name == "self" || name == "static" {
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
        match self.find_type(site, qualifier, name) {
            Named::Known(types, sure) => {
                let types: Vec<Rc<Symbol>> =
                    types.into_iter().filter(|symbol| is_type(symbol) || symbol.kind == "type").collect();
                if types.is_empty() { UNKNOWN } else { (Value::Instance(types, Hold::Is), sure) }
            }
            Named::Outside => (Value::Outside, 0.0),
            Named::Module(..) | Named::Unknown => UNKNOWN,
        }
    }

    /// The value of constants: what they are bound to in their files.
    fn constant(&self, site: &Site, symbols: &[Rc<Symbol>], sure: f32) -> Inferred {
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

    /// A module or namespace of the file itself, or a crate that needs no import.
    fn inner_module(&self, site: &Site, name: &str) -> Option<Place> {
        let file = &site.file;
        if !matches!(file.family, Family::Rust | Family::C | Family::CSharp | Family::Php) {
            return None;
        }
        let is_module = |symbol: &&Rc<Symbol>| {
            matches!(symbol.kind.as_str(), "module" | "namespace") && last(&symbol.qualified_name) == name
        };
        if file.symbols.iter().any(|symbol| is_module(&symbol)) {
            return Some(Place { files: vec![file.path.clone()], rest: vec![name.to_owned()] });
        }
        self.project().locate(file.family, &file.path, name).filter(|_| file.family == Family::Rust)
    }

    /// A variable of another module that an import names.
    fn imported_value(&self, site: &Site, name: &str) -> Inferred {
        let file = &site.file;
        for import in
            file.facts.imports.iter().filter(|import| import.local == name && !import.module.is_empty())
        {
            let Some(of) = &import.name else { continue };
            if let Some(place) = self.project().locate(file.family, &file.path, &import.module) {
                return self.variable(site, &place, of);
            }
        }
        UNKNOWN
    }

    /// A variable at the top of a module, or one that it gives on.
    fn variable(&self, site: &Site, place: &Place, name: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        for path in place.files.iter().take(64) {
            let Some(file) = self.file(path) else { continue };
            let binding =
                file.facts.bindings.iter().find(|binding| binding.scope.is_none() && binding.name == name);
            if let Some(binding) = binding {
                let at = Site {
                    file: Rc::clone(&file),
                    from: None,
                    line: binding.line.saturating_sub(1),
                    depth: site.depth,
                };
                return self.declared(&at, &binding.value);
            }
            let at = Site { file: Rc::clone(&file), from: None, line: 1, depth: site.depth };
            let (value, sure) = self.imported_value(&at, name);
            if !matches!(value, Value::Unknown) {
                return (value, sure);
            }
        }
        UNKNOWN
    }

    /// A field of a type or of its bases.
    fn field(&self, site: &Site, of: &Symbol, name: &str) -> Option<Inferred> {
        let site = site.deeper()?;
        let file = self.file(&of.rel_path)?;
        let place = file.place_of(of)?;
        let binding =
            file.facts.bindings.iter().find(|binding| binding.scope == Some(place) && binding.name == name);
        if let Some(binding) = binding {
            // A field that a method made is evaluated in that method.
            let maker = file.symbols.iter().rposition(|symbol| {
                matches!(symbol.kind.as_str(), "method" | "constructor" | "function")
                    && (symbol.start_line..=symbol.end_line).contains(&binding.line)
            });
            let from = maker.and_then(|at| u32::try_from(at).ok()).or(Some(place));
            let at = Site { file: Rc::clone(&file), from, line: binding.line, depth: site.depth };
            return Some(self.declared(&at, &binding.value));
        }
        self.bases(of, site.depth)
            .iter()
            .filter(|base| base.symbol_id != of.symbol_id)
            .find_map(|base| self.field(&site, base, name))
    }

    /// A name in a value.
    fn member(&self, site: &Site, (value, sure): Inferred, name: &str) -> Inferred {
        match value {
            Value::Module(place, module) => {
                let found = self.in_place(&place, name, site.depth);
                if !found.is_empty() {
                    if found.iter().all(|symbol| symbol.kind == "constant") {
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
                    _ => self.variable(site, &place, name),
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

    /// What a call gives.
    fn called(&self, site: &Site, (value, sure): Inferred) -> Inferred {
        match value {
            Value::Type(of) => (Value::Instance(vec![of], Hold::Is), sure),
            Value::Maker(of) => (Value::Instance(vec![of], Hold::Loose), sure * 0.9),
            Value::Instance(types, Hold::Loose) => (Value::Instance(types, Hold::Loose), sure),
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
    fn returned(&self, site: &Site, function: &Symbol) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        if matches!(function.kind.as_str(), "constructor") {
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

/// What a definition is as a value.
fn as_value(named: Named) -> Inferred {
    match named {
        Named::Known(symbols, sure) => {
            let first = symbols.first().cloned();
            match first {
                Some(of) if is_type(&of) || of.kind == "type" => (Value::Type(of), sure),
                Some(_) => (Value::Function(symbols), sure),
                None => UNKNOWN,
            }
        }
        Named::Module(place, module) => (Value::Module(place, module), 0.95),
        Named::Outside => (Value::Outside, 0.0),
        Named::Unknown => UNKNOWN,
    }
}

/// Says whether a definition belongs to something, so that a call through a value can mean it.
pub(super) fn has_owner(symbol: &Symbol) -> bool {
    scope(symbol).is_some()
}
