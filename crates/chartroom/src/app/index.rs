//! The code index with its concrete parts: the store and the embedder that the config names.

use anyhow::Context as _;
use chartroom_index::tools::git::GitProbe;
use chartroom_index::{IndexService, IndexSettings};
use chartroom_workspace::SpawnGate;

use super::gate;
use crate::config::Config;
use crate::data::DataFolder;

/// Opens the index of a server, which stays, watches and syncs in the background.
pub(crate) fn serve(config: &Config, data: &DataFolder, gate: &SpawnGate) -> anyhow::Result<IndexService> {
    open(config, data, GitProbe::through(gate.clone()), true)
}

/// Opens the index for an MCP client or a tool call; without it the other tools still serve.
pub(crate) fn for_tools(config: &Config, data: &DataFolder, gate: &SpawnGate) -> Option<IndexService> {
    serve(config, data, gate).inspect_err(|error| tracing::warn!("there are no index tools: {error:#}")).ok()
}

/// Opens the index for one command.
pub(crate) fn once(config: &Config, data: &DataFolder) -> anyhow::Result<IndexService> {
    // Without it (a read-only data folder) no git is started; the index answers all the same.
    let git = match gate::open(data.path()) {
        Ok(gate) => GitProbe::through(gate),
        Err(error) => {
            tracing::warn!(%error, "git is not asked which files changed");
            GitProbe::none()
        }
    };
    open(config, data, git, false)
}

fn open(
    config: &Config,
    data: &DataFolder,
    git: GitProbe,
    long_running: bool,
) -> anyhow::Result<IndexService> {
    let settings = IndexSettings {
        data: data.path().to_owned(),
        config: config.index.clone(),
        version: env!("CARGO_PKG_VERSION").into(),
        long_running,
        git,
    };
    IndexService::open(settings).context("opening the code index")
}
