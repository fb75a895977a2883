//! A repository of a user, trusted, and a gate on a data folder of its own.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests may fail them")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_checkpoints::{Checkpoint, CheckpointError, Kind, Records, Wanted, Words};
use chartroom_protocol::changes::Restored;
use chartroom_protocol::worktree::{AddWorktreeParams, AddWorktreeResponse};
use chartroom_repository::RepositoryError;
use chartroom_repository::worktrees::{self, Preparation, Record};
use chartroom_testkit::hostile::git as plain_git;
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};

pub struct Bench {
    pub folder: tempfile::TempDir,
    pub gate: SpawnGate,
}

impl Bench {
    /// A repository with one commit of `a.txt`, whose user has a name.
    pub fn new() -> Self {
        let bench = Self::untrusted();
        bench.gate.trust().trust(&bench.root()).unwrap();
        bench
    }

    pub fn untrusted() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("shop")).unwrap();
        let gate = gate(folder.path());
        let bench = Self { folder, gate };
        bench.git(&["init", "-q", "-b", "main"]);
        bench.git(&["config", "user.name", "U"]);
        bench.git(&["config", "user.email", "u@example.org"]);
        bench.write("a.txt", "one\n");
        bench.commit("first");
        bench
    }

    pub fn root(&self) -> CanonicalRoot {
        CanonicalRoot::open(self.folder.path().join("shop")).unwrap()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root().as_path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        write(self.root().as_path(), name, text);
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        git(self.root().as_path(), args)
    }

    pub fn commit(&self, message: &str) {
        commit(self.root().as_path(), message);
    }

    pub async fn try_add(
        &self,
        branch: &str,
        from: Option<&str>,
    ) -> Result<AddWorktreeResponse, RepositoryError> {
        let params = AddWorktreeParams { branch: branch.to_owned(), from: from.map(str::to_owned) };
        worktrees::add(&self.gate, &self.root(), &params, &Preparation::default()).await
    }

    /// A worktree on a new branch: its record and its folder.
    pub async fn add(&self, branch: &str) -> (Record, PathBuf) {
        let added = self.try_add(branch, None).await.unwrap();
        (self.record(&added.worktree.name), PathBuf::from(added.worktree.path))
    }

    /// From now on git is this shell script, which has the real one as `$GIT`.
    pub fn with_git(&mut self, script: &str) {
        let programs = self.folder.path().join("programs");
        std::fs::create_dir_all(&programs).unwrap();
        let git = programs.join("git");
        std::fs::write(&git, format!("#!/bin/sh\nGIT=/usr/bin/git\n{script}\n")).unwrap();
        std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        self.gate = gate_on(self.folder.path(), &format!("{}:/usr/bin:/bin", programs.display()));
    }

    pub async fn records(&self) -> Records {
        Records::of(&self.gate, &self.root()).await.unwrap()
    }

    /// A record by hand.
    pub async fn make(&self) -> Checkpoint {
        self.records().await.make(Words::default).await.unwrap()
    }

    /// A record before or after a turn of the session `s`.
    pub async fn turn(&self, kind: Kind, turn: &str) -> Checkpoint {
        let words =
            || Words { kind, session: Some("s".to_owned()), turn: Some(turn.to_owned()), ..Words::default() };
        self.records().await.make(words).await.unwrap()
    }

    pub async fn restore(&self, checkpoint: &Checkpoint, force: bool) -> Result<Restored, CheckpointError> {
        let wanted = Wanted { force, ..Wanted::default() };
        self.records().await.restore(checkpoint, &wanted).await
    }

    /// The folder in which the records of this repository lie.
    pub fn store(&self) -> PathBuf {
        let stores = std::fs::read_dir(self.folder.path().join("data/checkpoints")).unwrap();
        let of_this = |store: &PathBuf| {
            let place = std::fs::read_to_string(store.join("place.json")).unwrap_or_default();
            place.contains(&format!("{}\"", self.root()))
        };
        stores.map(|entry| entry.unwrap().path()).find(of_this).unwrap()
    }

    pub fn record(&self, name: &str) -> Record {
        worktrees::find(&self.gate, Some(&self.root()), name).unwrap()
    }
}

pub fn gate(folder: &Path) -> SpawnGate {
    gate_on(folder, "/usr/bin:/bin")
}

/// A gate whose children find their programs along this PATH.
pub fn gate_on(folder: &Path, path: &str) -> SpawnGate {
    let data = folder.join("data");
    let keeper = Keeper { program: chartroom_testkit::fakes::keeper(), args: vec!["keeper".into()] };
    let env = [
        ("PATH".into(), path.into()),
        ("HOME".into(), folder.as_os_str().to_owned()),
        // What a shell with a hook around us may have set.
        ("GIT_DIR".into(), "/nonexistent".into()),
        ("GIT_INDEX_FILE".into(), "/nonexistent".into()),
    ];
    SpawnGate::with_environment(keeper, Arc::new(TrustStore::open(&data).unwrap()), &data, env.into())
}

pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[track_caller]
pub fn git(folder: &Path, args: &[&str]) -> String {
    let output = plain_git(folder, args);
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

pub fn commit(folder: &Path, message: &str) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", message]);
}
