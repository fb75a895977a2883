//! Who hears of turns: something that must be done before an agent gets a message and after it has ended a turn.

use std::path::{Path, PathBuf};

use chartroom_protocol::ids::{SessionId, TurnId};
use futures_util::future::BoxFuture;

/// A turn, and where its agent works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnPlace {
    /// The session.
    pub session_id: SessionId,
    /// The turn.
    pub turn_id: TurnId,
    /// The folder of the session's project.
    pub project_dir: PathBuf,
}

/// Hears of every turn, of each session in order: the calls come in that order, whatever is awaited when.
pub trait TurnWatch: Send + Sync {
    /// An agent is started on a new conversation in this folder: a turn may come soon.
    fn opens(&self, project_dir: &Path);

    /// A turn begins. The agent gets its message when the future is done; a turn that the agent began by itself waits
    /// for nobody.
    fn begins(&self, turn: TurnPlace) -> BoxFuture<'static, ()>;

    /// A turn is over.
    fn ended(&self, turn: TurnPlace);
}
