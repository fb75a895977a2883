//! The headers that every answer has, refusals included.

use axum::http::header::{self, HeaderName, HeaderValue};
use axum::response::Response;

/// No inline script, nothing from elsewhere, no frame around us. A pasted image is drawn on a canvas, so that even
/// images come from us alone.
pub(super) const POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; \
                      frame-ancestors 'none'";

const FIXED: [(HeaderName, &str); 5] = [
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Adds them.
pub(super) fn secure(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in &FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // A small page that a locked door shows has its own, which lets its style in.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    // Answers are the person's own work: nothing is kept unless its route says so.
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
