//! Helpers: processes of our own that do what may crash, one question at a time, within limits.
//!
//! The gate starts them ([`crate::SpawnGate::spawn_helper`]) under a keeper like any child: our own program in the
//! folder `/`, without an environment. Both sides speak frames: four bytes of length, then that many bytes.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use chartroom_transport::Child;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Resource, Rlimit, setrlimit};

/// No frame is longer.
const MAX_FRAME: usize = 64 * 1024 * 1024;

/// Why a helper did not answer. It is of no more use then.
#[derive(Debug, thiserror::Error)]
pub enum HelperError {
    /// It is gone, or says what is no frame.
    #[error("{0}")]
    Died(String),
    /// It did not end in time and was ended.
    #[error("it did not answer in time")]
    TooSlow,
}

/// A running helper. Dropping it ends it.
#[derive(Debug)]
pub struct Helper {
    child: Child,
    stdin: OwnedFd,
    stdout: OwnedFd,
}

impl Helper {
    pub(crate) fn new(mut child: Child) -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?.into_owned_fd()?;
        let stdout = child.stdout.take().ok_or_else(missing)?.into_owned_fd()?;
        // Neither side may hold us longer than it is given.
        for fd in [&stdin, &stdout] {
            rustix::io::ioctl_fionbio(fd, true)?;
        }
        Ok(Helper { child, stdin, stdout })
    }

    /// Asks and waits for the answer, on the thread of the caller.
    pub fn ask(&mut self, question: &[u8], timeout: Duration) -> Result<Vec<u8>, HelperError> {
        let deadline = Instant::now() + timeout;
        let length = u32::try_from(question.len())
            .map_err(|_| HelperError::Died("the question is too long".into()))?;
        let mut frame = Vec::with_capacity(question.len() + 4);
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(question);
        self.write(&frame, deadline)?;
        let mut length = [0; 4];
        self.read(&mut length, deadline)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_FRAME {
            return Err(HelperError::Died(format!("it answers with {length} bytes")));
        }
        let mut answer = vec![0; length];
        self.read(&mut answer, deadline)?;
        Ok(answer)
    }

    fn write(&self, mut bytes: &[u8], deadline: Instant) -> Result<(), HelperError> {
        while !bytes.is_empty() {
            match rustix::io::write(&self.stdin, bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(rustix::io::Errno::AGAIN) => self.wait(&self.stdin, PollFlags::OUT, deadline)?,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.died(&error)),
            }
        }
        Ok(())
    }

    fn read(&self, mut bytes: &mut [u8], deadline: Instant) -> Result<(), HelperError> {
        while !bytes.is_empty() {
            match rustix::io::read(&self.stdout, &mut *bytes) {
                Ok(0) => return Err(self.died(&"its output ended")),
                Ok(n) => bytes = &mut bytes[n..],
                Err(rustix::io::Errno::AGAIN) => self.wait(&self.stdout, PollFlags::IN, deadline)?,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.died(&error)),
            }
        }
        Ok(())
    }

    fn wait(&self, fd: &OwnedFd, flags: PollFlags, deadline: Instant) -> Result<(), HelperError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(|_| HelperError::TooSlow)?;
        let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), flags)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) => Err(HelperError::TooSlow),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(self.died(&error)),
        }
    }

    fn died(&self, what: &dyn std::fmt::Display) -> HelperError {
        let tail = self.child.stderr_tail();
        let last = tail.lines().last().unwrap_or_default();
        HelperError::Died(if last.is_empty() { what.to_string() } else { format!("{what}: {last}") })
    }
}

/// Runs a helper: answers frame by frame until there is no more input. `memory` is what it may take, in bytes.
pub fn serve(memory: u64, answer: impl Fn(&[u8]) -> Vec<u8>) -> ExitCode {
    limit(Resource::Data, memory);
    // Where the system does not count data alone, addresses: the program itself takes some.
    limit(Resource::As, memory.saturating_mul(4));
    limit(Resource::Core, 0);
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    loop {
        let mut length = [0; 4];
        // The end of input between two frames is the end of the work; any other is nobody's to hear.
        if input.read_exact(&mut length).is_err() {
            return ExitCode::SUCCESS;
        }
        let length = u32::from_le_bytes(length) as usize;
        if length > MAX_FRAME {
            return ExitCode::FAILURE;
        }
        let mut question = vec![0; length];
        if input.read_exact(&mut question).is_err() {
            return ExitCode::FAILURE;
        }
        let said = answer(&question);
        let Ok(length) = u32::try_from(said.len()) else { return ExitCode::FAILURE };
        let mut frame = Vec::with_capacity(said.len() + 4);
        frame.extend_from_slice(&length.to_le_bytes());
        frame.extend_from_slice(&said);
        if output.write_all(&frame).and_then(|()| output.flush()).is_err() {
            return ExitCode::SUCCESS;
        }
    }
}

/// A limit that the system does not know is not set: the deadline of who asks remains.
fn limit(resource: Resource, bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Err(error) = setrlimit(resource, limit) {
        tracing::debug!(?resource, %error, "a limit cannot be set");
    }
}
