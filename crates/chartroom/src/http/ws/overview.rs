//! What a socket hears of the sessions that it does not follow, for the lists of its page.

use std::time::Duration;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::Frame;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::time::Instant;

/// A list that has just been told something waits so long for more: with two hundred sessions and as many pages, a
/// write for each change on each page would cost more than all that the agents say.
const GATHER: Duration = Duration::from_millis(50);

/// News about all sessions, the first at once and what follows it closely together.
pub(super) struct Overview {
    news: broadcast::Receiver<(SessionId, Frame)>,
    rests_until: Option<Instant>,
}

impl Overview {
    pub(super) fn new(news: broadcast::Receiver<(SessionId, Frame)>) -> Self {
        Self { news, rests_until: None }
    }

    /// Waits for news and returns all that are there; `None` when there will be no more. May be dropped at any await.
    pub(super) async fn next(&mut self) -> Option<Vec<(SessionId, Frame)>> {
        if let Some(until) = self.rests_until {
            tokio::time::sleep_until(until).await;
            self.rests_until = None;
        }
        let mut all = Vec::new();
        loop {
            match self.news.recv().await {
                Ok(first) => break all.push(first),
                // The page asks for the list again when it opens it; nothing more is lost.
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
        loop {
            match self.news.try_recv() {
                Ok(more) => all.push(more),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.rests_until = Some(Instant::now() + GATHER);
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn news(name: &str) -> (SessionId, Frame) {
        (SessionId::new(name), Frame { seq: None, json: name.into() })
    }

    fn names(all: Option<Vec<(SessionId, Frame)>>) -> Vec<String> {
        all.expect("not closed").into_iter().map(|(id, _)| id.to_string()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_news_comes_at_once_and_what_follows_it_comes_together() {
        let (sender, receiver) = broadcast::channel(16);
        let mut overview = Overview::new(receiver);
        let began = Instant::now();
        sender.send(news("a")).unwrap();
        assert_eq!(names(overview.next().await), ["a"]);
        assert_eq!(began.elapsed(), Duration::ZERO);
        for name in ["b", "c", "d"] {
            sender.send(news(name)).unwrap();
        }
        // A wait that is given up loses nothing.
        assert!(tokio::time::timeout(GATHER / 2, overview.next()).await.is_err());
        assert_eq!(names(overview.next().await), ["b", "c", "d"]);
        assert_eq!(began.elapsed(), GATHER);
    }

    #[tokio::test(start_paused = true)]
    async fn who_lags_hears_the_newest_and_then_the_end() {
        let (sender, receiver) = broadcast::channel(2);
        let mut overview = Overview::new(receiver);
        for name in ["a", "b", "c"] {
            sender.send(news(name)).unwrap();
        }
        drop(sender);
        assert_eq!(names(overview.next().await), ["b", "c"]);
        assert!(overview.next().await.is_none());
    }
}
