//! What a session's failure is in HTTP.

use axum::http::StatusCode;
use chartroom_protocol::error::ErrorCode;
use chartroom_sessions::ProviderError;

use crate::http::error::ApiError;

impl From<ProviderError> for ApiError {
    fn from(error: ProviderError) -> Self {
        if error.code == ErrorCode::Internal {
            return Self::internal(error);
        }
        Self::new(status(error.code), error.code, error.message)
    }
}

fn status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UnsupportedCliType
        | ErrorCode::ProjectIdRequired
        | ErrorCode::InvalidPath
        | ErrorCode::InvalidRequest
        | ErrorCode::InvalidStreamEvent => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthorized => StatusCode::UNAUTHORIZED,
        ErrorCode::WorkspaceUntrusted
        | ErrorCode::ForbiddenOrigin
        | ErrorCode::ForbiddenHost
        | ErrorCode::ForbiddenProcess => StatusCode::FORBIDDEN,
        ErrorCode::SessionNotFound
        | ErrorCode::NotFound
        | ErrorCode::QuestionNotFound
        | ErrorCode::QueuedMessageNotFound => StatusCode::NOT_FOUND,
        ErrorCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ErrorCode::DuplicateProject | ErrorCode::TooManyTerminals => StatusCode::CONFLICT,
        ErrorCode::MessageTooLarge | ErrorCode::PayloadTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ErrorCode::AgentNotInstalled => StatusCode::FAILED_DEPENDENCY,
        ErrorCode::NotSupported | ErrorCode::InstallFailed => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::ProcessCrash
        | ErrorCode::ProtocolError
        | ErrorCode::InterruptFailed
        | ErrorCode::SessionCreateFailed
        | ErrorCode::ResponseError => StatusCode::BAD_GATEWAY,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
