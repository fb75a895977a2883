//! The clock as a value: the pure parts take a [`Now`], the tasks make one with a [`Clock`].

use std::time::Duration;

use tokio::time::Instant;

/// One moment, on both clocks that matter: batching counts on the monotonic one, timestamps show the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// Time since some fixed start; never goes back.
    pub monotonic: Duration,
    /// The wall clock's time, for what is written down.
    pub wall: jiff::Timestamp,
}

impl Now {
    /// Returns the moment `ms` milliseconds after the epoch on both clocks; for tests and recordings.
    pub fn at_ms(ms: u32) -> Self {
        Self {
            monotonic: Duration::from_millis(u64::from(ms)),
            wall: jiff::Timestamp::from_millisecond(i64::from(ms))
                .expect("every u32 of milliseconds is within jiff's range"),
        }
    }

    /// Returns the wall time as it stands on the wire: ISO 8601 in UTC with milliseconds.
    pub fn iso(&self) -> String {
        format!("{:.3}", self.wall)
    }
}

/// Makes [`Now`]s. It follows tokio's clock, so a test that pauses time pauses batching too.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// Starts counting.
    pub fn start() -> Self {
        Self { start: Instant::now() }
    }

    /// Returns this moment.
    pub fn now(&self) -> Now {
        Now { monotonic: self.start.elapsed(), wall: jiff::Timestamp::now() }
    }

    /// Returns when `monotonic` will be, for sleeping until a deadline.
    pub fn instant(&self, monotonic: Duration) -> Instant {
        self.start + monotonic
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::start()
    }
}

#[cfg(test)]
mod tests {
    use super::Now;

    #[test]
    fn the_wall_clock_is_written_in_utc_with_milliseconds() {
        assert_eq!(Now::at_ms(0).iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Now::at_ms(61_005).iso(), "1970-01-01T00:01:01.005Z");
    }
}
