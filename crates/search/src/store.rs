//! The seam between what is known and where it is kept.
//!
//! A store keeps *generations* per canonical root. A rebuild writes a new generation beside the published one and
//! the store swaps them when it is proven; a sync changes the published one in small atomic steps. Nothing here
//! decides what may be answered: a generation that exists proves nothing, only its marker does (see `proof`).
//!
//! Everything is synchronous and blocking; callers run it on a blocking thread.

mod among;
mod data;
mod error;
pub mod team;
mod words;

use std::collections::HashMap;

use chartroom_protocol::index::SkippedFiles;
use serde_json::Value;

pub use among::Among;
pub use data::{
    Applied, CallEdge, Chunk, Counts, EdgeKind, FileChange, FileRecord, FileStamp, Fingerprint, GenerationId,
    GraphNote, JournalEntry, LexicalField, LexicalTerm, Manifest, MarkerDoc, NoteKind, Scored, StoredChunk,
    Symbol,
};
pub use error::{ProbeError, StoreError};
pub use words::{ChunkWords, Chunks, EachBlock, FileName, FileWords, PathKind, WordCounts, WordTable};

/// Where generations live. One instance per process and data folder (or server).
///
/// `root` is always the canonical root as text; a store uses it as an opaque key.
pub trait VectorStore: Send + Sync {
    /// The provider's name as it stands in the fingerprint: `embedded`, ….
    fn provider(&self) -> &str;

    /// The roots that have a published generation, sorted. Membership is recovered from this and the markers.
    fn roots(&self) -> Result<Vec<String>, StoreError>;

    /// Starts a new, empty generation beside whatever is published.
    fn begin_generation(&self, root: &str) -> Result<Box<dyn GenerationWriter>, StoreError>;

    /// Opens the published generation for a sync. `Ok(None)` when nothing is published.
    fn open_writer(&self, root: &str) -> Result<Option<Box<dyn GenerationWriter>>, StoreError>;

    /// Opens the published generation for reading. `Ok(None)` when nothing is published.
    ///
    /// A reader sees a sync that finished before the call; it never sees half of a file.
    fn open_reader(&self, root: &str) -> Result<Option<Box<dyn GenerationReader>>, StoreError>;

    /// Reads the completion marker of the published generation, as the raw document.
    ///
    /// `Ok(None)` means that the probe *succeeded* and there is no marker (or no generation). Everything that kept
    /// the probe from completing is an error: the caller treats those two very differently.
    fn read_marker(&self, root: &str) -> Result<Option<Value>, ProbeError>;

    /// The files that are not in the published generation though they lie in its folder.
    fn skipped(&self, root: &str) -> Result<SkippedFiles, StoreError>;

    /// Makes `generation` the published one in one atomic step, then drops the former one.
    fn publish(&self, root: &str, generation: GenerationId) -> Result<(), StoreError>;

    /// Drops an unpublished generation; dropping one that is gone is fine.
    fn discard(&self, root: &str, generation: GenerationId) -> Result<(), StoreError>;

    /// Drops every unpublished generation of a root: what a killed rebuild left behind. The caller holds the lease.
    fn drop_unfinished(&self, root: &str) -> Result<(), StoreError>;

    /// Drops everything of a root.
    fn drop_root(&self, root: &str) -> Result<(), StoreError>;

    /// The team's side, of a store that has one.
    fn team(&self) -> Option<&dyn team::Team> {
        None
    }
}

/// Writes one generation. The holder of the root's mutation lease is the only user.
pub trait GenerationWriter: Send {
    /// Which generation this is.
    fn id(&self) -> GenerationId;

    /// Applies changes of several files in order. Each file is atomic, its stamp in the manifest included: after a
    /// crash a file is either wholly as before or wholly as after, and the manifest never claims more than the
    /// chunks. The embedded store commits the whole slice in one transaction.
    fn apply(&mut self, changes: Vec<FileChange>) -> Result<Applied, StoreError>;

    /// The manifest as it stands.
    fn manifest(&self) -> Result<Manifest, StoreError>;

    /// The stamps of these files in the order asked; none for one that the manifest does not have.
    fn stamps(&self, paths: &[&str]) -> Result<Vec<Option<FileStamp>>, StoreError>;

    /// Whether the manifest has a file below this folder.
    fn has_below(&self, folder: &str) -> Result<bool, StoreError>;

    /// Replaces what the manifest says besides its files: the directories the last scan could not read.
    fn set_unscanned(&mut self, prefixes: &[String]) -> Result<(), StoreError>;

    /// The files that the last scan of the whole folder met and did not take.
    fn skipped(&self) -> Result<SkippedFiles, StoreError>;

    /// Replaces them.
    fn set_skipped(&mut self, skipped: &SkippedFiles) -> Result<(), StoreError>;

    /// Vectors already stored for these chunk content hashes, so that unchanged text is not embedded again.
    fn known_vectors(&self, content_hashes: &[&str]) -> Result<Vec<Option<Vec<f32>>>, StoreError>;

    /// Appends to the journal: one line per finished sync or rebuild, for people and tests.
    fn journal(&mut self, entry: &JournalEntry) -> Result<(), StoreError>;

    /// Totals of this generation.
    fn counts(&self) -> Result<Counts, StoreError>;

    /// Writes the completion marker, durably. Called after the last `apply` and before `publish`.
    fn write_marker(&mut self, marker: &MarkerDoc) -> Result<(), StoreError>;

    /// Removes the completion marker.
    fn clear_marker(&mut self) -> Result<(), StoreError>;

    /// A digest over everything a search can see, in a fixed order: equal payloads, equal digests.
    fn payload_digest(&self) -> Result<String, StoreError>;
}

/// Reads one generation. Has no write method, so that no read path can write.
pub trait GenerationReader: Send + Sync {
    /// Which generation this is.
    fn id(&self) -> GenerationId;

    /// Totals.
    fn counts(&self) -> Result<Counts, StoreError>;

    /// The manifest: indexed files with their stamps.
    fn manifest(&self) -> Result<Manifest, StoreError>;

    /// BM25 over identifier-split terms; best first, ties by chunk id.
    fn lexical(&self, terms: &[LexicalTerm], limit: usize) -> Result<Vec<Scored>, StoreError>;

    /// Counts words in this snapshot, for rankings that weigh them themselves.
    fn words(&self) -> Result<Box<dyn WordCounts>, StoreError>;

    /// Nearest vectors by cosine; best first, ties by chunk id. Empty when the generation has no vectors.
    fn dense(&self, vector: &[f32], limit: usize) -> Result<Vec<Scored>, StoreError>;

    /// The nearest vectors among these files, each with its file; best first, ties by chunk id.
    ///
    /// A store that knows its files by heart need not read the chunks, as this default does.
    fn dense_in(
        &self,
        vector: &[f32],
        limit: usize,
        among: &Among<'_>,
    ) -> Result<Vec<(Scored, String)>, StoreError> {
        let found = self.dense(vector, limit * 2)?;
        let ids: Vec<String> = found.iter().map(|scored| scored.chunk_id.clone()).collect();
        let paths: HashMap<String, String> =
            self.chunks(&ids)?.into_iter().map(|stored| (stored.chunk.id, stored.chunk.rel_path)).collect();
        let with_path = |scored: Scored| {
            let path = paths.get(&scored.chunk_id).filter(|path| among.allows(path))?.clone();
            Some((scored, path))
        };
        Ok(found.into_iter().filter_map(with_path).take(limit).collect())
    }

    /// The chunks with these ids, in the order asked; an unknown id is left out.
    fn chunks(&self, ids: &[String]) -> Result<Vec<StoredChunk>, StoreError>;

    /// All chunks of a file, by start line.
    fn chunks_in(&self, rel_path: &str) -> Result<Vec<StoredChunk>, StoreError>;

    /// Everything of a file as it was put, to be put elsewhere. Its vectors are as near as this store keeps them.
    fn record(&self, rel_path: &str) -> Result<Option<FileRecord>, StoreError>;

    /// All symbols of a file, by start line.
    fn symbols_in(&self, rel_path: &str) -> Result<Vec<Symbol>, StoreError>;

    /// The symbol with this id.
    fn symbol(&self, symbol_id: &str) -> Result<Option<Symbol>, StoreError>;

    /// Symbols whose last name component equals `name` (exact case), by file and line.
    fn symbols_named(&self, name: &str) -> Result<Vec<Symbol>, StoreError>;

    /// How many files define `name`, or some more: what [`GenerationReader::symbols_named`] would have to read.
    fn files_defining(&self, name: &str) -> Result<usize, StoreError> {
        Ok(self.symbols_named(name)?.len())
    }

    /// Edges that start in this symbol, sorted by site then target.
    fn callees(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError>;

    /// Edges that end in this symbol, sorted by site then source.
    fn callers(&self, symbol_id: &str) -> Result<Vec<CallEdge>, StoreError>;

    /// Notes of the graph about this file (unresolved or dynamic calls), by line.
    fn notes_in(&self, rel_path: &str) -> Result<Vec<GraphNote>, StoreError>;

    /// See [`GenerationWriter::payload_digest`].
    fn payload_digest(&self) -> Result<String, StoreError>;
}
