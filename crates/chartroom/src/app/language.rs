//! The language service's wiring: how its processes are started, and what a command without a server needs.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use chartroom_lsp::{LspHandle, ServiceOptions, ServicePool};
use chartroom_protocol::lsp::LspSetting;
use chartroom_transport::Keeper;
use chartroom_workspace::{CanonicalRoot, SpawnGate, TrustStore};

use crate::config::Config;
use crate::data::DataFolder;

/// Returns the pool of language services; each is this very program again.
pub(crate) fn pool(setting: &LspSetting, data: &DataFolder, gate: &SpawnGate) -> anyhow::Result<ServicePool> {
    Ok(ServicePool::new(ServiceOptions {
        gate: gate.clone(),
        setting: setting.clone(),
        data_dir: data.path().to_owned(),
        program: std::env::current_exe()?,
        args: vec![OsString::from("lsp-service")],
    }))
}

/// What a command has that works on one workspace without a running server.
pub(crate) struct Workspace {
    pub(crate) root: CanonicalRoot,
    pub(crate) gate: SpawnGate,
    pub(crate) lsp: LspHandle,
}

impl Workspace {
    /// Opens a folder with the user's config.
    pub(crate) fn open(folder: &Path, config: &Config, data: &DataFolder) -> anyhow::Result<Self> {
        let root = CanonicalRoot::open(folder)?;
        let trust = Arc::new(TrustStore::open(data.path())?);
        let gate = SpawnGate::new(Keeper::current_exe()?, trust, data.path());
        let lsp = pool(&config.lsp, data, &gate)?.service(&root);
        Ok(Self { root, gate, lsp })
    }
}
