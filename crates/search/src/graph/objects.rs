//! Functions in objects of scripts: `{ run: () => … }` and `it.inner.run = …` are members of what the object is.

use std::rc::Rc;

use super::Binding;
use super::infer::{Hold, Value};
use super::lookup::Lookup;
use super::names::{DEPTH, Site, scope};
use super::overrides::MOST_OVERRIDES;
use super::project::Family;
use crate::store::Symbol;

impl Lookup<'_> {
    /// The functions in objects that are the member of that name of one of these types.
    pub(super) fn in_objects(&self, of: &[Rc<Symbol>], name: &str) -> Vec<Rc<Symbol>> {
        let named = self.named(name);
        if named.len() > MOST_OVERRIDES
            || of.first().is_none_or(|of| Family::of(&of.language) != Family::Script)
        {
            return Vec::new();
        }
        let meant: Vec<String> = of.iter().filter_map(|of| self.declarer(of, name, 0)).collect();
        if meant.is_empty() {
            return Vec::new();
        }
        named
            .iter()
            .filter(|symbol| self.member_of(symbol, name).iter().any(|declarer| meant.contains(declarer)))
            .cloned()
            .collect()
    }

    /// Which types declare the member that a function in an object is; looked for once in a question.
    fn member_of(&self, symbol: &Symbol, name: &str) -> Rc<[String]> {
        if let Some(known) = self.declarers(&symbol.symbol_id) {
            return known;
        }
        let found = self.object_of(symbol).iter().filter_map(|of| self.declarer(of, name, 0)).collect();
        self.remember_declarers(&symbol.symbol_id, found)
    }

    /// The types of the object that a function is in, where something says them.
    fn object_of(&self, symbol: &Symbol) -> Vec<Rc<Symbol>> {
        let Some(file) = self.file(&symbol.rel_path) else { return Vec::new() };
        let Some(place) = file.place_of(symbol) else { return Vec::new() };
        let is_it = |binding: &&Binding| binding.scope == Some(place) && binding.name == Binding::MEMBER_OF;
        let Some(binding) = file.facts.bindings.iter().find(is_it) else { return Vec::new() };
        let from = file.parents.get(place as usize).copied().flatten();
        let site = Site { file: Rc::clone(&file), from, line: binding.line, depth: 1 };
        match self.declared(&site, &binding.value).0 {
            Value::Instance(types, Hold::Is) => types,
            _ => Vec::new(),
        }
    }

    /// The type that says of a member what it is: this one, or the nearest of its bases that has it.
    fn declarer(&self, of: &Rc<Symbol>, name: &str, depth: u8) -> Option<String> {
        if depth >= DEPTH {
            return None;
        }
        let has = |of: &Symbol| {
            self.said(of, name).is_some()
                || self.named(name).iter().any(|symbol| {
                    symbol.rel_path == of.rel_path && scope(symbol) == Some(of.qualified_name.as_str())
                })
        };
        if has(of) {
            return Some(of.symbol_id.clone());
        }
        let bases = self.bases(of, depth + 1);
        bases
            .iter()
            .filter(|base| base.symbol_id != of.symbol_id)
            .find_map(|base| self.declarer(base, name, depth + 1))
    }
}
