//! Helpers: processes of our own that do what may crash, one question at a time, within limits.
//!
//! The gate starts them ([`crate::SpawnGate::spawn_helper`]) under a keeper like any child: our own program in the
//! folder `/`, with nothing of our environment. Both sides speak frames: four bytes of length, then that many bytes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, IoSlice, Read, Write};
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

/// Read at once, on both sides: most questions and answers come whole.
const BUFFER: usize = 64 * 1024;
/// Room in the pipes, so that a large file is handed over at once and not in steps of 64 KiB, each of which wakes the
/// other side.
#[cfg(target_os = "linux")]
const PIPE: usize = 1024 * 1024;

/// All that a helper finds in its environment: its allocator takes addresses in small steps and memory when it is needed.
/// It would set a gigabyte aside at once, which is more than a helper may take.
pub(crate) fn environment() -> BTreeMap<OsString, OsString> {
    [("MIMALLOC_ARENA_RESERVE", "64MiB"), ("MIMALLOC_ARENA_EAGER_COMMIT", "0")]
        .map(|(name, value)| (name.into(), value.into()))
        .into()
}

/// A running helper. Dropping it ends it.
#[derive(Debug)]
pub struct Helper {
    child: Child,
    stdin: OwnedFd,
    stdout: OwnedFd,
    /// What an answer begins in.
    buffer: Vec<u8>,
}

impl Helper {
    pub(crate) fn new(mut child: Child) -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = child.stdin.take().ok_or_else(missing)?.into_owned_fd()?;
        let stdout = child.stdout.take().ok_or_else(missing)?.into_owned_fd()?;
        // Neither side may hold us longer than it is given.
        for fd in [&stdin, &stdout] {
            rustix::io::ioctl_fionbio(fd, true)?;
            // A user who has many pipes is refused more room, which costs time alone.
            #[cfg(target_os = "linux")]
            rustix::pipe::fcntl_setpipe_size(fd, PIPE).ok();
        }
        Ok(Helper { child, stdin, stdout, buffer: vec![0; BUFFER] })
    }

    /// Asks and waits for the answer, on the thread of the caller.
    pub fn ask(&mut self, question: &[u8], timeout: Duration) -> Result<Vec<u8>, HelperError> {
        let deadline = Instant::now() + timeout;
        let length = u32::try_from(question.len())
            .map_err(|_| HelperError::Died("the question is too long".into()))?;
        self.write(&length.to_le_bytes(), question, deadline)?;
        let mut buffer = std::mem::take(&mut self.buffer);
        let answer = self.read(&mut buffer, deadline);
        self.buffer = buffer;
        answer
    }

    /// Writes a head and a body in one step, as far as the pipe takes them.
    fn write(&self, mut head: &[u8], mut body: &[u8], deadline: Instant) -> Result<(), HelperError> {
        while !(head.is_empty() && body.is_empty()) {
            match rustix::io::writev(&self.stdin, &[IoSlice::new(head), IoSlice::new(body)]) {
                Ok(n) => advance(&mut head, &mut body, n),
                Err(rustix::io::Errno::AGAIN) => self.wait(&self.stdin, PollFlags::OUT, deadline)?,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.died(&error)),
            }
        }
        Ok(())
    }

    /// Reads one answer. There is never more than one: a helper speaks when it is asked.
    fn read(&self, buffer: &mut [u8], deadline: Instant) -> Result<Vec<u8>, HelperError> {
        let mut n_read = 0;
        while n_read < 4 {
            n_read += self.read_some(&mut buffer[n_read..], deadline)?;
        }
        let (head, start) = buffer[..n_read].split_at(4);
        let length = head.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
        if length > MAX_FRAME || start.len() > length {
            return Err(HelperError::Died(format!("it answers with {length} bytes")));
        }
        let mut answer = Vec::with_capacity(length);
        answer.extend_from_slice(start);
        let mut n_read = answer.len();
        answer.resize(length, 0);
        while n_read < length {
            n_read += self.read_some(&mut answer[n_read..], deadline)?;
        }
        Ok(answer)
    }

    fn read_some(&self, bytes: &mut [u8], deadline: Instant) -> Result<usize, HelperError> {
        loop {
            // It has just been asked: there is hardly ever something at once.
            self.wait(&self.stdout, PollFlags::IN, deadline)?;
            match rustix::io::read(&self.stdout, &mut *bytes) {
                Ok(0) => return Err(self.died(&"its output ended")),
                Ok(n) => return Ok(n),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.died(&error)),
            }
        }
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
    // Not through `stdout()`, which looks for line ends and writes what is behind the last one later.
    let (input, output) =
        (io::stdin().as_fd().try_clone_to_owned(), io::stdout().as_fd().try_clone_to_owned());
    let (Ok(input), Ok(output)) = (input, output) else { return ExitCode::FAILURE };
    let mut input = BufReader::with_capacity(BUFFER, File::from(input));
    let mut output = File::from(output);
    let mut question = Vec::new();
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
        question.clear();
        match input.by_ref().take(length as u64).read_to_end(&mut question) {
            Ok(n) if n == length => {}
            _ => return ExitCode::FAILURE,
        }
        let said = answer(&question);
        let Ok(length) = u32::try_from(said.len()) else { return ExitCode::FAILURE };
        if write_frame(&mut output, &length.to_le_bytes(), &said).is_err() {
            return ExitCode::SUCCESS;
        }
    }
}

fn write_frame(output: &mut File, mut head: &[u8], mut body: &[u8]) -> io::Result<()> {
    while !(head.is_empty() && body.is_empty()) {
        match output.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
            Ok(n) => advance(&mut head, &mut body, n),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Takes what was written off the front.
fn advance(head: &mut &[u8], body: &mut &[u8], n_written: usize) {
    let of_head = n_written.min(head.len());
    *head = &head[of_head..];
    *body = &body[(n_written - of_head).min(body.len())..];
}

/// A limit that the system does not know is not set: the deadline of who asks remains.
fn limit(resource: Resource, bytes: u64) {
    let limit = Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Err(error) = setrlimit(resource, limit) {
        tracing::debug!(?resource, %error, "a limit cannot be set");
    }
}
