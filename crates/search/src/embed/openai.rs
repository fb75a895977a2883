//! Any server that speaks OpenAI's `/v1/embeddings`: batches, retries, and never a chunk lost.

mod backoff;

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{EmbedError, Embedder, normalise};
use backoff::{Patience, Verdict};

/// Where and how to ask.
#[derive(Clone)]
pub struct OpenAiConfig {
    /// With or without a trailing slash, up to and including `/v1`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// The length of its vectors.
    pub dimension: usize,
    /// Sent as a bearer token; none for local servers.
    pub key: Option<String>,
    /// Texts in one request.
    pub batch: usize,
    /// Texts longer than this many bytes are cut: models have limits, and the start of a chunk says what it is.
    pub max_text: usize,
    /// For one request.
    pub timeout: Duration,
    /// Requests for one batch, the first included.
    pub attempts: u32,
    /// The wait after the first failure; it doubles.
    pub first_wait: Duration,
    /// No wait is longer, whatever the server asks for.
    pub longest_wait: Duration,
}

impl Default for OpenAiConfig {
    fn default() -> Self {
        Self {
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "text-embedding-3-small".to_owned(),
            dimension: 1536,
            key: None,
            batch: 100,
            max_text: 16_000,
            timeout: Duration::from_secs(60),
            attempts: 6,
            first_wait: Duration::from_millis(500),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// See the module.
pub struct OpenAi {
    config: OpenAiConfig,
    agent: ureq::Agent,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAi {
    /// Returns a client; nothing is asked yet.
    pub fn new(config: OpenAiConfig) -> Self {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(config.timeout))
            .http_status_as_error(false)
            // A redirect would carry the key to wherever the server says.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .build()
            .into();
        Self { config, agent }
    }

    /// One batch, tried until it is answered in full or patience ends.
    fn batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut patience = Patience::new(&self.config);
        loop {
            let (verdict, told) = match self.ask(texts) {
                Ok(vectors) => return Ok(vectors),
                Err(failed) => failed,
            };
            match verdict {
                Verdict::Final => return Err(told),
                Verdict::Retry { after } => match patience.next(after) {
                    Some(wait) => {
                        tracing::warn!(%told, ?wait, "embedding: trying again");
                        backoff::pause(wait);
                    }
                    None => return Err(told),
                },
            }
        }
    }

    fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, (Verdict, EmbedError)> {
        let url = format!("{}/embeddings", self.config.base_url.trim_end_matches('/'));
        let mut request = self.agent.post(&url);
        if let Some(key) = &self.config.key {
            request = request.header("Authorization", format!("Bearer {key}"));
        }
        let body = Request { model: &self.config.model, input: texts, encoding_format: "float" };
        let retry = Verdict::Retry { after: None };
        let mut response = request
            .send_json(&body)
            .map_err(|error| (retry, EmbedError::Unavailable(format!("{url}: {error}"))))?;
        let status = response.status().as_u16();
        if status != 200 {
            let after = response
                .headers()
                .get("retry-after")
                .and_then(|value| value.to_str().ok())
                .and_then(|value| value.trim().parse::<f64>().ok())
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let text = response.body_mut().with_config().limit(65_536).read_to_string().unwrap_or_default();
            let said: String = text.chars().take(300).collect();
            let message = format!("{url} answered {status}: {said}");
            return Err(match status {
                408 | 409 | 425 | 429 | 500..=599 => {
                    (Verdict::Retry { after }, EmbedError::Unavailable(message))
                }
                _ => (Verdict::Final, EmbedError::Refused(message)),
            });
        }
        let answer: Answer = response
            .body_mut()
            .with_config()
            .limit(256 * 1024 * 1024)
            .read_json()
            .map_err(|error| (retry, EmbedError::Response(format!("{url}: {error}"))))?;
        self.collect(answer, texts.len()).map_err(|error| (retry, error))
    }

    /// One vector per text, in the order of the texts, whatever the order of the answer.
    fn collect(&self, answer: Answer, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
        for row in answer.data {
            let length = row.embedding.len();
            if length != self.config.dimension {
                return Err(EmbedError::Response(format!(
                    "{} gives vectors of {length} numbers, the configuration says {}",
                    self.config.model, self.config.dimension
                )));
            }
            if let Some(place) = vectors.get_mut(row.index) {
                let mut vector = row.embedding;
                normalise(&mut vector);
                *place = Some(vector);
            }
        }
        let got = vectors.iter().flatten().count();
        if got < count {
            return Err(EmbedError::Response(format!("{got} vectors for {count} texts")));
        }
        Ok(vectors.into_iter().flatten().collect())
    }
}

impl Embedder for OpenAi {
    fn provider(&self) -> &str {
        "openai"
    }

    fn model(&self) -> &str {
        &self.config.model
    }

    fn dimension(&self) -> usize {
        self.config.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let cut: Vec<&str> = texts
            .iter()
            .map(|text| {
                let mut end = text.len().min(self.config.max_text);
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                // Servers refuse an empty input; a blank stands for it.
                if end == 0 { " " } else { &text[..end] }
            })
            .collect();
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in cut.chunks(self.config.batch.max(1)) {
            vectors.extend(self.batch(batch)?);
        }
        Ok(vectors)
    }
}
