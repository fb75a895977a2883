//! The records of one folder: our repository, its lock, and what can be asked of it.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use chartroom_workspace::gate::CHECKPOINTS;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::{Deserialize, Serialize};

use crate::changes::{self, ChangedFile, Changes, FileStatus};
use crate::git::{Git, Question, owned};
use crate::place::{Place, from_bytes};
use crate::record::{self, Checkpoint, Kind, Words};
use crate::restore::{self, Restored, Wanted};
use crate::snapshot::{self, Snapshot};
use crate::{CheckpointError, io};

/// Holds against whatever a `.gitattributes` says: every file is kept byte for byte, and no filter runs.
const ATTRIBUTES: &str = "* -text !eol -filter -ident !working-tree-encoding !diff !merge\n";
/// The state of the tree that was recorded or made last: what differs from it, somebody else did.
const KNOWN: &str = "refs/chartroom/known";
/// How the state of the folder is called where two states are compared.
const WORKING_TREE: &str = "working tree";

/// What is compared with the working tree, or with the end of what a session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The last turn of a session; of the one that was recorded last, if none is named.
    Turn(Option<String>),
    /// All turns of a session.
    Session(Option<String>),
    /// Everything since the last commit.
    Uncommitted,
    /// Everything since this branch and the last commit parted.
    Branch(String),
}

/// The records of one folder.
#[derive(Debug, Clone)]
pub struct Records {
    git: Git,
}

#[derive(Serialize, Deserialize)]
struct Owner {
    folder: PathBuf,
}

impl Records {
    /// Opens the records of a folder; they begin with this if there are none.
    pub async fn of(gate: &SpawnGate, folder: &CanonicalRoot) -> Result<Self, CheckpointError> {
        let place = Place::around(folder);
        let name = blake3::hash(crate::place::bytes(folder.as_path())).to_hex();
        let path = gate.data_dir().join(CHECKPOINTS).join(&name.as_str()[..24]);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&path)
            .map_err(io(format!("making {}", path.display())))?;
        let root = CanonicalRoot::open(&path).map_err(|error| CheckpointError::Io {
            what: "opening it".to_owned(),
            error: std::io::Error::other(error),
        })?;
        let store = Self { git: Git::new(gate, root, place)? };
        if !store.git.git_dir().join("made").exists() {
            let _lock = store.lock()?;
            store.init().await?;
        }
        Ok(store)
    }

    /// Finds a record by its id, or by the beginning of it, in all folders.
    pub async fn find(gate: &SpawnGate, id: &str) -> Result<(Self, Checkpoint), CheckpointError> {
        let mut found = None;
        let stores = std::fs::read_dir(gate.data_dir().join(CHECKPOINTS)).into_iter().flatten().flatten();
        for entry in stores {
            let Ok(text) = std::fs::read(entry.path().join("place.json")) else { continue };
            let Ok(Owner { folder }) = serde_json::from_slice(&text) else { continue };
            let Ok(folder) = CanonicalRoot::open(folder) else { continue };
            let store = Self::of(gate, &folder).await?;
            if let Some(checkpoint) = record::find(record::list(&store.git).await?, id)? {
                if found.is_some() {
                    return Err(CheckpointError::Ambiguous { id: id.to_owned() });
                }
                found = Some((store, checkpoint));
            }
        }
        found.ok_or_else(|| CheckpointError::Unknown { id: id.to_owned() })
    }

    /// The folder that is recorded, and the repository around it.
    pub fn place(&self) -> &Place {
        &self.git.place
    }

    /// Where the paths of answers begin.
    pub fn top(&self) -> &Path {
        self.git.place.top()
    }

    async fn init(&self) -> Result<(), CheckpointError> {
        let is_sha256 = self.git.place.repository.as_ref().is_some_and(|repository| repository.is_sha256());
        let format = if is_sha256 { "--object-format=sha256" } else { "--object-format=sha1" };
        self.git.ask(&["init", "-q", "--template=", format]).await?;
        let info = self.git.git_dir().join("info");
        std::fs::create_dir_all(&info).map_err(io("making a folder"))?;
        std::fs::write(info.join("attributes"), ATTRIBUTES).map_err(io("writing the attributes"))?;
        let owner = Owner { folder: self.git.place.folder.as_path().to_path_buf() };
        let text = serde_json::to_vec(&owner).unwrap_or_default();
        std::fs::write(self.git.store.as_path().join("place.json"), text)
            .map_err(io("writing whose it is"))?;
        // Last: a death before it begins anew.
        std::fs::write(self.git.git_dir().join("made"), "").map_err(io("marking it as made"))
    }

    /// One at a time, across processes. It ends with the file.
    fn lock(&self) -> Result<File, CheckpointError> {
        let path = self.git.store.as_path().join("lock");
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(io("opening the lock"))?;
        lock.lock().map_err(io("waiting for the lock"))?;
        // What a git that was killed has left.
        for left in ["index.lock", "restore-index", "restore-index.lock"] {
            match std::fs::remove_file(self.git.store.as_path().join(left)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!("{left} of a killed run cannot be removed: {error}");
                }
                _ => {}
            }
        }
        Ok(lock)
    }

    /// The user's own ignore rules that lie in its repository and not in the tree.
    fn copy_excludes(&self) -> Result<(), CheckpointError> {
        let Some(repository) = &self.git.place.repository else { return Ok(()) };
        let theirs = std::fs::read(repository.common.join("info/exclude")).unwrap_or_default();
        let ours = self.git.git_dir().join("info/exclude");
        if std::fs::read(&ours).unwrap_or_default() == theirs {
            return Ok(());
        }
        std::fs::write(ours, theirs).map_err(io("copying the ignore rules"))
    }

    /// The tree as it is now. Whoever calls holds the lock.
    pub(crate) async fn now(&self) -> Result<Snapshot, CheckpointError> {
        self.copy_excludes()?;
        snapshot::take(&self.git).await
    }

    /// Records the tree as it is now.
    pub async fn make(&self, words: Words) -> Result<Checkpoint, CheckpointError> {
        let _lock = self.lock()?;
        let made = self.keep(words).await?;
        record::thin(&self.git).await?;
        Ok(made)
    }

    async fn keep(&self, words: Words) -> Result<Checkpoint, CheckpointError> {
        let snapshot = self.now().await?;
        let tree = snapshot.tree.clone();
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let newest = record::list(&self.git).await?.last().map_or(0, |newest| newest.at + 1);
        let at = u64::try_from(at).unwrap_or(u64::MAX).max(newest);
        let made = record::keep(&self.git, snapshot, words, at).await?;
        self.git.ask(&["update-ref", KNOWN, &tree]).await?;
        Ok(made)
    }

    /// Returns the records, the oldest first; those of one session, if one is named.
    pub async fn list(&self, session: Option<&str>) -> Result<Vec<Checkpoint>, CheckpointError> {
        let mut list = record::list(&self.git).await?;
        if let Some(session) = session {
            list.retain(|checkpoint| checkpoint.words.session.as_deref() == Some(session));
        }
        Ok(list)
    }

    /// Compares a record with another one, or with the tree as it is now.
    pub async fn diff(
        &self,
        base: &Checkpoint,
        head: Option<&Checkpoint>,
        with_patch: bool,
    ) -> Result<Changes, CheckpointError> {
        let (name, tree) = match head {
            Some(head) => (head.id.clone(), head.commit.clone()),
            None => (WORKING_TREE.to_owned(), self.locked_now().await?),
        };
        self.compare((base.id.clone(), &base.commit), (name, &tree), with_patch).await
    }

    async fn locked_now(&self) -> Result<String, CheckpointError> {
        let _lock = self.lock()?;
        Ok(self.now().await?.tree)
    }

    async fn compare(
        &self,
        (base, base_tree): (String, &str),
        (head, head_tree): (String, &str),
        with_patch: bool,
    ) -> Result<Changes, CheckpointError> {
        let below = self.git.place.below_top();
        let files = changes::between(&self.git, (base_tree, head_tree), &below).await?;
        let patch = match with_patch {
            true => Some(changes::patch(&self.git, (base_tree, head_tree), &below).await?),
            false => None,
        };
        Ok(Changes { base, head, files, patch })
    }

    /// Returns what changed.
    pub async fn changes(&self, scope: &Scope, with_patch: bool) -> Result<Changes, CheckpointError> {
        match scope {
            Scope::Uncommitted => {
                let (name, tree) = match self.repository()?.commit("HEAD") {
                    Some(commit) => (commit.clone(), commit),
                    // No commit yet: everything is new.
                    None => ("nothing".to_owned(), self.git.line(&["mktree"], b"").await?),
                };
                self.since_commit((name, &tree), with_patch).await
            }
            Scope::Branch(branch) => {
                let repository = self.repository()?;
                let no_such = |name: &str| CheckpointError::NoSuchRef { name: name.to_owned() };
                let theirs = repository.commit(branch).ok_or_else(|| no_such(branch))?;
                let ours = repository.commit("HEAD").ok_or_else(|| no_such("HEAD"))?;
                let base = self.git.line(&["merge-base", &theirs, &ours], b"").await?;
                self.since_commit((base.clone(), &base), with_patch).await
            }
            Scope::Session(session) | Scope::Turn(session) => {
                let all = record::list(&self.git).await?;
                let of = |checkpoint: &&Checkpoint| match session {
                    Some(session) => checkpoint.words.session.as_ref() == Some(session),
                    None => checkpoint.words.session.is_some(),
                };
                let Some(last) = all.iter().rev().find(of) else {
                    let session = session.clone().unwrap_or_else(|| "(any)".to_owned());
                    let folder = self.git.place.folder.to_string();
                    return Err(CheckpointError::NoSession { session, folder });
                };
                let mut own = all.iter().filter(|checkpoint| checkpoint.words.session == last.words.session);
                let base = match scope {
                    Scope::Turn(_) => own.rfind(|checkpoint| checkpoint.words.kind == Kind::Before),
                    _ => own.find(|checkpoint| checkpoint.words.kind == Kind::Before),
                };
                let head = (last.words.kind == Kind::After).then_some(last);
                self.diff(base.unwrap_or(last), head, with_patch).await
            }
        }
    }

    fn repository(&self) -> Result<&crate::place::Repository, CheckpointError> {
        let none = || CheckpointError::NoRepository { folder: self.git.place.folder.to_string() };
        self.git.place.repository.as_ref().ok_or_else(none)
    }

    /// Compares a commit of the user's repository with the tree as it is now.
    async fn since_commit(
        &self,
        (name, base): (String, &str),
        with_patch: bool,
    ) -> Result<Changes, CheckpointError> {
        let now = self.locked_now().await?;
        let mut changes = self.compare((name, base), (WORKING_TREE.to_owned(), &now), with_patch).await?;
        self.mark_untracked(&mut changes.files).await;
        Ok(changes)
    }

    /// What is new and not in the user's index is untracked.
    async fn mark_untracked(&self, files: &mut [ChangedFile]) {
        let Some(repository) = &self.git.place.repository else { return };
        if !files.iter().any(|file| file.status == FileStatus::Added) {
            return;
        }
        let index = repository.git_dir.join("index");
        let question =
            Question { arguments: owned(&["ls-files", "-z", "-c"]), input: Vec::new(), index: Some(&index) };
        let listed = self.git.run(question).await.unwrap_or_default();
        let tracked: std::collections::BTreeSet<PathBuf> =
            listed.split(|byte| *byte == 0).map(from_bytes).collect();
        for file in files.iter_mut().filter(|file| file.status == FileStatus::Added) {
            if !tracked.contains(&file.place) {
                file.status = FileStatus::Untracked;
            }
        }
    }

    /// Makes the tree what a record says, and names the record from which that can be undone.
    pub async fn restore(&self, target: &Checkpoint, wanted: &Wanted) -> Result<Restored, CheckpointError> {
        let _lock = self.lock()?;
        let began = SystemTime::now();
        let later = record::list(&self.git).await?.into_iter().filter(|other| other.at > target.at).collect();
        let known = self.git.line(&["rev-parse", "-q", "--verify", KNOWN], b"").await.ok();
        let (undo, now) = if wanted.dry_run {
            (None, self.now().await?.tree)
        } else {
            let undo = self.keep(Words { kind: Kind::Undo, ..Words::default() }).await?;
            let tree = undo.commit.clone();
            (Some(undo.id), tree)
        };
        let act = restore::Act { git: &self.git, target, later, known, now, began };
        let mut restored = restore::run(act, wanted).await?;
        restored.undo = undo;
        if !wanted.dry_run {
            let tree = self.now().await?.tree;
            self.git.ask(&["update-ref", KNOWN, &tree]).await?;
        }
        Ok(restored)
    }
}
