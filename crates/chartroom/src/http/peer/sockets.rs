//! Which process holds a socket. Finding that out means a look at every process of the user, so those who ask at the same
//! time share one. (A browser has a key of its own and is not looked for.)

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The sockets of the machine's processes, at one time.
struct Seen {
    began: Instant,
    /// The newest process that holds each, by the socket's number.
    holders: HashMap<u64, u32>,
}

/// The last look. There is one machine.
static SEEN: Mutex<Option<Seen>> = Mutex::new(None);

/// Returns the process that holds a socket, if it lets itself be seen. The look that is answered from began after the call.
pub(super) fn holder(socket: u64) -> Option<u32> {
    let asked = Instant::now();
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let seen = match seen.take() {
        Some(fresh) if fresh.began >= asked => seen.insert(fresh),
        _ => seen.insert(Seen { began: Instant::now(), holders: look() }),
    };
    seen.holders.get(&socket).copied()
}

fn look() -> HashMap<u64, u32> {
    let mut holders: HashMap<u64, u32> = HashMap::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for pid in pids {
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for link in descriptors.filter_map(|entry| std::fs::read_link(entry.path()).ok()) {
            let number =
                link.to_str().and_then(|link| link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok());
            if let Some(socket) = number {
                let newest = holders.entry(socket).or_insert(pid);
                *newest = pid.max(*newest);
            }
        }
    }
    holders
}
