//! The guard: judges a request by its head alone, before any routing, so that no route can be forgotten.
//!
//! Order: Host on a fixed list (DNS rebinding), Origin exactly one of ours (other sites), Sec-Fetch-Site, then the
//! key: bearer token or cookie. A cookie also wants an Origin for whatever changes something and for the WebSocket.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use chartroom_protocol::error::ErrorCode;

use super::access::Access;
use super::error::ApiError;

/// The rules of one listening server.
#[derive(Debug)]
pub struct Guard {
    /// `host:port` as a browser writes it.
    hosts: Vec<String>,
    /// `http://host:port` of the same.
    origins: Vec<String>,
    cookie_name: String,
    access: Arc<Access>,
}

/// A request that may come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pass {
    /// It has a key.
    Inside,
    /// `GET /?token=CODE`: it may be about to get one.
    Launch { code: String, has_key: bool },
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
        Self { hosts, origins, cookie_name: format!("chartroom_{port}"), access }
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
        let has_key = by_token || self.has_cookie(&request.headers);
        if let Some(code) = launch_code(request) {
            return Ok(Pass::Launch { code, has_key });
        }
        if !has_key {
            return Err(Refusal::NoKey);
        }
        let safe = matches!(request.method, Method::GET | Method::HEAD);
        if !by_token && origin == Origin::Absent && (!safe || is_upgrade(request)) {
            return Err(Refusal::OriginMissing);
        }
        if !safe && has_body(&request.headers) && !is_json(&request.headers) {
            return Err(Refusal::NotJson);
        }
        Ok(Pass::Inside)
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

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        headers
            .get_all(header::COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .any(|(name, value)| name == self.cookie_name && self.access.is_cookie(value))
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
    request.headers.contains_key(header::UPGRADE) || request.uri.path() == super::SOCKET_PATH
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
