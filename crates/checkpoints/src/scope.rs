//! What changed since a turn, a session, the last commit, or since a branch parted.

use std::collections::BTreeSet;
use std::path::PathBuf;

use chartroom_protocol::changes::{Changes, FileStatus};

use crate::CheckpointError;
use crate::changes::Differing;
use crate::git::{Question, owned};
use crate::place::{Repository, from_bytes};
use crate::record::{self, Checkpoint, Kind};
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
    /// Everything since the last commit.
    Uncommitted,
    /// Everything since this branch and the last commit parted.
    Branch(String),
}

/// Which turn of a session.
enum Turn<'a> {
    Last,
    Named(&'a str),
}

impl Records {
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
            Scope::Session(session) => self.since_turn(session.as_deref(), None, with_patch).await,
            Scope::Turn { session, turn } => {
                let which = turn.as_deref().map_or(Turn::Last, Turn::Named);
                self.since_turn(session.as_deref(), Some(which), with_patch).await
            }
        }
    }

    /// Compares the state before a turn, or before the first one of a session, with the state after it. While a turn runs,
    /// the state after it is the present one.
    async fn since_turn(
        &self,
        session: Option<&str>,
        turn: Option<Turn<'_>>,
        with_patch: bool,
    ) -> Result<Changes, CheckpointError> {
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
        let head = (last.words.kind == Kind::After).then_some(*last);
        self.diff(base, head, with_patch).await
    }

    fn repository(&self) -> Result<&Repository, CheckpointError> {
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
        let mut differing = self.differing((base, &now)).await?;
        self.mark_untracked(&mut differing).await;
        let files = differing.into_iter().map(|differing| differing.file).collect();
        let patch = self.patch((base, &now), with_patch).await?;
        Ok(Changes { base: name, head: WORKING_TREE.to_owned(), files, patch })
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
