//! Which of two versions of an entry is kept when two processes wrote one.

use jiff::Timestamp;

use super::entry::{CodebaseInfo, CodebaseState};

/// An `indexing` record without news for so long loses against any other (merge only; a live run is told by its
/// lease, never by the clock).
pub(crate) const INDEXING_STALE_MS: i64 = 600_000;

/// Which side is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preferred {
    Disk,
    Local,
}

/// Chooses between the entry on disk and ours.
///
/// A later lease generation is a later writer, whatever the clocks say. Within one generation the classes decide:
/// indexing over failed over searchable, unless one side is `indexing` and the other is strictly newer or the
/// indexing record is stale; within one class the newer, on a tie ours.
pub(crate) fn preferred(disk: &CodebaseInfo, local: &CodebaseInfo, now: Timestamp) -> Preferred {
    if disk.lease_generation != local.lease_generation {
        return if local.lease_generation > disk.lease_generation {
            Preferred::Local
        } else {
            Preferred::Disk
        };
    }
    let disk_indexing = percentage(&disk.state);
    let local_indexing = percentage(&local.state);
    match (disk_indexing, local_indexing) {
        (Some(disk_percentage), Some(local_percentage)) => {
            match (is_stale(disk, now), is_stale(local, now)) {
                (true, false) => Preferred::Local,
                (false, true) => Preferred::Disk,
                (true, true) | (false, false) if disk_percentage > local_percentage => Preferred::Disk,
                (true, true) | (false, false) if disk_percentage < local_percentage => Preferred::Local,
                (true, true) | (false, false) => newer(disk, local),
            }
        }
        (Some(_), None) if is_stale(disk, now) || is_newer(local, disk) => Preferred::Local,
        (Some(_), None) => Preferred::Disk,
        (None, Some(_)) if is_stale(local, now) || is_newer(disk, local) => Preferred::Disk,
        (None, Some(_)) => Preferred::Local,
        (None, None) => match rank(&disk.state).cmp(&rank(&local.state)) {
            std::cmp::Ordering::Greater => Preferred::Disk,
            std::cmp::Ordering::Less => Preferred::Local,
            std::cmp::Ordering::Equal => newer(disk, local),
        },
    }
}

fn rank(state: &CodebaseState) -> u8 {
    match state {
        CodebaseState::Indexing { .. } => 3,
        CodebaseState::IndexFailed { .. } | CodebaseState::RequiresReindex { .. } => 2,
        CodebaseState::Indexed { .. } | CodebaseState::SyncCompleted { .. } => 1,
    }
}

fn percentage(state: &CodebaseState) -> Option<f64> {
    match state {
        CodebaseState::Indexing { indexing_percentage } => Some(*indexing_percentage),
        _ => None,
    }
}

fn time(info: &CodebaseInfo) -> Option<Timestamp> {
    info.last_updated.parse().ok()
}

fn is_stale(info: &CodebaseInfo, now: Timestamp) -> bool {
    time(info).is_none_or(|time| now.as_millisecond() - time.as_millisecond() > INDEXING_STALE_MS)
}

fn is_newer(one: &CodebaseInfo, than: &CodebaseInfo) -> bool {
    time(one) > time(than)
}

fn newer(disk: &CodebaseInfo, local: &CodebaseInfo) -> Preferred {
    if is_newer(disk, local) { Preferred::Disk } else { Preferred::Local }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::entry::BuildStatus;

    const NOW: &str = "2026-01-01T01:00:00Z";

    fn info(state: &str, minute: &str) -> CodebaseInfo {
        let state = match state {
            "indexed" => CodebaseState::Indexed {
                indexed_files: 1,
                total_chunks: 1,
                index_status: BuildStatus::Completed,
            },
            "failed" => {
                CodebaseState::IndexFailed { error_message: "x".into(), last_attempted_percentage: None }
            }
            percent => CodebaseState::Indexing { indexing_percentage: percent.parse().unwrap() },
        };
        let time = if minute == "bad" { "not a time".into() } else { format!("2026-01-01T00:{minute}:00Z") };
        CodebaseInfo::new(state, &time)
    }

    #[track_caller]
    fn check(disk: (&str, &str), local: (&str, &str), expected: Preferred) {
        let now = NOW.parse().unwrap();
        assert_eq!(preferred(&info(disk.0, disk.1), &info(local.0, local.1), now), expected);
    }

    #[test]
    fn indexing_wins_over_failed_and_failed_over_indexed() {
        check(("failed", "55"), ("50", "55"), Preferred::Local);
        check(("50", "55"), ("failed", "55"), Preferred::Disk);
        check(("failed", "50"), ("indexed", "55"), Preferred::Disk);
        check(("indexed", "55"), ("failed", "50"), Preferred::Local);
    }

    #[test]
    fn a_strictly_newer_other_state_ends_indexing() {
        check(("50", "55"), ("indexed", "56"), Preferred::Local);
        check(("indexed", "56"), ("50", "55"), Preferred::Disk);
        check(("50", "55"), ("indexed", "55"), Preferred::Disk);
    }

    #[test]
    fn a_stale_or_timeless_indexing_record_loses() {
        check(("50", "49"), ("indexed", "10"), Preferred::Local);
        check(("50", "bad"), ("failed", "10"), Preferred::Local);
        check(("indexed", "10"), ("50", "49"), Preferred::Disk);
    }

    #[test]
    fn of_two_indexing_records_the_live_then_the_further_wins() {
        check(("90", "40"), ("10", "55"), Preferred::Local);
        check(("10", "55"), ("90", "40"), Preferred::Disk);
        check(("90", "55"), ("10", "56"), Preferred::Disk);
        check(("10", "55"), ("10", "55"), Preferred::Local);
    }

    #[test]
    fn within_a_class_the_newer_wins_and_ties_are_ours() {
        check(("indexed", "55"), ("indexed", "54"), Preferred::Disk);
        check(("indexed", "55"), ("indexed", "55"), Preferred::Local);
        check(("failed", "54"), ("failed", "55"), Preferred::Local);
    }

    #[test]
    fn a_later_lease_generation_wins_over_every_rule() {
        let now = NOW.parse().unwrap();
        let disk = info("failed", "59");
        let mut local = info("indexed", "10");
        local.lease_generation = 1;
        assert_eq!(preferred(&disk, &local, now), Preferred::Local);
        assert_eq!(preferred(&local, &disk, now), Preferred::Disk);
    }
}
