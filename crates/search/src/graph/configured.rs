//! Functions of C that a file defines for one configuration and takes from elsewhere in the others.

use std::rc::Rc;

use super::Binding;
use super::lookup::{File, Lookup};
use super::names::{Site, nearest};
use super::project::Family;
use super::resolve::{Resolution, Target};
use crate::store::{EdgeKind, Symbol};

/// How sure it is that the other one is meant too, when it is one.
const CONFIGURED: f32 = 0.88;

impl Lookup<'_> {
    /// Adds the definitions of other files to one of the site's own file that is not in every configuration.
    pub(super) fn configured(&self, site: &Site, name: &str, found: Resolution) -> Resolution {
        let own = match &found {
            Resolution::Known(targets) if site.file.family == Family::C && targets.len() == 1 => {
                Rc::clone(&targets[0].symbol)
            }
            _ => return found,
        };
        if own.rel_path != site.file.path || !self.is_marked(&own, Binding::CONDITION) {
            return found;
        }
        let others: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| Family::of(&symbol.language) == Family::C && symbol.kind == own.kind)
            .filter(|symbol| symbol.rel_path != own.rel_path && !self.is_marked(symbol, Binding::OF_FILE))
            .cloned()
            .collect();
        let others = nearest(others, &site.file.path);
        let confidence = CONFIGURED / others.len().max(1) as f32;
        let mut targets = found.targets();
        targets.extend(others.into_iter().map(|symbol| Target { symbol, kind: EdgeKind::Call, confidence }));
        Resolution::Known(targets)
    }

    /// Those that a file of C can see: its own, and what others do not keep for themselves; all when that leaves none.
    pub(super) fn seen_from(&self, file: &File, symbols: Vec<Rc<Symbol>>) -> Vec<Rc<Symbol>> {
        if file.family != Family::C || symbols.len() < 2 {
            return symbols;
        }
        let is_seen =
            |symbol: &&Rc<Symbol>| symbol.rel_path == file.path || !self.is_marked(symbol, Binding::OF_FILE);
        let seen: Vec<Rc<Symbol>> = symbols.iter().filter(is_seen).cloned().collect();
        if seen.is_empty() { symbols } else { seen }
    }

    /// Says whether a mark stands at a definition.
    fn is_marked(&self, symbol: &Symbol, mark: &str) -> bool {
        self.file(&symbol.rel_path).is_some_and(|file| {
            let place = file.place_of(symbol);
            let is_it = |binding: &Binding| binding.scope == place && binding.name == mark;
            place.is_some() && file.facts.bindings.iter().any(is_it)
        })
    }
}
