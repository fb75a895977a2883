//! The sessions that one socket follows, as one stream of frames.

use std::collections::HashMap;

use chartroom_protocol::ids::SessionId;
use chartroom_sessions::{Feed, Frame, StoreError};
use futures_util::future::{AbortHandle, Abortable, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt as _};

/// The feeds of one socket. Each waits for its next frame; which comes first goes first.
#[derive(Default)]
pub(super) struct Feeds {
    waiting: FuturesUnordered<BoxFuture<'static, Step>>,
    /// Ends the wait of a session that is followed no longer.
    followed: HashMap<SessionId, AbortHandle>,
}

/// What became of one wait: nothing when it was ended by us.
type Step = Option<(Feed, AbortHandle, Result<Option<Frame>, StoreError>)>;

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
        let (handle, registration) = AbortHandle::new_pair();
        if let Some(before) = self.followed.insert(session_id, handle.clone()) {
            before.abort();
        }
        self.wait(feed, handle, registration);
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
        loop {
            match self.waiting.next().await {
                None => std::future::pending().await,
                Some(None) => {}
                Some(Some((feed, handle, said))) => {
                    if handle.is_aborted() {
                        continue;
                    }
                    let session_id = feed.session_id().clone();
                    match said {
                        Ok(Some(frame)) => {
                            let (next, registration) = AbortHandle::new_pair();
                            self.followed.insert(session_id, next.clone());
                            self.wait(feed, next, registration);
                            return FromFeed::Frame(frame);
                        }
                        Ok(None) => {
                            self.followed.remove(&session_id);
                            return FromFeed::Ended(session_id, None);
                        }
                        Err(error) => {
                            self.followed.remove(&session_id);
                            return FromFeed::Ended(session_id, Some(error));
                        }
                    }
                }
            }
        }
    }

    fn wait(
        &self,
        mut feed: Feed,
        handle: AbortHandle,
        registration: futures_util::future::AbortRegistration,
    ) {
        let step = async move {
            let said = feed.next().await;
            (feed, handle, said)
        };
        let step = Abortable::new(step, registration);
        self.waiting.push(Box::pin(async move { step.await.ok() }));
    }
}
