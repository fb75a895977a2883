//! The records of one folder: our repository, its lock, and what can be asked of it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use chartroom_protocol::changes::{Changes, Restored};
use chartroom_workspace::gate::CHECKPOINTS;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::{Deserialize, Serialize};

use crate::changes::{self, Detail, Differing};
use crate::git::{Git, version_of};
use crate::held::Held;
use crate::place::Place;
use crate::record::{self, Checkpoint, End, Kind, List, Words};
use crate::restore::{self, Act, Wanted};
use crate::sight::{Glance, Sight};
use crate::snapshot::{self, LeftOut, Snapshot};
use crate::{CheckpointError, OLDEST_GIT, io};

/// Holds against whatever a `.gitattributes` says: every file is kept byte for byte, and no filter runs.
const ATTRIBUTES: &str = "* -text !eol -filter -ident !working-tree-encoding !diff !merge\n";
/// There when our repository is whole.
const MADE: &str = "made";
/// The tree that was recorded or made last: what differs from it, somebody else did.
const KNOWN: &str = "known";
/// Keeps that tree where no record holds it.
const KNOWN_REFERENCE: &str = "refs/chartroom/known";
/// How the state of the folder is called where two states are compared.
pub(crate) const WORKING_TREE: &str = "working tree";

/// The records of one folder.
#[derive(Debug, Clone)]
pub struct Records {
    pub(crate) git: Git,
    /// What the tree looked like at the last record, where somebody keeps that.
    sight: Option<Sight>,
    /// How the list of records ended when this one wrote it.
    end: Arc<Mutex<Option<End>>>,
}

/// What a look at the files found before anything is recorded.
enum Seen {
    /// They are what the newest snapshot is of.
    Same,
    /// They may have changed; what was seen is remembered with the next snapshot, where somebody does.
    Changed(Option<Glance>),
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
        let store = Self { git: Git::new(gate, root, place), sight: None, end: Arc::default() };
        let made = store.git.git_dir().join(MADE);
        if !made.exists() {
            let lock = store.lock().await?;
            // Another process may have made it while this one waited.
            if !made.exists() {
                store.init().await?;
            }
            lock.done();
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
            if let Some(checkpoint) = record::find(record::list(&entry.path())?, id)? {
                if found.is_some() {
                    return Err(CheckpointError::Ambiguous { id: id.to_owned() });
                }
                found = Some((Self::of(gate, &folder).await?, checkpoint));
            }
        }
        found.ok_or_else(|| CheckpointError::Unknown { id: id.to_owned() })
    }

    /// Remembers what the tree looks like, for the next one who is given the same: git is not asked about a tree in which
    /// nothing changed.
    #[must_use]
    pub fn seen_by(mut self, sight: &Sight) -> Self {
        self.sight = Some(sight.clone());
        self
    }

    /// Whether these are still the records of a folder: a repository may have been made around it since, and the data folder
    /// may have been emptied.
    pub fn are_of(&self, folder: &CanonicalRoot) -> bool {
        self.git.place == Place::around(folder) && self.git.git_dir().join(MADE).exists()
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
        // What a death in the middle of this has left: git would stop at its own lock files.
        match std::fs::remove_dir_all(self.git.git_dir()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(io("removing a repository that was not finished")(error));
            }
            Ok(()) | Err(_) => {}
        }
        let is_sha256 = self.git.place.repository.as_ref().is_some_and(|repository| repository.is_sha256());
        let format = if is_sha256 { "--object-format=sha256" } else { "--object-format=sha1" };
        if let Err(error) = self.git.ask(&["init", "-q", "--template=", format]).await {
            let version = self.git.line(&["version"], b"").await?;
            return Err(match version_of(&version) {
                Some(version) if version >= OLDEST_GIT => error,
                Some(_) | None => CheckpointError::TooOld { version },
            });
        }
        let info = self.git.git_dir().join("info");
        std::fs::create_dir_all(&info).map_err(io("making a folder"))?;
        std::fs::write(info.join("attributes"), ATTRIBUTES).map_err(io("writing the attributes"))?;
        let owner = Owner { folder: self.git.place.folder.as_path().to_path_buf() };
        let text = serde_json::to_vec(&owner).unwrap_or_default();
        std::fs::write(self.git.store.as_path().join("place.json"), text)
            .map_err(io("writing whose it is"))?;
        // Last: a death before it begins anew.
        std::fs::write(self.git.git_dir().join(MADE), "").map_err(io("marking it as made"))
    }

    /// One at a time, across processes, until it is dropped.
    async fn lock(&self) -> Result<Held, CheckpointError> {
        let store = self.git.store.as_path().to_path_buf();
        let wait = move || {
            let mut held = Held::wait_for(store)?;
            held.mark();
            Ok(held)
        };
        let waited = tokio::task::spawn_blocking(wait).await;
        waited.unwrap_or_else(|lost| Err(io("waiting for the lock")(std::io::Error::other(lost))))
    }

    /// The same and a look at the files, on one thread. The lock has no mark.
    async fn lock_and_look(&self) -> Result<(Held, Seen), CheckpointError> {
        let store = self.git.store.as_path().to_path_buf();
        let (sight, place) = (self.sight.clone(), self.git.place.clone());
        let wait = move || Ok((Held::wait_for(store)?, seen(sight.as_ref(), &place)));
        let waited = tokio::task::spawn_blocking(wait).await;
        waited.unwrap_or_else(|lost| Err(io("waiting for the lock")(std::io::Error::other(lost))))
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
        let (sight, place) = (self.sight.clone(), self.git.place.clone());
        let looked = tokio::task::spawn_blocking(move || seen(sight.as_ref(), &place)).await;
        self.taken(looked.unwrap_or(Seen::Changed(None))).await
    }

    /// The tree of which that was seen. Whoever calls holds the lock.
    async fn taken(&self, seen: Seen) -> Result<Snapshot, CheckpointError> {
        let glance = match seen {
            Seen::Same => match snapshot::newest(&self.git) {
                Some(newest) => return Ok(newest),
                None => None,
            },
            Seen::Changed(glance) => glance,
        };
        self.copy_excludes()?;
        let snapshot = snapshot::take(&self.git).await?;
        if let (Some(sight), Some(glance)) = (&self.sight, glance) {
            sight.remember(&self.git, glance).await?;
        }
        Ok(snapshot)
    }

    /// Records the tree as it is now. What is written beside it is asked for when the tree has been looked at.
    pub async fn make(&self, words: impl FnOnce() -> Words) -> Result<Checkpoint, CheckpointError> {
        let mut made = self.make_all(|| vec![words()]).await?;
        // One is made for each.
        made.pop().ok_or_else(|| CheckpointError::Nonsense { command: "write-tree".to_owned() })
    }

    /// Makes as many records of the tree as it is now: one look at the files serves them all.
    pub async fn make_all(
        &self,
        words: impl FnOnce() -> Vec<Words>,
    ) -> Result<Vec<Checkpoint>, CheckpointError> {
        let (mut lock, seen) = self.lock_and_look().await?;
        let made = match self.newest_known(&seen) {
            // A line that a death cuts off leaves nothing to clear away.
            Some((commit, left_out)) => self.add(&commit, &left_out, words)?,
            None => {
                lock.mark();
                let now = self.taken(seen).await?;
                self.keep(now, words).await?
            }
        };
        if self.ended().is_some_and(|end| record::may_be_too_long(&end)) {
            lock.mark();
            record::thin(&self.git).await?;
        }
        lock.done();
        Ok(made)
    }

    /// The commit of the tree, and what is not in it, if nothing has changed since the newest record and nothing but the list
    /// would be written for another.
    fn newest_known(&self, seen: &Seen) -> Option<(String, Vec<LeftOut>)> {
        let newest = match seen {
            Seen::Same => snapshot::newest(&self.git).filter(|newest| self.knows(&newest.tree))?,
            Seen::Changed(_) => return None,
        };
        newest.commit.map(|commit| (commit, newest.left_out))
    }

    /// Looks at each file, so that the next record costs less.
    pub async fn look(&self) -> Result<(), CheckpointError> {
        self.locked_now().await.map(drop)
    }

    async fn keep(
        &self,
        mut snapshot: Snapshot,
        words: impl FnOnce() -> Vec<Words>,
    ) -> Result<Vec<Checkpoint>, CheckpointError> {
        let commit = match &snapshot.commit {
            Some(commit) => commit.clone(),
            None => {
                let commit = match record::commit(&self.git, &snapshot.tree).await {
                    // The tree itself may be one that the user's repository has thrown away.
                    Err(CheckpointError::Git { .. }) if snapshot::forget(&self.git)? => {
                        snapshot = snapshot::take(&self.git).await?;
                        record::commit(&self.git, &snapshot.tree).await?
                    }
                    made => made?,
                };
                snapshot.commit = Some(commit.clone());
                snapshot::note(&self.git, &snapshot)?;
                commit
            }
        };
        let made = self.add(&commit, &snapshot.left_out, words)?;
        if made.iter().any(|made| made.words.kind.is_known()) {
            self.know(&snapshot.tree)?;
        }
        Ok(made)
    }

    /// Adds records of a tree that is kept. Whoever calls holds the lock.
    fn add(
        &self,
        commit: &str,
        left_out: &[LeftOut],
        words: impl FnOnce() -> Vec<Words>,
    ) -> Result<Vec<Checkpoint>, CheckpointError> {
        let mut list = List::open(self.store(), self.ended())?;
        let made = list.add(commit, left_out, words())?;
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(list.end());
        Ok(made)
    }

    fn ended(&self) -> Option<End> {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> &Path {
        self.git.store.as_path()
    }

    /// Remembers which tree was recorded or made last.
    fn know(&self, tree: &str) -> Result<(), CheckpointError> {
        if self.knows(tree) {
            return Ok(());
        }
        record::replace(&self.store().join(KNOWN), tree.as_bytes()).map_err(io("noting which state is known"))
    }

    fn knows(&self, tree: &str) -> bool {
        std::fs::read(self.store().join(KNOWN)).is_ok_and(|known| known == tree.as_bytes())
    }

    /// Returns the records, the oldest first; those of one session, if one is named.
    pub fn list(&self, session: Option<&str>) -> Result<Vec<Checkpoint>, CheckpointError> {
        let mut list = record::list(self.store())?;
        if let Some(session) = session {
            list.retain(|checkpoint| checkpoint.words.session.as_deref() == Some(session));
        }
        Ok(list)
    }

    /// Finds a record of this folder by its id, or by the beginning of it.
    pub fn find_here(&self, id: &str) -> Result<Checkpoint, CheckpointError> {
        let found = record::find(record::list(self.store())?, id)?;
        found.ok_or_else(|| CheckpointError::Unknown { id: id.to_owned() })
    }

    /// Finds something at or below one of these paths that is there and not in a record.
    pub async fn not_held(
        &self,
        checkpoint: &Checkpoint,
        paths: &[&Path],
    ) -> Result<Option<PathBuf>, CheckpointError> {
        let held = restore::entries(&self.git, &checkpoint.commit).await?;
        let mut waiting: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
        while let Some(path) = waiting.pop() {
            let whole = self.top().join(&path);
            let Ok(found) = whole.symlink_metadata() else { continue };
            if snapshot::is_behind_a_link(self.top(), &path) || held.contains_key(&path) {
                continue;
            }
            if !found.is_dir() {
                return Ok(Some(path));
            }
            let below = whole.read_dir().map_err(io(format!("reading {}", whole.display())))?;
            waiting.extend(below.flatten().map(|entry| path.join(entry.file_name())));
        }
        Ok(None)
    }

    /// Returns the record of the state before a turn of a session.
    pub fn before(&self, session: &str, turn: &str) -> Result<Checkpoint, CheckpointError> {
        let is_meant = |checkpoint: &Checkpoint| {
            checkpoint.words.kind == Kind::Before && checkpoint.words.turn.as_deref() == Some(turn)
        };
        let found = self.list(Some(session))?.into_iter().find(is_meant);
        found.ok_or_else(|| CheckpointError::NoTurn { turn: turn.to_owned() })
    }

    /// Compares a record with another one, or with the tree as it is now.
    pub async fn diff(
        &self,
        base: &Checkpoint,
        head: Option<&Checkpoint>,
        detail: Detail,
    ) -> Result<Changes, CheckpointError> {
        let (name, tree) = match head {
            Some(head) => (head.id.clone(), head.commit.clone()),
            None => (WORKING_TREE.to_owned(), self.locked_now().await?),
        };
        let compared = self.compare((base.id.clone(), &base.commit), (name, &tree), detail).await;
        let of: Vec<&Checkpoint> = std::iter::once(base).chain(head).collect();
        self.or_lost(compared, &of).await
    }

    pub(crate) async fn locked_now(&self) -> Result<String, CheckpointError> {
        let lock = self.lock().await?;
        let now = self.now().await?;
        lock.done();
        Ok(now.tree)
    }

    async fn compare(
        &self,
        (base, base_tree): (String, &str),
        (head, head_tree): (String, &str),
        detail: Detail,
    ) -> Result<Changes, CheckpointError> {
        let trees = (base_tree, head_tree);
        let (differing, is_counted) = self.differing(trees, detail).await?;
        let files = differing.into_iter().map(|differing| differing.told(detail)).collect();
        let patch = self.patch(trees, detail).await?;
        Ok(Changes { base, head, files, patch, uncounted: !is_counted })
    }

    /// What differs, and whether lines are counted.
    pub(crate) async fn differing(
        &self,
        trees: (&str, &str),
        detail: Detail,
    ) -> Result<(Vec<Differing>, bool), CheckpointError> {
        changes::between(&self.git, trees, &self.git.place.below_top(), detail).await
    }

    /// The differences themselves, if they are wanted.
    pub(crate) async fn patch(
        &self,
        trees: (&str, &str),
        detail: Detail,
    ) -> Result<Option<String>, CheckpointError> {
        match detail {
            Detail::Patch => changes::patch(&self.git, trees, &self.git.place.below_top()).await.map(Some),
            Detail::Counts | Detail::Versions | Detail::Quick => Ok(None),
        }
    }

    /// Makes the tree what a record says, and names the record from which that can be undone.
    pub async fn restore(&self, target: &Checkpoint, wanted: &Wanted) -> Result<Restored, CheckpointError> {
        let lock = self.lock().await?;
        let began = SystemTime::now();
        let all = record::list(self.store())?;
        if !all.iter().any(|other| other.id == target.id) {
            // It was thinned out while this waited.
            return Err(CheckpointError::Unknown { id: target.id.clone() });
        }
        let later = all.into_iter().filter(|other| other.at > target.at).collect();
        let known = std::fs::read_to_string(self.store().join(KNOWN)).ok();
        if wanted.dry_run {
            let now = self.now().await?.tree;
            let act = Act { git: &self.git, target, later, known, now, began };
            let plan = self.or_lost(act.plan(wanted).await, &[target]).await?;
            lock.done();
            return Ok(act.promise(plan));
        }
        let now = self.now().await?;
        let made = self.keep(now, || vec![Words { kind: Kind::Undo, ..Words::default() }]).await?;
        let nonsense = || CheckpointError::Nonsense { command: "write-tree".to_owned() };
        let undo = made.into_iter().next().ok_or_else(nonsense)?;
        let act = Act { git: &self.git, target, later, known, now: undo.commit.clone(), began };
        let plan = self.or_lost(act.plan(wanted).await, &[target]).await?;
        let carried_out = async {
            let restored = act.carry_out(plan).await?;
            let tree = self.now().await?.tree;
            self.git.ask(&["update-ref", KNOWN_REFERENCE, &tree]).await?;
            self.know(&tree)?;
            Ok(restored)
        };
        match carried_out.await {
            Ok(restored) => {
                lock.done();
                Ok(Restored { undo: Some(undo.id), ..restored })
            }
            Err(why) => Err(CheckpointError::Stopped { undo: undo.id, why: Box::new(why) }),
        }
    }

    /// Tells what git's failure means: the user's repository may have thrown away folders that a record has borrowed.
    async fn or_lost<T>(
        &self,
        asked: Result<T, CheckpointError>,
        of: &[&Checkpoint],
    ) -> Result<T, CheckpointError> {
        if let Err(CheckpointError::Git { .. }) = &asked {
            for checkpoint in of {
                if self.git.ask(&["ls-tree", "-r", "-z", &checkpoint.commit]).await.is_err() {
                    let files = "a folder and all that is in it".to_owned();
                    return Err(CheckpointError::Lost { id: checkpoint.id.clone(), files });
                }
            }
        }
        asked
    }
}

fn seen(sight: Option<&Sight>, place: &Place) -> Seen {
    match sight.map(|sight| sight.glance(place)) {
        Some(None) => Seen::Same,
        Some(Some(glance)) => Seen::Changed(Some(glance)),
        None => Seen::Changed(None),
    }
}
