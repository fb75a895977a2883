//! Text to vectors: the seam behind which `none`, `static` and `openai` live.

mod none;
mod openai;
mod quantised;
mod words;

use chartroom_protocol::index::EmbeddingConfig;
use thiserror::Error;

pub use none::NoEmbedder;
pub use openai::{OpenAi, OpenAiConfig};
pub use quantised::{Quantised, dot};
pub use words::{StaticWords, TableError};

/// The embedder that the user's configuration asks for.
///
/// A key is read from the environment variable that the configuration names, never from the configuration itself.
pub fn from_config(config: &EmbeddingConfig) -> Result<Box<dyn Embedder>, EmbedError> {
    Ok(match config {
        EmbeddingConfig::Static => Box::new(StaticWords::built_in()?),
        EmbeddingConfig::None => Box::new(NoEmbedder),
        EmbeddingConfig::Openai { base_url, model, dimension, api_key_env } => {
            let key = match api_key_env {
                Some(name) => Some(std::env::var(name).map_err(|_| {
                    EmbedError::Refused(format!(
                        "the environment variable {name}, which holds the key, is not set"
                    ))
                })?),
                None => None,
            };
            Box::new(OpenAi::new(OpenAiConfig {
                base_url: base_url.clone(),
                model: model.clone(),
                dimension: *dimension as usize,
                key,
                ..OpenAiConfig::default()
            }))
        }
    })
}

/// Turns texts into unit-length vectors, all of one dimension.
///
/// An implementation batches and retries by itself; a caller may hand it any number of texts and gets exactly one
/// vector for each, in order, or an error for the whole call. No text is ever dropped silently.
pub trait Embedder: Send + Sync {
    /// The provider's name as it stands in the fingerprint: `static`, `openai`, `none`.
    fn provider(&self) -> &str;

    /// The model's name as it stands in the fingerprint.
    fn model(&self) -> &str;

    /// Length of every vector; 0 for `none`, which makes the index lexical only.
    fn dimension(&self) -> usize;

    /// Embeds pieces of code for storage.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds a query. Providers that treat the two alike keep this default.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>, EmbedError> {
        let mut vectors = self.embed(&[query])?;
        vectors.pop().ok_or_else(|| EmbedError::Response("no vector for the query".into()))
    }
}

/// Why texts could not be embedded.
#[derive(Debug, Error)]
pub enum EmbedError {
    /// The provider cannot be reached; trying again later may help.
    #[error("the embedding provider is unavailable: {0}")]
    Unavailable(String),
    /// The provider refuses the key or the model; only the configuration can help.
    #[error("the embedding provider refused the request: {0}")]
    Refused(String),
    /// The provider answered something that is not one vector per text.
    #[error("the embedding provider gave an unusable answer: {0}")]
    Response(String),
}

/// Makes a vector's length one; a zero vector stays as it is.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 && length.is_finite() {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}
