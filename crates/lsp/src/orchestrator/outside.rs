//! What others did to files: found before a check or a question, and told to every server that it concerns.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chartroom_protocol::lsp::CheckScope;
use futures_util::future::join_all;
use tokio::time::{Instant, timeout, timeout_at};

use super::Orchestrator;
use super::check::{Source, Task};
use crate::client::Client;

/// How long folders may be compared where the system gives no watches; the next sweep goes on from there.
const SWEEP_LIMIT: Duration = Duration::from_secs(2);

impl Orchestrator {
    /// Finds what was done to files of the workspace until now. Each server is told with its next write.
    pub(super) async fn sweep(&self) {
        // One after the other, in the order in which they were asked for: what comes after keeps that order.
        let _turn = self.sweeps.lock().await;
        let watch = self.watch.clone();
        let sweep = tokio::task::spawn_blocking(move || watch.sweep(SWEEP_LIMIT));
        // A file system that does not answer must not keep an edit waiting.
        let swept = timeout(SWEEP_LIMIT * 2, sweep).await;
        if !matches!(swept, Ok(Ok(true))) {
            tracing::debug!(root = %self.root, "not every folder was compared in time");
        }
    }

    /// Finds what others did, and tells every server at once.
    pub(crate) async fn tell_what_others_did(&self, deadline: Instant) {
        self.sweep().await;
        join_all(self.clients().iter().map(|client| async move {
            // One that does not listen hears of it with its next write, or is gone.
            drop(timeout_at(deadline, client.send_disk_changes()).await);
        }))
        .await;
    }

    /// Tells the servers of other roots, whose files may import these, and has them look at those that seem to. Returns
    /// what may be broken and is not known.
    pub(super) async fn check_elsewhere(
        &self,
        slots: &[Task<'_>],
        sources: &[Source],
        scope: CheckScope,
    ) -> BTreeSet<PathBuf> {
        let is_asked = |client: &Arc<Client>| {
            slots.iter().any(|(slot, _)| slot.key.id == client.server.id && slot.key.root == client.root)
        };
        let deadline = Instant::now() + Duration::from_millis(self.config.diagnostic_timeout);
        let elsewhere = self.clients().into_iter().filter(|client| !is_asked(client));
        let looked = elsewhere.map(|client| async move {
            let concerned = sources.iter().filter(|source| client.server.language_id(&source.file).is_some());
            let changed: BTreeSet<PathBuf> = concerned.map(|source| source.file.clone()).collect();
            // One that does not listen hears of it with its next write, or is gone.
            let told = timeout_at(deadline, client.send_disk_changes()).await;
            match (scope, told) {
                (CheckScope::Project, Ok(Ok(()))) if !changed.is_empty() => {
                    self.check_importers_elsewhere(&client, &changed, deadline).await
                }
                _ => BTreeSet::new(),
            }
        });
        join_all(looked).await.into_iter().flatten().collect()
    }
}
