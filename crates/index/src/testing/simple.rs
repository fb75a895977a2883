//! An embedder as simple as can be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chartroom_search::embed::{EmbedError, Embedder};

/// An embedder whose vectors say nothing.
pub(super) struct OneDimension {
    pub(super) model: String,
    /// How many texts it was given.
    pub(super) texts: Arc<AtomicUsize>,
}

impl Embedder for OneDimension {
    fn provider(&self) -> &str {
        "test"
    }
    fn model(&self) -> &str {
        &self.model
    }
    fn dimension(&self) -> usize {
        1
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        Ok(vec![vec![1.0]; texts.len()])
    }
}
