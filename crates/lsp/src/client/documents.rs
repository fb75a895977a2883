//! Telling the server about files: open, change, save, close, and what others did on the disk.
//!
//! The owner plans a write: the state changes at once, and what has to be sent is a list.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_workspace::watch::Change;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::freshness::Touch;
use super::owner::{Owner, WriteKind};
use super::said;
use super::state::OpenFile;
use crate::content;
use crate::uri;

/// More files are not kept open; the least recently used is closed.
const MAX_OPEN: usize = 100;

/// What is sent to the server, in order.
pub(super) type Notifications = Vec<(&'static str, Value)>;

impl Owner {
    /// Plans a write: returns what has to be sent, and the touches that it is.
    pub(super) fn plan(&mut self, what: WriteKind) -> (Notifications, Vec<Touch>) {
        let mut out = Notifications::new();
        let mut touches = Vec::new();
        match what {
            WriteKind::Touch { files } => {
                self.use_now();
                self.send_disk_changes(&mut out, &files.iter().map(|(file, _)| file.as_path()).collect());
                touches
                    .extend(files.iter().map(|(file, text)| self.write(&mut out, file, text.clone(), true)));
                let last_changed = touches.iter().rposition(|touch| !touch.is_unchanged).unwrap_or(0);
                touches.iter_mut().take(last_changed).for_each(|touch| touch.is_amid = true);
            }
            WriteKind::OpenFromDisk { file } => {
                let text = content::read(&self.workspace, &file).ok();
                touches.extend(text.map(|text| self.write(&mut out, &file, text, false)));
            }
            WriteKind::SendAnew { touch } => touches.extend(self.send_anew(&mut out, &touch)),
            WriteKind::DiskChanges => self.send_disk_changes(&mut out, &BTreeSet::new()),
            WriteKind::Removed { files } => self.removed(&mut out, files),
            WriteKind::Nothing => self.use_now(),
        }
        (out, touches)
    }

    /// Puts the idle clock back.
    fn use_now(&mut self) {
        self.change_quietly(|state, _| state.last_used = Some(Instant::now()));
    }

    fn is_open(&self, file: &Path) -> bool {
        self.state.borrow().open.contains_key(file)
    }

    /// Sends what was done on the disk by others since the last look, except to the files of `skip`.
    fn send_disk_changes(&mut self, out: &mut Notifications, skip: &BTreeSet<&Path>) {
        let server = self.server.clone();
        let seen = self.disk_changes.changes(|file| server.language_id(file).is_some());
        let mut changes: BTreeMap<PathBuf, Change> = seen.into_iter().collect();
        for (file, change) in self.outside.take() {
            if self.concerns(&file, change) {
                changes.entry(file).or_insert(change);
            }
        }
        self.outdate(&changes);
        changes.retain(|file, _| !skip.contains(file.as_path()));
        let changes: Vec<(PathBuf, Change)> = changes.into_iter().collect();
        self.watched_files(out, &changes);
        let reloads = changes.iter().any(|(file, _)| said::is_configuration(file, &self.server.markers));
        if !changes.is_empty() {
            self.change_quietly(|state, _| {
                state.changed_epoch = state.epoch;
                state.told = Some(Instant::now());
                if reloads {
                    state.reloads = Some((Instant::now(), state.n_refreshes));
                }
            });
        }
        for (file, change) in &changes {
            if !self.is_open(file) {
                // What was said about it may be wrong now, and nobody will correct it by itself.
                if *change == Change::Deleted {
                    self.change_quietly(|state, _| state.results.remove(file));
                }
                continue;
            }
            match content::read(&self.workspace, file) {
                Ok(text) if *change != Change::Deleted => {
                    self.write(out, file, text, true);
                }
                _ => self.close(out, file),
            }
        }
    }

    /// Tells whether the server has to hear of a change: it registered for it, or speaks of such files.
    fn concerns(&self, file: &Path, change: Change) -> bool {
        let roots = [self.root.as_path(), self.workspace.as_path()];
        self.server.language_id(file).is_some()
            || self.quirks.wants_to_be_forced
            || self.state.borrow().is_watched(file, change, &roots)
    }

    fn removed(&mut self, out: &mut Notifications, files: Vec<PathBuf>) {
        for file in &files {
            if self.is_open(file) {
                self.close(out, file);
            }
            self.change_quietly(|state, _| state.results.remove(file));
            self.disk_changes.forget(file);
        }
        let changes: Vec<_> = files.into_iter().map(|file| (file, Change::Deleted)).collect();
        self.change_quietly(|state, _| state.changed_epoch = state.epoch);
        self.watched_files(out, &changes);
    }

    fn write(&mut self, out: &mut Notifications, file: &Path, text: Arc<str>, save: bool) -> Touch {
        let (mut known, mut epoch, mut n_checks) = (None, 0, 0);
        self.change_quietly(|state, _| {
            let used = state.next_use();
            known = state.open.get_mut(file).map(|open| {
                open.used = used;
                (open.version, open.text == text)
            });
            (epoch, n_checks) = (state.epoch, state.n_checks_begun);
        });
        let uri = uri::of_path(file);
        let at = Instant::now();
        let version = match known {
            None => self.open(out, file, &uri, &text),
            Some((version, true)) => version,
            Some((version, false)) => {
                let version = version + 1;
                let mut params = json!({
                    "textDocument": { "uri": uri, "version": version },
                    "contentChanges": [{ "text": &*text }],
                });
                let mut is_outdated = false;
                self.change_quietly(|state, _| {
                    if let Some(open) = state.open.get_mut(file) {
                        open.version = version;
                        open.text = text.clone();
                        is_outdated = std::mem::take(&mut open.is_outdated);
                    }
                });
                if self.quirks.wants_to_be_forced {
                    params["wantDiagnostics"] = json!(true);
                    params["forceRebuild"] = json!(is_outdated);
                }
                out.push(("textDocument/didChange", params));
                version
            }
        };
        self.disk_changes.note(file);
        let unchanged = matches!(known, Some((_, true)));
        if save && (!unchanged || self.quirks.check_on_save.is_some()) {
            let watched = if known.is_none() { Change::Created } else { Change::Changed };
            self.watched_files(out, &[(file.to_owned(), watched)]);
            out.push(("textDocument/didSave", json!({ "textDocument": { "uri": uri }, "text": &*text })));
        }
        if save && !unchanged {
            self.change_quietly(|state, _| state.changed_epoch = state.epoch);
        }
        // The same text again: what was said since the last change of any file still counts.
        let epoch = if unchanged { self.state.borrow().changed_epoch } else { epoch };
        Touch { file: file.to_owned(), version, epoch, is_unchanged: unchanged, is_amid: false, n_checks, at }
    }

    /// Sends a file's text once more, as two changes, so that a server which compares texts looks at it anew; nothing when it
    /// was changed or closed meanwhile.
    fn send_anew(&mut self, out: &mut Notifications, touch: &Touch) -> Option<Touch> {
        let open = self.state.borrow().open.get(&touch.file).map(|open| (open.version, open.text.clone()));
        let (_, text) = open.filter(|(version, _)| *version == touch.version)?;
        let other: Arc<str> = format!("{text}\n").into();
        self.write(out, &touch.file, other, false);
        Some(self.write(out, &touch.file, text, false))
    }

    fn open(&mut self, out: &mut Notifications, file: &Path, uri: &str, text: &Arc<str>) -> i32 {
        self.close_least_used(out);
        let version = 1;
        let language_id = self.server.language_id(file).unwrap_or("plaintext");
        let params = json!({
            "textDocument": { "uri": uri, "languageId": language_id, "version": version, "text": &**text },
        });
        out.push(("textDocument/didOpen", params));
        self.change_quietly(|state, _| {
            let used = state.next_use();
            // What was said about it before it was open came without a version and may be about another text.
            state.results.forget_pull(file);
            state
                .open
                .insert(file.to_owned(), OpenFile { version, text: text.clone(), used, is_outdated: false });
        });
        version
    }

    fn close(&mut self, out: &mut Notifications, file: &Path) {
        out.push(("textDocument/didClose", json!({ "textDocument": { "uri": uri::of_path(file) } })));
        self.change_quietly(|state, _| state.forget(file));
    }

    fn close_least_used(&mut self, out: &mut Notifications) {
        let oldest = {
            let state = self.state.borrow();
            if state.open.len() < MAX_OPEN {
                return;
            }
            state.open.iter().min_by_key(|(_, open)| open.used).map(|(file, _)| file.clone())
        };
        if let Some(file) = oldest {
            self.close(out, &file);
        }
    }

    fn watched_files(&mut self, out: &mut Notifications, changes: &[(PathBuf, Change)]) {
        if changes.is_empty() {
            return;
        }
        if changes.iter().any(|(file, _)| said::is_configuration(file, &self.server.markers)) {
            self.change_quietly(|state, _| state.said.configured(Instant::now()));
        }
        let changes: Vec<Value> = changes
            .iter()
            .map(|(file, change)| json!({ "uri": uri::of_path(file), "type": *change as u8 }))
            .collect();
        out.push(("workspace/didChangeWatchedFiles", json!({ "changes": changes })));
    }
}
