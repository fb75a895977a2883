//! What a server said, by file: bounded in bytes, so that no server can fill our memory by what it says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::state::{Pulled, Pushed, Results};
use super::wire;

/// A server that speaks of more files than this is not believed any further.
const MAX_FILES: usize = 20_000;
/// What is kept of all files together. Beyond it files that are not open are forgotten, those that were spoken of longest
/// ago first. Open files are few, and each has its own limit ([`wire::MAX_FILE_BYTES`]).
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// What is left after that, so that it is not done for every push.
const AFTER_FORGETTING: usize = MAX_BYTES / 4 * 3;

/// The results of every file.
#[derive(Debug, Default)]
pub(crate) struct Table {
    files: BTreeMap<PathBuf, Results>,
    /// What they take, by [`bytes`].
    n_bytes: usize,
    /// Files that were forgotten for the sake of others.
    n_forgotten: u64,
}

impl Table {
    pub(crate) fn get(&self, file: &Path) -> Option<&Results> {
        self.files.get(file)
    }

    /// Every file with its results, by path.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&PathBuf, &Results)> {
        self.files.iter()
    }

    pub(crate) fn remove(&mut self, file: &Path) {
        if let Some(results) = self.files.remove(file) {
            self.n_bytes -= bytes(file, &results);
        }
    }

    /// Forgets what was answered about a file, not what was pushed.
    pub(crate) fn forget_pull(&mut self, file: &Path) {
        if self.files.contains_key(file) {
            self.change(file, |results| results.pull = None);
        }
    }

    /// Keeps a push; tells whether there was room for the file.
    pub(crate) fn push(&mut self, file: &Path, push: Pushed, is_open: impl Fn(&Path) -> bool) -> bool {
        self.keep(file, |results| results.push = Some(push), is_open)
    }

    /// Keeps an answer; tells whether there was room for the file.
    pub(crate) fn pull(&mut self, file: &Path, pull: Pulled, is_open: impl Fn(&Path) -> bool) -> bool {
        self.keep(file, |results| results.pull = Some(pull), is_open)
    }

    fn keep(
        &mut self,
        file: &Path,
        change: impl FnOnce(&mut Results),
        is_open: impl Fn(&Path) -> bool,
    ) -> bool {
        if self.files.len() >= MAX_FILES && !self.files.contains_key(file) {
            return false;
        }
        self.change(file, change);
        if self.n_bytes > MAX_BYTES {
            self.forget_oldest(file, is_open);
        }
        true
    }

    fn change(&mut self, file: &Path, change: impl FnOnce(&mut Results)) {
        if !self.files.contains_key(file) {
            self.n_bytes += bytes(file, &Results::default());
        }
        let results = self.files.entry(file.to_owned()).or_default();
        self.n_bytes -= bytes(file, results);
        change(results);
        self.n_bytes += bytes(file, results);
    }

    fn forget_oldest(&mut self, newest: &Path, is_open: impl Fn(&Path) -> bool) {
        let age = |results: &Results| results.push.as_ref().map_or(0, |push| push.epoch);
        let mut files: Vec<(u64, PathBuf)> = self
            .files
            .iter()
            .filter(|(file, _)| file.as_path() != newest && !is_open(file))
            .map(|(file, results)| (age(results), file.clone()))
            .collect();
        files.sort();
        if self.n_forgotten == 0 {
            tracing::warn!(
                "a language server says more than is kept; what it said of old files is forgotten"
            );
        }
        for (_, file) in files {
            if self.n_bytes <= AFTER_FORGETTING {
                break;
            }
            self.remove(&file);
            self.n_forgotten += 1;
        }
    }
}

/// What a file's results take.
fn bytes(file: &Path, results: &Results) -> usize {
    let push = results.push.iter().flat_map(|push| push.findings.iter());
    let pull = results.pull.iter().flat_map(|pull| pull.findings.iter());
    size_of::<Results>() + file.as_os_str().len() + push.chain(pull).map(wire::bytes).sum::<usize>()
}
