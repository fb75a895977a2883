//! A pseudo-terminal: what a shell is given instead of pipes.
//!
//! Ours is the side that a person would look at; the child's is its stdin, stdout and stderr, and the controlling
//! terminal of the session that it leads.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, OptionalActions, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use tokio::io::unix::AsyncFd;

/// How much a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a row.
    pub columns: u16,
    /// Rows.
    pub rows: u16,
}

/// Our side of a child's terminal. Dropping it hangs up: the child's session gets SIGHUP.
#[derive(Debug)]
pub struct Terminal {
    ours: AsyncFd<OwnedFd>,
}

impl Terminal {
    /// Opens a terminal and returns it with the child's side. Must be called within a tokio runtime.
    pub(crate) fn open(size: TerminalSize) -> io::Result<(Self, OwnedFd)> {
        let ours = openpt(flags())?;
        // Where the flag does not exist; where it does, this changes nothing.
        rustix::io::fcntl_setfd(&ours, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let theirs = rustix::fs::open(
            name.as_c_str(),
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        tcsetwinsize(&theirs, size.into())?;
        let mut modes = tcgetattr(&theirs)?;
        // A backspace takes back a character, not one byte of it.
        modes.input_modes |= InputModes::IUTF8;
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
        rustix::fs::fcntl_setfl(&ours, rustix::fs::fcntl_getfl(&ours)? | OFlags::NONBLOCK)?;
        // SAFETY: the descriptor is an `OwnedFd` that is moved in and stays inside, unchanged and open, until both are dropped.
        #[allow(unsafe_code)]
        let ours = unsafe { AsyncFd::register(ours) }?;
        Ok((Terminal { ours }, theirs))
    }

    /// Reads what was printed. Returns 0 when nobody holds the other side any more.
    pub async fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.ours.readable().await?;
            let read = ready.try_io(|ours| Ok(rustix::io::read(ours.get_ref(), &mut *into)?));
            match read {
                // Linux's word for an end here.
                Ok(Err(error)) if error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error()) => {
                    return Ok(0);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(read) => return read,
                Err(_would_block) => {}
            }
        }
    }

    /// Writes what was typed, or a part of it; returns how much. Waits while the child does not read.
    pub async fn write(&self, typed: &[u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.ours.writable().await?;
            match ready.try_io(|ours| Ok(rustix::io::write(ours.get_ref(), typed)?)) {
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(written) => return written,
                Err(_would_block) => {}
            }
        }
    }

    /// Tells the child, by SIGWINCH, that the terminal has another size.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        Ok(tcsetwinsize(self.ours.get_ref(), size.into())?)
    }
}

impl From<TerminalSize> for Winsize {
    fn from(size: TerminalSize) -> Self {
        Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 }
    }
}

/// Another thread may start a child between the opening and a second call: that child would keep the terminal open.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd"))]
fn flags() -> OpenptFlags {
    OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_os = "netbsd")))]
fn flags() -> OpenptFlags {
    OpenptFlags::RDWR | OpenptFlags::NOCTTY
}
