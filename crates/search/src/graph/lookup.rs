//! What resolution reads: definitions by name and files with their facts, each fetched once per question.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::project::{Family, Place, Project};
use crate::store::{StoreError, Symbol};
use crate::symbols::Facts;

/// Where definitions and facts come from.
pub(crate) trait Source {
    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError>;
    /// The language, the symbols in the order of the file, and the facts.
    fn file(&self, path: &str) -> Result<Option<(String, Vec<Symbol>, Facts)>, StoreError>;
    fn project(&self) -> &Project;
}

/// A file with its facts.
pub(crate) struct File {
    pub(crate) path: String,
    pub(crate) language: String,
    pub(crate) family: Family,
    pub(crate) symbols: Vec<Rc<Symbol>>,
    /// The definition around each symbol.
    pub(crate) parents: Vec<Option<u32>>,
    pub(crate) facts: Facts,
}

impl File {
    fn new(path: &str, language: String, symbols: Vec<Symbol>, facts: Facts) -> Self {
        let mut parents: Vec<Option<u32>> = Vec::with_capacity(symbols.len());
        for (at, symbol) in symbols.iter().enumerate() {
            let is_around = |other: &&usize| {
                let around: &Symbol = &symbols[**other];
                around.start_line <= symbol.start_line
                    && symbol.end_line <= around.end_line
                    && symbol
                        .qualified_name
                        .strip_prefix(around.qualified_name.as_str())
                        .is_some_and(|rest| rest.starts_with('.'))
            };
            // The nearest one before it; its ancestors are the only others that can be meant.
            let mut candidate = at.checked_sub(1);
            while let Some(other) = candidate {
                if is_around(&&other) {
                    break;
                }
                candidate = parents[other].map(|parent| parent as usize);
            }
            parents.push(candidate.and_then(|other| u32::try_from(other).ok()));
        }
        let family = Family::of(&language);
        let symbols = symbols.into_iter().map(Rc::new).collect();
        Self { path: path.to_owned(), language, family, symbols, parents, facts }
    }

    /// The symbol at a place.
    pub(crate) fn at(&self, place: Option<u32>) -> Option<&Rc<Symbol>> {
        self.symbols.get(place? as usize)
    }

    /// The place of a symbol.
    pub(super) fn place_of(&self, symbol: &Symbol) -> Option<u32> {
        let at = self.symbols.iter().position(|known| known.symbol_id == symbol.symbol_id)?;
        u32::try_from(at).ok()
    }

    /// A place and those around it, innermost first.
    pub(super) fn around(&self, place: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(place, |at| self.parents.get(*at as usize).copied().flatten())
    }
}

/// Some definitions, shared.
type Definitions = Rc<[Rc<Symbol>]>;

/// One question's view of the source.
pub(crate) struct Lookup<'a> {
    source: &'a dyn Source,
    names: RefCell<HashMap<String, Rc<Vec<Rc<Symbol>>>>>,
    files: RefCell<HashMap<String, Option<Rc<File>>>>,
    /// What modules give, by name; empty while it is looked for.
    places: RefCell<HashMap<(Place, String), Definitions>>,
    /// The methods that a call of a type's method can be besides, by the type and the name.
    dispatched: RefCell<HashMap<(String, String), Definitions>>,
    /// The types that declare what functions in objects are, by the functions.
    declarers: RefCell<HashMap<String, Rc<[String]>>>,
    error: RefCell<Option<StoreError>>,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(source: &'a dyn Source) -> Self {
        Self {
            source,
            names: RefCell::default(),
            files: RefCell::default(),
            places: RefCell::default(),
            dispatched: RefCell::default(),
            declarers: RefCell::default(),
            error: RefCell::default(),
        }
    }

    /// What is to be said at the end: the first failure of the source, if there was one.
    pub(crate) fn finish<T>(self, found: T) -> Result<T, StoreError> {
        self.error.into_inner().map_or(Ok(found), Err)
    }

    pub(crate) fn project(&self) -> &'a Project {
        self.source.project()
    }

    /// All definitions whose last name this is.
    pub(crate) fn named(&self, name: &str) -> Rc<Vec<Rc<Symbol>>> {
        if let Some(known) = self.names.borrow().get(name) {
            return Rc::clone(known);
        }
        let found = self.source.symbols_named(name).unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            Vec::new()
        });
        let found: Rc<Vec<Rc<Symbol>>> = Rc::new(found.into_iter().map(Rc::new).collect());
        self.names.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }

    /// What a module gives under a name, if that was asked before; from then on it was.
    pub(super) fn given(&self, key: &(Place, String)) -> Option<Definitions> {
        let mut places = self.places.borrow_mut();
        let known = places.get(key).cloned();
        if known.is_none() {
            places.insert(key.clone(), Rc::from([]));
        }
        known
    }

    pub(super) fn remember(&self, key: (Place, String), found: &[Rc<Symbol>]) {
        self.places.borrow_mut().insert(key, found.into());
    }

    pub(super) fn dispatched(&self, key: &(String, String)) -> Option<Definitions> {
        self.dispatched.borrow().get(key).cloned()
    }

    pub(super) fn remember_dispatched(&self, key: (String, String), found: &[Rc<Symbol>]) {
        self.dispatched.borrow_mut().insert(key, found.into());
    }

    pub(super) fn declarers(&self, symbol_id: &str) -> Option<Rc<[String]>> {
        self.declarers.borrow().get(symbol_id).cloned()
    }

    pub(super) fn remember_declarers(&self, symbol_id: &str, found: Vec<String>) -> Rc<[String]> {
        let found: Rc<[String]> = found.into();
        self.declarers.borrow_mut().insert(symbol_id.to_owned(), Rc::clone(&found));
        found
    }

    pub(crate) fn file(&self, path: &str) -> Option<Rc<File>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let found = self.source.file(path).unwrap_or_else(|error| {
            self.error.borrow_mut().get_or_insert(error);
            None
        });
        let file = found.map(|(language, symbols, facts)| Rc::new(File::new(path, language, symbols, facts)));
        self.files.borrow_mut().insert(path.to_owned(), file.clone());
        file
    }
}
