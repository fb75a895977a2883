//! The page and its files, and the two small pages that a locked door shows.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};
use chartroom_protocol::error::ErrorCode;
use chartroom_web_ui::Coding;
use utoipa_axum::routes;

use super::coding::Accepted;
use super::error::ApiError;
use super::headers::POLICY;
use super::routes::{Kind, Route};
use super::secret::Secret;

pub(super) fn routes() -> Vec<Route> {
    vec![Route::new(Kind::Page, routes!(index))]
}

/// The page.
#[utoipa::path(get, path = "/", tag = "page", responses((status = 200, description = "The page, as HTML", content_type = "text/html")))]
pub(super) async fn index(headers: HeaderMap) -> Response {
    serve("index.html", &headers)
}

/// The page's files: whatever no route answers to.
pub(super) async fn file(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if matches!(method, Method::GET | Method::HEAD) && !uri.path().starts_with("/api/") {
        serve(uri.path(), &headers)
    } else {
        nothing_here(uri.path())
    }
}

/// Sends a file in the form that the browser likes best; one that refuses all of them gets the file as it is.
fn serve(path: &str, request: &HeaderMap) -> Response {
    let Some(mut file) = chartroom_web_ui::file(path) else { return nothing_here(path) };
    let best = Accepted::read(request).best(file.forms.iter().map(|form| form.coding));
    let form = file.forms.swap_remove(best.unwrap_or(file.forms.len() - 1));
    let cache = if file.immutable { "private, max-age=31536000, immutable" } else { "no-cache" };
    let mut headers = HeaderMap::new();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Ok(etag) = HeaderValue::from_str(&form.etag) {
        headers.insert(header::ETAG, etag);
    }
    if is_known(request, &form.etag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.mime));
    if form.coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(form.coding.name()));
    }
    let bytes = match form.bytes {
        Cow::Borrowed(embedded) => Bytes::from_static(embedded),
        Cow::Owned(read) => Bytes::from(read),
    };
    (headers, Body::from(bytes)).into_response()
}

/// Tells whether the browser has this form already. A proxy may have made our tag a weak one.
fn is_known(request: &HeaderMap, etag: &str) -> bool {
    let tags = request.get_all(header::IF_NONE_MATCH).into_iter();
    let mut tags = tags.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    tags.any(|tag| {
        let tag = tag.trim();
        tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag
    })
}

fn nothing_here(path: &str) -> Response {
    let message = format!("there is nothing at {path}; /api/openapi.json lists the routes");
    ApiError::not_found(ErrorCode::NotFound, message).into_response()
}

/// Sends a browser to the page, with its new cookie and the code for the page's key if it got them.
///
/// The code is behind the `#`, which no request and no Referer carries, and is used up as soon as the page runs: what a
/// history keeps of it opens nothing.
pub(super) fn enter(arrival: Option<(String, &Secret)>, request: &HeaderMap) -> Response {
    // After a redirect that another site began (a web terminal, a local file) a browser keeps strict cookies back;
    // a page of our own that moves on by itself is a new beginning.
    let from_elsewhere = request
        .get("sec-fetch-site")
        .is_some_and(|site| site.as_bytes() == b"cross-site" || site.as_bytes() == b"same-site");
    let (cookie, page) = match arrival {
        Some((cookie, code)) => (cookie.parse().ok(), format!("/#enter={}", code.expose())),
        None => (None, "/".to_owned()),
    };
    let mut answer = if from_elsewhere {
        let body = format!(
            "<meta http-equiv=\"refresh\" content=\"0; url={page}\"><p><a href=\"{page}\">Open Chartroom</a></p>"
        );
        small_page(StatusCode::OK, &body)
    } else {
        Redirect::to(&page).into_response()
    };
    if let Some(cookie) = cookie {
        answer.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    answer
}

/// A link opens once, and not for ever.
pub(super) fn link_used() -> Response {
    let body = "<h1>This link was used already</h1><p>A link opens Chartroom in one browser, once, within an hour. \
                For a new one, run this in a terminal and open what it prints:</p><code>chartroom link</code>";
    small_page(StatusCode::UNAUTHORIZED, body)
}

/// No key.
pub(super) fn locked() -> Response {
    let body = "<h1>Chartroom is locked</h1><p>This browser has no key yet. Open the link that <b>chartroom serve</b> \
                printed, or run this in a terminal for a new one:</p><code>chartroom link</code>";
    small_page(StatusCode::UNAUTHORIZED, body)
}

/// The style of the small pages. No file is given out without a key, so that it stands in the page.
const STYLE: &str = include_str!("page/locked.css");
/// Lets that style in and no other: the SHA-256 of it. A story in a real browser fails when the two do not agree.
const STYLE_HASH: &str = "'sha256-nHx5yzRhroTDANNmQ0hU078d4lKx7nzN086QgdlUeLo='";
/// The mark of the page's own icon.
const MARK: &str = "<svg viewBox=\"0 0 32 32\" aria-hidden=\"true\"><rect x=\"1\" y=\"1\" width=\"30\" height=\"30\" \
                    rx=\"7\" fill=\"#1d3a6e\"/><path d=\"M16 6v20M6 16h20\" stroke=\"#8fb4ff\" stroke-width=\"1.5\"/>\
                    <path d=\"M16 8l3.2 8L16 24l-3.2-8z\" fill=\"#fff\"/></svg>";

fn small_page(status: StatusCode, body: &str) -> Response {
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>Chartroom</title><style>{STYLE}</style></head><body><main>{MARK}{body}</main></body></html>"
    );
    let policy = format!("{POLICY}; style-src {STYLE_HASH}");
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, policy.as_str()),
    ];
    (status, headers, page).into_response()
}
