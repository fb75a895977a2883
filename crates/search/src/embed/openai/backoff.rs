//! How long to wait before asking again, and when to stop.

use std::time::Duration;

use super::OpenAiConfig;

/// What a failed request means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The same request may be answered later; the server may say when.
    Retry { after: Option<Duration> },
    /// It will be refused again.
    Final,
}

/// What is left of the willingness to ask again.
pub(super) struct Patience {
    left: u32,
    wait: Duration,
    longest: Duration,
}

impl Patience {
    pub(super) fn new(config: &OpenAiConfig) -> Self {
        Self {
            left: config.attempts.saturating_sub(1),
            wait: config.first_wait,
            longest: config.longest_wait,
        }
    }

    /// The next wait: what the server asks for, else twice the last one; none when patience has ended.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        let wait = asked.unwrap_or(self.wait).min(self.longest);
        self.wait = self.wait.saturating_mul(2);
        Some(wait)
    }
}

/// Waits. There is no signal to wait for: the server only said "later". Embedding runs on a blocking thread.
#[allow(clippy::disallowed_methods, reason = "a server's Retry-After is time, not a signal")]
pub(super) fn pause(wait: Duration) {
    std::thread::sleep(wait);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_obey_the_server() {
        let seconds = Duration::from_secs;
        let config = OpenAiConfig {
            attempts: 6,
            first_wait: seconds(1),
            longest_wait: seconds(5),
            ..OpenAiConfig::default()
        };
        let mut patience = Patience::new(&config);
        let waits: Vec<_> = [None, None, Some(seconds(3)), Some(seconds(999)), None, None]
            .into_iter()
            .map(|asked| patience.next(asked).map(|wait| wait.as_secs()))
            .collect();
        assert_eq!(waits, [Some(1), Some(2), Some(3), Some(5), Some(5), None]);
    }
}
