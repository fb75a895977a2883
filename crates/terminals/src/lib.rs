//! The user's own shells in trusted folders.
//!
//! A terminal belongs to the server, not to the page that looks at it: a page that reloads finds it again, with the end of
//! what it printed. It ends when it is closed, when nobody has looked at it for a while, when its folder loses its trust,
//! and with the server. [`Terminals`] has them all; an [`Attachment`] is one look at one of them.

#![warn(missing_docs)]

mod attachment;
mod scrollback;
mod shell;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use chartroom_transport::{Exit, TerminalSize};
use chartroom_workspace::{CanonicalRoot, ChildKind, GateError, SpawnGate, SpawnRequest};

pub use attachment::{Attachment, Event};
use shell::Shell;

/// What a terminal may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Terminals at once.
    pub terminals: usize,
    /// Bytes of its output that are kept.
    pub scrollback: usize,
    /// Bytes that the readiest reader may have been sent and not have read, before nothing more is taken from the shell.
    pub unread: usize,
    /// Bytes that were typed and that nothing has read; more are refused.
    pub typed_ahead: usize,
    /// How long a terminal that nobody looks at goes on.
    pub unattended: Duration,
    /// How long a shell has to end by itself after it was hung up on.
    pub hang_up: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            terminals: 16,
            scrollback: 1024 * 1024,
            unread: 256 * 1024,
            typed_ahead: 1024 * 1024,
            unattended: Duration::from_secs(5 * 60),
            hang_up: Duration::from_secs(1),
        }
    }
}

/// Why there is no terminal.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// All places are taken.
    #[error("{limit} terminals are open already; close one of them first")]
    TooMany {
        /// How many there may be.
        limit: usize,
    },
    /// It was closed, or its server was another one.
    #[error("there is no terminal {0}; it was closed, or nobody looked at it for too long")]
    NotFound(String),
    /// The gate did not let the shell through.
    #[error(transparent)]
    Gate(#[from] GateError),
}

/// One terminal, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Names it.
    pub id: String,
    /// The workspace it was opened for.
    pub root: CanonicalRoot,
    /// The folder its shell began in.
    pub folder: PathBuf,
    /// The shell's name.
    pub shell: String,
    /// How it ended, if it has.
    pub exit: Option<Exit>,
}

/// All terminals of a server. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Terminals {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    gate: SpawnGate,
    limits: Limits,
    program: PathBuf,
    open: Mutex<BTreeMap<String, Arc<Shell>>>,
}

impl Terminals {
    /// Makes an empty set, whose shells are `program`, an absolute path.
    pub fn new(gate: SpawnGate, program: PathBuf, limits: Limits) -> Self {
        Terminals { shared: Arc::new(Shared { gate, limits, program, open: Mutex::default() }) }
    }

    /// Starts a shell in a folder of a trusted workspace and returns its id. Must be called within a tokio runtime.
    pub fn open(
        &self,
        root: &CanonicalRoot,
        folder: &Path,
        size: TerminalSize,
    ) -> Result<String, TerminalError> {
        let limit = self.shared.limits.terminals;
        let mut open = self.shared.open();
        if open.len() >= limit {
            return Err(TerminalError::TooMany { limit });
        }
        let mut request = SpawnRequest::new(root, ChildKind::Shell, &self.shared.program);
        request.cwd = folder.to_path_buf();
        request.terminal = Some(size);
        for (name, value) in
            [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("TERM_PROGRAM", "chartroom")]
        {
            request.env.insert(name.into(), value.into());
        }
        let name = request.label.clone();
        let child = self.shared.gate.spawn(request)?;
        let id = uuid::Uuid::new_v4().to_string();
        let listed =
            Listed { id: id.clone(), root: root.clone(), folder: folder.to_owned(), shell: name, exit: None };
        let forget = {
            let (shared, id) = (Arc::downgrade(&self.shared), id.clone());
            move || {
                if let Some(shared) = shared.upgrade() {
                    shared.open().remove(&id);
                }
            }
        };
        open.insert(id.clone(), Shell::run(listed, child, self.shared.limits, forget));
        Ok(id)
    }

    /// Returns the terminals of a workspace, by id.
    pub fn list(&self, root: &CanonicalRoot) -> Vec<Listed> {
        let open = self.shared.open();
        open.values().map(|shell| shell.listed()).filter(|listed| listed.root == *root).collect()
    }

    /// Begins to look at a terminal.
    pub fn attach(&self, id: &str) -> Result<Attachment, TerminalError> {
        self.shell(id).map(|shell| Attachment::to(shell, self.shared.limits))
    }

    /// Ends a terminal and returns when nothing of it is left.
    pub async fn close(&self, id: &str) -> Result<(), TerminalError> {
        let shell = self.shell(id)?;
        shell.close().await;
        Ok(())
    }

    /// Ends all of them.
    pub async fn close_all(&self) {
        let shells: Vec<Arc<Shell>> = self.shared.open().values().cloned().collect();
        // All hear of it before the first is waited for.
        for shell in &shells {
            shell.ask_to_close();
        }
        for shell in shells {
            shell.close().await;
        }
    }

    fn shell(&self, id: &str) -> Result<Arc<Shell>, TerminalError> {
        let found = self.shared.open().get(id).cloned();
        found.ok_or_else(|| TerminalError::NotFound(id.to_owned()))
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Shell>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the user's shell: the one that the environment names, or `/bin/sh`.
pub fn users_shell(named: Option<std::ffi::OsString>) -> PathBuf {
    let named = named.map(PathBuf::from).filter(|shell| shell.is_absolute() && shell.is_file());
    named.unwrap_or_else(|| PathBuf::from("/bin/sh"))
}
