//! The sessions that one socket follows, as one stream of frames.

use std::collections::HashMap;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::{Feed, Frame, StoreError};
use futures_util::stream::{self, AbortHandle, BoxStream, SelectAll, StreamExt as _};

/// The feeds of one socket. Each waits for its next frame; which comes first goes first.
#[derive(Default)]
pub(super) struct Feeds {
    streams: SelectAll<BoxStream<'static, FromFeed>>,
    /// Ends the stream of a session that is followed no longer.
    followed: HashMap<SessionId, AbortHandle>,
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
        let (stream, handle) = stream::abortable(frames(feed));
        if let Some(before) = self.followed.insert(session_id, handle) {
            before.abort();
        }
        self.streams.push(stream.boxed());
    }

    pub(super) fn unfollow(&mut self, session_id: &SessionId) {
        if let Some(handle) = self.followed.remove(session_id) {
            handle.abort();
        }
    }

    pub(super) fn follows(&self, session_id: &SessionId) -> bool {
        self.followed.contains_key(session_id)
    }

    /// Waits for the next frame of any feed; for ever when there is none. May be dropped at any await.
    pub(super) async fn next(&mut self) -> FromFeed {
        match self.streams.next().await {
            // A feed that was replaced says nothing more, not even that it has ended.
            Some(FromFeed::Ended(session_id, error)) => {
                self.followed.remove(&session_id);
                FromFeed::Ended(session_id, error)
            }
            Some(frame) => frame,
            None => std::future::pending().await,
        }
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
