//! Telling the server about files: open, change, save, close, and what others did on the disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_transport::RpcError;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::freshness::Touch;
use super::state::OpenFile;
use super::{Client, lock};
use crate::content;
use crate::disk_changes::Change;
use crate::uri;

/// More files are not kept open; the least recently used is closed.
const MAX_OPEN: usize = 100;

impl Client {
    /// Sends the text of a file and its save, after every write before.
    pub(crate) async fn touch(&self, file: &Path, text: Arc<str>) -> Result<Touch, RpcError> {
        self.use_now();
        let _turn = self.writing.lock().await;
        self.write(file, text, true).await
    }

    /// Opens a file as it is on the disk, unless it is open; nothing when it cannot be read as text.
    pub(crate) async fn open_from_disk(&self, file: &Path) -> Result<Option<Touch>, RpcError> {
        let _turn = self.writing.lock().await;
        let Some(text) = content::read(&self.workspace, file).ok() else { return Ok(None) };
        self.write(file, text, false).await.map(Some)
    }

    /// Tells the server what was done on the disk by others since the last look, except to the files of `skip`.
    pub(crate) async fn send_disk_changes(&self, skip: &BTreeSet<PathBuf>) -> Result<(), RpcError> {
        let _turn = self.writing.lock().await;
        let changes = lock(&self.disk_changes).changes(|file| self.server.language_id(file).is_some());
        let changes: Vec<_> = changes.into_iter().filter(|(file, _)| !skip.contains(file)).collect();
        self.notify_watched_files(&changes).await?;
        for (file, change) in &changes {
            if !self.is_open(file) {
                // What was said about it may be wrong now, and nobody will correct it by itself.
                if *change == Change::Deleted {
                    self.state().results.remove(file);
                }
                continue;
            }
            match content::read(&self.workspace, file) {
                Ok(text) if *change != Change::Deleted => {
                    self.write(file, text, true).await?;
                }
                _ => self.close(file).await?,
            }
        }
        Ok(())
    }

    /// Tells the server that a tool of ours removed files.
    pub(crate) async fn removed(&self, files: &[PathBuf]) -> Result<(), RpcError> {
        let _turn = self.writing.lock().await;
        for file in files {
            if self.is_open(file) {
                self.close(file).await?;
            }
            self.state().results.remove(file);
            lock(&self.disk_changes).forget(file);
        }
        let changes: Vec<_> = files.iter().map(|file| (file.clone(), Change::Deleted)).collect();
        self.notify_watched_files(&changes).await
    }

    async fn notify_watched_files(&self, changes: &[(PathBuf, Change)]) -> Result<(), RpcError> {
        if changes.is_empty() {
            return Ok(());
        }
        let changes: Vec<Value> = changes
            .iter()
            .map(|(file, change)| json!({ "uri": uri::of_path(file), "type": *change as u8 }))
            .collect();
        self.peer.notify("workspace/didChangeWatchedFiles", json!({ "changes": changes })).await
    }

    async fn write(&self, file: &Path, text: Arc<str>, save: bool) -> Result<Touch, RpcError> {
        let (known, epoch, n_checks) = {
            let mut state = self.state();
            let used = state.next_use();
            let known = state.open.get_mut(file).map(|open| {
                open.used = used;
                (open.version, open.text == text)
            });
            (known, state.epoch, state.n_checks_begun)
        };
        let uri = uri::of_path(file);
        let at = Instant::now();
        let version = match known {
            None => self.open(file, &uri, &text).await?,
            Some((version, true)) => version,
            Some((version, false)) => {
                let version = version + 1;
                let params = json!({
                    "textDocument": { "uri": uri, "version": version },
                    "contentChanges": [{ "text": &*text }],
                });
                self.peer.notify("textDocument/didChange", params).await?;
                if let Some(open) = self.state().open.get_mut(file) {
                    open.version = version;
                    open.text = text.clone();
                }
                version
            }
        };
        lock(&self.disk_changes).note(file);
        let unchanged = matches!(known, Some((_, true)));
        if save && (!unchanged || self.quirks.check_on_save.is_some()) {
            let watched = if known.is_none() { Change::Created } else { Change::Changed };
            self.notify_watched_files(&[(file.to_owned(), watched)]).await?;
            let params = json!({ "textDocument": { "uri": uri }, "text": &*text });
            self.peer.notify("textDocument/didSave", params).await?;
        }
        // The same text again: what was said since it was first sent still counts.
        let epoch = if unchanged { 0 } else { epoch };
        Ok(Touch { file: file.to_owned(), version, epoch, n_checks, at })
    }

    /// Sends a file's text once more, as two changes, so that a server which compares texts looks at it anew; nothing when it
    /// was changed or closed meanwhile.
    pub(crate) async fn send_anew(&self, touch: &Touch) -> Result<Option<Touch>, RpcError> {
        let _turn = self.writing.lock().await;
        let open = self.state().open.get(&touch.file).map(|open| (open.version, open.text.clone()));
        let Some((_, text)) = open.filter(|(version, _)| *version == touch.version) else { return Ok(None) };
        let other: Arc<str> = format!("{text}\n").into();
        self.write(&touch.file, other, false).await?;
        self.write(&touch.file, text, false).await.map(Some)
    }

    async fn open(&self, file: &Path, uri: &str, text: &Arc<str>) -> Result<i32, RpcError> {
        self.close_least_used().await?;
        let version = 1;
        let language_id = self.server.language_id(file).unwrap_or("plaintext");
        let params = json!({
            "textDocument": { "uri": uri, "languageId": language_id, "version": version, "text": &**text },
        });
        self.peer.notify("textDocument/didOpen", params).await?;
        let mut state = self.state();
        let used = state.next_use();
        // What was said about it before it was open came without a version and may be about another text.
        if let Some(results) = state.results.get_mut(file) {
            results.pull = None;
        }
        let open = OpenFile { version, text: text.clone(), used };
        state.open.insert(file.to_owned(), open);
        Ok(version)
    }

    async fn close(&self, file: &Path) -> Result<(), RpcError> {
        let params = json!({ "textDocument": { "uri": uri::of_path(file) } });
        self.peer.notify("textDocument/didClose", params).await?;
        self.state().forget(file);
        Ok(())
    }

    async fn close_least_used(&self) -> Result<(), RpcError> {
        let oldest = {
            let state = self.state();
            if state.open.len() < MAX_OPEN {
                return Ok(());
            }
            state.open.iter().min_by_key(|(_, open)| open.used).map(|(file, _)| file.clone())
        };
        match oldest {
            Some(file) => self.close(&file).await,
            None => Ok(()),
        }
    }
}
