//! How often words stand where: what a ranking counts from.

use super::{LexicalField, StoreError};

/// The files and chunks of a snapshot, by number, with their sizes in words.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WordTable {
    /// The files' paths.
    pub paths: Vec<String>,
    /// The chunks; one that is gone belongs to no file.
    pub chunks: Vec<ChunkWords>,
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

    /// The id of a chunk by its number.
    fn chunk_id(&self, chunk: u32) -> Option<String>;
}
