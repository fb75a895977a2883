//! A store that fails, delays, answers empty or corrupt, or is killed, call by call, as a script says.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use chartroom_protocol::index::SkippedFiles;
use serde_json::{Value, json};

use crate::mutex::lock;
use chartroom_search::store::*;

/// What happens to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It works.
    None,
    /// It fails.
    Fail,
    /// It answers late.
    Delay,
    /// A probe or listing succeeds and finds nothing; other calls work.
    Empty,
    /// A probe finds garbage; other calls report damage.
    Corrupt,
    /// The process ends in the middle of it.
    Kill,
}

/// The panic that stands for the end of the process: no clean-up code runs but drops.
pub(crate) struct Killed;

/// Which fault comes next; shared by the store and all its handles.
#[derive(Debug, Default, Clone)]
pub(crate) struct Script {
    upcoming: Arc<Mutex<VecDeque<Fault>>>,
    /// Holds for every call when the queue is empty.
    always: Arc<Mutex<Option<Fault>>>,
    listings: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

impl Script {
    fn next(&self) -> Fault {
        let fault = lock(&self.upcoming).pop_front().or(*lock(&self.always)).unwrap_or(Fault::None);
        match fault {
            Fault::Kill => std::panic::panic_any(Killed),
            Fault::Delay => std::thread::yield_now(),
            Fault::None | Fault::Fail | Fault::Empty | Fault::Corrupt => {}
        }
        fault
    }

    fn gate(&self) -> Result<(), StoreError> {
        match self.next() {
            Fault::Fail => Err(StoreError::Unavailable("scripted".into())),
            Fault::Corrupt => Err(StoreError::Corrupt("scripted".into())),
            Fault::None | Fault::Delay | Fault::Empty | Fault::Kill => Ok(()),
        }
    }

    fn write(&self) -> Result<(), StoreError> {
        self.writes.fetch_add(1, Ordering::SeqCst);
        self.gate()
    }
}

/// The wrapper.
pub(crate) struct FaultyStore<S> {
    pub(crate) inner: S,
    pub(crate) script: Script,
}

impl<S> FaultyStore<S> {
    pub(crate) fn new(inner: S) -> Self {
        Self { inner, script: Script::default() }
    }

    /// The next calls go like this; what is left of an older script is dropped.
    pub(crate) fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        *lock(&self.script.upcoming) = faults.into_iter().collect();
    }

    /// Every call goes like this until told otherwise.
    pub(crate) fn always(&self, fault: Option<Fault>) {
        *lock(&self.script.always) = fault;
    }

    /// How often membership was asked of the store: what reconcile and prune do, and no read tool.
    pub(crate) fn listings(&self) -> usize {
        self.script.listings.load(Ordering::SeqCst)
    }

    /// How often something was written.
    pub(crate) fn writes(&self) -> usize {
        self.script.writes.load(Ordering::SeqCst)
    }
}

struct FaultyWriter(Box<dyn GenerationWriter>, Script);
struct FaultyReader(Box<dyn GenerationReader>, Script);

impl<S: VectorStore> VectorStore for FaultyStore<S> {
    fn provider(&self) -> &str {
        self.inner.provider()
    }

    fn roots(&self) -> Result<Vec<String>, StoreError> {
        self.script.listings.fetch_add(1, Ordering::SeqCst);
        match self.script.next() {
            Fault::Fail => Err(StoreError::Unavailable("scripted".into())),
            Fault::Corrupt => Err(StoreError::Corrupt("scripted".into())),
            Fault::Empty => Ok(Vec::new()),
            Fault::None | Fault::Delay | Fault::Kill => self.inner.roots(),
        }
    }

    fn begin_generation(&self, root: &str) -> Result<Box<dyn GenerationWriter>, StoreError> {
        self.script.write()?;
        Ok(Box::new(FaultyWriter(self.inner.begin_generation(root)?, self.script.clone())))
    }

    fn open_writer(&self, root: &str) -> Result<Option<Box<dyn GenerationWriter>>, StoreError> {
        self.script.write()?;
        let writer = self.inner.open_writer(root)?;
        Ok(writer.map(|writer| Box::new(FaultyWriter(writer, self.script.clone())) as _))
    }

    fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError> {
        self.script.gate()?;
        let reader = self.inner.open_reader(root)?;
        Ok(reader.map(|reader| Box::new(FaultyReader(reader, self.script.clone())) as _))
    }

    fn read_marker(&self, root: &str) -> Result<Option<Value>, ProbeError> {
        match self.script.next() {
            Fault::Fail => Err(ProbeError::Unavailable("scripted".into())),
            Fault::Corrupt => Ok(Some(json!({"kind": "garbage"}))),
            Fault::Empty => Ok(None),
            Fault::None | Fault::Delay | Fault::Kill => self.inner.read_marker(root),
        }
    }

    fn skipped(&self, root: &str) -> Result<SkippedFiles, StoreError> {
        self.inner.skipped(root)
    }

    fn publish(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        self.script.write()?;
        self.inner.publish(root, generation)
    }

    fn discard(&self, root: &str, generation: GenerationId) -> Result<(), StoreError> {
        self.script.write()?;
        self.inner.discard(root, generation)
    }

    fn drop_unfinished(&self, root: &str) -> Result<(), StoreError> {
        self.script.write()?;
        self.inner.drop_unfinished(root)
    }

    fn drop_root(&self, root: &str) -> Result<(), StoreError> {
        self.script.write()?;
        self.inner.drop_root(root)
    }
}

impl GenerationWriter for FaultyWriter {
    fn id(&self) -> GenerationId {
        self.0.id()
    }
    fn apply(&mut self, changes: Vec<FileChange>) -> Result<Applied, StoreError> {
        self.1.write()?;
        self.0.apply(changes)
    }
    fn manifest(&self) -> Result<Manifest, StoreError> {
        self.1.gate()?;
        self.0.manifest()
    }
    fn stamps(&self, paths: &[&str]) -> Result<Vec<Option<FileStamp>>, StoreError> {
        self.1.gate()?;
        self.0.stamps(paths)
    }
    fn has_below(&self, folder: &str) -> Result<bool, StoreError> {
        self.1.gate()?;
        self.0.has_below(folder)
    }
    fn set_unscanned(&mut self, prefixes: &[String]) -> Result<(), StoreError> {
        self.1.write()?;
        self.0.set_unscanned(prefixes)
    }
    fn skipped(&self) -> Result<SkippedFiles, StoreError> {
        self.0.skipped()
    }
    fn set_skipped(&mut self, skipped: &SkippedFiles) -> Result<(), StoreError> {
        self.1.write()?;
        self.0.set_skipped(skipped)
    }
    fn known_vectors(&self, content_hashes: &[&str]) -> Result<Vec<Option<Vec<f32>>>, StoreError> {
        self.1.gate()?;
        self.0.known_vectors(content_hashes)
    }
    fn journal(&mut self, entry: &JournalEntry) -> Result<(), StoreError> {
        self.1.write()?;
        self.0.journal(entry)
    }
    fn counts(&self) -> Result<Counts, StoreError> {
        self.1.gate()?;
        self.0.counts()
    }
    fn write_marker(&mut self, marker: &MarkerDoc) -> Result<(), StoreError> {
        self.1.write()?;
        self.0.write_marker(marker)
    }
    fn clear_marker(&mut self) -> Result<(), StoreError> {
        self.1.write()?;
        self.0.clear_marker()
    }
    fn payload_digest(&self) -> Result<String, StoreError> {
        self.1.gate()?;
        self.0.payload_digest()
    }
}

impl GenerationReader for FaultyReader {
    fn id(&self) -> GenerationId {
        self.0.id()
    }
    fn counts(&self) -> Result<Counts, StoreError> {
        self.1.gate()?;
        self.0.counts()
    }
    fn manifest(&self) -> Result<Manifest, StoreError> {
        self.1.gate()?;
        self.0.manifest()
    }
    fn lexical(&self, terms: &[LexicalTerm], limit: usize) -> Result<Vec<Scored>, StoreError> {
        self.1.gate()?;
        self.0.lexical(terms, limit)
    }
    fn words(&self) -> Result<Box<dyn chartroom_search::store::WordCounts>, StoreError> {
        self.1.gate()?;
        self.0.words()
    }
    fn dense(&self, vector: &[f32], limit: usize) -> Result<Vec<Scored>, StoreError> {
        self.1.gate()?;
        self.0.dense(vector, limit)
    }
    fn chunks(&self, ids: &[String]) -> Result<Vec<StoredChunk>, StoreError> {
        self.1.gate()?;
        self.0.chunks(ids)
    }
    fn chunks_in(&self, rel_path: &str) -> Result<Vec<StoredChunk>, StoreError> {
        self.1.gate()?;
        self.0.chunks_in(rel_path)
    }
    fn record(&self, rel_path: &str) -> Result<Option<FileRecord>, StoreError> {
        self.1.gate()?;
        self.0.record(rel_path)
    }
    fn symbols_in(&self, rel_path: &str) -> Result<Vec<Symbol>, StoreError> {
        self.1.gate()?;
        self.0.symbols_in(rel_path)
    }
    fn symbol(&self, symbol_id: &str) -> Result<Option<Symbol>, StoreError> {
        self.1.gate()?;
        self.0.symbol(symbol_id)
    }
    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError> {
        self.1.gate()?;
        self.0.symbols_named(name)
    }
    fn callees(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        self.1.gate()?;
        self.0.callees(symbol_id)
    }
    fn callers(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError> {
        self.1.gate()?;
        self.0.callers(symbol_id)
    }
    fn notes_in(&self, rel_path: &str) -> Result<Vec<GraphNote>, StoreError> {
        self.1.gate()?;
        self.0.notes_in(rel_path)
    }
    fn payload_digest(&self) -> Result<String, StoreError> {
        self.1.gate()?;
        self.0.payload_digest()
    }
}
