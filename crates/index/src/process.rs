//! Whether a process is still the one that was written down: its pid and when it started.

use std::sync::OnceLock;

/// A process that cannot be mistaken for a later one with the same pid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: u32,
    /// Boot and start tick; absent where the system does not tell.
    pub(crate) start: Option<String>,
}

/// This process.
pub(crate) fn current() -> &'static ProcessIdentity {
    static CURRENT: OnceLock<ProcessIdentity> = OnceLock::new();
    CURRENT.get_or_init(|| {
        let pid = std::process::id();
        ProcessIdentity { pid, start: start_of(pid) }
    })
}

/// Whether the process that was written down still runs.
///
/// Another process with the same pid has another start time and is not it. Without a recorded start time only the
/// pid can be asked for.
pub(crate) fn is_alive(pid: u32, start: Option<&str>) -> bool {
    let Some(id) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return false;
    };
    let exists = match rustix::process::test_kill_process(id) {
        Ok(()) => true,
        // It is there but not ours.
        Err(error) => error == rustix::io::Errno::PERM,
    };
    match (exists, start, start_of(pid)) {
        (false, _, _) => false,
        (true, Some(recorded), Some(actual)) => recorded == actual,
        (true, Some(_) | None, _) => true,
    }
}

/// Boot id and start tick of a process, from `/proc`. A zombie has ended: it holds nothing.
fn start_of(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The command's name may hold spaces and parentheses; the fields after it do not.
    let after_name = stat.rsplit_once(") ")?.1;
    let mut fields = after_name.split(' ');
    if matches!(fields.next()?, "Z" | "X") {
        return Some("ended".into());
    }
    let tick = fields.nth(18)?;
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}:{tick}", boot.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_one_with_another_start_does_not() {
        let me = current();
        assert!(is_alive(me.pid, me.start.as_deref()));
        assert!(is_alive(me.pid, None));
        assert!(!is_alive(me.pid, Some("another boot:1")));
        assert!(!is_alive(99_999_999, None));
        assert!(!is_alive(0, None));
    }
}
