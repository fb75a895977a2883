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
                For a new one, run <code>chartroom link</code> in a terminal, or stop <code>chartroom serve</code> \
                and start it again: it prints a new link.</p>";
    small_page(StatusCode::UNAUTHORIZED, body)
}

/// No key.
pub(super) fn locked() -> Response {
    let body = "<h1>Chartroom is locked</h1><p>This browser has no key yet. Open the link that \
                <code>chartroom serve</code> printed; <code>chartroom link</code> prints a new one.</p>";
    small_page(StatusCode::UNAUTHORIZED, body)
}

fn small_page(status: StatusCode, body: &str) -> Response {
    // The policy allows no style in the page, and no file is given out without a key: attributes have to do.
    let page = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">\
         <title>Chartroom</title></head><body><table align=\"center\" cellpadding=\"32\" role=\"presentation\">\
         <tr><td><font face=\"system-ui, sans-serif\">{body}</font></td></tr></table></body></html>"
    );
    (status, [(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response()
}
