//! Errors as the API says them: `{"error":{"code","message"}}`.

use serde::{Deserialize, Serialize};

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ErrorResponse {
    pub error: ErrorBody,
}

#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ErrorBody {
    pub code: ErrorCode,
    /// What is wrong, where, and what to do about it.
    pub message: String,
}

/// Every code the API answers with.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
    ts_rs::TS,
    utoipa::ToSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    // Providers.
    UnsupportedCliType,
    SessionNotFound,
    ProcessCrash,
    ProtocolError,
    InvalidStreamEvent,
    InterruptFailed,
    SessionCreateFailed,
    ResponseError,
    // Sessions and projects.
    ProjectIdRequired,
    InvalidPath,
    DuplicateProject,
    NotFound,
    WorkspaceUntrusted,
    QuestionNotFound,
    QueuedMessageNotFound,
    AgentNotInstalled,
    MessageTooLarge,
    // The front door.
    InvalidRequest,
    Unauthorized,
    ForbiddenOrigin,
    ForbiddenHost,
    UnsupportedMediaType,
    PayloadTooLarge,
    MethodNotAllowed,
    Internal,
}

impl ErrorCode {
    /// Returns the code as it stands on the wire, e.g. `SESSION_NOT_FOUND`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnsupportedCliType => "UNSUPPORTED_CLI_TYPE",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::ProcessCrash => "PROCESS_CRASH",
            Self::ProtocolError => "PROTOCOL_ERROR",
            Self::InvalidStreamEvent => "INVALID_STREAM_EVENT",
            Self::InterruptFailed => "INTERRUPT_FAILED",
            Self::SessionCreateFailed => "SESSION_CREATE_FAILED",
            Self::ResponseError => "RESPONSE_ERROR",
            Self::ProjectIdRequired => "PROJECT_ID_REQUIRED",
            Self::InvalidPath => "INVALID_PATH",
            Self::DuplicateProject => "DUPLICATE_PROJECT",
            Self::NotFound => "NOT_FOUND",
            Self::WorkspaceUntrusted => "WORKSPACE_UNTRUSTED",
            Self::QuestionNotFound => "QUESTION_NOT_FOUND",
            Self::QueuedMessageNotFound => "QUEUED_MESSAGE_NOT_FOUND",
            Self::AgentNotInstalled => "AGENT_NOT_INSTALLED",
            Self::MessageTooLarge => "MESSAGE_TOO_LARGE",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::ForbiddenOrigin => "FORBIDDEN_ORIGIN",
            Self::ForbiddenHost => "FORBIDDEN_HOST",
            Self::UnsupportedMediaType => "UNSUPPORTED_MEDIA_TYPE",
            Self::PayloadTooLarge => "PAYLOAD_TOO_LARGE",
            Self::MethodNotAllowed => "METHOD_NOT_ALLOWED",
            Self::Internal => "INTERNAL",
        }
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
