//! The internet sockets of processes, read from /proc.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(unreachable_pub, reason = "a module of a test binary has no outside")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::program::processes_of;

/// Every internet socket that the processes hold now, as `tcp LOCAL REMOTE` in the kernel's own digits.
pub fn internet_sockets(pids: &[u32]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for pid in pids {
        let inodes: BTreeSet<String> = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|fd| std::fs::read_link(fd.path()).ok())
            .filter_map(|to| Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
            .collect();
        if inodes.is_empty() {
            continue;
        }
        let known = table(*pid);
        found.extend(inodes.iter().filter_map(|inode| known.get(inode).cloned()));
    }
    found
}

fn table(pid: u32) -> BTreeMap<String, String> {
    let mut sockets = BTreeMap::new();
    for kind in ["tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6", "icmp", "icmp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{kind}")).unwrap_or_default();
        for line in text.lines().skip(1) {
            let columns: Vec<&str> = line.split_whitespace().collect();
            if let (Some(local), Some(remote), Some(inode)) = (columns.get(1), columns.get(2), columns.get(9))
            {
                sockets.insert((*inode).to_owned(), format!("{kind} {local} {remote}"));
            }
        }
    }
    sockets
}

/// Looks at all processes of a home the whole time, until it is asked what it saw.
pub struct Watch {
    stop: Arc<AtomicBool>,
    looking: JoinHandle<(usize, BTreeSet<String>)>,
}

impl Watch {
    pub fn of(home: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let looking = std::thread::spawn(move || {
            let (mut n_looks, mut seen) = (0, BTreeSet::new());
            while !stopped.load(Ordering::Relaxed) {
                seen.extend(internet_sockets(&processes_of(&home)));
                n_looks += 1;
            }
            (n_looks, seen)
        });
        Self { stop, looking }
    }

    /// Returns how often it looked, and every socket it saw.
    pub fn end(self) -> (usize, BTreeSet<String>) {
        self.stop.store(true, Ordering::Relaxed);
        self.looking.join().expect("looking cannot fail")
    }
}
