//! Looking at processes that are not our children: who is below whom, and whether a pid still means the same.

use rustix::process::Pid;

/// Returns when a process started, in the kernel's ticks since boot; `None` when it is gone.
///
/// A pid is given out again; a pid with its start time is not.
#[cfg(target_os = "linux")]
pub fn start_time(pid: u32) -> Option<u64> {
    let fields = stat_fields(pid)?;
    // A zombie has ended, it only waits to be collected.
    (fields.state != 'Z').then_some(fields.start_time)
}

/// Without `/proc` a pid cannot be told from one that was given out again.
#[cfg(not(target_os = "linux"))]
pub fn start_time(_pid: u32) -> Option<u64> {
    None
}

/// How often a line of parents is begun anew, because one of them ended while it was followed.
#[cfg(target_os = "linux")]
const WALKS: usize = 16;

/// Returns a process and its parents, the nearest first.
#[cfg(target_os = "linux")]
pub fn ancestors(pid: u32) -> Vec<u32> {
    (0..WALKS).find_map(|_| line_of_parents(pid)).unwrap_or_else(|| vec![pid])
}

/// `None` when a parent ended meanwhile: its children have another one then, and the line leads elsewhere.
#[cfg(target_os = "linux")]
fn line_of_parents(pid: u32) -> Option<Vec<u32>> {
    let mut line = vec![pid];
    while let Some(last) = line.last() {
        let parent = match stat_fields(*last) {
            Some(fields) => fields.parent,
            None if line.len() == 1 => break,
            None => return None,
        };
        // Pids are given out again while we look: a circle must not keep us.
        if parent == 0 || line.contains(&parent) {
            break;
        }
        line.push(parent);
    }
    Some(line)
}

/// Without `/proc` nobody is known.
#[cfg(not(target_os = "linux"))]
pub fn ancestors(pid: u32) -> Vec<u32> {
    vec![pid]
}

/// Returns every process whose line of parents leads to `pid`, nearest first.
#[cfg(target_os = "linux")]
pub fn descendants(pid: u32) -> Vec<Pid> {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, stat_fields(pid)?.parent)))
        .collect();
    let mut below = vec![pid];
    let mut next = 0;
    while next < below.len() {
        let parent = below[next];
        below.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(pid, _)| *pid));
        next += 1;
    }
    below.into_iter().skip(1).filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?)).collect()
}

/// Without `/proc` nobody is known.
#[cfg(not(target_os = "linux"))]
pub fn descendants(_pid: u32) -> Vec<Pid> {
    Vec::new()
}

#[cfg(target_os = "linux")]
struct StatFields {
    state: char,
    parent: u32,
    start_time: u64,
}

#[cfg(target_os = "linux")]
fn stat_fields(pid: u32) -> Option<StatFields> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name, in parentheses, may hold anything: the fields begin after the last one.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
    Some(StatFields {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start_time: fields.get(19)?.parse().ok()?,
    })
}
