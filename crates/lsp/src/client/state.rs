//! What one client knows: open files, what its server said about which file, and what the server is busy with.
//!
//! Plain data, events in; the clock is an argument. [`super::freshness`] decides from it when to stop waiting.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::lsp::Severity;
use chartroom_workspace::watch::Change;
use serde_json::Value;
use tokio::time::Instant;

use super::initialize::Question;
use super::said::Said;
use super::table::Table;
use super::watched::FileWatcher;
use super::wire::{self, Finding};
use crate::registry::Quirks;

/// A server that opens progress without end must not fill our memory.
const MAX_PROGRESS: usize = 1_000;
const MAX_REGISTRATIONS: usize = 100;
/// Servers name their progress and registrations by numbers, ids or a few words.
const MAX_TOKEN: usize = 500;

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) version: i32,
    pub(crate) text: Arc<str>,
    /// Rises with each use; the smallest is closed first when too many are open.
    pub(crate) used: u64,
    /// Another file has changed in a way that the server does not see by itself when it looks at this one again.
    pub(crate) is_outdated: bool,
}

/// What the server said about one file, by each of the two ways it can say it.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) push: Option<Pushed>,
    pub(crate) pull: Option<Pulled>,
}

#[derive(Debug)]
pub(crate) struct Pushed {
    pub(crate) version: Option<i32>,
    /// The client's own count of pushes when this one came.
    pub(crate) epoch: u64,
    pub(crate) at: Instant,
    pub(crate) findings: Arc<[Finding]>,
}

#[derive(Debug)]
pub(crate) struct Pulled {
    /// The version that the server had been told when it was asked.
    pub(crate) version: i32,
    pub(crate) findings: Arc<[Finding]>,
}

impl Results {
    fn is_empty(&self) -> bool {
        self.push.as_ref().is_none_or(|push| push.findings.is_empty())
            && self.pull.as_ref().is_none_or(|pull| pull.findings.is_empty())
    }
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) open: BTreeMap<PathBuf, OpenFile>,
    pub(crate) results: Table,
    /// Counts `publishDiagnostics`.
    pub(crate) epoch: u64,
    /// That count when a file was last changed, on the disk or in the server: what was said before may be wrong now.
    pub(crate) changed_epoch: u64,
    /// When the server was last told what others did: it may have read any file after that.
    pub(crate) told: Option<Instant>,
    progress: BTreeMap<String, String>,
    /// What marks the progress of a background index, which diagnostics do not wait for.
    index_token: Option<&'static str>,
    /// It has begun to index.
    has_indexed: bool,
    /// What it says about itself and the project.
    pub(crate) said: Said,
    /// Background checks that began.
    pub(crate) n_checks_begun: u64,
    /// When the last background check began.
    pub(crate) check_began: Option<Instant>,
    /// When the last background check ended: what it found is published a moment later.
    pub(crate) check_ended: Option<Instant>,
    /// The server told us itself that it is not ready yet.
    pub(crate) not_quiescent: bool,
    /// Dynamic registrations of `textDocument/diagnostic`, by id.
    pub(crate) pull_registrations: BTreeMap<String, Option<String>>,
    /// Dynamic registrations of what it answers, by id.
    pub(crate) offered: BTreeMap<String, Question>,
    /// Dynamic registrations of the files it wants to hear of, by id.
    watchers: BTreeMap<String, Vec<FileWatcher>>,
    /// When it was last told that a file changed from which it loads the project, and how often it had asked to be pulled
    /// again by then.
    pub(crate) reloads: Option<(Instant, u64)>,
    /// How often the server asked to be pulled again.
    pub(crate) n_refreshes: u64,
    pub(crate) n_uses: u64,
    pub(crate) timed_out: bool,
    /// When somebody last touched a file or asked something.
    pub(crate) last_used: Option<Instant>,
    /// It has given an answer that was not "clean", or one that it gave twice.
    pub(crate) is_believed: bool,
}

impl State {
    /// Knows nothing yet.
    pub(crate) fn new(quirks: Quirks) -> Self {
        let not_quiescent = quirks.tells_when_loaded;
        Self { not_quiescent, index_token: quirks.index_progress, ..Self::default() }
    }

    /// Takes in a push. An older version than the one already known, or one we never sent, is dropped.
    pub(crate) fn publish(
        &mut self,
        file: PathBuf,
        version: Option<i32>,
        findings: Vec<Finding>,
        now: Instant,
    ) -> bool {
        if let (Some(version), Some(open)) = (version, self.open.get(&file))
            && version > open.version
        {
            return false;
        }
        let known = self.results.get(&file).and_then(|results| results.push.as_ref());
        if let (Some(version), Some(known)) = (version, known.and_then(|push| push.version))
            && version < known
        {
            return false;
        }
        self.epoch += 1;
        let push = Pushed { version, epoch: self.epoch, at: now, findings: findings.into() };
        self.results.push(&file, push, |file| self.open.contains_key(file))
    }

    /// Takes in the answer to a pull.
    pub(crate) fn pulled(&mut self, file: &Path, version: i32, findings: Vec<Finding>) {
        let known = self.results.get(file).and_then(|results| results.pull.as_ref());
        if known.is_none_or(|pull| pull.version <= version) {
            let pull = Pulled { version, findings: findings.into() };
            self.results.pull(file, pull, |file| self.open.contains_key(file));
        }
    }

    /// Forgets what was said about a file: it is closed or gone.
    pub(crate) fn forget(&mut self, file: &Path) {
        self.open.remove(file);
        self.results.remove(file);
    }

    /// Files with findings, by path.
    pub(crate) fn known(&self) -> impl Iterator<Item = &PathBuf> {
        self.results.iter().filter(|(_, results)| !results.is_empty()).map(|(file, _)| file)
    }

    /// Everything that is held about a file, both ways together.
    pub(crate) fn held(&self, file: &Path) -> Vec<Finding> {
        let Some(results) = self.results.get(file) else { return Vec::new() };
        let push = results.push.iter().flat_map(|push| push.findings.iter());
        let pull = results.pull.iter().flat_map(|pull| pull.findings.iter());
        push.chain(pull).cloned().collect()
    }

    /// Takes in a `$/progress` notification. `check` is the text that marks a background check's token.
    pub(crate) fn progress(&mut self, params: &Value, check: Option<&str>, now: Instant) {
        let token = match params.get("token") {
            Some(Value::String(token)) => token.clone(),
            Some(Value::Number(token)) => token.to_string(),
            _ => return,
        };
        if token.len() > MAX_TOKEN {
            return;
        }
        let value = params.get("value").unwrap_or(&Value::Null);
        if self.said.progress(&token, value, now) {
            return;
        }
        match value.get("kind").and_then(Value::as_str) {
            Some("begin") => {
                let title = value.get("title").and_then(Value::as_str).unwrap_or("working");
                if check.is_some_and(|check| token.contains(check)) {
                    self.n_checks_begun += 1;
                    self.check_began = Some(now);
                }
                self.has_indexed |= self.is_index(&token);
                if self.progress.len() < MAX_PROGRESS {
                    self.progress.insert(token, wire::shorten(title));
                }
            }
            Some("end") => {
                self.progress.remove(&token);
                if check.is_some_and(|check| token.contains(check)) {
                    self.check_ended = Some(now);
                }
            }
            _ => {}
        }
    }

    /// Takes in a registration of `textDocument/diagnostic`; servers have one, or a few.
    pub(crate) fn register(&mut self, id: String, identifier: Option<String>) {
        let length = id.len() + identifier.as_ref().map_or(0, String::len);
        if self.pull_registrations.len() < MAX_REGISTRATIONS && length <= MAX_TOKEN {
            self.pull_registrations.insert(id, identifier);
        }
    }

    /// Takes in that the server answers a question from now on.
    pub(crate) fn offer(&mut self, id: String, question: Question) {
        if self.offered.len() < MAX_REGISTRATIONS && id.len() <= MAX_TOKEN {
            self.offered.insert(id, question);
        }
    }

    /// Takes in of which files the server wants to hear. The same id again takes the place of what it was.
    pub(crate) fn watch(&mut self, id: String, watchers: Vec<FileWatcher>) {
        let has_room = self.watchers.len() < MAX_REGISTRATIONS || self.watchers.contains_key(&id);
        if has_room && id.len() <= MAX_TOKEN {
            self.watchers.insert(id, watchers);
        }
    }

    /// Tells whether the server has registered to hear of this change.
    pub(crate) fn is_watched(&self, file: &Path, change: Change, roots: &[&Path]) -> bool {
        self.watchers.values().flatten().any(|watcher| watcher.wants(file, change, roots))
    }

    /// Takes back a registration of any kind.
    pub(crate) fn unregister(&mut self, id: &str) {
        self.pull_registrations.remove(id);
        self.offered.remove(id);
        self.watchers.remove(id);
    }

    /// Tells whether the server is still at work, so that an empty result means "not yet".
    pub(crate) fn is_loading(&self) -> bool {
        self.not_quiescent || self.progress.keys().any(|token| !self.is_index(token))
    }

    /// Tells whether the server has indexed the project, of one that does.
    pub(crate) fn is_indexed(&self) -> bool {
        self.index_token.is_none()
            || (self.has_indexed && !self.progress.keys().any(|token| self.is_index(token)))
    }

    /// Tells whether it has begun to.
    pub(crate) fn has_indexed(&self) -> bool {
        self.has_indexed
    }

    fn is_index(&self, token: &str) -> bool {
        self.index_token.is_some_and(|index| token.contains(index))
    }

    /// Since when the server says that it cannot load the project, and is not at work on it: nothing to wait for.
    pub(crate) fn failed_since(&self) -> Option<Instant> {
        self.said.failed_since().filter(|_| !self.is_loading())
    }

    /// The first error that the server reports in one of the files that configure the project, but for `asked`.
    pub(crate) fn wrong_configuration(
        &self,
        root: &Path,
        markers: &[String],
        asked: Option<&Path>,
    ) -> Option<String> {
        markers.iter().find_map(|marker| {
            let file = root.join(marker);
            let results = self.results.get(&file).filter(|_| Some(file.as_path()) != asked)?;
            let push = results.push.iter().flat_map(|push| push.findings.iter());
            let mut errors = push.filter(|finding| finding.severity == Severity::Error);
            let error = errors.next()?;
            let start = error.range.start;
            Some(wire::words(&format!(
                "{marker}:{}:{} {}",
                start.line + 1,
                start.character + 1,
                error.message
            )))
        })
    }

    /// Tells whether a background check runs; `check` marks its token.
    pub(crate) fn is_checking(&self, check: &str) -> bool {
        self.progress.keys().any(|token| token.contains(check))
    }

    /// Tells whether the server is at work on anything but a background check.
    pub(crate) fn is_loading_beside(&self, check: &str) -> bool {
        self.not_quiescent
            || self.progress.keys().any(|token| !token.contains(check) && !self.is_index(token))
    }

    /// What the server says it is doing.
    pub(crate) fn activity(&self) -> Option<String> {
        self.progress
            .values()
            .next()
            .cloned()
            .or_else(|| self.not_quiescent.then(|| "loading the project".to_owned()))
    }

    /// Returns the next number of use, for the order in which open files are closed.
    pub(crate) fn next_use(&mut self) -> u64 {
        self.n_uses += 1;
        self.n_uses
    }
}
