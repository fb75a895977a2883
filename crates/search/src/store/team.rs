//! What a store can do besides when a team shares its generations.
//!
//! The generation that answers is always this machine's own, of this working tree. What is shared is where it is filled
//! from: versions of files that somebody has parsed and embedded already.

use serde_json::Value;

use super::{FileRecord, FileStamp, Fingerprint, MarkerDoc, ProbeError, StoreError};

/// Which shared index a root belongs to.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Binding {
    /// The name that the team knows it by.
    pub project: String,
    /// Whether this machine writes it.
    pub role: Role,
}

/// What a machine does with a shared index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A sync that is asked for is shared.
    Writer,
    /// Nothing of this machine leaves it.
    Reader,
}

/// What a share did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shared {
    /// The number of the generation that answers now.
    pub generation: u64,
    /// Files of it.
    pub files: u64,
    /// Files whose content was sent.
    pub files_sent: u64,
    /// Vectors that were sent.
    pub vectors_sent: u64,
    /// Bytes of what was sent, before the protocol's own.
    pub bytes_sent: u64,
}

/// Why nothing was shared.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// Another machine shares this project now.
    #[error("{owner} is sharing this index now")]
    Busy {
        /// Who.
        owner: String,
    },
    /// Another machine took over because this one was not heard of.
    #[error("another machine took the lease over; nothing of this share is published")]
    Lost,
    /// All was sent and the step that publishes it was asked for; no answer came.
    #[error(
        "it is not known whether this share is published, as the answer to its last step did not come: {0}"
    )]
    Unanswered(StoreError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How this working tree differs from what the team shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlay {
    /// The project.
    pub project: String,
    /// The generation that was compared with.
    pub generation: u64,
    /// When that was completed, RFC 3339.
    pub completed_at: String,
    /// Files that are new, other or gone here.
    pub files: u64,
}

/// How the server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Where it is.
    pub address: String,
    /// What it calls itself, or why it does not answer.
    pub version: Result<String, String>,
    /// How long the answer took.
    pub latency_ms: u64,
    /// The last trouble and when, RFC 3339.
    pub last_trouble: Option<(String, String)>,
}

/// The team's side of a store.
pub trait Team: Send + Sync {
    /// What a root is bound to.
    fn binding(&self, root: &str) -> Result<Option<Binding>, StoreError>;

    /// Binds a root, or changes what it is bound to.
    fn bind(&self, root: &str, binding: &Binding) -> Result<(), StoreError>;

    /// Lets a root be this machine's alone again; what the team has stays.
    fn unbind(&self, root: &str) -> Result<(), StoreError>;

    /// The marker of this machine's own generation, whatever the team's says.
    fn own_marker(&self, root: &str) -> Result<Option<Value>, ProbeError>;

    /// The marker of the team's generation, with this root in the place of its writer's.
    fn shared_marker(&self, root: &str, project: &str) -> Result<Option<Value>, ProbeError>;

    /// What the team knows of these versions of files, in the order asked; all none when the root is bound to nothing.
    fn known_files(
        &self,
        root: &str,
        fingerprint: &Fingerprint,
        wanted: &[(&str, &FileStamp)],
    ) -> Result<Vec<Option<FileRecord>>, StoreError>;

    /// Makes this machine's published generation the team's.
    fn share(&self, root: &str, project: &str, marker: &MarkerDoc) -> Result<Shared, ShareError>;

    /// How this tree differs from what is shared, as far as is known without asking the server anew.
    fn overlay(&self, root: &str) -> Option<Overlay>;

    /// Asks the server how it is.
    fn health(&self) -> Health;
}
