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

/// Returns the memory of this machine, or what a container may take of it; nothing where the system does not tell.
pub(crate) fn of_machine() -> Option<u64> {
    let physical = kilobytes("/proc/meminfo", "MemTotal:")?;
    let allowed = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let allowed = allowed.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(physical.min(allowed))
}

fn of_process(pid: u32) -> Option<u64> {
    kilobytes(&format!("/proc/{pid}/status"), "VmRSS:")
}

/// The bytes behind a name of a file of the kernel's, which counts in kB.
fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn this_process_takes_some_memory_and_none_takes_none() {
        assert!(super::of_tree(std::process::id()).is_some_and(|bytes| bytes > 1024 * 1024));
        assert_eq!(super::of_tree(u32::MAX - 1), None);
        let own = super::of_tree(std::process::id()).unwrap();
        assert!(super::of_machine().is_some_and(|bytes| bytes > own));
    }
}
