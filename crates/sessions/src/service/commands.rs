//! What can be asked of one session.

use chartroom_protocol::context::ContextResponse;
use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::SessionId;
use chartroom_protocol::session::{
    AnswerParams, QueueParams, QueueResponse, SendParams, SendResponse, SessionOptions, SessionResponse,
    SessionStatusResponse,
};
use tokio::sync::oneshot;

use super::{SessionHandle, SessionService};
use crate::actor::{Command, Reply, internal};
use crate::feed::{Feed, Frame, HISTORY_BYTES, history_frame};
use crate::provider::ProviderError;

/// A longer text is a file's job. The agents' own input lines take more, but nobody reads it.
const MESSAGE_BYTES: usize = 1 << 20;
/// Base64 of all images together.
const IMAGE_BYTES: usize = 10 << 20;
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

impl SessionService {
    /// Starts the agent on a session that exists, ours or one found outside, which becomes ours.
    pub async fn load(&self, session_id: &SessionId) -> Result<SessionResponse, ProviderError> {
        self.adopt(session_id).await?;
        self.ask(session_id, |reply| Command::Load { reply }).await
    }

    /// Returns what a session is doing; its agent is not started for it.
    pub async fn status(&self, session_id: &SessionId) -> Result<SessionStatusResponse, ProviderError> {
        self.ask(session_id, |reply| Command::Status { reply }).await
    }

    /// Accepts a message: when this returns it is on the disk and will be delivered, at once or after the running
    /// turn.
    pub async fn send(
        &self,
        session_id: &SessionId,
        params: SendParams,
    ) -> Result<SendResponse, ProviderError> {
        check_message(&params)?;
        self.ask(session_id, |reply| Command::Send { params, reply }).await
    }

    /// Interrupts the running turn, if there is one.
    pub async fn cancel(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::Cancel { reply }).await
    }

    /// Ends the agent and returns when its processes are gone.
    pub async fn kill(&self, session_id: &SessionId) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::Kill { reply }).await
    }

    /// Answers a question; the second to answer the same one gets `QUESTION_NOT_FOUND`.
    pub async fn answer(&self, session_id: &SessionId, params: AnswerParams) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::Answer { params, reply }).await
    }

    /// Returns the messages that wait.
    pub async fn queue(&self, session_id: &SessionId) -> Result<QueueResponse, ProviderError> {
        let handle = self.handle(session_id).await?;
        Ok(QueueResponse { messages: handle.broadcast.current().queue })
    }

    /// Changes a message that waits, and returns what still waits.
    pub async fn change_queue(
        &self,
        session_id: &SessionId,
        change: QueueParams,
    ) -> Result<QueueResponse, ProviderError> {
        if let QueueParams::Edit { message, .. } = &change {
            check_text(message)?;
        }
        self.ask(session_id, |reply| Command::ChangeQueue { change, reply }).await
    }

    /// Switches the model, from the next turn on.
    pub async fn set_model(&self, session_id: &SessionId, model: String) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::SetModel { model, reply }).await
    }

    /// Switches the permission mode.
    pub async fn set_mode(&self, session_id: &SessionId, mode: String) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::SetMode { mode, reply }).await
    }

    /// Gives a title of 1 to 200 characters; white space is collapsed.
    pub async fn set_title(&self, session_id: &SessionId, title: &str) -> Result<(), ProviderError> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() || title.chars().count() > 200 {
            return Err(ProviderError::new(ErrorCode::InvalidRequest, "title: expected 1 to 200 characters"));
        }
        self.ask(session_id, |reply| Command::SetTitle { title, reply }).await
    }

    /// Puts a session away, or back into the list.
    pub async fn set_archived(&self, session_id: &SessionId, archived: bool) -> Result<(), ProviderError> {
        self.ask(session_id, |reply| Command::SetArchived { archived, reply }).await
    }

    /// Returns what the composer can offer; empty until the agent has told.
    pub async fn options(&self, session_id: &SessionId) -> Result<SessionOptions, ProviderError> {
        let handle = self.handle(session_id).await?;
        Ok(handle.broadcast.current().options.unwrap_or_default())
    }

    /// Asks the agent what fills its context window.
    pub async fn context_use(&self, session_id: &SessionId) -> Result<ContextResponse, ProviderError> {
        self.ask(session_id, |reply| Command::ContextUse { reply }).await
    }

    /// Returns the state as a `session:history` frame, or the part of it before a place.
    pub async fn history(&self, session_id: &SessionId, before: Option<u64>) -> Result<Frame, ProviderError> {
        self.handle(session_id).await?;
        let page = self.inner.store.history(session_id, before, HISTORY_BYTES).await.map_err(internal)?;
        Ok(history_frame(session_id, &page))
    }

    /// Follows a session: what came after `after_seq` (everything, without it), then live.
    pub async fn subscribe(
        &self,
        session_id: &SessionId,
        after_seq: Option<u64>,
    ) -> Result<Feed, ProviderError> {
        let handle = self.handle(session_id).await?;
        Ok(Feed::new(self.inner.store.clone(), handle.broadcast, after_seq))
    }

    async fn ask<T>(
        &self,
        session_id: &SessionId,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, ProviderError> {
        let handle = self.handle(session_id).await?;
        ask(&handle, command).await
    }
}

pub(super) async fn ask<T>(
    handle: &SessionHandle,
    command: impl FnOnce(Reply<T>) -> Command,
) -> Result<T, ProviderError> {
    let gone = || ProviderError::new(ErrorCode::Internal, "the server is stopping");
    let (reply, answer) = oneshot::channel();
    handle.commands.send(command(reply)).await.map_err(|_closed| gone())?;
    answer.await.map_err(|_dropped| gone())?
}

fn check_message(params: &SendParams) -> Result<(), ProviderError> {
    check_text(&params.message)?;
    if params.message.trim().is_empty() && params.images.is_empty() {
        return Err(ProviderError::new(ErrorCode::InvalidRequest, "message: is empty"));
    }
    let n_bytes: usize = params.images.iter().map(|image| image.data.len()).sum();
    if n_bytes > IMAGE_BYTES {
        return Err(ProviderError::new(
            ErrorCode::MessageTooLarge,
            format!("images: {} of at most {}; send smaller ones", mib(n_bytes), mib(IMAGE_BYTES)),
        ));
    }
    match params.images.iter().find(|image| !IMAGE_TYPES.contains(&image.media_type.as_str())) {
        Some(image) => Err(ProviderError::new(
            ErrorCode::InvalidRequest,
            format!("images: {:?} is none of {}", image.media_type, IMAGE_TYPES.join(", ")),
        )),
        None => Ok(()),
    }
}

fn check_text(message: &str) -> Result<(), ProviderError> {
    if message.len() <= MESSAGE_BYTES {
        return Ok(());
    }
    Err(ProviderError::new(
        ErrorCode::MessageTooLarge,
        format!(
            "message: {} of at most {}; put it into a file and name the file",
            mib(message.len()),
            mib(MESSAGE_BYTES)
        ),
    ))
}

fn mib(n_bytes: usize) -> String {
    let tenths = n_bytes.saturating_mul(10) >> 20;
    format!("{}.{} MiB", tenths / 10, tenths % 10)
}
