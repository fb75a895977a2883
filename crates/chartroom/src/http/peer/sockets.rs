//! Which process holds a socket. Finding that out means a look at the descriptors of the user's processes, one after the
//! other: where it was found last, then from the newest on, since who asks has mostly just been started. (A browser has
//! a key of its own and is not looked for.)

use std::cmp::Reverse;
use std::sync::atomic::{AtomicU32, Ordering};

use chartroom_transport::process;

/// The process in which a socket was found last. There is one machine.
static FOUND: AtomicU32 = AtomicU32::new(0);

/// Returns the newest process that holds a socket, if it lets itself be seen.
pub(super) fn holder(socket: u64) -> Option<u32> {
    let link = format!("socket:[{socket}]");
    let found = in_order(FOUND.load(Ordering::Relaxed)).find(|pid| holds(*pid, &link))?;
    let own = std::process::id();
    // Until it is another program, a child that is being started holds all that we hold: what is ours too is ours. It may
    // be gone by now.
    let is_or_was_ours = || process::ancestors(found).get(1).is_none_or(|parent| *parent == own);
    if found != own && is_or_was_ours() && holds(own, &link) {
        return Some(own);
    }
    FOUND.store(found, Ordering::Relaxed);
    Some(found)
}

/// The machine's processes, the likeliest first. Ours comes last: it has the most descriptors, and asks nothing of itself.
fn in_order(likeliest: u32) -> impl Iterator<Item = u32> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<u32> = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    let own = std::process::id();
    pids.sort_unstable_by_key(|pid| (*pid != likeliest, *pid == own, Reverse(*pid)));
    pids.into_iter()
}

fn holds(pid: u32, link: &str) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .any(|target| target.as_os_str() == link)
}
