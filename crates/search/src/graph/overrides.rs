//! One method in many types: who implements what is called, and what it implements itself.

use std::rc::Rc;

use super::infer::{Hold, has_owner};
use super::lookup::Lookup;
use super::names::{last, scope};
use super::project::Family;
use super::resolve::Target;
use crate::store::{EdgeKind, Symbol};
use crate::symbols::SymbolKind;

/// How sure it is that a call through a base is one of what overrides it, in languages whose servers say so.
const INHERITED: f32 = 0.85;

/// How sure it is of others that override the same.
const SIBLING: f32 = 0.3;

/// A name that so many things have is no interface's.
const MOST_IMPLEMENTED: usize = 60;

/// The same where every class of a library overrides one method.
const MOST_OVERRIDES: usize = 400;

const MOST_ANCESTORS: usize = 64;

impl Lookup<'_> {
    /// The same method of the types that implement one of these.
    pub(super) fn implementations(
        &self,
        of: &[Rc<Symbol>],
        hold: Hold,
        name: &str,
        known: &[Target],
    ) -> Vec<Target> {
        let is_open = |symbol: &Rc<Symbol>| {
            matches!(symbol.kind, SymbolKind::Interface | SymbolKind::Trait | SymbolKind::Class)
        };
        let Some(open) = of.iter().find(|symbol| is_open(symbol)) else { return Vec::new() };
        let family = Family::of(&open.language);
        let named = self.named(name);
        let is_script = family == Family::Script;
        if named.len() > if is_script { MOST_OVERRIDES } else { MOST_IMPLEMENTED } {
            return Vec::new();
        }
        let implements = |symbol: &Rc<Symbol>| {
            if family == Family::Go && open.kind == SymbolKind::Interface {
                return true;
            }
            let Some(owner) = self.owner_type(symbol) else { return false };
            if is_script {
                return of.iter().any(|open| self.descends(&owner, open));
            }
            self.bases(&owner, 3).iter().any(|base| base.symbol_id == open.symbol_id)
        };
        let found: Vec<Rc<Symbol>> = named
            .iter()
            .filter(|symbol| {
                has_owner(symbol) && Family::of(&symbol.language) == family && symbol.kind != SymbolKind::Impl
            })
            .filter(|symbol| !known.iter().any(|target| target.symbol.symbol_id == symbol.symbol_id))
            .filter(|symbol| implements(symbol))
            .cloned()
            .collect();
        let each = match found.len() {
            _ if is_script && hold == Hold::Is => INHERITED,
            1 => 0.4,
            count => (0.5 / count.max(1) as f32).clamp(0.05, 0.3),
        };
        found.into_iter().map(|symbol| Target { symbol, kind: EdgeKind::Dynamic, confidence: each }).collect()
    }

    /// The same method of what these types implement: who asks for the interface's callers means these too.
    pub(super) fn declarations(
        &self,
        of: &[Rc<Symbol>],
        hold: Hold,
        name: &str,
        known: &[Target],
    ) -> Vec<Target> {
        let mut found: Vec<Rc<Symbol>> = Vec::new();
        let is_script = of.first().is_some_and(|of| Family::of(&of.language) == Family::Script);
        let is_open =
            |base: &Rc<Symbol>| is_script || matches!(base.kind, SymbolKind::Interface | SymbolKind::Trait);
        let bases: Vec<Rc<Symbol>> = match is_script {
            true => of.iter().flat_map(|of| self.ancestors(of)).collect(),
            false => of.iter().flat_map(|of| self.bases(of, 1)).collect(),
        };
        for base in bases.iter().filter(|base| is_open(base)) {
            for member in self.members(base, name, 1) {
                let is_known = known.iter().any(|target| target.symbol.symbol_id == member.symbol_id)
                    || found.iter().any(|known| known.symbol_id == member.symbol_id);
                if !is_known {
                    found.push(member);
                }
            }
        }
        found.extend(self.satisfied(of, name));
        let each = if is_script && hold == Hold::Is { INHERITED } else { 0.4 };
        found.into_iter().map(|symbol| Target { symbol, kind: EdgeKind::Dynamic, confidence: each }).collect()
    }

    /// Go: the same method of the interfaces whose methods these types all have.
    fn satisfied(&self, of: &[Rc<Symbol>], name: &str) -> Vec<Rc<Symbol>> {
        let Some(of) = of.iter().find(|of| Family::of(&of.language) == Family::Go) else { return Vec::new() };
        let named = self.named(name);
        if of.kind == SymbolKind::Interface || named.len() > MOST_IMPLEMENTED {
            return Vec::new();
        }
        let is_met = |method: &Symbol| {
            let Some(file) = self.file(&method.rel_path) else { return false };
            let owner = scope(method);
            let mut wanted = file.symbols.iter().filter(|other| scope(other) == owner);
            wanted.all(|other| !self.members(of, last(&other.qualified_name), 1).is_empty())
        };
        named
            .iter()
            .filter(|method| Family::of(&method.language) == Family::Go && method.kind != SymbolKind::Impl)
            .filter(|method| self.owner_type(method).is_some_and(|owner| owner.kind == SymbolKind::Interface))
            .filter(|method| is_met(method))
            .cloned()
            .collect()
    }

    /// The same method of others that extend what these do: never called from here, but servers list them together, and
    /// who changes one changes the others.
    pub(super) fn siblings(&self, of: &[Rc<Symbol>], name: &str, known: &[Target]) -> Vec<Target> {
        let named = self.named(name);
        if named.len() > MOST_IMPLEMENTED
            || of.first().is_none_or(|of| Family::of(&of.language) != Family::Script)
        {
            return Vec::new();
        }
        let bases: Vec<Rc<Symbol>> = of
            .iter()
            .flat_map(|of| self.ancestors(of))
            .filter(|base| !self.members(base, name, 1).is_empty())
            .collect();
        if bases.is_empty() {
            return Vec::new();
        }
        named
            .iter()
            .filter(|symbol| has_owner(symbol) && Family::of(&symbol.language) == Family::Script)
            .filter(|symbol| !known.iter().any(|target| target.symbol.symbol_id == symbol.symbol_id))
            .filter(|symbol| {
                self.owner_type(symbol)
                    .is_some_and(|owner| bases.iter().any(|base| self.descends(&owner, base)))
            })
            .map(|symbol| Target { symbol: Rc::clone(symbol), kind: EdgeKind::Dynamic, confidence: SIBLING })
            .collect()
    }

    /// Says whether a type extends or implements another, through any number of others.
    fn descends(&self, of: &Symbol, from: &Symbol) -> bool {
        self.ancestors(of).iter().any(|base| base.symbol_id == from.symbol_id)
    }

    /// What a type extends and implements, and what those do.
    fn ancestors(&self, of: &Symbol) -> Vec<Rc<Symbol>> {
        let mut found: Vec<Rc<Symbol>> = self.bases(of, 1);
        let mut at = 0;
        while at < found.len() && found.len() < MOST_ANCESTORS {
            for base in self.bases(&found[at], 1) {
                if !found.iter().any(|known| known.symbol_id == base.symbol_id) {
                    found.push(base);
                }
            }
            at += 1;
        }
        found.retain(|base| base.symbol_id != of.symbol_id);
        found
    }
}
