//! The spawn gate of this process, over a data folder: the one way for every command, the server and the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use chartroom_transport::Keeper;
use chartroom_workspace::{SpawnGate, TrustStore};

use super::sandbox;
use crate::config::SandboxConfig;

/// Opens the trust store of a data folder and makes a gate whose keeper is this program.
pub(crate) fn open(data_dir: &Path, config: &SandboxConfig) -> anyhow::Result<SpawnGate> {
    let trust = open_trust(data_dir)?;
    let keeper = Keeper::current_exe().context("finding this program's own file")?;
    Ok(with_keeper(keeper, trust, data_dir, config))
}

/// Makes a gate with another keeper; a test that holds the app in its own process must name one.
pub(super) fn with_keeper(
    keeper: Keeper,
    trust: Arc<TrustStore>,
    data_dir: &Path,
    config: &SandboxConfig,
) -> SpawnGate {
    SpawnGate::new(keeper, trust, data_dir).with_sandbox(sandbox::settings(config))
}

/// Opens the trust store of a data folder.
pub(crate) fn open_trust(data_dir: &Path) -> anyhow::Result<Arc<TrustStore>> {
    Ok(Arc::new(TrustStore::open(data_dir)?))
}
