//! Callers and callees: uses in the files that mention a name, resolved against the definitions of it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::Reader;
use crate::graph::lookup::{File, Lookup, Source};
use crate::graph::project::Project;
use crate::graph::resolve::{Resolution, Target, looked_up};
use crate::graph::{Import, Reference};
use crate::sqlite::decoded;
use crate::sqlite::row;
use crate::store::{CallEdge, EdgeKind, GenerationReader, GraphNote, NoteKind, StoreError, Symbol};
use crate::symbols::Facts;
use crate::symbols::{self, Language};

/// Of a call that can mean anything of its name, so many definitions are listed among the callees.
const CANDIDATES_LISTED: usize = 5;

/// So often a name may be given on under another name.
const ALIAS_ROUNDS: usize = 4;

impl Source for Reader {
    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError> {
        GenerationReader::symbols_named(self, name)
    }

    fn file(&self, path: &str) -> Result<Option<(String, Vec<Symbol>, Facts)>, StoreError> {
        let Some(entry) = self.memory.at_path(path) else { return Ok(None) };
        let Some(file) = Reader::file(self, entry)? else { return Ok(None) };
        let facts = decoded::facts(&self.generation.db(), entry.id)?;
        let language = file
            .symbols
            .first()
            .map(|symbol| symbol.language.as_str())
            .unwrap_or_else(|| file.chunks.first().map_or("text", |chunk| chunk.language.as_str()));
        Ok(Some((language.to_owned(), file.symbols.clone(), facts)))
    }

    fn project(&self) -> &Project {
        self.memory.project()
    }
}

/// The edges of one use.
fn edges_of(file: &File, reference: &Reference, targets: Vec<Target>) -> Vec<CallEdge> {
    let source = source_id(file, reference);
    targets.into_iter().map(|target| edge(file, &source, &target, reference.line)).collect()
}

/// The edges of one import: from the file as a whole.
fn import_edges(lookup: &Lookup<'_>, file: &Rc<File>, import: &Import) -> Vec<CallEdge> {
    let source = symbols::file_symbol(&file.path, 1).id;
    let targets = lookup.resolve_import(file, import).targets();
    targets.iter().map(|target| edge(file, &source, target, import.line)).collect()
}

fn source_id(file: &File, reference: &Reference) -> String {
    file.at(reference.from)
        .map_or_else(|| symbols::file_symbol(&file.path, 1).id, |symbol| symbol.symbol_id.clone())
}

fn edge(file: &File, source: &str, target: &Target, line: u32) -> CallEdge {
    CallEdge {
        src_symbol_id: source.to_owned(),
        dst_symbol_id: target.symbol.symbol_id.clone(),
        kind: target.kind,
        site_file: file.path.clone(),
        site_line: line,
        confidence: target.confidence,
    }
}

impl Reader {
    pub(super) fn callees_of(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        let (path, place) = match self.memory.symbol(symbol_id) {
            Some((entry, at)) => (entry.path.to_string(), u32::try_from(at).ok()),
            None => match self.file_symbol(symbol_id)? {
                Some(symbol) => (symbol.rel_path, None),
                None => return Ok(Vec::new()),
            },
        };
        let lookup = Lookup::new(self);
        let mut edges = Vec::new();
        if let Some(file) = lookup.file(&path) {
            for reference in file.facts.references.iter().filter(|reference| reference.from == place) {
                let targets = match lookup.resolve(&file, reference) {
                    Resolution::Candidates(mut candidates) => {
                        candidates.sort_by(|left, right| right.confidence.total_cmp(&left.confidence));
                        candidates.truncate(CANDIDATES_LISTED);
                        candidates
                    }
                    other => other.targets(),
                };
                edges.extend(edges_of(&file, reference, targets));
            }
            for import in file.facts.imports.iter().filter(|_| place.is_none()) {
                edges.extend(import_edges(&lookup, &file, import));
            }
        }
        lookup.finish(sorted(edges, |edge| edge.dst_symbol_id.clone()))
    }

    pub(super) fn callers_of(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        let Some(target) = self.symbol(symbol_id)? else { return Ok(Vec::new()) };
        let lookup = Lookup::new(self);
        let mut edges = self.edges_to(&lookup, &target);
        // A constructor is called by the name of its type too.
        if let Some(class) = lookup.constructed(&target) {
            edges.extend(
                self.edges_to(&lookup, &class).into_iter().filter(|edge| edge.kind == EdgeKind::Call),
            );
        }
        for edge in &mut edges {
            symbol_id.clone_into(&mut edge.dst_symbol_id);
        }
        lookup.finish(sorted(edges, |edge| edge.src_symbol_id.clone()))
    }

    /// The edges that end in one definition.
    fn edges_to(&self, lookup: &Lookup<'_>, target: &Symbol) -> Vec<CallEdge> {
        let name = row::last_name(&target.qualified_name);
        if name.is_empty() {
            return Vec::new();
        }
        let (names, files) = self.mentioning(lookup, target, name);
        let mut edges = Vec::new();
        for file in files {
            for reference in &file.facts.references {
                let looked = looked_up(reference, &file.facts.imports);
                if names.contains(looked) || names.contains(reference.name.as_str()) {
                    edges.extend(edges_of(&file, reference, lookup.resolve(&file, reference).targets()));
                }
            }
            for import in &file.facts.imports {
                if import.name.as_deref().is_some_and(|name| names.contains(name)) {
                    edges.extend(import_edges(lookup, &file, import));
                }
            }
        }
        edges.retain(|edge| edge.dst_symbol_id == target.symbol_id);
        edges
    }

    /// The names that a definition goes by, and the files that mention one of them.
    fn mentioning(
        &self,
        lookup: &Lookup<'_>,
        target: &Symbol,
        name: &str,
    ) -> (BTreeSet<String>, Vec<Rc<File>>) {
        let mut names = BTreeSet::from([name.to_owned()]);
        if lookup.file(&target.rel_path).is_some_and(|file| gives_as_default(&file, name)) {
            names.insert("default".to_owned());
        }
        let mut files: BTreeMap<&str, Rc<File>> = BTreeMap::new();
        let mut asked: BTreeSet<String> = BTreeSet::new();
        // Each round follows the names that the last one found: a barrel may rename what another has renamed.
        for _ in 0..ALIAS_ROUNDS {
            let fresh: Vec<u32> = names.difference(&asked).map(|name| row::name_hash(name)).collect();
            asked.clone_from(&names);
            if fresh.is_empty() {
                break;
            }
            for entry in self.memory.files.values() {
                let is_mentioned = fresh.iter().any(|hash| entry.keys.mentioned.binary_search(hash).is_ok());
                if !is_mentioned || files.contains_key(&*entry.path) {
                    continue;
                }
                let Some(file) = lookup.file(&entry.path) else { continue };
                let renamed = file.facts.imports.iter().filter(|import| {
                    import.name.as_deref().is_some_and(|name| asked.contains(name)) && import.local != "*"
                });
                names.extend(renamed.map(|import| import.local.clone()));
                files.insert(&*entry.path, file);
            }
        }
        (names, files.into_values().collect())
    }

    pub(super) fn notes_of(&self, rel_path: &str) -> Result<Vec<GraphNote>, StoreError> {
        let lookup = Lookup::new(self);
        let Some(file) = lookup.file(rel_path) else { return lookup.finish(Vec::new()) };
        let Some((grammar, _)) = Language::named(&file.language).and_then(Language::grammar) else {
            return Ok(Vec::new());
        };
        let mut notes = Vec::new();
        let has_text = self.memory.at_path(rel_path).is_some_and(|entry| entry.keys.chunks.len() > 0);
        if file.symbols.is_empty() && has_text && file.facts == Facts::default() {
            notes.push(GraphNote {
                kind: NoteKind::MissingSymbolMetadata,
                file: rel_path.to_owned(),
                start_line: 1,
                symbol_id: None,
                detail: "no definition or call was found in this file".to_owned(),
            });
        }
        for reference in file.facts.references.iter().filter(|_| grammar.note_unresolved) {
            let called = match &reference.qualifier {
                Some(qualifier) => format!("{qualifier}.{}", reference.name),
                None => reference.name.clone(),
            };
            let (kind, detail) = match lookup.resolve(&file, reference) {
                Resolution::Known(_) => continue,
                Resolution::Candidates(candidates) => (
                    NoteKind::DynamicEdge,
                    format!("{called}() can be any of {} definitions of that name", candidates.len()),
                ),
                Resolution::Outside => (
                    NoteKind::UnresolvedEdge,
                    format!("{called}() is not defined in the index, or not visibly"),
                ),
            };
            notes.push(GraphNote {
                kind,
                file: rel_path.to_owned(),
                start_line: reference.line,
                symbol_id: file.at(reference.from).map(|symbol| symbol.symbol_id.clone()),
                detail,
            });
        }
        notes.sort_by(|left, right| (left.start_line, &left.detail).cmp(&(right.start_line, &right.detail)));
        notes.dedup();
        lookup.finish(notes)
    }
}

/// Says whether a file gives a name to others as its default.
fn gives_as_default(file: &File, name: &str) -> bool {
    file.facts.imports.iter().any(|import| import.local == "default" && import.name.as_deref() == Some(name))
}

/// By site, then by the other end; an edge at the same line once.
fn sorted(mut edges: Vec<CallEdge>, other: fn(&CallEdge) -> String) -> Vec<CallEdge> {
    edges.sort_by_cached_key(|edge| (edge.site_file.clone(), edge.site_line, other(edge), edge.kind));
    edges.dedup_by(|left, right| {
        left.site_file == right.site_file
            && left.site_line == right.site_line
            && left.kind == right.kind
            && left.src_symbol_id == right.src_symbol_id
            && left.dst_symbol_id == right.dst_symbol_id
    });
    edges
}
