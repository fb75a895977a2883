//! One method in many types: who implements what is called, and what it implements itself.

use std::rc::Rc;

use super::infer::{Hold, has_owner};
use super::lookup::Lookup;
use super::project::Family;
use super::resolve::Target;
use crate::store::{EdgeKind, Symbol};
use crate::symbols::SymbolKind;

/// How sure it is that a call through a base is one of what overrides it, in languages whose servers say so.
const INHERITED: f32 = 0.85;

/// The same where the value came out of a container.
const LOOSE: f32 = 0.8;

/// How sure it is of others that override the same.
const SIBLING: f32 = 0.3;

/// How sure it is that a call through an interface of Go is one of what meets it, and the other way.
const DISPATCHED: f32 = 0.84;

/// A name that so many things have is no interface's.
const MOST_IMPLEMENTED: usize = 60;

/// The same where every class of a library overrides one method.
pub(super) const MOST_OVERRIDES: usize = 400;

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
        if is_go(of) {
            let found = known.iter().flat_map(|target| self.meeting(&target.symbol, name)).collect();
            return dynamic(found, known, dispatched(known));
        }
        let is_open = |symbol: &Rc<Symbol>| {
            matches!(symbol.kind, SymbolKind::Interface | SymbolKind::Trait | SymbolKind::Class)
        };
        let Some(open) = of.iter().find(|symbol| is_open(symbol)) else {
            return self.objects(of, hold, name, known);
        };
        let family = Family::of(&open.language);
        let named = self.named(name);
        let is_script = family == Family::Script;
        if named.len() > if is_script { MOST_OVERRIDES } else { MOST_IMPLEMENTED } {
            return Vec::new();
        }
        let implements = |symbol: &Rc<Symbol>| {
            let Some(owner) = self.owner_type(symbol) else { return false };
            if is_script {
                return of.iter().any(|open| self.descends(&owner, open));
            }
            self.bases(&owner, 3).iter().any(|base| base.symbol_id == open.symbol_id)
        };
        let found: Vec<Rc<Symbol>> = named
            .iter()
            .filter(|symbol| is_one_of_many(symbol, family) && !is_known(known, symbol))
            .filter(|symbol| implements(symbol))
            .cloned()
            .collect();
        let each = match found.len() {
            _ if is_script && hold == Hold::Is => INHERITED,
            1 => 0.4,
            count => (0.5 / count.max(1) as f32).clamp(0.05, 0.3),
        };
        let mut targets = dynamic(found, known, each);
        targets.extend(self.objects(of, hold, name, known));
        targets
    }

    /// The same member in objects that are one of these types.
    pub(super) fn objects(&self, of: &[Rc<Symbol>], hold: Hold, name: &str, known: &[Target]) -> Vec<Target> {
        let each = if hold == Hold::Is { INHERITED } else { LOOSE };
        dynamic(self.in_objects(of, name), known, each)
    }

    /// The same method of what these types implement: who asks for the interface's callers means these too.
    pub(super) fn declarations(
        &self,
        of: &[Rc<Symbol>],
        hold: Hold,
        name: &str,
        known: &[Target],
    ) -> Vec<Target> {
        if is_go(of) {
            let found = of.iter().flat_map(|of| self.met_by(of, name)).collect();
            return dynamic(found, known, dispatched(known));
        }
        let is_script = of.first().is_some_and(|of| Family::of(&of.language) == Family::Script);
        let is_open =
            |base: &Rc<Symbol>| is_script || matches!(base.kind, SymbolKind::Interface | SymbolKind::Trait);
        let bases: Vec<Rc<Symbol>> = match is_script {
            true => of.iter().flat_map(|of| self.ancestors(of)).collect(),
            false => of.iter().flat_map(|of| self.bases(of, 1)).collect(),
        };
        let open = bases.iter().filter(|base| is_open(base));
        let found = open.flat_map(|base| self.members(base, name, 1)).collect();
        let is_rust = of.first().is_some_and(|of| Family::of(&of.language) == Family::Rust);
        dynamic(found, known, if (is_script || is_rust) && hold == Hold::Is { INHERITED } else { 0.4 })
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
            .filter(|symbol| is_one_of_many(symbol, Family::Script) && !is_known(known, symbol))
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

/// Says whether a definition can be the same method of another type.
pub(super) fn is_one_of_many(symbol: &Symbol, family: Family) -> bool {
    has_owner(symbol) && Family::of(&symbol.language) == family && symbol.kind != SymbolKind::Impl
}

fn is_go(of: &[Rc<Symbol>]) -> bool {
    of.first().is_some_and(|of| Family::of(&of.language) == Family::Go)
}

/// As sure as the method that is known, up to what was measured.
fn dispatched(known: &[Target]) -> f32 {
    known.iter().map(|target| target.confidence).fold(DISPATCHED, f32::min)
}

fn is_known(known: &[Target], symbol: &Symbol) -> bool {
    known.iter().any(|target| target.symbol.symbol_id == symbol.symbol_id)
}

/// Definitions that can be meant besides what is known, each once.
fn dynamic(found: Vec<Rc<Symbol>>, known: &[Target], confidence: f32) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    for symbol in found {
        if !is_known(known, &symbol) && !is_known(&targets, &symbol) {
            targets.push(Target { symbol, kind: EdgeKind::Dynamic, confidence });
        }
    }
    targets
}
