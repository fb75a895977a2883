//! The part of a run in which every session streams: what an event costs by itself is counted there. Before it messages are
//! sent and turns begin, after it they end, which costs as much as some thirty events each.

use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;

use crate::server::cpu_ms;

/// What was counted when the window opened or closed.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Mark {
    cpu_ms: f64,
    n_events: usize,
}

/// Told of every event by the readers.
#[derive(Debug)]
pub(super) struct Window {
    pid: u32,
    n_sessions: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    n_begun: usize,
    n_events: usize,
    opened: Option<Mark>,
    closed: Option<Mark>,
}

impl Window {
    pub(super) fn new(pid: u32, n_sessions: usize) -> Self {
        Self { pid, n_sessions, counts: Mutex::default() }
    }

    /// Notes an event of a session; the first one of the last session opens the window.
    pub(super) fn event(&self, is_first: bool) -> anyhow::Result<()> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.n_events += 1;
        counts.n_begun += usize::from(is_first);
        if counts.opened.is_none() && counts.n_begun == self.n_sessions {
            counts.opened = Some(Mark { cpu_ms: cpu_ms(self.pid)?, n_events: counts.n_events });
        }
        Ok(())
    }

    /// Notes that a session has said everything; the first one closes the window.
    pub(super) fn end(&self) -> anyhow::Result<()> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if counts.closed.is_none() {
            counts.closed = Some(Mark { cpu_ms: cpu_ms(self.pid)?, n_events: counts.n_events });
        }
        Ok(())
    }

    /// Returns what 1,000 events took of the processor while all sessions streamed.
    pub(super) fn cpu_per_thousand(&self) -> anyhow::Result<f64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = counts.opened.context("not every session said something")?;
        let closed = counts.closed.context("no session came to its end")?;
        let n_events = closed.n_events.checked_sub(opened.n_events).filter(|n_events| *n_events > 0);
        let n_events = n_events.context("the first session ended before the last one began: take longer")?;
        Ok((closed.cpu_ms - opened.cpu_ms) / (n_events as f64 / 1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_count_from_when_all_have_begun_until_the_first_ends() {
        let window = Window::new(std::process::id(), 2);
        window.event(true).unwrap();
        window.event(false).unwrap();
        assert!(window.cpu_per_thousand().is_err());
        window.event(true).unwrap();
        window.end().unwrap();
        assert!(window.cpu_per_thousand().unwrap_err().to_string().contains("take longer"));
        let window = Window::new(std::process::id(), 1);
        window.event(true).unwrap();
        window.event(false).unwrap();
        window.end().unwrap();
        window.event(false).unwrap();
        window.end().unwrap();
        let counts = window.counts.lock().unwrap();
        assert_eq!((counts.opened.unwrap().n_events, counts.closed.unwrap().n_events), (1, 2));
    }
}
