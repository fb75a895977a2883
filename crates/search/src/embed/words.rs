//! The built-in embedder: a trained table of words and parts of words, one vector each, inside the binary.
//!
//! A text is the sum of its words' vectors; the lengths of the vectors say how much each word counts, and a word that
//! comes often counts by the logarithm of how often. Comments of packages and the code below them taught the table which
//! words mean the same: `tools/embedder` has the recipe, its sources and what it is worth.

mod table;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use super::{EmbedError, Embedder};
use crate::query::words::Words;
use table::Table;

pub use table::TableError;

/// The name in the fingerprint. A table that was trained anew has another.
const MODEL: &str = "code-words-256-v1";
/// A chunk has a few hundred words; what is beyond adds nothing but time.
const MAX_WORDS: usize = 600;

static BUILT_IN: OnceLock<Result<Table, TableError>> = OnceLock::new();

/// See the module.
#[derive(Debug, Clone, Copy)]
pub struct StaticWords {
    table: &'static Table,
}

impl StaticWords {
    /// The table inside the binary, looked through once in a process.
    pub fn built_in() -> Result<Self, EmbedError> {
        let read = || Table::read(include_bytes!("words/code-words-256-v1.table"));
        match BUILT_IN.get_or_init(read) {
            Ok(table) => Ok(Self { table }),
            Err(error) => Err(EmbedError::Refused(error.to_string())),
        }
    }
}

impl Embedder for StaticWords {
    fn provider(&self) -> &str {
        "static"
    }

    fn model(&self) -> &str {
        MODEL
    }

    fn dimension(&self) -> usize {
        table::DIMENSION
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut numbers = Vec::with_capacity(MAX_WORDS);
        Ok(texts.iter().map(|text| vector(self.table, text, &mut numbers)).collect())
    }
}

/// One text's vector, of unit length or zero. `numbers` is room for its pieces.
fn vector(table: &Table, text: &str, numbers: &mut Vec<u32>) -> Vec<f32> {
    numbers.clear();
    let mut words = Words::new(text, false);
    let mut word = String::with_capacity(64);
    for _ in 0..MAX_WORDS {
        if !words.next(&mut word) {
            break;
        }
        table.vocabulary.pieces(&word, numbers);
    }
    numbers.sort_unstable();
    let mut sum = [0.0_f32; table::DIMENSION];
    for equal in numbers.chunk_by(|left, right| left == right) {
        table.add(equal[0], 1.0 + (equal.len() as f32).ln(), &mut sum);
    }
    super::normalise(&mut sum);
    sum.to_vec()
}
