//! What an expression is: types by what is written at variables, parameters, fields and results.
//!
//! No unification and no flow: a chain is followed step by step through declarations, and the first step that nobody
//! declares ends it with "unknown".

use std::rc::Rc;

use super::Binding;
use super::lookup::Lookup;
use super::names::{Named, Site, Wanted, is_type, last, scope};
use super::project::{Family, Place};
use crate::store::Symbol;
use crate::symbols::SymbolKind;
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

pub(super) const UNKNOWN: Inferred = (Value::Unknown, 0.0);

impl Lookup<'_> {
    /// What a chain is at a site.
    pub(super) fn value_of(&self, site: &Site, text: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        let steps = chain::steps(text);
        let Some((mut value, mut at)) = self.head(&site, &steps) else { return UNKNOWN };
        // What a method was asked of, for those that give it back.
        let mut of = UNKNOWN;
        while at < steps.len() {
            value = match (steps[at], value) {
                (Step::Name(name), (Value::Instance(types, Hold::Is), sure))
                    if site.file.family == Family::Rust
                        && is_same(name)
                        && steps.get(at + 1) == Some(&Step::Call)
                        && types.iter().all(|of| self.members(of, name, site.depth).is_empty()) =>
                {
                    at += 1;
                    (Value::Instance(types, Hold::Is), sure)
                }
                (Step::Name(name), value) => {
                    of = value.clone();
                    self.member(&site, value, name)
                }
                (Step::Call, (Value::Function(functions), _))
                    if matches!(of.0, Value::Instance(_, Hold::Is)) && self.gives_itself(&functions) =>
                {
                    of.clone()
                }
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

    /// Says whether methods are declared to return what they were called on: `this`.
    fn gives_itself(&self, functions: &[Rc<Symbol>]) -> bool {
        functions.first().is_some_and(|function| {
            Family::of(&function.language) == Family::Script
                && self.file(&function.rel_path).is_some_and(|file| {
                    let place = file.place_of(function);
                    file.facts.bindings.iter().any(|binding| {
                        binding.scope == place
                            && binding.name == Binding::RETURNED
                            && binding.value.trim_start_matches([':', ' ']) == "this"
                    })
                })
        })
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

    /// What a name stands for in its scope.
    pub(super) fn name_value(&self, site: &Site, name: &str) -> Inferred {
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
            // `const run = () => …` is a definition, and bound to nothing that says more.
            let is_it = |symbol: &&Rc<Symbol>| {
                symbol.start_line == binding.line
                    && symbol.kind == SymbolKind::Function
                    && last(&symbol.qualified_name) == name
            };
            return match file.symbols.iter().find(is_it).filter(|_| binding.value == "=") {
                Some(function) => (Value::Function(vec![Rc::clone(function)]), 0.95),
                None => self.bound_value(site, binding, owner),
            };
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
                None => match self.imported_value(site, name) {
                    (Value::Unknown, _) => self.macro_named(site, name),
                    found => found,
                },
            },
            // A constant stands for what it was made of.
            Named::Known(symbols, sure)
                if symbols.iter().all(|symbol| symbol.kind == SymbolKind::Constant) =>
            {
                self.constant(site, &symbols, sure)
            }
            other => as_value(other),
        }
    }

    /// A macro of Rust: an import names it where its module gives nothing of that name.
    pub(super) fn macro_named(&self, site: &Site, name: &str) -> Inferred {
        if site.file.family != Family::Rust {
            return UNKNOWN;
        }
        match self.find(site, name, Wanted::Macro) {
            Named::Known(macros, sure) if macros.iter().all(|of| of.kind == SymbolKind::Macro) => {
                (Value::Function(macros), sure)
            }
            _ => UNKNOWN,
        }
    }

    /// The binding of a name that is seen at a site.
    pub(super) fn bound<'f>(&self, site: &'f Site, name: &str) -> Option<(&'f Binding, Option<u32>)> {
        let file = &site.file;
        // A parameter of a function without a name is seen below the line that it begins in, or in its only line; in the
        // first line of several when nothing else has its name.
        let is_seen = |binding: &&Binding| {
            binding.until.is_none_or(|until| {
                site.line <= until
                    && (site.line > binding.line || until == binding.line && site.line == binding.line)
            })
        };
        let begins_here = |binding: &&Binding| {
            file.family == Family::Rust && binding.until.is_some() && site.line == binding.line
        };
        let bindings = || file.facts.bindings.iter().filter(|binding| binding.name == name).filter(is_seen);
        for at in file.around(site.from) {
            if is_type(&file.symbols[at as usize]) {
                continue;
            }
            // The last one above the site; below it when the name is used in a closure before.
            let inside = || bindings().filter(|binding| binding.scope == Some(at));
            // What a variable is made of, in its own line, is outside of it.
            let above = inside().rfind(|binding| {
                binding.line < site.line || (binding.line == site.line && !is_of_itself(binding))
            });
            let is_hoisted = |binding: &&Binding| {
                let needs_order = matches!(file.family, Family::Rust | Family::Go | Family::C);
                !(is_of_itself(binding) || needs_order && binding.value.starts_with('='))
            };
            if let Some(binding) = above.or_else(|| inside().find(is_hoisted)) {
                return Some((binding, Some(at)));
            }
        }
        let top = || bindings().filter(|binding| binding.scope.is_none());
        let found = top()
            .rfind(|binding| binding.until.is_some())
            .or_else(|| top().find(|binding| binding.value != "="));
        if let Some(binding) = found {
            return Some((binding, None));
        }
        let mut named = file.facts.bindings.iter().filter(|binding| binding.name == name);
        named.rfind(begins_here).map(|binding| (binding, binding.scope))
    }

    /// Says whether a name is a local variable that nothing more is known about.
    pub(super) fn is_local(&self, site: &Site, name: &str) -> bool {
        self.bound(site, name).is_some_and(|(_, scope)| scope.is_some())
    }

    pub(super) fn bound_value(&self, site: &Site, binding: &Binding, owner: Option<u32>) -> Inferred {
        // Evaluated where it is written, just before its own line: `x = x.next()` means another x.
        let line = binding.line.saturating_sub(u32::from(binding.value.starts_with('=')));
        let at = Site { from: owner, line, ..site.clone() };
        self.declared(&at, &binding.value)
    }

    /// A module or namespace of the file itself, or a crate that needs no import.
    pub(super) fn inner_module(&self, site: &Site, name: &str) -> Option<Place> {
        let file = &site.file;
        if !matches!(file.family, Family::Rust | Family::C | Family::CSharp | Family::Php) {
            return None;
        }
        let is_module = |symbol: &&Rc<Symbol>| {
            matches!(symbol.kind, SymbolKind::Module | SymbolKind::Namespace)
                && last(&symbol.qualified_name) == name
        };
        let declared = file.symbols.iter().find(is_module);
        if let Some(declared) = declared
            && file.family == Family::Rust
            && declared.start_line == declared.end_line
            && let Some(place) = self.project().locate(file.family, &file.path, name)
        {
            // `mod name;`: it lies elsewhere.
            return Some(place);
        }
        if declared.is_some() {
            return Some(Place { files: vec![file.path.clone()], rest: vec![name.to_owned()] });
        }
        self.project().locate(file.family, &file.path, name).filter(|_| file.family == Family::Rust)
    }

    /// A variable of another module that an import names.
    pub(super) fn imported_value(&self, site: &Site, name: &str) -> Inferred {
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
    pub(super) fn variable(&self, site: &Site, place: &Place, name: &str) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        for path in place.files.iter().take(64) {
            let Some(file) = self.file(path) else { continue };
            let is_it = |binding: &&Binding| {
                binding.scope.is_none() && binding.name == name && binding.until.is_none()
            };
            let binding = file.facts.bindings.iter().find(is_it);
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
}

/// Methods of Rust's library that give a value of the type that they are called on.
fn is_same(name: &str) -> bool {
    matches!(name, "clone" | "to_owned" | "as_ref" | "as_mut" | "borrow" | "borrow_mut" | "by_ref" | "to_mut")
}

/// Says whether a name is made of what had the name before: `let x = x.next()`.
fn is_of_itself(binding: &Binding) -> bool {
    let made = binding.value.strip_prefix('=').and_then(|chain| chain.strip_prefix(binding.name.as_str()));
    made.is_some_and(|rest| rest.starts_with(['.', '(', '[', '?']))
}

/// What a definition is as a value.
pub(super) fn as_value(named: Named) -> Inferred {
    match named {
        Named::Known(symbols, sure) => {
            let first = symbols.first().cloned();
            match first {
                // A type and a function of one name: what has a value is meant.
                Some(of)
                    if matches!(of.kind, SymbolKind::Interface | SymbolKind::Type)
                        && symbols.iter().any(|symbol| symbol.kind == SymbolKind::Function) =>
                {
                    let functions =
                        symbols.into_iter().filter(|symbol| symbol.kind == SymbolKind::Function).collect();
                    (Value::Function(functions), sure)
                }
                Some(of) if is_type(&of) || of.kind == SymbolKind::Type => (Value::Type(of), sure),
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
