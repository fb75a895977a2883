//! A repository, what is known of it, and what is owed: each file that an act of ours changed or removed must be in the
//! record that the act named.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use chartroom_checkpoints::{Checkpoint, Kind, Records};
use chartroom_repository::worktrees;
use chartroom_workspace::CanonicalRoot;

use super::files::{Edit, Held, Tree, bytes_of, tree};
use super::objects::Objects;
use crate::bench::{Bench, git};

/// What a record must hold, and what it may hold.
#[derive(Clone)]
pub struct Recorded {
    pub checkpoint: Checkpoint,
    /// All that lay in the folder.
    pub whole: Tree,
    /// What is ignored, and not in the user's index.
    pub ignored: BTreeSet<PathBuf>,
}

/// Something that must be found again.
struct Owed {
    /// In one of these records; anywhere, if there are none.
    records: Vec<String>,
    path: PathBuf,
    held: Held,
}

pub struct World {
    pub bench: Bench,
    n_words: usize,
    pub records: Vec<Recorded>,
    /// The tree at the newest record or after the newest restore.
    pub known: Option<Tree>,
    pub turns: Vec<(String, Recorded)>,
    pub undo: Option<String>,
    pub worktree: Option<String>,
    pub n_worktrees: usize,
    owed: Vec<Owed>,
}

impl World {
    pub fn new() -> Self {
        let bench = Bench::new();
        Self {
            bench,
            n_words: 0,
            records: Vec::new(),
            known: None,
            turns: Vec::new(),
            undo: None,
            worktree: None,
            n_worktrees: 0,
            owed: Vec::new(),
        }
    }

    pub fn root(&self) -> CanonicalRoot {
        self.bench.root()
    }

    pub fn tree(&self) -> Tree {
        tree(self.root().as_path())
    }

    pub fn dot_git(&self) -> BTreeMap<OsString, Vec<u8>> {
        bytes_of(&self.bench.path(".git"))
    }

    pub fn edit(&mut self, root: &Path, edits: &[Edit]) {
        for edit in edits {
            self.n_words += 1;
            edit.run(root, &format!("{} ", self.n_words));
        }
    }

    /// What is ignored in a folder and not tracked there.
    pub fn ignored(&self, root: &Path) -> BTreeSet<PathBuf> {
        if std::fs::read(root.join(".gitignore")).unwrap_or_default().is_empty() {
            return BTreeSet::new();
        }
        let listed =
            chartroom_testkit::hostile::git(root, &["ls-files", "-z", "-o", "-i", "--exclude-standard"]);
        let paths = listed.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        paths.map(|path| PathBuf::from(OsString::from_vec(path.to_vec()))).collect()
    }

    /// Remembers a record of the present state.
    pub fn recorded(&mut self, checkpoint: Checkpoint) -> Recorded {
        let whole = self.tree();
        let ignored = self.ignored(self.root().as_path());
        let recorded = Recorded { checkpoint, whole: whole.clone(), ignored };
        self.records.push(recorded.clone());
        self.known = Some(whole);
        recorded
    }

    /// Remembers the record of the state before an act of ours.
    pub async fn undo_of(&mut self, undo: &str, before: &Tree, ignored: &BTreeSet<PathBuf>) {
        let checkpoint = self.bench.records().await.find_here(undo).unwrap();
        let (whole, ignored) = (before.clone(), ignored.clone());
        self.records.push(Recorded { checkpoint, whole, ignored });
        self.undo = Some(undo.to_owned());
    }

    /// All that an act has changed is owed by the record that it named.
    pub fn owes(&mut self, (before, after): (&Tree, &Tree), undo: &[String]) -> Result<(), String> {
        for (path, held) in before.iter().filter(|(path, held)| after.get(*path) != Some(held)) {
            if undo.is_empty() {
                return Err(format!("{} was changed, and no record is named", path.display()));
            }
            // What is too large for a record may only be changed if the user's git has it.
            let records = if matches!(held, Held::Large(_)) { Vec::new() } else { undo.to_vec() };
            self.owed.push(Owed { records, path: path.clone(), held: held.clone() });
        }
        Ok(())
    }

    /// Each of these must be somewhere.
    pub fn owes_somewhere(&mut self, files: Tree) {
        self.owed.extend(files.into_iter().map(|(path, held)| Owed { records: Vec::new(), path, held }));
    }

    /// The newest two: an act may record the state after it too.
    pub fn newest(&self, records: &Records) -> Vec<String> {
        records.list(None).unwrap().into_iter().rev().take(2).map(|checkpoint| checkpoint.id).collect()
    }

    /// The folder of the worktree, if there is one.
    pub fn worktree(&self) -> Option<(worktrees::Record, PathBuf)> {
        let record = self.bench.record(self.worktree.as_deref()?);
        let path = record.path.clone();
        Some((record, path))
    }

    /// Looks whether every record has what it must have, and everything that is owed is there.
    pub fn settle(&self) -> Result<(), String> {
        let borrowed = self.bench.path(".git/objects");
        let data = self.bench.folder.path().join("data/checkpoints");
        let stores = std::fs::read_dir(data).into_iter().flatten().map(|entry| entry.unwrap().path());
        // A store that was not finished holds nothing.
        let stores: Vec<PathBuf> = stores.filter(|store| store.join("git/made").exists()).collect();
        let mut everywhere: Vec<Objects> =
            stores.iter().map(|store| Objects::of(&store.join("git"), &borrowed)).collect();
        if everywhere.is_empty() {
            everywhere.push(Objects::of(&self.bench.path(".git"), &borrowed));
        }
        let find = |commit: &str| {
            everywhere
                .iter()
                .find_map(|objects| objects.tree(commit).ok())
                .ok_or_else(|| everywhere[0].tree(commit).err().unwrap_or_default())
        };
        let listed = self.commits();
        for Recorded { checkpoint, whole, ignored } in &self.records {
            let id = checkpoint.id.clone();
            let commit = listed.get(&id).ok_or_else(|| format!("record {id} is gone"))?;
            let held = find(commit).map_err(|lost| format!("record {id}: {lost}"))?;
            for (path, expected) in whole {
                let is_needed = !ignored.contains(path) && !matches!(expected, Held::Large(_));
                match held.get(path) {
                    Some(held) if held == expected => {}
                    None if !is_needed => {}
                    other => {
                        return Err(format!("record {id}, {}: {other:?}, not {expected:?}", path.display()));
                    }
                }
            }
            if let Some(path) = held.keys().find(|path| !whole.contains_key(*path)) {
                return Err(format!("record {id} has {}, which was not there", path.display()));
            }
        }
        for owed in &self.owed {
            let mut is_there =
                owed.records.is_empty() && everywhere.iter().any(|objects| objects.has(&owed.held));
            for id in &owed.records {
                let commit = listed.get(id).ok_or_else(|| format!("record {id} is gone"))?;
                is_there |= find(commit)?.get(&owed.path) == Some(&owed.held);
            }
            if !is_there {
                return Err(format!("lost: {} with {:?}", owed.path.display(), owed.held));
            }
        }
        Ok(())
    }

    /// The commit of each record, as the lists have them.
    fn commits(&self) -> BTreeMap<String, String> {
        let data = self.bench.folder.path().join("data/checkpoints");
        let lists = std::fs::read_dir(data).into_iter().flatten();
        let texts = lists
            .filter_map(|entry| std::fs::read_to_string(entry.unwrap().path().join("records.jsonl")).ok());
        let mut commits = BTreeMap::new();
        for text in texts {
            for line in text.lines() {
                let line: serde_json::Value = serde_json::from_str(line).unwrap_or_default();
                if let (Some(id), Some(commit)) = (line["id"].as_str(), line["commit"].as_str()) {
                    commits.insert(id.to_owned(), commit.to_owned());
                }
            }
        }
        commits
    }

    /// The trees that persons changed between turns, after a record.
    pub fn gaps_after(&self, target: &Checkpoint) -> Vec<(&Tree, &Tree)> {
        let later = self.records.iter().filter(|it| it.checkpoint.at > target.at);
        let later: Vec<&Recorded> = later.filter(|it| it.checkpoint.words().kind != Kind::Undo).collect();
        let is_gap = |pair: &&[&Recorded]| pair[1].checkpoint.words().kind == Kind::Before;
        later.windows(2).filter(is_gap).map(|pair| (&pair[0].whole, &pair[1].whole)).collect()
    }

    pub fn has_later(&self, target: &Checkpoint) -> bool {
        let is_later =
            |it: &Recorded| it.checkpoint.at > target.at && it.checkpoint.words().kind != Kind::Undo;
        self.records.iter().any(is_later)
    }

    /// Commits everything in a folder with the user's own git, if there is something.
    pub fn commit(&self, root: &Path) {
        git(root, &["add", "-A"]);
        if !git(root, &["status", "--porcelain"]).is_empty() {
            git(root, &["commit", "-q", "-m", "more"]);
        }
    }
}
