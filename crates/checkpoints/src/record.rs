//! A checkpoint: a line in the folder's list of records, and a commit of our repository that holds its tree.
//!
//! Records of one state share a commit: a record of a tree in which nothing changed is one line more.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

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

/// How the list ends, remembered by who wrote it last: it is read again when somebody else has written it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    inode: u64,
    n_bytes: u64,
    written: (i64, i64),
    /// How many lines it has.
    pub(crate) n_lines: usize,
    /// When the newest record was made.
    newest: Option<u64>,
    /// A line that a kill cut off stays one by itself.
    is_cut: bool,
}

/// The list, open for more. Whoever opens it holds the store's lock.
pub(crate) struct List {
    file: File,
    end: End,
}

impl List {
    pub(crate) fn open(store: &Path, remembered: Option<End>) -> Result<Self, CheckpointError> {
        let path = store.join(LIST);
        let open = || {
            let file = File::options().create(true).read(true).append(true).open(path)?;
            let found = file.metadata()?;
            let end = match remembered {
                Some(end) if end.is_of(&found) => end,
                Some(_) | None => End::read(&file, &found)?,
            };
            Ok(Self { file, end })
        };
        open().map_err(io("reading the list of records"))
    }

    pub(crate) fn end(&self) -> End {
        self.end
    }

    /// Adds records of one tree, one for each of these words, with one write.
    pub(crate) fn add(
        &mut self,
        commit: &str,
        left_out: &[LeftOut],
        words: Vec<Words>,
    ) -> Result<Vec<Checkpoint>, CheckpointError> {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let first = u64::try_from(at).unwrap_or(u64::MAX).max(self.end.newest.map_or(0, |newest| newest + 1));
        let lines = (first..).zip(words).map(|(at, words)| {
            let name = blake3::hash(format!("{at} {commit}").as_bytes()).to_hex();
            let id = name.as_str()[..ID_LENGTH].to_owned();
            Line { id, at, commit: commit.to_owned(), words, left_out: left_out.to_vec() }
        });
        let lines: Vec<Line> = lines.collect();
        self.append(&lines).map_err(io("writing the list of records"))?;
        Ok(lines.into_iter().map(Checkpoint::from).collect())
    }

    fn append(&mut self, lines: &[Line]) -> std::io::Result<()> {
        let mut text = if self.end.is_cut { b"\n".to_vec() } else { Vec::new() };
        let n_more = lines.len() + text.len();
        for line in lines {
            serde_json::to_writer(&mut text, line)?;
            text.push(b'\n');
        }
        self.file.write_all(&text)?;
        let newest = lines.last().map(|line| line.at).or(self.end.newest);
        let n_lines = self.end.n_lines + n_more;
        self.end = End { n_lines, newest, is_cut: false, ..End::of(&self.file.metadata()?) };
        Ok(())
    }
}

impl End {
    /// The end of an empty list, of a file that looks so.
    fn of(found: &Metadata) -> Self {
        Self {
            inode: found.ino(),
            n_bytes: found.len(),
            written: (found.mtime(), found.mtime_nsec()),
            n_lines: 0,
            newest: None,
            is_cut: false,
        }
    }

    fn is_of(&self, found: &Metadata) -> bool {
        let Self { inode, n_bytes, written, .. } = Self::of(found);
        (self.inode, self.n_bytes, self.written) == (inode, n_bytes, written)
    }

    fn read(mut file: &File, found: &Metadata) -> std::io::Result<Self> {
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        let mut lines = text.rsplit(|byte| *byte == b'\n');
        let newest = lines.find_map(|line| serde_json::from_slice::<Line>(line).ok());
        Ok(Self {
            n_lines: text.iter().filter(|byte| **byte == b'\n').count(),
            newest: newest.map(|line| line.at),
            is_cut: text.last().is_some_and(|byte| *byte != b'\n'),
            ..Self::of(found)
        })
    }
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

/// Tells whether a list may have more records than are kept.
pub(crate) fn may_be_too_long(end: &End) -> bool {
    end.n_lines > KEPT + SLACK
}

/// Forgets the oldest that nobody gave a name, and what only they held.
pub(crate) async fn thin(git: &Git) -> Result<(), CheckpointError> {
    let all = list(git.store.as_path())?;
    let n_nameless = all.iter().filter(|checkpoint| checkpoint.words.label.is_none()).count();
    if n_nameless <= KEPT + SLACK {
        return Ok(());
    }
    let mut n_going = n_nameless - KEPT;
    let (mut kept, mut dropped) = (Vec::new(), BTreeSet::new());
    for checkpoint in all {
        if n_going > 0 && checkpoint.words.label.is_none() {
            n_going -= 1;
            dropped.insert(checkpoint.commit);
        } else {
            kept.push(checkpoint);
        }
    }
    let held: BTreeSet<String> = kept.iter().map(|checkpoint| checkpoint.commit.clone()).collect();
    // The list first: a record whose commit is gone would be a promise that is not kept.
    rewrite(git.store.as_path(), kept).map_err(io("writing the list of records anew"))?;
    if dropped.is_subset(&held) {
        // Nothing changed in all those turns: git has nothing to forget, and is started four times for it otherwise.
        return Ok(());
    }
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

    fn words(turn: &str) -> Words {
        Words { turn: Some(turn.to_owned()), ..Words::default() }
    }

    #[test]
    fn a_list_that_only_one_writes_is_read_once_and_anothers_lines_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path();
        let add = |remembered, turn: &str| {
            let mut list = List::open(store, remembered).unwrap();
            let is_remembered = remembered == Some(list.end());
            let made = list.add("c", &[], vec![words(turn), words(turn)]).unwrap();
            assert!(made[0].at < made[1].at);
            (list.end(), is_remembered)
        };
        let (first, _) = add(None, "1");
        let (second, is_remembered) = add(Some(first), "2");
        assert!(is_remembered);
        let (third, is_remembered) = add(Some(first), "3");
        assert!(!is_remembered, "the second one's lines are there, too");
        assert_eq!([first, second, third].map(|end| end.n_lines), [2, 4, 6]);
        assert!([first, second, third].is_sorted_by_key(|end| end.newest));
        // A kill cut a line off.
        let path = store.join(LIST);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let (fourth, _) = add(Some(third), "4");
        assert_eq!(fourth.n_lines, 8);
        let turns: Vec<_> = list(store).unwrap().into_iter().map(|made| made.words.turn.unwrap()).collect();
        assert_eq!(turns, ["1", "1", "2", "2", "3", "4", "4"]);
        assert!(list(store).unwrap().is_sorted_by_key(|made| made.at));
    }

    #[test]
    fn a_list_is_too_long_by_its_records_and_not_by_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let is_too_long = || may_be_too_long(&List::open(folder.path(), None).unwrap().end());
        for (n_lines, bytes_of_a_line, expected) in
            [(1, 200_000, false), (KEPT + SLACK, 270, false), (KEPT + SLACK + 1, 270, true), (0, 0, false)]
        {
            let line = format!("{}\n", "x".repeat(bytes_of_a_line));
            std::fs::write(folder.path().join(LIST), line.repeat(n_lines)).unwrap();
            assert_eq!(is_too_long(), expected, "{n_lines} lines of {bytes_of_a_line} bytes");
        }
    }
}
