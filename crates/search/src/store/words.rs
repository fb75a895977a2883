//! How often words stand where: what a ranking counts from.

use super::{LexicalField, StoreError};
use crate::paths::{self, Category};

/// The files and chunks of a snapshot, by number, with their sizes in words.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct WordTable {
    /// The files' paths.
    pub paths: Vec<String>,
    /// What sort of file each is.
    pub kinds: Vec<PathKind>,
    /// The chunks; one that is gone belongs to no file.
    pub chunks: Vec<ChunkWords>,
}

/// What a path says, found out once for a snapshot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathKind {
    /// The sort of file.
    pub category: Category,
    /// What it is worth before anything is asked.
    pub standing: f32,
}

impl PathKind {
    /// Looks at a path.
    pub fn of(path: &str) -> Self {
        Self { category: paths::category(path), standing: paths::standing(path) }
    }
}

/// One chunk's sizes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ChunkWords {
    /// The number of its file.
    pub file: Option<u32>,
    /// Words of its labels.
    pub symbol: u32,
    /// Words of its path.
    pub path: u32,
    /// Words of its text.
    pub content: u32,
    /// Stems of its text.
    pub stem: u32,
}

/// Counts words in one snapshot.
pub trait WordCounts {
    /// What is counted in.
    fn table(&self) -> &WordTable;

    /// Calls `each` with the number of every chunk that has the word, and how often. A chunk that is gone may be among
    /// them; the table tells.
    fn occurrences(
        &self,
        field: LexicalField,
        word: &str,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), StoreError>;

    /// How many chunks have the word, those that are gone included.
    fn frequency(&self, field: LexicalField, word: &str) -> Result<u64, StoreError>;

    /// The id of a chunk by its number.
    fn chunk_id(&self, chunk: u32) -> Option<String>;
}
