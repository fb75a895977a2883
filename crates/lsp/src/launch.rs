//! Finding and starting a server's program. The one seam of this crate: tests start servers in memory.

use std::path::{Path, PathBuf};

use chartroom_protocol::lsp::ServerState;
use chartroom_transport::Child;
use chartroom_workspace::gate::SandboxState;
use chartroom_workspace::{
    CanonicalRoot, ChildKind, GateError, ProgramQuery, ProgramSource, ResolvedProgram, SpawnGate,
    SpawnRequest,
};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::registry::{
    Flavour, Program, Quirks, Server, built_in, executable_of_tsc, fill_argument, flavour, flavour_of_tsc,
};
use crate::{install, memory};

/// The servers that run in a sandbox unless the user says otherwise: their stories with the real program pass in one.
pub const CONFINED_BY_DEFAULT: [&str; 7] =
    ["clangd", "eslint", "gopls", "pyright", "rust-analyzer", "ty", "typescript"];

/// The server whose program depends on the project's version.
const TYPESCRIPT: &str = "typescript";

/// What a server's name means for one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The absolute path.
    pub program: PathBuf,
    /// The arguments that make it speak LSP over its pipes.
    pub args: Vec<String>,
    /// What is different about it.
    pub quirks: Quirks,
}

/// Why a server cannot run, and what mends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    /// Which kind of trouble it is.
    pub status: ServerState,
    /// Why it cannot run, for people.
    pub reason: String,
    /// The command that mends it.
    pub hint: Option<String>,
}

/// A started program and its pipes.
pub struct Launched {
    /// The server's output.
    pub read: Box<dyn AsyncRead + Send + Unpin>,
    /// The server's input.
    pub write: Box<dyn AsyncWrite + Send + Unpin>,
    /// Nothing for a server in memory.
    pub child: Option<Child>,
}

/// Finds and starts servers.
pub trait Launch: Send + Sync + 'static {
    /// Looks the program up, and whether it may run at all.
    fn find(&self, server: &Server, project: &Path) -> Result<Found, Absent>;

    /// Tells what a server's sandbox is, when there is something to tell.
    fn sandbox(&self, _id: &str) -> Option<String> {
        None
    }

    /// How much memory the servers of other workspaces take, which other services of the same user have started.
    fn memory_elsewhere(&self) -> u64 {
        0
    }

    /// Starts it.
    fn launch(&self, server: &Server, found: &Found, project: &Path) -> Result<Launched, Absent>;
}

/// Starts real programs, through the gate that checks trust each time.
pub struct GateLauncher {
    gate: SpawnGate,
    root: CanonicalRoot,
}

impl GateLauncher {
    /// Returns a launcher for the servers of one workspace.
    pub fn new(gate: SpawnGate, root: CanonicalRoot) -> Self {
        Self { gate, root }
    }

    /// The project's own program, then the one that was installed by us, then what PATH has.
    fn search(&self, id: &str, names: &[&str], project: &Path) -> Result<PathBuf, GateError> {
        let query = ProgramQuery {
            configured: None,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            project_binaries: true,
            near: Some(project.to_owned()),
        };
        let found = self.gate.resolve_program(&self.root, &query);
        if let Ok(ResolvedProgram { path, source: ProgramSource::Project }) = found {
            return Ok(path);
        }
        let installed =
            names.iter().find_map(|name| install::installed_program(self.gate.data_dir(), id, name));
        installed.map_or_else(|| found.map(|program| program.path), Ok)
    }

    fn find_typescript(&self, args: Option<&Vec<String>>, project: &Path) -> Result<Found, GateError> {
        let native = |tsc: PathBuf| Found {
            program: tsc,
            args: args.cloned().unwrap_or_else(|| vec!["--lsp".to_owned(), "--stdio".to_owned()]),
            quirks: Quirks { asks_for_settings: true, ..Quirks::NONE },
        };
        let wrapped = |program: PathBuf| Found {
            program,
            args: args.cloned().unwrap_or_else(|| vec!["--stdio".to_owned()]),
            quirks: Quirks { tsserver_requests: true, ..Quirks::NONE },
        };
        match flavour(project, self.root.as_path()) {
            // What a package manager puts into `.bin` may be a script of its own: the package itself is asked.
            Some(Flavour::Native { tsc: own }) => {
                let found = self.search(TYPESCRIPT, &["tsc"], project)?;
                Ok(native(executable_of_tsc(&found).or_else(|| executable_of_tsc(&own)).unwrap_or(found)))
            }
            Some(Flavour::Wrapped) => {
                self.search(TYPESCRIPT, &["typescript-language-server"], project).map(wrapped)
            }
            // The project has no TypeScript of its own: whatever the user has serves.
            None => match self.search(TYPESCRIPT, &["tsc"], project) {
                Ok(tsc) if matches!(flavour_of_tsc(&tsc), Some(Flavour::Native { .. })) => {
                    Ok(native(executable_of_tsc(&tsc).unwrap_or(tsc)))
                }
                _ => self.search(TYPESCRIPT, &["typescript-language-server"], project).map(wrapped),
            },
        }
    }
}

impl Launch for GateLauncher {
    fn memory_elsewhere(&self) -> u64 {
        let is_server = |label: &str| built_in().iter().any(|server| server.id == label);
        let servers = self.gate.children_of_others().into_iter().filter(|(label, _)| is_server(label));
        servers.filter_map(|(_, keeper)| memory::of_tree(keeper)).sum()
    }

    fn sandbox(&self, id: &str) -> Option<String> {
        match self.gate.sandbox_state(&self.root, ChildKind::LanguageServer, id) {
            SandboxState::Off => None,
            sandbox => Some(sandbox.to_string()),
        }
    }

    fn find(&self, server: &Server, project: &Path) -> Result<Found, Absent> {
        if !self.gate.is_trusted(&self.root) {
            let error = GateError::Untrusted {
                root: self.root.clone(),
                what: format!("{} would run code of the workspace", server.id),
            };
            return Err(absent(&error, server));
        }
        let found = match &server.program {
            Program::Configured { command, args } => {
                let query = ProgramQuery::default().configured(Some(PathBuf::from(command)));
                self.gate.resolve_program(&self.root, &query).map(|program| Found {
                    program: program.path,
                    args: args.clone(),
                    quirks: server.quirks,
                })
            }
            Program::Search { candidates } => {
                let mut found = Err(GateError::NotFound {
                    name: server.id.clone(),
                    looked_in: "it has no command".to_owned(),
                });
                for (name, args) in candidates {
                    found = self.search(&server.id, &[name], project).map(|program| Found {
                        program,
                        args: args.clone(),
                        quirks: server.quirks,
                    });
                    if found.is_ok() {
                        break;
                    }
                }
                // The first name is the one that people know.
                found.map_err(|error| match (error, candidates.first()) {
                    (GateError::NotFound { looked_in, .. }, Some((name, _))) => {
                        GateError::NotFound { name: name.clone(), looked_in }
                    }
                    (error, _) => error,
                })
            }
            Program::TypeScript { args } => self.find_typescript(args.as_ref(), project),
        };
        found.map_err(|error| absent(&error, server))
    }

    fn launch(&self, server: &Server, found: &Found, project: &Path) -> Result<Launched, Absent> {
        let mut request = SpawnRequest::new(&self.root, ChildKind::LanguageServer, &found.program);
        request.label = server.id.clone();
        request.args = found.args.iter().map(|arg| fill_argument(arg, project).into()).collect();
        request.cwd = project.to_owned();
        let env = server.environment(project);
        request.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        if let Some((name, value)) = install::environment_of(self.gate.data_dir(), &server.id, &found.program)
        {
            request.env.entry(name.into()).or_insert_with(|| value.into());
        }
        let mut child = self.gate.spawn(request).map_err(|error| absent(&error, server))?;
        match (child.stdout.take(), child.stdin.take()) {
            (Some(stdout), Some(stdin)) => {
                Ok(Launched { read: Box::new(stdout), write: Box::new(stdin), child: Some(child) })
            }
            _ => Err(Absent {
                status: ServerState::Broken,
                reason: format!("{} was started without pipes", server.id),
                hint: None,
            }),
        }
    }
}

fn absent(error: &GateError, server: &Server) -> Absent {
    match error {
        GateError::Untrusted { .. } => Absent {
            status: ServerState::Untrusted,
            reason: "the workspace is not trusted, so nothing of it is executed".to_owned(),
            hint: error.mending_command(),
        },
        GateError::NotFound { name, .. } => Absent {
            status: ServerState::Unavailable,
            reason: format!("{name} was not found in the project or on PATH"),
            hint: Some(server.install.clone()),
        },
        GateError::NotExecutable { .. } | GateError::RelativeProgram { .. } => Absent {
            status: ServerState::Unavailable,
            reason: error.to_string(),
            hint: Some(format!("correct lsp.servers.{}.command in your config", server.id)),
        },
        GateError::Sandbox { .. } => Absent {
            status: ServerState::Unavailable,
            reason: error.to_string(),
            hint: Some("set sandbox.languageServers in your config, or install what it asks for".to_owned()),
        },
        GateError::Cwd { .. } | GateError::Spawn(_) => {
            Absent { status: ServerState::Broken, reason: error.to_string(), hint: None }
        }
    }
}
