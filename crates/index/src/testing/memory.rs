//! A store in memory, as plain as can be.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use chartroom_protocol::index::SkippedFiles;
use serde_json::Value;

use crate::mutex::lock;
use chartroom_search::store::*;

#[derive(Debug, Default, Clone)]
struct Generation {
    files: BTreeMap<String, FileRecord>,
    unscanned: Vec<String>,
    skipped: SkippedFiles,
    journal: Vec<JournalEntry>,
    marker: Option<Value>,
}

#[derive(Debug, Default)]
struct Root {
    published: Option<GenerationId>,
    next: u64,
    generations: BTreeMap<GenerationId, Generation>,
}

type Roots = Arc<Mutex<BTreeMap<String, Root>>>;

/// The store. Clones share what they hold, as processes share a data folder.
#[derive(Debug, Default, Clone)]
pub(crate) struct MemoryStore {
    roots: Roots,
    /// Whether the call graph's own data is lost.
    graphless: Arc<AtomicBool>,
}

struct Handle {
    graphless: Arc<AtomicBool>,
    roots: Roots,
    root: String,
    id: GenerationId,
}

impl MemoryStore {
    /// Puts a marker there, or takes it away: a hand from outside.
    pub(crate) fn plant_marker(&self, root: &str, marker: Option<Value>) {
        let mut roots = lock(&self.roots);
        let root = roots.get_mut(root).expect("the root is stored");
        let id = root.published.expect("it is published");
        root.generations.get_mut(&id).expect("it is there").marker = marker;
    }

    /// Loses the call graph, as a store that keeps it apart can.
    pub(crate) fn lose_graph(&self) {
        self.graphless.store(true, Ordering::SeqCst);
    }

    fn handle(&self, root: &str) -> Option<Handle> {
        let id = lock(&self.roots).get(root)?.published?;
        Some(Handle {
            graphless: Arc::clone(&self.graphless),
            roots: Arc::clone(&self.roots),
            root: root.into(),
            id,
        })
    }
}

impl VectorStore for MemoryStore {
    fn provider(&self) -> &str {
        "memory"
    }

    fn roots(&self) -> Result<Vec<String>, StoreError> {
        let roots = lock(&self.roots);
        Ok(roots.iter().filter(|(_, root)| root.published.is_some()).map(|(name, _)| name.clone()).collect())
    }

    fn begin_generation(&self, root: &str) -> Result<Box<dyn GenerationWriter>, StoreError> {
        let mut roots = lock(&self.roots);
        let entry = roots.entry(root.into()).or_default();
        entry.next += 1;
        let id = GenerationId(entry.next);
        entry.generations.insert(id, Generation::default());
        Ok(Box::new(Handle {
            graphless: Arc::clone(&self.graphless),
            roots: Arc::clone(&self.roots),
            root: root.into(),
            id,
        }))
    }

    fn open_writer(&self, root: &str) -> Result<Option<Box<dyn GenerationWriter>>, StoreError> {
        Ok(self.handle(root).map(|handle| Box::new(handle) as _))
    }

    fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError> {
        Ok(self.handle(root).map(|handle| Box::new(handle) as _))
    }

    fn read_marker(&self, root: &str) -> Result<Option<Value>, ProbeError> {
        let roots = lock(&self.roots);
        let marker = roots.get(root).and_then(|root| root.generations.get(&root.published?)?.marker.clone());
        Ok(marker)
    }

    fn skipped(&self, root: &str) -> Result<SkippedFiles, StoreError> {
        match self.open_writer(root)? {
            Some(generation) => generation.skipped(),
            None => Ok(SkippedFiles::default()),
        }
    }

    fn publish(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        let mut roots = lock(&self.roots);
        let entry = roots.get_mut(root).ok_or_else(gone)?;
        let former = entry.published.replace(generation);
        if let Some(former) = former.filter(|former| *former != generation) {
            entry.generations.remove(&former);
        }
        Ok(())
    }

    fn discard(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        if let Some(entry) = lock(&self.roots).get_mut(root) {
            entry.generations.remove(&generation);
        }
        Ok(())
    }

    fn drop_unfinished(&self, root: &str) -> Result<(), StoreError> {
        if let Some(entry) = lock(&self.roots).get_mut(root) {
            let published = entry.published;
            entry.generations.retain(|id, _| Some(*id) == published);
        }
        Ok(())
    }

    fn drop_root(&self, root: &str) -> Result<(), StoreError> {
        lock(&self.roots).remove(root);
        Ok(())
    }
}

fn gone() -> StoreError {
    StoreError::Unavailable("the generation is gone".into())
}

impl Handle {
    fn with<T>(&self, work: impl FnOnce(&mut Generation) -> T) -> Result<T, StoreError> {
        let mut roots = lock(&self.roots);
        let generation =
            roots.get_mut(&self.root).and_then(|root| root.generations.get_mut(&self.id)).ok_or_else(gone)?;
        Ok(work(generation))
    }

    fn count(&self) -> Result<Counts, StoreError> {
        self.with(|generation| Counts {
            files: generation.files.len() as u64,
            chunks: generation.files.values().map(|file| file.chunks.len() as u64).sum(),
            symbols: generation.files.values().map(|file| file.symbols.len() as u64).sum(),
            graph_built_at_ms: i64::from(!self.graphless.load(Ordering::SeqCst)),
            ..Counts::default()
        })
    }

    fn list(&self) -> Result<Manifest, StoreError> {
        self.with(|generation| Manifest {
            files: generation.files.iter().map(|(name, file)| (name.clone(), file.stamp.clone())).collect(),
            unscanned: generation.unscanned.clone(),
        })
    }

    fn digest(&self) -> Result<String, StoreError> {
        self.with(|generation| {
            let chunks: Vec<_> = generation.files.values().map(|file| &file.chunks).collect();
            blake3::hash(format!("{chunks:?}").as_bytes()).to_hex().to_string()
        })
    }

    fn all<T>(&self, pick: impl Fn(&FileRecord) -> Vec<T>) -> Result<Vec<T>, StoreError> {
        self.with(|generation| generation.files.values().flat_map(pick).collect())
    }
}

impl GenerationWriter for Handle {
    fn id(&self) -> GenerationId {
        self.id
    }

    fn apply(&mut self, changes: Vec<FileChange>) -> Result<Applied, StoreError> {
        self.with(|generation| {
            let mut applied = Applied::default();
            for change in changes {
                match change {
                    FileChange::Put(record) => {
                        applied.chunks_written += record.chunks.len() as u64;
                        generation.files.insert(record.rel_path.clone(), *record);
                    }
                    FileChange::Remove(name) => {
                        generation.files.remove(&name);
                    }
                    FileChange::Touch(name, stamp) => {
                        if let Some(file) = generation.files.get_mut(&name) {
                            file.stamp = stamp;
                        }
                    }
                }
            }
            applied
        })
    }

    fn manifest(&self) -> Result<Manifest, StoreError> {
        self.list()
    }

    fn stamps(&self, paths: &[&str]) -> Result<Vec<Option<FileStamp>>, StoreError> {
        let files = self.list()?.files;
        Ok(paths.iter().map(|path| files.get(*path).cloned()).collect())
    }

    fn has_below(&self, folder: &str) -> Result<bool, StoreError> {
        Ok(self.list()?.files.keys().any(|path| path.starts_with(&format!("{folder}/"))))
    }

    fn set_unscanned(&mut self, prefixes: &[String]) -> Result<(), StoreError> {
        self.with(|generation| generation.unscanned = prefixes.to_vec())
    }

    fn skipped(&self) -> Result<SkippedFiles, StoreError> {
        self.with(|generation| generation.skipped.clone())
    }

    fn set_skipped(&mut self, skipped: &SkippedFiles) -> Result<(), StoreError> {
        self.with(|generation| generation.skipped = skipped.clone())
    }

    fn known_vectors(&self, content_hashes: &[&str]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        self.with(|generation| {
            let of = |wanted: &str| {
                let mut pairs =
                    generation.files.values().flat_map(|file| file.chunks.iter().zip(&file.vectors));
                pairs.find(|(chunk, _)| chunk.content_hash == wanted).map(|(_, vector)| vector.clone())
            };
            content_hashes.iter().map(|hash| of(hash)).collect()
        })
    }

    fn journal(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        self.with(|generation| generation.journal.push(entry.clone()))
    }

    fn counts(&self) -> Result<Counts, StoreError> {
        self.count()
    }

    fn write_marker(&mut self, marker: &MarkerDoc) -> Result<(), StoreError> {
        let marker = serde_json::to_value(marker).expect("a marker serialises");
        self.with(|generation| generation.marker = Some(marker))
    }

    fn clear_marker(&mut self) -> Result<(), StoreError> {
        self.with(|generation| generation.marker = None)
    }

    fn payload_digest(&self) -> Result<String, StoreError> {
        self.digest()
    }
}

impl GenerationReader for Handle {
    fn id(&self) -> GenerationId {
        self.id
    }

    fn counts(&self) -> Result<Counts, StoreError> {
        self.count()
    }

    fn manifest(&self) -> Result<Manifest, StoreError> {
        self.list()
    }

    fn lexical(&self, terms: &[LexicalTerm], limit: usize) -> Result<Vec<Scored>, StoreError> {
        let mut found = self.all(|file| {
            let hits = file
                .chunks
                .iter()
                .filter(|chunk| terms.iter().any(|term| chunk.content.contains(&term.text)));
            hits.map(|chunk| Scored { chunk_id: chunk.id.clone(), score: 1.0 }).collect()
        })?;
        found.truncate(limit);
        Ok(found)
    }

    fn words(&self) -> Result<Box<dyn chartroom_search::store::WordCounts>, StoreError> {
        Ok(Box::new(super::no_words::NoWords))
    }

    fn dense(&self, _vector: &[f32], _limit: usize) -> Result<Vec<Scored>, StoreError> {
        Ok(Vec::new())
    }

    fn chunks(&self, ids: &[String]) -> Result<Vec<StoredChunk>, StoreError> {
        let all = self.all(|file| file.chunks.clone())?;
        let by_id = |id: &String| all.iter().find(|chunk| chunk.id == *id).cloned();
        Ok(ids.iter().filter_map(by_id).map(|chunk| StoredChunk { chunk, indexed_at_ms: 0 }).collect())
    }

    fn chunks_in(&self, rel_path: &str) -> Result<Vec<StoredChunk>, StoreError> {
        let all =
            self.all(|file| if file.rel_path == rel_path { file.chunks.clone() } else { Vec::new() })?;
        Ok(all.into_iter().map(|chunk| StoredChunk { chunk, indexed_at_ms: 0 }).collect())
    }

    fn record(&self, rel_path: &str) -> Result<Option<FileRecord>, StoreError> {
        self.with(|generation| generation.files.get(rel_path).cloned())
    }

    fn symbols_in(&self, rel_path: &str) -> Result<Vec<Symbol>, StoreError> {
        self.all(|file| if file.rel_path == rel_path { file.symbols.clone() } else { Vec::new() })
    }

    fn symbol(&self, symbol_id: &str) -> Result<Option<Symbol>, StoreError> {
        Ok(self.all(|file| file.symbols.clone())?.into_iter().find(|symbol| symbol.symbol_id == symbol_id))
    }

    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError> {
        let mut symbols = self.all(|file| file.symbols.clone())?;
        symbols.retain(|symbol| symbol.qualified_name == name);
        Ok(symbols)
    }

    fn callees(&self, _symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        Ok(Vec::new())
    }

    fn callers(&self, _symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        Ok(Vec::new())
    }

    fn notes_in(&self, _rel_path: &str) -> Result<Vec<GraphNote>, StoreError> {
        Ok(Vec::new())
    }

    fn payload_digest(&self) -> Result<String, StoreError> {
        self.digest()
    }
}
