//! What can go wrong with an agent, with the code that the API answers.

use std::sync::Arc;

use chartroom_protocol::error::ErrorCode;
use chartroom_protocol::ids::{CliType, SessionId};
use chartroom_protocol::stream::ErrorDetail;

/// One failure of an agent. The code is what a caller decides by; the message is for a person.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// What the API answers with.
    pub code: ErrorCode,
    /// A sentence for people that names the thing.
    pub message: String,
    /// What was behind it, for the log.
    #[source]
    pub cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl ProviderError {
    /// Makes an error without a cause.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), cause: None }
    }

    /// Keeps what caused it.
    pub fn with_cause(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.cause = Some(Arc::new(cause));
        self
    }

    /// Returns the error for an agent that is not configured.
    pub fn unsupported_cli_type(cli_type: &CliType) -> Self {
        Self::new(
            ErrorCode::UnsupportedCliType,
            format!("no agent is configured under the name {:?}", cli_type.as_str()),
        )
    }

    /// Returns the error for a session that nobody knows.
    pub fn session_not_found(session_id: &SessionId) -> Self {
        Self::new(ErrorCode::SessionNotFound, format!("there is no session {session_id}"))
    }

    /// The process is gone, or went while we talked to it.
    pub fn process_crash(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ProcessCrash, message)
    }

    /// The agent said something that its protocol does not allow, or nothing where it must.
    pub fn protocol(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::ProtocolError, message)
    }

    /// Returns the error for a cancellation that the agent did not take.
    pub fn interrupt_failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InterruptFailed, message)
    }

    /// Returns the error for a session that the agent did not open.
    pub fn create_failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::SessionCreateFailed, message)
    }

    /// Returns the error as a turn or an item carries it.
    pub fn detail(&self) -> ErrorDetail {
        ErrorDetail { code: self.code.to_string(), message: self.message.clone() }
    }
}
