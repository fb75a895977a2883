//! What is written down of each worktree: where it is, and what of its work was brought back.

use std::fs::DirBuilder;
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chartroom_protocol::worktree::Worktree;
use chartroom_workspace::gate::WORKTREES;
use chartroom_workspace::{CanonicalRoot, SpawnGate};
use serde::{Deserialize, Serialize};

use super::run;
use crate::{RepositoryError, io};

/// The folder of the records, beside the worktrees of a repository. No worktree's name begins with a dot.
const RECORDS: &str = ".records";

/// The records of those that were removed.
const REMOVED: &str = ".removed";

/// How a file is called that is not a record yet.
const STRAY: &str = ".writing-";

/// A worktree of our making.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Its branch.
    pub branch: String,
    /// The commit that it began with.
    pub base: String,
    /// The folder of the repository that it was made of.
    pub repository: PathBuf,
    /// What all worktrees of that repository share.
    pub(crate) common: PathBuf,
    /// The files that were copied into it.
    #[serde(default)]
    pub(crate) copied: Vec<PathBuf>,
    /// It is being made, or was when we died: nobody has worked in it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) half_made: bool,
    /// What of it was brought back last.
    #[serde(default)]
    pub(crate) brought: Option<Brought>,
    /// What it was made for, in the words of who made it.
    #[serde(default)]
    pub made_for: Option<String>,
}

/// A state of a worktree whose work is elsewhere too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Brought {
    pub(crate) commit: String,
    /// With what was not committed.
    pub(crate) tree: Option<String>,
}

impl Record {
    /// Returns it as answers tell it.
    pub fn told(&self) -> Worktree {
        Worktree {
            name: self.name.clone(),
            path: self.path.display().to_string(),
            branch: self.branch.clone(),
            base: self.base.clone(),
            repository: self.repository.display().to_string(),
            preparing: None,
        }
    }

    fn file(&self) -> PathBuf {
        file_of(&self.path, RECORDS, &self.name)
    }

    /// Keeps what is known of it, after it was removed: what was said in it belongs to its repository.
    pub(crate) fn bury(&self) -> Result<(), RepositoryError> {
        let buried = file_of(&self.path, REMOVED, &self.name);
        let bury = || {
            DirBuilder::new().recursive(true).mode(0o700).create(buried.parent().unwrap_or(&buried))?;
            std::fs::rename(self.file(), &buried)
        };
        bury().map_err(io("forgetting the worktree"))?;
        run::forget(self);
        Ok(())
    }

    /// Forgets one of the same name that was removed.
    pub(crate) fn unbury(&self) -> Result<(), RepositoryError> {
        match std::fs::remove_file(file_of(&self.path, REMOVED, &self.name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("forgetting the worktree of that name")(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes it down, at once or not at all.
    pub(crate) fn write(&self) -> Result<(), RepositoryError> {
        let file = self.file();
        let folder = file.parent().unwrap_or(&file);
        let write = || {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            clear_strays(folder);
            let mut temporary = tempfile::Builder::new().prefix(STRAY).tempfile_in(folder)?;
            temporary.write_all(&serde_json::to_vec_pretty(self)?)?;
            temporary.as_file().sync_all()?;
            temporary.persist(&file).map(drop).map_err(|failed| failed.error)
        };
        write().map_err(io("writing down what the worktree is"))
    }

    /// Forgets it.
    pub(crate) fn remove(&self) -> Result<(), RepositoryError> {
        match std::fs::remove_file(self.file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(io("forgetting the worktree")(error))
            }
            _ => Ok(()),
        }
    }
}

/// The folder of the worktrees of one repository.
pub(super) fn folder_of(gate: &SpawnGate, top: &Path, common: &Path) -> Result<PathBuf, RepositoryError> {
    use std::os::unix::ffi::OsStrExt as _;
    let hash = blake3::hash(common.as_os_str().as_bytes()).to_hex();
    let title = name_of(&top.file_name().unwrap_or_default().to_string_lossy());
    let folder = gate.data_dir().join(WORKTREES).join(format!("{title}-{}", &hash.as_str()[..10]));
    let make = || {
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        folder.canonicalize()
    };
    make().map_err(io(format!("making {}", folder.display())))
}

/// Returns the name of a branch's worktree: one that is a folder's everywhere.
pub fn name_of(branch: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let slug: String = branch.chars().map(plain).collect();
    let slug = slug.trim_matches(['.', '-']);
    if slug.is_empty() { "worktree".to_owned() } else { slug.to_owned() }
}

/// Removes what a kill in the middle of a write has left, not what somebody else is writing just now.
fn clear_strays(folder: &Path) {
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let is_stray = entry.file_name().to_string_lossy().starts_with(STRAY);
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|at| at.elapsed().ok());
        if is_stray && age.is_some_and(|age| age > Duration::from_secs(60)) {
            // Whoever else saw it has removed it.
            std::fs::remove_file(entry.path()).ok();
        }
    }
}

fn file_of(path: &Path, kind: &str, name: &str) -> PathBuf {
    path.parent().unwrap_or(path).join(kind).join(format!("{name}.json"))
}

/// Returns the worktree of our making that a folder is.
pub fn of_folder(gate: &SpawnGate, folder: &Path) -> Option<Record> {
    at(gate, folder, RECORDS)
}

/// Returns the worktree of our making that a folder was until it was removed.
pub fn was_of_folder(gate: &SpawnGate, folder: &Path) -> Option<Record> {
    at(gate, folder, REMOVED)
}

fn at(gate: &SpawnGate, folder: &Path, kind: &str) -> Option<Record> {
    let data = gate.data_dir().join(WORKTREES);
    // The data folder may have been named through a link.
    if !folder.starts_with(&data) && !data.canonicalize().is_ok_and(|real| folder.starts_with(real)) {
        return None;
    }
    let file = file_of(folder, kind, &folder.file_name()?.to_string_lossy());
    let record: Record = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    (record.path == folder).then_some(record)
}

/// Lists the worktrees of our making by name: those of the repository that a folder is in, or all of them.
pub fn list(gate: &SpawnGate, of: Option<&CanonicalRoot>) -> Vec<Record> {
    let entries = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries(gate.data_dir().join(WORKTREES)).flat_map(|of| entries(of.path().join(RECORDS)));
    let read = |path: PathBuf| serde_json::from_slice::<Record>(&std::fs::read(path).ok()?).ok();
    // What a kill left beside them is a whole record at times, and none of a worktree.
    let is_one = |path: &PathBuf| path.extension().is_some_and(|end| end == "json");
    let mut all: Vec<Record> = files.map(|entry| entry.path()).filter(is_one).filter_map(read).collect();
    if let Some(folder) = of {
        let is_of = |record: &Record| {
            let places = [&record.repository, &record.path];
            places
                .iter()
                .any(|place| folder.as_path().starts_with(place) || place.starts_with(folder.as_path()))
        };
        // A worktree leads to its sisters.
        let own: Vec<PathBuf> =
            all.iter().filter(|record| is_of(record)).map(|it| it.common.clone()).collect();
        all.retain(|record| own.contains(&record.common));
    }
    all.sort_by(|a, b| (&a.name, &a.path).cmp(&(&b.name, &b.path)));
    all
}

/// Finds a worktree by its name or its branch, among those of the repository that a folder is in first.
pub fn find(gate: &SpawnGate, of: Option<&CanonicalRoot>, name: &str) -> Result<Record, RepositoryError> {
    let named = |records: Vec<Record>| {
        let by_name: Vec<Record> = records.iter().filter(|record| record.name == name).cloned().collect();
        match by_name.is_empty() {
            true => records.into_iter().filter(|record| record.branch == name).collect(),
            false => by_name,
        }
    };
    let mut found: Vec<Record> = of.map(|of| named(list(gate, Some(of)))).unwrap_or_default();
    if found.is_empty() {
        found = named(list(gate, None));
    }
    match (found.pop(), found.is_empty()) {
        (Some(record), true) => Ok(record),
        (Some(_), false) => Err(RepositoryError::Refused(format!(
            "more than one repository has a worktree {name}; run this in the folder of the one that is meant"
        ))),
        (None, _) => Err(RepositoryError::NotFound(format!(
            "there is no worktree {name} of Chartroom's making; `chartroom worktree list` shows those there are"
        ))),
    }
}
