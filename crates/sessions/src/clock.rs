//! The clock as a value: the pure parts take a [`Now`], the tasks make one with a [`Clock`].

use std::pin::Pin;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

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
        // Three of them are written for every event, and general formatting was a thirtieth of what it cost.
        let wall = jiff::tz::Offset::UTC.to_datetime(self.wall);
        let Ok(year) = u32::try_from(wall.year()) else { return format!("{:.3}", self.wall) };
        let millisecond = u32::from(wall.millisecond().unsigned_abs());
        let mut text = *b"0000-00-00T00:00:00.000Z";
        for (place, number) in [
            (0, year / 100),
            (2, year % 100),
            (5, u32::from(wall.month().unsigned_abs())),
            (8, u32::from(wall.day().unsigned_abs())),
            (11, u32::from(wall.hour().unsigned_abs())),
            (14, u32::from(wall.minute().unsigned_abs())),
            (17, u32::from(wall.second().unsigned_abs())),
            (20, millisecond / 10),
        ] {
            text[place] += (number / 10 % 10) as u8;
            text[place + 1] += (number % 10) as u8;
        }
        text[22] += (millisecond % 10) as u8;
        std::str::from_utf8(&text).map_or_else(|_not_ascii| format!("{:.3}", self.wall), str::to_owned)
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

/// A timer for a far deadline that moves on with nearly every event: it is left where it is, and set again when it went off
/// too early. Setting it each time would take the lock of all timers each time. For a near deadline it would cost more
/// than that: each time it goes off too early wakes the task for nothing.
pub(crate) struct LazyTimer(Pin<Box<Sleep>>);

impl LazyTimer {
    pub(crate) fn new() -> Self {
        Self(Box::pin(tokio::time::sleep(Duration::ZERO)))
    }

    /// Waits until then; for ever if there is no such moment. May be dropped at any await and called again.
    pub(crate) async fn until(&mut self, deadline: Option<Instant>) {
        let Some(deadline) = deadline else { return std::future::pending().await };
        while Instant::now() < deadline {
            if self.0.is_elapsed() || self.0.deadline() > deadline {
                self.0.as_mut().reset(deadline);
            }
            self.0.as_mut().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{LazyTimer, Now};

    #[test]
    fn the_wall_clock_is_written_as_the_library_writes_it() {
        // From before the epoch to the year 9936, with steps that are no whole minutes, hours or days.
        for step in 0..4000_i64 {
            let millisecond = -1_000_000_000 + step * 62_850_611_117;
            let wall = jiff::Timestamp::from_millisecond(millisecond).unwrap();
            let now = Now { monotonic: Duration::ZERO, wall };
            assert_eq!(now.iso(), format!("{wall:.3}"));
        }
        let wall = jiff::Timestamp::new(1, 999_999_999).unwrap();
        assert_eq!(Now { monotonic: Duration::ZERO, wall }.iso(), format!("{wall:.3}"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_lazy_timer_keeps_a_deadline_that_moves_either_way() {
        let mut timer = LazyTimer::new();
        let began = Instant::now();
        let at = |seconds| Some(began + Duration::from_secs(seconds));
        for seconds in [10, 20, 30] {
            assert!(tokio::time::timeout(Duration::from_secs(1), timer.until(at(seconds))).await.is_err());
        }
        timer.until(at(15)).await;
        assert_eq!(began.elapsed(), Duration::from_secs(15));
        timer.until(at(40)).await;
        assert_eq!(began.elapsed(), Duration::from_secs(40));
        timer.until(at(1)).await;
        assert_eq!(began.elapsed(), Duration::from_secs(40));
        assert!(tokio::time::timeout(Duration::from_secs(1), timer.until(at(100))).await.is_err());
        timer.until(at(60)).await;
        assert_eq!(began.elapsed(), Duration::from_secs(60));
        assert!(tokio::time::timeout(Duration::from_secs(1), timer.until(None)).await.is_err());
    }

    #[test]
    fn the_wall_clock_is_written_in_utc_with_milliseconds() {
        assert_eq!(Now::at_ms(0).iso(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Now::at_ms(61_005).iso(), "1970-01-01T00:01:01.005Z");
    }
}
