//! The sessions that one socket follows, as one stream of frames.

use std::task::{Context, Poll};

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::{Feed, Frame, StoreError};
use futures_util::stream::{self, BoxStream, StreamExt as _};

/// The feeds of one socket. All of them are asked for each frame: a page follows the few sessions that it shows, and asking
/// one that has nothing costs less than a list of those that were woken.
#[derive(Default)]
pub(super) struct Feeds {
    followed: Vec<Followed>,
    /// Which of them is asked first. They take turns, so that none has to wait for one that always has something.
    first: usize,
}

struct Followed {
    session_id: SessionId,
    frames: BoxStream<'static, FromFeed>,
}

/// What a feed said.
pub(super) enum FromFeed {
    Frame(Frame),
    /// It says nothing more; why, if that is an error.
    Ended(SessionId, Option<StoreError>),
}

impl Feeds {
    /// Follows a session; a feed of the same session that ran before is replaced.
    pub(super) fn follow(&mut self, feed: Feed) {
        let session_id = feed.session_id().clone();
        self.unfollow(&session_id);
        self.followed.push(Followed { session_id, frames: frames(feed).boxed() });
    }

    pub(super) fn unfollow(&mut self, session_id: &SessionId) {
        self.followed.retain(|followed| followed.session_id != *session_id);
    }

    pub(super) fn follows(&self, session_id: &SessionId) -> bool {
        self.followed.iter().any(|followed| followed.session_id == *session_id)
    }

    /// Waits for the next frame of any feed; for ever when there is none. May be dropped at any await.
    pub(super) async fn next(&mut self) -> FromFeed {
        std::future::poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<FromFeed> {
        let n_followed = self.followed.len();
        for index in (0..n_followed).map(|offset| (self.first + offset) % n_followed) {
            match self.followed[index].frames.poll_next_unpin(context) {
                Poll::Pending => {}
                Poll::Ready(Some(frame @ FromFeed::Frame(_))) => {
                    self.first = index + 1;
                    return Poll::Ready(frame);
                }
                Poll::Ready(ended) => {
                    let followed = self.followed.remove(index);
                    return Poll::Ready(ended.unwrap_or(FromFeed::Ended(followed.session_id, None)));
                }
            }
        }
        Poll::Pending
    }
}

fn frames(feed: Feed) -> impl stream::Stream<Item = FromFeed> + Send {
    stream::unfold(Some(feed), |feed| async move {
        let mut feed = feed?;
        let (session_id, error) = match feed.next().await {
            Ok(Some(frame)) => return Some((FromFeed::Frame(frame), Some(feed))),
            Ok(None) => (feed.session_id().clone(), None),
            Err(error) => (feed.session_id().clone(), Some(error)),
        };
        Some((FromFeed::Ended(session_id, error), None))
    })
}
