//! Errors as the API says them: `{"error":{"code","message"}}`.

use serde::{Deserialize, Serialize};

/// The body of every answer that is not 2xx.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ErrorResponse {
    /// What went wrong.
    pub error: ErrorBody,
}

/// A code for programs and a sentence for people.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema, ts_rs::TS, utoipa::ToSchema,
)]
pub struct ErrorBody {
    /// Says which kind of failure it is; clients decide by it.
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
    /// No agent is configured under this key.
    // Providers.
    UnsupportedCliType,
    /// Neither the store nor the agent knows this session.
    SessionNotFound,
    /// The agent's process ended while it was needed.
    ProcessCrash,
    /// The agent said something that its protocol does not allow.
    ProtocolError,
    /// A stream event lacks a field or contradicts itself.
    InvalidStreamEvent,
    /// The agent did not take the cancellation.
    InterruptFailed,
    /// The agent could not be started, or refused to open a session.
    SessionCreateFailed,
    /// The model's API failed; the message is the agent's own.
    ResponseError,
    /// A list of sessions was asked for without `projectId`.
    // Sessions and projects.
    ProjectIdRequired,
    /// The path is not absolute, does not exist or is no folder.
    InvalidPath,
    /// This folder is a project already.
    DuplicateProject,
    /// No such project, route or language server.
    NotFound,
    /// The folder is not trusted, so nothing of it is executed.
    WorkspaceUntrusted,
    /// The question was answered already, or its turn has ended.
    QuestionNotFound,
    /// The message was delivered or removed already.
    QueuedMessageNotFound,
    /// The agent's program is not on this machine; the message says how to install it.
    AgentNotInstalled,
    /// The agent cannot do this; the message says what it cannot.
    NotSupported,
    /// The language server could not be installed; the message says why and what to do.
    InstallFailed,
    /// All places for terminals are taken.
    TooManyTerminals,
    /// The message or its images are over the limit of one message.
    MessageTooLarge,
    /// The body or the query does not have the shape that the route takes.
    // The front door.
    InvalidRequest,
    /// The token is missing or wrong.
    Unauthorized,
    /// The `Origin` header names another site.
    ForbiddenOrigin,
    /// The `Host` header names a host that this server does not answer for.
    ForbiddenHost,
    /// The request comes from below a child of Chartroom's, for which the token is not.
    ForbiddenProcess,
    /// The body is not JSON.
    UnsupportedMediaType,
    /// The body is over the limit of the route.
    PayloadTooLarge,
    /// The route exists and does not take this method.
    MethodNotAllowed,
    /// Something of ours failed; the log has the cause.
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
            Self::NotSupported => "NOT_SUPPORTED",
            Self::InstallFailed => "INSTALL_FAILED",
            Self::TooManyTerminals => "TOO_MANY_TERMINALS",
            Self::MessageTooLarge => "MESSAGE_TOO_LARGE",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::ForbiddenOrigin => "FORBIDDEN_ORIGIN",
            Self::ForbiddenHost => "FORBIDDEN_HOST",
            Self::ForbiddenProcess => "FORBIDDEN_PROCESS",
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
