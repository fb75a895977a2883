//! One request from head to answer: guard, launch link, router, and the headers that every answer has.

use std::net::SocketAddr;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::http::{Extensions, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use chartroom_protocol::error::ErrorCode;
use tower::ServiceExt as _;

use super::access::{DEVICE_LIFE, DeviceId};
use super::coding::{Accepted, compress};
use super::error::{ApiError, shape};
use super::guard::{Caller, Guard, Pass, Refusal};
use super::peer::Connection;
use super::places::Place;
use super::{headers, limits, page, routes};
use crate::app::App;

/// The front door of one listening server.
#[derive(Debug)]
pub struct Door {
    guard: Guard,
    router: Router,
    app: App,
}

impl Door {
    /// Makes the door of a server that listens on `address`.
    pub fn new(address: SocketAddr, app: App) -> Self {
        let guard = Guard::new(address, &app.config().server.host, app.access().clone());
        let (router, _) = routes::build();
        let router = router.fallback(page::file).with_state(app.clone());
        Self { guard, router, app }
    }

    /// Answers one request. Nothing reaches the router that the guard has not let in.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        let started = Instant::now();
        // The path only: a query may hold a launch code, and that must not come into the log.
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let accepted = Accepted::read(request.headers());
        let (parts, body) = request.into_parts();
        let answer = match self.guard.judge(&parts) {
            Ok(Pass::Inside(Caller::Script)) if self.is_a_childs(&parts.extensions).await => {
                refuse(Refusal::ChildOfOurs, &parts.headers, &path)
            }
            Ok(Pass::Inside(caller)) => {
                if matches!(caller, Caller::Script | Caller::Browser(_)) {
                    self.keep_place(&parts.extensions).await;
                }
                let mut request = Request::from_parts(parts, body);
                request.extensions_mut().insert(caller);
                self.route(request).await
            }
            Ok(Pass::Launch { code, before, has_key }) => self.launch(&code, before, has_key, &parts.headers),
            Err(refusal) => refuse(refusal, &parts.headers, &path),
        };
        let answer = headers::secure(compress(accepted, shape(answer).await).await);
        let status = answer.status().as_u16();
        tracing::debug!(%method, path, status, elapsed_ms = started.elapsed().as_millis() as u64, "answered");
        ::metrics::counter!("chartroom_http_requests_total", "status" => status.to_string()).increment(1);
        answer
    }

    /// Whether an agent or a language server has found the token. The page's key is kept by the browser.
    async fn is_a_childs(&self, extensions: &Extensions) -> bool {
        match extensions.get::<Connection>() {
            Some(connection) => connection.is_a_childs(self.app.gate()).await,
            None => false,
        }
    }

    /// The connection of whoever has shown a key is no stranger's any more.
    async fn keep_place(&self, extensions: &Extensions) {
        if let Some(place) = extensions.get::<Place>() {
            tokio::select! {
                () = place.keep() => {}
                // Whoever waits for a place then is answered without one, so that all come to an end.
                () = self.app.closing().cancelled() => {}
            }
        }
    }

    async fn route(&self, request: Request<Body>) -> Response {
        match tokio::time::timeout(limits::REQUEST, self.router.clone().oneshot(request)).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(never)) => match never {},
            Err(_) => ApiError::new(
                StatusCode::REQUEST_TIMEOUT,
                ErrorCode::InvalidRequest,
                "the request took too long; send the whole body at once, or try again",
            )
            .into_response(),
        }
    }

    /// Turns a launch code into a cookie and sends the browser to the page without the code.
    fn launch(
        &self,
        code: &str,
        before: Option<DeviceId>,
        has_key: bool,
        request: &header::HeaderMap,
    ) -> Response {
        let browser = request.get(header::USER_AGENT).and_then(|name| name.to_str().ok()).unwrap_or_default();
        let arrival = match self.app.access().redeem(code, browser, before) {
            Ok(Some(arrival)) => arrival,
            // A link that was opened before, in a browser that is logged in: there is nothing to complain about.
            Ok(None) if has_key => return page::enter(None, request),
            Ok(None) => return page::link_used(),
            Err(error) => return ApiError::from(error).into_response(),
        };
        let (name, life) = (self.guard.cookie_name(), DEVICE_LIFE.as_secs());
        let cookie = arrival.cookie.expose();
        let cookie = format!("{name}={cookie}; Max-Age={life}; HttpOnly; SameSite=Strict; Path=/");
        page::enter(Some((cookie, &arrival.code)), request)
    }
}

/// A person who opens the page without a key is told how to get one; everyone else gets the API's error.
fn refuse(refusal: Refusal, request: &header::HeaderMap, path: &str) -> Response {
    let wants_page = path == "/"
        && request
            .get(header::ACCEPT)
            .and_then(|accept| accept.to_str().ok())
            .is_some_and(|accept| accept.contains("text/html"));
    if refusal == Refusal::NoKey && wants_page {
        page::locked()
    } else {
        ApiError::from(refusal).into_response()
    }
}
