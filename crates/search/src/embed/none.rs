//! No embedder: the index is lexical only.

use super::{EmbedError, Embedder};

/// Gives an empty vector for every text.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEmbedder;

impl Embedder for NoEmbedder {
    fn provider(&self) -> &str {
        "none"
    }

    fn model(&self) -> &str {
        "none"
    }

    fn dimension(&self) -> usize {
        0
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(vec![Vec::new(); texts.len()])
    }
}
