//! What imports and modules give: definitions behind re-exports, packages and folders.

use std::rc::Rc;

use super::Import;
use super::lookup::{File, Lookup};
use super::names::{DEPTH, Named, distinct, in_type, last, scope};
use super::project::{Family, Place};
use crate::store::Symbol;
use crate::symbols::SymbolKind;

impl Lookup<'_> {
    /// What an import means: the definitions that it names, or a module.
    pub(super) fn imported(&self, file: &File, import: &Import, depth: u8) -> Named {
        if depth >= DEPTH {
            return Named::Unknown;
        }
        if import.module.is_empty() {
            // A name given on by the file itself.
            let Some(name) = &import.name else { return Named::Unknown };
            let found = self.defined_in(&file.path, name);
            if !found.is_empty() {
                return Named::Known(found, 0.95);
            }
            let other =
                file.facts.imports.iter().find(|other| other.local == *name && other.module != import.module);
            return other.map_or(Named::Unknown, |other| self.imported(file, other, depth + 1));
        }
        let project = self.project();
        let place = project.locate(file.family, &file.path, &import.module);
        let Some(name) = import.name.as_deref().filter(|name| *name != "*") else {
            return place.map_or(Named::Outside, |place| Named::Module(place, import.module.clone()));
        };
        let inner = match file.family {
            Family::Rust => format!("{}::{name}", import.module),
            _ if import.module.ends_with('.') => format!("{}{name}", import.module),
            _ => format!("{}.{name}", import.module),
        };
        if let Some(place) = &place {
            let found = self.in_place(place, name, depth + 1);
            if !found.is_empty() {
                return Named::Known(found, 0.95);
            }
        }
        // `from package import module`, `use crate::module`.
        if matches!(file.family, Family::Python | Family::Rust)
            && let Some(module) = project.locate(file.family, &file.path, &inner)
            && module.rest.is_empty()
        {
            return Named::Module(module, inner);
        }
        match place {
            // The whole module under a name of its own: `import React from 'react'`.
            Some(place) if name == "default" => Named::Module(place, import.module.clone()),
            // It is there, but it is no definition that we know.
            Some(_) => Named::Unknown,
            None if file.family == Family::CSharp => Named::Unknown,
            None => Named::Outside,
        }
    }

    /// The definitions of a name that a module gives to others: its own, or those it takes from elsewhere.
    pub(super) fn in_place(&self, place: &Place, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        if depth >= DEPTH {
            return Vec::new();
        }
        // Modules that give each other's names on are asked once, a circle included.
        let key = (place.clone(), name.to_owned());
        if let Some(known) = self.given(&key) {
            return known.to_vec();
        }
        let found = self.given_by(place, name, depth);
        self.remember(key, &found);
        found
    }

    pub(super) fn given_by(&self, place: &Place, name: &str, depth: u8) -> Vec<Rc<Symbol>> {
        let own: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| {
                symbol.kind != SymbolKind::Impl && place.files.binary_search(&symbol.rel_path).is_ok()
            })
            .filter(|symbol| match (place.rest.last(), scope(symbol)) {
                (Some(inside), Some(around)) => last(around) == inside,
                (Some(_), None) => false,
                (None, None) => true,
                (None, Some(around)) => {
                    // A namespace is no wall; a type and a function are. What `exports` has is given.
                    matches!(last(around), "exports")
                        || self.file(&symbol.rel_path).is_some_and(|file| !in_type(&file, symbol))
                }
            })
            .cloned()
            .collect();
        if !own.is_empty() {
            return distinct(own);
        }
        for path in place.files.iter().take(64) {
            let Some(file) = self.file(path) else { continue };
            if let Some(inside) = place.rest.first() {
                // A type that the module takes from elsewhere.
                let through =
                    file.facts.imports.iter().filter(|import| import.local == *inside || import.local == "*");
                for import in through {
                    let module = match &import.name {
                        _ if import.local == "*" => format!("{}::{inside}", import.module),
                        Some(of) => format!("{}::{of}", import.module),
                        // A whole crate under another name.
                        None => import.module.clone(),
                    };
                    if let Some(place) = self.project().locate(file.family, path, &module) {
                        let found = self.in_place(&place, name, depth + 1);
                        if !found.is_empty() {
                            return found;
                        }
                    }
                }
                continue;
            }
            // Go's and C's files do not give their imports on.
            if matches!(file.family, Family::Go | Family::Java | Family::C) {
                continue;
            }
            for import in file.facts.imports.iter().filter(|import| import.local == name) {
                if let Named::Known(found, _) = self.imported(&file, import, depth + 1) {
                    return found;
                }
            }
            for import in
                file.facts.imports.iter().filter(|import| import.local == "*" && !import.module.is_empty())
            {
                if let Some(place) = self.project().locate(file.family, path, &import.module)
                    && !(place.files.len() == 1 && place.files[0] == *path)
                {
                    let found = self.in_place(&place, name, depth + 1);
                    if !found.is_empty() {
                        return found;
                    }
                }
            }
        }
        Vec::new()
    }

    /// Definitions of a name at the top of one file.
    pub(super) fn defined_in(&self, path: &str, name: &str) -> Vec<Rc<Symbol>> {
        let is_here = |symbol: &&Rc<Symbol>| {
            symbol.rel_path == path && symbol.kind != SymbolKind::Impl && scope(symbol).is_none()
        };
        self.named(name).iter().filter(is_here).cloned().collect()
    }
}
