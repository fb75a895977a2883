//! How often words stand where: what a ranking counts from.

use super::{LexicalField, StoreError};

mod file_name;
mod table;

pub use file_name::{FileName, PathKind};
pub use table::{ChunkWords, Chunks, FileWords, WordTable};

/// Takes chunks that have a word, many at a time: a number, what is added to it for each chunk, and how often each has it.
/// Gives the number from which on others are wanted; those before may be given all the same.
pub type EachBlock<'a> = dyn FnMut(u32, &[u32], &[u32]) -> u32 + 'a;

/// Counts words in one snapshot.
pub trait WordCounts: Sync {
    /// What is counted in.
    fn table(&self) -> &WordTable;

    /// Calls `each` with every chunk that has the word, once, and how often it has it. A chunk that is gone may be among
    /// them; the table tells.
    fn blocks(&self, field: LexicalField, word: &str, each: &mut EachBlock<'_>) -> Result<(), StoreError>;

    /// Calls `each` with the number of every chunk that has the word, and how often: see [`WordCounts::blocks`].
    fn occurrences(
        &self,
        field: LexicalField,
        word: &str,
        each: &mut dyn FnMut(u32, u32),
    ) -> Result<(), StoreError> {
        self.blocks(field, word, &mut |base, chunks, times| {
            chunks.iter().zip(times).for_each(|(chunk, times)| each(base + chunk, *times));
            0
        })
    }

    /// How many chunks have the word, those that are gone included.
    fn frequency(&self, field: LexicalField, word: &str) -> Result<u64, StoreError>;

    /// The store's own id of the version of each file that has chunks, by the file's number; none where it has no such ids.
    fn file_ids(&self) -> &[u32] {
        &[]
    }

    /// The id of a chunk by its number.
    fn chunk_id(&self, chunk: u32) -> Option<String>;
}
