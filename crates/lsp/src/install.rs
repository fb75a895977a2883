//! Installing a language server on the user's word: by a package manager of the machine, into a folder of ours.
//!
//! What was installed counts only after it has answered `initialize`; what does not is removed again, and what was there
//! before comes back. No tool of an agent leads here.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chartroom_protocol::lsp::{Installable, LspConfig};
use chartroom_workspace::gate::LANGUAGE_SERVERS;
use chartroom_workspace::watch::Watch;
use chartroom_workspace::{CanonicalRoot, ChildKind, GateError, ProgramQuery, SpawnGate, SpawnRequest};

use crate::client::Client;
use crate::launch::{Found, Launched};
use crate::registry::{BuiltIn, PackageManager, Quirks, Registry, built_in, fill_argument};

mod manager;

/// Where programs are in the folder of a server, whatever brought it.
const BINARIES: [&str; 2] = ["node_modules/.bin", "bin"];
/// Written last: a folder without it was never finished.
const STAMP: &str = ".installed";

/// A server that was installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The server's id.
    pub id: String,
    /// What brought it.
    pub manager: PackageManager,
    /// The program, in our folder.
    pub program: PathBuf,
}

/// Why a server was not installed. Nothing of the attempt stays.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No built-in server has this id.
    #[error("there is no language server {id}; `chartroom lsp install` lists them")]
    Unknown {
        /// The id as it was given.
        id: String,
    },
    /// No package manager of this machine brings it into a folder.
    #[error("{id} cannot be installed by a package manager that was found here; install it yourself: {}", hints.join(", or "))]
    NoWay {
        /// The server.
        id: String,
        /// Every way that is known.
        hints: Vec<String>,
    },
    /// Somebody else installs it at this moment.
    #[error("{id} is being installed already; wait for it to end")]
    Busy {
        /// The server.
        id: String,
    },
    /// Our folder cannot be written.
    #[error("{} cannot be written ({error}); free some space or mend its permissions", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The package manager could not be started.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The package manager failed.
    #[error("{} could not install {id}: {reason}{}", manager.name(), trouble.advice())]
    Failed {
        /// The server.
        id: String,
        /// Which one.
        manager: PackageManager,
        /// Its own words.
        reason: String,
        /// What they are about.
        trouble: Trouble,
    },
    /// It was installed and does not start.
    #[error("{id} was installed and does not start, so it was removed again: {reason}")]
    NotStarting {
        /// The server.
        id: String,
        /// Its own words.
        reason: String,
    },
}

/// What a package manager's failure is about, as far as its words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It could not reach its registry.
    Network,
    /// The disk is full.
    Disk,
    /// It took too long.
    Time,
    /// Something else.
    Other,
}

impl Trouble {
    fn advice(self) -> &'static str {
        match self {
            Self::Network => "; is the network reachable?",
            Self::Disk => "; free some space and try again",
            Self::Time => "; it was ended",
            Self::Other => "",
        }
    }
}

/// Returns the program of a server that was installed by us.
pub(crate) fn installed_program(data_dir: &Path, id: &str, name: &str) -> Option<PathBuf> {
    let folder = data_dir.join(LANGUAGE_SERVERS).join(id);
    folder.join(STAMP).is_file().then(|| program_in(&folder, name)).flatten()
}

/// The environment that an installed program needs: a Ruby one looks for its packages there.
pub(crate) fn environment_of(data_dir: &Path, id: &str, program: &Path) -> Option<(&'static str, PathBuf)> {
    let folder = data_dir.join(LANGUAGE_SERVERS).join(id);
    (program.starts_with(&folder) && folder.join("specifications").is_dir()).then_some(("GEM_HOME", folder))
}

fn program_in(folder: &Path, name: &str) -> Option<PathBuf> {
    BINARIES.iter().map(|binaries| folder.join(binaries).join(name)).find(|program| program.is_file())
}

/// Installs servers, through the gate.
#[derive(Clone)]
pub struct Installer {
    gate: SpawnGate,
    registry: Arc<Registry>,
}

impl Installer {
    /// Returns an installer into the gate's data folder.
    pub fn new(gate: SpawnGate) -> Self {
        Self { gate, registry: Arc::new(Registry::new(&LspConfig::default())) }
    }

    /// Every built-in server, whether it was installed here, and how it can be, by id.
    pub fn list(&self) -> Vec<Installable> {
        let root =
            self.folder().and_then(|folder| CanonicalRoot::open(&folder).map_err(io::Error::other)).ok();
        let installable = |server: &BuiltIn| Installable {
            id: server.id.clone(),
            language: server.language.clone(),
            installed: self.gate.data_dir().join(LANGUAGE_SERVERS).join(&server.id).join(STAMP).is_file(),
            manager: root
                .as_ref()
                .and_then(|root| self.manager_of(server, root))
                .map(|(manager, _)| manager.name().to_owned()),
            hints: server.install.hints_or_address(),
        };
        built_in().iter().map(installable).collect()
    }

    /// Installs a server and starts it once. One that was installed here before is replaced.
    pub async fn install(&self, id: &str) -> Result<Installed, InstallError> {
        let unknown = || InstallError::Unknown { id: id.to_owned() };
        let server = built_in().iter().find(|server| server.id == id).ok_or_else(unknown)?;
        let parent = self.gate.data_dir().join(LANGUAGE_SERVERS);
        let no_folder = |error| InstallError::Folder { path: parent.clone(), error };
        let parent_folder = self.folder().map_err(no_folder)?;
        let root = CanonicalRoot::open(&parent_folder).map_err(|error| no_folder(io::Error::other(error)))?;
        let (manager, program) = self.manager_of(server, &root).ok_or_else(|| InstallError::NoWay {
            id: id.to_owned(),
            hints: server.install.hints_or_address(),
        })?;
        let folder = root.as_path().join(id);
        let _alone = lock(&root.as_path().join(format!(".{id}.lock")), id).map_err(|error| match error {
            Lock::Busy => InstallError::Busy { id: id.to_owned() },
            Lock::Io(error) => no_folder(error),
        })?;
        let place = Place::make(folder).map_err(no_folder)?;
        let step = manager::Step { gate: &self.gate, root: &root, folder: &place.folder, program: &program };
        step.install(server, manager).await?;
        let program = self.start_once(server, &root, &place.folder).await?;
        place.keep(manager).map_err(no_folder)?;
        Ok(Installed { id: id.to_owned(), manager, program })
    }

    /// Our folder, made when it is not there.
    fn folder(&self) -> io::Result<PathBuf> {
        let folder = self.gate.data_dir().join(LANGUAGE_SERVERS);
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        Ok(folder)
    }

    /// The first package manager that this machine has, of those that bring the server into a folder.
    fn manager_of(&self, server: &BuiltIn, root: &CanonicalRoot) -> Option<(PackageManager, PathBuf)> {
        PackageManager::INTO_A_FOLDER.into_iter().find_map(|manager| {
            if server.install.packages(manager).is_empty() {
                return None;
            }
            let query = ProgramQuery::on_path(manager.program());
            self.gate.resolve_program(root, &query).ok().map(|program| (manager, program.path))
        })
    }

    /// Starts what was installed in an empty project and shakes hands with it.
    async fn start_once(
        &self,
        server: &BuiltIn,
        root: &CanonicalRoot,
        folder: &Path,
    ) -> Result<PathBuf, InstallError> {
        let not_starting = |reason: String| InstallError::NotStarting { id: server.id.clone(), reason };
        let found = server.commands.iter().find_map(|command| {
            let program = program_in(folder, &command.program)?;
            Some(Found { program, args: command.args.clone(), quirks: Quirks::NONE })
        });
        let names: Vec<&str> = server.commands.iter().map(|command| command.program.as_str()).collect();
        let found =
            found.ok_or_else(|| not_starting(format!("its packages bring no {}", names.join(" or "))))?;
        let probe = tempfile::Builder::new().prefix(".probe").tempdir_in(folder);
        let probe = probe.map_err(|error| InstallError::Folder { path: folder.to_owned(), error })?;
        for (name, text) in &server.probe {
            let path = probe.path().join(name);
            std::fs::write(&path, text).map_err(|error| InstallError::Folder { path, error })?;
        }
        let mut request = SpawnRequest::new(root, ChildKind::Installer, &found.program);
        request.label = server.id.clone();
        request.args = found.args.iter().map(|arg| fill_argument(arg, probe.path()).into()).collect();
        request.cwd = probe.path().to_owned();
        if folder.join("specifications").is_dir() {
            request.env.insert("GEM_HOME".into(), folder.into());
        }
        let mut child = self.gate.spawn(request)?;
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(not_starting("it was started without pipes".to_owned()));
        };
        let launched = Launched { read: Box::new(stdout), write: Box::new(stdin), child: Some(child) };
        let as_user =
            self.registry.get(&server.id).cloned().ok_or_else(|| not_starting("it is unknown".to_owned()))?;
        let project = probe.path().to_owned();
        let workspace = CanonicalRoot::open(&project).map_err(|error| not_starting(error.to_string()))?;
        let outside = Watch::new(workspace.clone()).subscribe();
        let client = Client::start(launched, Arc::new(as_user), &found, project, workspace, outside).await;
        client.map_err(not_starting)?.stop().await;
        Ok(found.program)
    }
}

/// The folder of one server while it is installed. Dropped before it is kept, it is removed and the older one comes back.
struct Place {
    folder: PathBuf,
    older: PathBuf,
    is_kept: bool,
}

impl Place {
    fn make(folder: PathBuf) -> io::Result<Self> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let older = folder.with_file_name(format!(".{name}.older"));
        // What a crash has left: the older one is whole, the newer one has no stamp.
        if older.is_dir() && !folder.join(STAMP).is_file() {
            remove(&folder)?;
            std::fs::rename(&older, &folder)?;
        }
        remove(&older)?;
        if folder.is_dir() {
            std::fs::rename(&folder, &older)?;
        }
        let place = Self { folder, older, is_kept: false };
        DirBuilder::new().mode(0o700).create(&place.folder)?;
        Ok(place)
    }

    fn keep(mut self, manager: PackageManager) -> io::Result<()> {
        std::fs::write(self.folder.join(STAMP), format!("{}\n", manager.name()))?;
        self.is_kept = true;
        remove(&self.older)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let restored = remove(&self.folder).and_then(|()| match self.older.is_dir() {
            true => std::fs::rename(&self.older, &self.folder),
            false => Ok(()),
        });
        if let Err(error) = restored {
            tracing::warn!(folder = %self.folder.display(), %error, "a failed installation cannot be removed");
        }
    }
}

fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

enum Lock {
    Busy,
    Io(io::Error),
}

/// Held while one server is installed, over all processes of the user.
fn lock(path: &Path, id: &str) -> Result<File, Lock> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path);
    let file = file.map_err(Lock::Io)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            tracing::debug!(id, "somebody else installs it");
            Err(Lock::Busy)
        }
        Err(TryLockError::Error(error)) => Err(Lock::Io(error)),
    }
}
