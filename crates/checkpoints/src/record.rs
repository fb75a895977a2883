//! A checkpoint: a commit of our repository, with what is known of it as its message and a reference of its own.

use serde::{Deserialize, Serialize};

use crate::CheckpointError;
use crate::git::Git;
use crate::snapshot::{LeftOut, Snapshot};

/// Where the references lie. Behind it stands the time in milliseconds and the beginning of the commit's id, so that their
/// order is the order of their making.
const REFERENCES: &str = "refs/checkpoints/";
/// How much of a commit's id is the checkpoint's.
const ID_LENGTH: usize = 12;
/// How many records without a label are kept of one folder.
const KEPT: usize = 500;
/// So many more may gather before some go.
const SLACK: usize = 100;

/// Why a record was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// By hand.
    #[default]
    Made,
    /// Before something was restored.
    Undo,
    /// Before a turn of an agent.
    Before,
    /// After a turn of an agent.
    After,
}

/// What is written beside a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Words {
    /// Why it was made.
    #[serde(default)]
    pub kind: Kind,
    /// In the user's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The session whose turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// That turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

/// A record of the working tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Its id.
    #[serde(rename = "checkpoint")]
    pub id: String,
    /// When, in milliseconds since 1970.
    pub at: u64,
    #[serde(flatten)]
    pub(crate) words: Words,
    /// What is not in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// The whole id of its commit.
    #[serde(skip)]
    pub(crate) commit: String,
    #[serde(skip)]
    reference: String,
}

impl Checkpoint {
    /// What is written beside it.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// When, as people read it, in universal time.
    pub fn time(&self) -> String {
        let at = i64::try_from(self.at / 1000).ok().and_then(|at| jiff::Timestamp::from_second(at).ok());
        at.map_or_else(|| self.at.to_string(), |at| at.to_string())
    }
}

/// The message of a commit.
#[derive(Serialize, Deserialize)]
struct Message {
    #[serde(flatten)]
    words: Words,
    #[serde(default, rename = "leftOut", skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
    /// Two records of one tree in one second are two commits.
    at: u64,
}

/// Keeps a tree.
pub(crate) async fn keep(
    git: &Git,
    snapshot: Snapshot,
    words: Words,
    at: u64,
) -> Result<Checkpoint, CheckpointError> {
    let message = Message { words, left_out: snapshot.left_out, at };
    let text = serde_json::to_vec(&message).unwrap_or_default();
    let commit = git.line(&["commit-tree", &snapshot.tree], &text).await?;
    let id: String = commit.chars().take(ID_LENGTH).collect();
    let reference = format!("{REFERENCES}{at:013}-{id}");
    git.ask(&["update-ref", &reference, &commit]).await?;
    let Message { words, left_out, .. } = message;
    Ok(Checkpoint { id, at, words, left_out, commit, reference })
}

/// Returns all of them, the oldest first.
pub(crate) async fn list(git: &Git) -> Result<Vec<Checkpoint>, CheckpointError> {
    let format = "--format=%(refname)%00%(objectname)%00%(contents)%00%00";
    let answer = git.ask(&["for-each-ref", "--sort=refname", format, REFERENCES]).await?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.split("\0\0").filter_map(|entry| read(entry.trim_start_matches('\n'))).collect())
}

fn read(entry: &str) -> Option<Checkpoint> {
    let mut fields = entry.splitn(3, '\0');
    let (reference, commit, message) = (fields.next()?, fields.next()?, fields.next()?);
    let (at, id) = reference.strip_prefix(REFERENCES)?.split_once('-')?;
    let Message { words, left_out, .. } = serde_json::from_str(message.trim()).ok()?;
    Some(Checkpoint {
        id: id.to_owned(),
        at: at.parse().ok()?,
        words,
        left_out,
        commit: commit.to_owned(),
        reference: reference.to_owned(),
    })
}

/// Forgets the oldest that nobody gave a name, and what only they held.
pub(crate) async fn thin(git: &Git) -> Result<(), CheckpointError> {
    let nameless: Vec<Checkpoint> =
        list(git).await?.into_iter().filter(|checkpoint| checkpoint.words.label.is_none()).collect();
    if nameless.len() <= KEPT + SLACK {
        return Ok(());
    }
    for checkpoint in &nameless[..nameless.len() - KEPT] {
        git.ask(&["update-ref", "-d", &checkpoint.reference]).await?;
    }
    git.ask(&["repack", "-a", "-d", "-l", "-q"]).await?;
    git.ask(&["prune", "--expire=now"]).await.map(drop)
}

/// Finds the one whose id begins so.
pub(crate) fn find(checkpoints: Vec<Checkpoint>, id: &str) -> Result<Option<Checkpoint>, CheckpointError> {
    let fits = |checkpoint: &Checkpoint| {
        !id.is_empty() && (checkpoint.id.starts_with(id) || checkpoint.commit == id)
    };
    let mut found = checkpoints.into_iter().filter(fits);
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(CheckpointError::Ambiguous { id: id.to_owned() }),
        (one, _) => Ok(one),
    }
}
