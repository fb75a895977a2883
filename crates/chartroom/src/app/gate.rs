//! The spawn gate of this process, over a data folder: the one way for every command, the server and the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use chartroom_transport::Keeper;
use chartroom_workspace::{SpawnGate, TrustStore};

/// Opens the trust store of a data folder and makes a gate whose keeper is this program.
pub(crate) fn open(data_dir: &Path) -> anyhow::Result<SpawnGate> {
    let trust = open_trust(data_dir)?;
    Ok(with_keeper(Keeper::current_exe().context("finding this program's own file")?, trust, data_dir))
}

/// Makes a gate with another keeper; a test that holds the app in its own process must name one.
pub(super) fn with_keeper(keeper: Keeper, trust: Arc<TrustStore>, data_dir: &Path) -> SpawnGate {
    SpawnGate::new(keeper, trust, data_dir)
}

/// Opens the trust store of a data folder.
pub(crate) fn open_trust(data_dir: &Path) -> anyhow::Result<Arc<TrustStore>> {
    Ok(Arc::new(TrustStore::open(data_dir)?))
}
