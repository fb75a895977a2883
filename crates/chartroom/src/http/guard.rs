//! The guard: judges a request by its head alone, before any routing, so that no route can be forgotten.
//!
//! Order: Host on a fixed list (DNS rebinding), Origin exactly one of ours (other sites), Sec-Fetch-Site, then the
//! key: the bearer token, or the cookie together with the key of its page. The cookie goes to every port of the host, so
//! that alone it opens the page's own files and nothing else. With a cookie whatever changes something, and the
//! WebSocket, wants an Origin too.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use chartroom_protocol::error::ErrorCode;

use super::access::{Access, DeviceId};
use super::error::ApiError;
use super::{ENTER_PATH, KEY_HEADER, KEY_PROTOCOL, SOCKET_PATH};

/// The rules of one listening server.
#[derive(Debug)]
pub struct Guard {
    /// `host:port` as a browser writes it.
    hosts: Vec<String>,
    /// `http://host:port` of the same.
    origins: Vec<String>,
    cookie_name: String,
    /// What the page is made of: the same for everybody who has this program.
    page: HashSet<String>,
    access: Arc<Access>,
}

/// A request that may come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pass {
    /// It has a key.
    Inside(Caller),
    /// `GET /?token=CODE`: it may be about to get one. `before` is what its browser is already.
    Launch { code: String, before: Option<DeviceId>, has_key: bool },
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Caller {
    /// A script, with the bearer token.
    Script,
    /// A browser that was let in.
    Browser(DeviceId),
    /// A browser's cookie, which may come from elsewhere, for what is no secret.
    Cookie(DeviceId),
}

/// Why a request is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    ForeignHost,
    ForeignOrigin,
    ForeignSite,
    /// A cookie alone does not prove that our own page asks.
    OriginMissing,
    NoKey,
    /// The cookie is known, but the page that asks has no key or another one's.
    NoPageKey,
    /// The token is in the hands of a process that we have started ourselves.
    ChildOfOurs,
    NotJson,
}

impl Guard {
    /// Makes the rules for a server on `address`, which the user called `name` (`localhost`, an address).
    pub fn new(address: SocketAddr, name: &str, access: Arc<Access>) -> Self {
        let port = address.port();
        let bracketed = |host: &str| {
            if host.contains(':') && !host.starts_with('[') { format!("[{host}]") } else { host.to_owned() }
        };
        let mut hosts: Vec<String> = Vec::new();
        for host in ["127.0.0.1", "localhost", "::1", &address.ip().to_string(), &name.to_lowercase()] {
            let host = bracketed(host);
            // Browsers leave out the scheme's own port.
            if port == 80 {
                hosts.push(host.clone());
            }
            hosts.push(format!("{host}:{port}"));
        }
        hosts.sort();
        hosts.dedup();
        let origins = hosts.iter().map(|host| format!("http://{host}")).collect();
        // Cookies do not know ports: two servers of one person must not log each other out.
        let files = chartroom_web_ui::paths().into_iter().map(|path| format!("/{path}"));
        let page = files.chain(["/".to_owned()]).collect();
        Self { hosts, origins, cookie_name: format!("chartroom_{port}"), page, access }
    }

    pub(super) fn cookie_name(&self) -> &str {
        &self.cookie_name
    }

    pub(super) fn judge(&self, request: &Parts) -> Result<Pass, Refusal> {
        if !self.host_is_ours(request) {
            return Err(Refusal::ForeignHost);
        }
        let origin = self.origin(&request.headers)?;
        self.check_site(request)?;
        let by_token = self.has_token(&request.headers);
        let device = self.device(&request.headers);
        if let Some(code) = launch_code(request) {
            let has_key = by_token || device.is_some();
            return Ok(Pass::Launch { code, before: device, has_key });
        }
        let safe = matches!(request.method, Method::GET | Method::HEAD);
        let caller = match device {
            _ if by_token => Caller::Script,
            None => return Err(Refusal::NoKey),
            Some(_) if origin == Origin::Absent && (!safe || is_upgrade(request)) => {
                return Err(Refusal::OriginMissing);
            }
            Some(device) if page_key(request).is_some_and(|key| self.access.is_key(&device, key)) => {
                Caller::Browser(device)
            }
            Some(device) if self.is_for_the_cookie_alone(request) => Caller::Cookie(device),
            Some(_) => return Err(Refusal::NoPageKey),
        };
        if !safe && has_body(&request.headers) && !is_json(&request.headers) {
            return Err(Refusal::NotJson);
        }
        Ok(Pass::Inside(caller))
    }

    /// The page's own files, which a browser loads without any header of ours, and the request for the page's key, which
    /// wants a code that only the page has.
    fn is_for_the_cookie_alone(&self, request: &Parts) -> bool {
        let path = request.uri.path();
        match request.method {
            Method::GET | Method::HEAD => !is_upgrade(request) && self.page.contains(path),
            Method::POST => path == ENTER_PATH,
            _ => false,
        }
    }

    fn host_is_ours(&self, request: &Parts) -> bool {
        let known = |host: &str| self.hosts.iter().any(|ours| ours == host);
        let named = one(&request.headers, &header::HOST).is_some_and(known);
        // An absolute request target overrides Host, so it is held to the same list.
        named && request.uri.authority().is_none_or(|authority| known(authority.as_str()))
    }

    fn origin(&self, headers: &HeaderMap) -> Result<Origin, Refusal> {
        if !headers.contains_key(header::ORIGIN) {
            return Ok(Origin::Absent);
        }
        match one(headers, &header::ORIGIN) {
            Some(origin) if self.origins.iter().any(|ours| ours == origin) => Ok(Origin::Ours),
            Some(_) | None => Err(Refusal::ForeignOrigin),
        }
    }

    /// Browsers say where a request comes from, and pages cannot change it. Following a link to the front page is
    /// the one thing that another site may make a browser do; the cookie (SameSite=Strict) stays at home then.
    fn check_site(&self, request: &Parts) -> Result<(), Refusal> {
        let name = HeaderName::from_static("sec-fetch-site");
        if !request.headers.contains_key(&name) {
            return Ok(());
        }
        match one(&request.headers, &name) {
            Some("same-origin" | "none") => Ok(()),
            Some("cross-site" | "same-site") if is_front_page_navigation(request) => Ok(()),
            Some(_) | None => Err(Refusal::ForeignSite),
        }
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        one(headers, &header::AUTHORIZATION).and_then(|value| value.split_once(' ')).is_some_and(
            |(scheme, token)| scheme.eq_ignore_ascii_case("bearer") && self.access.is_token(token.trim()),
        )
    }

    fn device(&self, headers: &HeaderMap) -> Option<DeviceId> {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .filter(|(name, _)| *name == self.cookie_name)
            .find_map(|(_, value)| self.access.device_of(value))
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Origin {
    Absent,
    Ours,
}

/// A header that must stand once: two of them would let two readers see two things.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

fn launch_code(request: &Parts) -> Option<String> {
    if request.method != Method::GET || request.uri.path() != "/" {
        return None;
    }
    let query = request.uri.query()?;
    query.split('&').find_map(|pair| pair.strip_prefix("token=")).map(str::to_owned)
}

/// The key of the page: a header, or one of the protocols that it offers for its socket.
fn page_key(request: &Parts) -> Option<&str> {
    if is_upgrade(request) {
        let offered = one(&request.headers, &header::SEC_WEBSOCKET_PROTOCOL)?;
        return offered.split(',').find_map(|protocol| protocol.trim().strip_prefix(KEY_PROTOCOL));
    }
    one(&request.headers, &HeaderName::from_static(KEY_HEADER))
}

fn is_front_page_navigation(request: &Parts) -> bool {
    let says = |name: &'static str, value: &str| {
        one(&request.headers, &HeaderName::from_static(name)) == Some(value)
    };
    request.method == Method::GET
        && request.uri.path() == "/"
        && says("sec-fetch-mode", "navigate")
        && says("sec-fetch-dest", "document")
}

fn is_upgrade(request: &Parts) -> bool {
    request.headers.contains_key(header::UPGRADE) || request.uri.path() == SOCKET_PATH
}

fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0")
}

fn is_json(headers: &HeaderMap) -> bool {
    one(headers, &header::CONTENT_TYPE)
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let (status, code, message) = match refusal {
            Refusal::ForeignHost => (
                StatusCode::FORBIDDEN,
                ErrorCode::ForbiddenHost,
                "this Host is not Chartroom's; open the address that `chartroom serve` printed",
            ),
            Refusal::ForeignOrigin | Refusal::ForeignSite => (
                StatusCode::FORBIDDEN,
                ErrorCode::ForbiddenOrigin,
                "only Chartroom's own page may ask; scripts send no Origin and the bearer token",
            ),
            Refusal::OriginMissing => (
                StatusCode::FORBIDDEN,
                ErrorCode::ForbiddenOrigin,
                "an Origin is needed with the cookie; scripts send the bearer token instead",
            ),
            Refusal::NoKey => (
                StatusCode::UNAUTHORIZED,
                ErrorCode::Unauthorized,
                "open the link that `chartroom serve` printed, or send `Authorization: Bearer` with the token of the data folder",
            ),
            Refusal::NoPageKey => (
                StatusCode::UNAUTHORIZED,
                ErrorCode::Unauthorized,
                "the cookie alone opens nothing; open the link that `chartroom link` prints in this browser",
            ),
            Refusal::ChildOfOurs => (
                StatusCode::FORBIDDEN,
                ErrorCode::ForbiddenProcess,
                "an agent that Chartroom started, and what it starts, cannot speak as the user; do it on the page or in a terminal of your own",
            ),
            Refusal::NotJson => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ErrorCode::UnsupportedMediaType,
                "bodies are JSON: send `Content-Type: application/json`",
            ),
        };
        Self::new(status, code, message)
    }
}

#[cfg(test)]
mod tests;
