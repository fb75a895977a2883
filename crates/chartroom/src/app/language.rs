//! The language service's wiring: how its processes are started, and what a command without a server needs.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use chartroom_edits::FileLocks;
use chartroom_lsp::registry::{Registry, Server};
use chartroom_lsp::{GateLauncher, LspHandle, ServiceOptions, ServicePool};
use chartroom_protocol::lsp::LspSetting;
use chartroom_transport::Keeper;
use chartroom_workspace::walk::{self, WalkEvent, WalkOptions};
use chartroom_workspace::{CanonicalRoot, SpawnGate};

use super::gate;
use crate::config::Config;
use crate::data::DataFolder;

/// Returns the pool of language services; each is `program`, which is this very one, again.
pub(crate) fn pool(
    setting: &LspSetting,
    data: &DataFolder,
    gate: &SpawnGate,
    program: PathBuf,
) -> ServicePool {
    ServicePool::new(ServiceOptions {
        gate: gate.clone(),
        setting: setting.clone(),
        data_dir: data.path().to_owned(),
        program,
        args: vec![OsString::from("lsp-service")],
    })
}

/// Returns the locks of all files that this user edits, the same in every process.
pub(crate) fn locks(data: &DataFolder) -> FileLocks {
    FileLocks::in_folder(data.path().join("locks"))
}

/// Returns what finds and starts the language servers of a folder: for the service's own process, and for the doctor.
pub(crate) fn launcher(
    data_dir: &Path,
    root: &CanonicalRoot,
    config: &Config,
) -> anyhow::Result<GateLauncher> {
    Ok(GateLauncher::new(gate::open(data_dir, &config.sandbox)?, root.clone()))
}

/// The languages of a folder show in its first files; a walk of minutes helps nobody.
const MOST_FILES: usize = 20_000;

/// Returns the servers for the languages that the files of a folder are in, by id.
pub(crate) fn servers_of<'a>(registry: &'a Registry, root: &CanonicalRoot) -> BTreeMap<&'a str, &'a Server> {
    let options = WalkOptions { max_file_size: None, ..WalkOptions::default() };
    let files = walk::files(root, &options).take(MOST_FILES).filter_map(|event| match event {
        WalkEvent::File(file) => Some(file.relative),
        WalkEvent::TooLarge { .. }
        | WalkEvent::Unreadable { .. }
        | WalkEvent::NotUtf8 { .. }
        | WalkEvent::BadPattern { .. }
        | WalkEvent::IgnoreFileLeftOut { .. } => None,
    });
    let mut servers = BTreeMap::new();
    for file in files {
        servers.extend(
            registry.for_file(Path::new(&file)).into_iter().map(|server| (server.id.as_str(), server)),
        );
    }
    servers
}

/// The services that a server uses, by root; they stay warm until it stops.
#[derive(Clone)]
pub(crate) struct UsedServices {
    pool: ServicePool,
    used: Arc<Mutex<BTreeMap<CanonicalRoot, LspHandle>>>,
}

impl UsedServices {
    pub(crate) fn of(pool: ServicePool) -> Self {
        Self { pool, used: Arc::default() }
    }

    /// Returns the language service of a folder, the same for everybody who asks.
    pub(crate) fn service(&self, root: &CanonicalRoot) -> LspHandle {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.entry(root.clone()).or_insert_with(|| self.pool.service(root)).clone()
    }

    /// Returns the services that are in use, by root.
    pub(crate) fn all(&self) -> Vec<LspHandle> {
        self.pool.all()
    }
}

/// What a command has that works on one workspace without a running server.
pub(crate) struct Workspace {
    pub(crate) root: CanonicalRoot,
    pub(crate) gate: SpawnGate,
    pub(crate) lsp: LspHandle,
    /// What the edit tools of all processes hold while they change a file.
    pub(crate) locks: FileLocks,
}

impl Workspace {
    /// Opens a folder with the user's config.
    pub(crate) fn open(folder: &Path, config: &Config, data: &DataFolder) -> anyhow::Result<Self> {
        let root = CanonicalRoot::open(folder)?;
        let gate = gate::open(data.path(), &config.sandbox)?;
        let program = Keeper::current_exe()?.program;
        let lsp = pool(&config.lsp, data, &gate, program).service(&root);
        Ok(Self { root, gate, lsp, locks: locks(data) })
    }
}
