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
