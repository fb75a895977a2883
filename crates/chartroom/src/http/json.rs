//! A JSON body, whose refusals have the API's shape and name the field.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use chartroom_protocol::error::ErrorCode;
use serde::de::DeserializeOwned;

use super::error::ApiError;

/// The request's body as `T`. The guard has checked its content type already.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(refuse_bytes)?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            ApiError::bad_request(ErrorCode::InvalidRequest, format!("the body is not as expected: {error}"))
        })
    }
}

fn refuse_bytes(rejection: BytesRejection) -> ApiError {
    let status = rejection.into_response().status();
    if status == StatusCode::PAYLOAD_TOO_LARGE {
        too_large()
    } else {
        ApiError::new(status, ErrorCode::InvalidRequest, "the body could not be read to its end")
    }
}

/// The answer to a body over its route's limit.
pub(super) fn too_large() -> ApiError {
    let message = "the body is too large: 16 MB for a message with images, 1 MB elsewhere";
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::PayloadTooLarge, message)
}
