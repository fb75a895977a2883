//! How often words stand where: what a ranking counts from.

use super::{LexicalField, StoreError};
use crate::paths::{self, Category};
use crate::query::stems::stem;
use crate::query::words::for_each_term;

/// The files and chunks of a snapshot, by number, with their sizes in words.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct WordTable {
    /// The files' paths.
    pub paths: Vec<String>,
    /// What sort of file each is.
    pub kinds: Vec<PathKind>,
    /// What the name of each says.
    pub names: Vec<FileName>,
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

/// What a file's name says, as hashes, found out once for a snapshot.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileName {
    /// The stems of its words, the extension left out.
    pub stems: Vec<u64>,
    /// Its folder and its name: see [`FileName::tail_of`].
    pub tail: u64,
}

impl FileName {
    /// Looks at a path.
    pub fn of(path: &str) -> Self {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut stems = Vec::new();
        for_each_term(Self::stem_of(name), |word| stems.push(Self::hash_of(stem(word))));
        let folder = folders.rsplit('/').next().unwrap_or_default().to_lowercase();
        Self { stems, tail: Self::tail_of(&folder, &Self::stem_of(name).to_lowercase()) }
    }

    /// A name without what follows its first dot.
    pub fn stem_of(name: &str) -> &str {
        name.split('.').next().unwrap_or(name)
    }

    /// A word as `stems` has it.
    pub fn hash_of(word: &str) -> u64 {
        // FNV-1a: short words, and the same number in every process.
        word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// A folder's name and the stem of a file's, both in lower case.
    pub fn tail_of(folder: &str, stem: &str) -> u64 {
        Self::hash_of(folder).rotate_left(17) ^ Self::hash_of(stem)
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
