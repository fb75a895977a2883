//! The one way to start a process: under a keeper, which sees to it that nothing outlives us.
//!
//! [`spawn`] starts the keeper program with one end of a socket. The keeper starts the command, passes our
//! pipes on to it, and ends everything below it when we ask, when the command ends, or when our end of the
//! socket closes, which the kernel does for us even after a `kill -9`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Weak};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use tokio::net::unix::pipe;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::watch;

use crate::keeper::{CONTROL_FD, FOLDER_FD, Order};
use crate::sandbox::Sandbox;
use crate::terminal::{Terminal, TerminalSize};

mod stderr;
mod supervise;

use stderr::StderrTail;

/// The program that keeps children: our own binary with its hidden subcommand, or a test's.
#[derive(Clone, Debug)]
pub struct Keeper {
    /// The binary that has the `keeper` command: our own.
    pub program: PathBuf,
    /// What makes the program a keeper, e.g. `["keeper"]`.
    pub args: Vec<OsString>,
}

impl Keeper {
    /// The running program itself, started as `<program> keeper …`.
    pub fn current_exe() -> std::io::Result<Self> {
        Ok(Keeper { program: std::env::current_exe()?, args: vec!["keeper".into()] })
    }
}

/// What to start, completely: nothing is inherited but what stands here.
#[derive(Clone, Debug)]
pub struct ChildSpec {
    /// What the child is called in the log and in messages.
    pub label: String,
    /// An absolute path; no lookup is done.
    pub program: PathBuf,
    /// Passed as they are, without a shell.
    pub args: Vec<OsString>,
    /// The folder it starts in; it must exist.
    pub cwd: PathBuf,
    /// The same folder, held open by who has looked at it: the child starts in this one, whatever is at the path by
    /// then. Without it the path decides.
    pub folder: Option<Arc<OwnedFd>>,
    /// The whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// Whether the child gets a second pair of pipes: it reads fd 3 and writes fd 4.
    pub extra_pipes: bool,
    /// Gives the child a terminal of this size, and a session of its own on it, instead of the pipes of its stdio.
    pub terminal: Option<TerminalSize>,
    /// What it may touch, when that is less than its user may.
    pub sandbox: Option<Sandbox>,
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// The folder to start in is not there.
    #[error("{label} cannot start in {}: it is not a folder", cwd.display())]
    Cwd {
        /// The child's name in messages.
        label: String,
        /// The folder.
        cwd: PathBuf,
    },
    /// The program was named by a relative path, which would depend on the folder.
    #[error("{label} cannot start: {} is not an absolute path", program.display())]
    NotAbsolute {
        /// The child's name in messages.
        label: String,
        /// The path as it was given.
        program: PathBuf,
    },
    /// The keeper could not be started.
    #[error("the keeper {} of {label} cannot start: {error}", program.display())]
    Keeper {
        /// The child's name in messages.
        label: String,
        /// The keeper's binary.
        program: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The pipes to the child could not be made.
    #[error("the pipes of {label} cannot be made: {error}")]
    Pipes {
        /// The child's name in messages.
        label: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this status.
    Code(i32),
    /// It was ended by this signal.
    Signal(i32),
    /// The command never ran: the reason, for the user.
    NotStarted(String),
    /// The keeper itself went away without a report.
    Lost,
}

impl Exit {
    /// Whether the child ended with code 0.
    pub fn is_success(&self) -> bool {
        *self == Exit::Code(0)
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Exit::Code(code) => write!(f, "exited with status {code}"),
            Exit::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Exit::NotStarted(reason) => write!(f, "could not be started: {reason}"),
            Exit::Lost => write!(f, "was lost: its keeper is gone"),
        }
    }
}

/// A running child. Dropping it ends the child and everything below it.
#[derive(Debug)]
pub struct Child {
    /// Taken by whoever writes to it.
    pub stdin: Option<ChildStdin>,
    /// Taken by whoever reads it.
    pub stdout: Option<ChildStdout>,
    /// The writer to its fd 3 and the reader of its fd 4, when asked for.
    pub extra: Option<(pipe::Sender, pipe::Receiver)>,
    /// Our side of its terminal, when it has one; then there is no stdin and no stdout.
    pub terminal: Option<Terminal>,
    label: String,
    sandbox: Option<Sandbox>,
    keeper_pid: u32,
    control: Arc<Control>,
    state: watch::Receiver<State>,
    stderr: StderrTail,
}

/// What is known of a child.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) pid: Option<u32>,
    /// Set once the child and everything below it is gone.
    pub(crate) exit: Option<Exit>,
}

/// Starts a command under a keeper. Must be called within a tokio runtime.
///
/// A command that cannot be executed is no error here: it is an [`Exit::NotStarted`] a moment later.
pub fn spawn(keeper: &Keeper, spec: ChildSpec) -> Result<Child, SpawnError> {
    let label = spec.label.clone();
    if !spec.program.is_absolute() {
        return Err(SpawnError::NotAbsolute { label, program: spec.program });
    }
    if spec.folder.is_none() && !spec.cwd.is_dir() {
        return Err(SpawnError::Cwd { label, cwd: spec.cwd });
    }
    let pipes = |error| SpawnError::Pipes { label: label.clone(), error };
    let (ours, theirs) = UnixStream::pair().map_err(pipes)?;
    let mut mappings = vec![FdMapping { parent_fd: OwnedFd::from(theirs), child_fd: CONTROL_FD }];
    if let Some(folder) = &spec.folder {
        let parent_fd = folder.try_clone().map_err(pipes)?;
        mappings.push(FdMapping { parent_fd, child_fd: FOLDER_FD });
    }
    let mut extra = None;
    if spec.extra_pipes {
        let (read_3, write_3) = std::io::pipe().map_err(pipes)?;
        let (read_4, write_4) = std::io::pipe().map_err(pipes)?;
        mappings.push(FdMapping { parent_fd: OwnedFd::from(read_3), child_fd: 3 });
        mappings.push(FdMapping { parent_fd: OwnedFd::from(write_4), child_fd: 4 });
        extra = Some((
            pipe::Sender::from_owned_fd(OwnedFd::from(write_3)).map_err(pipes)?,
            pipe::Receiver::from_owned_fd(OwnedFd::from(read_4)).map_err(pipes)?,
        ));
    }
    #[expect(clippy::disallowed_methods, reason = "this is the function that the spawn gate calls")]
    let mut command = std::process::Command::new(&keeper.program);
    command.args(&keeper.args);
    if spec.extra_pipes {
        command.arg("--extra-pipes");
    }
    if spec.folder.is_some() {
        command.arg("--in-folder");
    }
    if spec.terminal.is_some() {
        command.arg("--terminal");
    }
    command.args(spec.sandbox.iter().flat_map(Sandbox::to_args));
    command.arg("--").arg(&spec.program).args(&spec.args);
    // The keeper goes to a folder that it was given by itself.
    let cwd = if spec.folder.is_some() { Path::new("/") } else { &spec.cwd };
    command.current_dir(cwd).env_clear().envs(&spec.env);
    // The keeper's own stderr, which is the child's too unless it has a terminal.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut terminal = None;
    if let Some(size) = spec.terminal {
        let (opened, theirs) = Terminal::open(size).map_err(pipes)?;
        command.stdin(theirs.try_clone().map_err(pipes)?).stdout(theirs);
        terminal = Some(opened);
    }
    command.fd_mappings(mappings).expect("the descriptor numbers differ");
    let mut command = tokio::process::Command::from(command);
    let spawned = command.spawn();
    // The command holds the child's ends of our pipes; as long as it lives there is no end of file.
    drop(command);
    let mut process = spawned.map_err(|error| SpawnError::Keeper {
        label: label.clone(),
        program: keeper.program.clone(),
        error,
    })?;
    let keeper_pid = process.id().unwrap_or_default();
    let stdin = process.stdin.take();
    let stdout = process.stdout.take();
    let stderr = StderrTail::follow(&label, process.stderr.take());
    let (state, states) = watch::channel(State::default());
    let reading = ours.try_clone().map_err(pipes)?;
    let control = Arc::new(Control { socket: ours });
    tokio::spawn(supervise::run(process, reading, state, stderr.clone()));
    let sandbox = spec.sandbox;
    Ok(Child { stdin, stdout, extra, terminal, label, sandbox, keeper_pid, control, state: states, stderr })
}

impl Child {
    /// The process id of the child itself, once it is known.
    pub fn pid(&self) -> Option<u32> {
        self.state.borrow().pid
    }

    /// Waits for the child's process id, or for the reason why there is none.
    pub async fn started(&self) -> Result<u32, Exit> {
        let mut state = self.state.clone();
        match state.wait_for(|state| state.pid.is_some() || state.exit.is_some()).await {
            Ok(state) => state.pid.ok_or_else(|| state.exit.clone().unwrap_or(Exit::Lost)),
            Err(_) => Err(Exit::Lost),
        }
    }

    /// The process id of the keeper, for the record of what to sweep after a crash.
    pub fn keeper_pid(&self) -> u32 {
        self.keeper_pid
    }

    /// What the child is called in the log and in messages.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What it may touch, when that is less than its user may.
    pub fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// Waits until the child and everything below it is gone. May be called again, and from many tasks.
    pub async fn wait(&self) -> Exit {
        self.exit_watch().wait().await
    }

    /// A handle that waits for the end without keeping the child alive.
    pub fn exit_watch(&self) -> ExitWatch {
        ExitWatch { state: self.state.clone(), stderr: self.stderr.clone() }
    }

    /// Asks the child itself to end (SIGTERM).
    pub fn terminate(&self) {
        self.control.order(Order::Terminate);
    }

    /// Interrupts the child itself (SIGINT).
    pub fn interrupt(&self) {
        self.control.order(Order::Interrupt);
    }

    /// Ends the child and everything below it, without asking.
    pub fn kill(&self) {
        self.control.order(Order::KillAll);
    }

    /// The last lines of the child's stderr, for messages.
    pub fn stderr_tail(&self) -> String {
        self.stderr.text()
    }

    /// Something that can end this child without keeping it alive.
    pub fn kill_switch(&self) -> KillSwitch {
        KillSwitch { control: Arc::downgrade(&self.control), exit: self.exit_watch() }
    }

    /// Asks the child to end, gives it `grace`, then kills whatever is left below it. Returns when all of it is
    /// gone.
    pub async fn end(mut self, grace: Duration) -> Exit {
        // Many programs end by themselves when their input does.
        drop(self.stdin.take());
        drop(self.extra.take());
        drop(self.terminal.take());
        self.terminate();
        match tokio::time::timeout(grace, self.wait()).await {
            Ok(exit) => exit,
            Err(_elapsed) => {
                self.kill();
                self.wait().await
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The supervising task still reads from its clone of the socket, so that closing ours is not enough.
        self.control.close();
    }
}

/// Waits for the end of a child that someone else holds.
#[derive(Clone, Debug)]
pub struct ExitWatch {
    state: watch::Receiver<State>,
    stderr: StderrTail,
}

impl ExitWatch {
    /// Waits until the child and everything below it is gone.
    pub async fn wait(&self) -> Exit {
        let mut state = self.state.clone();
        match state.wait_for(|state| state.exit.is_some()).await {
            Ok(state) => state.exit.clone().unwrap_or(Exit::Lost),
            Err(_) => Exit::Lost,
        }
    }

    /// How the child ended, if it has.
    pub fn exit(&self) -> Option<Exit> {
        self.state.borrow().exit.clone()
    }

    /// The last lines of the child's stderr, for messages.
    pub fn stderr_tail(&self) -> String {
        self.stderr.text()
    }

    /// The process id of the child, once it runs.
    pub fn pid(&self) -> Option<u32> {
        self.state.borrow().pid
    }
}

/// Ends a child that someone else holds.
#[derive(Clone, Debug)]
pub struct KillSwitch {
    control: Weak<Control>,
    exit: ExitWatch,
}

impl KillSwitch {
    /// Ends the child and everything below it, and returns when all of it is gone.
    pub async fn kill(&self) -> Exit {
        if let Some(control) = self.control.upgrade() {
            control.order(Order::KillAll);
        }
        self.exit.wait().await
    }

    /// Whether the child is gone.
    pub fn is_spent(&self) -> bool {
        self.exit.exit().is_some()
    }
}

/// Our end of the keeper's socket.
#[derive(Debug)]
struct Control {
    socket: UnixStream,
}

impl Control {
    fn order(&self, order: Order) {
        // An order is a byte: it fits, or the keeper is gone and there is nobody left to end.
        if let Err(error) = (&self.socket).write_all(&[order.byte()]) {
            tracing::trace!(%error, "the keeper is gone already");
        }
    }

    fn close(&self) {
        if let Err(error) = self.socket.shutdown(std::net::Shutdown::Write) {
            tracing::trace!(%error, "the keeper is gone already");
        }
    }
}
