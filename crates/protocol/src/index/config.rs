//! The `[index]` table of the user's config file.

use serde::{Deserialize, Serialize};

/// How code is indexed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct IndexConfig {
    /// Who turns text into vectors.
    pub embedding: EmbeddingConfig,
    /// Where the index is kept.
    pub store: StoreConfig,
    /// Whether indexed folders are watched for changes.
    pub watch: WatchConfig,
}

/// Who turns text into vectors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "provider", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum EmbeddingConfig {
    /// A trained table of words inside the binary, asked with short questions: no download, no key.
    #[default]
    Static,
    /// Any server that speaks OpenAI's `/v1/embeddings`.
    Openai {
        /// `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`, ….
        base_url: String,
        /// The model's name.
        model: String,
        /// The length of its vectors.
        dimension: u32,
        /// The environment variable that holds the key; none for local servers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        api_key_env: Option<String>,
    },
    /// No vectors: lexical search only.
    None,
}

/// Where the index is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "provider", rename_all = "lowercase", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum StoreConfig {
    /// SQLite below the data folder.
    #[default]
    Embedded,
    /// The same, and shared with a team through Milvus or Zilliz Cloud where `chartroom index share` or `adopt` says so.
    Milvus {
        /// `http://host:19530` or `https://….zillizcloud.com`.
        address: String,
        /// The environment variable that holds the token (`user:password` or an API key); none for an open server.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token_env: Option<String>,
        /// The database; the server's default when none is named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        database: Option<String>,
        /// Certificates to trust instead of the system's, PEM.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ca_file: Option<String>,
        /// How long a machine that shares may be silent before another takes over; 30 when not said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_seconds: Option<u32>,
    },
}

/// Whether indexed folders are watched for changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct WatchConfig {
    /// Off means: changes are found at the next search or background sync.
    pub enabled: bool,
    /// How long a folder must be quiet before a sync.
    pub debounce_ms: u64,
}

impl Default for WatchConfig {
    fn default() -> Self {
        Self { enabled: true, debounce_ms: 5000 }
    }
}
