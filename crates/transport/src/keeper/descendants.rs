//! Finding, killing and reaping every process below the keeper.

use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::drain;
use crate::child::Exit;
#[cfg(target_os = "linux")]
use crate::process;

/// A process that cannot be killed (another user's, or stuck in the kernel) must not keep the keeper for ever.
const PATIENCE: Duration = Duration::from_secs(10);

/// Reaps everyone who has ended. Returns how `child` ended, when it was among them.
pub(super) fn reap(child: Pid) -> Option<Exit> {
    let mut exit = None;
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == child {
            exit = Some(exit_of(status));
        }
    }
    exit
}

/// Kills and reaps until nobody is left below us. Returns how `child` ended, when it was still there.
///
/// Orphans of a killed process become our children, because we are a subreaper, so that the next round finds
/// them however they had hidden.
pub(super) fn kill_all(child: Pid, child_signals: &UnixStream) -> Option<Exit> {
    let mut exit = None;
    let deadline = Instant::now() + PATIENCE;
    loop {
        kill_round(child);
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == child => exit = Some(exit_of(status)),
                Ok(Some(_)) => {}
                Ok(None) => break,
                // Nobody is left.
                Err(_) => return exit,
            }
        }
        if Instant::now() > deadline {
            return exit;
        }
        let mut fds = [PollFd::new(child_signals, PollFlags::IN)];
        let pause = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        // Interrupted or not, the next round looks again.
        poll(&mut fds, Some(&pause)).ok();
        drain(child_signals);
    }
}

/// Returns the command that the child has started inside of a sandbox: the nearest process below it with another program.
#[cfg(target_os = "linux")]
pub(super) fn wrapped(child: Pid) -> Option<Pid> {
    let raw = |pid: Pid| pid.as_raw_nonzero().get().unsigned_abs();
    let program = |pid: Pid| std::fs::read_link(format!("/proc/{}/exe", raw(pid))).ok();
    let wrapper = program(child);
    process::descendants(raw(child))
        .into_iter()
        .find(|pid| program(*pid).is_some_and(|it| Some(it) != wrapper))
}

/// Without `/proc` nobody is known.
#[cfg(not(target_os = "linux"))]
pub(super) fn wrapped(_child: Pid) -> Option<Pid> {
    None
}

/// Stops everyone first, so that nobody forks while the others are being killed.
#[cfg(target_os = "linux")]
fn kill_round(_child: Pid) {
    let below = process::descendants(std::process::id());
    for signal in [Signal::STOP, Signal::KILL] {
        for pid in &below {
            // It may have ended since; or it belongs to someone else, and the deadline deals with that.
            rustix::process::kill_process(*pid, signal).ok();
        }
    }
}

/// Without `/proc` there is the child's process group; a process that left it is out of reach.
#[cfg(not(target_os = "linux"))]
fn kill_round(child: Pid) {
    rustix::process::kill_process_group(child, Signal::KILL).ok();
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Lost,
    }
}
