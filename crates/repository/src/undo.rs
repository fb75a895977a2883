//! What was done to a folder and can be undone with one word: kept in the data folder, so that it outlives the page and the
//! server.

use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use chartroom_checkpoints::{Checkpoint, CheckpointError, Kind, Records, Words};
use chartroom_protocol::changes::Restored;
use chartroom_protocol::undo::{UndoResponse, UndoableAct};
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::{Deserialize, Serialize};

use crate::git::Git;
use crate::{RepositoryError, io};

/// The folder of the lists, in the data folder.
const UNDO: &str = "undo";
/// How many acts of a folder are remembered.
const KEPT: usize = 20;

/// Something that was done, and what is needed to take it back. What is absent was not touched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Act {
    /// What was done, in words.
    pub what: String,
    /// The files before and after it.
    #[serde(default)]
    pub files: Option<Files>,
    /// What was staged before it, as a tree, and for which files that counts.
    #[serde(default)]
    pub staged: Option<String>,
    /// Where the branch stood.
    #[serde(default)]
    pub head: Option<Head>,
    /// The session that went back to before a message.
    #[serde(default)]
    pub rewound: Option<String>,
    /// A session that was archived, and the one that goes on instead of it.
    #[serde(default)]
    pub sessions: Option<Sessions>,
}

/// Two records of the files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// The folder that is recorded.
    pub folder: PathBuf,
    /// The record before.
    pub before: String,
    /// The record after.
    pub after: String,
}

/// An act as it is remembered.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Noted {
    id: String,
    at: u64,
    #[serde(flatten)]
    act: Act,
}

/// How HEAD was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Head {
    /// A commit was made or replaced.
    Committed {
        /// The last commit before it.
        before: Option<String>,
        /// The commit.
        after: String,
    },
    /// Another branch was checked out.
    Switched {
        /// What was checked out before.
        before: Place,
        /// The branch.
        after: String,
        /// The commit that it began with, if it is new.
        made: Option<String>,
    },
}

/// What is checked out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    /// A branch.
    Branch(String),
    /// No branch, but this commit.
    Commit(String),
}

/// A session that gave way to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// It was archived.
    pub archived: String,
    /// It goes on instead.
    pub made: String,
}

impl Noted {
    /// Returns it as answers tell it.
    fn told(&self) -> UndoableAct {
        let sessions = self.act.sessions.as_ref();
        UndoableAct {
            act: self.id.clone(),
            at: self.at,
            what: self.act.what.clone(),
            rewound: self.act.rewound.clone(),
            archived: sessions.map(|sessions| sessions.archived.clone()),
            made: sessions.map(|sessions| sessions.made.clone()),
        }
    }
}

/// Remembers what was done to a folder.
pub fn note(gate: &SpawnGate, folder: &CanonicalRoot, act: Act) -> Result<UndoableAct, RepositoryError> {
    let list = List::of(gate, folder)?;
    let mut acts = list.read();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let newest = acts.last().map_or(0, |newest| newest.at + 1);
    let at = u64::try_from(now).unwrap_or(u64::MAX).max(newest);
    let id = blake3::hash(format!("{at} {}", act.what).as_bytes()).to_hex()[..12].to_owned();
    let noted = Noted { id, at, act };
    let told = noted.told();
    acts.push(noted);
    let n_old = acts.len().saturating_sub(KEPT);
    acts.drain(..n_old);
    list.write(&acts)?;
    Ok(told)
}

/// Records the files after an act and remembers it; an act that changed no file and nothing else is none.
pub async fn note_files(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    records: &Records,
    before: &Checkpoint,
    act: impl FnOnce(&[PathBuf]) -> Act,
) -> Result<Option<UndoableAct>, RepositoryError> {
    let after = records.make(|| Words { kind: Kind::Undo, ..Words::default() }).await?;
    let paths = records.paths_between(before, &after).await?;
    let mut act = act(&paths);
    if paths.is_empty() && act.staged.is_none() && act.head.is_none() && act.sessions.is_none() {
        return Ok(None);
    }
    act.files = (!paths.is_empty()).then(|| Files {
        folder: records.place().folder.as_path().to_path_buf(),
        before: before.id.clone(),
        after: after.id,
    });
    note(gate, folder, act).map(Some)
}

/// Lists what can be undone in a folder, the newest first.
pub fn list(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<Vec<UndoableAct>, RepositoryError> {
    let acts = List::of(gate, folder)?.read();
    Ok(acts.iter().rev().map(Noted::told).collect())
}

/// Takes one back. It is then an act itself, as far as files were changed, and can be undone.
pub async fn undo(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    id: &str,
) -> Result<UndoResponse, RepositoryError> {
    let acts = List::of(gate, folder)?.read();
    let noted = acts.into_iter().find(|act| act.id == id).ok_or_else(|| {
        RepositoryError::NotFound("there is no such act: it was undone, or is too long ago".to_owned())
    })?;
    let undone = noted.told();
    let act = noted.act;
    let not_done = |reason: String| {
        Ok(UndoResponse { done: false, undone: undone.clone(), reason: Some(reason), files: None })
    };
    let records = match &act.files {
        Some(files) => match recorded(gate, files).await {
            Ok(recorded) => Some(recorded),
            Err(RepositoryError::Checkpoint(error @ CheckpointError::Unknown { .. })) => {
                return not_done(error.to_string());
            }
            Err(error) => return Err(error),
        },
        None => None,
    };
    if let Some(head) = &act.head
        && let Some(reason) = move_back(gate, folder, head).await?
    {
        return not_done(reason);
    }
    let mut files = None;
    if let Some((records, before, after)) = &records {
        let restored = records.undo(before, after).await?;
        if let Some(staged) = &act.staged {
            stage_again(gate, folder, staged, (records, before, after), &restored).await?;
        }
        if let Some(undo) = &restored.undo {
            let now = records.find_here(undo)?;
            let what = format!("undid: {}", act.what);
            note_files(gate, folder, records, &now, |_| Act { what, ..Act::default() }).await?;
        }
        files = Some(restored);
    }
    let list = List::of(gate, folder)?;
    let mut left = list.read();
    left.retain(|act| act.id != id);
    list.write(&left)?;
    Ok(UndoResponse { done: true, undone, reason: None, files })
}

async fn recorded(
    gate: &SpawnGate,
    files: &Files,
) -> Result<(Records, Checkpoint, Checkpoint), RepositoryError> {
    let folder = CanonicalRoot::open(&files.folder)
        .map_err(|error| io("opening the folder")(std::io::Error::other(error)))?;
    let records = Records::of(gate, &folder).await?;
    let (before, after) = (records.find_here(&files.before)?, records.find_here(&files.after)?);
    Ok((records, before, after))
}

/// Puts HEAD where it was. Returns why not, if that does not fit any more.
async fn move_back(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    head: &Head,
) -> Result<Option<String>, RepositoryError> {
    let git = Git::around(gate, folder).await?;
    match head {
        Head::Committed { before, after } => {
            if git.commit("HEAD").await?.as_ref() != Some(after) {
                return Ok(Some("there are other commits now; go back with git itself".to_owned()));
            }
            // What was committed stays staged. git itself makes sure that nobody was quicker.
            let said = match before {
                Some(before) => git.act(&["update-ref", "-m", "undo: commit", "HEAD", before, after]).await?,
                None => git.act(&["update-ref", "-m", "undo: commit", "-d", "HEAD", after]).await?,
            };
            Ok((!said.ok).then(|| said.text()))
        }
        Head::Switched { before, after, made } => {
            let here = git.line_if_any(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await?;
            if here.as_ref() != Some(after) {
                return Ok(Some(format!("{after} is no longer checked out")));
            }
            let said = match before {
                Place::Branch(branch) => git.act(&["switch", "--quiet", "--no-guess", branch]).await?,
                Place::Commit(commit) => git.act(&["switch", "--quiet", "--detach", commit]).await?,
            };
            if said.ok
                && let Some(made) = made
            {
                // A branch on which something happened meanwhile stays.
                git.act(&["update-ref", "-d", &format!("refs/heads/{after}"), made]).await?;
            }
            Ok((!said.ok).then(|| said.text()))
        }
    }
}

/// Stages what was staged of the files that came back.
async fn stage_again(
    gate: &SpawnGate,
    folder: &CanonicalRoot,
    staged: &str,
    (records, before, after): (&Records, &Checkpoint, &Checkpoint),
    restored: &Restored,
) -> Result<(), RepositoryError> {
    use std::os::unix::ffi::OsStrExt as _;
    let git = Git::around(gate, folder).await?;
    let mut paths = records.paths_between(before, after).await?;
    paths.retain(|path| !restored.conflicts.iter().any(|left| **left == *path.to_string_lossy()));
    if paths.is_empty() {
        return Ok(());
    }
    let source = format!("--source={staged}");
    // A path that neither the index nor the tree knows was never staged.
    let known = git.ask(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", staged]).await?;
    let known: Vec<&[u8]> = known.split(|byte| *byte == 0).collect();
    paths.retain(|path| known.contains(&path.as_os_str().as_bytes()));
    if paths.is_empty() {
        return Ok(());
    }
    let said = git.act_on(&["restore", "--staged", &source], &paths).await?;
    match said.ok {
        true => Ok(()),
        false => Err(RepositoryError::Failed { command: "restore".to_owned(), message: said.text() }),
    }
}

/// The list of a folder; nobody else has it meanwhile.
struct List {
    file: PathBuf,
    _lock: File,
}

impl List {
    fn of(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<Self, RepositoryError> {
        use std::os::unix::ffi::OsStrExt as _;
        let lists = gate.data_dir().join(UNDO);
        let name = blake3::hash(folder.as_path().as_os_str().as_bytes()).to_hex();
        let file = lists.join(format!("{}.json", &name[..24]));
        let open = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&lists)?;
            let lock = File::options().create(true).truncate(false).write(true).open(lists.join("lock"))?;
            lock.lock()?;
            Ok(lock)
        };
        Ok(Self { file, _lock: open().map_err(io("opening the list of what can be undone"))? })
    }

    /// What is not understood is no list: there is nothing to undo.
    fn read(&self) -> Vec<Noted> {
        let Ok(text) = std::fs::read(&self.file) else { return Vec::new() };
        serde_json::from_slice(&text).unwrap_or_else(|error| {
            tracing::warn!("{}: {error}", self.file.display());
            Vec::new()
        })
    }

    fn write(&self, acts: &[Noted]) -> Result<(), RepositoryError> {
        let write = || {
            let folder = self.file.parent().unwrap_or(&self.file);
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            file.write_all(&serde_json::to_vec(acts)?)?;
            file.persist(&self.file).map(drop).map_err(|failed| failed.error)
        };
        write().map_err(io("writing what can be undone"))
    }
}
