//! What changed since a turn, a session, the last commit, or since a branch parted.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chartroom_protocol::changes::{Changes, FileStatus, ScopesResponse};
use chartroom_protocol::ids::TurnId;

use crate::CheckpointError;
use crate::changes::{self, Detail, Differing};
use crate::git::{Question, owned};
use crate::place::{Repository, from_bytes};
use crate::record::{self, Checkpoint, Kind, Words};
use crate::records::{Records, WORKING_TREE};

/// What is compared with the working tree, or with the end of what a session did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// A turn of a session.
    Turn {
        /// The one that was recorded last, if none is named.
        session: Option<String>,
        /// Its last one, if none is named.
        turn: Option<String>,
    },
    /// All turns of a session.
    Session(Option<String>),
    /// Everything since a person looked at what this session changed.
    Looked(String),
    /// Everything since the last commit.
    Uncommitted,
    /// Everything since this branch and the last commit parted.
    Branch(String),
}

/// The mode of a submodule in a tree.
const SUBMODULE: &str = "160000";

/// Which turn of a session.
enum Turn<'a> {
    Last,
    Named(&'a str),
}

impl Records {
    /// Returns what changed.
    pub async fn changes(&self, scope: &Scope, detail: Detail) -> Result<Changes, CheckpointError> {
        match scope {
            Scope::Uncommitted => {
                let (name, tree) = match self.repository()?.commit("HEAD") {
                    Some(commit) => (commit.clone(), commit),
                    // No commit yet: everything is new.
                    None => ("nothing".to_owned(), self.git.line(&["mktree"], b"").await?),
                };
                self.since_commit((name, &tree), detail).await
            }
            Scope::Branch(branch) => {
                let repository = self.repository()?;
                let no_such = |name: &str| CheckpointError::NoSuchRef { name: name.to_owned() };
                let theirs = repository.commit(branch).ok_or_else(|| no_such(branch))?;
                let ours = repository.commit("HEAD").ok_or_else(|| no_such("HEAD"))?;
                let base = self.git.line(&["merge-base", &theirs, &ours], b"").await?;
                self.since_commit((base.clone(), &base), detail).await
            }
            Scope::Looked(session) => {
                let none = || CheckpointError::NeverLooked { session: session.clone() };
                let base = self.looked(session)?.ok_or_else(none)?;
                self.diff(&base, None, detail).await
            }
            Scope::Session(session) => self.since_turn(session.as_deref(), None, detail).await,
            Scope::Turn { session, turn } => {
                let which = turn.as_deref().map_or(Turn::Last, Turn::Named);
                self.since_turn(session.as_deref(), Some(which), detail).await
            }
        }
    }

    /// Compares the state before a turn, or before the first one of a session, with the state after it. While a turn runs,
    /// the state after it is the present one.
    async fn since_turn(
        &self,
        session: Option<&str>,
        turn: Option<Turn<'_>>,
        detail: Detail,
    ) -> Result<Changes, CheckpointError> {
        let (base, head) = self.ends(session, turn)?;
        self.diff(&base, head.as_ref(), detail).await
    }

    /// The differences that a turn of a session made, or all of its turns, byte for byte; of these files and folders, if
    /// some are named.
    pub async fn turn_patch(
        &self,
        session: &str,
        turn: Option<&str>,
        paths: &[PathBuf],
    ) -> Result<Vec<u8>, CheckpointError> {
        let (base, head) = self.ends(Some(session), turn.map(Turn::Named))?;
        let head = match head {
            Some(head) => head.commit,
            None => self.locked_now().await?,
        };
        let all = [self.git.place.below_top()];
        let paths = if paths.is_empty() { &all } else { paths };
        changes::patch_of(&self.git, (&base.commit, &head), paths).await
    }

    /// The records between which a turn lies, or all turns of a session; no second one while it runs.
    fn ends(
        &self,
        session: Option<&str>,
        turn: Option<Turn<'_>>,
    ) -> Result<(Checkpoint, Option<Checkpoint>), CheckpointError> {
        let all = record::list(self.store())?;
        let is_meant = |checkpoint: &&Checkpoint| match (session, &checkpoint.words.session) {
            (Some(session), Some(of)) => session == of,
            (None, of) => of.is_some(),
            (Some(_), None) => false,
        };
        let Some(newest) = all.iter().rfind(is_meant) else {
            let session = session.unwrap_or("(any)").to_owned();
            return Err(CheckpointError::NoSession { session, folder: self.git.place.folder.to_string() });
        };
        let own: Vec<&Checkpoint> =
            all.iter().filter(|checkpoint| checkpoint.words.session == newest.words.session).collect();
        let name = match turn {
            Some(Turn::Named(name)) => Some(name),
            Some(Turn::Last) => newest.words.turn.as_deref(),
            None => None,
        };
        let of_turn = |checkpoint: &&&Checkpoint| name.is_none() || checkpoint.words.turn.as_deref() == name;
        let none = || CheckpointError::NoTurn { turn: name.unwrap_or_default().to_owned() };
        let base = own.iter().filter(of_turn).find(|it| it.words.kind == Kind::Before);
        // A turn that an agent began by itself has no record before it but the end of the one before.
        let base = base.or_else(|| own.iter().find(of_turn)).ok_or_else(none)?;
        let last = own.iter().rfind(of_turn).ok_or_else(none)?;
        let head = (last.words.kind == Kind::After).then(|| (*last).clone());
        Ok(((*base).clone(), head))
    }

    /// Records the tree as a person has seen it, with what a session changed.
    pub async fn look_at(&self, session: &str) -> Result<Checkpoint, CheckpointError> {
        let looked = Some(session.to_owned());
        self.make(|| Words { kind: Kind::Looked, looked, ..Words::default() }).await
    }

    /// The last time that a person looked at what a session changed.
    fn looked(&self, session: &str) -> Result<Option<Checkpoint>, CheckpointError> {
        let all = record::list(self.store())?;
        Ok(all.into_iter().rfind(|it| it.words.looked.as_deref() == Some(session)))
    }

    /// Returns what the files can be compared with.
    pub fn scopes(&self, session: &str) -> Result<ScopesResponse, CheckpointError> {
        let turns = self.list(Some(session))?.into_iter().filter(|it| it.words.kind == Kind::Before);
        let repository = self.git.place.repository.as_ref();
        Ok(ScopesResponse {
            turns: turns.filter_map(|it| it.words.turn).map(TurnId::new).collect(),
            repository: repository.is_some(),
            branch: repository.and_then(Repository::head_branch),
            branches: repository.map(Repository::branches).unwrap_or_default(),
            looked_at: self.looked(session)?.map(|looked| looked.at),
        })
    }

    fn repository(&self) -> Result<&Repository, CheckpointError> {
        let none = || CheckpointError::NoRepository { folder: self.git.place.folder.to_string() };
        self.git.place.repository.as_ref().ok_or_else(none)
    }

    /// Compares a commit of the user's repository with the tree as it is now.
    async fn since_commit(
        &self,
        (name, base): (String, &str),
        detail: Detail,
    ) -> Result<Changes, CheckpointError> {
        let now = self.locked_now().await?;
        let (mut differing, is_counted) = self.differing((base, &now), detail).await?;
        self.pass_over_absent(&mut differing).await;
        self.mark_untracked(&mut differing).await;
        let files = differing.into_iter().map(|differing| differing.told(detail)).collect();
        let patch = self.patch((base, &now), detail).await?;
        Ok(Changes { base: name, head: WORKING_TREE.to_owned(), files, patch, uncounted: !is_counted })
    }

    /// What is not in the folder because it is not meant to be is no deletion: submodules, which are not recorded, and
    /// what a sparse checkout leaves out.
    async fn pass_over_absent(&self, differing: &mut Vec<Differing>) {
        let is_gone = |differing: &Differing| differing.file.status == FileStatus::Deleted;
        let is_submodule = |differing: &Differing| {
            is_gone(differing) && differing.file.before.as_ref().is_some_and(|it| it.mode == SUBMODULE)
        };
        differing.retain(|differing| !is_submodule(differing));
        let Some(repository) = self.git.place.repository.as_ref().filter(|_| differing.iter().any(is_gone))
        else {
            return;
        };
        let index = repository.git_dir.join("index");
        let question =
            Question { arguments: owned(&["ls-files", "-t", "-z"]), input: Vec::new(), index: Some(&index) };
        // An index in parts cannot be read from elsewhere: what is not there counts as deleted then.
        let listed = self.git.run(question).await.unwrap_or_default();
        let skipped: BTreeSet<PathBuf> = listed
            .split(|byte| *byte == 0)
            .filter_map(|line| line.strip_prefix(b"S "))
            .map(from_bytes)
            .collect();
        differing.retain(|differing| !is_gone(differing) || !skipped.contains(&differing.place));
    }

    /// What is new and not in the user's index is untracked.
    async fn mark_untracked(&self, differing: &mut [Differing]) {
        let Some(repository) = &self.git.place.repository else { return };
        let is_new = |differing: &Differing| differing.file.status == FileStatus::Added;
        if !differing.iter().any(is_new) {
            return;
        }
        let index = repository.git_dir.join("index");
        let question =
            Question { arguments: owned(&["ls-files", "-z", "-c"]), input: Vec::new(), index: Some(&index) };
        let listed = self.git.run(question).await.unwrap_or_default();
        let tracked: BTreeSet<PathBuf> = listed.split(|byte| *byte == 0).map(from_bytes).collect();
        for new in differing.iter_mut().filter(|differing| is_new(differing)) {
            if !tracked.contains(&new.place) {
                new.file.status = FileStatus::Untracked;
            }
        }
    }
}
