//! What the path of a file says, found out once.

use crate::paths::{self, Category};
use crate::query::stems::stem;
use crate::query::words::for_each_term;

/// What a path says of the sort of file.
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

/// What a file's name says, as hashes.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileName {
    /// The stems of its words, the extension left out.
    pub stems: Box<[u64]>,
    /// Its folder and its name: see [`FileName::tail_of`].
    pub tail: u64,
    /// Its name as it stands.
    pub name: u64,
}

impl FileName {
    /// Looks at a path.
    pub fn of(path: &str) -> Self {
        let name = Self::name_of(path);
        let mut stems = Vec::new();
        for_each_term(Self::stem_of(name), |word| stems.push(Self::hash_of(stem(word))));
        Self { stems: stems.into(), tail: Self::tail_of_path(path), name: Self::hash_of(name) }
    }

    /// The last part of a path.
    pub fn name_of(path: &str) -> &str {
        path.rsplit('/').next().unwrap_or(path)
    }

    /// The folder's name and the stem of the file's.
    pub fn tail_of_path(path: &str) -> u64 {
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = folders.rsplit('/').next().unwrap_or_default().to_lowercase();
        Self::tail_of(&folder, &Self::stem_of(name).to_lowercase())
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
