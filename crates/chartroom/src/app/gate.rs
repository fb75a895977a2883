//! The spawn gate of this process, over a data folder: the one way for every command, the server and the service.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use chartroom_transport::Keeper;
use chartroom_workspace::{SpawnGate, TrustStore};

use super::{bridge, sandbox};
use crate::config::SandboxConfig;

/// Opens the trust store of a data folder and makes a gate whose keeper is this program.
pub(crate) fn open(data_dir: &Path, config: &SandboxConfig) -> anyhow::Result<SpawnGate> {
    let trust = open_trust(data_dir)?;
    let keeper = Keeper::current_exe().context("finding this program's own file")?;
    Ok(with_keeper(keeper, trust, data_dir, (config, None)))
}

/// Makes a gate with another keeper; a test that holds the app in its own process must name one. What it confines may see
/// the folder of `bridges`.
pub(super) fn with_keeper(
    keeper: Keeper,
    trust: Arc<TrustStore>,
    data_dir: &Path,
    (config, bridges): (&SandboxConfig, Option<PathBuf>),
) -> SpawnGate {
    SpawnGate::new(keeper, trust, data_dir).with_sandbox(sandbox::settings(config, bridges))
}

/// Returns the folder in which confined agents find their tools, if any agent is confined.
pub(super) fn bridges(data_dir: &Path, config: &SandboxConfig) -> Option<PathBuf> {
    if !sandbox::confines_agents(config) {
        return None;
    }
    match bridge::folder_beside(data_dir) {
        Ok(folder) => Some(folder),
        Err(error) => {
            tracing::warn!(%error, "agents in a sandbox that start their MCP servers themselves have no tools of ours");
            None
        }
    }
}

/// Opens the trust store of a data folder.
pub(crate) fn open_trust(data_dir: &Path) -> anyhow::Result<Arc<TrustStore>> {
    Ok(Arc::new(TrustStore::open(data_dir)?))
}
