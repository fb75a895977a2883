//! Interfaces of Go: nobody says that a type meets one, its methods do.

use std::rc::Rc;

use super::Binding;
use super::lookup::{File, Lookup};
use super::names::{is_type, last, scope};
use super::overrides::{MOST_OVERRIDES, is_one_of_many};
use super::project::Family;
use super::results::{Given, same_results};
use super::types::parts_of;
use crate::store::Symbol;
use crate::symbols::SymbolKind;

impl Lookup<'_> {
    /// The same method of all that meets the interface which a method is of.
    pub(super) fn meeting(&self, method: &Symbol, name: &str) -> Vec<Rc<Symbol>> {
        let Some(interface) = self.interface_of(method) else { return Vec::new() };
        self.counterparts(&interface, name, |owner| {
            owner.kind != SymbolKind::Interface && self.meets(owner, &interface)
        })
    }

    /// The same method of the interfaces that a type meets.
    pub(super) fn met_by(&self, of: &Rc<Symbol>, name: &str) -> Vec<Rc<Symbol>> {
        if of.kind == SymbolKind::Interface {
            return Vec::new();
        }
        self.counterparts(of, name, |owner| owner.kind == SymbolKind::Interface && self.meets(of, owner))
    }

    fn interface_of(&self, method: &Symbol) -> Option<Rc<Symbol>> {
        self.owner_type(method).filter(|owner| owner.kind == SymbolKind::Interface)
    }

    /// Methods of a name whose owners pass; looked for once in a question.
    fn counterparts(&self, of: &Rc<Symbol>, name: &str, passes: impl Fn(&Symbol) -> bool) -> Vec<Rc<Symbol>> {
        let key = (of.symbol_id.clone(), name.to_owned());
        if let Some(known) = self.dispatched(&key) {
            return known.to_vec();
        }
        let named = self.named(name);
        let found: Vec<Rc<Symbol>> = if named.len() > MOST_OVERRIDES {
            Vec::new()
        } else {
            named
                .iter()
                .filter(|method| is_one_of_many(method, Family::Go))
                .filter(|method| self.owner_type(method).is_some_and(|owner| passes(&owner)))
                .cloned()
                .collect()
        };
        self.remember_dispatched(key, &found);
        found
    }

    /// Says whether a type has all methods of an interface, by their names, how many things they take and what they give.
    fn meets(&self, of: &Symbol, interface: &Symbol) -> bool {
        let wanted = self.wanted_by(interface, 0);
        !wanted.is_empty()
            && wanted.iter().all(|method| {
                let has = self.members(of, last(&method.qualified_name), 1);
                has.iter().any(|has| same_count(&has.label, &method.label) && self.give_the_same(has, method))
            })
    }

    fn give_the_same(&self, left: &Symbol, right: &Symbol) -> bool {
        let (Some(of_left), Some(of_right)) = (self.file(&left.rel_path), self.file(&right.rel_path)) else {
            return true;
        };
        same_results(&given(&of_left, left), &given(&of_right, right))
    }

    /// The methods of an interface, with those of the interfaces in it that are known.
    fn wanted_by(&self, interface: &Symbol, depth: u8) -> Vec<Rc<Symbol>> {
        let Some(file) = self.file(&interface.rel_path) else { return Vec::new() };
        let mut wanted: Vec<Rc<Symbol>> = file
            .symbols
            .iter()
            .filter(|symbol| scope(symbol) == Some(interface.qualified_name.as_str()) && !is_type(symbol))
            .cloned()
            .collect();
        if depth < 4 {
            for base in self.bases(interface, depth + 1) {
                wanted.extend(self.wanted_by(&base, depth + 1));
            }
        }
        wanted
    }
}

/// What a method says that it gives; nothing when it gives nothing.
fn given<'a>(file: &'a File, method: &Symbol) -> Given<'a> {
    let place = file.place_of(method);
    let is_its = |binding: &&Binding| binding.scope == place && binding.name == Binding::RETURNED;
    let binding = file.facts.bindings.iter().find(is_its);
    Given {
        text: binding.map(|binding| binding.value.as_str()).unwrap_or_default(),
        package: file.facts.package.as_deref().unwrap_or_default(),
    }
}

/// Says whether two methods take as many things, as far as their labels say it.
fn same_count(left: &str, right: &str) -> bool {
    match (taken(left), taken(right)) {
        (Some(left), Some(right)) => left == right,
        _ => true,
    }
}

/// How many things a label says that a function takes; nothing when the label was cut.
fn taken(label: &str) -> Option<usize> {
    let inner = label.split_once('(')?.1.strip_suffix(')')?;
    // An arrow is no bracket.
    (!inner.contains('…')).then(|| parts_of(&inner.replace("<-", ""), ',').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_method_takes_is_counted_by_its_label() {
        assert_eq!(taken("method Mux.Get(path string, fn func(a, b int) bool)"), Some(2));
        assert_eq!(taken("method Mux.Close()"), Some(0));
        assert_eq!(taken("method Mux.Watch(from <-chan int, to int)"), Some(2));
        assert_eq!(taken("method Mux.Get(path string, fn f…)"), None);
        assert!(same_count("method A.F(a, b int)", "method I.F(int, int)"));
        assert!(!same_count("method A.F(a int)", "method I.F(int, int)"));
        assert!(same_count("method A.F(a int, b…)", "method I.F(int)"));
    }
}
