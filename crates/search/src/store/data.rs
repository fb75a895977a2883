//! The plain data that crosses the store's seam.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::symbols::{Facts, SymbolKind};

/// A generation's number; a later one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GenerationId(pub u64);

/// A searchable piece of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// `chunk_` + hash of path, span and content: unique in a root, equal for equal input.
    pub id: String,
    /// Path below the root, with `/`.
    pub rel_path: String,
    /// 1-based, inclusive.
    pub start_line: u32,
    /// 1-based, inclusive.
    pub end_line: u32,
    /// Lower-case language name, `text` when unknown.
    pub language: String,
    /// The text as it stands in the file.
    pub content: String,
    /// Enclosing scopes, outermost first.
    pub breadcrumbs: Vec<String>,
    /// The symbol this chunk belongs to.
    pub symbol_id: Option<String>,
    /// `function f(params)`, `class X`, ….
    pub symbol_label: Option<String>,
    /// blake3 (hex) of what is embedded: the key under which vectors are reused.
    pub content_hash: String,
}

/// A chunk as read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// The chunk.
    pub chunk: Chunk,
    /// When it was written, milliseconds since 1970.
    pub indexed_at_ms: i64,
}

/// A definition in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// `sym_` + hash of relative path, kind, qualified name and an ordinal; survives edits above it.
    pub symbol_id: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Scopes and name, joined with `.`: `Outer.inner.name`.
    pub qualified_name: String,
    /// What an answer shows: `method m(params)`.
    pub label: String,
    /// Path below the root, with `/`.
    pub rel_path: String,
    /// Lower-case language name.
    pub language: String,
    /// 1-based, inclusive.
    pub start_line: u32,
    /// 1-based, inclusive.
    pub end_line: u32,
}

/// What kind of relation a call site is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeKind {
    /// A direct call.
    Call,
    /// An import.
    Import,
    /// A call through a receiver or by name at run time.
    Dynamic,
    /// A type extends or implements another.
    Implements,
}

/// One resolved relation between two symbols.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallEdge {
    /// The symbol that contains the site.
    pub src_symbol_id: String,
    /// The symbol that is called.
    pub dst_symbol_id: String,
    /// How.
    pub kind: EdgeKind,
    /// The file of the site.
    pub site_file: String,
    /// The line of the site, 1-based.
    pub site_line: u32,
    /// 0..1, honest: 1.0 only when resolution is certain.
    pub confidence: f32,
}

/// What kind of gap a note tells of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A call whose target is not in the index.
    UnresolvedEdge,
    /// A call whose target is only known at run time.
    DynamicEdge,
    /// A file whose symbols could not be read.
    MissingSymbolMetadata,
}

/// Something the graph does not know, told instead of hidden.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphNote {
    /// What kind of gap.
    pub kind: NoteKind,
    /// Path below the root.
    pub file: String,
    /// 1-based.
    pub start_line: u32,
    /// The symbol that contains it.
    pub symbol_id: Option<String>,
    /// In words.
    pub detail: String,
}

/// A file's stat as of the last scan, and the hash of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// blake3 of the bytes, hex.
    pub hash: String,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Nanoseconds since 1970.
    pub ctime_ns: i64,
}

/// Everything the index knows of one file, written as one.
///
/// Call sites are kept unresolved per file by the content half; how edges are stored is up to the store, as long as
/// `callers`/`callees` answer from the current files.
#[derive(Debug, Clone)]
pub struct FileRecord {
    /// Path below the root, with `/`.
    pub rel_path: String,
    /// Goes to the manifest in the same step.
    pub stamp: FileStamp,
    /// The pieces.
    pub chunks: Vec<Chunk>,
    /// One per chunk, in order; empty when the embedder is `none`.
    pub vectors: Vec<Vec<f32>>,
    /// The definitions.
    pub symbols: Vec<Symbol>,
    /// Call sites and imports of this file.
    pub facts: Facts,
}

/// One step of a sync.
#[derive(Debug, Clone)]
pub enum FileChange {
    /// Replaces everything of the file.
    Put(Box<FileRecord>),
    /// Removes everything of the file.
    Remove(String),
    /// Same bytes, other stat: only the manifest changes.
    Touch(String, FileStamp),
}

/// What an `apply` did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Applied {
    /// Chunks written.
    pub chunks_written: u64,
    /// Chunks removed.
    pub chunks_removed: u64,
}

/// The files of a generation and what the last scan could not see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    /// By path below the root.
    pub files: BTreeMap<String, FileStamp>,
    /// Directories that could not be read, sorted, segment-safe; entries below them are kept.
    pub unscanned: Vec<String>,
}

/// Totals of a generation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files in the manifest.
    pub files: u64,
    /// Chunks.
    pub chunks: u64,
    /// Symbols.
    pub symbols: u64,
    /// Resolved edges.
    pub edges: u64,
    /// Notes.
    pub notes: u64,
    /// When the call graph was last brought up to date, milliseconds since 1970.
    pub graph_built_at_ms: i64,
}

/// One finished mutation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    /// `run_<uuid>` of the operation.
    pub run_id: String,
    /// `create`, `reindex`, `sync`, `repair`.
    pub action: String,
    /// Files added, removed, modified.
    pub added: u64,
    /// See `added`.
    pub removed: u64,
    /// See `added`.
    pub modified: u64,
    /// RFC 3339.
    pub finished_at: String,
}

/// What an index was made with. Two indexes are compatible when all five fields are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Fingerprint {
    /// `static`, `openai`, `none`.
    pub embedding_provider: String,
    /// The model's name.
    pub embedding_model: String,
    /// 0 for `none`.
    pub embedding_dimension: u32,
    /// `embedded`, ….
    pub vector_store_provider: String,
    /// `hybrid_v7`, `lexical_v7`: raised with every change of what is stored of a file.
    pub schema_version: String,
}

/// The proof that a generation is complete, kept in that generation itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MarkerDoc {
    /// [`MarkerDoc::KIND`].
    pub kind: String,
    /// The canonical root.
    pub codebase_path: String,
    /// What it was made with.
    pub fingerprint: Fingerprint,
    /// Files indexed when the marker was written.
    pub indexed_files: u64,
    /// Chunks stored when the marker was written.
    pub total_chunks: u64,
    /// RFC 3339.
    pub completed_at: String,
    /// `run_<uuid>`.
    pub run_id: String,
}

impl MarkerDoc {
    /// The only kind that counts.
    pub const KIND: &'static str = "chartroom_index_completion_v1";
}

/// Which part of a chunk a lexical term is looked up in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LexicalField {
    /// Symbol labels.
    Symbol,
    /// Path segments.
    Path,
    /// Text.
    Content,
    /// Stems of the text's words (see `query::stems`).
    Stem,
}

/// One weighted term of a lexical query, already split and lower-cased by `query`.
#[derive(Debug, Clone, PartialEq)]
pub struct LexicalTerm {
    /// The token.
    pub text: String,
    /// Where.
    pub field: LexicalField,
    /// Its boost.
    pub weight: f32,
}

/// A hit: a chunk id and a score that only means something within its own list.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// See [`Chunk::id`].
    pub chunk_id: String,
    /// Higher is better.
    pub score: f32,
}

impl std::fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}/{}/{}/{}/{}",
            self.embedding_provider,
            self.embedding_model,
            self.embedding_dimension,
            self.vector_store_provider,
            self.schema_version
        )
    }
}
