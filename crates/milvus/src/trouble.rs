//! What can go wrong with a server, sorted by what it says about the index: nothing.

use chartroom_search::store::{ProbeError, StoreError};

/// Why a server did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Trouble {
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// In words.
    pub text: String,
}

/// Kinds of trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// There is no such collection or alias.
    Missing,
    /// No answer in time.
    Timeout,
    /// The connection broke or was not made.
    Transport,
    /// The token was refused, or has no right to do this.
    Auth,
    /// The server is there but does not serve.
    Unavailable,
    /// What answers is no Milvus, or answers what cannot be read.
    Parse,
    /// The server refuses this request, and would again.
    Refused,
    /// A collection of ours has columns of another shape.
    Shape,
    /// The collection is there and must be loaded first, as after a restart.
    NotLoaded,
}

impl Trouble {
    /// Trouble of a kind, in words.
    pub fn new(kind: TroubleKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Whether the server itself cannot be used now: asking again at once would only wait again.
    pub(crate) fn is_outage(&self) -> bool {
        matches!(
            self.kind,
            TroubleKind::Timeout | TroubleKind::Transport | TroubleKind::Unavailable | TroubleKind::Parse
        )
    }

    /// Whether something is wrong, with the server or with us: that a thing is not there, or not loaded, is an answer.
    pub(crate) fn is_worth_telling(&self) -> bool {
        !matches!(self.kind, TroubleKind::Missing | TroubleKind::NotLoaded)
    }
}

impl From<Trouble> for ProbeError {
    fn from(trouble: Trouble) -> Self {
        let Trouble { kind, text } = trouble;
        match kind {
            TroubleKind::Timeout => Self::Timeout(text),
            TroubleKind::Transport => Self::Transport(text),
            TroubleKind::Auth => Self::Auth(text),
            TroubleKind::Parse => Self::Parse(text),
            TroubleKind::Shape => Self::Corrupt(text),
            TroubleKind::Unavailable
            | TroubleKind::Refused
            | TroubleKind::Missing
            | TroubleKind::NotLoaded => Self::Unavailable(text),
        }
    }
}

impl From<Trouble> for StoreError {
    fn from(trouble: Trouble) -> Self {
        let Trouble { kind, text } = trouble;
        match kind {
            TroubleKind::Auth => Self::ReadOnly(text),
            TroubleKind::Shape => Self::Corrupt(text),
            TroubleKind::Timeout
            | TroubleKind::Transport
            | TroubleKind::Parse
            | TroubleKind::Unavailable
            | TroubleKind::Refused
            | TroubleKind::Missing
            | TroubleKind::NotLoaded => Self::Unavailable(text),
        }
    }
}
