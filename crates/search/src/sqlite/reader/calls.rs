//! Callers and callees: call sites of the files that mention a name, resolved against the definitions of it.

use std::collections::HashMap;
use std::sync::Arc;

use super::Reader;
use crate::graph::facts::Facts;
use crate::graph::resolve::{Resolution, Site, imported, looked_up, resolve};
use crate::graph::{Import, Reference};
use crate::sqlite::decoded::{self, Decoded};
use crate::sqlite::memory::FileEntry;
use crate::sqlite::row;
use crate::store::{CallEdge, EdgeKind, GenerationReader, GraphNote, NoteKind, StoreError, Symbol};
use crate::symbols::{self, Language};

/// Definitions by name, looked up once per question.
#[derive(Default)]
struct Names(HashMap<String, Vec<Symbol>>);

impl Names {
    fn get(&mut self, reader: &Reader, name: &str) -> Result<&[Symbol], StoreError> {
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), reader.symbols_named(name)?);
        }
        Ok(self.0.get(name).map_or(&[], Vec::as_slice))
    }
}

/// A file with its facts.
struct Opened<'a> {
    entry: &'a FileEntry,
    file: Arc<Decoded>,
    facts: Facts,
}

impl Opened<'_> {
    fn language(&self) -> &str {
        self.file
            .symbols
            .first()
            .map(|symbol| symbol.language.as_str())
            .unwrap_or_else(|| self.file.chunks.first().map_or("text", |chunk| chunk.language.as_str()))
    }

    fn source(&self, reference: &Reference) -> (String, Option<&Symbol>) {
        let from = reference.from.and_then(|at| self.file.symbols.get(at as usize));
        let id = from
            .map_or_else(|| symbols::file_symbol(&self.entry.path, 1).id, |symbol| symbol.symbol_id.clone());
        (id, from)
    }

    /// The edges of one call site.
    fn edges(
        &self,
        reader: &Reader,
        names: &mut Names,
        reference: &Reference,
    ) -> Result<Vec<CallEdge>, StoreError> {
        let (source, from) = self.source(reference);
        let site = Site {
            file: &self.entry.path,
            language: self.language(),
            reference,
            from,
            imports: &self.facts.imports,
        };
        let named = names.get(reader, looked_up(reference, &self.facts.imports))?;
        Ok(match resolve(&site, named) {
            Resolution::Known(kind, targets) => targets
                .into_iter()
                .map(|(target, confidence)| self.edge(&source, target, kind, reference.line, confidence))
                .collect(),
            Resolution::Dynamic(_) | Resolution::Outside => Vec::new(),
        })
    }

    /// The edges of one import: from the file as a whole.
    fn import_edges(
        &self,
        reader: &Reader,
        names: &mut Names,
        import: &Import,
    ) -> Result<Vec<CallEdge>, StoreError> {
        let Some(name) = &import.name else { return Ok(Vec::new()) };
        let source = symbols::file_symbol(&self.entry.path, 1).id;
        let named = names.get(reader, name)?;
        Ok(imported(import, &self.entry.path, named)
            .into_iter()
            .map(|(target, confidence)| self.edge(&source, target, EdgeKind::Import, import.line, confidence))
            .collect())
    }

    fn edge(&self, source: &str, target: &Symbol, kind: EdgeKind, line: u32, confidence: f32) -> CallEdge {
        CallEdge {
            src_symbol_id: source.to_owned(),
            dst_symbol_id: target.symbol_id.clone(),
            kind,
            site_file: self.entry.path.clone(),
            site_line: line,
            confidence,
        }
    }
}

impl Reader {
    fn opened<'a>(&self, entry: &'a FileEntry) -> Result<Option<Opened<'a>>, StoreError> {
        let Some(file) = self.file(entry)? else { return Ok(None) };
        let facts = decoded::facts(&self.generation.db(), entry.id)?;
        Ok(Some(Opened { entry, file, facts }))
    }

    pub(super) fn callees_of(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        let (path, place) = match self.memory.symbol(symbol_id) {
            Some((entry, at)) => (entry.path.clone(), Some(at)),
            None => match self.file_symbol(symbol_id)? {
                Some(symbol) => (symbol.rel_path, None),
                None => return Ok(Vec::new()),
            },
        };
        let Some(opened) = self.memory.at_path(&path).map(|entry| self.opened(entry)).transpose()?.flatten()
        else {
            return Ok(Vec::new());
        };
        let mut names = Names::default();
        let mut edges = Vec::new();
        for reference in &opened.facts.references {
            if reference.from.map(|at| at as usize) == place {
                edges.extend(opened.edges(self, &mut names, reference)?);
            }
        }
        if place.is_none() {
            for import in &opened.facts.imports {
                edges.extend(opened.import_edges(self, &mut names, import)?);
            }
        }
        Ok(sorted(edges, |edge| edge.dst_symbol_id.clone()))
    }

    pub(super) fn callers_of(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        let Some(target) = self.symbol(symbol_id)? else { return Ok(Vec::new()) };
        let name = row::last_name(&target.qualified_name);
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let hash = row::name_hash(name);
        let mut names = Names::default();
        let mut edges = Vec::new();
        for entry in self.memory.files.values() {
            if entry.keys.mentioned.binary_search(&hash).is_err() {
                continue;
            }
            let Some(opened) = self.opened(entry)? else { continue };
            for reference in &opened.facts.references {
                if looked_up(reference, &opened.facts.imports) == name {
                    edges.extend(opened.edges(self, &mut names, reference)?);
                }
            }
            for import in &opened.facts.imports {
                if import.name.as_deref() == Some(name) {
                    edges.extend(opened.import_edges(self, &mut names, import)?);
                }
            }
        }
        edges.retain(|edge| edge.dst_symbol_id == symbol_id);
        Ok(sorted(edges, |edge| edge.src_symbol_id.clone()))
    }

    pub(super) fn notes_of(&self, rel_path: &str) -> Result<Vec<GraphNote>, StoreError> {
        let Some(opened) =
            self.memory.at_path(rel_path).map(|entry| self.opened(entry)).transpose()?.flatten()
        else {
            return Ok(Vec::new());
        };
        let language = Language::named(opened.language());
        let Some((grammar, _)) = language.and_then(Language::grammar) else { return Ok(Vec::new()) };
        let mut names = Names::default();
        let mut notes = Vec::new();
        if opened.file.symbols.is_empty()
            && !opened.file.chunks.is_empty()
            && opened.facts == Facts::default()
        {
            notes.push(GraphNote {
                kind: NoteKind::MissingSymbolMetadata,
                file: rel_path.to_owned(),
                start_line: 1,
                symbol_id: None,
                detail: "no definition or call was found in this file".to_owned(),
            });
        }
        for reference in opened.facts.references.iter().filter(|_| grammar.note_unresolved) {
            let (_, from) = opened.source(reference);
            let site = Site {
                file: rel_path,
                language: opened.language(),
                reference,
                from,
                imports: &opened.facts.imports,
            };
            let named = names.get(self, looked_up(reference, &opened.facts.imports))?;
            let called = match &reference.qualifier {
                Some(qualifier) => format!("{qualifier}.{}", reference.name),
                None => reference.name.clone(),
            };
            let (kind, detail) = match resolve(&site, named) {
                Resolution::Known(..) => continue,
                Resolution::Dynamic(count) => {
                    (NoteKind::DynamicEdge, format!("{called}() can be any of {count} definitions"))
                }
                Resolution::Outside => (
                    NoteKind::UnresolvedEdge,
                    format!("{called}() is not defined in the index, or not visibly"),
                ),
            };
            notes.push(GraphNote {
                kind,
                file: rel_path.to_owned(),
                start_line: reference.line,
                symbol_id: from.map(|symbol| symbol.symbol_id.clone()),
                detail,
            });
        }
        notes.sort_by(|left, right| (left.start_line, &left.detail).cmp(&(right.start_line, &right.detail)));
        notes.dedup();
        Ok(notes)
    }
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
