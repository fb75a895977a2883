//! A store that counts no words: the tests of the state have their own search.

use std::sync::LazyLock;

use chartroom_search::store::{EachBlock, LexicalField, StoreError, WordCounts, WordTable};

pub(crate) struct NoWords;

static EMPTY: LazyLock<WordTable> = LazyLock::new(WordTable::default);

impl WordCounts for NoWords {
    fn table(&self) -> &WordTable {
        &EMPTY
    }

    fn blocks(&self, _: LexicalField, _: &str, _: &mut EachBlock<'_>) -> Result<(), StoreError> {
        Ok(())
    }

    fn frequency(&self, _: LexicalField, _: &str) -> Result<u64, StoreError> {
        Ok(0)
    }

    fn chunk_id(&self, _: u32) -> Option<String> {
        None
    }
}
