//! Changes that a server does not see by itself when it looks at a file again, because it keeps what it has read of others.
//!
//! clang keeps what it has read of the headers that a file begins with, for as long as each has the size and the second that
//! it had, and it does not look for those that were not there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chartroom_workspace::watch::Change;
use tokio::time::Instant;

use super::owner::Owner;
use super::state::State;

/// A server may be reading for a moment after it was told something, or while it says something.
const MARGIN: Duration = Duration::from_secs(1);

impl Owner {
    /// Marks the open files for which one of these changes may remain unseen.
    pub(super) fn outdate(&mut self, changes: &BTreeMap<PathBuf, Change>) {
        if !self.quirks.wants_to_be_forced || self.state.borrow().open.is_empty() {
            return;
        }
        let may_be_unseen = changes.iter().filter(|(_, change)| **change != Change::Deleted);
        let times: Vec<(&Path, Option<SystemTime>)> = may_be_unseen
            .map(|(file, change)| {
                let is_new = *change == Change::Created;
                (file.as_path(), if is_new { None } else { self.disk_changes.modified(file) })
            })
            .collect();
        if times.is_empty() {
            return;
        }
        let (now, time) = (Instant::now(), SystemTime::now());
        self.change_quietly(|state, _| {
            let State { open, results, told, .. } = state;
            for (file, open) in open.iter_mut() {
                let push = results.get(file).and_then(|results| results.push.as_ref());
                // It has had this text, and may be reading for the first time.
                let is_answered = push.is_some_and(|push| push.version.is_none_or(|it| it >= open.version));
                let read = push.map(|push| push.at).max(*told).filter(|_| is_answered);
                let read = read.and_then(|read| time.checked_sub(now.saturating_duration_since(read)));
                let mut others = times.iter().filter(|(other, _)| *other != file);
                open.is_outdated |= others.any(|(_, written)| !is_seen(*written, read));
            }
        });
    }
}

/// Tells whether a file that was written then, and was there before, differs in its second from what was read until then.
fn is_seen(written: Option<SystemTime>, read: Option<SystemTime>) -> bool {
    let second = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    match (written, read) {
        (Some(written), Some(read)) => second(written) > second(read + MARGIN),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: Option<u64>, read: Option<u64>, expected: bool) {
        let at = |millis: Option<u64>| millis.map(|millis| UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(is_seen(at(written), at(read)), expected, "written at {written:?}, read until {read:?}");
    }

    #[test]
    fn a_change_is_seen_when_its_second_is_a_later_one() {
        check(Some(13_000), Some(10_900), true);
        // `mv` keeps the time, and a quick edit has the second of the one before.
        check(Some(5_000), Some(10_900), false);
        check(Some(10_950), Some(10_900), false);
        check(Some(11_000), Some(10_900), false);
        // It was not there, or nothing was said of the text yet.
        check(None, Some(10_900), false);
        check(Some(13_000), None, false);
    }
}
