//! A checkpoint: a line in the folder's list of records, and a commit of our repository that holds its tree.
//!
//! Records of one state share a commit: a record of a tree in which nothing changed is one line more.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::git::{Git, Question, owned};
use crate::snapshot::LeftOut;
use crate::{CheckpointError, io};

/// Where the references lie that keep the commits. Behind it stands the commit's id.
const REFERENCES: &str = "refs/checkpoints/";
/// The list of records, a line of JSON each, the oldest first.
const LIST: &str = "records.jsonl";
/// How long an id is.
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
    /// When a person closed the list of what changed.
    Looked,
}

impl Kind {
    /// Whether what is found then counts as known: a later restore takes what differs from it for somebody else's.
    pub(crate) fn is_known(self) -> bool {
        match self {
            Self::Made | Self::Before | Self::After => true,
            // What a person did before it is still theirs.
            Self::Undo | Self::Looked => false,
        }
    }
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
    /// The turn was running already when this record of the state before it was made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// Of [`Kind::Looked`]: the session whose changes were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looked: Option<String>,
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

/// A record as the list has it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    id: String,
    at: u64,
    commit: String,
    #[serde(flatten)]
    words: Words,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOut>,
}

/// Keeps a tree: returns its commit.
pub(crate) async fn commit(git: &Git, tree: &str) -> Result<String, CheckpointError> {
    let commit = git.line(&["commit-tree", tree], b"").await?;
    git.ask(&["update-ref", &format!("{REFERENCES}{commit}"), &commit]).await?;
    Ok(commit)
}

/// Adds a record to the list. Whoever calls holds the store's lock.
pub(crate) fn add(
    store: &Path,
    commit: String,
    left_out: Vec<LeftOut>,
    words: Words,
    at: u64,
) -> Result<Checkpoint, CheckpointError> {
    let name = blake3::hash(format!("{at} {commit}").as_bytes()).to_hex();
    let line = Line { id: name.as_str()[..ID_LENGTH].to_owned(), at, commit, words, left_out };
    append(&store.join(LIST), &line).map_err(io("writing the list of records"))?;
    Ok(line.into())
}

fn append(list: &Path, line: &Line) -> std::io::Result<()> {
    let mut file = File::options().create(true).read(true).append(true).open(list)?;
    let mut text = Vec::new();
    // A line that a kill cut off stays one by itself.
    if file.seek(SeekFrom::End(0))? > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            text.push(b'\n');
        }
    }
    serde_json::to_writer(&mut text, line)?;
    text.push(b'\n');
    file.write_all(&text)
}

/// Returns all of them, the oldest first.
pub(crate) fn list(store: &Path) -> Result<Vec<Checkpoint>, CheckpointError> {
    let text = match std::fs::read(store.join(LIST)) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io("reading the list of records")(error)),
    };
    // What a power cut has left of a line is passed over, whatever bytes it has.
    let read = |line| serde_json::from_slice::<Line>(line).ok().map(Checkpoint::from);
    Ok(text.split(|byte| *byte == b'\n').filter_map(read).collect())
}

/// Returns when the newest one was made, without reading the others.
pub(crate) fn newest(store: &Path) -> Result<Option<u64>, CheckpointError> {
    const END: u64 = 64 << 10;
    let mut file = match File::open(store.join(LIST)) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("reading the list of records")(error)),
    };
    let length = file.metadata().map_err(io("reading the list of records"))?.len();
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))
        .and_then(|_| file.read_to_end(&mut text))
        .map_err(io("reading the list of records"))?;
    let last =
        text.split(|byte| *byte == b'\n').rev().find_map(|line| serde_json::from_slice::<Line>(line).ok());
    match last {
        Some(line) => Ok(Some(line.at)),
        // A line that is longer than that.
        None => Ok(list(store)?.last().map(|newest| newest.at)),
    }
}

impl From<Line> for Checkpoint {
    fn from(line: Line) -> Self {
        let Line { id, at, commit, words, left_out } = line;
        Self { id, at, words, left_out, commit }
    }
}

impl From<Checkpoint> for Line {
    fn from(checkpoint: Checkpoint) -> Self {
        let Checkpoint { id, at, words, left_out, commit } = checkpoint;
        Self { id, at, commit, words, left_out }
    }
}

/// Tells whether a list may have more records than are kept. Asked after each turn: most lists are known by their length,
/// and the lines of the others are counted and not read.
fn may_be_too_long(list: &Path) -> bool {
    // A line has more bytes than these.
    const LINE: u64 = 100;
    let most = KEPT + SLACK;
    if list.metadata().map_or(0, |found| found.len()) < LINE * most as u64 {
        return false;
    }
    let text = std::fs::read(list).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count() > most
}

/// Forgets the oldest that nobody gave a name, and what only they held.
pub(crate) async fn thin(git: &Git) -> Result<(), CheckpointError> {
    if !may_be_too_long(&git.store.as_path().join(LIST)) {
        return Ok(());
    }
    let all = list(git.store.as_path())?;
    let n_nameless = all.iter().filter(|checkpoint| checkpoint.words.label.is_none()).count();
    if n_nameless <= KEPT + SLACK {
        return Ok(());
    }
    let mut n_going = n_nameless - KEPT;
    let mut kept = Vec::new();
    for checkpoint in all {
        if n_going > 0 && checkpoint.words.label.is_none() {
            n_going -= 1;
        } else {
            kept.push(checkpoint);
        }
    }
    let held: BTreeSet<String> = kept.iter().map(|checkpoint| checkpoint.commit.clone()).collect();
    // The list first: a record whose commit is gone would be a promise that is not kept.
    rewrite(git.store.as_path(), kept).map_err(io("writing the list of records anew"))?;
    // With what a death between the commit and its line, or in an earlier thinning, has left.
    let references = git.ask(&["for-each-ref", "--format=%(objectname)", REFERENCES]).await?;
    let references = String::from_utf8_lossy(&references).into_owned();
    let gone: String = references
        .lines()
        .filter(|commit| !held.contains(*commit))
        .map(|commit| format!("delete {REFERENCES}{commit}\n"))
        .collect();
    let question =
        Question { arguments: owned(&["update-ref", "--stdin"]), input: gone.into_bytes(), index: None };
    git.run(question).await?;
    git.ask(&["repack", "-a", "-d", "-l", "-q"]).await?;
    git.ask(&["prune", "--expire=now"]).await.map(drop)
}

fn rewrite(store: &Path, kept: Vec<Checkpoint>) -> std::io::Result<()> {
    let mut text = Vec::new();
    for checkpoint in kept {
        serde_json::to_writer(&mut text, &Line::from(checkpoint))?;
        text.push(b'\n');
    }
    replace(&store.join(LIST), &text)
}

/// Replaces a file of ours at once.
pub(crate) fn replace(path: &Path, text: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path))?;
    file.write_all(text)?;
    file.persist(path).map(drop).map_err(|failed| failed.error)
}

/// Finds the one whose id begins so.
pub(crate) fn find(checkpoints: Vec<Checkpoint>, id: &str) -> Result<Option<Checkpoint>, CheckpointError> {
    let mut found =
        checkpoints.into_iter().filter(|checkpoint| !id.is_empty() && checkpoint.id.starts_with(id));
    match (found.next(), found.next()) {
        (Some(_), Some(_)) => Err(CheckpointError::Ambiguous { id: id.to_owned() }),
        (one, _) => Ok(one),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(n_lines: usize, bytes_of_a_line: usize, expected: bool) {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join(LIST);
        let line = format!("{}\n", "x".repeat(bytes_of_a_line));
        std::fs::write(&list, line.repeat(n_lines)).unwrap();
        assert_eq!(may_be_too_long(&list), expected, "{n_lines} lines of {bytes_of_a_line} bytes");
    }

    #[test]
    fn a_list_is_too_long_by_its_records_and_not_by_its_bytes() {
        check(1, 200_000, false);
        check(KEPT + SLACK, 270, false);
        check(KEPT + SLACK + 1, 270, true);
        assert!(!may_be_too_long(Path::new("/no/such/list")));
    }
}
