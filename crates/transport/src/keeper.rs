//! The keeper: a small program between us and a child, so that nothing below it outlives us.
//!
//! `chartroom keeper -- command…` makes itself a subreaper, starts the command on the stdio it was given, and
//! listens on a socket. When the command ends, when it is told so, or when the socket closes because its
//! parent is gone, it kills every process below it, those included that made a session of their own, reaps
//! them and leaves. It is single-threaded and blocking on purpose: it must work when nothing else does.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal};

use crate::child::Exit;
use crate::sandbox::Sandbox;

mod descendants;

/// The descriptor on which the keeper finds its socket; 3 and 4 are the child's extra pipes.
pub(crate) const CONTROL_FD: RawFd = 5;
/// The descriptor of the folder that the child starts in, where it is given by one.
pub(crate) const FOLDER_FD: RawFd = 6;

/// What the parent tells a keeper, one byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Terminate,
    Interrupt,
    KillAll,
}

impl Order {
    pub(crate) fn byte(self) -> u8 {
        match self {
            Order::Terminate => b't',
            Order::Interrupt => b'i',
            Order::KillAll => b'k',
        }
    }

    fn of(byte: u8) -> Option<Self> {
        [Order::Terminate, Order::Interrupt, Order::KillAll].into_iter().find(|order| order.byte() == byte)
    }
}

/// What a keeper tells its parent, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Started(u32),
    Ended(Exit),
}

impl Report {
    fn line(&self) -> String {
        match self {
            Report::Started(pid) => format!("pid {pid}\n"),
            Report::Ended(Exit::Code(code)) => format!("exit {code}\n"),
            Report::Ended(Exit::Signal(signal)) => format!("signal {signal}\n"),
            Report::Ended(Exit::NotStarted(reason)) => format!("error {}\n", reason.replace('\n', " ")),
            Report::Ended(Exit::Lost) => "lost\n".to_owned(),
        }
    }

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        match word {
            "pid" => rest.parse().ok().map(Report::Started),
            "exit" => rest.parse().ok().map(|code| Report::Ended(Exit::Code(code))),
            "signal" => rest.parse().ok().map(|signal| Report::Ended(Exit::Signal(signal))),
            "error" => Some(Report::Ended(Exit::NotStarted(rest.to_owned()))),
            _ => None,
        }
    }
}

/// Runs the keeper. `args` is what follows the hidden subcommand: `[--extra-pipes] [--in-folder] [--terminal] [--sandbox …] --
/// command arg…`.
///
/// Call it first thing in `main`, before any thread or descriptor exists.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let Some(command_line) = CommandLine::parse(args) else {
        return refuse(
            "usage: keeper [--extra-pipes] [--in-folder] [--terminal] [--sandbox TOOL …] -- COMMAND [ARG…]",
        );
    };
    let Some(control) = inherited(CONTROL_FD) else {
        return refuse("a keeper is started by Chartroom itself, not by hand");
    };
    match Kept::start(command_line, UnixStream::from(control)) {
        Ok(mut kept) => kept.keep(),
        Err(code) => code,
    }
}

struct CommandLine {
    extra_pipes: bool,
    in_folder: bool,
    terminal: bool,
    sandbox: Option<Sandbox>,
    program: OsString,
    args: Vec<OsString>,
}

impl CommandLine {
    fn parse(args: impl IntoIterator<Item = OsString>) -> Option<Self> {
        let mut args = args.into_iter();
        let mut extra_pipes = false;
        let mut in_folder = false;
        let mut terminal = false;
        let mut sandbox = None;
        loop {
            let arg = args.next()?;
            match arg.to_str() {
                Some("--") => break,
                Some("--extra-pipes") => extra_pipes = true,
                Some("--in-folder") => in_folder = true,
                Some("--terminal") => terminal = true,
                Some("--sandbox") => sandbox = Some(Sandbox::named(&args.next()?)?),
                // Whatever is not understood is refused: a limit that is skipped would be none.
                _ => sandbox.as_mut()?.take(&arg, &mut args)?,
            }
        }
        let (program, args) = (args.next()?, args.collect());
        Some(CommandLine { extra_pipes, in_folder, terminal, sandbox, program, args })
    }
}

/// A command and the ears of its keeper.
struct Kept {
    pid: Pid,
    /// Whether the child only starts the command, which is then the one to signal.
    wrapped: bool,
    control: UnixStream,
    /// Readable after a SIGCHLD.
    child_signals: UnixStream,
    /// Readable after a signal that asks the keeper to end.
    end_signals: UnixStream,
    exit: Option<Exit>,
}

impl Kept {
    fn start(command_line: CommandLine, mut control: UnixStream) -> Result<Self, ExitCode> {
        let prepared = prepare();
        let started = prepared.and_then(|signals| Ok((start_child(&command_line)?, signals)));
        match started {
            Ok((pid, (child_signals, end_signals))) => {
                // The keeper's copies of the child's pipes would hide an end of file, or a broken pipe, from us.
                close_inherited(command_line.extra_pipes);
                let raw = pid.as_raw_nonzero().get().unsigned_abs();
                // A failing write means that the parent is gone, which the loop finds out.
                control.write_all(Report::Started(raw).line().as_bytes()).ok();
                let wrapped = command_line.sandbox.as_ref().is_some_and(Sandbox::wraps);
                Ok(Kept { pid, wrapped, control, child_signals, end_signals, exit: None })
            }
            Err(error) => {
                let reason = format!("{}: {error}", Path::new(&command_line.program).display());
                let report = Report::Ended(Exit::NotStarted(reason));
                // A failing write means that nobody is left who could be told.
                control.write_all(report.line().as_bytes()).ok();
                Err(ExitCode::from(127))
            }
        }
    }

    /// Waits for the end, and brings it about below us.
    fn keep(&mut self) -> ExitCode {
        while self.exit.is_none() && self.next_event() == Event::GoOn {
            self.exit = self.exit.take().or_else(|| descendants::reap(self.pid));
        }
        let reaped = descendants::kill_all(self.pid, &self.child_signals);
        let exit = self.exit.take().or(reaped).unwrap_or(Exit::Lost);
        // A failing write means that the parent is gone; all is done that there was to do.
        self.control.write_all(Report::Ended(exit.clone()).line().as_bytes()).ok();
        ExitCode::from(match exit {
            Exit::Code(code) => u8::try_from(code & 0xff).unwrap_or(1),
            Exit::Signal(signal) => u8::try_from(128 + (signal & 0x7f)).unwrap_or(1),
            Exit::NotStarted(_) => 127,
            Exit::Lost => 1,
        })
    }

    fn next_event(&mut self) -> Event {
        let mut fds = [
            PollFd::new(&self.control, PollFlags::IN),
            PollFd::new(&self.child_signals, PollFlags::IN),
            PollFd::new(&self.end_signals, PollFlags::IN),
        ];
        if poll(&mut fds, None).is_err() {
            // Interrupted by a signal, which its pipe tells us about the next time.
            return Event::GoOn;
        }
        let [control, child, end] = fds.map(|fd| !fd.revents().is_empty());
        if end {
            return Event::KillAll;
        }
        if child {
            drain(&self.child_signals);
        }
        if control { self.read_orders() } else { Event::GoOn }
    }

    fn read_orders(&mut self) -> Event {
        let mut orders = [0; 16];
        let n_read = match self.control.read(&mut orders) {
            // The parent is gone, or has let go of the child.
            Ok(0) => return Event::KillAll,
            Ok(n_read) => n_read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Event::GoOn,
            Err(_) => return Event::KillAll,
        };
        for byte in &orders[..n_read] {
            match Order::of(*byte) {
                Some(Order::Terminate) => self.signal(Signal::TERM),
                Some(Order::Interrupt) => self.signal(Signal::INT),
                Some(Order::KillAll) | None => return Event::KillAll,
            }
        }
        Event::GoOn
    }

    /// Signals the command. It has not been reaped, so that its pid cannot be someone else's.
    fn signal(&self, signal: Signal) {
        let command = if self.wrapped { descendants::wrapped(self.pid) } else { None };
        rustix::process::kill_process(command.unwrap_or(self.pid), signal).ok();
    }
}

#[derive(PartialEq, Eq)]
enum Event {
    GoOn,
    KillAll,
}

/// Makes this process a keeper: its own process group, the parent of every orphan below it, deaf to signals
/// but through the returned pipes.
fn prepare() -> std::io::Result<(UnixStream, UnixStream)> {
    // A terminal's Ctrl-C reaches the server, which then decides in what order things end. This fails for a
    // session leader, which has a group of its own already.
    rustix::process::setpgid(None, None).ok();
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (child_signals, child_write) = UnixStream::pair()?;
    let (end_signals, end_write) = UnixStream::pair()?;
    child_signals.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal_hook::consts::SIGCHLD, child_write)?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        signal_hook::low_level::pipe::register(signal, end_write.try_clone()?)?;
    }
    Ok((child_signals, end_signals))
}

fn start_child(command_line: &CommandLine) -> std::io::Result<Pid> {
    if command_line.in_folder {
        let folder = inherited(FOLDER_FD).ok_or_else(|| std::io::Error::other("its folder was not given"))?;
        rustix::process::fchdir(folder)?;
    }
    // From here on the keeper has no more rights than the child: what it still does, reading /proc and signalling its
    // own, every sandbox leaves it.
    let entered = command_line.sandbox.as_ref().map(|sandbox| {
        sandbox.enter(&command_line.program, &command_line.args).map_err(|error| {
            std::io::Error::new(error.kind(), format!("the sandbox cannot be had ({error})"))
        })
    });
    let (program, args) = match entered.transpose()? {
        Some((program, args)) => (program, args),
        None => (command_line.program.clone(), command_line.args.clone()),
    };
    #[expect(clippy::disallowed_methods, reason = "the keeper starts what the spawn gate has let through")]
    let mut command = Command::new(program);
    command.args(args);
    if command_line.terminal {
        command.stderr(rustix::io::dup(rustix::stdio::stdin())?);
        lead_a_session_on_stdin(&mut command);
    } else {
        command.process_group(0);
    }
    die_with_this_process(&mut command);
    let child = command.spawn()?;
    // Reaping is ours: `waitpid` for any child also collects the orphans.
    Pid::from_raw(i32::try_from(child.id()).unwrap_or_default())
        .ok_or_else(|| std::io::Error::other("the child has no process id"))
}

/// Makes the terminal that is the child's stdin its own: job control and Ctrl-C work only for who leads a session on it.
fn lead_a_session_on_stdin(command: &mut Command) {
    let lead = || {
        rustix::process::setsid()?;
        Ok(rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?)
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed; the closure makes two system calls
    // and allocates nothing.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(lead);
    }
}

/// Lets the kernel kill the child when the keeper dies, so that a `kill -9` of the keeper leaves no child.
///
/// The keeper has one thread, which is why this signal is safe here and not in the server: it is sent when the
/// *thread* that started the child ends.
#[cfg(target_os = "linux")]
fn die_with_this_process(command: &mut Command) {
    let keeper = rustix::process::getpid();
    let set_signal = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The keeper may have died before the signal was asked for.
        if rustix::process::getppid() != Some(keeper) {
            return Err(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        }
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe work is allowed; the closure makes two system calls
    // and allocates nothing.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(set_signal);
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_this_process(_command: &mut Command) {}

/// Takes over a descriptor that the parent left for us, and keeps it from the child.
fn inherited(fd: RawFd) -> Option<OwnedFd> {
    std::fs::metadata(format!("/dev/fd/{fd}")).ok()?;
    // SAFETY: the descriptor is open, as just seen, and nothing in this process owns it: the keeper runs first
    // thing in `main`, and this function is called once for each number.
    #[allow(unsafe_code)]
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC).ok()?;
    Some(owned)
}

fn close_inherited(extra_pipes: bool) {
    if extra_pipes {
        drop((inherited(3), inherited(4)));
    }
    if let Ok(null) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        rustix::stdio::dup2_stdin(&null).ok();
        rustix::stdio::dup2_stdout(&null).ok();
        rustix::stdio::dup2_stderr(&null).ok();
    }
}

fn drain(pipe: &UnixStream) {
    let mut bytes = [0; 64];
    while matches!((&*pipe).read(&mut bytes), Ok(n_read) if n_read > 0) {}
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
