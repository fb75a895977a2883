//! How much memory a server takes, everything below it included.

use chartroom_transport::process;

/// Returns the resident memory of a process and its descendants; nothing where the system does not tell.
pub(crate) fn of_tree(pid: u32) -> Option<u64> {
    let own = of_process(pid)?;
    let below = process::descendants(pid)
        .into_iter()
        .filter_map(|pid| u32::try_from(pid.as_raw_nonzero().get()).ok())
        .filter_map(of_process);
    Some(own + below.sum::<u64>())
}

fn of_process(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn this_process_takes_some_memory_and_none_takes_none() {
        assert!(super::of_tree(std::process::id()).is_some_and(|bytes| bytes > 1024 * 1024));
        assert_eq!(super::of_tree(u32::MAX - 1), None);
    }
}
