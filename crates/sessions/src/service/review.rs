//! Comments on what a session changed, and which files were looked at.

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::review::{Comment, Review, ViewedParams};

use super::SessionService;
use crate::actor::internal;
use crate::provider::ProviderError;

/// How many comments a session keeps.
const MAX_COMMENTS: usize = 500;
/// How long a comment and what it quotes may be, each.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// How long an id and a path may be.
const MAX_NAME_BYTES: usize = 4096;

impl SessionService {
    /// Returns what a person noted beside the changes of a session.
    pub async fn review(&self, session_id: &SessionId) -> Result<Review, ProviderError> {
        self.check_kept(session_id).await?;
        self.inner.store.review(session_id).await.map_err(internal)
    }

    /// Keeps a comment, or what has become of it.
    pub async fn put_comment(
        &self,
        session_id: &SessionId,
        comment: Comment,
    ) -> Result<Review, ProviderError> {
        let wrong = |message: &str| Err(ProviderError::new(ErrorCode::InvalidRequest, message));
        if comment.comment_id.is_empty() || comment.comment_id.len() > MAX_NAME_BYTES {
            return wrong("a comment needs a short id");
        }
        if comment.path.len() > MAX_NAME_BYTES {
            return wrong("the path is too long");
        }
        if comment.text.len() > MAX_TEXT_BYTES || comment.quote.len() > MAX_TEXT_BYTES {
            return wrong("the comment or what it quotes is longer than 64 KiB");
        }
        if comment.first_line == 0 || comment.last_line < comment.first_line {
            return wrong("lines count from 1, and the last one does not come before the first");
        }
        let review = self.review(session_id).await?;
        let is_known = review.comments.iter().any(|other| other.comment_id == comment.comment_id);
        if !is_known && review.comments.len() >= MAX_COMMENTS {
            return wrong("the session has 500 comments; remove some first");
        }
        self.inner.store.put_comment(session_id, comment).await.map_err(internal)
    }

    /// Forgets a comment.
    pub async fn remove_comment(
        &self,
        session_id: &SessionId,
        comment_id: &str,
    ) -> Result<Review, ProviderError> {
        self.check_kept(session_id).await?;
        self.inner.store.remove_comment(session_id, comment_id).await.map_err(internal)
    }

    /// Notes that a file was looked at, or that it was not.
    pub async fn set_viewed(
        &self,
        session_id: &SessionId,
        params: ViewedParams,
    ) -> Result<Review, ProviderError> {
        self.check_kept(session_id).await?;
        if params.path.len() + params.content.as_ref().map_or(0, String::len) > MAX_NAME_BYTES {
            return Err(ProviderError::new(ErrorCode::InvalidRequest, "the path is too long"));
        }
        self.inner
            .store
            .set_viewed(session_id, &params.path, params.content.as_deref())
            .await
            .map_err(internal)
    }

    async fn check_kept(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        let stored = self.inner.store.session(session_id).await.map_err(internal)?;
        stored.map(drop).ok_or_else(|| ProviderError::session_not_found(session_id))
    }
}
