//! The index of a server that watches its folder: what a search costs when nothing changed, and how long one change takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chartroom_index::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_protocol::index::{
    FreshnessMode, IndexConfig, IndexStatus, ManageAction, ManageIndexParams, SearchCodebaseParams,
    SearchCodebaseResponse,
};
use chartroom_search::parser::InProcess;

use crate::measurement::median_ms;

/// How long the watch may take to be complete, and a change to be seen.
const PATIENCE: Duration = Duration::from_secs(60);

/// What was measured, medians in milliseconds.
pub(super) struct Watched {
    /// `search_codebase` when the watcher saw that nothing changed.
    pub(super) unchanged: f64,
    /// A known file written until `search_codebase` finds it.
    pub(super) changed: f64,
    /// A new file written until `search_codebase` finds it.
    pub(super) created: f64,
}

pub(super) fn measure(root: &Path, data: &Path) -> anyhow::Result<Watched> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let service = IndexService::open(IndexSettings {
            data: data.to_owned(),
            config: IndexConfig::default(),
            version: "bench".to_owned(),
            long_running: true,
            git: GitProbe::none(),
            parser: Arc::new(InProcess::default()),
        })?;
        let path = root.display().to_string();
        let started = service.manage(ManageIndexParams::new(ManageAction::Create, &path)).await;
        let done = service.finish(started).await;
        anyhow::ensure!(done.status == IndexStatus::Ok, "the folder was not indexed: {}", done.message);
        until_quiet(&service, &path).await?;
        let mut times = Vec::new();
        for _ in 0..40 {
            let asked = Instant::now();
            let found = search(&service, &path, "where is the session cookie age checked").await?;
            times.push(asked.elapsed());
            anyhow::ensure!(mode(&found) == Some(FreshnessMode::SkippedRecent), "the folder was looked at");
        }
        let unchanged = median_ms(&mut times);
        // It is indexed already: a change is one of a file that is known.
        let known = |_| root.join("copy-0/changed_by_the_benchmark.py");
        let changed = written(&service, &path, "changed", known).await?;
        let new = |round| root.join(format!("copy-0/created_by_the_benchmark_{round}.py"));
        let created = written(&service, &path, "created", new).await?;
        service.close().await;
        Ok(Watched { unchanged, changed, created })
    })
}

async fn written(
    service: &IndexService,
    path: &str,
    what: &str,
    file: impl Fn(usize) -> PathBuf,
) -> anyhow::Result<f64> {
    let mut times = Vec::new();
    for round in 0..10 {
        let name = format!("{what}_marker_{round}");
        std::fs::write(file(round), format!("def {name}():\n    return {round}\n"))?;
        let written = Instant::now();
        while !finds(&search(service, path, &name).await?, &name) {
            anyhow::ensure!(written.elapsed() < PATIENCE, "the change is not found");
        }
        times.push(written.elapsed());
    }
    Ok(median_ms(&mut times))
}

fn finds(found: &SearchCodebaseResponse, name: &str) -> bool {
    serde_json::to_string(&found.results).is_ok_and(|text| text.contains(&format!("function {name}")))
}

/// The watch is set by the first searches; then a search has nothing to look at.
async fn until_quiet(service: &IndexService, path: &str) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut n_quiet = 0;
    while n_quiet < 5 {
        anyhow::ensure!(began.elapsed() < PATIENCE, "the folder is never quiet");
        let found = search(service, path, "csrf token").await?;
        n_quiet = if mode(&found) == Some(FreshnessMode::SkippedRecent) { n_quiet + 1 } else { 0 };
    }
    Ok(())
}

fn mode(found: &SearchCodebaseResponse) -> Option<FreshnessMode> {
    found.freshness_decision.as_ref().map(|decision| decision.mode)
}

async fn search(service: &IndexService, path: &str, query: &str) -> anyhow::Result<SearchCodebaseResponse> {
    let params = serde_json::from_value(serde_json::json!({ "path": path, "query": query }))?;
    let params: SearchCodebaseParams = params;
    service.search(params).await.map_err(|error| anyhow::anyhow!(error.0)).context("searching")
}
