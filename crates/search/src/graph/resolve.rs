//! Which definitions a use can mean, and how sure that is.

use std::rc::Rc;

use super::declared::are_added_to;
use super::infer::{Hold, Value, has_owner};
use super::lookup::{File, Lookup};
use super::names::{Named, Site, Wanted, nearest, scope};
use super::project::Family;
use super::{Import, Reference, Use};
use crate::store::{EdgeKind, Symbol};
use crate::symbols::SymbolKind;

/// A definition that is meant, in which way, and how sure that is.
///
/// The confidences of this folder are set by what `graph_eval` counted beside language servers; docs/search-quality.md
/// has the table.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) symbol: Rc<Symbol>,
    pub(crate) kind: EdgeKind,
    pub(crate) confidence: f32,
}

/// What a use means.
#[derive(Debug, Clone)]
pub(crate) enum Resolution {
    /// These definitions.
    Known(Vec<Target>),
    /// One of these, by its name alone: the type of the receiver is not known.
    Candidates(Vec<Target>),
    /// Nothing in the index.
    Outside,
}

impl Resolution {
    /// The targets, sure or not.
    pub(crate) fn targets(self) -> Vec<Target> {
        match self {
            Self::Known(targets) | Self::Candidates(targets) => targets,
            Self::Outside => Vec::new(),
        }
    }
}

/// The name to look for in the index: an alias is looked up by what it stands for.
pub(crate) fn looked_up<'a>(reference: &'a Reference, imports: &'a [Import]) -> &'a str {
    let alias = || imports.iter().find(|import| import.local == reference.name)?.name.as_deref();
    match &reference.qualifier {
        None => alias().filter(|name| *name != "*").unwrap_or(&reference.name),
        Some(_) => &reference.name,
    }
}

impl Lookup<'_> {
    /// Decides what a use in a file means.
    pub(crate) fn resolve(&self, file: &Rc<File>, reference: &Reference) -> Resolution {
        let site = Site { file: Rc::clone(file), from: reference.from, line: reference.line, depth: 0 };
        match (reference.used, reference.qualifier.as_deref()) {
            (Use::Base, qualifier) => {
                known(self.find_type(&site, qualifier, &reference.name), EdgeKind::Implements)
            }
            (Use::Macro, _) => known(self.find(&site, &reference.name, Wanted::Macro), EdgeKind::Call),
            (Use::Call, None) => self.plain(&site, reference),
            (Use::Call, Some(qualifier)) => self.qualified(&site, reference, qualifier),
        }
    }

    /// What an import means, as edges of the file.
    pub(crate) fn resolve_import(&self, file: &Rc<File>, import: &Import) -> Resolution {
        if import.name.is_none() || import.module.is_empty() {
            return Resolution::Outside;
        }
        known(self.imported(file, import, 0), EdgeKind::Import)
    }

    /// `f()`.
    fn plain(&self, site: &Site, reference: &Reference) -> Resolution {
        if self.is_local(site, &reference.name) {
            // A variable: what it holds is called.
            return match self.value_of(site, &reference.name) {
                (Value::Function(functions), sure) => targets(functions, EdgeKind::Call, sure * 0.9),
                (Value::Type(of), sure) => targets(vec![of], EdgeKind::Call, sure * 0.9),
                _ => {
                    let named = self.find(site, &reference.name, Wanted::Called);
                    match named {
                        // A nested function is bound by its name too.
                        Named::Known(found, sure) if found.iter().any(|symbol| scope(symbol).is_some()) => {
                            targets(found, EdgeKind::Call, sure)
                        }
                        _ => Resolution::Outside,
                    }
                }
            };
        }
        let found = known(self.find(site, &reference.name, Wanted::Called), EdgeKind::Call);
        self.configured(site, &reference.name, found)
    }

    /// `q.f()`: the qualifier is a value, a type, or a module.
    fn qualified(&self, site: &Site, reference: &Reference, qualifier: &str) -> Resolution {
        let name = reference.name.as_str();
        let (value, sure) = self.value_of(site, qualifier);
        match value {
            Value::Module(place, _) => {
                let found = self.in_place(&place, name, 0);
                if !found.is_empty() {
                    return targets(found, EdgeKind::Call, sure);
                }
                Resolution::Outside
            }
            Value::Type(of) => {
                let found = self.members(&of, name, 0);
                if found.is_empty() {
                    self.of_type_outside(site, &of, name)
                } else {
                    targets(found, EdgeKind::Call, sure)
                }
            }
            Value::Instance(types, hold) => {
                let found = self.of_instance(site, &types, hold, sure, name);
                match found {
                    // The base itself is meant, whoever overrides it.
                    Resolution::Known(known)
                        if matches!(qualifier, "super" | "super()" | "base" | "parent") =>
                    {
                        Resolution::Known(
                            known.into_iter().filter(|target| target.kind == EdgeKind::Call).collect(),
                        )
                    }
                    found => found,
                }
            }
            Value::Outside if site.file.family == Family::Rust => self.of_extension(site, name),
            Value::Outside => Resolution::Outside,
            // A property: what it gives is meant, if that has the method. A function has few of its own.
            Value::Function(functions) if !matches!(name, "call" | "apply" | "bind") => {
                match self.called(site, (Value::Function(functions), sure)) {
                    (Value::Instance(types, hold), sure) => {
                        match self.of_instance(site, &types, hold, sure, name) {
                            Resolution::Known(known) => Resolution::Known(known),
                            _ => self.by_name(site, name),
                        }
                    }
                    _ => self.by_name(site, name),
                }
            }
            Value::Function(_) | Value::Maker(_) | Value::Unknown => self.by_name(site, name),
        }
    }

    fn of_instance(
        &self,
        site: &Site,
        types: &[Rc<Symbol>],
        hold: Hold,
        sure: f32,
        name: &str,
    ) -> Resolution {
        if hold == Hold::Holds {
            // The method of a container; only a cast could make it one of what is inside.
            return Resolution::Outside;
        }
        let mut found: Vec<Rc<Symbol>> = Vec::new();
        for of in types {
            for member in self.members(of, name, 0) {
                if !found.iter().any(|known| known.symbol_id == member.symbol_id) {
                    found.push(member);
                }
            }
        }
        if found.is_empty() {
            let objects = self.objects(types, hold, name, &[]);
            if !objects.is_empty() {
                return Resolution::Known(objects);
            }
            return match types.first() {
                Some(_) if are_added_to(types) => self.of_extension(site, name),
                // A field can hold a function, and a type be known in part: no such call would compile otherwise.
                Some(_) if hold == Hold::Is && site.file.family == Family::Script => {
                    weakened(self.by_name(site, name), 0.5)
                }
                Some(of) if hold == Hold::Is => self.of_type_outside(site, of, name),
                _ => self.by_name(site, name),
            };
        }
        let sure = if hold == Hold::Loose { sure.min(0.82) } else { sure };
        // Of a union each is meant, so that it is no guess among them.
        let is_union = site.file.family == Family::Script && types.len() > 1;
        let groups: Vec<Vec<Rc<Symbol>>> = if is_union {
            found.chunk_by(|a, b| a.qualified_name == b.qualified_name).map(<[_]>::to_vec).collect()
        } else {
            vec![found]
        };
        let mut known: Vec<Target> =
            groups.into_iter().flat_map(|group| targets(group, EdgeKind::Call, sure).targets()).collect();
        known.extend(self.implementations(types, hold, name, &known));
        known.extend(self.declarations(types, hold, name, &known));
        known.extend(self.siblings(types, name, &known));
        Resolution::Known(known)
    }

    /// A type that has no such member here: a trait's, an extension's, or one of a base that is not in the index.
    fn of_type_outside(&self, site: &Site, of: &Symbol, name: &str) -> Resolution {
        let Some(file) = self.file(&of.rel_path) else { return Resolution::Outside };
        let n_clauses = file
            .facts
            .references
            .iter()
            .filter(|reference| reference.used == Use::Base)
            .filter(|reference| {
                file.at(reference.from).is_some_and(|from| from.qualified_name == of.qualified_name)
            })
            .count();
        let is_open = n_clauses > self.bases(of, 1).len() || Family::of(&of.language) == Family::Rust;
        match is_open {
            // What is missing may be anything that has the name, mostly nothing of ours.
            true => weakened(self.by_name(site, name), 0.5),
            false => Resolution::Outside,
        }
    }

    /// A type of a library: what traits of ours add to it may be meant.
    fn of_extension(&self, site: &Site, name: &str) -> Resolution {
        let is_ours =
            |target: &Target| self.owner_type(&target.symbol).is_some_and(|of| of.kind == SymbolKind::Trait);
        let found: Vec<Target> = self.by_name(site, name).targets().into_iter().filter(is_ours).collect();
        if found.is_empty() { Resolution::Outside } else { weakened(Resolution::Candidates(found), 0.5) }
    }

    /// A method of a receiver whose type nobody says.
    fn by_name(&self, site: &Site, name: &str) -> Resolution {
        let family = site.file.family;
        let methods: Vec<Rc<Symbol>> = self
            .named(name)
            .iter()
            .filter(|symbol| Family::of(&symbol.language) == family)
            // A function in an object belongs to something that has no name.
            .filter(|symbol| {
                has_owner(symbol) || family == Family::Script && symbol.kind == SymbolKind::Method
            })
            .filter(|symbol| {
                matches!(symbol.kind, SymbolKind::Method | SymbolKind::Function | SymbolKind::Constructor)
            })
            .cloned()
            .collect();
        if methods.is_empty() {
            return Resolution::Outside;
        }
        // Names that everything has say less.
        let weight = if is_common(name) { 0.15 } else { 0.55 };
        let here = methods.iter().filter(|symbol| symbol.rel_path == site.file.path).count();
        let n_near = nearest(methods.clone(), &site.file.path).len();
        let share = |symbol: &Symbol| {
            let is_here = symbol.rel_path == site.file.path;
            match (methods.len(), is_here) {
                (1, _) => weight,
                (_, true) if here == 1 => weight * 0.9,
                (count, _) => weight / count.min(n_near.max(2)) as f32,
            }
        };
        let candidates = methods
            .iter()
            .map(|symbol| Target {
                symbol: Rc::clone(symbol),
                kind: EdgeKind::Dynamic,
                confidence: share(symbol).max(0.02),
            })
            .collect();
        Resolution::Candidates(candidates)
    }
}

/// Methods of every library.
fn is_common(name: &str) -> bool {
    const COMMON: &[&str] = &[
        "add",
        "all",
        "any",
        "append",
        "apply",
        "as_str",
        "bind",
        "call",
        "clear",
        "clone",
        "close",
        "collect",
        "contains",
        "copy",
        "count",
        "create",
        "decode",
        "delete",
        "drop",
        "encode",
        "entries",
        "exec",
        "execute",
        "extend",
        "filter",
        "find",
        "first",
        "flush",
        "forEach",
        "format",
        "from",
        "get",
        "has",
        "index",
        "init",
        "insert",
        "into",
        "is_empty",
        "items",
        "iter",
        "join",
        "keys",
        "last",
        "len",
        "length",
        "load",
        "lock",
        "map",
        "match",
        "new",
        "next",
        "open",
        "parse",
        "poll",
        "pop",
        "push",
        "put",
        "read",
        "reduce",
        "remove",
        "render",
        "replace",
        "reset",
        "resolve",
        "run",
        "save",
        "send",
        "set",
        "size",
        "slice",
        "sort",
        "split",
        "start",
        "stop",
        "strip",
        "take",
        "test",
        "then",
        "to_string",
        "toString",
        "trim",
        "unwrap",
        "update",
        "value",
        "values",
        "write",
        "Close",
        "Error",
        "Get",
        "Len",
        "Read",
        "Set",
        "String",
        "Write",
        "Unlock",
        "Lock",
        "Done",
    ];
    COMMON.contains(&name)
}

fn known(named: Named, kind: EdgeKind) -> Resolution {
    match named {
        Named::Known(symbols, sure) => targets(symbols, kind, sure),
        Named::Module(..) | Named::Outside | Named::Unknown => Resolution::Outside,
    }
}

/// Several definitions share what is known unless they are one thing: overloads, conditional definitions.
fn targets(symbols: Vec<Rc<Symbol>>, kind: EdgeKind, sure: f32) -> Resolution {
    let Some(first) = symbols.first() else { return Resolution::Outside };
    // In C another file's definition is another configuration's, or another program's.
    let is_c = Family::of(&first.language) == Family::C;
    let one_thing = symbols.iter().all(|symbol| {
        symbol.qualified_name == first.qualified_name && (!is_c || symbol.rel_path == first.rel_path)
    });
    let confidence = match symbols.len() {
        1 => sure,
        _ if one_thing => sure * 0.95,
        count => (sure / count as f32).max(0.2),
    };
    Resolution::Known(symbols.into_iter().map(|symbol| Target { symbol, kind, confidence }).collect())
}

fn weakened(resolution: Resolution, by: f32) -> Resolution {
    match resolution {
        Resolution::Candidates(mut found) => {
            for target in &mut found {
                target.confidence *= by;
            }
            Resolution::Candidates(found)
        }
        other => other,
    }
}
