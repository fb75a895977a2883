//! What the parameters of a function are that is passed on: by what takes it.
//!
//! `symbols/callbacks.rs` writes down from where (`~1/0=app.get`); here the place is followed through the declarations of
//! who takes the function: its parameters, aliases, interfaces with a signature, fields of objects. No inference over type
//! arguments: a parameter whose type is one of those stays unknown.

use std::rc::Rc;

use super::Binding;
use super::infer::{Hold, Inferred, UNKNOWN, Value};
use super::lookup::Lookup;
use super::names::{Named, Site, last};
use super::project::Family;
use super::types::{function_type, generic, parts_of};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

/// Types that are, for who looks for a function in them, what they are made of.
const THROUGH: &[&str] = &[
    "Awaited",
    "Exclude",
    "Extract",
    "NoInfer",
    "NonNullable",
    "Omit",
    "Partial",
    "Pick",
    "Promise",
    "PromiseLike",
    "Readonly",
    "Required",
    "ThisType",
];

impl Lookup<'_> {
    /// A parameter of a function that is passed on.
    pub(super) fn handed(&self, site: &Site, handed: &str) -> Inferred {
        let Some(at) = handed.find(['=', ':']) else { return UNKNOWN };
        let (path, source) = (&handed[..at], &handed[at + 1..]);
        let path: Vec<&str> = path.split('/').filter(|step| !step.is_empty()).collect();
        if handed.as_bytes()[at] == b':' {
            return self.typed(site, source, &path);
        }
        let (source, given) = match source.split_once(':') {
            Some((source, given)) => (source, Some(given)),
            None => (source, None),
        };
        let Some((argument, path)) = path.split_first() else { return UNKNOWN };
        let Ok(argument) = argument.parse::<usize>() else { return UNKNOWN };
        let (value, sure) = self.value_of(site, source);
        let takers = match value {
            Value::Function(functions) => functions,
            Value::Type(of) => {
                let takers = self.members(&of, "constructor", site.depth);
                let found =
                    takers.iter().find_map(|taker| self.taken_by_base(site, &of, taker, argument, path));
                if let Some((value, inner)) = found {
                    return (value, inner.min(sure));
                }
                takers
            }
            Value::Instance(types, Hold::Is) => types,
            _ => Vec::new(),
        };
        for taker in takers.iter().take(8) {
            let found = given.and_then(|given| self.taken_given(site, taker, argument, path, given));
            let (value, inner) = found.unwrap_or_else(|| self.taken(site, taker, argument, path));
            if !matches!(value, Value::Unknown) {
                return (value, inner.min(sure));
            }
        }
        self.element_handed(site, source, argument, path)
    }

    /// What the library's own functions hand over: an element of what they are called on.
    fn element_handed(&self, site: &Site, source: &str, argument: usize, path: &[&str]) -> Inferred {
        let Some((receiver, method)) = source.rsplit_once('.') else { return UNKNOWN };
        let is_element = match site.file.family {
            Family::Rust => gives_element(method, argument, path),
            _ => matches!(
                (method, argument, path),
                (
                    "forEach"
                        | "map"
                        | "filter"
                        | "find"
                        | "findLast"
                        | "findIndex"
                        | "some"
                        | "every"
                        | "flatMap"
                        | "then",
                    0,
                    ["0"]
                ) | ("sort" | "toSorted", 0, ["0" | "1"])
                    | ("reduce" | "reduceRight", 0, ["1"])
            ),
        };
        if !is_element {
            return UNKNOWN;
        }
        match self.value_of(site, receiver) {
            (Value::Instance(types, Hold::Holds | Hold::Loose), sure) => {
                (Value::Instance(types, Hold::Loose), sure)
            }
            _ => UNKNOWN,
        }
    }

    /// What lies at the end of a path in an argument of a function, or of something that can be called.
    fn taken(&self, site: &Site, taker: &Symbol, argument: usize, path: &[&str]) -> Inferred {
        let Some(at) = self.site_of(site, taker) else { return UNKNOWN };
        for binding in at.file.facts.bindings.iter().filter(|binding| binding.scope == at.from) {
            let Some(place) = binding.name.strip_prefix('#') else { continue };
            let found = match place.strip_suffix('+') {
                Some(first) if first.parse().is_ok_and(|first: usize| first <= argument) => {
                    let each = binding.value.trim();
                    let each = each.strip_suffix("[]").or_else(|| generic(each)?.1).unwrap_or(each);
                    self.typed(&at, each, path)
                }
                None if place.parse() == Ok(argument) => self.typed(&at, &binding.value, path),
                _ => continue,
            };
            if !matches!(found.0, Value::Unknown) {
                return found;
            }
        }
        if taker.kind == SymbolKind::Interface {
            for base in self.bases(taker, at.depth) {
                let found = self.taken(&at, &base, argument, path);
                if !matches!(found.0, Value::Unknown) {
                    return found;
                }
            }
        }
        UNKNOWN
    }

    /// What lies at the end of a path in a written type. The path's last step is a parameter's place.
    pub(super) fn typed(&self, site: &Site, text: &str, path: &[&str]) -> Inferred {
        let Some(site) = site.deeper() else { return UNKNOWN };
        let text = text.trim_start_matches([':', ' ']).trim_start_matches("readonly ").trim();
        for separator in ['|', '&'] {
            let parts = parts_of(text, separator);
            if parts.len() > 1 {
                return self.first_of(parts.iter().map(|part| self.typed(&site, part, path)));
            }
        }
        if let Some((parameters, result)) = function_type(text) {
            return match path {
                ["()", rest @ ..] => self.typed(&site, result, rest),
                [place] => {
                    let place = place.parse().unwrap_or(usize::MAX);
                    parameters.get(place).map_or(UNKNOWN, |of| self.declared(&site, of))
                }
                _ => UNKNOWN,
            };
        }
        if let Some(inner) = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
            return self.typed(&site, inner, path);
        }
        let Some((step, rest)) = path.split_first() else { return self.declared(&site, text) };
        if let Some(element) = text.strip_suffix("[]") {
            return if *step == "[]" { self.typed(&site, element, rest) } else { UNKNOWN };
        }
        let Some((name, of)) = generic(text) else { return UNKNOWN };
        if let Some(of) = of {
            if THROUGH.contains(&name) {
                return self.typed(&site, parts_of(of, ',').first().copied().unwrap_or(of), path);
            }
            if matches!(name, "Array" | "ReadonlyArray") && *step == "[]" {
                return self.typed(&site, of, rest);
            }
        }
        let (qualifier, name) = match name.rsplit_once('.') {
            Some((qualifier, name)) => (Some(qualifier), name),
            None => (None, name),
        };
        match self.find_type(&site, qualifier, name) {
            Named::Known(types, _) => {
                self.first_of(types.iter().take(8).map(|of| self.inside(&site, of, path)))
            }
            _ => UNKNOWN,
        }
    }

    /// What lies at the end of a path in a type.
    fn inside(&self, site: &Site, of: &Rc<Symbol>, path: &[&str]) -> Inferred {
        let Some(at) = self.site_of(site, of) else { return UNKNOWN };
        let named = |name: &str| {
            at.file
                .facts
                .bindings
                .iter()
                .find(|binding| binding.scope == at.from && binding.name == name)
                .map(|binding| binding.value.as_str())
        };
        if let Some(text) = named(Binding::ALIASED) {
            let found = self.typed(&at, text, path);
            if !matches!(found.0, Value::Unknown) {
                return found;
            }
        }
        let found = match path {
            [] => return (Value::Instance(vec![Rc::clone(of)], Hold::Is), 0.95),
            ["()", rest @ ..] => named(Binding::RETURNED).map(|text| self.typed(&at, text, rest)),
            [place] => named(&format!("#{place}")).map(|text| self.declared(&at, text)),
            [field, rest @ ..] => named(field).map(|text| self.typed(&at, text, rest)).or_else(|| {
                let methods = self.members(of, field, at.depth);
                let found = methods.iter().map(|method| self.inside(&at, method, rest));
                Some(self.first_of(found))
            }),
        };
        match found {
            Some(found) if !matches!(found.0, Value::Unknown) => found,
            _ => self.first_of(self.bases(of, at.depth).iter().map(|base| self.inside(&at, base, path))),
        }
    }

    /// What calling a value of a type gives, where the type says so.
    pub(super) fn result_of(&self, site: &Site, of: &Rc<Symbol>) -> Inferred {
        if matches!(of.kind, SymbolKind::Interface | SymbolKind::Type) {
            self.inside(site, of, &["()"])
        } else {
            UNKNOWN
        }
    }

    /// What an alias of a type stands for.
    pub(super) fn aliased(&self, site: &Site, alias: &Symbol) -> Inferred {
        let Some(at) = self.site_of(site, alias) else { return UNKNOWN };
        let is_it = |binding: &&Binding| binding.scope == at.from && binding.name == Binding::ALIASED;
        match at.file.facts.bindings.iter().find(is_it) {
            Some(binding) => self.declared(&at, &binding.value),
            None => UNKNOWN,
        }
    }

    /// What a parameter of a generic definition around extends.
    pub(super) fn extended(&self, site: &Site, name: &str) -> Option<Inferred> {
        let file = &site.file;
        file.around(site.from).find_map(|at| {
            let is_it = |binding: &&Binding| binding.scope == Some(at) && binding.name == name;
            let of = file.facts.bindings.iter().filter(is_it);
            let of = of.filter_map(|binding| binding.value.strip_prefix("extends ")).next()?;
            Some(self.declared(&Site { from: Some(at), ..site.clone() }, of))
        })
    }

    /// A field of a base whose type is one of the base's parameters: what the type gives for it.
    pub(super) fn field_of_parameter(
        &self,
        site: &Site,
        of: &Symbol,
        base: &Symbol,
        name: &str,
    ) -> Option<Inferred> {
        let written = self.said(base, name)?;
        self.given_to_base(site, of, base, written.trim_start_matches([':', ' ']))
    }

    /// A parameter of a base's constructor whose type is one of the base's parameters.
    fn taken_by_base(
        &self,
        site: &Site,
        of: &Symbol,
        constructor: &Symbol,
        argument: usize,
        path: &[&str],
    ) -> Option<Inferred> {
        let base =
            self.owner_type(constructor).filter(|base| base.symbol_id != of.symbol_id && path.is_empty())?;
        let written = self.said(constructor, &format!("#{argument}"))?;
        self.given_to_base(site, of, &base, &written)
    }

    /// What a type gives its base for one of the base's parameters.
    fn given_to_base(&self, site: &Site, of: &Symbol, base: &Symbol, written: &str) -> Option<Inferred> {
        if Family::of(&base.language) != Family::Script {
            return None;
        }
        let place = self.place_of_parameter(base, written)?;
        let given = self.said(of, &format!("<{}", last(&base.qualified_name)))?;
        let given = given.strip_suffix('>').unwrap_or(&given);
        let from = self.site_of(site, of)?;
        let found = self.declared(&from, parts_of(given, ',').get(place)?);
        (!matches!(found.0, Value::Unknown | Value::Outside)).then_some(found)
    }

    /// The same of a function that is called: what the call gives for a parameter of its type.
    fn taken_given(
        &self,
        site: &Site,
        taker: &Symbol,
        argument: usize,
        path: &[&str],
        given: &str,
    ) -> Option<Inferred> {
        let takes = self.said(taker, &format!("#{argument}"))?;
        let wanted = match path {
            [] => takes.as_str(),
            [place] => function_type(&takes)?.0.get(place.parse::<usize>().ok()?).copied()?,
            _ => return None,
        };
        let place = match given.strip_prefix('<') {
            Some(_) => self.place_of_parameter(taker, wanted)?,
            // By the place that it has in what the function returns.
            None => {
                self.place_of_parameter(taker, wanted)?;
                let returned = self.said(taker, Binding::RETURNED)?;
                let (of, arguments) = generic(returned.trim_start_matches([':', ' ']))?;
                let same = generic(given)?.0.rsplit('.').next() == of.rsplit('.').next();
                parts_of(arguments?, ',').iter().position(|part| *part == wanted).filter(|_| same)?
            }
        };
        let arguments = given.split_once('<')?.1;
        let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
        let found = self.declared(site, parts_of(arguments, ',').get(place)?);
        (!matches!(found.0, Value::Unknown | Value::Outside)).then_some(found)
    }

    fn place_of_parameter(&self, of: &Symbol, name: &str) -> Option<usize> {
        self.said(of, Binding::PARAMETERS)?.split(',').position(|parameter| parameter == name)
    }

    /// What a file says of something of a definition.
    pub(super) fn said(&self, of: &Symbol, name: &str) -> Option<String> {
        let file = self.file(&of.rel_path)?;
        let place = file.place_of(of)?;
        let is_it = |binding: &&Binding| binding.scope == Some(place) && binding.name == name;
        file.facts.bindings.iter().find(is_it).map(|binding| binding.value.clone())
    }

    /// A definition as a place to look from.
    fn site_of(&self, site: &Site, of: &Symbol) -> Option<Site> {
        let depth = site.deeper()?.depth;
        let file = self.file(&of.rel_path)?;
        let place = file.place_of(of)?;
        Some(Site { file, from: Some(place), line: of.start_line, depth })
    }

    fn first_of(&self, found: impl Iterator<Item = Inferred>) -> Inferred {
        let mut found = found;
        found.find(|(value, _)| !matches!(value, Value::Unknown | Value::Outside)).unwrap_or(UNKNOWN)
    }
}

/// Says whether a method of Rust's iterators, options and results hands an element of theirs to a closure.
fn gives_element(method: &str, argument: usize, path: &[&str]) -> bool {
    match (argument, path) {
        (0, ["0"]) => matches!(
            method,
            "all"
                | "and_then"
                | "any"
                | "filter"
                | "filter_map"
                | "find"
                | "find_map"
                | "flat_map"
                | "for_each"
                | "inspect"
                | "is_none_or"
                | "is_ok_and"
                | "is_some_and"
                | "map"
                | "map_while"
                | "max_by"
                | "max_by_key"
                | "min_by"
                | "min_by_key"
                | "partition"
                | "position"
                | "retain"
                | "retain_mut"
                | "rposition"
                | "skip_while"
                | "sort_by"
                | "sort_by_key"
                | "sort_by_cached_key"
                | "sort_unstable_by"
                | "sort_unstable_by_key"
                | "take_while"
        ),
        (0, ["1"]) => matches!(method, "max_by" | "min_by" | "sort_by" | "sort_unstable_by"),
        (1, ["0"]) => matches!(method, "map_or" | "map_or_else"),
        (1, ["1"]) => matches!(method, "fold" | "try_fold"),
        _ => false,
    }
}
