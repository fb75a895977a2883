//! What sockets hear of the sessions that they do not follow, for the lists of their pages.
//!
//! One task gathers the news for all of them: with two hundred sessions and as many pages, a write for each change on
//! each page would cost more than all that the agents say.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use chartroom_protocol::ids::SessionId;
use chartroom_sessions::Frame;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use super::text;

/// Lists that have just been told something wait so long for more. A socket that was opened meanwhile hears of what was
/// before it, too: together it is how things stand when it is sent.
const GATHER: Duration = Duration::from_millis(100);
/// And so long for each socket if there are many: whatever one session does is a write for all of them.
const FOR_EACH: Duration = Duration::from_micros(2_500);
/// A list is never further behind than this.
const LONGEST: Duration = Duration::from_millis(500);
/// How many gatherings a socket may be behind. One that is more asks for its list again when it opens it.
const BEHIND: usize = 16;

/// What changed about one session.
#[derive(Debug)]
pub(crate) struct News {
    pub(super) session_id: SessionId,
    /// The frame, which all sockets share.
    pub(super) text: Utf8Bytes,
}

/// What came together.
pub(crate) type Gathered = Arc<[News]>;

/// Starts to gather: the first news at once, and what follows it closely together. It ends with the sessions.
pub(crate) fn gather(mut news: broadcast::Receiver<(SessionId, Frame)>) -> broadcast::Receiver<Gathered> {
    let (sockets, gathered) = broadcast::channel(BEHIND);
    drop(tokio::spawn(async move {
        while let Some(all) = next(&mut news).await {
            let all = all
                .into_iter()
                .filter_map(|(session_id, frame)| Some(News { session_id, text: text(frame)? }));
            // Nobody may be looking at a list right now.
            drop(sockets.send(all.collect()));
            tokio::time::sleep(pause(sockets.receiver_count())).await;
        }
    }));
    gathered
}

/// How long news are gathered for so many sockets.
fn pause(n_sockets: usize) -> Duration {
    let for_all = FOR_EACH.saturating_mul(u32::try_from(n_sockets).unwrap_or(u32::MAX));
    for_all.clamp(GATHER, LONGEST)
}

/// Waits for news and returns all that are there; `None` when there will be no more.
async fn next(news: &mut broadcast::Receiver<(SessionId, Frame)>) -> Option<Vec<(SessionId, Frame)>> {
    let mut all = Vec::new();
    loop {
        match news.recv().await {
            Ok(first) => break all.push(first),
            // A page asks for the list again when it opens it; nothing more is lost.
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return None,
        }
    }
    loop {
        match news.try_recv() {
            Ok(more) => all.push(more),
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(all),
        }
    }
}

/// One socket's part of it.
pub(super) struct Overview(broadcast::Receiver<Gathered>);

impl Overview {
    pub(super) fn new(gathered: broadcast::Receiver<Gathered>) -> Self {
        Self(gathered)
    }

    /// Waits for news; `None` when there will be no more. May be dropped at any await.
    pub(super) async fn next(&mut self) -> Option<Gathered> {
        loop {
            match self.0.recv().await {
                Ok(gathered) => return Some(gathered),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    fn news(name: &str) -> (SessionId, Frame) {
        (SessionId::new(name), Frame { seq: None, json: name.into() })
    }

    fn names(all: Option<Gathered>) -> Vec<String> {
        all.expect("not closed").iter().map(|news| news.text.to_string()).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_news_comes_at_once_and_what_follows_it_comes_together_to_all() {
        let (sender, receiver) = broadcast::channel(16);
        let gathered = gather(receiver);
        let mut sockets = [Overview::new(gathered.resubscribe()), Overview::new(gathered)];
        let began = Instant::now();
        sender.send(news("a")).unwrap();
        for socket in &mut sockets {
            assert_eq!(names(socket.next().await), ["a"]);
        }
        assert_eq!(began.elapsed(), Duration::ZERO);
        for name in ["b", "c", "d"] {
            sender.send(news(name)).unwrap();
        }
        // A wait that is given up loses nothing.
        assert!(tokio::time::timeout(GATHER / 2, sockets[0].next()).await.is_err());
        for socket in &mut sockets {
            assert_eq!(names(socket.next().await), ["b", "c", "d"]);
        }
        assert!(began.elapsed() >= GATHER && began.elapsed() < GATHER * 2, "{:?}", began.elapsed());
    }

    #[test]
    fn the_more_pages_there_are_the_longer_news_are_gathered() {
        let pauses = [0, 1, 40, 100, 200, 5_000].map(|n_sockets| pause(n_sockets).as_millis());
        assert_eq!(pauses, [100, 100, 100, 250, 500, 500]);
    }

    #[tokio::test(start_paused = true)]
    async fn who_lags_hears_the_newest_and_then_the_end() {
        let (sender, receiver) = broadcast::channel(2);
        for name in ["a", "b", "c"] {
            sender.send(news(name)).unwrap();
        }
        let mut socket = Overview::new(gather(receiver));
        drop(sender);
        assert_eq!(names(socket.next().await), ["b", "c"]);
        assert!(socket.next().await.is_none());
    }
}
