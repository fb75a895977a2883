//! The one gate that every child process goes through.
//!
//! It asks the trust store at every spawn, resolves what a command's name means, hands on only the environment
//! that the kind of child needs, records what it started so that a later run can sweep it, and ends a
//! workspace's children when its trust is taken back.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use chartroom_transport::{Child, ChildSpec, Keeper, KillSwitch, Sandbox, SpawnError, TerminalSize, spawn};

use crate::boundary::Folder;
use crate::helper::{self, Helper};
use crate::{CanonicalRoot, TrustStore};

mod descent;
mod environment;
mod lookup;
mod record;
mod revocation;
mod sandbox;
mod untrusted;

pub use descent::child_above;
pub use lookup::{ProgramQuery, ProgramSource, ResolvedProgram, find_program};
pub use record::{SweepReport, sweep};
pub use sandbox::{NetworkSetting, SandboxMode, SandboxRules, SandboxSettings, SandboxState};

use sandbox::{Confined, Surroundings, TemporaryFolder};

/// What a child is, which decides what it may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildKind {
    /// A coding agent. Never started for an untrusted workspace: it runs the workspace's hooks.
    Agent,
    /// A language server. Never started for an untrusted workspace: it runs build scripts and plugins.
    LanguageServer,
    /// A process of our own, such as the language service.
    Service,
    /// git, as [`crate::git`] calls it.
    Git,
    /// What the user asked for by an act of theirs: git with the repository's hooks, a set-up command of their config. Never
    /// started for an untrusted workspace. It has the environment of a terminal, and no sandbox.
    Command,
    /// A command of the user's config that runs what an agent has made, as tests do. Never started for an untrusted
    /// workspace. It has the environment of a terminal and the sandbox of the agents: where they are kept from something,
    /// so is what they wrote.
    Test,
    /// A package manager that brings a language server on the user's word, and the first start of what it brought. It is
    /// about no workspace: its root is the folder of the installed servers, and it is refused everywhere else.
    Installer,
    /// git on a repository of ours, which records what is in a workspace and obeys nothing that is in it. Its root is the
    /// folder of those repositories, and it is refused everywhere else.
    Records,
    /// The user's own shell, at which a person types. Never started for an untrusted workspace: its prompt runs git, and
    /// its completion what the workspace holds.
    Shell,
}

/// The folder below the data folder that holds the language servers which were installed by us.
pub const LANGUAGE_SERVERS: &str = "language-servers";

/// The folder below the data folder that holds the worktrees of our making.
pub const WORKTREES: &str = "worktrees";

/// The folder below the data folder that holds the records of working trees.
pub const CHECKPOINTS: &str = "checkpoints";

/// What to start, for which workspace.
#[derive(Clone, Debug)]
pub struct SpawnRequest {
    /// The workspace it is started for; its trust is checked.
    pub root: CanonicalRoot,
    /// What it is, which decides about trust and environment.
    pub kind: ChildKind,
    /// What the child is called in the log and in messages.
    pub label: String,
    /// Absolute; from [`SpawnGate::resolve_program`].
    pub program: PathBuf,
    /// Passed as they are, without a shell.
    pub args: Vec<OsString>,
    /// The folder it starts in.
    pub cwd: PathBuf,
    /// Set on top of what the kind of child inherits. Only from our own code and the user's config.
    pub env: BTreeMap<OsString, OsString>,
    /// Names of further variables to hand on, from the user's config.
    pub pass_env: Vec<String>,
    /// Whether the child gets pipes on fd 3 (it reads) and fd 4 (it writes).
    pub extra_pipes: bool,
    /// Gives the child a terminal of this size instead of pipes.
    pub terminal: Option<TerminalSize>,
}

impl SpawnRequest {
    /// A request to run `program` in the root, with nothing special.
    pub fn new(root: &CanonicalRoot, kind: ChildKind, program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        let label = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        SpawnRequest {
            root: root.clone(),
            kind,
            label,
            program,
            args: Vec::new(),
            cwd: root.as_path().to_path_buf(),
            env: BTreeMap::new(),
            pass_env: Vec::new(),
            extra_pipes: false,
            terminal: None,
        }
    }
}

/// Why something was not started.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The workspace is not trusted; the message has the command that mends it.
    #[error("{root} is not trusted: {what}; to trust it, run `chartroom trust {}`", quoted(root))]
    Untrusted {
        /// The workspace that is not trusted.
        root: CanonicalRoot,
        /// What would have been started.
        what: String,
    },
    /// The program is nowhere to be found.
    #[error("{name} was not found ({}); install it or name its path in the config", looked_in)]
    NotFound {
        /// The program as it was named.
        name: String,
        /// The places that were looked at.
        looked_in: String,
    },
    /// The file is there and is no program.
    #[error("{} is not an executable file", program.display())]
    NotExecutable {
        /// Its path.
        program: PathBuf,
    },
    /// The config names it by a relative path, which would depend on the folder.
    #[error("{} is a relative path; give an absolute path or a bare name", program.display())]
    RelativeProgram {
        /// The path as it was given.
        program: PathBuf,
    },
    /// The folder to start in cannot be used.
    #[error("the working folder {} cannot be used: {error}", cwd.display())]
    Cwd {
        /// The folder.
        cwd: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The user wants a sandbox around it that this system cannot give.
    #[error(
        "{label} is not started, because it would run without the sandbox that your config asks for: {reason}; set sandbox.{setting} to \"off\" to start it without"
    )]
    Sandbox {
        /// The child's name in messages.
        label: String,
        /// Why there is none.
        reason: String,
        /// The key of the config that asks for it.
        setting: &'static str,
    },
    /// The start itself failed.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
}

impl GateError {
    /// The command that mends an untrusted workspace.
    pub fn mending_command(&self) -> Option<String> {
        match self {
            GateError::Untrusted { root, .. } => Some(format!("chartroom trust {}", quoted(root))),
            _ => None,
        }
    }
}

fn quoted(root: &CanonicalRoot) -> String {
    let path = root.to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// The gate. Cheap to clone; all clones are one gate.
#[derive(Clone, Debug)]
pub struct SpawnGate {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    keeper: Keeper,
    trust: Arc<TrustStore>,
    data_dir: PathBuf,
    /// The environment of this process, taken once: it cannot change under us, and tests can give another.
    parent_env: BTreeMap<OsString, OsString>,
    state: Mutex<GateState>,
    /// Set once, before anything is started; without it nothing is confined.
    sandbox: OnceLock<SandboxSettings>,
}

#[derive(Debug, Default)]
struct GateState {
    /// Every workspace that the gate knows of: none of them may sit on a PATH.
    roots: BTreeSet<CanonicalRoot>,
    children: Vec<KeptChild>,
    watches_revocations: bool,
}

/// A child that ends when its root is no longer trusted.
#[derive(Debug)]
struct KeptChild {
    root: CanonicalRoot,
    label: String,
    /// Whether it was allowed only because the root was trusted.
    needs_trust: bool,
    kill: KillSwitch,
    /// Nothing where processes cannot be told apart.
    keeper: Option<record::Process>,
}

impl SpawnGate {
    /// Makes the gate of this process, with its environment.
    pub fn new(keeper: Keeper, trust: Arc<TrustStore>, data_dir: &Path) -> Self {
        Self::with_environment(keeper, trust, data_dir, std::env::vars_os().collect())
    }

    /// Makes a gate that hands on parts of another environment than this process's own.
    pub fn with_environment(
        keeper: Keeper,
        trust: Arc<TrustStore>,
        data_dir: &Path,
        parent_env: BTreeMap<OsString, OsString>,
    ) -> Self {
        let state = Mutex::default();
        let data_dir = data_dir.to_path_buf();
        let sandbox = OnceLock::new();
        SpawnGate { shared: Arc::new(Shared { keeper, trust, data_dir, parent_env, state, sandbox }) }
    }

    /// Makes this gate, and all its clones, confine what it starts. The first settings stay.
    pub fn with_sandbox(self, settings: SandboxSettings) -> Self {
        self.shared.sandbox.get_or_init(|| settings);
        self
    }

    /// Tells what the sandbox of such a child is. The label is a language server's id.
    pub fn sandbox_state(&self, root: &CanonicalRoot, kind: ChildKind, label: &str) -> SandboxState {
        match self.shared.sandbox.get() {
            Some(settings) => settings.state(Confined { root, ruled_by: &self.ruled_by(root), kind, label }),
            None => SandboxState::Off,
        }
    }

    /// Whether the confined children of a workspace may not read a path, or something below it. It must be without links.
    pub fn hides(&self, root: &CanonicalRoot, path: &Path) -> bool {
        let Some(settings) = self.shared.sandbox.get() else { return false };
        let ruled_by = self.ruled_by(root);
        settings.hidden((root, &ruled_by), &self.shared.parent_env, &self.shared.data_dir).iter().any(
            |hidden| {
                // A worktree of our making lies below our own folder, which is hidden, and is the child's all the same.
                let is_own =
                    |hidden: &Path| root.as_path().starts_with(hidden) && path.starts_with(root.as_path());
                let touches =
                    |hidden: &Path| !is_own(hidden) && (path.starts_with(hidden) || hidden.starts_with(path));
                touches(hidden) || hidden.canonicalize().is_ok_and(|real| touches(&real))
            },
        )
    }

    /// The folder whose rules count for a workspace.
    fn ruled_by(&self, root: &CanonicalRoot) -> PathBuf {
        let own = || root.as_path().to_owned();
        if !root.as_path().components().any(|part| part.as_os_str() == WORKTREES) {
            return own();
        }
        self.shared.trust.made_of(root).unwrap_or_else(own)
    }

    /// Tells the gate of a workspace, so that no PATH leads into it. A spawn does this by itself.
    pub fn add_root(&self, root: &CanonicalRoot) {
        self.shared.state().roots.insert(root.clone());
    }

    /// Whether the workspace is trusted now.
    pub fn is_trusted(&self, root: &CanonicalRoot) -> bool {
        self.shared.trust.is_trusted(root)
    }

    /// The trust store that the gate asks.
    pub fn trust(&self) -> &Arc<TrustStore> {
        &self.shared.trust
    }

    /// Finds the program that a name means for this workspace: the user's config, then the project's own
    /// binaries if it is trusted, then PATH.
    pub fn resolve_program(
        &self,
        root: &CanonicalRoot,
        query: &ProgramQuery,
    ) -> Result<ResolvedProgram, GateError> {
        self.add_root(root);
        lookup::resolve(root, query, self.is_trusted(root), &self.lookup_path())
    }

    /// Starts a process, if the workspace's trust allows it. Must be called within a tokio runtime.
    pub fn spawn(&self, request: SpawnRequest) -> Result<Child, GateError> {
        self.add_root(&request.root);
        // Held open from here to the start: whatever is put in its place meanwhile is another folder.
        let root_folder = Folder::of(&request.root).ok();
        let is_trusted = |folder: &Folder| self.shared.trust.is_trusted_folder(&request.root, folder);
        let trusted = root_folder.as_ref().is_some_and(is_trusted);
        let program = lookup::executable(&request.program)?;
        let no_cwd = |error| GateError::Cwd { cwd: request.cwd.clone(), error };
        let cwd = request.cwd.canonicalize().map_err(no_cwd)?;
        match request.kind {
            ChildKind::Installer => self.check_own_folder(&request, LANGUAGE_SERVERS)?,
            ChildKind::Records => self.check_own_folder(&request, CHECKPOINTS)?,
            _ if !trusted => untrusted::check(&request, &program, &cwd)?,
            _ => {}
        }
        let folder = start_folder(&request, root_folder.as_ref(), &cwd).map_err(no_cwd)?;
        let mut env = environment::of_child(
            request.kind,
            &self.shared.parent_env,
            &self.child_path(&request, trusted),
            &request.pass_env,
            &request.env,
        );
        let (sandbox, temporary) = match self.sandbox(&request, &program, &env)? {
            Some((sandbox, temporary)) => (Some(sandbox), temporary),
            None => (None, None),
        };
        if let Some(temporary) = &temporary {
            temporary.announce(request.kind, &mut env);
        }
        let spec = ChildSpec {
            label: request.label.clone(),
            program: request.program,
            args: request.args,
            cwd,
            folder: Some(Arc::new(folder.into_fd())),
            env,
            extra_pipes: request.extra_pipes,
            terminal: request.terminal,
            sandbox,
        };
        let child = spawn(&self.shared.keeper, spec)?;
        record::keep(&self.shared.data_dir, &child, temporary.as_ref().map(TemporaryFolder::path));
        if let Some(temporary) = temporary {
            temporary.keep_until(child.exit_watch());
        }
        self.guard(KeptChild {
            root: request.root,
            label: request.label,
            needs_trust: trusted,
            kill: child.kill_switch(),
            keeper: record::Process::of(child.keeper_pid()),
        });
        Ok(child)
    }

    /// The data folder: what was installed lies below it.
    pub fn data_dir(&self) -> &Path {
        &self.shared.data_dir
    }

    /// The children that other processes of ours keep at this moment: their labels, and the keepers above them.
    pub fn children_of_others(&self) -> Vec<(String, u32)> {
        record::of_others(&self.shared.data_dir)
    }

    /// Refuses it anywhere but in a folder of our own: in a workspace it would obey what the workspace holds.
    fn check_own_folder(&self, request: &SpawnRequest, folder: &str) -> Result<(), GateError> {
        let own = self.shared.data_dir.join(folder).canonicalize();
        match own {
            Ok(own) if request.root.as_path().starts_with(&own) && request.cwd.starts_with(&own) => Ok(()),
            Ok(_) | Err(_) => {
                let what = format!("{} is only run in the folder {folder} of the data folder", request.label);
                Err(GateError::Untrusted { root: request.root.clone(), what })
            }
        }
    }

    /// Returns the sandbox that a child gets, or why it may not be started without one.
    fn sandbox(
        &self,
        request: &SpawnRequest,
        program: &Path,
        env: &BTreeMap<OsString, OsString>,
    ) -> Result<Option<(Sandbox, Option<TemporaryFolder>)>, GateError> {
        let ruled_by = self.ruled_by(&request.root);
        let child =
            Confined { root: &request.root, ruled_by: &ruled_by, kind: request.kind, label: &request.label };
        let Some(settings) = self.shared.sandbox.get() else { return Ok(None) };
        let refused = |reason| {
            let is_agents = matches!(request.kind, ChildKind::Agent | ChildKind::Test);
            let setting = if is_agents { "agents" } else { "languageServers" };
            GateError::Sandbox { label: request.label.clone(), reason, setting }
        };
        match settings.state(child) {
            SandboxState::Off | SandboxState::OffBecause(_) => Ok(None),
            SandboxState::InForce { mode, tool } => {
                let Shared { parent_env, data_dir, keeper, .. } = &*self.shared;
                let own_program = &keeper.program;
                let git = self.shared.trust.git_of_worktree(&request.root);
                let around =
                    Surroundings { env, parent_env, program, own_program, data_dir, git: git.as_ref() };
                match settings.sandbox(child, (mode, tool), around) {
                    Ok(sandbox) => Ok(Some(sandbox)),
                    Err(error) if settings.gives_way(child) => {
                        tracing::warn!(label = child.label, %error, "it runs without a sandbox: it would have no temporary folder");
                        Ok(None)
                    }
                    Err(error) => {
                        Err(refused(format!("a temporary folder of its own cannot be made ({error})")))
                    }
                }
            }
            SandboxState::Refused(reason) => Err(refused(reason)),
        }
    }

    /// Starts a helper: the keeper's own program with a hidden subcommand. Must be called within a tokio runtime.
    ///
    /// No workspace is asked for its trust, because nothing of one is run or named: the program is ours, its folder is
    /// `/`, its environment is empty.
    pub fn spawn_helper(&self, subcommand: &str) -> Result<Helper, GateError> {
        let spec = ChildSpec {
            label: subcommand.to_owned(),
            program: lookup::executable(&self.shared.keeper.program)?,
            args: vec![subcommand.into()],
            cwd: PathBuf::from("/"),
            folder: None,
            env: helper::environment(),
            extra_pipes: false,
            terminal: None,
            sandbox: None,
        };
        // It is not recorded for a later sweep: it ends with its input, and starts nothing.
        let child = spawn(&self.shared.keeper, spec)?;
        Helper::new(child)
            .map_err(|error| GateError::Spawn(SpawnError::Pipes { label: subcommand.to_owned(), error }))
    }

    /// PATH without its empty and relative entries and without those that lead into a workspace.
    ///
    /// Programs are looked up without any of them: a project's own come by name of their folder, and git or an
    /// agent never comes from a project.
    fn lookup_path(&self) -> Vec<PathBuf> {
        let roots: Vec<CanonicalRoot> = self.shared.state().roots.iter().cloned().collect();
        self.path_outside_of(&roots)
    }

    /// PATH as a child gets it. An agent or a shell in a trusted workspace keeps the entries that lead into that one: the
    /// user has put them there, as activating a venv does.
    fn child_path(&self, request: &SpawnRequest, trusted: bool) -> Vec<PathBuf> {
        let keeps_own =
            trusted && matches!(request.kind, ChildKind::Agent | ChildKind::Shell | ChildKind::Test);
        let roots = self.shared.state().roots.clone();
        let forbidden: Vec<CanonicalRoot> =
            roots.into_iter().filter(|root| !(keeps_own && *root == request.root)).collect();
        self.path_outside_of(&forbidden)
    }

    fn path_outside_of(&self, roots: &[CanonicalRoot]) -> Vec<PathBuf> {
        lookup::safe_path(self.shared.parent_env.get(OsStr::new("PATH")), roots)
    }

    /// Remembers a child until it ends, and has it killed when its trust goes.
    fn guard(&self, child: KeptChild) {
        let mut state = self.shared.state();
        state.children.retain(|child| !child.kill.is_spent());
        state.children.push(child);
        if !state.watches_revocations {
            state.watches_revocations = true;
            tokio::spawn(revocation::run(Arc::downgrade(&self.shared), self.shared.trust.subscribe()));
        }
    }
}

/// Opens the folder that a child starts in: one of the workspace below its root's folder, which was checked, and any
/// other by its path.
fn start_folder(request: &SpawnRequest, root: Option<&Folder>, cwd: &Path) -> std::io::Result<Folder> {
    match (cwd.strip_prefix(request.root.as_path()), root) {
        (Ok(below), Some(root)) => root.below(below),
        (Ok(_), None) => Err(std::io::ErrorKind::NotFound.into()),
        (Err(_), _) if request.cwd.starts_with(request.root.as_path()) => {
            Err(std::io::Error::other("it leads out of the workspace"))
        }
        (Err(_), _) => Folder::at(cwd),
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The children that may not live: their root has lost the trust they needed. They are forgotten here.
    fn take_revoked(&self) -> Vec<KeptChild> {
        let mut state = self.state();
        state.children.retain(|child| !child.kill.is_spent());
        let mut revoked = Vec::new();
        let mut trusted: BTreeMap<CanonicalRoot, bool> = BTreeMap::new();
        for child in std::mem::take(&mut state.children) {
            let lives = !child.needs_trust
                || *trusted.entry(child.root.clone()).or_insert_with(|| self.trust.is_trusted(&child.root));
            if lives { state.children.push(child) } else { revoked.push(child) }
        }
        revoked
    }
}

type WeakShared = Weak<Shared>;
